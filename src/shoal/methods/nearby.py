"""What is near in quasi space: rows to rows, and groups to groups by their centres."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.kernels.exchange.loss import LossSpace
from shoal.kernels.exchange.start import near_rows, start
from shoal.kernels.reach import DEEP, box_tree, nearest_points
from shoal.kernels.space import INTERVAL
from shoal.progress import in_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shoal.kernels.compiling import Ints, LongInts, Reals
    from shoal.kernels.exchange.state import GroupState

Start = tuple["LongInts", "LongInts"]  # rows, and where each group begins

PARTS = 8
RUN = 8  # rows of a run, see `kernels/exchange/start.py`, at least
AROUND = 12  # runs in which neighbours are looked for
SAMPLES = 16  # of groups that the thinned-out rings draw from in turn, at least
FEW = 1 << 20  # distances that are all measured rather than looked for in a tree
EACH = 4  # groups in all samples together for each group that asks, where there are as many


def spread(jobs: Sequence[Callable[[], None]]) -> None:
    """Do jobs side by side."""
    in_threads(jobs, lambda: None)


def close_groups(space: LossSpace, values: Reals, count: int) -> tuple[LongInts, LongInts]:
    """Divide rows into groups close in quasi space, on all cores: an order and its cuts."""
    return start(space, values, count, spread)


def nearest_rows(space: LossSpace, values: Reals, reach: int, groups: Start | None = None) -> Ints:
    """Return the rows near each row, the nearest first.

    Where groups are given that were close, each next to the next, they need not be found again.
    """
    rows, run = len(values), max(RUN, reach // 3)
    if groups is None or rows > 2 * run * (groups[1].size - 1):
        groups = close_groups(space, values, max(1, rows // run))
    order, cuts = groups
    cuts = np.append(cuts[: -1 : -(-run * (cuts.size - 1) // rows)], rows)  # as many as a run needs
    count = cuts.size - 1
    centres = np.add.reduceat(values[order], cuts[:-1], axis=0) / np.diff(cuts)[:, None]
    own = np.arange(count)
    others = Neighbours(apart(space, centres)).nearest(own, 0, min(AROUND, count) - 1)
    around = np.hstack([own[:, None], others])
    near = np.empty((rows, max(1, min(reach, rows - 1))), np.int32)
    ends = np.linspace(0, count, PARTS + 1).astype(np.int64)

    def work(part: int) -> None:
        near_rows(
            space, values, order, cuts, around, *ends[part : part + 2],
            np.empty(near.shape[1]), near,
        )  # fmt: skip

    spread([partial(work, part) for part in range(PARTS)])
    return near


def apart(space: LossSpace, centres: Reals) -> Reals:
    """Return centres as points, where labels count as much as they lose."""
    return centres * np.where(space.kinds == INTERVAL, 1.0, space.units)


class Neighbours:
    """Points, and which of them, or of every `step`-th from `first` on, are nearest to which.

    Distances are sums over the columns.
    """

    def __init__(self, points: Reals, first: int = 0, step: int = 1) -> None:
        self.points = points
        self.sample = np.arange(first, len(points), step)
        self._tree: tuple[Any, ...] | None = None

    def nearest(self, which: LongInts, begin: int, end: int) -> LongInts:
        """Return number begin + 1 to end of those nearest to each, which is not one of them."""
        if which.size * self.sample.size <= FEW:
            return self._measured(which, begin, end)
        tree = self._tree = self._tree or self._grown()
        found = np.empty((which.size, end), np.int64)
        ends = np.linspace(0, which.size, PARTS + 1).astype(np.int64)

        def work(part: int) -> None:
            nearest_points(
                *tree, which, *ends[part : part + 2],
                np.empty(DEEP, np.int64), np.empty(end), found,
            )  # fmt: skip

        spread([partial(work, part) for part in range(PARTS)])
        return found[:, begin:]

    def _measured(self, which: LongInts, begin: int, end: int) -> LongInts:
        away = np.zeros((which.size, self.sample.size))
        for column in self.points.T:
            away += np.abs(column[which, None] - column[self.sample])
        away[which[:, None] == self.sample] = np.inf
        return self.sample[np.argsort(away, axis=1, kind="stable")[:, begin:end]]

    def _grown(self) -> tuple[Any, ...]:
        columns = self.points.shape[1]
        space = LossSpace(
            np.full(columns, INTERVAL, np.int8), np.full(columns, np.inf), np.zeros(1),
            np.zeros(columns + 1, np.int64),
        )  # fmt: skip
        order, cuts, *boxes = box_tree(space, self.points[self.sample], spread)
        return space, self.points, self.sample[order], cuts, *boxes


class NearGroups:
    """The centres of the groups, and which are near to which."""

    def __init__(self, space: LossSpace, groups: GroupState) -> None:
        member = np.arange(groups.rows.shape[1]) < groups.sizes[:, None]
        sums = np.einsum("gcd,gc->gd", groups.values, member)
        self.points = apart(space, sums / np.maximum(groups.sizes, 1)[:, None])
        self.points[groups.sizes == 0, 0] = 1e9  # emptied groups are out of reach
        self.samples: dict[tuple[int, int], Neighbours] = {}

    def classes(self, which: LongInts, begin: int, end: int, kept: int) -> tuple[LongInts, int]:
        """As `ring`, each group among those of its own class, every step-th; returns step too."""
        count = self.points.shape[0]
        step = max(1, (min(end, count) - begin) // kept)
        low, high = begin // step, min(end // step, count // step - 1)
        near = np.empty((which.size, max(high - low, 0)), np.int64)
        for shift in range(step if high > low else 0):
            mine = which % step == shift
            if mine.any():
                near[mine] = Neighbours(self.points, shift, step).nearest(which[mine], low, high)
        return near, step

    def ring(self, which: LongInts, begin: int, end: int, kept: int) -> LongInts:
        """Neighbours number begin + 1 to end of each group, thinned out evenly to about `kept`.

        Groups are numbered along the splits, so every t-th group is an even sample of space, and
        a look at those alone spares the search for neighbours that would be thrown away. Several
        samples are used in turn, more where more groups ask: with few, all would compete for the
        same partners.
        """
        count = self.points.shape[0]
        step = max(1, (min(end, count) - begin) // kept)
        low, high = begin // step, min(end // step, count // step - 1)
        if high <= low:
            return np.empty((which.size, 0), np.int64)
        samples = max(SAMPLES, EACH * which.size // kept)
        shifts = np.unique(np.arange(samples) * step // samples)
        near = np.empty((which.size, high - low), np.int64)
        for turn, shift in enumerate(shifts):
            if (step, shift) not in self.samples:
                self.samples[step, shift] = Neighbours(self.points, shift, step)
            mine = which % shifts.size == turn
            near[mine] = self.samples[step, shift].nearest(which[mine], low, high)
        return near
