"""Pairs of little cost among many, as many pairs as can be found.

The cheapest assignment of everyone to another is at most as dear as the cheapest pairing, twice
over. Most of it are pairs already. Its longer cycles are cut into pairs where that costs least; an
odd one leaves somebody alone. Those are led to each other along chains of pairs that change
partners (trees of alternating paths that meet), and at last two pairs exchange partners while that
costs less.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from shoal.methods.assignments import assignments

if TYPE_CHECKING:
    from numpy.typing import NDArray

PRICE_BITS = 58  # the assignment moves prices by about n² times the largest cost
ALONE = 4  # times the dearest pair is what staying alone costs
PASSES = 20  # over all pairs, at most
LEAST = 1e-12  # what an exchange has to gain


class Pairing:
    """Who may be paired with whom at what cost, and who is."""

    def __init__(
        self,
        count: int,
        one: NDArray[np.int64],
        other: NDArray[np.int64],
        cost: NDArray[np.float64],
    ) -> None:
        self.arcs = one, other, cost
        self.partner = [-1] * count
        self.cost: list[dict[int, float]] = [{} for _ in range(count)]
        for a, b, c in zip(one.tolist(), other.tolist(), cost.tolist(), strict=True):
            self.cost[a][b] = self.cost[b][a] = c

    def run(self) -> NDArray[np.int64]:
        """Return the partner of each, -1 for who stays alone."""
        if len(self.arcs[0]):
            for cycle in _cycles(self._assign()):
                self._cut(cycle)
            while self._lead():
                pass
            self._exchange()
        return np.array(self.partner, np.int64)

    def _assign(self) -> list[int]:
        """Return for each another one, all different, so that the sum of costs is least."""
        one, other, cost = self.arcs
        everyone = np.arange(len(self.partner))
        top = max(float(np.abs(cost).max()), LEAST)
        scale = 2 ** min(PRICE_BITS - 2 * len(everyone).bit_length(), 30)
        whole = np.round(cost / top * scale).astype(np.int64)
        alone = np.full(len(everyone), ALONE * scale)
        solver = assignments("Joining groups").SimpleLinearSumAssignment()
        solver.add_arcs_with_cost(
            np.concatenate([one, other, everyone]),
            np.concatenate([other, one, everyone]),
            np.concatenate([whole, whole, alone]),
        )
        status = solver.solve()
        assert status == solver.OPTIMAL
        return [solver.right_mate(i) for i in everyone.tolist()]

    def _join(self, a: int, b: int) -> None:
        self.partner[a], self.partner[b] = b, a

    def _cut(self, cycle: list[int]) -> None:
        """Pair the members of a cycle with their neighbours in it, the cheapest way round."""
        length = len(cycle)
        turns = range(length if length % 2 else min(length, 2))

        def pairs(turn: int) -> list[tuple[int, int]]:
            turned = cycle[turn:] + cycle[:turn]
            return list(zip(turned[: length // 2 * 2 : 2], turned[1::2], strict=True))

        if length > 1:
            best = min(map(pairs, turns), key=lambda some: sum(self.cost[a][b] for a, b in some))
            for a, b in best:
                self._join(a, b)

    def _lead(self) -> bool:
        """Lead those who are alone to each other; return whether any were."""
        before, source = self._grow()
        meetings = []
        one, other, cost = self.arcs
        for a, b, c in zip(one.tolist(), other.tolist(), cost.tolist(), strict=True):
            if a in source and b in source and source[a][1] != source[b][1]:
                meetings.append((source[a][0] + c + source[b][0], a, b))
        done: set[int] = set()
        for _, a, b in sorted(meetings):
            ends = {source[a][1], source[b][1]}
            if done & ends:
                continue
            done |= ends
            for here in (a, b):
                self._free(here, before)
            self._join(a, b)
        return bool(done)

    def _grow(self) -> tuple[dict[int, int], dict[int, tuple[float, int]]]:
        """Grow trees from all who are alone: whoever is reached leaves a partner, who goes on.

        Return for each who could be left so the one to whom the partner would go, and what that
        costs with who would be alone no more.
        """
        before: dict[int, int] = {}
        source: dict[int, tuple[float, int]] = {}
        reached: set[int] = set()
        heap = [(0.0, a, -1, a, a) for a, b in enumerate(self.partner) if b < 0]
        while heap:
            spent, here, through, came, begin = heappop(heap)
            if here in reached or through in reached:
                continue
            reached |= {here, through} - {-1}
            source[here] = spent, begin
            if through >= 0:
                before[here] = came
            for there, cost in self.cost[here].items():
                freed = self.partner[there]
                if freed >= 0 and there not in reached and freed not in reached:
                    more = spent + max(cost - self.cost[there][freed], 0.0)
                    heappush(heap, (more, freed, there, here, begin))
        return before, source

    def _free(self, here: int, before: dict[int, int]) -> None:
        """Leave somebody alone: the partner goes to the one before, and so on to the root."""
        mate = self.partner[here]
        while here in before:
            there = before[here]
            left = self.partner[there]
            self._join(mate, there)
            here, mate = there, left

    def _exchange(self) -> None:
        """Let two pairs exchange partners while that costs less."""
        for _ in range(PASSES):
            better = sum(self._better(a) for a in range(len(self.partner)))
            if not better:
                return

    def _better(self, a: int) -> bool:
        b = self.partner[a]
        if b < 0:
            return False
        for c, cost in self.cost[a].items():
            d = self.partner[c]
            if c == b or d < 0 or d not in self.cost[b]:
                continue
            if cost + self.cost[b][d] < self.cost[a][b] + self.cost[c][d] - LEAST:
                self._join(a, c)
                self._join(b, d)
                return True
        return False


def _cycles(following: list[int]) -> list[list[int]]:
    """Return the cycles of a permutation."""
    seen = [False] * len(following)
    cycles = []
    for begin in range(len(following)):
        cycle, here = [], begin
        while not seen[here]:
            seen[here] = True
            cycle.append(here)
            here = following[here]
        if cycle:
            cycles.append(cycle)
    return cycles
