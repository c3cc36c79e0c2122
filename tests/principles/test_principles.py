"""Principles and plans against the oracles, on random groups with ties, decimals and negatives."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from reference import proximity
from shoal.principles.base import Pairwise
from shoal.principles.groups import Groups
from shoal.principles.ordered import Ranked
from shoal.principles.requirement import requirements
from shoal.table.coding import code_column
from shoal.table.sensitive import Sensitive
from tables import decimals, groups_of_numbers, small_integers

widths = st.one_of(st.integers(0, 9), st.sampled_from([0.1, 0.2, 0.5, 1.5, 2.25]))
ratios = st.sampled_from([0, 0.1, 0.2, 0.25, 0.5, 0.9, 1])


def coded(values):
    return code_column(pl.Series("s", [str(value) for value in values]), kind="numeric")


def sensitive(values):
    return Sensitive.of((coded(values),))


def measured(principle, values):
    return principle.measure(Groups(np.zeros(len(values), np.int64)), sensitive(values))


@st.composite
def principles(draw):
    m = draw(st.integers(1, 5))
    kind = draw(st.sampled_from(["absolute", "relative", "general", "delta-l", "window", "chain"]))
    width = draw(ratios if kind == "relative" else widths)
    match kind:
        case "absolute":
            return shoal.principles.EpsilonM(epsilon=width, m=m), kind, {"epsilon": width}
        case "relative":
            return (
                shoal.principles.EpsilonM(epsilon=width, m=m, relative=True),
                kind,
                {"epsilon": width},
            )
        case "general":
            above = draw(widths)
            params = {"below": width, "above": above}
            return shoal.principles.Neighbourhood(**params, m=m), kind, params
        case "delta-l":
            return shoal.principles.DeltaL(delta=width, l=m), kind, {"delta": width}
        case "chain":
            return shoal.principles.Chain(epsilon=width, m=m), kind, {"epsilon": width}
    return shoal.principles.Window(width=width, m=m), kind, {"width": width}


@given(principles(), st.one_of(small_integers, decimals))
def test_risk_and_verdict_equal_the_definition(chosen, values):
    principle, kind, params = chosen
    found = measured(principle, values)
    assert found.risk == proximity.risk(values, kind, **params)
    assert found.holds == proximity.holds(values, kind, principle.share, **params)


@given(principles(), st.lists(small_integers, min_size=1, max_size=5))
def test_groups_are_measured_each_on_its_own(chosen, groups):
    principle, kind, params = chosen
    values = [value for group in groups for value in group]
    labels = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    shuffle = np.random.default_rng(len(values)).permutation(len(values))
    found = principle.measure(Groups(labels[shuffle]), sensitive([values[i] for i in shuffle]))
    risks = [proximity.risk(group, kind, **params) for group in groups]
    pairs = zip(found.parts, found.wholes, strict=True)
    assert [Fraction(int(part), int(whole)) for part, whole in pairs] == risks


@given(principles(), st.one_of(small_integers, decimals))
def test_maxsize_and_the_largest_m_equal_the_definition(chosen, values):
    principle, kind, params = chosen
    assert principle.maxsize(Sensitive.of((coded(values),))) == proximity.maxsize(
        values, kind, **params
    )
    assert principle.largest(Sensitive.of((coded(values),))) == proximity.largest_m(
        values, kind, **params
    )


@given(groups_of_numbers, st.integers(1, 16), st.booleans())
def test_the_bound_on_epsilon_equals_theorem_2(values, m, relative):
    found = Ranked.of(coded(values)).bound(m, relative=relative)
    wanted = proximity.epsilon_bound([str(v) for v in values], m, relative=relative)
    if wanted is None:
        assert found is None
    else:
        assert found == pytest.approx(float(wanted), rel=1e-12)


@given(small_integers, st.booleans())
def test_the_frontier_has_every_m_where_the_floor_changes(values, relative):
    found = [(p.m, p.epsilon_bound) for p in Ranked.of(coded(values)).frontier(relative=relative)]
    rows = len(values)
    wanted = []
    for m in range(2, rows + 1):
        if m > 2 and rows // m == rows // (m - 1):
            continue
        bound = proximity.epsilon_bound(values, m, relative=relative)
        assert bound is not None
        wanted.append((m, float(bound)))
        if bound == 0:
            break
    assert [m for m, _ in found] == [m for m, _ in wanted]
    assert [bound for _, bound in found] == pytest.approx([bound for _, bound in wanted])


@given(small_integers, st.integers(0, 6), st.integers(1, 4))
def test_the_bound_and_the_largest_m_agree(values, epsilon, m):
    bound = Ranked.of(coded(values)).bound(m)
    achievable = m <= shoal.principles.EpsilonM(epsilon=epsilon, m=m).largest(
        Sensitive.of((coded(values),))
    )
    assert achievable == (bound is None or epsilon < bound)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(1, 5))
def test_k_anonymity_counts_the_smallest_group(marks, k):
    groups = Groups.of(np.array(marks))
    smallest = min(marks.count(mark) for mark in marks)
    found = shoal.principles.KAnonymity(k=k).measure(groups, None)
    assert found.risk == Fraction(1, smallest)
    assert found.holds == (smallest >= k)


@pytest.mark.parametrize(
    "said",
    ["EpsilonM(epsilon=1, m=3)", "AlphaK(alpha=0.4, k=2)", "AlphaK(alpha=0.37, k=5)",
     "Dissimilarity(epsilon=1, delta=0.7, k=4, distance=Absolute())", "FrequencyL(l=4)"],
)  # fmt: skip
def test_the_largest_share_is_that_of_some_size(said):
    (asked,) = requirements(said, ["s"])
    principle = asked.principle
    assert isinstance(principle, Pairwise)
    for rows in [*range(1, 60), 250]:
        sizes = range(principle.least, max(rows, principle.least) + 1)
        shares = [Fraction(principle.allowed(size), size) for size in sizes]
        assert principle.largest_share(rows) == max(shares)
