"""Files of Stata and SPSS come in with their labels, those of SAS with codes; missing is empty."""

from pathlib import Path

import polars as pl
import pyreadstat
import pytest

import shoal
from sas import write_sas
from shoal.table.reading import read_table

CODED = pl.DataFrame(
    {"age": [30, 41, 999, None], "ward": [1, 2, 1, 2], "cost": [1.5, 2.25, 3.0, 4.0]}
)
LABELS: dict[str, dict[int | float, str]] = {"ward": {1: "Innere", 2: "Chirurgie", 3: "leer"}}
READ = pl.DataFrame(
    {
        "age": [30, 41, None, None],
        "ward": ["Innere", "Chirurgie", "Innere", "Chirurgie"],
        "cost": [1.5, 2.25, 3.0, 4.0],
        "name": ["ä", None, "c", "d"],
    }
)


def write(path: Path) -> Path:
    table = CODED.with_columns(name=pl.Series(["ä", "", "c", "d"]))
    if path.suffix == ".sav":
        pyreadstat.write_sav(
            table, path, variable_value_labels=LABELS, missing_ranges={"age": [999]}
        )
    else:
        age = pl.Series("age", [30, 41, None, None])
        pyreadstat.write_dta(table.with_columns(age), path, variable_value_labels=LABELS)
    return path


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_labels_stand_for_codes_and_missing_codes_are_empty(ending: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"people.{ending}")
    assert read_table(path).equals(READ)
    opened = shoal.open_table(path)
    assert opened.preview.rows == READ.height
    assert opened.preview.columns == tuple(READ.columns)


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_a_column_of_which_some_codes_alone_have_labels_stays_numbers(
    ending: str, tmp_path: Path
) -> None:
    """An income whose -9 is called “refused” ended as a crash, or as a column without type."""
    path = tmp_path / f"people.{ending}"
    table = pl.DataFrame(
        {
            "income": [1000.0, -9.0, None, 2500.5],
            "mood": [1.0, 3.0, 5.0, None],
            "sex": ["m", "f", "m", ""],
            "asked": [9.0, None, None, 9.0],
        }
    )
    labels: dict[str, dict[object, str]] = {
        "income": {-9: "refused"},
        "mood": {1: "never", 5: "always"},
        "asked": {9: "no"},
    }
    write_as = getattr(pyreadstat, f"write_{ending}")
    labels |= {"sex": {"m": "male", "f": "female"}} if ending == "sav" else {}
    if ending == "dta":  # whose labels are of whole numbers
        table = table.with_columns(
            pl.col("mood", "asked").cast(pl.Int32), income=pl.Series([1000, -9, None, 2500])
        )
    write_as(table, path, variable_value_labels=labels)
    read = read_table(path)
    assert read["income"].to_list() == table["income"].to_list()
    assert read["mood"].to_list() == [1, 3, 5, None]
    assert read["asked"].to_list() == ["no", None, None, "no"]
    whole = ["male", "female", "male", None] if ending == "sav" else ["m", "f", "m", None]
    assert read["sex"].to_list() == whole


def test_a_file_of_sas_comes_in_with_its_codes(tmp_path: Path) -> None:
    path = tmp_path / "people.sas7bdat"
    columns: dict[str, list[float | str | None]] = {
        "age": [30, 41, None, 52],
        "ward": [1, 2, 1, 2],  # its labels would stand in a catalog
        "cost": [1.5, 2.25, 3.0, 4.0],
        "admitted": [23_000, None, 23_010, 23_011],  # days since 1960
        "name": ["ä", None, "c", "d"],
    }
    write_sas(path, columns, ward="WARDS", admitted="DATE9")
    days = pl.Series(["2022-12-21", None, "2022-12-31", "2023-01-01"]).str.to_date()
    codes = pl.Series("ward", [1, 2, 1, 2])
    expected = READ.with_columns(age=pl.Series([30, 41, None, 52]), ward=codes, admitted=days)
    assert read_table(path).equals(expected.select(*columns))
    assert shoal.open_table(path).plain.columns == list(columns)


@pytest.mark.parametrize("begins", [b"$FL2", b"<stata_dta>", bytes(12) + b"\xc2\xea\x81\x60"])
def test_a_file_that_is_cut_short_is_refused(begins: bytes, tmp_path: Path) -> None:
    path = tmp_path / "cut"
    path.write_bytes(begins + bytes.fromhex("b31411cfbd92080009c7318c181f1011") + b"\0" * 40)
    with pytest.raises(shoal.InputError):
        read_table(path)
