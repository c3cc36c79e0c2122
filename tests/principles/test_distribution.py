"""Principles about distributions against their definitions, on random tables of groups."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from contracts.families import DISTRIBUTIONAL, PATHS, TREE
from reference import distribution
from shoal.principles.groups import Groups
from shoal.table.coding import code_column
from shoal.table.sensitive import Sensitive

partitions = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=9), min_size=1, max_size=4)
levels = st.sampled_from([1, 1.5, 2, 2.5, 3, 4])
bounds = st.sampled_from([0, 0.1, 0.2, 0.25, 0.375, 0.5, 0.9, 1])
gains = st.sampled_from([0.25, 0.5, 0.7, 1, 1.5, 2])


def measured(principle, groups, seed=0):
    values = [value for group in groups for value in group]
    labels = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    order = np.random.default_rng(seed).permutation(len(values))
    column = code_column(pl.Series("s", [str(values[i]) for i in order]), kind=kind(principle))
    return principle.measure(Groups(labels[order]), Sensitive.of((column,)))


def kind(principle):
    return "categorical" if principle == TREE or "Hier" in repr(principle) else "numeric"


def risks(found):
    pairs = zip(found.parts, found.wholes, strict=True)
    return [Fraction(int(part), int(whole)) for part, whole in pairs]


def shares(groups):
    table = [value for group in groups for value in group]
    domain = sorted(set(table))
    whole = distribution.shares(table, domain)
    return [(distribution.shares(group, domain), whole) for group in groups]


@given(partitions, st.integers(1, 5))
def test_distinct_l_counts_different_values(groups, l):
    found = measured(shoal.principles.DistinctL(l=l), groups)
    assert risks(found) == [Fraction(1, distribution.distinct(group)) for group in groups]
    assert found.holds == all(distribution.distinct(group) >= l for group in groups)


@given(partitions, levels)
def test_entropy_l_is_judged_as_if_in_integers(groups, l):
    found = measured(shoal.principles.EntropyL(l=l), groups)
    wanted = [distribution.entropy_at_least(group, Fraction(str(l))) for group in groups]
    assert (~found.breaches).tolist() == wanted
    for risk, group in zip(risks(found), groups, strict=True):
        p = np.array([group.count(v) for v in set(group)]) / len(group)
        assert float(risk) == pytest.approx(math.exp((p * np.log(p)).sum()), rel=1e-9)


@given(partitions, st.sampled_from([0.5, 1, 1.5, 2, 8, 8.5]), st.integers(1, 4))
def test_recursive_cl_takes_the_most_frequent_value_first(groups, c, l):
    found = measured(shoal.principles.RecursiveCL(c=c, l=l), groups)
    wanted = [distribution.recursive(group, Fraction(str(c)), l) for group in groups]
    assert (~found.breaches).tolist() == wanted


@given(partitions, bounds)
def test_t_closeness_with_equal_ground_distance(groups, t):
    found = measured(shoal.principles.TCloseness(t=t), groups)
    assert risks(found) == [distribution.equal_distance(p, q) for p, q in shares(groups)]
    assert found.holds == all(risk <= Fraction(str(t)) for risk in risks(found))


@given(partitions, bounds)
def test_t_closeness_with_ordered_ground_distance(groups, t):
    found = measured(shoal.principles.TCloseness(t=t, ground="ordered"), groups)
    assert risks(found) == [distribution.ordered_distance(p, q) for p, q in shares(groups)]


@given(partitions)
def test_t_closeness_with_hierarchical_ground_distance(groups):
    found = measured(shoal.principles.TCloseness(t=0.5, ground=TREE), groups)
    paths = [PATHS[value] for value in sorted({v for group in groups for v in group})]
    wanted = [distribution.tree_distance(p, q, paths) for p, q in shares(groups)]
    assert risks(found) == wanted


decimal_groups = st.lists(
    st.lists(st.integers(-60, 60).map(lambda n: n / 10), min_size=1, max_size=8),
    min_size=1,
    max_size=4,
)


@given(decimal_groups, st.integers(1, 5), st.sampled_from([0, 0.3, 1, 4]))
def test_ke_asks_for_values_and_for_a_range(groups, k, e):
    found = measured(shoal.principles.KE(k=k, e=e), groups)
    wanted = [
        len(set(group)) >= k and distribution.range_of(group) >= Fraction(str(e))
        for group in groups
    ]
    assert (~found.breaches).tolist() == wanted


@given(decimal_groups, st.sampled_from([0, 0.25, 1, 2.5]))
def test_variance_is_exact(groups, at_least):
    found = measured(shoal.principles.Variance(at_least=at_least), groups)
    asked = Fraction(str(at_least))
    variances = [distribution.variance(group) for group in groups]
    assert (~found.breaches).tolist() == [variance >= asked for variance in variances]
    if asked:
        assert risks(found) == [max(Fraction(0), 1 - variance / asked) for variance in variances]


@given(partitions, gains)
def test_delta_disclosure_bounds_both_directions(groups, delta):
    found = measured(shoal.principles.DeltaDisclosure(delta=delta), groups)
    wanted = [distribution.delta_disclosure(p, q, str(delta)) for p, q in shares(groups)]
    assert (~found.breaches).tolist() == wanted


@given(partitions, gains, st.booleans())
def test_beta_likeness_bounds_gains(groups, beta, enhanced):
    found = measured(shoal.principles.BetaLikeness(beta=beta, enhanced=enhanced), groups)
    wanted = [
        distribution.beta_likeness(p, q, str(beta), enhanced=enhanced) for p, q in shares(groups)
    ]
    assert (~found.breaches).tolist() == wanted
    if not enhanced:
        largest = [max((a - b) / b for a, b in zip(p, q, strict=True)) for p, q in shares(groups)]
        assert risks(found) == largest


@given(partitions, st.integers(1, 4))
def test_m_uniqueness_allows_no_value_twice(groups, m):
    found = measured(shoal.principles.MUniqueness(m=m), groups)
    wanted = [len(group) == len(set(group)) >= m for group in groups]
    assert (~found.breaches).tolist() == wanted


@pytest.mark.parametrize(
    "principle", [*DISTRIBUTIONAL, shoal.principles.MUniqueness(m=2)], ids=repr
)
@given(partitions, st.integers(0, 9))
def test_the_order_of_rows_does_not_matter(principle, groups, seed):
    first, second = measured(principle, groups), measured(principle, groups, seed)
    assert risks(first) == risks(second)


COMPARED = (
    shoal.principles.TCloseness(t=0.2),
    shoal.principles.TCloseness(t=0.2, ground="ordered"),
    shoal.principles.TCloseness(t=0.2, ground=TREE),
    shoal.principles.BetaLikeness(beta=1),
    shoal.principles.BetaLikeness(beta=1, enhanced=True),
    shoal.principles.DeltaDisclosure(delta=1),
)


@pytest.mark.parametrize("principle", COMPARED, ids=repr)
@given(groups=partitions, some=st.lists(st.integers(0, 3), min_size=1, max_size=5))
def test_some_groups_are_compared_with_the_table_that_they_are_of(principle, groups, some):
    """Measured alone, or several times beside one another, a group is what it is in the table."""
    values = [value for group in groups for value in group]
    column = code_column(pl.Series("s", [str(value) for value in values]), kind=kind(principle))
    labels = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    every = Sensitive.of((column,))
    whole = risks(principle.measure(Groups(labels), every))
    chosen = [place % len(groups) for place in some]
    rows = [np.flatnonzero(labels == place) for place in chosen]
    part = replace(every, codes=every.codes[np.concatenate(rows)], table=every.codes)
    again = Groups(np.repeat(np.arange(len(chosen)), [len(each) for each in rows]))
    assert risks(principle.measure(again, part)) == [whole[place] for place in chosen]
