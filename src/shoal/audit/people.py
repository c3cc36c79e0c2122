"""People in a published table: who is in which group with how many rows, and what holds for them.

A reader sees whom rows belong together with, and so how many rows each person has. Where that may
be known of people, somebody can only be taken for those of the group who have as many, in every
table: these are the candidates, and every requirement is measured among them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.principles.groups import Groups, Measurement, joined
from shoal.table.partition import PersonOf, renumber
from shoal.table.schema import PERSON, RESERVED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from shoal.distances.relation import Band
    from shoal.principles.base import Principle
    from shoal.table.sensitive import Sensitive


@dataclass(frozen=True, eq=False)
class Members:
    """The people of each group: a person with rows in two groups is a member of both.

    `whom` is the member that each row is about, `groups` the group of each member, and `linked` has
    the members that the rows of linked tables are about.
    """

    whom: PersonOf
    groups: Groups
    people: int
    known: bool
    linked: Mapping[str, PersonOf] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        groups: Groups,
        persons: PersonOf,
        *,
        known: bool,
        linked: Mapping[str, NDArray[np.int64]] = MappingProxyType({}),
    ) -> Members:
        """Count the people of groups of rows.

        `linked` has for each row of linked tables a row of the first that is about its person.
        """
        people = len(persons)
        if not persons.given:
            return cls(persons, groups, people, known)
        whom = PersonOf(renumber(groups.labels * people + persons.labels))
        others = {n: PersonOf(whom.labels[rows], len(whom)) for n, rows in linked.items()}
        return cls(whom, Groups(whom.of_part(groups.labels)), people, known, others)

    def __len__(self) -> int:
        return len(self.groups.labels)

    @cached_property
    def counts(self) -> Groups:
        """The members who have equally many rows, in every table."""
        counts = [whom.sizes for whom in (self.whom, *self.linked.values())]
        return Groups.alike(len(self), ((each, int(each.max()) + 1) for each in counts))

    @cached_property
    def alike(self) -> Groups:
        """Those of each group with equally many rows."""
        if not self.whom.given:
            return self.groups
        return Groups.of(self.groups.labels * len(self.counts) + self.counts.labels)

    @property
    def candidates(self) -> Groups:
        """Whom a reader cannot tell a member from: the group, or those of it with as many rows."""
        return self.alike if self.known else self.groups

    @cached_property
    def alone(self) -> int:
        """How many people are the only one of their group with so many rows."""
        return int((self.alike.sizes == 1).sum())

    def measure(
        self, principle: Principle, value: Sensitive | None, table: str | None = None
    ) -> Measurement:
        """Measure a requirement among the candidates.

        Each number of rows is a table by itself, but for what compares groups with the table: that
        is the table of all people. The value is of the rows of the first table, or of a linked one.
        """
        if not self.whom.given:
            return principle.measure(self.groups, value)
        of_row = (self.whom if table is None else self.linked[table]).labels
        found = []
        for members, groups in self.shards(apart=principle.by_itself):
            place = np.full(len(self), -1, np.int64)
            place[members] = np.arange(len(members))
            own = None
            if value is not None:
                from shoal.table.people import subset_values, values_of

                rows = np.flatnonzero(place[of_row] >= 0)
                whom = PersonOf(place[of_row[rows]], len(members))
                own = values_of(subset_values(value, rows), whom)
                if own.several:
                    principle.crowd(own)  # raises where several values have no meaning
            found.append(principle.measure(groups, own))
        return joined(found)

    def shards(self, *, apart: bool) -> Iterator[tuple[NDArray[np.int64], Groups]]:
        """Yield members who are measured together, and the candidates among them.

        Kept apart, they are those who may be taken for one another anywhere in the table.
        """
        if not (self.known and apart):
            yield np.arange(len(self)), self.candidates
            return
        for members in self.counts.parts():
            yield members, Groups.of(self.groups.labels[members])

    def scattered(self) -> list[str]:
        """Return a sentence where somebody has rows in more than one group."""
        several = len(self) - self.people
        if not several:
            return []
        return [
            f"Some people have rows in more than one group: {self.people:,} people count "
            f"{len(self):,} times as members of groups."
        ]


def descriptions(marks: NDArray[np.int64], whom: PersonOf) -> Groups:
    """Return the people whose rows have equal marks, all together; nobody without rows."""
    if not whom.given:
        return Groups.of(marks)
    rows = pl.DataFrame({"person": whom.labels, "mark": marks}).sort("person", "mark")
    texts = rows.group_by("person", maintain_order=True).agg(
        pl.col("mark").cast(pl.String).str.join(" ")
    )["mark"]
    return Groups.of(texts.rank("dense").to_numpy().astype(np.int64))


@dataclass(frozen=True, eq=False)
class KnownCells:
    """A column as a reader compares it: equal codes, and numbers that are near, where they are."""

    codes: NDArray[np.int64]
    distinct: int
    numbers: NDArray[np.int32] | None = None
    near: Band | None = None


def most_shared(classes: Groups, whom: PersonOf, cells: KnownCells) -> NDArray[np.int64]:
    """Count for each person those of its class who have one of its cells in some row of theirs.

    It is the cell that most of them have; a person without rows has none, and counts nobody.
    """
    marks = (whom.of_row(classes.labels), len(classes)), (cells.codes, cells.distinct)
    own = low = high = Groups.alike(len(whom.labels), marks).labels
    if cells.numbers is not None and cells.near is not None:
        first, last = cells.near.first, cells.near.last
        base = own * len(first)
        own, low, high = (
            base + each for each in (cells.numbers, first[cells.numbers], last[cells.numbers])
        )
    # Each person reaches from low to high around its cells; where these overlap, it counts once.
    order = np.lexsort((own, whom.labels))
    begins = low[order]
    again = np.flatnonzero(np.diff(whom.labels[order]) == 0)
    begins[again + 1] = np.maximum(begins[again + 1], high[order][again] + 1)
    begun = np.searchsorted(np.sort(begins), own, side="right")
    found = np.zeros(len(whom), np.int64)
    np.maximum.at(found, whom.labels, begun - np.searchsorted(np.sort(high), own, side="left"))
    return found


def rows_of_people(
    published: pl.DataFrame, linked: Mapping[str, pl.DataFrame]
) -> tuple[dict[str, pl.DataFrame], dict[str, NDArray[np.int64]], list[str]]:
    """Match the rows of linked tables with a row of the first about the same person and group.

    Returns the rows that have one, these, and a sentence for every table where some have none.
    """
    if not linked:
        return {}, {}, []
    own = [RESERVED, PERSON]
    first = published.select(pl.col(own).cast(pl.String)).with_row_index("#row")
    first = first.unique(own, keep="first")
    tables, matches, problems = {}, {}, []
    for name, table in linked.items():
        cells = table.select(pl.col(f"{name}.{one}").cast(pl.String).alias(one) for one in own)
        found = cells.join(first, on=own, how="left", nulls_equal=True, maintain_order="left")
        known = found["#row"].is_not_null()
        if not known.all():
            problems.append(
                f"{int((~known).sum()):,} rows of {name} are about people whom the release does "
                "not have, or has in another group."
            )
        tables[name] = table.filter(known)
        matches[name] = found["#row"].drop_nulls().to_numpy().astype(np.int64)
    return tables, matches, problems
