"""Public files are a function of the published tables and of what was asked.

That nothing else is in them, `test_equal_cells.py` tries.
"""

from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.audit.tables import digest_of
from shoal.principles.groups import Groups
from shoal.release.building import build_release
from shoal.release.layout import Randomness, Suppression
from shoal.runs.release import Release, say_asked
from shoal.runs.run import Run
from system.shell import shoal as command

if TYPE_CHECKING:
    from pathlib import Path

TREE = {"south": ["Aix", "Bari", "Catania"], "north": ["Delft", "Essen", "Falun", "Gent"]}


def patients(rows: int, seed: int = 1) -> pl.DataFrame:
    chance = random.Random(seed)
    towns = [town for some in TREE.values() for town in some]
    return pl.DataFrame(
        {
            "who": [f"p{place // 2}" for place in range(rows)],
            "age": [chance.randint(18, 90) for _ in range(rows)],
            "born": [f"19{chance.randint(40, 99)}-0{chance.randint(1, 9)}-17" for _ in range(rows)],
            "zip": [f"0{chance.randint(1000, 1300)}" for _ in range(rows)],
            "town": [chance.choice(towns) for _ in range(rows)],
            "sex": [chance.choice("fm") for _ in range(rows)],
            "pay": [chance.randint(1, 90) * 1000 for _ in range(rows)],
            "ill": [chance.choice(["flu", "cold", "asthma", "=1+1"]) for _ in range(rows)],
            "w": [str(chance.choice([10, 20, 32.5])) for _ in range(rows)],
        }
    )


NODES = {"town": TREE, "zip": "Prefix()"}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "plain": ({"quasi": ["age", "town"], "sensitive": ["pay", "ill"]}, {}, {}),
    "parquet": ({"quasi": ["age", "born", "town"], "sensitive": "pay"}, {}, {"format": "parquet"}),
    "bounds": ({"quasi": ["age", "born"], "sensitive": "pay"}, {"form": "bounds"}, {}),
    "means": ({"quasi": ["age", "town"], "sensitive": "pay"}, {"form": "means"}, {}),
    "two tables": (
        {"quasi": ["age", "town"], "sensitive": "ill"},
        {"form": "two-tables", "require": "FrequencyL(l=2)"},
        {},
    ),
    "nodes": ({"quasi": ["zip", "town"], "sensitive": "ill", "hierarchies": NODES}, {}, {}),
    "people": ({"quasi": ["age"], "sensitive": "pay", "person": "who"}, {}, {}),
    "unknown rows": (
        {"quasi": ["age"], "sensitive": "pay", "person": "who", "rows": "unknown"},
        {},
        {},
    ),
    "never mixed": ({"quasi": "age", "never_mix": "sex", "sensitive": "pay"}, {}, {}),
    "left out": (
        {"quasi": ["age", "town"], "sensitive": "pay", "other": "ill"},
        {"suppress": "10%", "escape_formulas": True},
        {"format": "tsv", "threshold": "0.3"},
    ),
    "weights": ({"quasi": ["age"], "sensitive": "pay", "survey_weight": "w"}, {}, {}),
    "no groups": ({"quasi": ["age", "born"], "sensitive": "pay"}, {"method": "Freeform()"}, {}),
    "population": (
        {"quasi": ["age", "sex"], "sensitive": "pay"},
        {"require": "KMap(k=3)", "population": patients(400, 2)},
        {},
    ),
    "rounded": (
        {"quasi": ["age"], "sensitive": "pay", "round": {"age": 5}, "top": {"pay": 80000}},
        {},
        {},
    ),
}


def made_again(out: Path) -> None:
    """Compare a report with the one that is made from the directory."""
    assert shoal.report(out).encode() == (out / "report.html").read_bytes()


@pytest.mark.few(7)
@pytest.mark.parametrize("case", CASES)
def test_the_report_is_made_from_the_directory_byte_for_byte(case: str, tmp_path: Path) -> None:
    roles, asked, written = CASES[case]
    table = patients(120)
    options: dict[str, Any] = {"require": "KAnonymity(k=3)"} | asked
    release = shoal.anonymize(table, shoal.Schema(**roles), **options)
    release.write(tmp_path / "out", **written)
    made_again(tmp_path / "out")
    whole = table if case == "no groups" else None
    found = shoal.audit(tmp_path / "out", original=whole, population=asked.get("population"))
    assert found.holds, found.complaints()


def test_reports_of_linked_tables_are_made_again(tmp_path: Path) -> None:
    people = patients(120).unique("who", keep="first", maintain_order=True)
    visits = patients(120, 3).select("who", "ill")
    roles = shoal.Schema(quasi="age", sensitive=["pay", "visits.ill"], person="who")
    asked: Any = {"require": "KAnonymity(k=3)", "linked": {"visits": visits}}
    shoal.anonymize(people, roles, **asked).write(tmp_path / "out")
    made_again(tmp_path / "out")
    assert shoal.audit(tmp_path / "out").holds


