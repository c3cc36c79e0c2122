"""The exchange engine: from groups close in quasi space, repair, improve.

The search holds no randomness. Work is divided into a fixed number of blocks of neighbouring
groups, whatever the number of threads, and pairs of groups across blocks follow one by one, so the
result does not depend on the number of threads.

Passes of moves lower the loss of groups that hold, in blocks of groups side by side. The first ones
exchange two rows, the others follow cycles through three groups too (`kernels/exchange/moves.py`).
Before the first two, in tables that are not small, groups are dissolved and others founded, so that
sizes differ where that loses less (`kernels/exchange/resizing.py`). Blocks are cut anew for every
pass, along other columns and at other places, so that no two groups are kept apart for long; which
blocks there are does not depend on the number of threads, and neither does the result.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.kernels.exchange.state import crossing, labels_of, make_groups, refresh_each, total_loss
from shoal.kernels.exchange.swaps import (
    EVERY,
    chain,
    exchange_pairs,
    merge,
    repair,
    round_robin,
)
from shoal.methods.passes import FEW, Moves, NearGroups, blocks, is_small, pace_of
from shoal.progress import Better, Enough, Progress, in_threads, never, silent, untold

if TYPE_CHECKING:
    from shoal.kernels.compiling import Ints, LongInts, Reals
    from shoal.kernels.exchange.loss import LossSpace
    from shoal.kernels.exchange.state import GroupState
    from shoal.kernels.relations import Relations


BLOCKS = 8
FAR = 256
HEAVY = 1e6  # price of one unit of excess that no loss outweighs
PRICES = (0.3, 1.0, 4.0)  # rising prices of the first passes, in mean losses of a member
CHAINS = 1e8  # pairs of pairs that chains may try: seconds, where all groups could take hours
MOST_WRONG = 3 / 4  # of all groups after the first passes, of which too many stay
FEW_WRONG = 1 / 32  # of all groups after near ones were asked, of which most can be mended
PASSES = 12  # about as many as a run makes, for the progress bar
ROUNDS = 14  # and as those that are left see all others, where there are many


class Exchanged(NamedTuple):
    """Where the engine stopped."""

    labels: LongInts  # int64 (n): group of each row
    violations: int  # members above their bound; 0 when the partition is valid
    loss: float  # sum over groups of size * NCP
    passes: int
    seconds: float


class Exchanging:
    """One run over one table; `run` does all.

    Group g starts with the rows `order[cuts[g]:cuts[g + 1]]`; neighbours in this numbering are to
    be neighbours in space.
    """

    def __init__(
        self,
        space: LossSpace,
        relations: Relations,
        values: Reals,
        codes: Ints,
        order: LongInts,
        cuts: LongInts,
        *,
        seconds: float = np.inf,
        progress: Progress = silent,
        enough: Enough = never,
        better: Better = untold,
        others: bool = False,
        reach: int = 0,
    ) -> None:
        count = cuts.size - 1
        room = relations.bounds.shape[1] - 1
        self.space, self.relations = space, relations
        self.values, self.codes, self.close = values, codes, (order, cuts)
        self.pace = pace_of(len(values), relations)
        self.begun, self.seconds = time.perf_counter(), seconds
        self.progress, self.enough, self.better = progress, enough, better
        self.reach = reach  # rows near a row whose groups are looked at, 0 for as many as usual
        self.others = others  # whether something else is tried where this does not get far
        self.groups = make_groups(values, codes, order, cuts, room)
        self.block = np.arange(count) * BLOCKS // count
        self.now = 1
        self.passes = 0
        refresh_each(space, relations, self.groups, np.arange(count), self.now)

    def run(self) -> Exchanged:
        """Repair, improve, and say where it ended."""
        if self.groups.excess.any():
            self.price()
            if not (self.others and self.wrong > MOST_WRONG):
                self.mend()
        if self.wrong <= (0 if self.others else FEW_WRONG) and not self.late():
            self.improve()
        groups, n = self.groups, int(self.groups.sizes.sum())
        return Exchanged(
            labels=labels_of(groups, n),
            violations=violations(self.relations, groups),
            loss=total_loss(groups),
            passes=self.passes,
            seconds=time.perf_counter() - self.begun,
        )

    @property
    def state(self) -> tuple[LossSpace, Relations, GroupState]:
        """What every kernel is given."""
        return self.space, self.relations, self.groups

    def crossing(self) -> tuple[Reals, Reals]:
        """Return scratch for one thread."""
        return crossing(self.groups, self.relations)

    @property
    def wrong(self) -> float:
        """The share of groups that are in breach."""
        return float(np.count_nonzero(self.groups.excess)) / self.groups.sizes.size

    @property
    def cost(self) -> tuple[int, float]:
        """What is in breach, and what is lost: first the one is to be low, then the other."""
        return int(self.groups.excess.sum()), total_loss(self.groups)

    def late(self) -> bool:
        """Say whether the time budget is spent."""
        return time.perf_counter() - self.begun > self.seconds

    def price(self) -> None:
        """Pass over all neighbours at rising prices of excess: cheap repairs come first."""
        typical = total_loss(self.groups) / self.groups.sizes.sum()
        pairs = self.neighbours(self.pace.near)
        for turn, price in enumerate(PRICES):
            self.progress("search", turn / len(PRICES))
            if not self.late():
                self.sweep(pairs, max(price * typical, 1e-9))

    def mend(self) -> None:
        """Repair what is left, by wider means as long as anything is."""
        near = NearGroups(self.space, self.groups)
        self.widen(near)
        if self.others and self.wrong > FEW_WRONG:
            return
        for step in (
            self.seek,
            partial(self.chains, self.pace.near),
            partial(self.chains, self.groups.sizes.size),
            self.mergers,
            self.deal,
        ):
            if self.groups.excess.any() and not self.late():
                self.progress("repair", 1 - self.wrong)
                step(near)

    def widen(self, near: NearGroups) -> None:
        """Exchange with ring after ring of neighbours, each four times as wide as the last."""
        begin, end = 0, self.pace.near
        while begin < self.groups.sizes.size - 1 and not self.late():
            wrong = np.flatnonzero(self.groups.excess)
            if not wrong.size:
                return
            self.progress("repair", 1 - wrong.size / self.groups.sizes.size)
            self.now += 1
            kept = self.pace.kept if end <= FAR else self.pace.kept_far
            if 4 * end * BLOCKS <= self.groups.sizes.size:
                self.repair_in_blocks(wrong, near.ring(wrong, begin, end, kept))
            elif self.pace.every:
                self.repair(wrong, near.ring(wrong, begin, end, kept), np.zeros_like(wrong), 1)
            else:
                self.repair_in_classes(wrong, *near.classes(wrong, begin, end, kept))
            begin, end = end, 4 * end

    def seek(self, near: NearGroups) -> None:
        """Let the handful of groups that are left see all others: the rings were thinned out."""
        count, last, rounds = self.groups.sizes.size, -1, 0
        while last != (left := int(self.groups.excess.sum())) and left:
            last = left
            self.now += 1
            wrong = np.flatnonzero(self.groups.excess)
            for place, g in enumerate(wrong):
                if self.late():
                    return
                self.progress("seek", min(0.95, (rounds + place / wrong.size) / ROUNDS))
                one = np.array([g])
                around = near.ring(one, 0, count, count)
                repair(*self.state, one, around, HEAVY, EVERY, self.now, *self.crossing())
            rounds += 1

    def chains(self, reach: int, near: NearGroups) -> None:
        """Try two exchanges in a row with groups in reach, where not too many are wrong.

        Every pair of members is tried with every pair of the next groups in reach, and every part
        of a member's values with every other member.
        """
        wrong = np.flatnonzero(self.groups.excess)
        around = near.ring(wrong, 0, reach, FEW.kept)
        tried = around.shape[1] * around.size * float(self.groups.sizes.max()) ** 4
        if tried * self.relations.parts.max(initial=1) > CHAINS:
            return
        self.now += 1
        chain(*self.state, wrong, around, self.now, *self.crossing())

    def mergers(self, near: NearGroups) -> None:
        """Try to join wrong groups with near ones."""
        wrong = np.flatnonzero(self.groups.excess)
        self.now += 1
        merge(*self.state, wrong, near.ring(wrong, 0, FEW.near, FEW.kept), self.now)

    def deal(self, near: NearGroups) -> None:
        """Deal the smallest block of groups around a wrong one that can be dealt in turn."""
        sizes = self.groups.sizes
        for g in np.flatnonzero(self.groups.excess):
            reach, done = 1, self.groups.excess[g] == 0
            while not (done or self.late()):
                reach = min(2 * reach, sizes.size)
                block = np.unique(np.append(near.ring(np.array([g]), 0, reach - 1, reach), g))
                block = block[sizes[block] > 0]
                self.now += 1
                dealt = round_robin(*self.state, block, self.now)
                done = dealt or reach == sizes.size

    def repair_in_blocks(self, wrong: LongInts, near: LongInts) -> None:
        """Repair groups within a small ring, side by side in blocks.

        A group standing for itself in `near` is passed over, so neighbours beyond the block are
        left out there; a later ring makes up for the few that are missed.
        """
        home = self.block[wrong]
        near = np.where(self.block[near] == home[:, None], near, wrong[:, None])
        self.repair(wrong, near, home, BLOCKS)

    def repair_in_classes(self, wrong: LongInts, near: LongInts, step: int) -> None:
        """Repair groups within a wide ring, every step-th by themselves: no two share a group."""
        self.repair(wrong, near, wrong % step, step)

    def repair(self, wrong: LongInts, near: LongInts, home: LongInts, homes: int) -> None:
        """Repair groups by those in reach, side by side in parts that share none."""

        def work(part: int) -> None:
            mine = home == part
            if mine.any():
                own = (wrong[mine], near[mine], HEAVY, self.pace.every, self.now)
                repair(*self.state, *own, *self.crossing())

        in_threads([partial(work, part) for part in range(homes)], lambda: None)

    def improve(self) -> None:
        """Lower the loss until a pass gains little, or somebody has enough.

        A pass that takes a loan may end with more than before, so the best of all is kept.
        """
        many, holds = not is_small(len(self.values)), not self.groups.excess.any()
        # Among few rows, heaps of equal ones, and where not all fit, near ones are looked for anew.
        even = np.ptp(np.diff(self.close[1])) <= 1
        close = self.close if many and even and not self.relations.forms.size else None
        squared = bool(self.space.kinds[0] < 0)
        moves = Moves(*self.state, close, resized=many or squared, reach=self.reach)
        best, least = moves.homes.copy(), self.cost
        while moves.pays and not (self.late() or self.enough()):
            self.progress("improve", min(0.95, self.passes / PASSES))
            if holds:
                self.better(least[1] / self.values.size)
            moves.run()
            self.passes += 1
            if self.cost < least:
                best, least = moves.homes.copy(), self.cost
        if self.cost > least:
            self.restore(best)
        if holds:
            self.better(least[1] / self.values.size)

    def restore(self, homes: LongInts) -> None:
        """Go back to the groups that rows were in."""
        cuts = np.append(0, np.bincount(homes, minlength=self.groups.sizes.size).cumsum())
        order, room = np.argsort(homes, kind="stable"), self.groups.rows.shape[1]
        self.groups = make_groups(self.values, self.codes, order, cuts, room)
        refresh_each(*self.state, np.arange(cuts.size - 1), self.now)

    def sweep(self, pairs: list[list[LongInts]], price: float) -> None:
        """One pass: blocks side by side, round after round, then the pairs that are left."""
        self.now += 1
        self.passes += 1

        def work(part: LongInts) -> None:
            exchange_pairs(*self.state, part, price, self.now, *self.crossing())

        for parts in pairs:
            in_threads([partial(work, part) for part in parts], lambda: None)

    def neighbours(self, reach: int) -> list[list[LongInts]]:
        """Pairs of nearby groups, in rounds: in each an array for each block, at last the others.

        Blocks are cut otherwise in every round, so that few pairs lie across all of them.
        """
        count = self.groups.sizes.size
        here = np.flatnonzero(self.groups.sizes)
        near = NearGroups(self.space, self.groups).ring(here, 0, reach, reach)
        g, h = np.repeat(here, near.shape[1]), near.ravel()
        keys = np.unique(np.minimum(g, h) * count + np.maximum(g, h))
        pairs = np.stack([keys // count, keys % count], axis=1)
        rounds, places = [], self.groups.values[:, 0]
        for block in (self.block, *(blocks(places, turn) for turn in self.pace.again)):
            first, second = block[pairs[:, 0]], block[pairs[:, 1]]
            parts = (pairs[(first == b) & (second == b)] for b in range(BLOCKS))
            rounds.append([np.ascontiguousarray(part) for part in parts])
            pairs = pairs[first != second]
        return [*rounds, [np.ascontiguousarray(pairs)]]


def violations(relations: Relations, groups: GroupState) -> int:
    """Count the members with more proximate members than their group's bound allows."""
    member = np.arange(groups.rows.shape[1]) < groups.sizes[:, None]
    over = np.zeros_like(member)
    for r in range(relations.forms.size):
        over |= groups.counts[:, r] > relations.bounds[r, groups.sizes][:, None]
    return int((over & member).sum())
