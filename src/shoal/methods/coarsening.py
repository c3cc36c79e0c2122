"""Joining the groups of a release into larger ones, for a second and coarser release.

A union has to keep what the finer groups keep, because not every principle survives the union of
groups: {40, 60} and {50, 80} keep EpsilonM(15, 2), and {40, 50, 60, 80} does not. So every union is
measured before it stands. In each round the groups that lack something are paired with groups near
to them, the unions that lose least first; pairs are then exchanged while that loses less.

Where people have several rows, people are measured, and those of a union have equally many rows.

Pairs of little cost are found among many, as many pairs as can be. The cheapest assignment of
everyone to another is at most as dear as the cheapest pairing, twice over. Most of it are pairs
already. Its longer cycles are cut into pairs where that costs least; an odd one leaves somebody
alone. Those are led to each other along chains of pairs that change partners (trees of alternating
paths that meet), and at last two pairs exchange partners while that costs less.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import NotAchievable
from shoal.methods.freeform.exact import assignments
from shoal.principles.groups import Groups
from shoal.release.cover import Cover
from shoal.table.coded import coordinates
from shoal.table.partition import renumber
from shoal.table.people import by_people, gathered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.methods.base import Task
    from shoal.principles.groups import Measurement
    from shoal.table.sensitive import Sensitive


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


NEAR = 40  # groups that a group may be joined with at first
ROWS = 2**21  # rows of unions that are measured together


@dataclass(frozen=True, eq=False)
class Coarsening:
    """Groups that hold something, and a task that asks for more of their unions.

    The first `kept` requirements of the task are those that the groups keep. Groups of different
    `kinds` are never joined.
    """

    task: Task
    kept: int
    groups: Groups
    kinds: NDArray[np.int64]

    @cached_property
    def members(self) -> Task:
        """What is measured: rows, or people where these have several."""
        coded = self.task.coded
        if len(coded.person_of) == len(coded):
            return self.task
        return replace(self.task, coded=by_people(coded))

    def of_members(self, groups: Groups) -> Groups:
        """Return groups of rows as groups of what is measured."""
        if self.members is self.task:
            return groups
        return Groups(self.task.coded.person_of.of_part(groups.labels))

    def run(self) -> Groups:
        """Join groups until everything holds in all of them, or raise."""
        owner = np.arange(len(self.groups))
        near, first = NEAR, None
        while True:
            now = Now(self, Groups.of(owner[self.groups.labels]))
            first = first or max(int(now.lacking.sum()), 1)
            self.task.progress("search", 1 - float(now.lacking.sum()) / first)
            if not now.lacking.any():
                return now.groups
            joined = now.join(near)
            if joined is None and near >= len(now.groups):
                raise self.refusal(now)
            near = NEAR if joined is not None else near * 8
            if joined is not None:
                owner = joined[now.whose]

    def _together(self, now: Now) -> str:
        """Say at which level all groups together hold, where rows are counted."""
        if self.task.coded.person_of.given:
            return ""
        asked = zip(self.task.requirements, self.task.values, strict=True)
        found = [one.principle.strongest(now.groups, value) for one, value in asked]
        levels = " and ".join(repr(one) for one in found if one is not None)
        return f" They hold {levels}." if levels else ""

    def refusal(self, now: Now) -> NotAchievable:
        """Say that some groups can be joined with none."""
        required = " and ".join(repr(one) for one in self.task.requirements)
        count = int(now.lacking.sum())
        if len(now.groups) == 1:
            msg = f"Even all groups joined into one do not meet {required}.{self._together(now)}"
            return NotAchievable(f"{msg} Require less.")
        msg = (
            f"{count:,} of the {len(now.groups):,} groups do not meet the requirement, and "
            f"joining them with any other group does not help: {required}. Require less, or "
            "make the coarser release from the table and publish no other."
        )
        return NotAchievable(msg)


@dataclass(frozen=True, eq=False)
class Now:
    """The groups as they are joined so far."""

    asked: Coarsening
    groups: Groups

    @cached_property
    def whose(self) -> NDArray[np.int64]:
        """The present group of each group there was at first."""
        return self.asked.groups.of_part(self.groups.labels)

    @cached_property
    def kinds(self) -> NDArray[np.int64]:
        """The kind of each group."""
        kinds = np.empty(len(self.groups), np.int64)
        kinds[self.whose] = self.asked.kinds
        return kinds

    @cached_property
    def lacking(self) -> NDArray[np.bool_]:
        """Which groups lack something."""
        return _breached(self.asked.members.measure(self.members))

    @cached_property
    def members(self) -> Groups:
        """The groups of what is measured."""
        return self.asked.of_members(self.groups)

    @cached_property
    def covered(self) -> list[Cover]:
        """What each group covers of every column."""
        return [Cover.of(column, self.groups) for column in self.asked.task.coded.quasi]

    @cached_property
    def loss(self) -> NDArray[np.float64]:
        """The loss of each group by itself, rows times the sum of NCP."""
        every = np.arange(len(self.groups))
        return self.loss_of(every, every) / 2

    def loss_of(self, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the loss of unions, rows times the sum of NCP, weighted as the search is."""
        coded = self.asked.task.coded
        found = np.zeros(len(one))
        for j, covered in enumerate(self.covered):
            found += covered.union(one, other).cost(coded.space, j)
        return found * (self.groups.sizes[one] + self.groups.sizes[other])

    def join(self, near: int) -> NDArray[np.int64] | None:
        """Pair groups that lack something; return the new group of each, None where none can be."""
        one, other = self.candidates(near)
        if not len(one):
            return None
        cost = self.loss_of(one, other) - self.loss[one] - self.loss[other]
        keeps, holds = self.judge(one, other)
        partner = np.full(len(self.groups), -1, np.int64)
        for chosen in (holds, keeps & ~holds):
            free = chosen & (partner[one] < 0) & (partner[other] < 0)
            found = Pairing(len(self.groups), one[free], other[free], cost[free]).run()
            partner = np.where(found < 0, partner, found)
        if (partner < 0).all():
            return None
        everyone = np.arange(len(partner))
        return renumber(np.where(partner < 0, everyone, np.minimum(partner, everyone)))

    def candidates(self, near: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return pairs of groups near each other, one of which lacks something at least."""
        from shoal.methods.passes import Neighbours

        seekers = np.flatnonzero(self.lacking)
        count = min(near, len(self.groups) - 1)
        one = np.repeat(seekers, count)
        other = Neighbours(self.centres()).nearest(seekers, 0, count).reshape(-1)
        apart = self.kinds[one] == self.kinds[other]
        low, high = np.minimum(one, other)[apart], np.maximum(one, other)[apart]
        keys = np.unique(low * len(self.groups) + high)
        return keys // len(self.groups), keys % len(self.groups)

    def centres(self) -> NDArray[np.float64]:
        """Return where groups stand; groups of different kinds stand far apart."""
        coded = self.asked.task.coded
        weights = coded.column_weights
        places = []
        for j, (column, covered) in enumerate(zip(coded.quasi, self.covered, strict=True)):
            along = coordinates(column) * weights[j]
            places.append((along[covered.low] + along[covered.high]) / 2)
        apart = 2.0 * sum(np.ptp(place) for place in places) + 1.0
        return np.column_stack([*places, self.kinds * apart])

    def judge(
        self, one: NDArray[np.int64], other: NDArray[np.int64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which unions keep what their groups keep, and in which everything holds."""
        keeps, holds = np.empty(len(one), bool), np.empty(len(one), bool)
        sizes = self.members.sizes[one] + self.members.sizes[other]
        runs = np.cumsum(sizes) // ROWS
        for run in np.unique(runs):
            part = np.flatnonzero(runs == run)
            measured = self.measure(one[part], other[part])
            keeps[part] = ~_breached(measured[: self.asked.kept])
            holds[part] = keeps[part] & ~_breached(measured[self.asked.kept :])
        return keeps, holds

    def measure(self, one: NDArray[np.int64], other: NDArray[np.int64]) -> list[Measurement]:
        """Measure every requirement on unions, each as a group of its own."""
        groups = self.members
        pairs = np.column_stack([one, other]).ravel()
        sizes = groups.sizes[pairs]
        ends = np.cumsum(sizes)
        within = np.arange(ends[-1]) - np.repeat(ends - sizes, sizes)
        some = groups.order[np.repeat(groups.starts[pairs], sizes) + within]
        unions = Groups(np.repeat(np.arange(len(pairs)) // 2, sizes))
        task = self.asked.members
        return [
            asked.principle.measure(unions, None if value is None else _of_table(value, some))
            for asked, value in zip(task.requirements, task.values, strict=True)
        ]


def _of_table(value: Sensitive, members: NDArray[np.int64]) -> Sensitive:
    """Return the values of some members, who are to be compared with the table of all of them."""
    found = gathered(value, members)
    return found if found.several else replace(found, table=value.codes)


def _breached(measured: list[Measurement]) -> NDArray[np.bool_]:
    found = np.zeros(1, bool)
    for one in measured:
        found = found | one.breaches
    return found
