"""Methods against the oracles: equal groups where the paper fixes them, valid ones everywhere."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import shoal
from reference import proximity, splitting
from shoal.kernels.partition import cheapest_assignment
from shoal.methods.base import Task
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table
from tables import KINDS, frame, large, rows_of, schema, tables

FOUND = {True: "achievable", False: "not achievable"}


def search(table, require, method):
    coded = code_table(frame(table), schema())
    return method.search(Task(coded, tuple(requirements(require, ["salary"]))))


def as_sets(groups):
    return {frozenset(np.flatnonzero(groups.labels == g).tolist()) for g in range(len(groups))}


def achievable(table, epsilon, m, k=1):
    salaries = table["salary"]
    return proximity.generalizable(salaries, "absolute", m, k=k, epsilon=epsilon)


@given(tables(), st.integers(0, 8), st.integers(1, 5))
def test_round_robin_split_equals_the_paper_to_the_letter(table, epsilon, m):
    assume(achievable(table, epsilon, m))
    method = shoal.methods.Split(partition="round-robin")
    found = as_sets(search(table, shoal.principles.EpsilonM(epsilon=epsilon, m=m), method))
    wanted = splitting.split(rows_of(table), KINDS, table["salary"], "absolute", m, epsilon=epsilon)
    assert found == set(wanted)


@given(tables(), st.integers(1, 8))
def test_mondrian_equals_the_classic(table, k):
    assume(len(table["age"]) >= k)
    found = as_sets(search(table, shoal.principles.KAnonymity(k=k), shoal.methods.Mondrian()))
    assert found == set(splitting.mondrian(rows_of(table), KINDS, k))


@given(
    tables(most=60),
    st.integers(0, 6),
    st.integers(1, 4),
    st.integers(1, 6),
    st.sampled_from([shoal.methods.Split(), shoal.methods.Split(partition="round-robin")]),
)
def test_split_keeps_epsilon_m_and_k_anonymity_together(table, epsilon, m, k, method):
    assume(achievable(table, epsilon, m, k))
    require = [shoal.principles.EpsilonM(epsilon=epsilon, m=m), shoal.principles.KAnonymity(k=k)]
    for members in as_sets(search(table, require, method)):
        salaries = [table["salary"][row] for row in members]
        assert len(members) >= k
        assert proximity.holds(salaries, "absolute", m, epsilon=epsilon)


@given(tables(most=60), st.integers(0, 6), st.integers(1, 4))
def test_split_never_loses_more_than_its_own_buckets(table, epsilon, m):
    """Dividing further never raises the loss: the matched partition refines round-robin's size."""
    assume(achievable(table, epsilon, m))
    groups = search(table, shoal.principles.EpsilonM(epsilon=epsilon, m=m), shoal.methods.Split())
    assert min(groups.sizes) >= m


@given(tables(most=60), st.integers(0, 8), st.integers(1, 4), st.booleans())
def test_window_is_kept_by_split_and_mondrian(table, width, m, split):
    whole = proximity.holds(table["salary"], "window", m, width=width)
    assume(whole)
    method = shoal.methods.Split() if split else shoal.methods.Mondrian()
    for members in as_sets(search(table, shoal.principles.Window(width=width, m=m), method)):
        assert proximity.holds([table["salary"][r] for r in members], "window", m, width=width)


def test_fewer_larger_parts_are_found_where_k_exceeds_m():
    table = {"age": [1, 2, 3, 4], "zip": [1] * 4, "job": ["a"] * 4, "salary": [0, 0, 100, 100]}
    require = [shoal.principles.EpsilonM(epsilon=1, m=2), shoal.principles.KAnonymity(k=4)]
    assert as_sets(search(table, require, shoal.methods.Split())) == {frozenset(range(4))}


def test_long_runs_are_dealt_without_exact_matching():
    random = np.random.default_rng(1)
    rows = 600
    table = {
        "age": random.integers(0, 90, rows).tolist(),
        "zip": random.integers(0, 900, rows).tolist(),
        "job": random.choice(list("abcdefgh"), rows).tolist(),
        "salary": (random.integers(0, 4, rows) * 100).tolist(),
    }
    groups = search(table, shoal.principles.EpsilonM(epsilon=5, m=3), shoal.methods.Split())
    for members in as_sets(groups):
        assert proximity.holds([table["salary"][r] for r in members], "absolute", 3, epsilon=5)


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch):
    table = large(30_000, seed=2)
    require = shoal.principles.EpsilonM(epsilon=5, m=3)
    many = search(table, require, shoal.methods.Split()).labels
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0}, raising=False)
    assert (search(table, require, shoal.methods.Split()).labels == many).all()


@given(
    st.integers(1, 5).flatmap(
        lambda rows: st.tuples(
            st.just(rows),
            st.integers(rows, 6).flatmap(
                lambda columns: st.lists(
                    st.lists(st.integers(0, 9), min_size=columns, max_size=columns),
                    min_size=rows,
                    max_size=rows,
                )
            ),
        )
    )
)
def test_the_cheapest_assignment_is_the_cheapest_of_all(case):
    rows, costs = case
    columns = len(costs[0])
    chosen = np.empty(rows, np.int64)
    cheapest_assignment(np.array(costs, float), rows, columns, chosen)
    assert len(set(chosen.tolist())) == rows
    best = min(
        sum(costs[r][c] for r, c in enumerate(order))
        for order in itertools.permutations(range(columns), rows)
    )
    assert sum(costs[r][c] for r, c in enumerate(chosen)) == best


@pytest.mark.parametrize("order", [["c", "b", "a"], ["a", "b", "c"]])
def test_categories_are_split_in_the_given_order(order):
    table = pl.DataFrame({"job": list("aabbcc"), "salary": [1, 2, 3, 4, 5, 6]})
    given_order = shoal.Schema(quasi="job", sensitive="salary", order={"job": order})
    release = shoal.anonymize(table, given_order, require=shoal.principles.KAnonymity(k=2))
    assert release.manifest.columns[0].domain == order
    assert set(release.table["job"]) == {"a", "b", "c"}
