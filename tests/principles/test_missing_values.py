"""Principles where values are missing: each may be any, so a group is as safe as its worst case."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import shoal
from amount import examples
from reference import unsure as oracle
from shoal.distances.relation import near
from shoal.errors import InputError
from shoal.methods.base import Task
from shoal.principles.groups import Groups
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table
from shoal.table.coding import code_lenient
from shoal.table.sensitive import Sensitive

values = st.none() | st.integers(0, 6)
tables = st.lists(st.lists(values, min_size=1, max_size=6), min_size=1, max_size=4)
KINDS = {
    "absolute": (lambda e: shoal.principles.EpsilonM(epsilon=e, m=1), lambda e: {"epsilon": e}),
    "general": (
        lambda e: shoal.principles.Neighbourhood(below=e, above=1, m=1),
        lambda e: {"below": e, "above": 1},
    ),
    "delta-l": (lambda e: shoal.principles.DeltaL(delta=e, l=1), lambda e: {"delta": e}),
}
REFUSED = (
    shoal.principles.TCloseness(t=0.5),
    shoal.principles.TCloseness(t=0.5, ground="ordered"),
    shoal.principles.BetaLikeness(beta=1),
    shoal.principles.DeltaDisclosure(delta=1),
    shoal.principles.MUniqueness(m=2),
    shoal.principles.Chain(epsilon=1, m=2),
)


def coded(groups: list[list], kind: str = "numeric") -> tuple[Groups, Sensitive]:
    """Groups in any order of their rows, and what members have."""
    flat = [value for group in groups for value in group]
    labels = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    order = np.random.default_rng(len(flat)).permutation(len(flat))
    cells = pl.Series("s", [None if flat[i] is None else str(flat[i]) for i in order], pl.String)
    return Groups(labels[order]), Sensitive.of((code_lenient(cells, kind=kind),))


def numbers(groups: list[list]) -> tuple[Groups, Sensitive]:
    """The same for tables that have a number at least: else nobody knows that these are any."""
    assume(any(value is not None for group in groups for value in group))
    return coded(groups)


def risks(found) -> list[Fraction]:
    pairs = zip(found.parts, found.wholes, strict=True)
    return [Fraction(int(part), int(whole)) for part, whole in pairs]


@pytest.mark.parametrize("kind", KINDS)
@given(tables, st.integers(0, 3))
def test_a_missing_value_is_near_to_every_value_that_a_group_lists(kind, groups, width):
    principle, params = KINDS[kind]
    found = principle(width).measure(*numbers(groups))
    wanted = [oracle.proximity_risk(group, kind, **params(width)) for group in groups]
    assert risks(found) == wanted


@given(tables, st.integers(0, 4))
def test_a_window_may_hold_all_that_is_missing(groups, width):
    found = shoal.principles.Window(width=width, m=1).measure(*numbers(groups))
    assert risks(found) == [oracle.window_risk(group, width) for group in groups]


@pytest.mark.parametrize("kind", ["numeric", "categorical"])
@given(tables)
def test_frequencies_and_distinct_values_are_the_worst_of_all_ways_to_fill_in(kind, groups):
    assume(any(value is not None for group in groups for value in group))
    where = coded(groups, kind)
    frequent = shoal.principles.FrequencyL(l=1).measure(*where)
    assert risks(frequent) == [oracle.frequency_risk(group) for group in groups]
    assert risks(shoal.principles.AlphaK(alpha=1, k=1).measure(*where)) == risks(frequent)
    distinct = shoal.principles.DistinctL(l=1).measure(*where)
    assert risks(distinct) == [Fraction(1, oracle.fewest_distinct(group)) for group in groups]


@given(tables, st.sampled_from([1, 1.5, 2, 2.5, 3]), st.sampled_from([0.5, 1, 2, 3]))
def test_entropy_and_recursion_hold_where_they_do_in_all_ways_to_fill_in(groups, l, c):
    where = coded(groups, "categorical")
    entropy = shoal.principles.EntropyL(l=l).measure(*where)
    assert entropy.holds == all(oracle.entropy_at_least(group, Fraction(l)) for group in groups)
    recursive = shoal.principles.RecursiveCL(c=c, l=2).measure(*where)
    assert recursive.holds == all(oracle.recursive(group, Fraction(c), 2) for group in groups)


@given(tables, st.integers(1, 4), st.integers(0, 5), st.sampled_from([0, 0.25, 1, 3]))
def test_ranges_and_variances_are_the_least_that_there_may_be(groups, k, e, least):
    where = numbers(groups)
    known = [[value for value in group if value is not None] for group in groups]
    spread = shoal.principles.KE(k=k, e=e).measure(*where)
    assert spread.holds == all(
        oracle.fewest_distinct(group) >= k
        and (max(some, default=0) - min(some, default=0)) >= e
        and len(group) >= max(k, 2 if e else 1)
        for group, some in zip(groups, known, strict=True)
    )
    variance = shoal.principles.Variance(at_least=least)
    lacking = [
        max(Fraction(0), 1 - oracle.least_variance(g) / Fraction(least or 1)) for g in groups
    ]
    assert risks(variance.measure(*where)) == [one if least else 0 for one in lacking]
    strongest = variance.strongest(*where).at_least
    assert Fraction(str(strongest)) <= min(map(oracle.least_variance, groups))  # as it is written


@given(st.lists(values, min_size=1, max_size=6), st.lists(st.fractions(0, 6), max_size=6))
def test_no_way_to_fill_in_has_a_smaller_variance(group, guesses):
    missing = group.count(None)
    assume(len(guesses) >= missing)
    chosen = iter(guesses)
    full = [next(chosen) if value is None else Fraction(value) for value in group]
    assert oracle.variance(full) >= oracle.least_variance(group)


@pytest.mark.parametrize("principle", REFUSED, ids=repr)
def test_what_cannot_be_judged_is_refused_in_a_sentence(principle):
    groups, value = coded([[1, 2, None], [3, 4, 5]])
    with pytest.raises(InputError, match="cannot be checked, because values of s are missing"):
        principle.measure(groups, value)
    with pytest.raises(InputError, match=r"missing='drop'"):
        principle.outlook(value, 6)
    principle.measure(*coded([[1, 2, 7], [3, 4, 5]]))


MONOTONE = (
    shoal.principles.Window(width=1, m=2),
    shoal.principles.FrequencyL(l=2),
    shoal.principles.AlphaK(alpha=0.5, k=2),
    shoal.principles.DistinctL(l=2),
    shoal.principles.EntropyL(l=1.5),
    shoal.principles.RecursiveCL(c=2, l=2),
    shoal.principles.KE(k=2, e=2),
    shoal.principles.Variance(at_least=1),
)


@pytest.mark.few(6)
@pytest.mark.parametrize("principle", MONOTONE, ids=repr)
def test_what_survives_the_union_of_groups_does_so_where_values_are_missing(principle):
    chance = np.random.default_rng(2)
    held = 0
    for _ in range(150):
        drawn = [[int(x) for x in chance.integers(0, 30, chance.integers(4, 9))] for _ in "ab"]
        drawn[0][0] = None  # type: ignore[call-overload]
        where = coded(drawn)
        if principle.measure(*where).holds:
            held += 1
            whole = Groups(np.zeros(len(where[0].labels), np.int64))
            assert principle.measure(whole, where[1]).holds
    assert held > 50


@pytest.mark.parametrize("principle", MONOTONE, ids=repr)
@given(st.lists(values, min_size=1, max_size=12))
def test_as_few_rows_go_as_have_to_and_missing_ones_first(principle, group):
    """Where leaving rows out is said to help, it does, and with one less of them it would not."""
    _, value = numbers([group])
    taken = principle.must_go(value)
    if not taken.any():
        return
    counts = np.bincount(value.codes, minlength=value.distinct)
    left = np.repeat(np.arange(value.distinct), counts - taken).astype(np.int32)
    if len(left):
        rest = Groups(np.zeros(len(left), np.int64))
        assert principle.measure(rest, replace(value, codes=left)).holds or (
            len(left) < principle.least
        )
    if value.gap is not None and taken[: value.gap].any():
        assert taken[value.gap] == counts[value.gap]


def tiny(chance: np.random.Generator, rows: int) -> list:
    return [None if chance.random() < 0.25 else int(chance.integers(0, 9)) for _ in range(rows)]


@pytest.mark.parametrize("seed", range(40))
def test_a_plan_never_disagrees_with_all_groupings_of_a_tiny_table(seed):
    chance = np.random.default_rng(seed)
    table = tiny(chance, int(chance.integers(2, 8)))
    if all(value is None for value in table):
        table[0] = 3
    epsilon, m = int(chance.integers(0, 3)), int(chance.integers(1, 4))
    frame = pl.DataFrame({"s": table}, schema={"s": pl.Int64})
    schema = shoal.Schema(sensitive="s")
    for principle, risk in (
        (shoal.principles.EpsilonM(epsilon=epsilon, m=m), "absolute"),
        (shoal.principles.Window(width=epsilon, m=m), "window"),
    ):

        def holds(group, share=m, risk=risk):
            found = (
                oracle.window_risk(group, epsilon)
                if risk == "window"
                else oracle.proximity_risk(group, "absolute", epsilon=epsilon)
            )
            return len(group) >= share and found * share <= 1

        true = oracle.achievable(table, holds)
        found: Any = shoal.plan(frame, schema, require=principle, missing="value")
        assert found.achievable in ({true} if risk == "window" else {true, None})
        most = max(
            share
            for share in range(1, len(table) + 1)
            if oracle.achievable(table, partial(holds, share=share))
        )
        limit = next(one.limit for one in found.limits if one.parameter == "m")
        assert limit == most if risk == "window" else limit >= most
        assert found.necessary_only == (None in table and risk != "window")
        if risk == "absolute":
            plan: Any = shoal.plan(frame, schema, epsilon=epsilon, m=m, missing="value")
            assert plan.largest_m == limit
            assert plan.achievable == found.achievable
            bounded = plan.epsilon_bound is not None and plan.epsilon_bound <= epsilon
            assert not (bounded and true)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("require", ["EpsilonM(epsilon=1, m=2)", "FrequencyL(l=2)"])
def test_on_a_tiny_table_whatever_is_achievable_is_found(seed, require):
    chance = np.random.default_rng(1000 + seed)
    table = tiny(chance, int(chance.integers(2, 8)))
    table[0] = 3 if table[0] is None else table[0]
    near_enough = (
        (lambda u, v: abs(u - v) <= 1) if require.startswith("Epsilon") else (lambda u, v: u == v)
    )

    def holds(group):
        return len(group) >= 2 and 2 * oracle.most_near(group, near_enough) <= len(group)

    frame = pl.DataFrame(
        {"a": range(len(table)), "s": table}, schema={"a": pl.Int64, "s": pl.Int64}
    )
    schema = shoal.Schema(quasi="a", sensitive="s")
    try:
        release = shoal.anonymize(frame, schema, require=require, missing="value")
    except shoal.NotAchievable:
        assert not oracle.achievable(table, holds)
        return
    for _, part in release.table.group_by("group"):
        assert holds(part["s"].to_list())


@settings(max_examples=examples(60))
@given(st.lists(st.lists(values, max_size=3), min_size=2, max_size=7), st.integers(0, 2))
def test_people_with_several_values_count_once_and_whoever_lacks_one_is_near_to_all(people, width):
    assume(any(value is not None for some in people for value in some))
    rows = [(who, value) for who, some in enumerate(people) for value in some]
    cells = pl.Series("s", [value for _, value in rows], pl.Int64)
    from shoal.table.partition import PersonOf
    from shoal.table.people import values_of

    value = Sensitive.of((code_lenient(cells),))
    whose = np.array([who for who, _ in rows], np.int64)
    own = values_of(value, PersonOf(whose, len(people)))
    groups = Groups(np.zeros(len(people), np.int64))
    for principle, close in (
        (shoal.principles.EpsilonM(epsilon=width, m=1), lambda u, v: abs(u - v) <= width),
        (shoal.principles.FrequencyL(l=1), lambda u, v: u == v),
        (
            shoal.principles.Dissimilarity(
                epsilon=width, delta=0, k=1, distance=shoal.distances.Lp(scale="none")
            ),
            lambda u, v: abs(u - v) <= width,
        ),
    ):
        found = principle.measure(groups, own)
        count = oracle.people_near(people, close)
        others = isinstance(principle, shoal.principles.Dissimilarity)
        assert int(found.parts[0]) == count - others


@given(st.lists(st.tuples(values, st.none() | st.sampled_from("xyz")), min_size=1, max_size=9))
def test_a_value_of_several_columns_is_missing_where_any_of_its_cells_is(rows):
    assume(any(None not in row for row in rows))
    columns = (
        code_lenient(pl.Series("a", [a for a, _ in rows], pl.Int64)),
        code_lenient(pl.Series("b", [b for _, b in rows], pl.String)),
    )
    assume(columns[0].numeric)
    value = Sensitive.of(columns)
    whole = Groups(np.zeros(len(rows), np.int64))
    together = [None if None in row else str(row) for row in rows]
    found = shoal.principles.FrequencyL(l=1).measure(whole, value)
    assert risks(found) == [oracle.frequency_risk(together)]
    mixed = shoal.distances.Composite(
        (shoal.distances.Lp(scale="none"), shoal.distances.Equality())
    )
    principle = shoal.principles.Dissimilarity(epsilon=1, delta=0, k=1, distance=mixed)
    measured = principle.measure(whole, value)
    listed = dict(zip(together, rows, strict=True))

    def close(u, v):
        (a, b), (c, d) = listed[u], listed[v]
        return abs(a - c) + (b != d) <= 1

    if len(rows) > 1:
        assert int(measured.parts[0]) == oracle.most_near(together, close) - 1
    relation = principle.relation(value)
    codes = np.arange(value.distinct)
    table = near(relation, codes[None, :], codes[:, None])
    if value.gap is not None:
        assert table[:, value.gap].all()
        assert not table[value.gap, : value.gap].any()


@pytest.mark.parametrize("seed", range(4))
def test_exchanges_keep_what_is_measured_where_values_are_missing(seed):
    chance = np.random.default_rng(seed)
    rows = 120
    frame = pl.DataFrame(
        {
            "a": chance.integers(0, 50, rows),
            "s": [
                None if chance.random() < 0.05 else int(x) for x in chance.integers(0, 999, rows)
            ],
        },
        schema={"a": pl.Int64, "s": pl.Int64},
    )
    coded_table = code_table(frame, shoal.Schema(quasi="a", sensitive="s"), missing="value")
    task = Task(coded_table, tuple(requirements("EpsilonM(epsilon=20, m=3)", ["s"])))
    groups = shoal.methods.Exchange().search(task)
    for begin, end in pairwise(groups.starts):
        members = [frame["s"][int(row)] for row in groups.order[begin:end]]
        assert 3 * oracle.proximity_risk(members, "absolute", epsilon=20) <= 1
    assert coded_table.value(("s",)).gap is not None
