"""How many people each published description matches: apart, as a search counts them otherwise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.audit.covers import UNKNOWN, CellCover
from shoal.principles.groups import Groups
from shoal.table.coding import code_persons
from shoal.table.people import check_people, refuse_missing
from shoal.table.schema import PERSON
from shoal.table.settling import trimmed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray

    from shoal.audit.people import Members
    from shoal.audit.published import Published
    from shoal.principles.requirement import Requirement


@dataclass(frozen=True, eq=False)
class Matched:
    """The groups of rows with equal cells, whom each matches, and what spoils the count.

    Where several rows may be about one person, `people` says of each description how many people of
    the population, all of whose rows it matches, have how many rows.
    """

    by_cells: Groups
    problems: list[str]
    people: list[dict[int, int]] | None = None

    def candidates(self, members: Members) -> Groups:
        """Return the members with equal cells, and whom of the population each may be.

        How many rows they have may be known: then it is those who have exactly as many.
        """
        if self.people is None:
            return self.by_cells
        groups = members.candidates
        described = groups.of_part(members.groups.labels).tolist()
        counts = groups.of_part(members.whom.sizes).tolist()
        found = [
            self.people[one].get(count, 0) if members.known else sum(self.people[one].values())
            for one, count in zip(described, counts, strict=True)
        ]
        return Groups(groups.labels, np.array(found, np.int64))


def count_people(
    published: Published,
    population: pl.DataFrame,
    requirements: Sequence[Requirement],
) -> Matched:
    """Count whom each description matches.

    A cell that cannot be read would match everybody, which is not known: the requirement is then
    said not to hold. A person with a missing number would match every interval of a column in which
    none was published as such, so the population may not have any there.
    """
    schema = published.schema
    check_people(population, schema.quasi)
    population = schema.read_numbers(trimmed(population, schema, "quasi"), "quasi")
    cover = CellCover(published, population)
    for name, column in zip(schema.quasi, cover.columns, strict=True):
        if column.gaps is None and (column.values == UNKNOWN).any():
            refuse_missing(population[name])
    problems = []
    if cover.unread:
        problems.append(
            f"{cover.unread} distinct quasi cells cannot be compared with the population."
        )
    if schema.person is not None:
        # Counted at once: those who fit broad descriptions are most of the population, each time.
        fitting = cover.fitting(code_persons(population[PERSON]))
        people = [dict(zip(*_counted(rows), strict=True)) for rows in fitting]
        return Matched(published.by_cells, problems, people)
    by_description, by_person = cover.tally()
    twice = int((by_person > 1).sum())
    if twice and any(one.principle.disjoint for one in requirements):
        problems.append(
            f"Descriptions overlap: {twice} people of the population match several of them, but "
            "DeltaPresence needs descriptions that do not overlap."
        )
    return Matched(replace(published.by_cells, matches=by_description), problems)


def _counted(rows: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    """Return the different numbers of rows, and how many people have each."""
    numbers, people = np.unique(rows, return_counts=True)
    return numbers.tolist(), people.tolist()
