"""Passes over groups that hold: rows move to what is near in quasi space, groups come and go."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shoal.kernels.exchange.loss import LossSpace
from shoal.kernels.exchange.moves import improve
from shoal.kernels.exchange.resizing import dissolve, found
from shoal.kernels.exchange.start import near_rows, start
from shoal.kernels.exchange.state import total_loss
from shoal.kernels.exchange.swaps import EVERY, HELPFUL
from shoal.kernels.reach import DEEP, box_tree, nearest_points
from shoal.kernels.space import INTERVAL
from shoal.progress import in_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shoal.kernels.compiling import Ints, LongInts, Reals
    from shoal.kernels.exchange.state import GroupState
    from shoal.kernels.relations import Relations


Start = tuple["LongInts", "LongInts"]  # rows, and where each group begins

PARTS = 8
RUN = 8  # rows of a run, see `kernels/exchange/start.py`, at least
AROUND = 12  # runs in which neighbours are looked for
SAMPLES = 16  # of groups that the thinned-out rings draw from in turn, at least
MEASURED = 1 << 20  # distances that are all measured rather than looked for in a tree
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
        if which.size * self.sample.size <= MEASURED:
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


SWAPS, FEWER_SWAPS = 2, 1  # passes that only exchange two rows; and where sizes differ
RESIZED = 2  # passes before which groups are dissolved and founded
FEW_ROWS = 10_000  # among which groups keep their sizes: in few, a loan is not repaid
LOAN = 4.0  # what the dissolution of a group may lose for once, in what a row loses on average
FEWEST, MOST = 16, 64  # rows near each row to whose groups it may move
UNBOUND, LOOSE, MEANT = 24, 16, 10  # where every row fits everywhere; sizes differ; by squares
ASKED = 4  # of so many rows near a member, one group is asked to take it at the end of a cycle
# Passes of swaps, what is asked, and what a pass has to gain, where squares are lost: they fall by
# many small moves, all of which are had where rows are few.
SQUARED_FEW, SQUARED = (1, 4, 5e-4), (2, 16, 0.1)
LEVELS = 3  # cuts into halves that make the blocks
CUTS = (1 / 2, 1 / 3, 2 / 3)  # where they lie, as shares of what is cut
TINIEST = 1e-12  # and by itself: groups may lose nothing but rounding
SMALLEST = 1e-6  # gain of a move, in what a row loses on average: less is rounding


class Pace(NamedTuple):
    """How much is looked at before groups hold, and how long they are improved."""

    near: int  # neighbours of each group that the first passes try
    kept: int  # groups in reach tried at the first widenings, where many groups are wrong
    kept_far: int  # and at the later ones
    again: tuple[int, ...]  # how blocks are cut for pairs across those of the first round
    every: bool  # whether widening weighs exchanges too that leave the other group in breach
    gain: float  # a pass that gains less is the last
    ahead: bool  # or one after which the next is likely to gain less, by how much gains fall


FEW = Pace(16, 48, 128, (), EVERY, 0.01, ahead=False)
MANY = Pace(12, 96, 256, (1, 2), HELPFUL, 0.0035, ahead=True)


def is_small(rows: int) -> bool:
    """Return whether a table is one of few rows, where time is short whatever is looked at."""
    return rows <= FEW_ROWS


def pace_of(rows: int, relations: Relations) -> Pace:
    """Return how a table is worked on: in a small one, everything is looked at.

    Where several requirements meet, hardly any partner is valid at once, so all are weighed.
    """
    return FEW if is_small(rows) or relations.forms.size > 1 else MANY


class Moves:
    """Groups that hold, and where their rows are; `run` makes one pass.

    `close` are groups close in quasi space, each next to the next, where some are known; `resized`
    says whether groups are dissolved and founded too; `reach` of how many rows near a row the
    groups are looked at, where not as many as usual.
    """

    def __init__(
        self,
        space: LossSpace,
        relations: Relations,
        groups: GroupState,
        close: Start | None = None,
        *,
        resized: bool = True,
        reach: int = 0,
    ) -> None:
        self.space, self.relations, self.groups = space, relations, groups
        member = np.arange(groups.rows.shape[1]) < groups.sizes[:, None]
        home, slot = np.nonzero(member)
        rows = groups.rows[home, slot]
        values = np.empty((rows.size, groups.values.shape[2]))
        values[rows] = groups.values[home, slot]
        self.homes, self.slots = np.empty((2, rows.size), np.int64)
        self.homes[rows], self.slots[rows] = home, slot
        near = MEANT if space.kinds[0] < 0 and not is_small(len(rows)) else LOOSE
        self.reach = reach or reach_of(relations, near if resized else UNBOUND)
        self.near = nearest_rows(space, values, self.reach, close)
        self.block = np.zeros(groups.sizes.size, np.int64)
        self.scratch = np.zeros((2**LEVELS, 2, groups.sizes.size + 1), np.int64)
        self.turn, self.pays, self.gained, self.resized = 0, True, 0.0, resized
        self.swaps, self.asked = FEWER_SWAPS if resized else SWAPS, ASKED
        self.gain, self.ahead = pace_of(len(rows), relations)[-2:]
        if space.kinds[0] < 0:
            self.ahead, few = False, is_small(len(rows))
            self.swaps, self.asked, self.gain = SQUARED_FEW if few else SQUARED
        self.since = 0  # all pairs of groups are looked at that changed from this pass on

    def run(self) -> None:
        """Make one pass in all blocks side by side; `pays` says whether to make another one."""
        groups, turn = self.groups, self.turn
        before, self.block = self.block, blocks(groups.values[:, 0], turn)
        loss, now = total_loss(groups), int(groups.stamps.max()) + 1
        order = np.argsort(self.block[self.homes] * groups.sizes.size + self.homes, kind="stable")
        ends = np.searchsorted(self.block[self.homes][order], np.arange(2**LEVELS + 1))
        least = max(SMALLEST * loss / self.homes.size, TINIEST)

        def resize(own: int) -> None:
            mine = np.flatnonzero(self.block == own)
            went = np.empty(groups.rows.shape[1], np.int64)
            state = (self.space, self.relations, groups, self.homes, self.slots, self.near)
            loan = LOAN * loss / self.homes.size
            dissolve(*state, mine, self.block, own, loan, now, went)
            spare, rows = mine[groups.sizes[mine] == 0], order[ends[own] : ends[own + 1]]
            found(*state, rows, self.block, own, spare, least, now, went)

        def work(own: int) -> None:
            improve(
                self.space,
                self.relations,
                groups,
                self.homes,
                self.slots,
                self.near,
                order[ends[own] : ends[own + 1]],
                self.block,
                before,
                own,
                0 if turn < self.swaps else max(1, self.reach // self.asked),
                self.since,
                now,
                least,
                *self.scratch[own],
            )

        if self.resized and turn < RESIZED:
            spread([partial(resize, own) for own in range(2**LEVELS)])
        spread([partial(work, own) for own in range(2**LEVELS)])
        self.turn += 1
        self.since = 0 if self.turn == self.swaps else now
        after, least = total_loss(groups), self.gain
        if self.ahead and self.gained > least:
            least = np.sqrt(least * self.gained)  # less, and the next gains less than `gain`
        self.pays = self.turn <= self.swaps or after < (1 - least) * loss
        self.gained = 1 - after / max(loss, TINIEST)


def reach_of(relations: Relations, usual: int) -> int:
    """Return how many rows near a row are looked at: more where groups are larger and bound.

    The more members a group has, the fewer rows fit into it, so the more groups have to be asked.
    """
    least = int(relations.least[0])
    if not relations.forms.size:
        return usual
    return min(MOST, max(FEWEST, least * (least + 2) // 2))


def blocks(places: Reals, turn: int) -> LongInts:
    """Divide groups into blocks by cuts along one column after the other, others at each turn."""
    count, columns = places.shape
    block = np.zeros(count, np.int64)
    for level in range(LEVELS):
        along = np.lexsort((places[:, (turn + level) % columns], block))
        sizes = np.bincount(block, minlength=2**level)
        home = block[along]
        rank = np.arange(count) - (np.cumsum(sizes) - sizes)[home]
        block[along] = 2 * home + (rank >= CUTS[turn % len(CUTS)] * sizes[home])
    return block
