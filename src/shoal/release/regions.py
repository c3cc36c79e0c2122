"""Regions: what lies between the cuts that part the groups, whoever lies there.

A tight cell ends where a row lies, so its ends point at somebody. A region ends where it was cut:
at a point of a public grid, chosen by a rule that does not ask which side of the gap is nearer.
Cuts follow from the published rows and their groups alone. Beginning with all there can be, a part
is cut in a column wherever no group lies on both sides, then in the next, by their names, until
nothing can be cut: where a hierarchy has children without a group, the order makes a difference.
Groups that no cut parts share a region, so regions of two groups are equal, or disjoint in some
column. A hierarchy is cut between the children of one node: each of them is a part, whether a group
lies in it or not.

People with different numbers of rows, and values that are never mixed, are parted by themselves.

In a series the groups of each round are cut by themselves, out of all that the schema says there
can be, and their regions are remembered: later tables change neither bounds nor nodes of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.release.cells import cells
from shoal.release.cover import Cover
from shoal.release.layout import row_counts
from shoal.table.grid import CutGrid, grid_of, on_grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shoal.principles.groups import Groups
    from shoal.table.coded import Coded
    from shoal.table.column import Column
    from shoal.table.hierarchy import Tree

    Ints = NDArray[np.int64]

LARGEST = 10**17  # whose multiples are integers of 64 bits still
ROUND = (1, 2, 5)  # times a power of ten: what people take for round


def roundest(below: Ints, above: Ints, origin: int = 0) -> Ints:
    """Return the roundest place over `below` and up to `above`, the highest of several.

    Place i stands for the number origin + i: a multiple of 1, 2, 5, 10, 20, 50 and so on is ever
    rounder. It does not matter how near it is to what lies on either side.
    """
    found = above.copy()
    largest = int(np.abs(np.concatenate([above, below]) + origin).max(initial=1))
    power = 1
    while power <= min(10 * largest, LARGEST):  # 0 is the roundest of all
        for times in ROUND:
            step = times * power
            place = (above + origin) // step * step - origin
            found = np.where(place > below, place, found)
        power *= 10
    return found


@dataclass(eq=False)
class Stretch:
    """Places from 0 on a line: what each group reaches, and the box that it is in so far."""

    low: Ints
    high: Ints
    box_low: Ints
    box_high: Ints
    origin: int = 0

    @classmethod
    def of(cls, low: Ints, high: Ints, last: int, origin: int = 0) -> Stretch:
        """Begin with all places from 0 to the last."""
        return cls(low, high, np.zeros_like(low), np.full_like(low, last), origin)

    def divided(self, part: Ints) -> Ints:
        """Cut every part wherever no group lies on both sides; return the new parts."""
        order = np.lexsort((self.low, part))
        whole, low = part[order], self.low[order]
        first = np.concatenate([[True], whole[1:] != whole[:-1]])
        reached = _running_most(whole, self.high[order])
        before = np.concatenate([[0], reached[:-1]])
        begins = first | (low > before)
        at = np.flatnonzero(begins)
        cut = ~first[at]
        places = roundest(np.where(cut, before[at], low[at] - 1), low[at], self.origin)
        number = np.cumsum(begins) - 1
        lows = np.where(cut, places, self.box_low[order][at])
        ends = np.concatenate([cut[1:], [False]])
        highs = np.where(ends, np.concatenate([places[1:], [0]]) - 1, self.box_high[order][at])
        found = np.empty_like(part)
        found[order] = number
        self.box_low, self.box_high = lows[found], highs[found]
        return found


def _running_most(part: Ints, high: Ints) -> Ints:
    """Return the largest number so far in each part; parts ascend."""
    kinds, ranks = np.unique(high, return_inverse=True)
    shift = part * len(kinds)
    found: Ints = kinds[np.maximum.accumulate(ranks + shift) - shift]
    return found


@dataclass(eq=False)
class Branches:
    """The nodes of a hierarchy: what covers each group, and the node that it is in so far."""

    column: Column
    low: Ints
    high: Ints
    node: Ints
    box: Ints

    @classmethod
    def of(cls, column: Column, low: Ints, high: Ints, *, lasting: bool = False) -> Branches:
        """Begin with what covers everything, or `lasting` with the root, under which all is."""
        whole = column.nodes(np.array([0], np.int32), np.array([column.distinct - 1], np.int32))
        if lasting:
            assert column.tree is not None
            whole = np.flatnonzero(column.tree.parents() < 0).astype(np.int32)
        own = column.nodes(low.astype(np.int32), high.astype(np.int32)).astype(np.int64)
        return cls(column, low, high, own, np.full(len(low), int(whole[0]), np.int64))

    def divided(self, part: Ints) -> Ints:
        """Cut every part between the children of what covers it, unless a group lies in two."""
        child = children(self.column, part, self.low, self.high, self.node)
        blocked = np.zeros(int(part.max()) + 1, np.bool_)
        blocked[part[child < 0]] = True
        free = ~blocked[part]
        keys = part * (len(self.column.tree.names) + 1) + np.where(free, child + 1, 0)  # type: ignore[union-attr]
        _, found = np.unique(keys, return_inverse=True)
        several = np.zeros(len(blocked), np.int64)
        np.add.at(several, part[np.unique(found, return_index=True)[1]], 1)
        cut = free & (several[part] > 1)
        self.box = np.where(cut, child, self.box)
        return found.astype(np.int64)


def children(column: Column, part: Ints, low: Ints, high: Ints, node: Ints) -> Ints:
    """Return under which child of what covers its part everything of a group lies, -1: several."""
    assert column.tree is not None
    least, most = reach_of(part, low, high, column.distinct)
    there = most >= 0
    above = np.full(len(least), -1, np.int64)
    above[there] = column.nodes(least[there].astype(np.int32), most[there].astype(np.int32))
    top = above[part]
    parents = column.tree.parents()
    found = np.where(node == top, -1, node)
    while True:
        climbing = (found >= 0) & (parents[found] != top)
        if not climbing.any():
            return found
        found = np.where(climbing, parents[found], found)


def regions(coded: Coded, groups: Groups, *, lasting: bool = False) -> list[Cover]:
    """Return the regions of all groups, column by column; what is never mixed is one value.

    Those that `lasting` draws depend on nothing but the groups and what the schema says.
    """
    if coded.drawn is not None:
        return drawn_before(coded, groups, coded.drawn)
    exact = coded.never_mix
    units = np.arange(len(groups)) if groups.nodes is None else groups.nodes
    hulls = [_hull(column, groups, units) for column in coded.quasi]
    cut = [_axis(c, *hull, lasting=lasting) for c, hull in zip(coded.quasi, hulls, strict=True)]
    part = strata(coded, groups, units)
    axes = {c.name: axis for c, (axis, _) in zip(coded.quasi, cut, strict=True)}
    moving = [axes[name] for name in sorted(axes) if name not in exact]  # as the audit does
    parts = 0
    while moving and parts < int(part.max()) + 1:
        parts = int(part.max()) + 1
        for axis in moving:
            part = axis.divided(part)
    found: list[Cover] = []
    for column, (axis, grid) in zip(coded.quasi, cut, strict=True):
        if column.name in exact:
            found.append(Cover.of(column, groups))
        elif isinstance(axis, Branches):
            found.append(_under(column, axis.box[units], lasting=lasting))
        else:
            ends = axis.box_low[units], axis.box_high[units]
            made = Cover.of_runs(column, *ends) if grid is None else _between(column, *grid, *ends)
            found.append(made)
    return found


def strata(coded: Coded, groups: Groups, units: Ints) -> Ints:
    """Return which units are parted by themselves: by what is never mixed, and by row counts."""
    keys = groups.of_part(coded.strata.labels)
    if coded.rows_known:
        counts = row_counts(coded)
        keys = keys * len(counts) + groups.of_part(coded.person_of.of_row(counts.labels))
    found = np.zeros(int(units.max()) + 1, np.int64)
    found[units] = keys
    return np.unique(found, return_inverse=True)[1].astype(np.int64)


def _hull(column: Column, groups: Groups, units: Ints) -> tuple[Ints, Ints]:
    """Return the lowest and the highest rank of each unit."""
    return reach_of(units, *groups.ends(column.codes.astype(np.int64)), column.distinct)


def reach_of(part: Ints, low: Ints, high: Ints, distinct: int) -> tuple[Ints, Ints]:
    """Return the lowest and the highest rank of each part, -1 the highest of one without any."""
    least = np.full(int(part.max()) + 1, distinct, np.int64)
    most = np.full(len(least), -1, np.int64)
    np.minimum.at(least, part, low)
    np.maximum.at(most, part, high)
    return least, most


def _axis(
    column: Column, low: Ints, high: Ints, *, lasting: bool
) -> tuple[Stretch | Branches, tuple[CutGrid, Ints] | None]:
    """Return what a column is cut along, and its grid where it has one."""
    if column.tree is not None:
        return Branches.of(column, low, high, lasting=lasting), None
    if column.values is None:
        return Stretch.of(low, high, column.distinct - 1), None
    grid, places = grid_of(column)
    missing = column.gap is not None
    known = np.append(places, grid.count)  # missing numbers stand behind all others
    origin = 0 if grid.first % grid.step else grid.first // grid.step
    last = grid.count - (not missing)
    return Stretch.of(known[low], known[high], last, origin), (grid, places)


def _between(column: Column, grid: CutGrid, held: Ints, low: Ints, high: Ints) -> Cover:
    """Return intervals between points of a grid; the place after all is that of missing numbers."""
    top = np.where((high == grid.count) & (low < grid.count), grid.count - 1, high)
    made, places = on_grid(column, grid, held, np.concatenate([low, top]))
    if column.step is None and not low.any() and (high >= grid.count - 1).all():
        made = replace(made, step=replace(grid, step=grid.shown_step()).settled()["step"])
    places = np.append(places, grid.count)
    ranks = [np.searchsorted(places, end).astype(np.int32) for end in (low, high, top)]
    most = None if column.gap is None else ranks[2]
    return Cover(made, ranks[0], ranks[1], most=most)


def _under(column: Column, node: Ints, *, lasting: bool = False) -> Cover:
    """Return the ranks under nodes, which `lasting` go by these names whatever is under them."""
    assert column.tree is not None
    assert column.places is not None
    low = np.searchsorted(column.places, column.tree.first[node])
    high = np.searchsorted(column.places, column.tree.last[node], "right") - 1
    named = node.astype(np.int32) if lasting else None
    return Cover(column, low.astype(np.int32), high.astype(np.int32), named=named)


Drawn = Mapping[
    str, Any
]  # of a group, by column: the first and the last place on a grid, or a text


def remembered(coded: Coded, groups: Groups) -> list[dict[str, Any]]:
    """Return the regions of each group as a ledger keeps them."""
    found: list[dict[str, Any]] = [{} for _ in range(len(groups))]
    for cover in regions(coded, groups, lasting=True):
        column = cover.domain
        kept: list[Any] = cells(cover).to_list()
        if column.values is not None and column.name not in coded.never_mix:
            _, places = grid_of(column)
            kept = np.column_stack([places[cover.low], places[cover.high]]).tolist()
        for one, cell in zip(found, kept, strict=True):
            one[column.name] = cell
    return found


def drawn_before(coded: Coded, groups: Groups, drawn: Sequence[Drawn]) -> list[Cover]:
    """Return the regions that groups were given when they were born; `drawn` has each row's."""
    own = [drawn[row] for row in groups.order[groups.starts[:-1]].tolist()]
    found = []
    for column in coded.quasi:
        kept = [one[column.name] for one in own]
        if column.name in coded.never_mix:
            found.append(Cover.of(column, groups))
        elif column.tree is not None:
            number = {name: place for place, name in enumerate(column.tree.names)}
            found.append(_under(column, np.array([number[name] for name in kept]), lasting=True))
        else:
            grid, places = grid_of(column)
            ends = np.array(kept, np.int64).T
            found.append(_between(column, replace(grid, decimals=None), places, *ends))
    return found


def _way(tree: Tree, name: str) -> list[str]:
    """Return the names of the nodes from the root down to one."""
    parents, node = tree.parents(), tree.names.index(name)
    found = []
    while node >= 0:
        found.append(tree.names[node])
        node = int(parents[node])
    return found[::-1]


def drawn_texts(coded: Coded, drawn: Sequence[Drawn], names: Sequence[str]) -> list[list[str]]:
    """Return the cells of regions that no group of a table need have, as they are spelled.

    Of a node it is the way down to it, a JSON array: a manifest names no nodes that no group has.
    """
    found = []
    by_name = {column.name: column for column in coded.quasi}
    for column in map(by_name.__getitem__, names):
        kept = [one[column.name] for one in drawn]
        if kept and column.values is not None and column.name not in coded.never_mix:
            grid, places = grid_of(column)
            ends = np.array(kept, np.int64).T
            kept = cells(_between(column, replace(grid, decimals=None), places, *ends)).to_list()
        elif column.tree is not None and column.name not in coded.never_mix:
            kept = [json.dumps(_way(column.tree, name), ensure_ascii=False) for name in kept]
        found.append(kept)
    return [list(one) for one in zip(*found, strict=True)]
