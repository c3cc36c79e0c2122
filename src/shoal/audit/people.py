"""People in a published table: who is in which group with how many rows, and what holds for them.

A reader sees whom rows belong together with, and so how many rows each person has. Where that may
be known of people, somebody can only be taken for those of the group who have as many: these are
the candidates, and every requirement is measured among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.principles.groups import Groups, Measurement, joined, renumber
from shoal.table.coding import code_persons
from shoal.table.people import subset_values, values_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
    from numpy.typing import NDArray

    from shoal.principles.base import Principle
    from shoal.table.coded import Sensitive


@dataclass(frozen=True, eq=False)
class Members:
    """The people of each group: a person with rows in two groups is a member of both.

    `of_row` is the member that each row is about, `groups` the group of each member.
    """

    of_row: NDArray[np.int64]
    groups: Groups
    people: int
    known: bool

    @classmethod
    def of(cls, groups: Groups, persons: pl.Series, *, known: bool) -> Members:
        """Count the people of groups of rows."""
        numbers = code_persons(persons)
        people = int(numbers.max()) + 1
        of_row = renumber(groups.labels * people + numbers)
        labels = np.empty(int(of_row.max()) + 1, np.int64)
        labels[of_row] = groups.labels
        return cls(of_row, Groups(labels), people, known)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many rows each member has."""
        return np.bincount(self.of_row)

    @cached_property
    def candidates(self) -> Groups:
        """Whom a reader cannot tell a member from: the group, or those of it with as many rows."""
        if not self.known:
            return self.groups
        most = int(self.counts.max()) + 1
        return Groups.of(self.groups.labels * most + self.counts)

    @cached_property
    def alone(self) -> int:
        """How many people are the only one of their group with so many rows."""
        most = int(self.counts.max()) + 1
        sizes = Groups.of(self.groups.labels * most + self.counts).sizes
        return int((sizes == 1).sum())

    def measure(self, principle: Principle, value: Sensitive | None) -> Measurement:
        """Measure a requirement among the candidates; each number of rows is a table by itself."""
        found = []
        for members in self.shards():
            inside = np.zeros(len(self.counts), np.bool_)
            inside[members] = True
            own = None
            if value is not None:
                rows = np.flatnonzero(inside[self.of_row])
                own = values_of(subset_values(value, rows), renumber(self.of_row[rows]))
                if own.sets is not None:
                    principle.crowd(own)  # raises where several values have no meaning
            found.append(principle.measure(Groups.of(self.groups.labels[members]), own))
        return joined(found)

    def shards(self) -> Iterator[NDArray[np.int64]]:
        """Yield the members that may be taken for one another anywhere in the table."""
        if not self.known:
            yield np.arange(len(self.counts))
            return
        for count in np.unique(self.counts):
            yield np.flatnonzero(self.counts == count)

    def scattered(self) -> list[str]:
        """Return a sentence where somebody has rows in more than one group."""
        several = len(self.counts) - self.people
        if not several:
            return []
        return [
            f"People have rows in more than one group: {self.people:,} people make "
            f"{len(self.counts):,} members of groups."
        ]
