"""Perturbation and anatomy against their definitions, on small random tables."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from reference.rivals import can_be_taken_apart, certainty
from shoal.principles.groups import Groups
from shoal.table.coding import code_column
from shoal.table.sensitive import Sensitive

SCHEMA = shoal.Schema(quasi="row", sensitive="pay")


def people(values):
    return pl.DataFrame({"row": range(len(values)), "pay": values})


@given(
    st.lists(st.integers(-8, 8), min_size=1, max_size=12),
    st.sampled_from([0, 1, 2, 3.5, 7]),
    st.sampled_from([0, 0.1, 0.3, 0.5, 1]),
    st.booleans(),
    st.integers(1, 6),
    st.sampled_from([None, (-8, 8), (-20, 30)]),
)
@settings(deadline=None)
def test_the_best_p_is_the_last_that_keeps_the_certainty(
    values, absolute, share, relative, m, domain
):
    epsilon = share if relative else absolute
    require = shoal.principles.EpsilonM(epsilon=epsilon, m=m, relative=relative)
    found = shoal.rivals.Perturb.best(people(values), SCHEMA, require=require, domain=domain)
    low, high = domain or (min(values), max(values))
    for value, p in zip(sorted(set(values)), found.best, strict=True):

        def risk(p, value=value):
            return certainty(
                values,
                value,
                range(low, high + 1),
                Fraction(str(epsilon)),
                p,
                relative=relative,
            )

        if p is None:
            assert risk(Fraction(0)) > Fraction(1, m)
        else:
            assert risk(p) <= Fraction(1, m)
            if p < 1:
                assert risk(p + Fraction(1 - p, 10**6)) > Fraction(1, m)
    known = [p for p in found.best if p is not None]
    assert found.p == (min(known) if len(known) == len(found.best) else None)
    per_row = found.rows
    assert all(
        p is None or Fraction(str(per_row[values.index(value)])) <= p
        for value, p in zip(sorted(set(values)), found.best, strict=True)
    )


@given(st.lists(st.integers(-30, 30), min_size=1, max_size=12), st.integers(1, 5))
@settings(deadline=None)
def test_decimals_are_judged_as_the_whole_numbers_they_are_tenths_of(units, m):
    whole = shoal.principles.EpsilonM(epsilon=3, m=m)
    tenth = shoal.principles.EpsilonM(epsilon=0.3, m=m)
    # A column without decimals would have steps of 1 instead of a tenth.
    units = [*units, 1, 101]
    expected = shoal.rivals.Perturb.best(people(units), SCHEMA, require=whole)
    found = shoal.rivals.Perturb.best(people([unit / 10 for unit in units]), SCHEMA, require=tenth)
    assert found.best == expected.best
    assert found.p == expected.p


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=24), st.integers(1, 5))
@settings(deadline=None)
def test_anatomy_loses_nothing_and_keeps_l(values, l):
    table = people(values)
    most = max(Counter(values).values())
    if most * l > len(values):
        with pytest.raises(shoal.NotAchievable, match=f"l can be {len(values) // most} at most"):
            shoal.rivals.Anatomy(l=l).publish(table, SCHEMA)
        return
    both = shoal.rivals.Anatomy(l=l).publish(table, SCHEMA)
    assert sorted(both.quasi["row"]) == list(range(len(values)))
    assert sorted(both.sensitive["pay"]) == sorted(values)
    by_group = {group: list(rows["pay"]) for (group,), rows in both.sensitive.group_by("group")}
    assert Counter(both.quasi["group"]) == {g: len(v) for g, v in by_group.items()}
    for members in by_group.values():
        assert len(set(members)) == len(members) >= l
    measured = shoal.principles.FrequencyL(l=l).measure(
        Groups.of(both.sensitive["group"].to_numpy()),
        Sensitive.of((code_column(both.sensitive["pay"]),)),
    )
    assert measured.holds
    # Row by row, the group of a person holds the person's value.
    for row, group in both.quasi.select("row", "group").iter_rows():
        assert values[row] in by_group[group]


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=7), st.integers(1, 4))
@settings(deadline=None)
def test_anatomy_refuses_only_what_no_division_keeps(values, l):
    try:
        shoal.rivals.Anatomy(l=l).publish(people(values), SCHEMA)
        published = True
    except shoal.NotAchievable:
        published = False
    assert published == can_be_taken_apart(values, l)
