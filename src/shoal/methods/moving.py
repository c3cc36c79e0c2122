"""Passes of moves that lower the loss of groups that hold, in blocks of groups side by side.

The first passes exchange two rows, the others follow cycles through three groups too
(`kernels/exchange/moves.py`). Blocks are cut anew for every pass, along other columns and at other
places, so that no two groups are kept apart for long; which blocks there are does not depend on the
number of threads, and neither does the result.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from shoal.kernels.exchange.moves import improve
from shoal.kernels.exchange.state import total_loss
from shoal.methods.nearby import nearest_rows, spread

if TYPE_CHECKING:
    from shoal.kernels.compiling import LongInts, Reals
    from shoal.kernels.exchange.loss import LossSpace
    from shoal.kernels.exchange.state import GroupState
    from shoal.kernels.relations import Relations

SWAPS = 2  # passes that only exchange two rows
GAIN = 0.01  # a pass that gains less is the last
FEWEST, MOST = 16, 64  # rows near each row to whose groups it may move
UNBOUND = 24  # and where every row fits into every group
ASKED = 4  # of so many rows near a member, one group is asked to take it at the end of a cycle
LEVELS = 3  # cuts into halves that make the blocks
CUTS = (1 / 2, 1 / 3, 2 / 3)  # where they lie, as shares of what is cut
SMALLEST = 1e-6  # gain of a move, in what a row loses on average: less is rounding


class Moves:
    """Groups that hold, and where their rows are; `run` makes one pass."""

    def __init__(self, space: LossSpace, relations: Relations, groups: GroupState) -> None:
        self.space, self.relations, self.groups = space, relations, groups
        member = np.arange(groups.rows.shape[1]) < groups.sizes[:, None]
        home, slot = np.nonzero(member)
        rows = groups.rows[home, slot]
        values = np.empty((rows.size, groups.values.shape[2]))
        values[rows] = groups.values[home, slot]
        self.homes, self.slots = np.empty((2, rows.size), np.int64)
        self.homes[rows], self.slots[rows] = home, slot
        self.reach = reach_of(relations)
        self.near = nearest_rows(space, values, self.reach)
        self.block = np.zeros(groups.sizes.size, np.int64)
        self.scratch = np.zeros((2**LEVELS, 2, groups.sizes.size + 1), np.int64)
        self.turn = 0
        self.since = 0  # all pairs of groups are looked at that changed from this pass on
        self.pays = True

    def run(self) -> None:
        """Make one pass in all blocks side by side; `pays` says whether to make another one."""
        groups, turn = self.groups, self.turn
        before, self.block = self.block, blocks(groups.values[:, 0], turn)
        loss, now = total_loss(groups), int(groups.stamps.max()) + 1
        order = np.argsort(self.block[self.homes] * groups.sizes.size + self.homes, kind="stable")
        ends = np.searchsorted(self.block[self.homes][order], np.arange(2**LEVELS + 1))

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
                0 if turn < SWAPS else self.reach // ASKED,
                self.since,
                now,
                SMALLEST * loss / self.homes.size,
                *self.scratch[own],
            )

        spread([partial(work, own) for own in range(2**LEVELS)])
        self.turn += 1
        self.since = 0 if self.turn == SWAPS else now
        self.pays = self.turn <= SWAPS or total_loss(groups) < (1 - GAIN) * loss


def reach_of(relations: Relations) -> int:
    """Return how many rows near a row are looked at: more where groups are larger.

    The more members a group has, the fewer rows fit into it, so the more groups have to be asked.
    """
    least = int(relations.least[0])
    return min(MOST, max(FEWEST, least * (least + 2) // 2)) if relations.forms.size else UNBOUND


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
