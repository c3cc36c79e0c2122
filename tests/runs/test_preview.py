"""One person and six rows while deciding: as a stranger would count, and as they are published."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.runs.look import some_rows
from shoal.runs.preview import SHOWN, estimated_view, published_rows, with_today

ROWS = 400
TABLE = pl.DataFrame(
    {
        "age": [20 + n * n % 37 for n in range(ROWS)],
        "town": [["Aalen", "Bonn", "Celle"][n % 3] for n in range(ROWS)],
        "pay": [1000 + 137 * (n * 11 % ROWS) for n in range(ROWS)],
        "shift": [["day", "night"][n % 2] for n in range(ROWS)],
    }
)
SCHEMA = shoal.Schema(
    quasi=["age", "town"],
    sensitive="pay",
    other=["shift"],
    types={"age": "numeric", "town": "categorical"},
)


def release_of(some, **how):
    asked = "EpsilonM(epsilon=300, m=4)"
    return shoal.anonymize(some, SCHEMA, require=asked, keep_other=True, **how)


@pytest.fixture(scope="module")
def tried():
    rows = some_rows(TABLE, None, 120, also=7)
    return rows, TABLE[rows], release_of(TABLE[rows])


@pytest.mark.parametrize("kind", [pl.Int64, pl.String, pl.Categorical])
def test_whoever_is_picked_joins_the_sample_with_all_rows(kind):
    assert all(7 in some_rows(TABLE, None, 50, also=7) for _ in range(20))
    people = pl.Series([n % 90 if n != 8 else None for n in range(ROWS)], dtype=pl.Int64)
    people = people if kind == pl.Int64 else people.cast(pl.String).cast(kind)
    whom = TABLE.with_columns(who=people)
    for _ in range(20):
        rows = some_rows(whom, "who", 60, also=7)
        assert {7, 97, 187, 277, 367} <= {*rows.tolist()}
        assert (np.diff(rows) > 0).all()
        assert 8 in some_rows(whom, "who", 60, also=8)


@pytest.mark.parametrize("row", [7, None])
def test_a_person_is_counted_from_the_cells_that_would_be_published(tried, tmp_path, row):
    rows, some, release = tried
    view = estimated_view(release, some, rows, row)
    release.write(tmp_path / "out")
    place = int(np.flatnonzero(rows == view.row)[0])
    found = shoal.measures.person(tmp_path / "out", place, original=some)
    assert replace(found, row=view.row) == view
    assert row in (None, view.row)


def test_today_is_counted_in_the_whole_table(tried):
    rows, some, release = tried
    view = with_today(estimated_view(release, some, rows, 7), TABLE, SCHEMA)
    same = TABLE.filter(age=TABLE["age"][7], town=TABLE["town"][7])
    assert same.height > 1  # else a sample would show as much
    assert (view.today_rows, view.today_people) == (same.height, same.height)
    assert sorted(map(str, view.columns[0].today)) == sorted(same["pay"].cast(pl.String))


def german(rows=ROWS):
    """Return rows with dates and numbers as German programs write them."""
    born = pl.date(1950, 1, 1) + pl.duration(days=(pl.int_range(rows) // 4 * 37) % 9000)
    left = pl.date(2025, 1, 1) + pl.duration(days=(pl.int_range(rows) * 29) % 360)
    pay = pl.Series("pay", [f"{1 + n % 9}.{100 + n * 7 % 900},50" for n in range(rows)])
    table = pl.select(born=born, left=left).with_columns(pl.all().dt.strftime("%d.%m.%Y"))
    size = pl.Series("size", [f"{150 + n // 4 * 7 % 40},5" for n in range(rows)])
    return table.with_columns(size, pay, note=pl.Series([f"{n % 3}.000,5" for n in range(rows)]))


def german_release(table):
    schema = shoal.Schema(
        quasi=["born", "size"],
        sensitive=["pay", "left"],
        other="note",
        types={"born": "date", "size": "numeric", "pay": "numeric"},
        decimal=",",
    )
    asked = ["pay: EpsilonM(epsilon=100, m=3)", "left: EpsilonM(epsilon=2, m=3)"]
    return schema, shoal.anonymize(table, schema, require=asked, keep_other=True, seed=1)


def test_dates_and_numbers_of_any_country_are_compared_with_the_whole_table():
    """Who was born on 13.05.1950 was shown to nobody: the dates of the table were not read."""
    table = german()
    rows = some_rows(table, None, 120, also=7)
    schema, release = german_release(table[rows])
    view = with_today(estimated_view(release, table[rows], rows, 7), table, schema)
    same = table.filter(born=table["born"][7], size=table["size"][7])
    assert view.today_rows == same.height == 4


def test_what_is_only_spelled_otherwise_is_not_said_to_be_coarser():
    """Dates and numbers in the writing of a country looked as if they had been rounded."""
    table = german(60)
    schema, release = german_release(table)
    shown = published_rows(release, table.height).beside(table, schema)
    own = {name: place for place, name in enumerate(shown.columns)}
    for row, before, after in zip(shown.rows, shown.before, shown.after, strict=True):
        assert after is not None
        for name in ("pay", "left", "note"):
            assert before[own[name]] == after[own[name]] == table[name][row]
        for name in ("born", "size"):
            alike = "[" in str(after[own[name]])
            assert alike == (before[own[name]] != after[own[name]])


@pytest.mark.parametrize("form", ["intervals", "bounds", "means", "two-tables"])
def test_six_rows_are_shown_as_they_are_published(form):
    some = TABLE[:60]
    release = release_of(some, form=form)
    shown = published_rows(release, some.height, [13]).beside(some, release.schema)
    assert len(shown.rows) == SHOWN
    assert shown.rows[0] == 13
    columns = {name: place for place, name in enumerate(shown.columns)}
    for row, before, after in zip(shown.rows, shown.before, shown.after, strict=True):
        known = some.row(row, named=True)
        assert before == tuple(str(known[name]) for name in shown.columns)
        assert after is not None
        pay, age = str(after[columns["pay"]]), str(after[columns["age"]])
        if form == "two-tables":
            assert age == str(known["age"])
            assert str(known["pay"]) in pay.split(", ")
            assert len(pay.split(", ")) >= 4
        else:
            assert pay == str(known["pay"])
        if form == "intervals":
            low, high = json.loads(age) if age.startswith("[") else (int(age), int(age))
            assert low <= known["age"] <= high


def test_a_row_that_goes_is_said_to_go():
    some = TABLE[:60].with_columns(pay=pl.when(pl.arange(60) == 0).then(None).otherwise("pay"))
    shown = published_rows(release_of(some, missing="drop"), some.height).beside(some, SCHEMA)
    assert shown.after[0] is None
    assert None not in shown.after[1:]
    assert shown.before[0][shown.columns.index("pay")] is None
