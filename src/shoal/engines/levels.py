"""People by how many rows they have, and whether those searched apart hold together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.engines.base import grouped_people
from shoal.errors import NotAchievable, option
from shoal.principles.groups import Groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.methods.base import Task


def check_together(task: Task, groups: Groups, fewest: int) -> None:
    """Raise where what compares groups with the table does not hold of people searched apart.

    Each number of rows was searched as a table by itself, and is none to whoever reads them all.
    """
    if all(one.principle.by_itself for one in task.requirements):
        return
    people, groups = grouped_people(task, groups)
    for one, found in zip(task.requirements, people.measure(groups), strict=True):
        if not one.principle.by_itself and not found.holds:
            msg = (
                f"{one!r} compares groups with the whole table, but people with different "
                "numbers of rows are never in one group, so it cannot hold. Publish the same "
                f"number of rows of every person: {option('most_rows', fewest)}."
            )
            raise NotAchievable(msg)


def levels_of_rows(
    published: NDArray[np.int64],
) -> tuple[NDArray[np.int64], list[list[NDArray[np.int64]]]]:
    """Return the different numbers of rows, each before all lower ones, and the people with each.

    The last one is below all others, whether anybody has it or not.
    """
    alike = Groups.alike(
        len(published), ((column, int(column.max()) + 1) for column in published.T)
    )
    people = alike.parts()
    levels = published[[some[0] for some in people]]
    order = np.lexsort((*levels.T[::-1], levels.sum(axis=1)))[::-1]
    levels, there = levels[order], [[people[place]] for place in order]
    bottom = published.min(axis=0)
    if (levels[-1] != bottom).any():
        levels = np.vstack([levels, bottom])
        there.append([np.empty(0, np.int64)])
    return levels, there
