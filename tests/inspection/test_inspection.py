"""Inspecting never fails, whatever the table, and what it counts is true."""

import datetime as dt
import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from amount import examples
from shoal.table.coding import TRUTHS

CELLS = st.one_of(
    st.none(),
    st.sampled_from(
        ["", " ", "?", "N/A", "0", "1", "007", "1,5", "1,234", "-9", "999", "1e308", "-1e400",
         "9007199254740993", "2024-01-31", "31/12/2020", "yes", "No", "[0-10)", "Paris", "paris ",
         "Раris", "V45", "250.1", "=1+1", "two\nlines", "\u200b", "é", "é"]
    ),
    st.text(max_size=6),
)  # fmt: skip
NAMES = st.sampled_from(
    ["age", "name", "zip", "salary", "lat", "lon", "diag_1", "group", "x", "weight", "#", "id", "é"]
)
TYPED = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.none(), min_size=6, max_size=6).map(
        lambda cells: pl.Series(cells, dtype=pl.Int64)
    ),
    st.lists(st.floats() | st.none(), min_size=6, max_size=6).map(
        lambda cells: pl.Series(cells, dtype=pl.Float64)
    ),
    st.lists(st.booleans() | st.none(), min_size=6, max_size=6).map(
        lambda cells: pl.Series(cells, dtype=pl.Boolean)
    ),
    st.lists(st.dates(dt.date(1, 1, 2)) | st.none(), min_size=6, max_size=6).map(
        lambda cells: pl.Series(cells, dtype=pl.Date)
    ),
    st.just(pl.Series([None] * 6)),
    st.just(pl.Series([[1], [2], [], [3], None, [1]])),
)


@st.composite
def dirty(draw):
    rows = draw(st.integers(0, 30))
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    cells = st.lists(CELLS, min_size=rows, max_size=rows)
    few = st.lists(CELLS, min_size=1, max_size=3).flatmap(
        lambda some: st.lists(st.sampled_from(some), min_size=rows, max_size=rows)
    )
    return pl.DataFrame({name: pl.Series(draw(cells | few), dtype=pl.String) for name in names})


def check(table):
    found = shoal.inspect(table)
    json.dumps(found.to_dict(), allow_nan=False)
    found._repr_html_()
    assert [one.name for one in found.columns] == table.columns
    return found


@settings(max_examples=examples(30))
@given(dirty())
def test_inspecting_text_never_fails_and_counts_are_true(table):
    found = check(table)
    for one in found.columns:
        cells = table[one.name].to_list()
        assert one.missing == cells.count(None)
        assert one.distinct == len(set(cells) - {None})
    quasi = found.named("quasi")
    if quasi and table.height:
        rows = table.select(quasi).rows()
        assert found.unique == sum(rows.count(row) == 1 for row in rows) / len(rows)


@settings(max_examples=examples(60))
@given(st.lists(TYPED, min_size=1, max_size=4))
def test_inspecting_typed_columns_never_fails(columns):
    check(pl.DataFrame({f"c{place}": column for place, column in enumerate(columns)}))


@settings(max_examples=examples(30))
@given(dirty())
def test_a_told_dependence_is_true(table):
    wide = pl.concat([table] * 25)  # so that values repeat, as they must to tell anything
    for one in shoal.inspect(wide).kinship:
        left, right = wide[one.left].to_list(), wide[one.right].to_list()
        if one.kind != "copy":
            assert len(set(zip(left, right, strict=True))) == len(set(left))
        if one.kind == "renaming":
            assert len(set(left)) == len(set(right))


@pytest.mark.parametrize("pair", TRUTHS)
def test_what_is_called_yes_or_no_is_read_as_that_in_every_language(pair):
    table = pl.DataFrame({"dead": [pair[row % 2].capitalize() for row in range(60)]})
    assert shoal.inspect(table).columns[0].type == "boolean"
    schema = shoal.Schema(sensitive="dead", types={"dead": "boolean"})
    assert shoal.plan(table, schema, require="FrequencyL(l=2)").to_dict()["achievable"]
