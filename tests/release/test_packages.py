"""Releases as files of Stata and SPSS: read by what reads such files, and compared."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import polars as pl
import pyreadstat
import pytest

import shoal
from shoal.datasets.census import census
from shoal.errors import InputError, OutputError
from shoal.release.packages import PACKAGES, packaged, valid_names
from shoal.table.forms import FORMS, TWO_TABLES
from shoal.table.reading import read_table

if TYPE_CHECKING:
    from pathlib import Path

ENDINGS = tuple(PACKAGES)
SCHEMA = shoal.Schema(quasi=["age", "born", "birthplace"], sensitive="income")


@pytest.fixture(scope="module")
def release() -> shoal.Release:
    born = pl.date(2024, 5, 17) - pl.duration(days=pl.col("age") * 365)
    row = pl.int_range(pl.len())
    table = census(300).with_columns(
        age=pl.when(row % 60 > 0).then("age"), born=pl.when(row % 5 > 0).then(born)
    )
    require = shoal.principles.EpsilonM(epsilon=1000, m=3)
    return shoal.anonymize(table, SCHEMA, require=require, method="Split()", missing="value")


def read(path: Path) -> tuple[pl.DataFrame, dict[str, dict[float, str]], dict[str, str]]:
    reads = getattr(pyreadstat, f"read_{path.suffix[1:]}")
    found, said = reads(path, output_format="polars")
    titles = dict(zip(said.column_names, said.column_labels, strict=True))
    return found, said.variable_value_labels, titles


def as_text(cells: pl.Series) -> list[str | None]:
    """Return what a person reads of a typed column."""
    if isinstance(cells.dtype, pl.List):
        return [" or ".join("missing" if one is None else one for one in row) for row in cells]
    return [None if cell in (None, "") else str(cell) for cell in cells]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("form", FORMS)
def test_the_file_holds_what_the_release_does(release, form, ending, tmp_path):
    place = tmp_path / "out"
    release.as_form(form).write(place)
    paths = shoal.measures.export_file(place, tmp_path / f"table{ending}")
    stems = ["table-people", "table-values"] if form == TWO_TABLES else ["table"]
    assert [path.name for path in paths] == [f"{stem}{ending}" for stem in stems]
    found = shoal.measures.read(place)
    for path, table in zip(paths, found if form == TWO_TABLES else [found], strict=True):
        cells, labels, titles = read(path)
        assert list(titles.values()) == table.columns
        for name, shown in zip(cells.columns, table.columns, strict=True):
            column, meant = cells[name], table[shown]
            if name in labels:
                used = set(column.drop_nulls())
                assert set(labels[name]) == used  # no label of what does not occur
                said = [None if code is None else labels[name][code] for code in column]
                assert said == as_text(meant)
            elif meant.dtype.is_numeric():
                assert column.cast(pl.Float64).equals(meant.cast(pl.Float64), null_equal=True)
            else:
                assert column.dtype == pl.Date
                assert column.equals(meant, null_equal=True)
        assert "birthplace" not in table.columns or "birthplace" in labels
        assert read_table(path).height == table.height  # and it comes in again


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_file_does_not_say_when_it_was_written(release, ending, tmp_path):
    release.write(tmp_path / "out")
    (path,) = shoal.measures.export_file(tmp_path / "out", tmp_path / f"table{ending}")
    said = getattr(pyreadstat, f"read_{ending[1:]}")(path, metadataonly=True)[1]
    assert {said.creation_time.year, said.modification_time.year} == {2000}


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_such_programs_cannot_hold_stays_text(ending):
    table = pl.DataFrame(
        {
            "Kosten (EUR)": [1.5, None, 0.1],
            "id": [2**60, 1, 2],
            "long": ["x" * 200, "y", None],
            "Straße": ["ä", "ß", "ä"],
            "day": [date(1895, 1, 1), None, date(2024, 2, 29)],
        }
    )
    made = packaged(table, PACKAGES[ending], "T" * 300)
    assert len(made) > 100


@pytest.mark.parametrize("letter", ["t", "ä"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_long_names_of_texts_and_numbers_are_shortened(ending, letter, tmp_path):
    for length in range(29, 41):
        names = [f"{letter * (length - 2)}{number:02}" for number in range(12)]
        table = pl.DataFrame({name: ["a", "b", "a"] for name in names} | {"n" * length: [1, 2, 3]})
        path = tmp_path / f"{length}{ending}"
        path.write_bytes(packaged(table, PACKAGES[ending], ""))
        cells, labels, titles = read(path)
        assert list(titles.values()) == table.columns
        assert [len(labels[name]) for name in cells.columns[:-1]] == [2] * 12
        assert len(cells.columns[-1]) == min(length, 32)
        assert len(cells.columns[0]) >= min(length, 30)


def test_names_are_those_that_programs_take():
    given = ["a b", "a_b", "A_b", "2nd", "Größe", "if", "x" * 40, "x" * 41, "–"]
    made = valid_names(given, [32] * len(given))
    assert made == [
        "a_b",
        "a_b_2",
        "A_b_3",
        "v_2nd",
        "Größe",
        "if_",
        "x" * 32,
        "x" * 30 + "_2",
        "v",
    ]


def test_a_release_that_was_changed_and_a_file_that_is_there_are_refused(release, tmp_path):
    place = tmp_path / "out"
    release.write(place)
    with pytest.raises(shoal.UsageError, match=r"\.dta or \.sav"):
        shoal.measures.export_file(place, tmp_path / "table.csv")
    with pytest.raises(shoal.UsageError, match="inside the release"):
        shoal.measures.export_file(place, place / "table.dta")
    (tmp_path / "there.dta").touch()
    with pytest.raises(OutputError, match="exists"):
        shoal.measures.export_file(place, tmp_path / "there.dta")
    with (place / "release.csv").open("a") as file:
        file.write("1,2,3,4,5\n")
    with pytest.raises((shoal.AuditFailed, InputError)):
        shoal.measures.export_file(place, tmp_path / "table.dta")
    assert not (tmp_path / "table.dta").exists()


def test_a_file_that_does_not_hold_the_release_is_not_kept(monkeypatch, release, tmp_path):
    """The comparison has power: one cell that is written wrongly is found."""
    place = tmp_path / "out"
    release.write(place)
    write = pyreadstat.write_dta

    def spoiled(table, path, **how):
        write(table.with_columns(pl.col("income") + 1), path, **how)

    monkeypatch.setattr(pyreadstat, "write_dta", spoiled)
    with pytest.raises(OutputError, match="read again"):
        shoal.measures.export_file(place, tmp_path / "table.dta")
    assert not (tmp_path / "table.dta").exists()
