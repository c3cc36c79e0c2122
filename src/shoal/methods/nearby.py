"""Which groups are near to which, by their centres in quasi space."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree

from shoal.kernels.space import INTERVAL

if TYPE_CHECKING:
    from shoal.kernels.arrays import LongInts
    from shoal.kernels.exchange.loss import Space
    from shoal.kernels.exchange.state import Groups

SAMPLES = 16  # of groups that the thinned-out rings draw from in turn, at least
EACH = 4  # groups in all samples together for each group that asks, where there are as many


class Neighbourhood:
    """The centres of the groups, and which are near to which."""

    def __init__(self, space: Space, groups: Groups) -> None:
        member = np.arange(groups.rows.shape[1]) < groups.sizes[:, None]
        sums = np.einsum("gcd,gc->gd", groups.values, member)
        centres = sums / np.maximum(groups.sizes, 1)[:, None]
        centres *= np.where(space.kinds == INTERVAL, 1.0, space.units)
        # The last coordinate tells groups with one centre apart: the tree would put them all into
        # one leaf and search it in linear time. Emptied groups are put out of reach.
        count = groups.sizes.size
        order = np.arange(count)[:, None] * (1e-6 / count)
        self.points = np.hstack([centres, order])
        self.points[groups.sizes == 0, 0] = 1e9
        self.trees: dict[tuple[int, int], cKDTree] = {}

    def ring(self, which: LongInts, begin: int, end: int, kept: int) -> LongInts:
        """Neighbours number begin + 1 to end of each group, thinned out evenly to about `kept`.

        Groups are numbered along the splits, so every t-th group is an even sample of space, and
        a tree of those alone spares the search for neighbours that would be thrown away. Several
        samples are used in turn, more where more groups ask: with few, all would compete for the
        same partners.
        """
        count = self.points.shape[0]
        step = max(1, (min(end, count) - begin) // kept)
        low, high = begin // step + 2, min(end // step + 1, count // step)
        if high < low:
            return np.empty((which.size, 0), np.int64)
        samples = max(SAMPLES, EACH * which.size // kept)
        shifts = np.unique(np.arange(samples) * step // samples)
        near = np.empty((which.size, high - low + 1), np.int64)
        for turn, shift in enumerate(shifts):
            if (step, shift) not in self.trees:
                self.trees[step, shift] = cKDTree(self.points[shift::step])
            mine = which % shifts.size == turn
            at, ranks = self.points[which[mine]], range(low, high + 1)
            found = self.trees[step, shift].query(at, k=ranks, p=1, workers=-1)[1]
            near[mine] = found * step + shift
        return near
