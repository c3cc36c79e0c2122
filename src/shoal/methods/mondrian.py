"""Mondrian: top-down splitting for principles that survive the union of groups."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.errors import NotAchievable, UsageError
from shoal.methods.base import Method, Task
from shoal.methods.splitter import Rule, admissible, split
from shoal.principles.groups import Groups


@dataclass(frozen=True, kw_only=True, repr=False)
class Mondrian(Method):
    """Cut the widest normalized column at its median while both halves hold.

    References
    ----------
    LeFevre, DeWitt, Ramakrishnan: Mondrian Multidimensional K-Anonymity. ICDE 2006.
    """

    source = "LeFevre, DeWitt, Ramakrishnan, ICDE 2006"

    def check(self, task: Task) -> None:
        """Raise where a requirement does not survive the union of groups."""
        for one in task.requirements:
            if not one.principle.monotone:
                msg = (
                    f"Mondrian() needs principles that survive the union of groups, and "
                    f"{one.principle!r} does not. Use Split()."
                )
                raise UsageError(msg)
        Rule.of(task, repr(self))

    def search(self, task: Task) -> Groups:
        """Find groups that keep every requirement."""
        rule = Rule.of(task, repr(self))
        if not admissible(rule, len(task.coded)):
            required = " and ".join(repr(one.principle) for one in task.requirements)
            msg = f"{required} cannot hold on these {len(task.coded)} rows together."
            raise NotAchievable(msg)
        buckets = split(task, rule, widest=True, both_sides=False)
        return Groups.of(buckets.unsort(buckets.labels()))
