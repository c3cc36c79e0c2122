"""Small random tables with ties, duplicates and extremes, as Hypothesis strategies."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import strategies as st

import shoal

numbers = st.one_of(
    st.integers(-6, 6),
    st.integers(-(10**12), 10**12),
    st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.1, -0.5, 2.5, 1e6, 0.30000000000000004]),
)
groups_of_numbers = st.lists(numbers, min_size=1, max_size=14)
small_integers = st.lists(st.integers(-8, 8), min_size=1, max_size=14)
decimals = st.lists(st.integers(-80, 80).map(lambda n: n / 10), min_size=1, max_size=14)


@st.composite
def tables(draw: st.DrawFn, *, least: int = 1, most: int = 40) -> dict[str, list]:
    """A numeric and two categorical quasi columns with a numeric sensitive one."""
    rows = draw(st.integers(least, most))

    def column(cells: st.SearchStrategy) -> list:
        return draw(st.lists(cells, min_size=rows, max_size=rows))

    return {
        "age": column(st.integers(0, 9)),
        "zip": column(st.sampled_from([1.5, 2, 10, 400])),
        "job": column(st.sampled_from("abcde")),
        "salary": column(st.integers(0, 30)),
    }


QUASI = ("age", "zip", "job")
KINDS = ("interval", "interval", "set")


def frame(table: dict[str, list]) -> pl.DataFrame:
    return pl.DataFrame({name: pl.Series(cells, strict=False) for name, cells in table.items()})


def schema() -> shoal.Schema:
    return shoal.Schema(quasi=QUASI, sensitive="salary")


def rows_of(table: dict[str, list]) -> list[tuple]:
    return list(zip(*(table[name] for name in QUASI), strict=True))


def drawn(seed: int, *, least: int, most: int) -> dict[str, list]:
    """Return up to 44 rows, large enough for several cuts, with many ties.

    They have from `least` to `most` different salaries.
    """
    random = np.random.default_rng(seed)
    rows = int(random.integers(2, 45))
    return {
        "age": random.integers(0, 10, rows).tolist(),
        "zip": random.choice([1.5, 2, 10, 400], rows).tolist(),
        "job": random.choice(list("abcde"), rows).tolist(),
        "salary": random.integers(0, random.integers(least, most + 1), rows).tolist(),
    }


def large(rows: int, seed: int) -> dict[str, list]:
    """Return many rows, for what depends on how many there are."""
    random = np.random.default_rng(seed)
    return {
        "age": random.integers(0, 90, rows).tolist(),
        "zip": random.integers(0, 900, rows).tolist(),
        "job": random.choice(list("abcdefgh"), rows).tolist(),
        "salary": random.integers(0, 1000, rows).tolist(),
    }
