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


def test_stars_and_cliques_are_what_principles_measure():
    frame = pl.DataFrame({"age": np.arange(sum(map(len, GROUPS)))}).with_columns(
        pay=np.concatenate(GROUPS)
    )
    groups = Groups(np.repeat(np.arange(len(GROUPS)), [len(group) for group in GROUPS]))
    coded = code_table(frame, shoal.Schema(quasi="age", sensitive="pay"))
    asked = requirements(["EpsilonM(epsilon=1, m=2)", "Window(width=1, m=2)"], ["pay"])
    for measured, counted in zip(
        Task(coded, tuple(asked)).measure(groups), (star, clique), strict=True
    ):
        assert (measured.wholes == [len(group) for group in GROUPS]).all()
        assert (measured.parts == [counted(group) for group in GROUPS]).all()


def test_the_union_of_two_groups_may_be_one_chain():
    assert chain((0, 2)) == chain((1, 3)) == 1
    assert chain((0, 1, 2, 3)) == 4


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
