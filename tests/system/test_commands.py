"""Plan, dry run, help, version and demo, as a person meets them."""

import json
import random
import re
import resource
from fractions import Fraction
from pathlib import Path

import pytest

import shoal as library
from reference import proximity
from reference import release as oracle
from system.shell import Row, anonymize, names_in, people, run, shoal, write_csv

KEYS = [
    "rows",
    "sensitive",
    "relative",
    "epsilon",
    "m",
    "achievable",
    "largest_m",
    "epsilon_bound",
    "frontier",
]
EPSILON_M = "EpsilonM(epsilon=500, m=3)"


def values_of(kind: str) -> list[str]:
    chance = random.Random(kind)
    drawn = {
        "integers": lambda: str(chance.randint(0, 900)),
        "decimals": lambda: f"{chance.randint(-300, 900) / 8:.3f}",
        "tied": lambda: str(chance.randint(0, 12) * 100),
        "around zero": lambda: str(chance.randint(-40, 40)),
    }
    return [drawn[kind]() for _ in range(60)]


@pytest.fixture(params=["integers", "decimals", "tied", "around zero"])
def column(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, list[str]]:
    values = values_of(request.param)
    return write_csv(tmp_path / "plan.csv", [{"pay": value} for value in values]), values


def plan(path: Path, *options: object) -> dict[str, object]:
    outcome = shoal("plan", path, "--sensitive", "pay", "--json", *options)
    assert outcome.code == 0, outcome
    assert outcome.out.count("\n") == 1
    assert outcome.err == ""
    found = outcome.json()
    assert list(found) == KEYS
    assert isinstance(found, dict)
    return found


def same(found: object, expected: Fraction | None) -> bool:
    if expected is None or found is None:
        return found is expected
    assert isinstance(found, int | float)
    return abs(Fraction(found) - expected) <= Fraction(1, 10**12) * max(Fraction(1), expected)


@pytest.mark.parametrize("relative", [False, True])
def test_plan_with_both_says_whether_they_are_achievable(
    column: tuple[Path, list[str]], relative: bool
) -> None:
    path, values = column
    flag = ("--relative",) if relative else ()
    kind = "relative" if relative else "absolute"
    for epsilon in (0, 0.1, 0.5, 1) if relative else (0, 2.5, 40, 300):
        most = proximity.largest_m(values, kind, epsilon=epsilon)
        for m in {1, 2, most, most + 1, 61}:
            found = plan(path, "--epsilon", epsilon, "--m", m, *flag)
            assert found["achievable"] is (m <= most)
            assert found["largest_m"] == most
            assert same(
                found["epsilon_bound"], proximity.epsilon_bound(values, m, relative=relative)
            )
            assert found["frontier"] is None
            assert (found["rows"], found["sensitive"], found["relative"]) == (60, "pay", relative)
            assert (found["epsilon"], found["m"]) == (epsilon, m)


@pytest.mark.parametrize("relative", [False, True])
def test_plan_with_epsilon_says_the_largest_m(
    column: tuple[Path, list[str]], relative: bool
) -> None:
    path, values = column
    flag = ("--relative",) if relative else ()
    kind = "relative" if relative else "absolute"
    for epsilon in (0, 0.07, 1) if relative else (0, 10, 0.125, 10_000):
        found = plan(path, "--epsilon", epsilon, *flag)
        assert found == dict.fromkeys(KEYS) | {
            "rows": 60,
            "sensitive": "pay",
            "relative": relative,
            "epsilon": epsilon,
            "largest_m": proximity.largest_m(values, kind, epsilon=epsilon),
        }


@pytest.mark.parametrize("relative", [False, True])
def test_plan_with_m_says_the_bound_on_epsilon(
    column: tuple[Path, list[str]], relative: bool
) -> None:
    path, values = column
    flag = ("--relative",) if relative else ()
    for m in (1, 2, 3, 7, 30, 59, 60, 61):
        found = plan(path, "--m", m, *flag)
        assert same(
            found.pop("epsilon_bound"), proximity.epsilon_bound(values, m, relative=relative)
        )
        known = {"rows": 60, "sensitive": "pay", "relative": relative, "m": m}
        expected = dict.fromkeys(KEYS) | known
        del expected["epsilon_bound"]
        assert found == expected


