"""Every page about a release gives the same numbers: of being found, and of rows left out."""

import json
import random
import re
from html import unescape

import polars as pl
import pytest

import shoal
from shoal.runs.facts import facts_of
from shoal.views.dossier import NORMS
from shoal.views.sentences import gone_sentences, left_out
from shoal.views.words import chance
from system.shell import run

REQUIRE = ("--require", "EpsilonM(epsilon=200, m=3)")
WAYS = {
    "plain": (),
    "stated": ("--other", "ward", "--nobody-knows", "ward"),
    "two-tables": ("--form", "two-tables"),
    "people": ("--person", "who"),
    "suppressed": ("--require", "KAnonymity(k=5)", "--suppress", "20%", "--missing", "drop"),
    "held out": ("--hold-out", "20%"),
    "series": ("--ledger",),
    "series of two tables": ("--ledger", "--form", "two-tables"),
}


def text_of(page):
    plain = re.sub(r"<(style|svg)\b.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(plain).replace("\xa0", " "))


def a_table(seed, begin=0, rows=120, each=1, gaps=0):
    drawn = random.Random(seed)
    ages = {n: drawn.randint(20, 70) for n in range(begin, begin + rows)}
    lines = [
        (n, None if n % 11 < gaps else ages[n], drawn.choice("ab"), drawn.choice("xyz"), pay)
        for n in ages
        for pay in drawn.sample(range(1000, 60000), drawn.randint(1, each))
    ]
    return pl.DataFrame(lines, ["who", "age", "town", "ward", "pay"], orient="row")


def released(way, folder):
    """Make a release on the command line, of a series the second round, and return its place."""
    asked = list(WAYS[way])
    tables = [a_table(1, each=3 if way == "people" else 1, gaps=2 * (way == "suppressed"))]
    if way == "held out":
        asked += ["--hold-out-file", folder / "held.csv"]
    if "--ledger" in asked:
        asked.insert(1, folder / "ledger")
        asked += ["--person", "who"]
        stay = tables[0].filter(pl.col("who") % 4 > 0)
        tables.append(pl.concat([stay, a_table(2, begin=1000, rows=40)]))
    for place, table in enumerate(tables):
        table.write_csv(folder / f"{place}.csv")
        done = run("anonymize", folder / f"{place}.csv", "--quasi", "age,town", "--sensitive",
                   "pay", *REQUIRE, *asked, "--output", folder / f"out{place}")  # fmt: skip
        assert done.code == 0, done.said
    return folder / f"out{len(tables) - 1}", tables[-1]


@pytest.mark.parametrize("way", WAYS)
def test_the_chance_of_being_found_is_one_number(way, tmp_path):
    place, _ = released(way, tmp_path)
    manifest = json.loads((place / "manifest.json").read_text())
    quasi = manifest["found"]["quasi"]
    seen = facts_of(place)["exposure"]
    assert seen["largest_risk"] == quasi
    assert seen["smallest"] == round(1 / quasi)
    shoal.certificate(place, tmp_path / "c.html")
    shoal.dossier(place, tmp_path / "d.html", norm="ema")
    report, page, dossier = (
        text_of(path.read_text())
        for path in (place / "report.html", tmp_path / "c.html", tmp_path / "d.html")
    )
    assert f"at worst {chance(quasi)} ".replace("\xa0", " ") in report
    assert f"Largest risk: {chance(quasi)}".replace("\xa0", " ") in dossier
    if manifest.get("previous"):
        assert quasi > 1 / 3  # more than the rows of any group say
        assert "finding a person threshold" in page
    if way == "two-tables":
        assert quasi == 1
        assert "Only if it is not secret who is in the table" in report


@pytest.mark.parametrize("way", WAYS)
def test_rows_that_were_left_out_add_up(way, tmp_path):
    place, table = released(way, tmp_path)
    manifest = json.loads((place / "manifest.json").read_text())
    series = "previous" in manifest
    kept = manifest["people"] if series else manifest["rows"]
    assert manifest["rows_in"] == table.height
    gone = sum(number for number, _ in left_out(manifest))
    assert gone == manifest["rows_in"] - kept
    (said,) = gone_sentences(manifest)
    assert (said == "No row was left out.") == (gone == 0)
    assert not gone or said.startswith(f"{gone} of {table.height} rows")


def test_rows_and_columns_of_linked_tables_are_not_forgotten(tmp_path):
    people = a_table(3, rows=90)
    visits = a_table(4, rows=90, each=3).select("who", cost="pay", why="ward")
    people.select("who", "age", "town").write_csv(tmp_path / "people.csv")
    visits.write_csv(tmp_path / "visits.csv")
    place = tmp_path / "out"
    done = run("anonymize", tmp_path / "people.csv", "--person", "who", "--quasi", "age,town",
               "--linked", f"visits={tmp_path / 'visits.csv'}", "--most-rows", 2, "--sensitive",
               "visits.cost,visits.why", "--require", "visits.cost: EpsilonM(epsilon=50, m=2)",
               "--output", place)  # fmt: skip
    assert done.code == 0, done.said
    manifest = json.loads((place / "manifest.json").read_text())
    stated = manifest["tables"]["visits"]
    gone = stated["rows_in"] - stated["rows"]
    assert gone > 0
    assert sum(number for number, _ in left_out(stated)) == gone
    said = f"{gone} of {visits.height} rows of visits"
    assert text_of((place / "report.html").read_text()).count(said) == 1
    shoal.certificate(place, tmp_path / "c.html")
    page = text_of((tmp_path / "c.html").read_text())
    assert f"rows of visits left out {gone}" in page
    assert "visits.why sensitive, nothing required" in page
    assert "visits.cost protected published exactly a value within 50 of the guess" in page
    for norm in NORMS:
        file = tmp_path / f"{norm}.html"
        shoal.dossier(place, file, norm=norm, original=tmp_path / "people.csv", person="who")
        public, annex = (
            text_of(path.read_text()) for path in (file, tmp_path / f"{norm}-private.html")
        )
        assert "No row was left out" not in public
        assert (said in public) == ("were left out" in public)
        assert "no sensitive column" not in annex
        assert "no requirement bounds guesses" not in annex
        assert "Not measured for visits.cost and visits.why" in annex


def test_a_column_that_nobody_knows_is_not_counted_as_known(tmp_path):
    place, _ = released("stated", tmp_path)
    shoal.dossier(place, tmp_path / "d.html", norm="gdpr")
    page = text_of((tmp_path / "d.html").read_text())
    assert "The owner states that no reader knows ward of a person." in page
    assert "A reader who does know ward can tell" in page
    assert "who also knows ward, the largest" not in page


def pages_of(place, folder, norm="hipaa"):
    """Return what certificate, dossier and report of a release say."""
    certificate, dossier = folder / "c.html", folder / f"{norm}.html"
    run("certificate", place, certificate)
    shoal.dossier(place, dossier, norm=norm)
    files = (certificate, dossier, place / "report.html")
    return [text_of(path.read_text()) for path in files]


def test_a_promise_that_is_broken_is_not_repeated_as_one(tmp_path):
    place, _ = released("plain", tmp_path)
    file = place / "release.csv"
    lines = file.read_text().splitlines()
    first = lines[1].split(",")[0]
    spoiled = [",".join([*one.split(",")[:-1], "7"]) if one.split(",")[0] == first else one
               for one in lines]  # fmt: skip
    file.write_text("\n".join(spoiled) + "\n")
    done = run("certificate", place, tmp_path / "red.html")
    assert done.code == 1
    assert "Do not sign it." in done.said
    assert "sign it." not in done.said.replace("Do not sign it.", "")
    page = text_of((tmp_path / "red.html").read_text())
    assert "(any other guess: at most 2 in 3). The release does not keep this." in page
    assert "pay protected published exactly EpsilonM(epsilon=200, m=3) does not hold" in page


def test_a_dossier_warns_of_what_report_and_certificate_warn(tmp_path):
    frame = a_table(6).with_columns(pay=pl.col("pay").clip(upper_bound=50000) + 1)
    frame.write_csv(tmp_path / "t.csv")
    done = run("anonymize", tmp_path / "t.csv", "--quasi", "age,town", "--sensitive", "pay",
               *REQUIRE, "--seed", 1, "--top", "pay=40000", "--suppress", "40%",
               "--output", tmp_path / "out")  # fmt: skip
    assert done.code == 0, done.said
    for page in pages_of(tmp_path / "out", tmp_path):
        assert "made with a fixed seed, for testing" in page
        assert "above 40000 given as 40000, then published exactly" in page
    assert "1 column was rounded or cut off" in text_of(
        (tmp_path / "out" / "report.html").read_text()
    )


def test_readers_consider_people_where_rows_are_about_people(tmp_path):
    place, _ = released("people", tmp_path)
    certificate, _, report = pages_of(place, tmp_path)
    for page in (certificate, report):
        for group in ("the group", "that group"):
            assert f"everyone in {group} with as many rows as the person equally likely" in page
            assert f"every row of {group} equally likely" not in page


@pytest.mark.parametrize("way", ["series", "two-tables", "plain"])
def test_thresholds_count_those_who_are_there(way, tmp_path):
    place, _ = released(way, tmp_path)
    manifest = json.loads((place / "manifest.json").read_text())
    shoal.dossier(place, tmp_path / "d.html", norm="iso27559")
    page = text_of((tmp_path / "d.html").read_text())
    smallest = int(re.findall(r"The smallest group has ([0-9]+) p", page)[0])
    if way == "two-tables":
        assert "The rarest description is that of 1 row." in page
        assert smallest >= 3
    else:
        assert smallest == round(1 / manifest["found"]["quasi"])
    if way == "series":
        assert "The values of people who left still count" in page


def test_linked_columns_are_told_apart_too(tmp_path):
    people, visits = a_table(3, rows=60), a_table(4, rows=60).select("who", cost="pay")
    people.select("who", "age", "town").write_csv(tmp_path / "people.csv")
    visits.write_csv(tmp_path / "visits.csv")
    done = run("anonymize", tmp_path / "people.csv", "--person", "who", "--quasi", "age,town",
               "--linked", f"visits={tmp_path / 'visits.csv'}", "--sensitive", "visits.cost",
               *REQUIRE, "--output", tmp_path / "out")  # fmt: skip
    assert done.code == 0, done.said
    _, dossier, _ = pages_of(tmp_path / "out", tmp_path)
    assert "visits.cost 60 100%" in dossier


def test_a_dossier_says_whether_it_measured_again(tmp_path):
    table = a_table(8)
    for method in ("Freeform()", None):
        place = tmp_path / str(method)
        schema = shoal.Schema(quasi=["age", "town"], sensitive="pay")
        shoal.anonymize(table, schema, require="KAnonymity(k=3)", method=method).write(place)
        for norm in ("ema", "iso27559"):
            file = tmp_path / f"{norm}-{method}.html"
            shoal.dossier(place, file, norm=norm)
            page = text_of(file.read_text())
            assert ("measurements that the manifest states" in page) == (method is not None)
            assert ("was measured again" in page) == (method is None and norm == "iso27559")


def test_a_dossier_shows_what_the_files_show_and_not_what_is_stated(tmp_path):
    place, _ = released("stated", tmp_path)
    manifest = json.loads((place / "manifest.json").read_text())
    before = manifest["inferred"]["ward"]["certain"]
    manifest["inferred"]["ward"]["certain"] = 0.987
    (place / "manifest.json").write_text(json.dumps(manifest))
    shoal.dossier(place, tmp_path / "d.html", norm="gdpr")
    page = text_of((tmp_path / "d.html").read_text())
    assert "98.7%" not in page
    assert f"{100 * before:.3g}% of the people, and" in page
    assert "Does not hold" in page
