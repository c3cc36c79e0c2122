"""Top-down splitting by the measure itself, for requirements that no quick check of a half serves.

All buckets of one depth are cut at once, each at the median of the column that is next in its own
order (a node of a hierarchy first between its children), and the requirements are measured on the
halves of all of them together; a cut stands where both halves hold. A principle that does not
survive the union of groups may fail on a half that could still be divided, so more may be possible
than is found.

A half also holds where the parts do into which its sorted values are dealt in turn, as many as
its longest run of near values (EM Theorem 1): that is how proximity, which a large bucket seldom
keeps as a whole, goes together with principles about the distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.distances.relation import Band
from shoal.errors import NotAchievable
from shoal.exact import at_most
from shoal.principles.groups import Groups
from shoal.release.boxes import Standing, apart, between_children
from shoal.release.cover import certainty

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.methods.base import Task
    from shoal.table.sensitive import Sensitive

TIE = 1e-9  # what rounding alone tells apart counts as equal


@dataclass(frozen=True, eq=False)
class Piles:
    """The buckets found so far: of the rows, and of the persons whom a bucket still matches."""

    labels: NDArray[np.int64]
    at: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Joining:
    """One task, and whether the column is cut that is widest or whose halves lose least."""

    task: Task
    widest: bool

    def run(self) -> Groups:
        """Cut until no cut leaves two halves that hold."""
        buckets = self.whole()
        kept, _ = self.judge(buckets)
        if not kept.all():
            raise self.refusal()
        open_buckets = np.zeros(1, np.int64)
        while len(open_buckets):
            before = int(buckets.labels.max()) + 1
            buckets, cut = self.cut(buckets, open_buckets)
            open_buckets = np.concatenate([cut, np.arange(before, before + len(cut))])
            left = np.isin(buckets.labels, open_buckets).mean()
            self.task.progress("search", 1 - float(left))
        _, labels = self.judge(buckets)
        return Groups.of(labels)

    def whole(self) -> Piles:
        """Return the whole table as one bucket, and the persons whom it matches."""
        labels = np.zeros(len(self.task.coded), np.int64)
        at = np.zeros(len(self.places), np.int64)
        if self.standing is not None and len(at):
            at[~self.standing.inside(Groups(labels), at)] = -1
        return Piles(labels, at)

    def cut(
        self, buckets: Piles, open_buckets: NDArray[np.int64]
    ) -> tuple[Piles, NDArray[np.int64]]:
        """Cut each open bucket once where it can be; the upper halves get new numbers in order."""
        first_new = int(buckets.labels.max()) + 1
        cuts, scores = self.candidates(buckets, open_buckets)
        done: list[NDArray[np.int64]] = []
        waiting = np.arange(len(open_buckets))
        for _ in self.owners:
            least = scores.min(axis=1)
            waiting = waiting[np.isfinite(least[waiting])]
            if not len(waiting):
                break
            best = np.argmax(scores <= least[:, None] + TIE, axis=1)[waiting]
            scores[waiting, best] = np.inf
            column, places = self.owners[best], cuts[waiting, best]
            base = first_new + sum(map(len, done))
            numbers = open_buckets[waiting]
            tried = self.halved(buckets, numbers, column, places, base)
            kept, _ = self.judge(tried)
            stand = kept[numbers] & kept[base : base + len(numbers)]
            if self.disjoint:
                stand &= self.apart(Groups(tried.labels), numbers, base, column)
            buckets = self.halved(buckets, numbers[stand], column[stand], places[stand], base)
            done.append(numbers[stand])
            waiting = waiting[~stand]
        return buckets, np.concatenate([np.empty(0, np.int64), *done])

    @cached_property
    def disjoint(self) -> bool:
        """Whether descriptions may not overlap."""
        return any(one.principle.disjoint for one in self.task.requirements)

    def apart(
        self, groups: Groups, numbers: NDArray[np.int64], base: int, columns: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return which cuts leave halves whose descriptions do not overlap."""
        found = np.ones(len(numbers), bool)
        upper = base + np.arange(len(numbers))
        for j in np.unique(columns).tolist():
            these = columns == j
            found[these] = apart(self.task.coded, groups, numbers[these], upper[these], j)
        return found

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """The column of each kind of cut: nodes are cut between their children, then at medians."""
        counts = [1 if column.tree is None else 2 for column in self.task.coded.quasi]
        return np.repeat(np.arange(len(counts)), counts)

    def candidates(
        self, buckets: Piles, open_buckets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return where every open bucket may be cut in every column, and how good the cut is.

        The score is the falling NCP of the bucket, or the loss of both halves; infinite where a
        cut would leave one side empty.
        """
        coded = self.task.coded
        groups = Groups(buckets.labels)
        scores = -certainty(coded, groups)[open_buckets][:, self.owners]
        cuts = np.empty(scores.shape, np.int64)
        for place, j in enumerate(self.owners.tolist()):
            column = coded.quasi[j]
            ranks = np.sort(groups.labels * column.distinct + column.codes) % column.distinct
            if column.tree is not None and (place == 0 or self.owners[place - 1] != j):
                found = between_children(column, groups, ranks)
            else:
                found = ranks[groups.starts[:-1] + (groups.sizes - 1) // 2]
            cuts[:, place] = found[open_buckets]
            last = ranks[groups.starts[1:] - 1][open_buckets]
            if not self.widest:
                columns = np.full(len(open_buckets), j)
                base = len(groups)
                halves = self.cut_rows(buckets, open_buckets, columns, cuts[:, place], base)
                scores[:, place] = self.loss_of(halves, open_buckets, base)
            scores[cuts[:, place] == last, place] = np.inf
        return cuts, scores

    def loss_of(
        self, labels: NDArray[np.int64], open_buckets: NDArray[np.int64], base: int
    ) -> NDArray[np.float64]:
        """Return |G| times the sum of NCP, of both halves of every open bucket; some are empty."""
        size = np.bincount(labels, minlength=base + len(open_buckets))
        loss = np.zeros(len(size))
        halves = Groups.of(labels)
        loss[size > 0] = certainty(self.task.coded, halves, promised=True).sum(axis=1)
        loss *= size
        upper = np.arange(base, base + len(open_buckets))
        both: NDArray[np.float64] = loss[open_buckets] + loss[upper]
        return both

    def halved(
        self,
        buckets: Piles,
        numbers: NDArray[np.int64],
        columns: NDArray[np.int64],
        cuts: NDArray[np.int64],
        base: int,
    ) -> Piles:
        """Cut buckets above the given ranks; the upper half of the i-th becomes base + i.

        A person stands at the half on the same side of the cut, where that matches, or else at
        the other one, or nowhere. Nodes of a hierarchy may overlap; then a half may match more
        people than stand at it, and the count is on the safe side.
        """
        labels = self.cut_rows(buckets, numbers, columns, cuts, base)
        at = buckets.at
        if self.standing is not None and len(at):
            groups = Groups(labels)
            whose = np.where(at >= 0, _turns(numbers, base)[at], -1)
            upper = np.where(whose >= 0, base + whose, -1)
            people = np.flatnonzero(whose >= 0)
            beyond = np.zeros(len(at), bool)
            own = self.places[people, columns[whose[people]]]
            beyond[people] = own > self.limits(columns, cuts)[whose[people]]
            first, second = np.where(beyond, upper, at), np.where(beyond, at, upper)
            here = self.standing.inside(groups, first)
            there = self.standing.inside(groups, second)
            at = np.where(here, first, np.where(there, second, -1))
        return Piles(labels, at)

    def limits(self, columns: NDArray[np.int64], cuts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where the last person stands who is on the lower side of each cut."""
        found = 2 * cuts + 1
        for j, column in enumerate(self.task.coded.quasi):
            if column.places is not None:
                found = np.where(
                    columns == j, column.places[np.where(columns == j, cuts, 0)], found
                )
        return found

    def cut_rows(
        self,
        buckets: Piles,
        numbers: NDArray[np.int64],
        columns: NDArray[np.int64],
        cuts: NDArray[np.int64],
        base: int,
    ) -> NDArray[np.int64]:
        """Return the labels of rows after the cuts of `halved`."""
        mine = _turns(numbers, base)[buckets.labels]
        rows = np.flatnonzero(mine >= 0)
        ranks = self.task.coded.space.ranks[rows, columns[mine[rows]]]
        above = rows[ranks > cuts[mine[rows]]]
        labels = buckets.labels.copy()
        labels[above] = base + mine[above]
        return labels

    @cached_property
    def standing(self) -> Standing | None:
        """The persons of the population, None where there is none."""
        known = self.task.population
        return None if known is None else Standing(known, self.task.coded)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Where the persons of the population stand, nobody where there is none."""
        return np.empty((0, 0), np.int64) if self.standing is None else self.standing.places

    def judge(self, buckets: Piles) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Return which buckets hold, whole or dealt, and the groups that they become."""
        groups = self.with_people(buckets)
        breached = self.breaches(groups)
        if self.dealing is None or not breached.any():
            return ~breached, buckets.labels
        band, value = self.dealing
        labels = deal(groups, value, band, breached)
        parts = Groups(labels)
        wrong = self.breaches(parts)[labels] & breached[groups.labels]
        failed = np.bincount(groups.labels[wrong], minlength=len(groups)) > 0
        return ~failed, labels

    def with_people(self, buckets: Piles) -> Groups:
        """Return the buckets as groups, with how many persons each of them matches."""
        if self.task.population is None:
            return Groups(buckets.labels)
        count = int(buckets.labels.max()) + 1
        matched = np.bincount(buckets.at[buckets.at >= 0], minlength=count)
        return Groups(buckets.labels, matched.astype(np.int64))

    def breaches(self, groups: Groups) -> NDArray[np.bool_]:
        """Return which groups break any requirement."""
        wrong = np.zeros(len(groups), bool)
        for measured in self.task.measure(groups):
            wrong |= measured.breaches
        return wrong

    @cached_property
    def dealing(self) -> tuple[Band, Sensitive] | None:
        """How buckets may be dealt: by the bands of proximity, where all are on one value.

        Dealt parts overlap, and whom each of them matches is not followed, so nothing is dealt
        where a population is at stake.
        """
        pairs = [
            (near.relation(value), value) for near, value in self.task.pairs if not near.monotone
        ]
        bands = [relation for relation, _ in pairs if isinstance(relation, Band)]
        names = {tuple(column.name for column in value.columns) for _, value in pairs}
        if any(value.several for _, value in pairs):
            return None
        if self.task.population is not None or len(names) != 1 or len(bands) < len(pairs):
            return None
        band = Band(
            np.minimum.reduce([band.first for band in bands]),
            np.maximum.reduce([band.last for band in bands]),
        )
        return band, pairs[0][1]

    def refusal(self) -> NotAchievable:
        """Say which requirement the whole table, where splitting begins, does not keep."""
        measured = self.task.measure(self.with_people(self.whole()))
        failing = [
            f"{one.principle!r} (risk {at_most(found.risk)}, allowed {at_most(found.bound)})"
            for one, found in zip(self.task.requirements, measured, strict=True)
            if not found.holds
        ]
        required = " and ".join(repr(one.principle) for one in self.task.requirements)
        msg = (
            f"The search found no grouping of these {len(self.task.coded)} "
            f"{self.task.coded.whom} that meets {required}. It begins with the whole table, "
            f"which does not meet {' and '.join(failing)}. Require less of it."
        )
        return NotAchievable(msg)


def deal(
    groups: Groups, value: Sensitive, band: Band, breached: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Deal the sorted values of breached groups in turn into as many parts as the longest run."""
    from shoal.kernels.windows import longest_runs

    runs = np.empty(len(groups), np.int64)
    longest_runs(groups.sorted_codes(value), groups.starts, band.reach, runs)
    parts = np.where(breached, runs, 1)
    order = np.lexsort((value.codes, groups.labels))
    turn = np.empty(len(order), np.int64)
    turn[order] = np.arange(len(order)) - groups.starts[:-1][groups.labels[order]]
    first = np.concatenate([[0], np.cumsum(parts)[:-1]])
    return first[groups.labels] + turn % parts[groups.labels]


def _turns(numbers: NDArray[np.int64], base: int) -> NDArray[np.int64]:
    """Return the place of each bucket in `numbers`, -1 where it has none."""
    turns = np.full(base, -1, np.int64)
    turns[numbers] = np.arange(len(numbers))
    return turns
