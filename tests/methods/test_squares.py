"""`Exchange(loss="squared")`: by the definition, exact for one column, within every bound."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from squares import bound

import shoal
from amount import examples
from reference import partitions, proximity, squares
from shoal.errors import BadParameter
from shoal.kernels.exchange.loss import least_added, ncp_after
from shoal.kernels.exchange.state import make_groups, refresh_each
from shoal.methods.base import Task
from shoal.methods.exchange import Board
from shoal.principles.groups import Groups
from shoal.principles.requirement import requirements
from shoal.release.squares import best_runs, rounded, squared_error
from shoal.table.coded import code_table
from shoal.views.tables import print_comparison
from shoal.views.text import print_release
from tables import frame, tables

SQUARED = shoal.methods.Exchange(loss="squared")
QUASI = ["age", "zip", "job"]


def task_of(table, require, quasi=QUASI, weights=None):
    schema = shoal.Schema(quasi=quasi, sensitive="salary", weights=weights or {})
    return Task(code_table(frame(table), schema), tuple(requirements(require, ["salary"])))


def parts(groups):
    return [np.flatnonzero(groups.labels == g).tolist() for g in range(len(groups))]


@given(tables(least=4, most=20), st.data())
def test_error_is_that_of_the_definition(table, data):
    rows = len(table["age"])
    labels = data.draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows))
    weights = data.draw(st.sampled_from([{}, {"age": 3.0}, {"zip": 0.5, "job": 2.0}]))
    coded = task_of(table, "KAnonymity(k=2)", weights=weights).coded
    groups = Groups.of(np.array(labels))
    told = [weights.get(name, 1.0) for name in QUASI]
    known = squares.share([table[name] for name in QUASI], parts(groups), told)
    assert squared_error(coded, groups) == pytest.approx(known, rel=1e-9, abs=1e-12)


def test_missing_numbers_lose_nothing_among_themselves_and_all_beside_others():
    known = [10, 20, 40, 70]
    table: dict[str, list[Any]] = {"age": [None, None, None, *known], "salary": list(range(7))}
    schema = shoal.Schema(quasi="age", sensitive="salary")
    coded = code_table(frame(table), schema, missing="value")
    spread = sum((one - 35) ** 2 for one in known) / len(known)
    assert squared_error(coded, Groups.of(np.array([0, 0, 0, 1, 1, 2, 2]))) == pytest.approx(
        squares.error([known], [[0, 1], [2, 3]]) / spread / 7, rel=1e-12
    )
    mixed = squared_error(coded, Groups.of(np.array([0, 0, 1, 1, 1, 2, 2])))
    assert mixed == pytest.approx((3 + squares.error([known], [[2, 3]]) / spread) / 7, rel=1e-12)


@given(tables(least=8, most=30))
def test_kernels_measure_replacements_by_the_definition(table):
    task = task_of(table, "KAnonymity(k=3)")
    board = Board.of(task, 3, squared=True)
    rows = len(table["age"])
    order, cuts = np.arange(rows), np.array([0, rows // 2, rows])
    groups = make_groups(board.values, board.codes, order, cuts, rows)
    refresh_each(board.space, board.relations, groups, np.arange(2), 1)
    columns = squares.columns([table[name] for name in QUASI], [1.0] * 3)
    first, second = list(range(rows // 2)), list(range(rows // 2, rows))

    def error(members):
        return squares.error(columns, [members])

    assert groups.sizes @ groups.ncp == pytest.approx(error(first) + error(second), abs=1e-4)
    for enter in (0, len(first) - 1):
        joined = [*second, first[enter]]
        added = ncp_after(board.space, groups, 1, -1, 0, enter)
        assert len(joined) * added == pytest.approx(error(joined), abs=1e-4)
        for leave in (0, len(second) - 1):
            swapped = [*second[:leave], *second[leave + 1 :], first[enter]]
            found = len(swapped) * ncp_after(board.space, groups, 1, leave, 0, enter)
            assert found == pytest.approx(error(swapped), abs=1e-4)
            # The bound by which moves are passed over is one.
            hope = bound_of(board.space, groups, added)
            cost = error(swapped) - error(second)
            assert cost + groups.relief[1, leave] >= hope - 1e-4


def bound_of(space, groups, added):
    """Call a kernel for other kernels as Python."""
    return least_added.py_func(space, groups, 1, added)


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=8), st.integers(1, 3))
def test_one_column_is_exact(numbers, size):
    assume(len(numbers) >= size)
    labels = best_runs(np.array(numbers, float), size)
    found = squares.error([numbers], parts(Groups.of(labels)))
    assert found == pytest.approx(squares.least(numbers, size), abs=1e-4)
    assert np.bincount(labels).min() >= size


@settings(max_examples=examples(40))
@given(st.lists(st.tuples(*[st.integers(0, 9)] * 2), min_size=4, max_size=8), st.integers(2, 4))
def test_no_groups_are_below_the_bound_of_the_benchmark(rows, size):
    sides = [list(side) for side in zip(*rows, strict=True)]
    assume(len(rows) >= size and all(len({*side}) > 1 for side in sides))
    laid = squares.columns(sides, [1.0, 1.0])

    def error(group):
        return squares.error(laid, [group])

    least = partitions.least_loss(len(rows), lambda group: len(group) >= size, error)
    assert least is not None
    assert bound(np.array(rows, float), size) <= 100 * least / (2 * len(rows)) + 1e-9


@given(st.lists(st.integers(0, 10**6), min_size=12, max_size=40), st.integers(2, 5))
def test_runs_of_neighbours_are_the_best_of_all_runs(numbers, size):
    labels = best_runs(np.array(numbers, float), size)
    found = squares.error([numbers], parts(Groups.of(labels)))
    assert found == pytest.approx(squares.least_of_runs(numbers, size), rel=1e-9, abs=1e-6)


# What microagg1d 0.4.0 comes to, by "wilber", "galil_park" and "staggered" alike. Its usual way,
# "simple" in blocks, is no optimum on longer columns: benchmarks/squares.py.
KNOWN = {3: 4473728.416666666, 5: 15424415.380952382, 10: 80747156.55}


@pytest.mark.parametrize(("size", "known"), KNOWN.items())
def test_one_column_is_as_good_as_another_program_knows(size, known):
    numbers = [round(1000 * math.exp(3 * math.sin(7 * one))) for one in range(90)]
    labels = best_runs(np.array(numbers, float), size)
    assert squares.error([numbers], parts(Groups.of(labels))) == pytest.approx(known, rel=1e-12)


def test_small_numbers_count_beside_a_huge_one():
    numbers = [0, 40, 1, 41, 2, 42, 10**9, 10**9, 10**9 + 1]
    table = {"age": numbers, "salary": list(range(9))}
    groups = SQUARED.search(task_of(table, "KAnonymity(k=3)", quasi=["age"]))
    assert sorted(parts(groups)) == [[0, 2, 4], [1, 3, 5], [6, 7, 8]]


def test_one_column_is_exact_through_the_method():
    numbers = [0, 0, 1, 7, 8, 8, 8, 30, 31, 90, 95]
    table = {"age": numbers, "salary": list(range(11))}
    groups = SQUARED.search(task_of(table, "KAnonymity(k=3)", quasi=["age"]))
    known = squares.least(numbers[:8], 3) + squares.least(numbers[8:], 3)
    assert squares.error([numbers], parts(groups)) == pytest.approx(known)


@settings(max_examples=examples(25))
@given(tables(least=12, most=60), st.integers(2, 4))
def test_sizes_are_from_k_to_less_than_twice_k(table, k):
    sizes = SQUARED.search(task_of(table, f"KAnonymity(k={k})")).sizes
    assert sizes.min() >= k
    assert sizes.max() < 2 * k


KEPT = {  # by the definitions
    "EpsilonM(epsilon=3, m=2)": lambda v: proximity.holds(v, "absolute", 2, epsilon=3),
    "EpsilonM(epsilon=0, m=4)": lambda v: proximity.holds(v, "absolute", 4, epsilon=0),
    "EpsilonM(epsilon=0.1, m=3, relative=True)": lambda v: proximity.holds(
        v, "relative", 3, epsilon=0.1
    ),
    "Window(width=4, m=2)": lambda v: 2 * proximity.window_count(v, 4) <= len(v),
    "Chain(epsilon=2, m=2)": lambda v: 2 * proximity.chain_count(v, 2) <= len(v),
    "FrequencyL(l=2)": lambda v: 2 * max(map(v.count, v)) <= len(v),
}


@pytest.mark.parametrize("require", list(KEPT))
@settings(max_examples=examples(15))
@given(table=tables(least=12, most=60))
def test_bounds_are_kept(require, table):
    task = task_of(table, require)
    try:
        groups = SQUARED.search(task)
    except shoal.NotAchievable:
        assume(False)
    for rows in parts(groups):
        assert KEPT[require]([table["salary"][r] for r in rows])


def clouds(rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    at = rng.normal(size=(rows // 8, 3))[rng.integers(0, rows // 8, rows)]
    spots = (at * 1000 + rng.normal(size=(rows, 3)) * 50).astype(int)
    return pl.DataFrame({"age": spots[:, 0], "zip": spots[:, 1], "town": spots[:, 2]}).with_columns(
        salary=pl.int_range(rows)
    )


def test_squares_are_what_gets_less():
    table = clouds(600)
    schema = shoal.Schema(quasi=["age", "zip", "town"], sensitive="salary")

    def lost(method):
        require = "KAnonymity(k=5)"
        made = shoal.anonymize(table, schema, require=require, method=method, form="means")
        return made.squared_error

    squared = lost(SQUARED)
    assert squared < 0.9 * lost(shoal.methods.Exchange())
    assert lost(None) == squared  # what `means` takes by itself
    assert shoal.anonymize(table, schema, require="KAnonymity(k=5)").squared_error > squared


def test_seconds_that_are_left_lose_no_more():
    coded = code_table(clouds(300), shoal.Schema(quasi=["age", "zip"], sensitive="salary"))
    task = Task(coded, tuple(requirements("KAnonymity(k=4)", ["salary"])))
    found = SQUARED.search(task)
    refined = SQUARED.refine(task, found, 0.5)
    assert isinstance(refined, Groups)
    assert squared_error(coded, refined) <= squared_error(coded, found)
    assert refined.sizes.min() >= 4


def test_what_is_lost_has_two_names():
    assert repr(SQUARED) == "Exchange(loss='squared')"
    assert repr(shoal.methods.Exchange(loss="certainty")) == "Exchange()"
    with pytest.raises(BadParameter, match="certainty"):
        shoal.methods.Exchange(loss="cubic")


def test_a_search_goes_in_no_circles_by_rounding():
    for rows in (40, 60, 61):
        table = {
            "age": [20 + number // 2 for number in range(rows)],
            "salary": [10 * number for number in range(rows)],
        }
        groups = SQUARED.search(
            task_of(table, shoal.principles.EpsilonM(epsilon=5, m=3), quasi=["age"])
        )
        assert groups.sizes.min() >= 3


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=200))
def test_sums_of_squares_are_exact(whole):
    numbers = [one / 7 for one in whole]
    values = rounded(np.array(numbers))
    assert np.abs(values - numbers).max() <= 1e-3 * max(map(abs, numbers))
    exact = sum((Fraction(one) ** 2 for one in values.tolist()), Fraction(0))
    assert Fraction(float((values**2).sum())) == exact


def test_the_owner_is_told_the_squares_and_no_public_file_is(tmp_path, capsys) -> None:
    chance = np.random.default_rng(5)
    table = pl.DataFrame({"x": chance.normal(size=60).round(2), "s": np.arange(60) * 10})
    schema = shoal.Schema(quasi="x", sensitive="s")
    release = shoal.anonymize(table, schema, require="KAnonymity(k=3)", form="means")
    release.write(tmp_path / "out")
    release.owner_report(tmp_path / "owner.html")
    assert "(SSE/SST)" in (tmp_path / "owner.html").read_text("utf-8")
    assert release.squared_error is not None
    print_release(release, "out")
    assert "(SSE/SST)" in capsys.readouterr().out
    methods = [SQUARED, shoal.methods.Mondrian()]
    compared = shoal.compare(table, schema, require="KAnonymity(k=3)", methods=methods).to_dict()
    print_comparison(compared)
    assert re.search(r"GCP +SSE", capsys.readouterr().out)
    told = str(release.squared_error)[:6]
    for file in (tmp_path / "out").iterdir():
        assert "SSE" not in file.read_text("utf-8")
        assert told not in file.read_text("utf-8")
