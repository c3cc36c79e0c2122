"""Split and partition: the method of (ε,m)-anonymity, as printed and as improved."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import BadParameter, NotAchievable
from shoal.methods.exhaustive import Thorough
from shoal.methods.joining import Joining
from shoal.methods.splitting import Buckets, Rule, admissible, split
from shoal.principles.groups import Groups
from shoal.progress import in_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.methods.base import Task


PARTITIONS = ("cheapest", "round-robin")
BATCH = 4096  # buckets dealt by one job


@dataclass(frozen=True, kw_only=True, repr=False)
class Split(Thorough):
    """Median splits of least loss while both halves stay achievable, then the partition step.

    `partition="round-robin"` is the algorithm of the paper to the letter. The default adds what
    follows from its theory: both sides of a tied median are tried, buckets that already hold are
    divided further, and rows are dealt to parts by cheapest matching instead of in turn.

    References
    ----------
    Li, Tao, Xiao: Preservation of Proximity Privacy in Publishing Numerical Sensitive Data.
    SIGMOD 2008. Section 5.2.
    """

    partition: str = "cheapest"

    source = "Li, Tao, Xiao, SIGMOD 2008, section 5.2"

    def __post_init__(self) -> None:
        if self.partition not in PARTITIONS:
            raise BadParameter(
                "Split", "partition", " or ".join(map(repr, PARTITIONS)), self.partition
            )

    def check(self, task: Task) -> None:
        """Raise where the requirements are not about one ordered value."""
        Rule.of(task, repr(self))

    def find(self, task: Task) -> Groups:
        """Find groups that keep every requirement.

        The partition step needs one value a person. Where people have several, buckets are cut
        while both halves hold.
        """
        if task.several:
            return Joining(task, widest=False).run()
        rule = Rule.of(task, repr(self))
        if not admissible(rule, len(task.coded)):
            return _few_parts(task, rule)
        letter = self.partition == "round-robin"
        buckets = split(task, rule, widest=False, ties="lower" if letter else "either")
        if not rule.dealt:
            labels = buckets.labels()
        elif letter:
            labels = _round_robin(rule, buckets)
        else:
            labels = _cheapest(task, rule, buckets)
        return Groups.of(buckets.unsort(labels))


def _round_robin(rule: Rule, buckets: Buckets) -> NDArray[np.int32]:
    """Keep a bucket that holds as it is, deal the others in turn.

    Where counts of near members do not say whether it holds, it is dealt: no two members of a part
    are near.
    """
    from shoal.kernels.partition import deal_round_robin

    labels = np.empty_like(buckets.codes)
    band = rule.band
    m = rule.bound.denominator if rule.counted else len(labels) + 1
    deal_round_robin(buckets.codes, buckets.starts, band.first, band.last, rule.reach, m, labels)
    return labels


def _cheapest(task: Task, rule: Rule, buckets: Buckets) -> NDArray[np.int32]:
    """Deal every bucket by cheapest matching, as finely as the guarantee allows."""
    from shoal.kernels.partition import deal_cheapest

    space = task.coded.space
    labels = np.empty_like(buckets.codes)
    counters: list[NDArray[np.int64]] = []

    def deal(begin: int, end: int) -> None:
        counters.append(np.zeros(1, np.int64))
        deal_cheapest(
            buckets.ranks,
            buckets.codes,
            buckets.starts[begin : end + 1],
            rule.reach,
            rule.limit.denominator,
            *space.shape_arrays,
            labels,
            counters[-1],
        )

    def watch() -> None:
        task.progress("partition", sum(int(done[0]) for done in counters) / len(labels))

    count = len(buckets.starts) - 1
    in_threads(
        [partial(deal, begin, min(begin + BATCH, count)) for begin in range(0, count, BATCH)],
        watch,
    )
    return labels


def _few_parts(task: Task, rule: Rule) -> Groups:
    """Deal the whole table into as many parts as hold, where splitting has no room to start.

    With KAnonymity(k) beside m < k, fewer and larger parts can hold although
    |T| >= max(m, k) * maxsize fails.
    """
    rows = len(task.coded)
    place = np.empty(rows, np.int64)
    place[np.argsort(rule.codes, kind="stable")] = np.arange(rows)
    parts = rows // task.least
    while parts > 0:
        groups = Groups(place % parts)
        if task.holds(groups):
            return groups
        parts //= 2
    required = " and ".join(repr(one.principle) for one in task.requirements)
    msg = (
        f"No grouping was found on {rows} {task.coded.whom} in which {required} hold together. "
        "Lower one of their parameters; `shoal plan` shows what each can reach."
    )
    raise NotAchievable(msg)