def test_reports_of_a_series_and_of_coarser_releases_are_made_again(tmp_path: Path) -> None:
    table = patients(120).unique("who", keep="first", maintain_order=True)
    roles = shoal.Schema(quasi=["age", "town"], sensitive="pay", person="who")
    for turn, rows in enumerate((40, 60)):
        run = Run.over(
            table.head(rows)[turn:],
            roles,
            require="KAnonymity(k=3)",
            output=tmp_path / f"turn{turn}",
            ledger=tmp_path / "ledger",
        )
        run.publish()
        made_again(tmp_path / f"turn{turn}")
        assert shoal.audit(tmp_path / f"turn{turn}").holds
    plain = shoal.Schema(quasi=["age", "town"], sensitive="pay")
    shoal.anonymize(table, plain, require="KAnonymity(k=2)").write(tmp_path / "finer")
    shoal.coarsen(tmp_path / "finer", require="KAnonymity(k=6)").write(tmp_path / "coarser")
    made_again(tmp_path / "coarser")
    assert shoal.audit(tmp_path / "coarser").holds


SPOILED = {
    "a number among the facts": (r'"half": [0-9.]+', '"half": 1234.5'),
    "a count": (r'"least": ([0-9]+)', '"least": 99999'),
    "what is shown": (r"<dt>columns published</dt><dd>[0-9]+", "<dt>columns published</dt><dd>77"),
    "the verdict": (r'class="says( long)?">Holds', 'class="says">Perfect'),
    "no facts at all": (r'<script type="application/json".*?</script>', ""),
}


