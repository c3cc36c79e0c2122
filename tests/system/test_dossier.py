"""`shoal dossier`: every norm is filled from facts, marked where it is not, and claims nothing."""

import csv
import importlib.util
import re
import stat
from collections import Counter
from html import unescape

import polars as pl
import pytest

import shoal
from shoal.ask.fields import CONTEXT
from shoal.audit.safe_harbor import SMALL_ZIP3
from shoal.release.statement import ANSWERS
from shoal.views.annex import PRIVATE_FACTS
from shoal.views.answers import PUBLIC_FACTS
from shoal.views.dossier import NORMS, read_norm
from system.shell import run

SCHEMA = """
quasi = ["age", "town"]
sensitive = "pay"
identifying = ["name"]
[context]
purpose = "Research on wages"
recipients = "everybody"
utility = \"\"\"Wages by age.
Not for single towns.\"\"\"
population_size = "120"
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dossier")
    frame = pl.DataFrame(
        {
            "name": [f"n{n}" for n in range(60)],
            "age": [20 + n * n % 17 for n in range(60)],
            "town": [["Aalen", "Bonn", "Celle"][n % 3] for n in range(60)],
            "pay": [1000 + 137 * (n * 11 % 60) for n in range(60)],
        }
    )
    frame.write_csv(folder / "people.csv")
    (folder / "schema.toml").write_text(SCHEMA)
    schema = shoal.Schema(quasi=["age", "town"], sensitive="pay", identifying=["name"])
    release = shoal.anonymize(frame, schema, require="EpsilonM(epsilon=200, m=4)")
    release.write(folder / "out")
    return folder


def text_of(page):
    plain = re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(plain).replace("\xa0", " "))


def write(place, norm, name, **how):
    shoal.dossier(place / "out", place / name, norm=norm, **how)
    private = name.replace(".html", "-private.html")
    return (place / name).read_text(), (place / private).read_text()


def fields_of(norm):
    asked = read_norm(norm)
    return [one for section in asked["section"] for one in section["field"]], asked["annex"]


@pytest.mark.parametrize("norm", NORMS)
def test_a_norm_is_a_file_that_asks_for_what_there_is(norm):
    shown, annex = fields_of(norm)
    for one in shown:
        assert ("fact" in one) != ("answer" in one)
        if "fact" in one:
            assert one["fact"] in PUBLIC_FACTS
            assert {*one.get("columns", ())} <= {*ANSWERS}
        else:
            assert {*one["answer"]} <= {*ANSWERS, *CONTEXT}
            assert one["who"]
            assert one["hint"]
    assert {one["fact"] for one in annex} <= set(PRIVATE_FACTS)


def test_every_answer_is_asked_for():
    fields = [one for norm in NORMS for one in fields_of(norm)[0]]
    asked = {key for one in fields for key in (*one.get("answer", ()), *one.get("columns", ()))}
    assert asked | {"population_size"} == {*ANSWERS, *CONTEXT}


def test_the_list_of_small_zip_areas_stands_in_the_dossier(place):
    page, _ = write(place, "hipaa", "zips.html")
    assert ", ".join(SMALL_ZIP3) in text_of(page)


def test_an_expert_answers_for_each_column(place):
    """Three criteria, of which one is measured; the others were one question about all columns."""

    def asked(name, said):
        (place / "columns.toml").write_text(f"{SCHEMA}{said}")
        page, _ = write(place, "hipaa", name, schema=place / "columns.toml")
        every = re.split(r'(?=<div class="field)', page)
        (field,) = [one for one in every if "replicability and availability of each" in one]
        rows = re.findall(r"<tr>(.*?)</tr>", field, re.DOTALL)
        return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", one) for one in rows], field

    rows, field = asked("columns-1.html", 'replicability = "age: high\\nnobody: knows"\n')
    assert rows[0][-2:] == ["Replicability", "Availability"]
    assert [(one[0], *one[-2:]) for one in rows[1:]] == [
        ("age", "high", "to be answered"),
        ("town", "to be answered", "to be answered"),
        ("pay", "to be answered", "to be answered"),
    ]
    assert all(one[1].isdigit() for one in rows[1:])  # how many cells differ
    assert 'data-kind="open"' in field
    assert "nobody: knows" in field
    every = "age: a\\ntown: b\\npay: c"
    rows, field = asked("columns-2.html", f'replicability = "{every}"\navailability = "{every}"\n')
    assert [one[-1] for one in rows[1:]] == ["a", "b", "c"]
    assert 'data-kind="answered"' in field


@pytest.mark.parametrize("norm", NORMS)
def test_the_public_part_is_a_function_of_release_and_answers(place, norm):
    said = {"schema": place / "schema.toml"}
    with_it, annex = write(place, norm, f"{norm}-1.html", original=place / "people.csv", **said)
    without, empty = write(place, norm, f"{norm}-2.html", **said)
    assert with_it == without
    assert annex != empty
    assert empty.count('data-kind="open"') == len(fields_of(norm)[1])
    assert "the original table was not given" in empty
    for page in (annex, empty):
        assert "Private annex. Do not publish it" in page
    mode = (place / f"{norm}-1-private.html").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


@pytest.mark.parametrize("norm", NORMS)
def test_nothing_is_claimed(place, norm):
    pages = write(place, norm, f"{norm}-3.html", original=place / "people.csv")
    for page in map(text_of, pages):
        plain = page.lower().replace("this dossier does not say that the release is anonymous", "")
        plain = plain.replace("or that it complies with a law or a norm", "")
        assert not re.search(r"\bis (now )?(anonymous|safe|compliant)\b|\bcomplies\b", plain)
        assert "This dossier does not say" in page
        assert "<script" not in page


def test_figures_come_from_the_files(place):
    page = text_of(write(place, "ema", "figures.html", schema=place / "schema.toml")[0])
    with (place / "out" / "release.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    sizes = Counter((row["age"], row["town"]) for row in rows)
    largest = max(1 / size for size in sizes.values())
    assert f"Largest risk: 1 in {min(sizes.values())} ({100 * largest:g}%)" in page
    assert f"60 rows in {len({row['group'] for row in rows})} groups" in page
    manifest = shoal.audit(place / "out").to_dict()
    assert manifest["holds"]
    assert "Wages by age." in page
    assert "Not for single towns." in page
    assert (
        "Shoal computed 9 of 18 fields from the published files. Standard text fills 1 more" in page
    )


def test_the_annex_counts_the_original(place):
    _, annex = write(
        place, "ema", "annex.html", schema=place / "schema.toml", original=place / "people.csv"
    )
    page = text_of(annex)
    with (place / "people.csv").open(newline="") as file:
        alike = Counter((row["age"], row["town"]) for row in csv.DictReader(file))
    alone = sum(count == 1 for count in alike.values())
    assert f"{100 * alone / 60:.1f}".rstrip("0").rstrip(".") + "% of 60 rows are the only" in page
    once, twice, share = alone, sum(count == 2 for count in alike.values()), 60 / 120
    chance = share * once / (share * once + 2 * (1 - share) * twice)
    assert f"with a chance of {100 * chance:.1f}" in page
    assert "name removed" in page
    assert "where several groups match a person, the best guess over all of them may be" in page


@pytest.mark.parametrize("norm", ["ema", "gdpr"])
def test_sentences_of_the_annex_are_listed_and_speak_of_the_release(place, norm):
    """Not of its folder; and on whom attacks were measured is said once for each field."""
    _, annex = write(place, norm, f"{norm}-listed.html", original=place / "people.csv")
    assert not re.search(r"\b(in|of|on) out\b", text_of(annex))
    assert re.search(r"of the release who knows|in the release (exactly|to within)", text_of(annex))
    for field in re.split(r'(?=<div class="field)', annex)[1:]:
        (body,) = re.findall(r'<div class="a">(.*?)(?:</div>|<table)', field, re.DOTALL)
        assert body.count("<p>") <= 1
        assert body.count("drawn at random; ±") <= 1


def test_the_annex_lists_whom_rows_are_about_with_the_identifiers(tmp_path):
    rows = [(n // 2, f"n{n // 2}", 20 + n // 2, 1000 + 137 * (n * 11 % 48)) for n in range(48)]
    frame = pl.DataFrame(rows, schema=["who", "name", "age", "pay"], orient="row")
    schema = shoal.Schema(quasi="age", sensitive="pay", person="who", identifying=["name"])
    release = shoal.anonymize(frame, schema, require="EpsilonM(epsilon=100, m=3)")
    release.write(tmp_path / "out")
    (tmp_path / "schema.toml").write_text(
        'quasi = ["age"]\nsensitive = "pay"\nperson = "who"\nidentifying = ["name"]\n'
    )
    _, annex = write(tmp_path, "hipaa", "a.html", schema=tmp_path / "schema.toml", original=frame)
    assert "who replaced by a number drawn at random" in text_of(annex)
    assert "name removed" in text_of(annex)


def test_names_of_columns_that_are_not_published_stay_private(place):
    for norm in NORMS:
        page, _ = write(
            place,
            norm,
            f"{norm}-4.html",
            schema=place / "schema.toml",
            original=place / "people.csv",
        )
        rows = re.findall(r'<th scope="row">([^<]*)</th>', page)
        assert "name" not in rows


def test_what_is_refused(place, tmp_path):
    asked = ("dossier", place / "out", "--norm")
    for arguments, said in (
        (("gpdr", "--output", tmp_path / "a.html"), "gdpr"),
        (("gdpr", "--output", tmp_path / "a.pdf"), "dossier.html or dossier.docx"),
        (("gdpr", "--output", place / "out" / "a.html"), "inside the release"),
        (("gdpr",), "--output dossier.html"),
    ):
        done = run(*asked, *arguments)
        assert done.code == 2
        assert said in done.said
    (tmp_path / "b.html").write_text("")
    assert run(*asked, "gdpr", "--output", tmp_path / "b.html").code == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.html"]


def test_answers_may_stand_in_a_schema_file_that_publishes(place, tmp_path):
    text = (
        f'table = "{place / "people.csv"}"\noutput = "out"\nrequire = "KAnonymity(k=3)"\n{SCHEMA}'
    )
    (tmp_path / "schema.toml").write_text(text)
    assert run("anonymize", "--schema", tmp_path / "schema.toml").code == 0
    stated = (tmp_path / "out" / "manifest.json").read_text()
    assert "Research on wages" in stated
    assert "Wages by age" not in stated


def test_a_release_that_was_changed_does_not_hold(place, tmp_path):
    import shutil

    shutil.copytree(place / "out", tmp_path / "out")
    file = tmp_path / "out" / "release.csv"
    file.write_text(file.read_text().replace("1000", "1001"))
    done = run("dossier", tmp_path / "out", "--norm", "gdpr", "--output", tmp_path / "d.html")
    assert done.code == 1
    page = tmp_path / "d.html"
    assert not page.exists() or "Does not hold" in page.read_text()


def test_without_the_library_a_document_is_refused_in_a_sentence(place, tmp_path):
    done = run("dossier", place / "out", "--norm", "nist", "--output", tmp_path / "d.docx")
    if importlib.util.find_spec("docx") is None:
        assert done.code == 2
        assert "shoal[dossier]" in done.said
        assert not any(tmp_path.iterdir())
        return
    import docx

    written = docx.Document(str(tmp_path / "d.docx"))
    about = written.core_properties
    assert "NIST" in about.title
    assert (about.author, about.comments, about.created) == ("", "", None)
    texts = [one.text for one in written.paragraphs]
    assert any("This dossier does not say" in text for text in texts)
    assert sum(text.startswith("To be answered") for text in texts) == 4


@pytest.mark.parametrize("form", ["means", "two-tables"])
def test_other_forms_and_people(form, tmp_path):
    frame = pl.DataFrame(
        {
            "who": [n // 2 for n in range(48)],
            "age": [20 + n // 2 for n in range(48)],
            "pay": [1000 + 137 * (n * 11 % 48) for n in range(48)],
        }
    )
    schema = shoal.Schema(quasi="age", sensitive="pay", person="who")
    release = shoal.anonymize(frame, schema, require="EpsilonM(epsilon=100, m=3)", form=form)
    release.write(tmp_path / "out")
    for norm in NORMS:
        path = tmp_path / f"{norm}.html"
        shoal.dossier(tmp_path / "out", path, norm=norm, original=frame, person="who")
        assert "24 people" in text_of(path.read_text()) or norm == "fivesafes"


def test_a_release_without_groups(tmp_path):
    frame = pl.DataFrame({"age": range(20, 50), "pay": range(30)})
    schema = shoal.Schema(quasi="age", sensitive="pay")
    release = shoal.anonymize(frame, schema, require="KAnonymity(k=3)", method="Freeform()")
    release.write(tmp_path / "out")
    shoal.dossier(tmp_path / "out", tmp_path / "d.html", norm="nist", original=frame)
    assert "has no groups" in (tmp_path / "d.html").read_text()


def test_attacks_are_tried_on_people_who_are_not_in_the_release(place):
    """What the annex says of controls is what an attack with them says."""
    others = pl.DataFrame(
        {
            "age": [20 + n * n % 17 for n in range(60, 560)],
            "town": [["Aalen", "Bonn", "Celle"][n % 3] for n in range(60, 560)],
            "pay": [1000 + 137 * (n * 7 % 61) for n in range(60, 560)],
        }
    )
    original = place / "people.csv"
    how = {"original": original, "control": others}
    found = shoal.attack([place / "out"], **how).to_dict()["controlled"]
    _, annex = write(place, "gdpr", "controls.html", **how)
    assert found
    for one in found:
        said = one["sentence"].replace("\xa0", " ").replace(" out ", " the release ")
        assert re.split(r"\d", said)[0] in text_of(annex)
    _, annex = write(place, "gdpr", "alone.html", original=original)
    assert "who are not in the release were not given" in text_of(annex)
    with pytest.raises(shoal.UsageError, match="original"):
        shoal.dossier(place / "out", place / "x.html", norm="gdpr", control=others)


@pytest.mark.parametrize("norm", NORMS)
def test_every_dossier_says_what_the_measurements_do_not_cover(place, norm):
    page = text_of(write(place, norm, f"covers-{norm}.html")[0])
    assert "The numbers assume a reader who knows which group a person is in" in page
    assert "It does not rule out a statement that is true of exactly one row." in page


def test_standard_text_is_not_counted_as_computed_and_links_are_not_denied(place):
    page = text_of(write(place, "gdpr", "standard.html")[0])
    assert "Shoal computed 7 of 15 fields" in page
    assert "Standard text fills 2 more. The schema file answers none yet." in page
    assert page.count("the same for every release of this kind, not measured") == 2
    assert "Rows can be linked by age and town with tables that have these columns." in page
    assert "No published column was made" not in page