@pytest.mark.parametrize("relative", [False, True])
def test_plan_with_neither_lists_the_frontier(
    column: tuple[Path, list[str]], relative: bool
) -> None:
    path, values = column
    found = plan(path, *(("--relative",) if relative else ()))
    points = found.pop("frontier")
    assert isinstance(points, list)
    assert found == {key: None for key in KEYS if key != "frontier"} | {
        "rows": 60,
        "sensitive": "pay",
        "relative": relative,
    }
    expected = [
        (m, bound)
        for m, bound in proximity.frontier(values, relative=relative)
        if m == 2 or 60 // m != 60 // (m - 1)
    ]
    assert [sorted(point) for point in points] == [["epsilon_bound", "m"]] * len(points)
    assert [point["m"] for point in points][: len(expected)] == [m for m, _ in expected]
    for point, (_, bound) in zip(points, expected, strict=False):
        assert same(point["epsilon_bound"], bound)
    assert [point["epsilon_bound"] for point in points[len(expected) :]] in ([], [0])


def test_plan_tells_a_person_the_same_as_the_json(column: tuple[Path, list[str]]) -> None:
    path, values = column
    outcome = shoal("plan", path, "--sensitive", "pay", "--epsilon", 10)
    assert outcome.code == 0
    most = proximity.largest_m(values, "absolute", epsilon=10)
    assert f"the largest m is {most}" in outcome.out


def test_plan_of_one_row_has_an_empty_frontier(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "one.csv", [{"pay": "5", "x": "1"}])
    assert plan(path)["frontier"] == []
    assert plan(path, "--m", 2)["epsilon_bound"] == 0
    assert plan(path, "--epsilon", 3)["largest_m"] == 1


def test_plan_is_what_anonymize_obeys(table: Path, place: Path, rows: list[Row]) -> None:
    found = shoal("plan", table, "--sensitive", "salary", "--epsilon", 500, "--json").json()
    most = found["largest_m"]
    reached = anonymize(table, place / "out", require=f"EpsilonM(epsilon=500, m={most})")
    assert reached.code == 0
    missed = anonymize(table, place / "more", require=f"EpsilonM(epsilon=500, m={most + 1})")
    assert missed.code == 3
    assert names_in(place) == ["out"]


def test_dry_run_writes_nothing_and_says_what_would_be_done(
    table: Path, place: Path, rows: list[Row]
) -> None:
    options = ("--dry-run", "--linkage", place / "links.csv")
    outcome = anonymize(table, place / "out", *options, require=EPSILON_M)
    assert outcome.code == 0
    assert EPSILON_M in outcome.out
    most = proximity.largest_m([row["salary"] for row in rows], "absolute", epsilon=500)
    assert str(most) in outcome.out
    assert "Exchange()" in outcome.out
    assert "300" in outcome.out
    assert names_in(place) == []


def test_dry_run_json_is_one_object(table: Path, place: Path) -> None:
    outcome = anonymize(table, place / "out", "--dry-run", "--json", require=EPSILON_M)
    assert outcome.code == 0
    assert outcome.json()["rows"] == 300
    assert outcome.json()["require"][0]["achievable"] is True
    assert names_in(place) == []


def test_dry_run_counts_rows_as_rows_and_people_as_people(tmp_path: Path, place: Path) -> None:
    lines = "".join(f"{number // 2},{number % 40},{number * 7 % 90}\n" for number in range(120))
    stays = tmp_path / "stays.csv"
    stays.write_text("who,age,pay\n" + lines)
    whose = ("--quasi", "age", "--sensitive", "pay", "--person", "who")
    what = ("--require", "KAnonymity(k=5)", "--output", place / "out", "--dry-run")
    asked = ("anonymize", stays, *whose, *what)
    assert "up to 120 rows of 60 people" in " ".join(shoal(*asked).out.split())
    found = shoal(*asked, "--json").json()
    assert (found["rows"], found["people"]) == (120, 60)


def test_version_is_the_version_of_the_package() -> None:
    outcome = shoal("--version")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.split() == ["shoal", library.__version__]


def test_help_lists_every_command() -> None:
    outcome = shoal("--help")
    assert outcome.code == 0
    for command in ("anonymize", "plan", "audit", "demo"):
        assert re.search(rf"\b{command}\b", outcome.out), command


@pytest.mark.parametrize("command", ["anonymize", "plan", "audit", "demo"])
def test_every_command_has_help(command: str) -> None:
    outcome = shoal(command, "--help")
    assert outcome.code == 0
    assert outcome.err == ""
    assert command in outcome.out
    assert "Traceback" not in outcome.out


def test_help_needs_less_than_four_tenths_of_a_second() -> None:
    # Processor time, the best of five: on an idle machine the same as wall time, and unlike it not
    # lengthened by whatever else runs.
    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert run("--help").code == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(once() for _ in range(5)) < 0.4


