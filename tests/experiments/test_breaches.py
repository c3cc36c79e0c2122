"""Cliques and chains of near values beside stars, which are what proximity principles count.

What `docs/tried.md` says of them, looked at exhaustively by definitions written here.
"""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement

import numpy as np
import polars as pl

import shoal
from shoal.methods.base import Task
from shoal.principles.groups import Groups
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table

EPSILON = 1
GROUPS = [group for size in range(1, 7) for group in combinations_with_replacement(range(7), size)]


def near(one: int, other: int) -> bool:
    return abs(one - other) <= EPSILON


def star(group) -> int:
    """Members near to one of them, itself included."""
    return max(sum(near(u, v) for u in group) for v in group)


def clique(group) -> int:
    """Members that are near to each other."""
    return max(
        size
        for size in range(1, len(group) + 1)
        for some in combinations(group, size)
        if all(near(u, v) for u, v in combinations(some, 2))
    )


def chain(group) -> int:
    """Members that are reached from one of them by steps between near ones."""
    left, largest = [*group], 0
    while left:
        found = [left.pop()]
        for v in found:
            found += (close := [u for u in left if near(u, v)])
            for u in close:
                left.remove(u)
        largest = max(largest, len(found))
    return largest


def test_a_star_lies_between_the_clique_and_the_chain():
    for group in GROUPS:
        assert clique(group) <= star(group) <= chain(group)
        assert star(group) <= 2 * clique(group) - 1


def test_stars_of_one_or_two_members_are_cliques_and_chains():
    few = [group for group in GROUPS if star(group) <= 2]
    assert len(few) > 100
    assert all(clique(group) == star(group) == chain(group) for group in few)
    assert chain((0, 1, 2, 3, 4, 5)) == 6  # and from three on, a chain may be the whole group
    assert star((0, 1, 2, 3, 4, 5)) == 3


def test_stars_cliques_and_chains_are_what_principles_measure():
    frame = pl.DataFrame({"age": np.arange(sum(map(len, GROUPS)))}).with_columns(
        pay=np.concatenate(GROUPS)
    )
    groups = Groups(np.repeat(np.arange(len(GROUPS)), [len(group) for group in GROUPS]))
    coded = code_table(frame, shoal.Schema(quasi="age", sensitive="pay"))
    near_ones = ("EpsilonM(epsilon=1, m=2)", "Window(width=1, m=2)", "Chain(epsilon=1, m=2)")
    asked = requirements(near_ones, ["pay"])
    for measured, counted in zip(
        Task(coded, tuple(asked)).measure(groups), (star, clique, chain), strict=True
    ):
        assert (measured.wholes == [len(group) for group in GROUPS]).all()
        assert (measured.parts == [counted(group) for group in GROUPS]).all()


def test_the_union_of_two_groups_may_be_one_chain():
    assert chain((0, 2)) == chain((1, 3)) == 1
    assert chain((0, 1, 2, 3)) == 4


def test_whatever_near_means_cliques_are_in_stars_and_pairs_are_chains():
    """All graphs over five members, by the definitions: no order of values is taken for granted."""
    pairs = [frozenset(pair) for pair in combinations(range(5), 2)]
    for bits in range(2 ** len(pairs)):
        linked = {pair for place, pair in enumerate(pairs) if bits >> place & 1}
        close = {v: {v} | {u for u in range(5) if {u, v} in linked} for v in range(5)}
        largest_star = max(map(len, close.values()))
        cliques = (
            some
            for size in range(1, 6)
            for some in combinations(range(5), size)
            if all(frozenset(pair) in linked for pair in combinations(some, 2))
        )
        reached = {0}
        chains = []
        left = {*range(5)}
        while left:
            reached = {left.pop()}
            while more := set().union(*(close[v] for v in reached)) - reached:
                reached |= more
            left -= reached
            chains.append(len(reached))
        assert max(map(len, cliques)) <= largest_star <= max(chains)
        assert largest_star > 2 or max(chains) == largest_star


def test_no_count_of_near_members_tells_how_long_a_chain_is():
    """Six members with two near others each, where near is any relation: one ring, or two."""

    def reached(pairs) -> int:
        found = [0]
        for v in found:
            found += [u for u in range(6) if {u, v} in pairs and u not in found]
        return len(found)

    ring = [{v, (v + 1) % 6} for v in range(6)]
    rings = [{v, v // 3 * 3 + (v + 1) % 3} for v in range(6)]
    for pairs in (ring, rings):
        assert [sum(v in pair for pair in pairs) for v in range(6)] == [2] * 6
    assert (reached(ring), reached(rings)) == (6, 3)
