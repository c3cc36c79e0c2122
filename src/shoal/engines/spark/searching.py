"""The search of all shards, each by a worker, as whoever drives it sees it.

Leaves are searched each by itself, until one cannot hold what is required. Such a shard is joined
to the smallest one beside it; where that does not help either, everything under the next node above
becomes one shard. So a table that can hold what is required as a whole is always published. A
method that may not look at values to join people has no such way: a shard that cannot hold ends it.

What may be left out is a share of the whole table. Each shard may leave out its part of it. One
that cannot hold, with no other beside it because its rows are never mixed with others, gets what
all others left over, for rows that are in the way, or is left out whole; and where that is not
enough, others keep those rows that they left out to lose less.
"""

from __future__ import annotations

import secrets
import shutil
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.engines.spark.cuts import LEAF
from shoal.engines.spark.shard import assign, pack, search
from shoal.engines.spark.work import (
    BEYOND,
    BLOB,
    FILE,
    NUMBER,
    PACKED,
    ROW,
    SHARD,
    Errand,
    ShardFound,
    broadcast,
    unpickled,
)
from shoal.errors import NotAchievable, UsageError, option
from shoal.release.layout import Suppression

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from shoal.engines.spark.cuts import Cuts, Forest
    from shoal.engines.spark.scan import Scan
    from shoal.engines.spark.work import Work
    from shoal.methods.base import Method


@dataclass(eq=False)
class _Shard:
    units: set[int]
    node: int  # that all of its units are under
    joined: bool = False
    found: ShardFound | None = None
    waits: bool = True
    spared: int | None = None  # how many may go where they are in the way, instead of its part

    @property
    def members(self) -> int:
        return 0 if self.found is None else self.found.members

    @property
    def gone(self) -> int:
        suppression = None if self.found is None else self.found.suppression
        return 0 if suppression is None else suppression.people

    @property
    def costly(self) -> int:
        suppression = None if self.found is None else self.found.suppression
        return 0 if suppression is None else suppression.costly

    @property
    def stuck(self) -> bool:
        return not self.waits and self.found is not None and self.found.problem is not None


class ShardJoining:
    """The shards of a table, and what was found in each; a unit is a leaf, or a part of one.

    `share` of the table may be left out: of its people, where rows are about `people`. Shards are
    joined only if the method may join people because of their values.
    """

    def __init__(
        self,
        cuts: Cuts,
        share: Fraction = Fraction(0),
        *,
        people: bool = False,
        method: Method | None = None,
    ) -> None:
        self.cuts = cuts
        self.share = share
        self.people = people
        self.method = method
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
        return [number for number, shard in self.shards.items() if shard.waits]

    def spared(self, waiting: list[int]) -> dict[int, Fraction]:
        """Return which share of some shards may go, just where it is in the way."""
        given = {number: self.shards[number] for number in waiting}
        return {
            number: min(Fraction(shard.spared, shard.members), Fraction(1))
            for number, shard in given.items()
            if shard.spared is not None
        }

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
        for one in found:
            if one.refused is not None:
                raise UsageError(one.refused)
        by_number = {one.shard: one for one in found}
        failed = []
        for number in waiting:
            if number not in by_number:
                del self.shards[number]
                continue
            shard = self.shards[number]
            shard.found, shard.waits = by_number[number], False
            if shard.stuck:
                failed.append(number)
        for number in failed:
            if number in self.shards:
                self._join(number)
        if not self.waiting():
            self._settle()

    def _join(self, number: int) -> None:
        """Join a shard that cannot hold to another, or to all under the next node above."""
        mine = self.shards[number]
        node, beside = self._beside(number)
        if beside and self.method is not None and not self.method.chooses_rows:
            assert mine.found is not None
            msg = (
                f"{mine.found.problem} {self.method!r} does not join parts of a table by their "
                "values: that would reveal something about the values. Take a larger shard, "
                f"for example Spark(shard={2 * mine.found.rows}), or Local()."
            )
            raise NotAchievable(msg)
        if not beside:
            if not self.share:
                assert mine.found is not None
                raise NotAchievable(mine.found.problem or "")
            return
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

    # What may be left out

    def _settle(self) -> None:
        """Let shards that are stuck have what others left over, the small ones first."""
        limit = int(sum(one.members for one in self.shards.values()) * self.share)
        kept = [one for one in self.shards.values() if not one.stuck]
        over = [one for one in kept if one.spared is not None and one.spared > self._part(one)]
        left = limit - sum(one.gone for one in kept)
        for one in sorted(over, key=lambda one: -one.gone):
            if left >= 0:
                break
            left += one.gone  # several were given the same
            assert one.found is not None
            one.found = _failed(one.found)
        stuck = sorted((one for one in self.shards.values() if one.stuck), key=_by_members)
        if not stuck:
            return
        for one in stuck:
            if (self._part(one) if one.spared is None else one.spared) < left:
                one.spared, one.waits = left, True
            elif one.members <= left:
                left -= one.members
                assert one.found is not None
                one.found = self._without(one.found)
        stuck = [one for one in stuck if one.stuck]
        if stuck and not self.waiting():
            self._save(stuck[0], limit)
        if not self.waiting() and not any(one.published for one in self.found()):
            msg = (
                "Not achievable: none of the parts that are kept apart meets the requirement by "
                "itself. Keep fewer columns apart, or require less."
            )
            raise NotAchievable(msg)

    def _save(self, stuck: _Shard, limit: int) -> None:
        """Search again, without need leaving out none, what left out rows to lose less."""
        costly = [one for one in self.shards.values() if one.costly]
        if not costly:
            assert stuck.found is not None
            reason = stuck.found.problem
            msg = f"{reason} {option('suppress')} allows {limit:,} of the whole table."
            raise NotAchievable(msg)
        for one in costly:
            one.spared, one.waits = self._part(one), True

    def _part(self, shard: _Shard) -> int:
        """Return how many a shard may leave out as its part of what the whole table may."""
        return int(shard.members * self.share)

    def _without(self, found: ShardFound) -> ShardFound:
        """Return a shard that is left out whole."""
        rows = found.rows if self.people else None
        gone = Suppression(in_the_way=found.members, of_people=rows)
        return ShardFound(found.shard, found.rows, found.members, suppression=gone)

    def found(self) -> list[ShardFound]:
        """Return what was found in all shards."""
        return [shard.found for shard in self.shards.values() if shard.found is not None]