@pytest.mark.parametrize("what", SPOILED)
def test_a_spoiled_report_fails_the_audit_whatever_its_digest(what: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    roles = shoal.Schema(quasi=["age", "town"], sensitive="pay")
    shoal.anonymize(patients(60), roles, require="KAnonymity(k=3)").write(out)
    page = (out / "report.html").read_text("utf-8")
    spoiled = re.sub(*SPOILED[what], page, count=1, flags=re.DOTALL)
    assert spoiled != page
    (out / "report.html").write_text(spoiled, "utf-8")
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    manifest["digests"]["report.html"] = digest_of(out / "report.html")
    (out / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    outcome = command("audit", out)
    assert outcome.code == 1
    assert "report.html" in outcome.out
    sheet = tmp_path / "sheet.html"
    assert command("certificate", out, sheet).code == 1
    assert ">Does not hold<" in sheet.read_text("utf-8")
    assert shoal.report(out) == page  # which does not look at what was spoiled


def test_a_report_of_another_version_is_compared_by_what_both_say(tmp_path: Path) -> None:
    out = tmp_path / "out"
    roles = shoal.Schema(quasi=["age", "town"], sensitive="pay")
    shoal.anonymize(patients(60), roles, require="KAnonymity(k=3)").write(out)
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    manifest["shoal"] = "9.9.9"
    page = (
        (out / "report.html").read_text("utf-8").replace('"shoal": "', '"shoal": "9.9.9", "x": "')
    )
    for text, holds in (
        (page.replace("What does a cell show?", "What cells show"), True),
        (page.replace('"sizes": [', '"news": 5, "sizes": ['), True),
        (re.sub('"half": [0-9.]+', '"half": 4321', page), False),
    ):
        (out / "report.html").write_text(text, "utf-8")
        manifest["digests"]["report.html"] = digest_of(out / "report.html")
        (out / "manifest.json").write_text(json.dumps(manifest), "utf-8")
        found = shoal.audit(out)
        assert found.holds == holds, found.complaints()


def test_the_command_makes_the_report_and_replaces_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    roles = shoal.Schema(quasi=["age"], sensitive="pay")
    shoal.anonymize(patients(30), roles, require="KAnonymity(k=3)").write(out)
    page = (out / "report.html").read_text("utf-8")
    assert command("report", out).out == page
    assert command("report", out, "--output", tmp_path / "again.html").code == 0
    assert (tmp_path / "again.html").read_text("utf-8") == page
    again = command("report", out, "--output", tmp_path / "again.html")
    assert again.code == 4
    assert "'again.html' exists" in again.said
    (out / "report.html").unlink()
    assert command("report", out).out == page
    (out / "release.csv").write_text("group,age,pay\n1,2,3\n", "utf-8")
    changed = command("report", out)
    assert changed.code == 1
    assert "release.csv" in changed.said
    assert command("report", tmp_path).code == 2


# What no cell shows has no say in the types of a file either.

HIDING = {  # of whole values: how the ones inside a cell may be written
    "whole": ("{}", ["{}.5", "{}.0", "{}.25"]),
    "large": ("400000000000{}", ["400000000000{}.5"]),
    "larger": ("{}000000000000000000", ["{}000000000000000000.0"]),
    "days": ("19{}-05-06", ["19{}-05-06T07:08:09", "19{}-05-06T07:08:09.123456789"]),
    "moments": ("19{}-05-06T07:08:09", ["19{}-05-06T07:08:09.123456789"]),
    "decimals": ("{}.5", ["{}", "{}.25"]),
}
SPELLED_ALIKE = {"whole": ["{}.0"], "days": ["19{}-05-06T00:00:00"]}  # means show decimals


@pytest.mark.few(1)
@pytest.mark.parametrize("form", ["intervals", "bounds", "means"])
@pytest.mark.parametrize("format", ["parquet", "feather", "jsonl"])
def test_values_that_no_cell_shows_have_no_say_in_types(
    form: str, format: str, tmp_path: Path
) -> None:
    chance = random.Random(form + format)
    rows, size = 24, 6
    labels = np.array([place // size for place in range(rows)])
    plain, spoiled = {}, {}
    for name, (way, ways) in HIDING.items():
        hiding = SPELLED_ALIKE.get(name, [way]) if form == "means" else ways
        numbers = [sorted(chance.sample(range(10, 99), size)) for _ in range(rows // size)]
        plain[name] = [way.format(one) for some in numbers for one in some]
        spoiled[name] = [
            (chance.choice([way, *hiding]) if at not in {0, size - 1} else way).format(one)
            for some in numbers
            for at, one in enumerate(some)
        ]
        if way not in hiding:
            spoiled[name][1] = hiding[-1].format(numbers[0][1])
    pay = {"pay": list(range(rows))}
    schema = shoal.Schema(quasi=list(plain), sensitive="pay")
    files: list[list[bytes]] = []
    for columns in (plain, spoiled):
        table = pl.DataFrame(columns | pay)
        run = Run(table=table, schema=schema, require="KAnonymity(k=3)")
        release = Release.of(
            build_release(
                table,
                schema,
                run.prepare(table).task,
                Groups(labels),
                suppression=Suppression(),
                method=shoal.methods.Exchange(),
                randomness=Randomness(1),
                given=table,
                form=form,
            )
        )
        say_asked(release.manifest, run)
        out = tmp_path / str(len(files))
        release.write(out, format=format)
        release.write(out / "text")
        names = (out / "text" / "release.csv", out / f"release.{format}")
        files.append([path.read_bytes() for path in names])
    assert plain != spoiled
    first, second = files
    assert first[0] == second[0]
    assert first[1] == second[1]


UNSEEN = {  # what stands in a row that is not published, in place of what did
    "age": "99999",
    "age, no number": "no idea",
    "born": "1899-01-01",
    "born, with a time of day": "1999-01-01T10:00:00",
    "zip": "ABC",
    "visits.cost": "9e15",
}


@pytest.mark.parametrize("method", ["Exchange()", "Oblivious()", "Mondrian()"])
@pytest.mark.parametrize("what", UNSEEN)
def test_rows_beyond_what_is_published_of_a_person_leave_no_trace(what: str, method: str) -> None:
    """Neither in groups nor in what a column is taken for: only chance knows which they are."""
    column = what.split(",", maxsplit=1)[0]
    table = patients(60).cast(pl.String)
    visits = pl.DataFrame({"who": table["who"], "cost": table["pay"]})
    asked = ["KAnonymity(k=2)"]
    if method != "Mondrian()":
        asked = ["visits.cost: EpsilonM(epsilon=900, m=2)"]
    if method == "Exchange()":
        asked.append("pay: EpsilonM(epsilon=900, m=2)")
    schema = shoal.Schema(
        quasi=["age", "born", "zip"],
        sensitive=["pay", "visits.cost"],
        person="who",
        most_rows=1,
    )

    def published(table: pl.DataFrame, visits: pl.DataFrame) -> shoal.Release:
        linked = {"visits": visits}
        how: Any = {"require": asked, "linked": linked, "method": method, "seed": 5}
        return shoal.anonymize(table, schema, **how)

    before = published(table, visits)
    whose, name = (visits, "cost") if column.startswith("visits.") else (table, column)
    kept = set(before.coded.linked[0].rows if whose is visits else before.coded.rows)
    assert len(kept) == 30
    texts = [old if row in kept else UNSEEN[what] for row, old in enumerate(whose[name])]
    spoiled = whose.with_columns(pl.Series(name, texts))
    after = published(spoiled if whose is table else table, spoiled if whose is visits else visits)
    assert after.table.equals(before.table)
    assert after.tables["visits"].equals(before.tables["visits"])
    assert after.manifest.columns == before.manifest.columns
    assert after.manifest.capped == before.manifest.capped == 30
