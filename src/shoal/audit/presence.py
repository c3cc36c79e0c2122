"""How many people each published description matches: apart, as a search counts them otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.audit.covers import UNKNOWN, CellCover
from shoal.audit.published import Published
from shoal.table.people import check_people, refuse_missing
from shoal.table.settling import trimmed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from shoal.principles.groups import Groups
    from shoal.principles.requirement import Requirement
    from shoal.table.schema import Schema


def count_people(
    published: pl.DataFrame,
    schema: Schema,
    population: pl.DataFrame,
    requirements: Sequence[Requirement],
    kinds: Mapping[str, str] | None = None,
) -> tuple[Groups, list[str]]:
    """Return the groups of rows with equal cells, whom each matches, and what spoils the count.

    A cell that cannot be read would match everybody, which is not known: the requirement is then
    said not to hold. A person with a missing number would match every interval, so the population
    may not have any.
    """
    check_people(population, schema.quasi)
    population = schema.read_numbers(trimmed(population, schema, "quasi"), "quasi")
    described = Published("table", published, schema, None, kinds=kinds or {})
    cover = CellCover(described, population)
    for name, column in zip(schema.quasi, cover.columns, strict=True):
        if (column.values == UNKNOWN).any():
            refuse_missing(population[name])
    by_description, by_person = cover.tally()
    problems = []
    if cover.unread:
        problems.append(
            f"{cover.unread} distinct quasi cells cannot be compared with the population."
        )
    twice = int((by_person > 1).sum())
    if twice and any(one.principle.disjoint for one in requirements):
        problems.append(
            f"Descriptions overlap: {twice} persons of the population match several, and "
            "DeltaPresence is defined for descriptions that do not."
        )
    return replace(described.by_cells, people=by_description), problems
