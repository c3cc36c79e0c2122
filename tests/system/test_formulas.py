"""Cells that a spreadsheet would run are counted, warned about and, if asked, defused."""

from pathlib import Path

import polars as pl
import pytest

from reference import release as oracle
from system.shell import Outcome, Row, anonymize, shoal, write_csv

RISKY = ("=cmd|' /C calc'!A0", "+1a", "-x", "@y", "=1+1", "--5", "-", "-1a", "\tx", "\t=1")
SAFE = ("-5", "-5.25", "-1e6", "x=1", "a@b", " =1", "", "5-3", "−5", "'", "'x", "' =1")
MARKED = ("'=1", "''=1", "'-5", "'\t")  # as if they were escaped already
EPSILON_M = "EpsilonM(epsilon=500, m=3)"


@pytest.fixture
def noted(tmp_path: Path, rows: list[Row]) -> Path:
    """Return a table with every risky note twice and every safe one too."""
    cells = [*RISKY, *RISKY, *SAFE, *MARKED]
    changed = [row | {"note": "plain"} for row in rows]
    for number, cell in enumerate(cells):
        changed[number * 7]["note"] = cell
    return write_csv(tmp_path / "noted.csv", changed)


def notes(directory: Path) -> list[str]:
    return sorted(row["note"] for row in oracle.read_release(directory).rows)


def done(outcome: Outcome) -> str:
    assert outcome.code == 0, outcome
    return outcome.said


def test_formulas_in_other_cells_are_counted_and_warned_about(noted: Path, place: Path) -> None:
    said = done(anonymize(noted, place / "out", require=EPSILON_M))
    assert f"{2 * len(RISKY)} cells" in said
    assert "warning" in said.lower()
    assert "--escape-formulas" in said
    assert oracle.problems(place / "out", [], noted) == []  # and nothing was changed


def test_escaping_defuses_formulas_and_nothing_else(noted: Path, place: Path) -> None:
    said = done(anonymize(noted, place / "out", "--escape-formulas", require=EPSILON_M))
    assert f"{2 * len(RISKY)} cells" in said
    assert "warning" not in said.lower()
    before = [row["note"] for row in oracle.read_table(noted)[1]]
    escaped = sorted("'" + n if n in {*RISKY, *MARKED} else n for n in before)
    _, published = oracle.read_table(place / "out" / "release.csv")
    assert sorted(row["note"] for row in published) == escaped
    assert notes(place / "out") == sorted(before)
    assert shoal("audit", place / "out").code == 0


def test_escaping_defuses_formulas_in_parquet_too(noted: Path, place: Path) -> None:
    options = (
        "--escape-formulas",
        "--format",
        "parquet",
        "--quasi",
        "age,score",
        "--other",
        "note",
    )
    said = done(anonymize(noted, place / "out", *options, require=EPSILON_M))
    found = pl.read_parquet(place / "out" / "release.parquet")["note"].drop_nulls()
    assert "put an apostrophe before" in said.lower()
    assert not set(RISKY) & set(found)
    assert {"'" + cell for cell in RISKY} <= set(found)


def test_formulas_in_sensitive_text_cells_are_counted(noted: Path, place: Path) -> None:
    options = ("--sensitive", "note", "--quasi", "age,town,score")
    said = done(
        anonymize(noted, place / "out", *options, "--missing", "drop", require="KAnonymity(k=4)")
    )
    assert f"{2 * len(RISKY)} cells" in said


def test_negative_numbers_are_no_formulas(table: Path, place: Path) -> None:
    options = ("--sensitive", "change", "--other", "note", "--quasi", "age,score")
    for name, more in (("plain", ()), ("escaped", ("--escape-formulas",))):
        said = done(
            anonymize(table, place / name, *options, *more, require="EpsilonM(epsilon=1, m=3)")
        )
        assert "spreadsheet" not in said
        assert oracle.problems(place / name, [], table) == []


def test_labels_that_look_like_formulas_keep_a_release_valid(
    tmp_path: Path, place: Path, rows: list[Row]
) -> None:
    names = {"Aalen": "=Aalen", "東京": "-x", "[odd]": "@y"}
    changed = [row | {"town": names.get(row["town"], row["town"])} for row in rows]
    table = write_csv(tmp_path / "labels.csv", changed)
    for name, more in (("plain", ()), ("escaped", ("--escape-formulas",))):
        done(anonymize(table, place / name, *more, require="KAnonymity(k=2)"))
        assert shoal("audit", place / name).code == 0
        assert oracle.problems(place / name, [], table) == []


def test_formulas_in_dropped_columns_are_not_counted(
    tmp_path: Path, place: Path, rows: list[Row]
) -> None:
    changed = [row | {"unused": "=1", "name": "=2"} for row in rows]
    table = write_csv(tmp_path / "unused.csv", changed)
    assert "spreadsheet" not in done(anonymize(table, place / "out", require=EPSILON_M))
