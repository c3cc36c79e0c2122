"""`shoal coarsen` and `shoal audit` of two releases, by their contracts."""

import hashlib
import json

import pytest

from system.shell import ROLES, shoal, write_csv

SAID = (*ROLES, "--sensitive", "salary", "--require", "KAnonymity(k=3)")


@pytest.fixture
def fine(table, place):
    done = shoal("anonymize", table, *SAID, "--output", place / "fine")
    assert done.code == 0, done.err
    return place / "fine"


def test_both_releases_are_audited_together(fine, place):
    done = shoal("coarsen", fine, "--require", "KAnonymity(k=7)", "--output", place / "coarse")
    assert done.code == 0, done.err
    both = shoal("audit", fine, place / "coarse", "--json")
    assert both.code == 0
    facts = json.loads(both.out)
    assert facts["holds"]
    assert [one["release"] for one in facts["releases"]] == ["fine", "coarse"]
    assert facts["warnings"] == []
    apart = shoal("audit", place / "coarse", place / "coarse")
    assert apart.code == 1
    assert "not among these" in apart.out
    page = (place / "coarse" / "report.html").read_text()
    assert "before</" not in page.split("Group sizes")[0].split("<h2>")[1]


def test_releases_that_nothing_ties_are_audited_alone(table, fine, place):
    shoal("anonymize", table, *SAID, "--output", place / "other")
    done = shoal("audit", fine, place / "other")
    assert done.code == 0
    assert "not linked to the others" in " ".join(done.err.split())


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--require", "KAnonymity(k=7)"), 2, "No output was named"),
        (("--output", "OUT"), 2, "Nothing is required"),
        (("--output", "OUT", "--require", "KMap(k=3)"), 2, "compares with a population"),
        (("--output", "OUT", "--require", "KAnonymity(k=100000)"), 3, "all groups joined"),
        (("--output", "HERE", "--require", "KAnonymity(k=7)"), 2, "holds the input"),
    ],
)
def test_refusals_have_their_codes(fine, place, words, code, said):
    places = {"OUT": place / "coarse", "HERE": fine}
    done = shoal("coarsen", fine, *(places.get(word, word) for word in words))
    assert done.code == code, done.err
    assert said in done.said
    assert not (place / "coarse").exists()


def test_a_release_without_groups_or_one_that_was_changed_is_refused(table, fine, place):
    made = shoal("anonymize", table, *SAID, "--method", "Freeform()", "--output", place / "free")
    assert made.code == 0, made.err
    more = ("--require", "KAnonymity(k=7)", "--output", place / "coarse")
    assert shoal("coarsen", place / "free", *more).code == 2
    assert shoal("coarsen", table, *more).code == 2
    text = (fine / "release.csv").read_text("utf-8")
    (fine / "release.csv").write_text(text.replace("plain", "plane"), "utf-8")
    done = shoal("coarsen", fine, *more)
    assert done.code == 1
    assert not (place / "coarse").exists()


def test_a_release_that_any_audit_refuses_is_refused(fine, place):
    """Whatever of it was spoiled, its report too."""
    report = (fine / "report.html").read_text("utf-8").replace("Holds", "Holds firmly")
    (fine / "report.html").write_text(report, "utf-8")
    manifest = json.loads((fine / "manifest.json").read_text("utf-8"))
    digest = hashlib.sha256(report.encode("utf-8")).hexdigest()
    manifest["digests"]["report.html"] = f"sha256:{digest}"
    (fine / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert shoal("audit", fine).code == 1
    done = shoal("coarsen", fine, "--require", "KAnonymity(k=7)", "--output", place / "coarse")
    assert done.code == 1
    assert not (place / "coarse").exists()


def test_a_population_that_the_finer_release_speaks_of_is_refused(table, place):
    made = shoal(
        "anonymize", table, *ROLES, "--sensitive", "salary", "--require", "KMap(k=3)",
        "--population", table, "--output", place / "map",
    )  # fmt: skip
    assert made.code == 0, made.err
    done = shoal(
        "coarsen", place / "map", "--require", "KAnonymity(k=7)", "--output", place / "coarse"
    )
    assert done.code == 2


def test_what_stands_beside_people_apart_does_not_come_to_stand_beside_values(place):
    rows = [{"age": str(20 + i), "pay": str(100 * i), "oth": "ab"[i % 2]} for i in range(12)]
    table = write_csv(place / "t.csv", rows)
    apart = ("--other", "oth", "--keep-other", "--form", "two-tables")
    done = shoal(
        "anonymize", table, "--quasi", "age", "--sensitive", "pay", *apart, "--require",
        "EpsilonM(epsilon=1, m=2)", "--output", place / "apart",
    )  # fmt: skip
    assert done.code == 0, done.err
    coarser = place / "coarser"
    done = shoal("coarsen", place / "apart", "--require", "DistinctL(l=4)", "--output", coarser)
    assert done.code == 0, done.err
    assert (coarser / "release.csv").read_text().splitlines()[0] == "group,age,pay"
    assert shoal("audit", place / "apart", coarser).code == 0


def test_where_all_groups_together_do_not_hold_it_is_said_what_they_do(fine, place):
    rows = json.loads((fine / "manifest.json").read_text("utf-8"))["rows"]
    wanted = ("coarsen", fine, "--output", place / "coarse", "--require")
    refused = shoal(*wanted, f"KAnonymity(k={rows + 1})")
    assert refused.code == 3
    assert f"They hold KAnonymity(k={rows}) and KAnonymity(k={rows})." in refused.said
    assert shoal(*wanted, f"KAnonymity(k={rows})").code == 0
