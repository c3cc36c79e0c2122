"""Rows of stretched cells: counted as the definition says, and nearer to the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from amount import examples
from reference.queries import expected_count
from shoal.datasets.census import census
from shoal.utility import tilted
from shoal.utility.queries import BoxTable
from shoal.utility.selectivity import answers_of
from stated import stated

SCHEMA = shoal.Schema(quasi="age", sensitive="pay")
DOMAIN = [0, 60]
STATED = [
    {"name": "age", "role": "quasi", "kind": "interval", "domain": DOMAIN},
    {"name": "pay", "role": "sensitive"},
]
narrow = st.tuples(st.integers(0, 58), st.integers(0, 2)).map(lambda one: (one[0], sum(one)))
wide = st.tuples(st.integers(0, 20), st.integers(0, 40)).map(lambda one: (one[0], sum(one)))


def spelled(ends: tuple[int, int]) -> str:
    return str(ends[0]) if ends[0] == ends[1] else f"[{ends[0]}, {ends[1]}]"


@settings(deadline=None, max_examples=examples(150))
@given(
    st.lists(narrow, min_size=1, max_size=8),
    st.lists(wide, max_size=6),
    st.integers(0, 60),
    st.integers(0, 60),
)
def test_rows_of_stretched_cells_lie_where_the_definition_says(
    few: list[tuple[int, int]], many: list[tuple[int, int]], one: int, other: int
) -> None:
    cells = [spelled(ends) for ends in few + many]
    low, high = sorted((one, other))
    rows = [{"age": cell, "pay": "1"} for cell in cells]
    table = BoxTable.of(pl.DataFrame(rows), stated(STATED), SCHEMA)
    found = shoal.count(table, f"{low} <= age <= {high}")
    kinds = {"age": "interval", "pay": "exact"}
    known = expected_count(rows, kinds, {"age": DOMAIN}, lambda at: low <= at["age"] <= high)
    assert found == pytest.approx(float(known), abs=1e-9)
    assert shoal.count(table, "0 <= age <= 60") == pytest.approx(len(rows))


def test_cells_that_are_alike_in_width_are_not_taken_for_stretched() -> None:
    lows = np.arange(40.0)
    assert tilted.Stretched.of(lows, lows + np.arange(40) % 3 + 2, np.ones(40)) is None


@pytest.mark.long
def test_exchange_is_ahead_of_round_robin_and_of_itself_spread_evenly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = census(12_000)
    schema = shoal.Schema(quasi=["age", "birthplace", "occupation"], sensitive="income")
    asked = [
        shoal.measures.Workload(quasi=quasi, selectivity=0.1, queries=200).draw(
            table, schema, seed=1
        )
        for quasi in (1, 2, 3)
    ]

    def errors(method: Any) -> list[float]:
        require = shoal.principles.EpsilonM(epsilon=4500, m=7)
        release = shoal.anonymize(table, schema, require=require, method=method, seed=1)
        return [some.error(answers_of(release)).mean for some in asked]

    close = errors(shoal.methods.Exchange())
    regions = errors(shoal.methods.Split(partition="round-robin"))
    assert all(one < other for one, other in zip(close, regions, strict=True))
    monkeypatch.setattr(tilted, "STRETCHED", float("inf"))
    evenly = errors(shoal.methods.Exchange())
    assert sum(close) < 0.98 * sum(evenly)
