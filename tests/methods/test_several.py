"""Several sensitive columns with a requirement each: all hold in the same groups, or none is found.

Every requirement is checked from the published table, by its definition.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from amount import examples
from reference import distribution, proximity
from reference.suppression import can_be_grouped
from shoal.errors import NotAchievable, UsageError


def most_frequent(values):
    return max(Counter(values).values())


def dissimilar(values, delta, k):
    near = [sum(value == other for other in values) - 1 for value in values]
    return len(values) >= k and max(near) <= (1 - delta) * (len(values) - 1)


# Requirements on a column of small integers, with what they mean for the values of one group.
PAIRWISE = {
    "EpsilonM(epsilon=1, m=2)": lambda v: proximity.holds(v, "absolute", 2, epsilon=1),
    "EpsilonM(epsilon=2, m=3)": lambda v: proximity.holds(v, "absolute", 3, epsilon=2),
    "EpsilonM(epsilon=0.5, m=2, relative=True)": lambda v: proximity.holds(
        v, "relative", 2, epsilon=0.5
    ),
    "DeltaL(delta=0.5, l=2)": lambda v: proximity.holds(v, "absolute", 2, epsilon=1),
    "Chain(epsilon=1, m=2)": lambda v: proximity.holds(v, "chain", 2, epsilon=1),
    "Neighbourhood(below=1, above=2, m=2)": lambda v: proximity.holds(
        v, "general", 2, below=1, above=2
    ),
    "Dissimilarity(epsilon=0, delta=0.5, k=3, distance=Absolute())": lambda v: dissimilar(
        v, Fraction(1, 2), 3
    ),
    "MUniqueness(m=2)": lambda v: len(v) >= 2 and most_frequent(v) == 1,
    "KAnonymity(k=3)": lambda v: len(v) >= 3,
}
MONOTONE = {
    "Window(width=2, m=2)": lambda v: 2 * proximity.window_count(v, 2) <= len(v),
    "FrequencyL(l=2)": lambda v: 2 * most_frequent(v) <= len(v),
    "FrequencyL(l=3)": lambda v: 3 * most_frequent(v) <= len(v),
    "AlphaK(alpha=0.4, k=3)": lambda v: len(v) >= 3 and most_frequent(v) <= Fraction(2, 5) * len(v),
    "KAnonymity(k=4)": lambda v: len(v) >= 4,
}
DISTRIBUTION = {
    "DistinctL(l=3)": lambda v: len(set(v)) >= 3,
    "EntropyL(l=2)": lambda v: distribution.entropy_at_least(v, Fraction(2)),
    "RecursiveCL(c=2, l=2)": lambda v: distribution.recursive(v, Fraction(2), 2),
    "KE(k=2, e=3)": lambda v: len(set(v)) >= 2 and max(v) - min(v) >= 3,
}
MEANINGS = PAIRWISE | MONOTONE | DISTRIBUTION
COLUMNS = ("income", "hours", "visits")
SCHEMA = shoal.Schema(quasi=["age", "job"], sensitive=list(COLUMNS))


@st.composite
def cases(draw, principles, *, most):
    rows = draw(st.integers(1, most))
    values = st.integers(0, draw(st.sampled_from([2, 8, 30])))
    table = {
        "age": draw(st.lists(st.integers(0, 9), min_size=rows, max_size=rows)),
        "job": draw(st.lists(st.sampled_from("abc"), min_size=rows, max_size=rows)),
    }
    table |= {name: draw(st.lists(values, min_size=rows, max_size=rows)) for name in COLUMNS}
    asked = draw(
        st.lists(
            st.tuples(st.sampled_from(COLUMNS), st.sampled_from(sorted(principles))),
            min_size=1,
            max_size=4,
            unique=True,
        )
    )
    return table, asked


def mixed(asked):
    """Say whether proximity comes together with a distribution, which no method may serve."""
    return {True, False} == {name in DISTRIBUTION for _, name in asked}


def holds(rows, asked):
    return all(MEANINGS[principle]([row[name] for row in rows]) for name, principle in asked)


def published(table, asked, **options):
    require = [f"{name}: {principle}" for name, principle in asked]
    release = shoal.anonymize(pl.DataFrame(table), SCHEMA, require=require, **options)
    groups: dict[int, list] = {}
    for row in release.published.to_dicts():
        cells = {name: int(row[name]) for name in COLUMNS}
        groups.setdefault(row["group"], []).append(cells)
    return release, list(groups.values())


def rows_of(table):
    return [dict(zip(table, cells, strict=True)) for cells in zip(*table.values(), strict=True)]


@pytest.mark.few(2)
@pytest.mark.parametrize("method", [None, "Exchange()", "Mondrian()", "Split()"])
@given(cases(MEANINGS, most=24))
def test_everything_holds_in_the_same_groups_or_the_refusal_says_why(method, case):
    table, asked = case
    try:
        _, groups = published(table, asked, method=method)
    except UsageError:
        assert method is not None or mixed(asked)
        return
    except NotAchievable:
        assert not holds(rows_of(table), asked) or method == "Split()"
        return
    assert sum(map(len, groups)) == len(table["age"])
    for group in groups:
        assert holds(group, asked)


@settings(max_examples=examples(80))
@given(cases(PAIRWISE | MONOTONE, most=7))
def test_what_no_grouping_keeps_is_never_published_and_one_group_always_is(case):
    table, asked = case
    rows = rows_of(table)
    try:
        _, groups = published(table, asked)
    except NotAchievable:
        assert not holds(rows, asked)
        return
    assert all(holds(group, asked) for group in groups)
    assert can_be_grouped(range(len(rows)), lambda some: holds([rows[i] for i in some], asked))


@settings(max_examples=examples(80))
@given(cases(PAIRWISE | MONOTONE, most=24), st.sampled_from(["10%", "40%", "100%"]))
def test_suppression_serves_several_columns_and_stays_within_its_limit(case, share):
    table, asked = case
    try:
        release, groups = published(table, asked, suppress=share)
    except NotAchievable:
        return
    rows = len(table["age"])
    assert release.manifest.suppressed == rows - sum(map(len, groups))
    assert release.manifest.suppressed <= rows * int(share[:-1]) / 100
    assert all(holds(group, asked) for group in groups)
