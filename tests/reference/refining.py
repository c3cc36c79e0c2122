"""Downcoding straight from its definition: what groups are, over all tables that may have been."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linprog

if TYPE_CHECKING:
    from collections.abc import Sequence

Group = tuple[tuple[str, ...], tuple[str, ...]]  # labels that the cell stands for, and true ones


def told_and_usual(tables: Sequence[Sequence[Group]]) -> tuple[Fraction, Fraction]:
    """Return how often all labels of a group are named, in any order, over equally likely tables.

    Once by whoever knows what every table would have led to, once from the cell alone. A reader of
    several groups with one cell and size takes them for one another.
    """
    seen: dict = defaultdict(Counter)
    groups, usual = 0, Fraction(0)
    for table in tables:
        shown = tuple(sorted((cell, len(labels)) for cell, labels in table))
        for cell, labels in table:
            seen[shown, cell, len(labels)][tuple(sorted(labels))] += 1
            groups += 1
            ways = Counter(tuple(sorted(one)) for one in product(cell, repeat=len(labels)))
            usual += Fraction(max(ways.values()), len(cell) ** len(labels))
    told = sum(max(counts.values()) for counts in seen.values())
    return Fraction(told, groups), usual / groups


def keeps(room: Any, places: Sequence[int]) -> bool:
    """Return whether rows at some places of a cell are as it is said of its room."""
    run_of = [run for run, size in enumerate(room.runs) for _ in range(size)]
    counts = Counter(run_of[place] for place in places)
    below = 0
    for run, (least, most) in enumerate(zip(room.least, room.most, strict=True)):
        below += counts[run]
        if not least <= counts[run] <= most:
            return False
        if room.avoided[0] <= below <= room.avoided[1]:
            return False
    return len(places) == room.rows


def share_left(room: Any) -> Fraction:
    """Return which share of all ways to lie in a cell remain."""
    every = product(range(sum(room.runs)), repeat=room.rows)
    return Fraction(sum(keeps(room, one) for one in every), sum(room.runs) ** room.rows)


Node = tuple[str, ...]  # the labels under it


def children(labels: Node, tree: dict[str, list[str]]) -> list[Node]:
    """Return what lies under a node: a root over nodes over labels."""
    if len(labels) == 1:
        return []
    nodes = [tuple(one) for one in tree.values()]
    return [(label,) for label in labels] if labels in nodes else nodes


def narrowest(
    rows: Sequence[tuple[str, ...]], trees: Sequence[dict[str, list[str]]], least: int
) -> list[tuple[Node, ...]]:
    """Return cells of nodes that no other ones of groups of so many rows are narrower than.

    A group gives rows to a child while both keep enough, and takes those that others could do
    without, until nothing moves.
    """
    root = tuple(tuple(label for some in tree.values() for label in some) for tree in trees)
    groups: dict[tuple[Node, ...], list[int]] = {root: list(range(len(rows)))}
    moved = True
    while moved:
        moved = False
        for cell in list(groups):
            own = groups.get(cell, [])
            for column, tree in enumerate(trees):
                for child in children(cell[column], tree):
                    narrower = (*cell[:column], child, *cell[column + 1 :])
                    inside = [row for row in own if rows[row][column] in child]
                    spare = len(own) if len(inside) == len(own) else len(own) - least
                    some = inside[: max(spare, 0)]
                    if len(some) < (1 if narrower in groups else least):
                        continue
                    groups.setdefault(narrower, []).extend(some)
                    own = groups[cell] = [row for row in own if row not in set(some)]
                    moved = True
            if not own:
                groups.pop(cell, None)
    found: list = [None] * len(rows)
    for cell, own in groups.items():
        for row in own:
            found[row] = cell
    return found


def most_under(
    cells: Sequence[tuple[Node, ...]],
    trees: Sequence[dict[str, list[str]]],
    least: int,
    cell: tuple[Node, ...],
    column: int,
) -> dict[Node, float]:
    """Return by a linear program how many rows of a group can lie under each child, at most.

    One count for the labels of all columns together (arXiv 2509.03350): fewer than k of a group of
    2k lie under any narrower cell, fewer than all of a smaller one, and none under one that stands
    elsewhere, where the group can do without them.
    """
    rows = sum(one == cell for one in cells)
    combined = list(product(*cell))
    ways = [(own, *children(own, tree)) for own, tree in zip(cell, trees, strict=True)]
    lines, limits = [], []
    for narrower in product(*ways):
        if narrower == cell:
            continue
        usual = rows - 1 if rows < 2 * least else least - 1
        lines.append([all(a in b for a, b in zip(x, narrower, strict=True)) for x in combined])
        limits.append(0 if rows > least and narrower in set(cells) else usual)
    found = {}
    for child in children(cell[column], trees[column]):
        wanted = [-float(x[column] in child) for x in combined]
        solved = linprog(
            wanted,
            A_ub=np.array(lines, float),
            b_ub=limits,
            A_eq=np.ones((1, len(combined))),
            b_eq=[rows],
        )
        found[child] = -solved.fun if solved.status == 0 else float("nan")
    return found
