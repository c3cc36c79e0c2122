"""Mondrian: top-down splitting for any principles, above all those that survive unions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import BadParameter, NotAchievable, UsageError
from shoal.methods.exhaustive import Thorough
from shoal.methods.gathering import from_small_groups
from shoal.methods.joining import Joining
from shoal.methods.splitting import Rule, Ties, split
from shoal.principles.base import Ordered, Pairwise, Searchable
from shoal.principles.groups import Groups
from shoal.principles.requirement import check_population

if TYPE_CHECKING:
    from shoal.methods.base import Task

SPLITS = ("widest", "least-loss")


@dataclass(frozen=True, kw_only=True, repr=False)
class Mondrian(Thorough):
    """Cut a column at its median while both halves hold.

    Any principles that survive the union of groups will do, also several of them on several
    sensitive values: a half that fails could not be divided into groups that all hold. With them
    may come principles that do not survive it, and those about a population; then halves are
    measured, and more may be possible than is found (`methods/measured.py`). Where the whole
    table fails with those, the search begins with small groups (`methods/gathered.py`).

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

    def __post_init__(self) -> None:
        if self.split not in SPLITS:
            raise BadParameter("Mondrian", "split", " or ".join(map(repr, SPLITS)), self.split)
        if not isinstance(self.relaxed, bool):
            raise BadParameter("Mondrian", "relaxed", "True or False", self.relaxed)

    def check(self, task: Task) -> None:
        """Raise where another method serves all that is required, or none can."""
        if quick(task):
            Rule.of_demands(task, repr(self))
            return
        principles = [one.principle for one in task.requirements]
        for principle in principles:
            if not principle.monotone and all(
                isinstance(other, Pairwise) or other.sizes_only for other in principles
            ):
                other = "Split()" if isinstance(principle, Ordered) else "Exchange()"
                msg = (
                    f"{self!r} needs principles that survive the union of groups, and "
                    f"{principle!r} does not. Use {other}."
                )
                raise UsageError(msg)
        check_population(task.requirements, given=task.people is not None)
        if self.relaxed:
            msg = (
                f"{self!r} serves principles that survive the union of groups and are not about a "
                f"population. Use {replace(self, relaxed=False)!r}."
            )
            raise UsageError(msg)

    def find(self, task: Task) -> Groups:
        """Find groups that keep every requirement."""
        widest = self.split == "widest"
        if not quick(task):
            return _measured(task, widest=widest)
        rule = Rule.of_demands(task, repr(self))
        if not task.holds(Groups(np.zeros(len(task.coded), np.int64))):
            required = " and ".join(repr(one.principle) for one in task.requirements)
            msg = f"{required} cannot hold on these {len(task.coded)} {task.coded.whom} together."
            raise NotAchievable(msg)
        ties: Ties = "divided" if self.relaxed else "lower"
        buckets = split(task, rule, widest=widest, ties=ties)
        return Groups.of(buckets.unsort(buckets.labels()))


def _measured(task: Task, *, widest: bool) -> Groups:
    """Cut the whole table by the measure itself, or begin with small groups where it fails."""
    try:
        return Joining(task, widest=widest).run()
    except NotAchievable:
        found = from_small_groups(task)
        if found is None:
            raise
        return found


def quick(task: Task) -> bool:
    """Return whether a half can be checked by itself for all that is required."""
    return not task.several and all(
        one.principle.monotone
        and (isinstance(one.principle, Searchable) or one.principle.sizes_only)
        for one in task.requirements
    )
