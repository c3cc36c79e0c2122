"""What is left of the time is spent on annealed exchanges, as long as they pay.

Exchanges that only ever lose less end where no single one does. Annealing takes losses on loan,
more while it is hot, and keeps every bound on the way (`kernels/exchange/anneal.py`). Heat falls
with the time that is left, or with a number of steps for each row, whichever is sooner, from a
share of what a group loses to almost nothing. The best state of all ends of rounds is kept.

Groups are exchanged side by side in slabs of one quasi column, another one at each turn, so that
none is at a border for long.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from shoal.kernels.exchange.anneal import anneal
from shoal.kernels.exchange.state import make_groups, refresh_each, total_loss
from shoal.methods.passes import nearest_rows
from shoal.progress import Better, Enough, Progress, in_threads, never, untold

if TYPE_CHECKING:
    from shoal.kernels.compiling import Ints, LongInts, Reals
    from shoal.kernels.exchange.loss import LossSpace
    from shoal.kernels.relations import Relations

REACH = 24  # rows near each row that it may be exchanged with
SLABS = 8
LEAST = 32  # groups of a slab, at least
HOT, COLD = 0.2, 0.015  # heat at both ends of a round, in what a group loses on average
COOLER = 0.5  # the heat at which a round begins, as a share of that of the one before
MOST = 20_000  # steps for each row, after which a round ends early
FIRST, STEPS = 500, 50_000  # of a slab in one turn: the first ones, and at most
TURN = 0.1  # seconds of a turn, about, where time is short: how soon its end can be heeded
TURNS = 200  # of a round, at least
PAYS = 0.002  # what a round has to gain for another one to follow
PREPARING = 8e-6  # seconds that a row takes before the first step, about


class Annealing:
    """One run over one table from groups that hold; `run` does all.

    Group g starts with the rows `order[cuts[g]:cuts[g + 1]]`.
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
        ends: float,
        progress: Progress,
        enough: Enough = never,
        better: Better = untold,
    ) -> None:
        room = relations.bounds.shape[1] - 1
        self.space, self.relations, self.values = space, relations, values
        self.ends, self.progress, self.enough, self.better = ends, progress, enough, better
        self.groups = make_groups(values, codes, order, cuts, room)
        count = cuts.size - 1
        refresh_each(space, relations, self.groups, np.arange(count), 0)
        self.homes, self.slots = np.empty((2, order.size), np.int64)
        self.homes[order] = np.repeat(np.arange(count), np.diff(cuts))
        self.slots[order] = np.arange(order.size) - cuts[self.homes[order]]
        self.slabs = max(1, min(SLABS, count // LEAST))
        self.chances = [np.array([turn + 1], np.uint64) for turn in range(self.slabs)]
        self.turn = 0
        self.best, self.least = self.homes.copy(), total_loss(self.groups)

    def run(self) -> LongInts:
        """Return the group of each row, in the best state that was found."""
        near = nearest_rows(self.space, self.values, REACH)
        hot = HOT
        while self.least > 0 and time.monotonic() < self.ends and not self.enough():
            before = self.least
            self.round(near, hot)
            self.keep()
            if self.least > (1 - PAYS) * before:
                break
            hot *= COOLER
        return self.best

    def keep(self) -> None:
        """Remember the groups if none before lost less, and tell what the best of all lose."""
        loss = total_loss(self.groups)
        if loss < self.least:
            self.best, self.least = self.homes.copy(), loss
        self.better(self.least / self.values.size)

    def round(self, near: Ints, hot: float) -> None:
        """Cool down once, until the time or the steps of a round are spent."""
        rows, typical = self.homes.size, self.least / self.groups.sizes.size
        most = min(STEPS, max(1, MOST * rows // (TURNS * self.slabs)))
        steps = fewest = min(FIRST, most)
        begun, taken, share = time.monotonic(), 0, 0.0
        while share < 1.0 and not self.enough():
            self.progress("anneal", share)
            self.keep()
            before = time.monotonic()
            self.step(near, steps, hot * (COLD / hot) ** share * typical)
            taken += steps * self.slabs
            short = time.monotonic() - before < max(TURN, (self.ends - begun) / TURNS)
            steps = min(2 * steps, most) if short else max(steps // 2, fewest)
            spent = (time.monotonic() - begun) / max(self.ends - begun, 1e-9)
            share = max(spent, taken / (MOST * rows))

    def step(self, near: Ints, steps: int, heat: float) -> None:
        """Exchange at one heat, in all slabs side by side."""
        groups, count = self.groups, self.groups.sizes.size
        self.turn += 1
        column = self.turn % self.values.shape[1]
        along = np.argsort(groups.values[:, 0, column], kind="stable")
        shift = self.turn * 7919 % count  # a prime, so that borders come to lie everywhere
        slab = np.empty(count, np.int64)
        slab[along] = (np.arange(count) + shift) % count * self.slabs // count

        def work(own: int) -> None:
            mine = np.flatnonzero(slab == own)
            anneal(
                self.space,
                self.relations,
                groups,
                self.homes,
                self.slots,
                near,
                mine,
                slab,
                steps,
                heat,
                self.chances[own],
                self.turn,
            )

        in_threads([partial(work, own) for own in range(self.slabs)], lambda: None)