def _by_members(shard: _Shard) -> int:
    return shard.members


def _failed(found: ShardFound) -> ShardFound:
    """Return a shard that would leave out more than is left."""
    gone = 0 if found.suppression is None else found.suppression.people
    problem = (
        "Not achievable: for some values of the columns that are never mixed there are too few "
        f"rows. Shoal would have to remove {gone:,} of {found.members:,} there."
    )
    return ShardFound(found.shard, found.rows, found.members, problem=problem)


def search_shards(work: Work, scan: Scan, forest: Forest) -> list[ShardFound]:
    """Search every shard; one that cannot hold is joined to a sibling, and searched again."""
    place = work.place / "found"
    place.mkdir()
    people = bool(scan.carried.persons)
    joining = ShardJoining(forest.cuts, work.share, people=people, method=forest.method)
    keys = (secrets.token_bytes(32), secrets.token_bytes(32))
    with work.phase("search"):
        while waiting := joining.waiting():
            errand = Errand(
                domains=scan.domains,
                carried=scan.carried,
                cuts=forest.cuts,
                roots=forest.roots,
                first=joining.first,
                shard=joining.numbers(waiting),
                requirements=work.requirements,
                method=forest.method,
                share=work.share,
                spared=joining.spared(waiting),
                form=work.form,
                threads=work.engine.threads,
                place=str(place),
                parts=work.parts(scan.rows),
                keys=keys,
            )
            joining.take(_search(work, scan, errand, waiting), waiting)
            work.progress("search", joining.done)
    found = joining.found()
    shutil.rmtree(work.place / "rows", ignore_errors=True)
    return found


def _search(work: Work, scan: Scan, errand: Errand, waiting: list[int]) -> list[ShardFound]:
    """Search some shards, each by one worker, which gets its rows in the order of the table."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
    from pyspark.sql.types import IntegerType, StructField, StructType
    from pyspark.sql.window import Window

    ordered = len(waiting) == 1
    people = bool(scan.carried.persons)
    numbers = errand.shard
    if people:
        errand = replace(errand, shard=np.arange(len(numbers)))
    known = broadcast(work.session, errand)
    first = min(waiting)
    raw = [scan.carried.raw(at) for at in range(len(scan.carried.names))]
    beside = [FILE, ROW] if ordered else []
    beside += [BEYOND] if scan.capped else []
    frame = scan.frame.select(*raw, *beside)
    kinds = {one.name: one for one in frame.schema}
    schema = StructType(
        [
            StructField(SHARD, IntegerType()),
            *(StructField(name, IntegerType()) for name in raw[: len(scan.carried.known)]),
            *(kinds[name] for name in (*scan.carried.kept, *beside)),
        ]
    )

    def on_rows(batches: Iterable[Any]) -> Iterator[Any]:
        found = assign(unpickled(known.value), batches)
        return found if people else pack(found)

    def on_shard(batches: Iterable[Any]) -> Iterator[Any]:
        return search(unpickled(known.value), batches, ordered=ordered)

    rows = frame.mapInArrow(on_rows, schema if people else PACKED)
    if people:  # all rows of a person are where the first of them is, searched by now or not
        by = Window.partitionBy(scan.carried.kept[-1])
        shards = F.array(*(F.lit(int(number)) for number in numbers))
        rows = rows.withColumn(SHARD, F.element_at(shards, F.min(SHARD).over(by) + 1))
        rows = rows.filter(F.col(SHARD) >= 0).mapInArrow(pack, PACKED)
    rows = rows.repartitionById(max(waiting) - first + 1, F.col(NUMBER) - first)
    try:
        found = rows.mapInArrow(on_shard, f"{BLOB} binary").collect()
        return [unpickled(row[0]) for row in found]
    finally:
        known.unpersist()
