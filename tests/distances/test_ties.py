"""Ties of decimals and the ends of integers: what is near must never be missed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.distances.relation import near
from shoal.errors import InputError
from shoal.principles.groups import Groups
from shoal.table.coding import code_column
from shoal.table.sensitive import Sensitive


def sensitive(*columns):
    coded = (code_column(pl.Series(f"c{i}", list(c))) for i, c in enumerate(columns))
    return Sensitive.of(tuple(coded))


LARGE = ["1000000000.1", "1000000000.2", "1000000001.5", "1000000009.5"]


@pytest.mark.parametrize(
    "distance",
    [
        shoal.distances.Absolute(),
        shoal.distances.Lp(p=1, scale="none"),
        shoal.distances.Lp(p=2, scale="none"),
        shoal.distances.Lp(p=3, scale="none"),
        shoal.distances.Lp(p="max", scale="none"),
        shoal.distances.SmallestDifference(),
        shoal.distances.Function.of(lambda u, v: abs(u - v)),
    ],
    ids=repr,
)
def test_large_decimals_that_tie_are_near(distance):
    relation = distance.relation(sensitive(LARGE), Fraction("0.1"))
    assert near(relation, np.array([0]), np.array([1])).all()
    assert not near(relation, np.array([0]), np.array([3])).any()


def test_a_scaled_tie_of_large_decimals_is_near():
    value = sensitive(LARGE)  # 0.1 of a range of 9.4
    relation = shoal.distances.Lp().relation(value, Fraction("0.1") / Fraction("9.4"))
    assert near(relation, np.array([0]), np.array([1])).all()


def test_integers_of_another_column_do_not_blur_small_ones():
    value = sensitive([10**9, 10**9 + 5, 10**9 + 9], [1, 2, 3])
    for distance in (
        shoal.distances.SmallestDifference(),
        shoal.distances.Lp(p="max", scale="none"),
    ):
        relation = distance.relation(value, Fraction(1, 2))
        assert not near(relation, np.array([0, 1]), np.array([1, 2])).any()


@pytest.mark.parametrize("value", [2**61, 2**62, 2**63 - 1, -(2**62), 10**30])
def test_equal_huge_integers_are_near_at_any_width(value):
    for epsilon in (0, 1, 2**62, 2**70):
        principle = shoal.principles.EpsilonM(epsilon=epsilon, m=2)
        column = code_column(pl.Series("s", [str(value)] * 4))
        group = Groups(np.zeros(4, np.int64))
        assert principle.measure(group, Sensitive.of((column,))).risk == 1


def test_huge_integers_keep_ranks_of_their_own():
    texts = [str(2**62 + i) for i in range(12)]
    column = code_column(pl.Series("q", texts))
    assert column.distinct == 12
    assert column.spellings.to_list() == texts


def test_infinite_numbers_are_refused():
    with pytest.raises(InputError, match="infinite"):
        code_column(pl.Series("q", [1.0, float("inf")]))


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("x", [[1], [2]]),
        pl.Series("x", [b"a", b"b"]),
        pl.Series("x", [1, 2], dtype=pl.Duration),
    ],
)
def test_columns_that_are_no_cells_are_refused(column):
    with pytest.raises(InputError, match="turn it into text"):
        code_column(column)


@pytest.mark.parametrize("power", [53, 55, 58, 59])
@pytest.mark.parametrize("least", [0, None])
@pytest.mark.parametrize(
    "distance",
    [
        shoal.distances.Absolute(),
        shoal.distances.Lp(p=1, scale="none"),
        shoal.distances.Lp(p=2, scale="none"),
        shoal.distances.Lp(p=3, scale="none"),
        shoal.distances.Lp(p="max", scale="none"),
        shoal.distances.SmallestDifference(),
        shoal.distances.Composite((shoal.distances.Lp(scale="none"),)),
    ],
    ids=repr,
)
def test_integers_that_no_double_holds_are_near_as_integers_are(distance, least, power):
    """Beside a 0, doubles are steps apart: then what may be near is."""
    large = [2**power + more for more in (1, 2, 3)]
    values = large if least is None else [least, *large]
    relation = distance.relation(sensitive(values), Fraction(1))
    last = len(values) - 1
    assert near(relation, np.array([last - 1, last - 2]), np.array([last, last - 1])).all()
    if least is None:
        assert not near(relation, np.array([0]), np.array([2])).any()
    else:
        assert not near(relation, np.array([0]), np.array([1])).any()


def test_scaled_integers_that_no_double_holds_keep_their_range():
    value = sensitive([2**53 + more for more in (0, 1, 3, 4)])
    relation = shoal.distances.Lp().relation(value, Fraction(1, 4))
    pairs = [(a, b) for a in range(4) for b in range(a)]
    found = near(relation, *np.array(pairs).T)
    assert [pair for pair, is_near in zip(pairs, found, strict=True) if is_near] == [(1, 0), (3, 2)]
