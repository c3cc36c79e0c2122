"""Dates are read by the whole column, in one way, or asked about; never taken for labels."""

from __future__ import annotations

import datetime as dt
import json
import random

import polars as pl
import pytest

import shoal
from reference.trimming import date
from shoal.errors import BadCells, InputError, UsageError
from shoal.table.dates import ISO, WAYS, guess_format, readings, to_iso
from shoal.table.settling import settle

FIRST = dt.date(1930, 1, 1)


def days(rng: random.Random, count: int) -> list[dt.date]:
    return [FIRST + dt.timedelta(rng.randrange(30000)) for _ in range(count)]


def spell(day: dt.date, way: str) -> str:
    words = {"yyyy": f"{day.year}", "mon": day.strftime("%b"), "mm": f"{day.month:02}",
             "dd": f"{day.day:02}"}  # fmt: skip
    for token, text in words.items():
        way = way.replace(token, text)
    return way


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("way", WAYS)
def test_a_column_is_read_in_the_one_way_that_fits_all_its_cells(way, seed):
    rng = random.Random(seed)
    some = [*days(rng, rng.randint(3, 30)), dt.date(1948, 3, 31)]
    cells = pl.Series([spell(day, way) for day in some])
    assert readings(cells) == [way]
    assert to_iso(cells, way).to_list() == [day.isoformat() for day in some]


@pytest.mark.parametrize("seed", range(60))
def test_what_reads_in_two_ways_is_asked_about(seed):
    rng = random.Random(seed)
    low = seed % 2
    cells = [
        f"{rng.randint(1, 12 if low else 28):02}/{rng.randint(1, 12):02}/{rng.randint(1930, 2020)}"
        for _ in range(rng.randint(2, 6))
    ]
    frame = pl.DataFrame({"born": cells, "x": range(len(cells))})
    both = all(date(c, "dmy") for c in cells) and all(date(c, "mdy") for c in cells)
    schema = shoal.Schema(quasi="born", sensitive="x")
    if both:
        with pytest.raises(UsageError, match="read in two ways"):
            settle(frame, schema)
        schema = shoal.Schema(quasi="born", sensitive="x", date_formats={"born": "mm/dd/yyyy"})
    _, settled = settle(frame, schema)
    order = "mdy" if both else "dmy"
    found = settled.read_numbers(frame, "quasi")["born"].to_list()
    assert found == [date(cell, order).isoformat() for cell in cells]  # type: ignore[union-attr]


def test_years_of_two_digits_are_asked_about():
    frame = pl.DataFrame({"born": ["31/12/48", "01/02/12"], "x": [1, 2]})
    with pytest.raises(UsageError, match="two digits"):
        settle(frame, shoal.Schema(quasi="born", sensitive="x"))


def test_a_few_cells_that_are_no_dates_do_not_make_labels_of_the_others():
    cells = [f"{day:02}/01/1950" for day in range(1, 29)]
    frame = pl.DataFrame({"born": [*cells, "unknown"], "x": range(29)})
    with pytest.raises(InputError, match="29"):
        settle(frame, shoal.Schema(quasi="born", sensitive="x"))
    kept = shoal.Schema(quasi="born", sensitive="x", types={"born": "categorical"})
    assert settle(frame, kept)[1].date_formats == {}


@pytest.mark.parametrize("way", ["dd/mm/yyyy", "dd mon yyyy"])
def test_a_release_of_written_dates_is_of_dates(way, tmp_path):
    rng = random.Random(1)
    born, seen = days(rng, 60), [*days(rng, 59), dt.date(2001, 12, 31)]
    frame = pl.DataFrame(
        {
            "born": [spell(day, way) for day in born],
            "seen": [spell(day, way) for day in seen],
        }
    )
    schema = shoal.Schema(quasi="born", sensitive="seen")
    release = shoal.anonymize(frame, schema, require=shoal.principles.EpsilonM(epsilon=200, m=3))
    assert release.write(tmp_path / "csv").holds
    assert shoal.audit(tmp_path / "csv").holds
    written = pl.read_csv(tmp_path / "csv" / "release.csv", infer_schema=False)
    for link, row in zip(release.linkage, written.iter_rows(named=True), strict=True):
        assert row["seen"] == frame["seen"][int(link)]  # as it came in
        text = row["born"]
        low, high = json.loads(text) if text.startswith("[") else (text, text)
        assert low <= born[int(link)].isoformat() <= high
    release.write(tmp_path / "parquet", format="parquet")
    assert shoal.audit(tmp_path / "parquet").holds
    assert sorted(release.typed()["seen"]) == sorted(day.isoformat() for day in seen)
    found = shoal.attack([tmp_path / "csv"], original=frame)
    assert found is not None


@pytest.mark.parametrize("way", ["", "dd/mm", "dd/mm/yyyy/yy", "dd;mm;yyyy", "%d/%m/%Y", 5])
def test_what_is_no_way_of_writing_dates_is_refused(way):
    with pytest.raises(UsageError):
        shoal.Schema(quasi="a", date_formats={"a": way})


@pytest.mark.parametrize("stray", ["unknown", "1990-02-30", "1990"])
@pytest.mark.parametrize("way", [ISO, "dd.mm.yyyy", "mm/dd/yyyy"])
def test_a_few_other_cells_do_not_turn_dates_into_labels(way, stray):
    born = [dt.date(1990, 1, 13) + dt.timedelta(days=40 * row) for row in range(30)]
    texts = [spell(day, way) for day in born]
    column = pl.Series("born", [*texts, stray])
    with pytest.raises(BadCells, match="Correct or empty those cells"):
        guess_format(column)
    assert guess_format(pl.Series("born", [*texts[:2], "x", "y", "z"])) is None  # labels
