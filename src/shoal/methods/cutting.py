"""Cuts for regions: every part is cut where no tie and no person is divided, as long as it may be.

All parts are cut side by side, one cut each: a column of numbers or labels in two, as near to the
middle as ties allow, a column with a hierarchy between all children of what covers the part. The
column is the one in which the box of the part is widest, then the next. Or it is the one whose cut
leaves least loss; then cuts at about a third and two thirds are tried too. A part that no column
can cut stays. Whether what a cut leaves may stand is asked of the measure itself, or of a rule of
the method.

Where cuts lie depends on quasi values, on sizes and on what the judge is asked of each part. Where
their regions end is said later, from what is published alone (`release/regions.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import NotAchievable
from shoal.principles.groups import Groups
from shoal.release.regions import children, reach_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shoal.methods.base import Task
    from shoal.table.coded import Coded
    from shoal.table.column import Column

    Ints = NDArray[np.int64]
    Boxes = tuple[NDArray[np.float64], NDArray[np.float64]]  # by part and column
    Judge = Callable[[Groups, Groups], NDArray[np.bool_]]

MIDDLE = Fraction(1, 2)
ASIDE = (Fraction(7, 20), Fraction(13, 20))  # of the rows of a part: where else a cut may lie


def cut_while_holding(task: Task, *, widest: bool) -> Groups:
    """Cut the whole table while everything that is required holds in all that cuts leave."""

    def judge(parts: Groups, _before: Groups) -> NDArray[np.bool_]:
        return np.logical_or.reduce([one.breaches for one in task.measure(parts)])

    if not task.holds(Groups(np.zeros(len(task.coded), np.int64))):
        raise whole_fails(task)
    return Groups(Cutting(task, judge, widest=widest).parts())


def whole_fails(task: Task) -> NotAchievable:
    """Say that cuts have nothing to begin with."""
    required = " and ".join(map(repr, task.requirements))
    return NotAchievable(
        f"Regions begin with the whole table, which has to meet {required}, but these "
        f"{len(task.coded):,} {task.coded.whom} together do not. Require less, or use tight "
        "cells."
    )


@dataclass(frozen=True, eq=False)
class Cutting:
    """A table that is cut as long as a judge passes what cuts leave.

    `judge` is given the parts after a cut and those before it, and says which of the former may
    not stand.
    """

    task: Task
    judge: Judge
    widest: bool = True

    @cached_property
    def reach(self) -> list[tuple[Ints, Ints]]:
        """The lowest and the highest rank that each row, or each person, has in each column."""
        return reaches(self.task.coded)

    def parts(self) -> Ints:
        """Return the part of each row once nothing can be cut any more."""
        part = np.zeros(len(self.task.coded), np.int64)
        boxes = self.hulls(part)
        tried = np.zeros(boxes[0].shape, np.bool_)
        while True:
            low, high = self.hulls(part)
            spread = np.where(tried | (low == high), -1.0, boxes[1] - boxes[0])
            open_ = spread.max(axis=1) > 0
            self.task.progress("search", 1 - float(open_[part].mean()))
            if not open_.any():
                return part
            column = np.where(open_, spread.argmax(axis=1), -1)
            sides = self.proposed(part, column)
            if not self.widest:
                sides, column = self.cheapest(part, spread > 0, boxes)
            bad = self.refused(part, sides, len(tried)) & open_
            tried[bad, column[bad]] = True
            sides[bad[part]] = 0
            part, boxes, owner = self.divided(part, sides, column, boxes)
            cut = np.bincount(owner, minlength=len(tried)) > 1
            tried = tried[owner] & ~cut[owner][:, None]

    def refused(self, part: Ints, sides: Ints, count: int) -> NDArray[np.bool_]:
        """Return of which parts a cut leaves something that may not stand, or all of it."""
        _, first, found = np.unique(_both(part, sides), return_index=True, return_inverse=True)
        owner = part[first]
        bad: NDArray[np.bool_] = np.bincount(owner, minlength=count) == 1
        bad[owner[self.judge(Groups(found.astype(np.int64)), Groups(part))]] = True
        return bad

    def divided(
        self, part: Ints, sides: Ints, column: Ints, boxes: Boxes
    ) -> tuple[Ints, Boxes, Ints]:
        """Return the parts after cuts, the boxes that these leave, and the part each was in.

        Half-way between the rows on both sides is where a box ends while cuts are searched for.
        """
        _, first, found = np.unique(_both(part, sides), return_index=True, return_inverse=True)
        found, owner = found.astype(np.int64), part[first]
        low, high = (end[owner] for end in boxes)
        hulls = self.hulls(found)
        cut = np.bincount(owner)[owner] > 1
        for j, own in enumerate(self.task.coded.quasi):
            here = cut & (column[owner] == j)
            if own.tree is not None:
                low[here, j], high[here, j] = 0.0, hulls[1][here, j] - hulls[0][here, j]
                continue
            below = np.flatnonzero(here[:-1] & (owner[:-1] == owner[1:]))  # two halves stand so
            middle = (hulls[1][below, j] + hulls[0][below + 1, j]) / 2
            high[below, j], low[below + 1, j] = middle, middle
        return found, (low, high), owner

    def hulls(self, part: Ints) -> Boxes:
        """Return between which coordinates the rows of parts lie in each column.

        A hierarchy has none: there it is from 0 to the loss of what covers them.
        """
        coded = self.task.coded
        low, high = np.zeros((2, int(part.max()) + 1, len(coded.quasi)))
        line = coded.line
        for j, (column, reach) in enumerate(zip(coded.quasi, self.reach, strict=True)):
            ends = reach_of(part, *reach, column.distinct)
            if column.tree is not None:
                nodes = column.nodes(*(end.astype(np.int32) for end in ends))
                high[:, j] = column.tree.ncp[nodes] * coded.column_weights[j]
            else:
                coords = line.coords[line.offsets[j] : line.offsets[j + 1]]
                low[:, j], high[:, j] = coords[ends[0]], coords[ends[1]]
        return low, high

    def proposed(self, part: Ints, column: Ints, share: Fraction = MIDDLE) -> Ints:
        """Return on which side of the cut of its part each row lies; parts have a column each.

        About the share of the rows lies below the cut.
        """
        found = np.zeros(len(part), np.int64)
        for j, (own, (low, high)) in enumerate(zip(self.task.coded.quasi, self.reach, strict=True)):
            rows = np.flatnonzero(column[part] == j)
            if not len(rows):
                continue
            if own.tree is None:
                found[rows] = halves(part[rows], low[rows], high[rows], share)
            else:
                found[rows] = branches(own, part[rows], low[rows], high[rows])
        return found

    def cheapest(self, part: Ints, open_: NDArray[np.bool_], boxes: Boxes) -> tuple[Ints, Ints]:
        """Return sides, and the column whose cut leaves the least loss, of those still open.

        A cut aside of the middle counts where what it leaves may stand.
        """
        best = np.full(len(open_), np.inf)
        column = np.full(len(open_), -1)
        sides = np.zeros(len(part), np.int64)
        for j, share in product(range(open_.shape[1]), (MIDDLE, *ASIDE)):
            if share != MIDDLE and self.task.coded.quasi[j].tree is not None:
                continue  # children stand where they are
            chosen = np.where(open_[:, j], j, -1)
            tried = self.proposed(part, chosen, share)
            found, (low, high), owner = self.divided(part, tried, chosen, boxes)
            left = (high - low).sum(axis=1) * np.bincount(found)
            loss = np.bincount(owner, left, minlength=len(best))
            better = open_[:, j] & (loss < best)
            if share != MIDDLE and better.any():
                better &= ~self.refused(part, tried, len(best))
            best, column = np.where(better, loss, best), np.where(better, j, column)
            sides = np.where(better[part], tried, sides)
        return sides, column


def _both(part: Ints, sides: Ints) -> Ints:
    return part * (int(sides.max()) + 1) + sides


def reaches(coded: Coded) -> list[tuple[Ints, Ints]]:
    """Return the lowest and the highest rank of each row, or person, in each quasi column."""
    rows = coded.table
    return [rows.person_of.ends(one.codes.astype(np.int64)) for one in rows.quasi]


def halves(part: Ints, low: Ints, high: Ints, share: Fraction = MIDDLE) -> Ints:
    """Return 1 for the rows above the cut of their part, where nobody lies on both sides.

    Of all places at which a part can be cut, the one that leaves nearest to the share of its rows
    below; 0 for all of a part that cannot be.
    """
    order = np.lexsort((low, part))
    whole, ranks = np.unique(part[order], return_inverse=True)
    starts = np.searchsorted(ranks, np.arange(len(whole)))
    sizes = np.diff(np.append(starts, len(part)))
    shift = ranks * (int(high.max()) + 2)
    reached = np.maximum.accumulate(high[order] + shift) - shift
    place = np.arange(len(part)) - starts[ranks]  # how many rows come before
    free = np.append(False, low[order][1:] > reached[:-1]) & (place > 0)
    top, bottom = share.as_integer_ratio()
    far = np.where(free, np.abs(bottom * place - top * sizes[ranks]), bottom * (len(part) + 1))
    nearest = np.minimum.reduceat(far, starts)
    chosen = np.flatnonzero(free & (far == nearest[ranks]))
    at = np.full(len(whole), len(part) + 1, np.int64)
    np.minimum.at(at, ranks[chosen], place[chosen])
    found = np.empty(len(part), np.int64)
    found[order] = place >= at[ranks]
    return found


def branches(column: Column, part: Ints, low: Ints, high: Ints) -> Ints:
    """Return the child of what covers its part that each row lies under, numbered from 1.

    All of a part is 0 where somebody lies under two.
    """
    _, own = np.unique(part, return_inverse=True)
    node = column.nodes(low.astype(np.int32), high.astype(np.int32)).astype(np.int64)
    child = children(column, own.astype(np.int64), low, high, node)
    blocked = np.zeros(int(own.max()) + 1, np.bool_)
    blocked[own[child < 0]] = True
    return np.where(blocked[own], 0, child + 1)
