"""Mondrian: top-down splitting for any principles, above all those that survive unions.

There is another way in where the whole table fails. Cutting needs a whole that holds, or can be
dealt. A mix of requirements may fail on every large bucket, because values that may not meet do,
and hold in small groups all the same. Those are found by exchanges for what is pairwise alone; then
groups in breach of the rest exchange members with near ones, one pair of members at a time, as long
as what they lack gets less.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import NotAchievable, UsageError, option
from shoal.methods.base import Thorough
from shoal.methods.splitting import Rule, Ties, split
from shoal.principles.groups import Groups
from shoal.principles.requirement import check_population

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.methods.base import Task


TIMES = (1, 2, 4, 8)  # the least size, up to which larger groups are tried in turn
ROUNDS = 600  # of exchanges, one for each group in breach
NEAR = 24  # groups in reach of one in breach, in the order of the table cut in halves
PATIENCE = 120  # rounds without gain after which a size is given up
SEED = 1  # which members are tried is drawn, the same ones in every run


def from_small_groups(task: Task) -> Groups | None:
    """Return groups in which everything holds, None where this way does not lead to any."""
    pairs = [one for one in task.requirements if one.principle.pairs]
    if all(one.principle.monotone for one in task.requirements):
        return None  # where the whole fails, so does every way to part it
    if task.population is not None:
        return None  # exchanged members make descriptions overlap
    ends = time.monotonic() + (np.inf if task.seconds is None else task.seconds)
    for times in TIMES:
        size = times * task.least
        if size > len(task.coded):
            break
        from shoal.principles.unasked import of_size

        least = of_size(size)
        part = replace(task, requirements=(*pairs, least), seconds=_left(task, ends))
        try:
            from shoal.methods.exchange import Exchange

            groups = Exchange().find(part)
        except NotAchievable:
            continue
        mended = Mending(task, ends).run(groups)
        if task.holds(mended):
            return mended
        if time.monotonic() > ends:
            break
    return None


def _left(task: Task, ends: float) -> float | None:
    return None if task.seconds is None else max(ends - time.monotonic(), 0.001)


@dataclass(frozen=True, eq=False)
class Mending:
    """Exchanges between groups in breach and near ones, judged by the measure itself."""

    task: Task
    ends: float

    def run(self, groups: Groups) -> Groups:
        """Exchange until everything holds, or nothing has got better for long."""
        random = np.random.default_rng(SEED)
        lacks = self.lacks(groups)
        best, idle = float(lacks.sum()), 0
        order = self.along(groups)
        for _ in range(ROUNDS):
            if best == 0 or idle > PATIENCE or time.monotonic() > self.ends:
                break
            wrong = np.flatnonzero(lacks)
            one, other = partners(random.permutation(wrong), order, random)
            tried = Groups(exchanged(groups, one, other, random))
            after = self.lacks(tried)
            worse = after[one] + after[other] > lacks[one] + lacks[other]
            back = np.concatenate([one[worse], other[worse]])
            undone = np.isin(groups.labels, back)
            groups = Groups(np.where(undone, groups.labels, tried.labels))
            after[back] = lacks[back]
            lacks = after
            idle = 0 if lacks.sum() < best else idle + 1
            best = min(best, float(lacks.sum()))
        return groups

    def lacks(self, groups: Groups) -> NDArray[np.float64]:
        """Return how far each group is from keeping every requirement, 0 where it does.

        A breach counts for 1, and for more the further the risk is over its bound.
        """
        found = np.zeros(len(groups))
        for measured in self.task.measure(groups):
            over = np.minimum(measured.risks - float(measured.bound), 1.0)
            found += np.where(measured.breaches, 1 + np.maximum(over, 0.0), 0.0)
        return found

    def along(self, groups: Groups) -> NDArray[np.int64]:
        """Return the groups in an order in which neighbours are near: by their mean ranks."""
        coded = self.task.coded
        sums = [
            np.bincount(groups.labels, column.codes * (1 / max(column.distinct - 1, 1) * weight))
            for column, weight in zip(coded.quasi, coded.column_weights, strict=True)
        ]
        centres = np.array(sums) / groups.sizes
        widest = np.argsort(-np.ptp(centres, axis=1), kind="stable")
        cells = np.floor(centres[widest] * len(groups) ** (1 / max(len(centres), 1)))
        return np.lexsort(cells[::-1])


def partners(
    wrong: NDArray[np.int64], order: NDArray[np.int64], random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return groups in breach and a near group for each; no group stands in two pairs."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    reach = random.integers(1, NEAR + 1, len(wrong)) * random.choice([-1, 1], len(wrong))
    other = order[(place[wrong] + reach) % len(order)]
    both = np.stack([wrong, other], axis=1).ravel()
    _, first = np.unique(both, return_index=True)
    taken = np.zeros(len(both), bool)
    taken[first] = True
    free = taken.reshape(-1, 2).all(axis=1) & (wrong != other)
    return wrong[free], other[free]


def exchanged(
    groups: Groups,
    one: NDArray[np.int64],
    other: NDArray[np.int64],
    random: np.random.Generator,
) -> NDArray[np.int64]:
    """Return labels in which each pair of groups has exchanged a member."""
    labels = groups.labels.copy()
    leaves, enters = (
        groups.order[groups.starts[side] + random.integers(0, groups.sizes[side])]
        for side in (one, other)
    )
    labels[leaves], labels[enters] = other, one
    return labels


@dataclass(frozen=True, repr=False)
class Mondrian(Thorough):
    """Cut a column at its median while both halves hold.

    Any principles that survive the union of groups will do, also several of them on several
    sensitive values: a half that fails could not be divided into groups that all hold. With them
    may come principles that do not survive it, and those about a population; then halves are
    measured, and more may be possible than is found (`methods/joining.py`). Where the whole
    table fails with those, the search begins with small groups.

    Parameters
    ----------
    split : the column that is cut: "widest", the one of the largest normalized extent (the
        classic), or "least-loss", the one whose halves lose least. The next one is tried where
        that cut leaves a half that does not hold.
    relaxed : whether rows that tie with the median are divided, so that both halves are equally
        large. Then published boxes may overlap, and no group stays large for its ties alone.
        Without it all of them go to the lower half.

    References
    ----------
    LeFevre, DeWitt, Ramakrishnan: Mondrian Multidimensional K-Anonymity. ICDE 2006. Sections 2.1
    (strict), 2.2 (relaxed) and 4.
    """

    split: str = "widest"
    relaxed: bool = False

    source = "LeFevre, DeWitt, Ramakrishnan, ICDE 2006"
    page = ("By halving", "The classic method: halves the table at its medians.")

    def check(self, task: Task) -> None:
        """Raise where another method serves all that is required, or none can."""
        if task.draws_regions and self.relaxed:
            msg = (
                f"{self!r} divides rows with equal values, and regions cannot: between two of them "
                f"there is no place for a cut. Use {replace(self, relaxed=False)!r}."
            )
            raise UsageError(msg)
        if task.draws_regions:
            return  # every cut is measured, whatever is required
        if quick(task):
            Rule.of_demands(task, repr(self))
            return
        principles = [one.principle for one in task.requirements]
        for principle in principles:
            if not principle.monotone and all(
                other.pairs or other.sizes_only for other in principles
            ):
                other = "Split()" if principle.ordered else "Exchange()"
                msg = (
                    f"{self!r} needs principles that survive the union of groups, and "
                    f"{principle!r} does not. Use {other}."
                )
                raise UsageError(msg)
        check_population(task.requirements, given=task.population is not None)
        if self.relaxed and task.lacking:
            msg = (
                f"{self!r} does not serve where sensitive values are missing. Use "
                f"{replace(self, relaxed=False)!r}."
            )
            raise UsageError(msg)
        if self.relaxed:
            msg = (
                f"{self!r} serves principles that survive the union of groups and are not about a "
                f"population. Use {replace(self, relaxed=False)!r}."
            )
            raise UsageError(msg)

    def find(self, task: Task) -> Groups:
        """Find groups that keep every requirement."""
        widest = self.split == "widest"
        if task.draws_regions:
            from shoal.methods.cutting import cut_while_holding

            return cut_while_holding(task, widest=widest)
        if not quick(task):
            return _measured(task, widest=widest)
        rule = Rule.of_demands(task, repr(self))
        if not task.holds(_whole(task)):
            raise _impossible(task)
        ties: Ties = "divided" if self.relaxed else "lower"
        buckets = split(task, rule, widest=widest, ties=ties)
        return Groups.of(buckets.unsort(buckets.labels()))


def _measured(task: Task, *, widest: bool) -> Groups:
    """Cut the whole table by the measure itself, or begin with small groups where it fails."""
    try:
        from shoal.methods.joining import Joining

        return Joining(task, widest=widest).run()
    except NotAchievable:
        found = from_small_groups(task)
        if found is None:
            raise
        return found


def _impossible(task: Task) -> NotAchievable:
    """Say that all rows as one group do not hold, so that no grouping does, and what would."""
    required = " and ".join(map(repr, task.requirements))
    rows, whom = len(task.coded), task.coded.whom
    asked = zip(task.requirements, task.values, task.measure(_whole(task)), strict=True)
    from shoal.principles.remedies import instead

    found = [one if measured.holds else instead(one, value, rows) for one, value, measured in asked]
    known = [option("require", repr(one)) for one in found if one is not None]
    able = f" What would help: {' and '.join(known)}." if len(known) == len(found) else ""
    return NotAchievable(f"{required} cannot hold on these {rows:,} {whom} together.{able}")


def _whole(task: Task) -> Groups:
    return Groups(np.zeros(len(task.coded), np.int64))


def quick(task: Task) -> bool:
    """Return whether a half can be checked by itself for all that is required."""
    return not (task.several or task.lacking) and all(
        one.principle.monotone and (one.principle.searchable or one.principle.sizes_only)
        for one in task.requirements
    )
