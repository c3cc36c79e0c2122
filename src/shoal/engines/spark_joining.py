"""Which leaves are searched together: each by itself, until one cannot hold what is required.

Such a shard is joined to the smallest one beside it; where that does not help either, everything
under the next node above becomes one shard. So a table that can hold what is required as a whole is
always published.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.engines.spark_cuts import LEAF
from shoal.errors import NotAchievable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.engines.spark_cuts import Cuts
    from shoal.engines.spark_shard import ShardFound


@dataclass(eq=False)
class _Shard:
    units: set[int]
    node: int  # that all of its units are under
    joined: bool = False
    found: ShardFound | None = None


class ShardJoining:
    """The shards of a table, and what was found in each; a unit is a leaf, or a part of one."""

    def __init__(self, cuts: Cuts) -> None:
        self.cuts = cuts
        sizes = [
            dealt if column == LEAF else 0
            for column, dealt in zip(cuts.column, cuts.dealt, strict=True)
        ]
        self.first: NDArray[np.int64] = np.concatenate([[0], np.cumsum(sizes)])[:-1]
        self.units = int(sum(sizes))
        self.shards: dict[int, _Shard] = {}
        for leaf, size in enumerate(sizes):
            for unit in range(int(self.first[leaf]), int(self.first[leaf]) + size):
                self.shards[unit] = _Shard({unit}, leaf)
        self.next = self.units

    def waiting(self) -> list[int]:
        """Return the numbers of the shards that are still to be searched."""
        return [number for number, shard in self.shards.items() if shard.found is None]

    def numbers(self, waiting: list[int]) -> NDArray[np.int64]:
        """Return the shard of each unit, -1 where it is searched already."""
        numbers = np.full(self.units, -1, np.int64)
        for number in waiting:
            numbers[list(self.shards[number].units)] = number
        return numbers

    @property
    def done(self) -> float:
        """Which share of the shards is searched."""
        return 1 - len(self.waiting()) / max(len(self.shards), 1)

    def take(self, found: list[ShardFound], waiting: list[int]) -> None:
        """Take what was found in shards; those without rows are none, and others are joined."""
        by_number = {one.shard: one for one in found}
        failed = []
        for number in waiting:
            if number not in by_number:
                del self.shards[number]
                continue
            self.shards[number].found = by_number[number]
            if by_number[number].problem is not None:
                failed.append(number)
        for number in failed:
            if number in self.shards:
                self._join(number)

    def _join(self, number: int) -> None:
        """Join a shard that cannot hold to another, or to all under the next node above."""
        mine = self.shards[number]
        node, beside = self._beside(number)
        if not beside:
            assert mine.found is not None
            raise NotAchievable(mine.found.problem or "")
        chosen = beside if mine.joined else [min(beside, key=self._size)]
        units = set(mine.units)
        for other in chosen:
            units |= self.shards.pop(other).units
        del self.shards[number]
        self.shards[self.next] = _Shard(units, node, joined=True)
        self.next += 1

    def _beside(self, number: int) -> tuple[int, list[int]]:
        """Return the next node above a shard under which there are others, and these."""
        mine = self.shards[number]
        node = mine.node
        while node != LEAF:
            under = {
                unit
                for leaf in self.cuts.leaves(node)
                for unit in range(self._begin(leaf), self._begin(leaf) + self.cuts.dealt[leaf])
            }
            others = [
                one
                for one, shard in self.shards.items()
                if one != number and not shard.units.isdisjoint(under)
            ]
            if others:
                return node, others
            node = self.cuts.parent[node]
        return mine.node, []

    def _begin(self, leaf: int) -> int:
        return int(self.first[leaf])

    def _size(self, number: int) -> int:
        found = self.shards[number].found
        return 0 if found is None else found.rows

    def found(self) -> list[ShardFound]:
        """Return what was found in all shards."""
        return [shard.found for shard in self.shards.values() if shard.found is not None]
