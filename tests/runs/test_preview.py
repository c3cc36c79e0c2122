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


@pytest.mark.parametrize("form", ["intervals", "bounds", "means", "two-tables"])
def test_six_rows_are_shown_as_they_are_published(form):
    some = TABLE[:60]
    release = release_of(some, form=form)
    shown = published_rows(release, some.height, [13]).beside(some)
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
    shown = published_rows(release_of(some, missing="drop"), some.height).beside(some)
    assert shown.after[0] is None
    assert None not in shown.after[1:]
    assert shown.before[0][shown.columns.index("pay")] is None
