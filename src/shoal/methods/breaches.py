"""What exchanges could not mend: coarser groups around it, or a sentence and the rows in the way.

Exchanges may end with a few groups in breach where larger ones hold. Those and the groups near
them are joined, with ever more around them until all together hold as one group, and cut anew from
there; all others stay as they are. Where nothing holds, the error says how far the search came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.distances.relation import between_members, near
from shoal.errors import TooCrowded, option
from shoal.methods.joining import Joining
from shoal.methods.splitting import Rule, split
from shoal.principles.groups import Groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.distances.relation import BetweenMembers
    from shoal.methods.base import Task
    from shoal.methods.exchanging import Exchanging
    from shoal.principles.base import Pairwise
    from shoal.principles.groups import Measurement
    from shoal.table.sensitive import Sensitive

SHOWN = 3  # sensitive values that a message names


def coarse_groups(task: Task) -> Groups | None:
    """Return groups where exchanges end in breach although the whole table holds as one group.

    Where everything survives the union of groups, it is cut from there as far as all of it holds.
    """
    whole = Groups(np.zeros(len(task.coded), np.int64))
    if not task.holds(whole):
        return None
    if not all(one.principle.monotone for one in task.requirements):
        return whole
    if task.several or task.lacking:
        return Joining(task, widest=False).run()
    buckets = split(task, Rule.of_demands(task, "Exchange()"), widest=False, ties="either")
    groups = Groups.of(buckets.unsort(buckets.labels()))
    return groups if task.holds(groups) else whole


def united(task: Task, found: Groups, engine: Exchanging) -> Groups | None:
    """Return groups that hold, coarser where exchanges ended in breach, None where none are found.

    `found` are the groups with which the engine ended. It may bound those near to several of a
    person's values together, so what it calls a breach need not be one.
    """
    from shoal.methods.passes import NearGroups

    measured = task.measure(found)
    wrong = np.flatnonzero(np.any([one.breaches for one in measured], axis=0))
    if not len(wrong):
        return found
    filled = np.flatnonzero(engine.groups.sizes)
    number = np.full(len(engine.groups.sizes), -1)
    number[filled] = np.arange(len(filled))
    nearby = NearGroups(engine.space, engine.groups)
    reach = 1
    while reach < len(found):
        reach = min(2 * reach, len(found))
        around = number[nearby.ring(filled[wrong], 0, reach - 1, reach)]
        block = np.unique(np.append(around[around >= 0], wrong))
        rows = np.flatnonzero(np.isin(found.labels, block))
        coarse = coarse_groups(task.part(rows))
        if coarse is not None:
            labels = found.labels.copy()
            labels[rows] = len(found) + coarse.labels
            return Groups.of(labels)
    return coarse_groups(task)


def not_reached(task: Task, groups: Groups) -> TooCrowded:
    """Return the error for groups in breach: what they keep, and where the breaches sit."""
    sentences = []
    for one, value, measured in zip(
        task.requirements, task.values, task.measure(groups), strict=True
    ):
        pairs = one.principle.pairs
        if measured.holds or value is None or pairs is None:
            continue
        wrong = rows_in_breach(pairs, value, groups, measured)
        codes, counts = np.unique(values_in(value, wrong), return_counts=True)
        spelled = value.labels()
        often = codes[np.argsort(-counts, kind="stable")[:SHOWN]]
        places = "; ".join(", ".join(one or "(missing)" for one in spelled[code]) for code in often)
        where = f", mostly at {value.name} {places}" if places else ""
        sentences.append(
            f"The search did not meet {one.principle!r}: {int(measured.breaches.sum())} of "
            f"{len(groups)} groups exceed the limit{where}. These groups would meet "
            f"{pairs.reached(measured)}."
        )
    advice = (
        f"Require less, or allow Shoal to remove the {task.coded.whom} in the way: "
        f"{option('suppress')}."
    )
    if task.seconds is not None:
        advice = (
            f"The search had {option('seconds')} {task.seconds:g}. Give it more time. Or: {advice}"
        )
    return TooCrowded(" ".join([*sentences, advice]), crowded_rows(task, groups))


def rows_in_breach(
    principle: Pairwise, value: Sensitive, groups: Groups, measured: Measurement
) -> NDArray[np.int64]:
    """Return the members of groups in breach to whom more are near than the bound allows.

    Not all members are: others may share the group without being near to many. There is none where
    a group is only too small.
    """
    relation = between_members(principle.relation(value), value)
    found = [np.empty(0, np.int64)]
    for group in np.flatnonzero(measured.breaches):
        rows = groups.rows(group)
        close = nearness(relation, value.members[rows])
        found.append(rows[close.sum(axis=1) > principle.searched(len(rows))])
    return np.concatenate(found)


def values_in(value: Sensitive, members: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the values of members, each value of a person once."""
    if not value.several:
        return value.codes[members]
    return value.sets.codes[np.isin(value.sets.owners, members)]


def nearness(relation: BetweenMembers, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return who of a group is near to whom; line i has those that are near to member i."""
    return near(relation, codes[None, :], codes[:, None])


def crowded_rows(task: Task, groups: Groups) -> NDArray[np.int64]:
    """Return rows of the groups in breach whose removal leaves the others room.

    From each such group, member after member that is near to most others is taken, until the rest
    could hold in a group of the least size. The rest is not lost: it joins other groups when the
    search is run again.
    """
    taken = []
    for one, value, measured in zip(
        task.requirements, task.values, task.measure(groups), strict=True
    ):
        principle = one.principle.pairs
        if principle is None or value is None:
            continue
        relation = between_members(principle.relation(value), value)
        lacking = value.gap is not None  # whoever lacks a value is near to all others
        for group in np.flatnonzero(measured.breaches):
            rows = groups.rows(group)
            close = nearness(relation, value.members[rows])
            left = np.ones(len(rows), np.bool_)
            while left.any():
                counts = np.where(left, close[:, left].sum(axis=1), 0)
                if counts.max() <= principle.searched(max(int(left.sum()), task.least)):
                    break
                burden = np.where(left, close[left].sum(axis=0), 0) if lacking else counts
                left[np.argmax(burden)] = False
            taken.append(rows[~left])
    return np.unique(np.concatenate(taken)) if taken else np.empty(0, np.int64)
