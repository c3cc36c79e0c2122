"""Coarser groups around what exchanges could not mend.

Exchanges may end with a few groups in breach where larger ones hold. Those and the groups near
them are joined, with ever more around them until all together hold as one group, and cut anew from
there; all others stay as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.methods.joining import Joining
from shoal.methods.nearby import NearGroups
from shoal.methods.splitting import Rule, split
from shoal.principles.groups import Groups, renumber

if TYPE_CHECKING:
    from shoal.methods.base import Task
    from shoal.methods.exchanging import Exchanging


def coarse_groups(task: Task) -> Groups | None:
    """Return groups where exchanges end in breach although the whole table holds as one group.

    Where everything survives the union of groups, it is cut from there as far as all of it holds.
    """
    whole = Groups(np.zeros(len(task.coded), np.int64))
    if not task.holds(whole):
        return None
    if not all(one.principle.monotone for one in task.requirements):
        return whole
    if task.several:
        return Joining(task, widest=False).run()
    buckets = split(task, Rule.of_demands(task, "Exchange()"), widest=False, ties="either")
    groups = Groups.of(buckets.unsort(buckets.labels()))
    return groups if task.holds(groups) else whole


def united(task: Task, found: Groups, engine: Exchanging) -> Groups | None:
    """Return groups that hold, coarser where exchanges ended in breach, None where none are found.

    `found` are the groups with which the engine ended. It bounds those near to a person, not those
    near to each of a person's values, so what it calls a breach need not be one.
    """
    measured = task.measure(found)
    wrong = np.flatnonzero(np.any([one.breaches for one in measured], axis=0))
    if not len(wrong):
        return found
    filled = np.flatnonzero(engine.groups.sizes)
    number = np.full(len(engine.groups.sizes), -1)
    number[filled] = np.arange(len(filled))
    near = NearGroups(engine.space, engine.groups)
    reach = 1
    while reach < len(found):
        reach = min(2 * reach, len(found))
        around = number[near.ring(filled[wrong], 0, reach - 1, reach)]
        block = np.unique(np.append(around[around >= 0], wrong))
        rows = np.flatnonzero(np.isin(found.labels, block))
        coarse = coarse_groups(task.part(rows))
        if coarse is not None:
            labels = found.labels.copy()
            labels[rows] = len(found) + coarse.labels
            return Groups(renumber(labels))
    return coarse_groups(task)