@pytest.mark.long
def test_demo_makes_the_whole_journey(tmp_path: Path) -> None:
    target = tmp_path / "shown"
    outcome = run("demo", "--output", target)
    assert outcome.code == 0, outcome
    assert "Traceback" not in outcome.err
    assert names_in(tmp_path) == ["shown", "shown-owner.html"]
    assert names_in(target) == ["codebook.csv", "manifest.json", "release.csv", "report.html"]
    manifest = json.loads((target / "manifest.json").read_text("utf-8"))
    assert manifest["rows"] == 60_000
    assert all(entry["holds"] for entry in manifest["measured"])
    assert [column["name"] for column in manifest["columns"]] == [
        "age",
        "birthplace",
        "occupation",
        "income",
    ]
    for rows in oracle.read_release(target).groups().values():
        incomes = [int(row["income"]) for row in rows]
        near = max(sum(abs(other - own) <= 2000 for other in incomes) for own in incomes)
        assert near * 5 <= len(rows)
    check_report((target / "report.html").read_text("utf-8"))
    assert shoal("audit", target).code == 0
    assert shoal("demo", "--output", target, "--quiet").code == 0  # a demo makes way for another
    assert json.loads((target / "manifest.json").read_text("utf-8"))["id"] != manifest["id"]


def test_a_demo_makes_no_trials_of_other_methods(tmp_path: Path, monkeypatch) -> None:
    """They took most of its first minute."""
    few = library.census(5000)
    tried: list[object] = []
    monkeypatch.setattr(library, "census", lambda: few)
    monkeypatch.setattr("shoal.runs.trials.trials", lambda *known, **_: tried.append(known))
    assert shoal("demo", "--output", tmp_path / "shown", "--quiet").code == 0
    assert not tried
    schema = library.Schema(quasi=["age", "birthplace"], sensitive="income")
    library.anonymize(few, schema, require="KAnonymity(k=5)").owner_report(
        tmp_path / "owner.html", trials=True
    )
    assert tried  # so they would have been seen


def test_a_demo_replaces_nothing_but_a_demo(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "table.csv", people())
    assert anonymize(table, tmp_path / "mine", require="KAnonymity(k=5)").code == 0
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("mine", "utf-8")
    (tmp_path / "spoiled").mkdir()
    (tmp_path / "spoiled" / "manifest.json").write_text("[]", "utf-8")
    for name in ("mine", "notes", "spoiled", "table.csv"):
        place = tmp_path / name
        before = names_in(place) if place.is_dir() else place.read_bytes()
        refused = shoal("demo", "--output", place, "--quiet")
        assert refused.code == 4
        assert refused.said == (
            f"shoal: '{name}' exists and was not made by shoal demo, so Shoal does not replace it. "
            "Choose another --output."
        )
        assert before == (names_in(place) if place.is_dir() else place.read_bytes())


def check_report(page: str) -> None:
    """Check that a report opens offline and states what was promised and measured."""
    without_namespaces = re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)
    assert not re.search(r"https?:|//\w+\.\w", without_namespaces)
    plain = re.sub(r'<script type="application/json" id="facts">[^<]*<', "<", without_namespaces)
    assert not re.search(r"<script|<link|<iframe|@import|url\((?!#)|<img", plain)
    assert "EpsilonM(epsilon=2000, m=5)" in page
    assert "with a chance of at most 1 in 5 (any other guess: at most 2 in 5)" in page
    assert "income" in page
    assert "2,000" in page
    assert page.count("<svg") >= 4


def test_report_escapes_names_from_the_table(tmp_path: Path, place: Path, rows: list[Row]) -> None:
    evil = "<script>alert(1)</script>"
    pay = "pay & <b>bonus</b>"
    changed = [{evil: row["age"], pay: row["salary"], "town": "<i>x</i>"} for row in rows]
    table = write_csv(tmp_path / "evil.csv", changed)
    options = ("--quasi", f"{evil},town", "--sensitive", pay)
    assert anonymize(table, place / "out", *options, require=EPSILON_M).code == 0
    page = (place / "out" / "report.html").read_text("utf-8")
    assert page.count("<script") == page.count('<script type="application/json" id="facts">') == 1
    assert "<b>bonus" not in page
    assert "<i>x" not in page


def test_report_holds_no_record(table: Path, place: Path, rows: list[Row]) -> None:
    assert anonymize(table, place / "out", require=EPSILON_M).code == 0
    page = (place / "out" / "report.html").read_text("utf-8")
    for row in rows:
        assert row["name"] not in page
    for note in ("naïve", "say &#34;hi", "line\nbreak"):
        assert note not in page
