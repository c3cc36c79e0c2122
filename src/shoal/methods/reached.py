"""How far a search came that could not keep everything, and which rows stand in its way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import TooCrowded
from shoal.principles.base import Pairwise
from shoal.relations.forms import near

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.methods.base import Task
    from shoal.principles.groups import Groups, Measurement
    from shoal.relations.forms import Relation
    from shoal.schema.sensitive import Sensitive

SHOWN = 3  # sensitive values that a message names


def not_reached(task: Task, groups: Groups) -> TooCrowded:
    """Return the error for groups in breach: what they keep, and where the breaches sit."""
    sentences = []
    for one, value, measured in zip(
        task.requirements, task.values, task.measure(groups), strict=True
    ):
        if measured.holds or value is None or not isinstance(one.principle, Pairwise):
            continue
        wrong = rows_in_breach(one.principle, value, groups, measured)
        codes, counts = np.unique(value.codes[wrong], return_counts=True)
        spelled = value.labels()
        often = codes[np.argsort(-counts, kind="stable")[:SHOWN]]
        places = "; ".join(", ".join(spelled[code]) for code in often)
        where = f", mostly at {value.name} {places}" if places else ""
        sentences.append(
            f"{one.principle!r} was not reached: {int(measured.breaches.sum())} of {len(groups)} "
            f"groups are in breach{where}. The groups that were found "
            f"keep {one.principle.reached(measured)}."
        )
    advice = "Ask for less, or let --suppress leave out the rows in the way."
    if task.seconds is not None:
        advice = f"The search had --seconds {task.seconds:g}: give it more. Or: {advice}"
    return TooCrowded(" ".join([*sentences, advice]), crowded_rows(task, groups))


def rows_in_breach(
    principle: Pairwise, value: Sensitive, groups: Groups, measured: Measurement
) -> NDArray[np.int64]:
    """Return the members of groups in breach to whom more are near than the bound allows.

    Not all members are: others may share the group without being near to many. There is none where
    a group is only too small.
    """
    relation = principle.relation(value)
    found = [np.empty(0, np.int64)]
    for group in np.flatnonzero(measured.breaches):
        rows = groups.order[groups.starts[group] : groups.starts[group + 1]]
        close = nearness(relation, value.codes[rows])
        found.append(rows[close.sum(axis=1) > principle.allowed(len(rows))])
    return np.concatenate(found)


def nearness(relation: Relation, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
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
        principle = one.principle
        if not isinstance(principle, Pairwise) or value is None:
            continue
        relation = principle.relation(value)
        for group in np.flatnonzero(measured.breaches):
            rows = groups.order[groups.starts[group] : groups.starts[group + 1]]
            close = nearness(relation, value.codes[rows])
            left = np.ones(len(rows), np.bool_)
            while left.any():
                counts = np.where(left, close[:, left].sum(axis=1), 0)
                if counts.max() <= principle.allowed(max(int(left.sum()), task.least)):
                    break
                left[np.argmax(counts)] = False
            taken.append(rows[~left])
    return np.unique(np.concatenate(taken)) if taken else np.empty(0, np.int64)
