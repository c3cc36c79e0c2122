"""Partitions of rows: whom each row is about, and which rows may be mixed.

Where nothing was said, every row is about somebody else and all rows may be mixed. These two answer
like any other partition and hold nothing: what is asked of them is made when somebody asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPARSE = 4  # marks this many times sparser than rows are sorted instead of counted


@dataclass(frozen=True, eq=False)
class Partition:
    """A partition of rows: `labels[row]` is the part of a row, from 0 without gaps."""

    labels: NDArray[np.int64]

    given: ClassVar[bool] = True  # whether anything was said

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many rows each part has."""
        return np.bincount(self.labels).astype(np.int64)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where each part begins when rows stand in order of their parts, and the end."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The rows in order of their parts."""
        return np.argsort(self.labels, kind="stable")

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """The first row of each part."""
        return self.order[self.starts[:-1]]

    def __len__(self) -> int:
        return len(self.sizes)

    def rows(self, part: int | np.integer) -> NDArray[np.int64]:
        """Return the rows of one part."""
        return self.order[self.starts[part] : self.starts[part + 1]]

    def rows_of(self, some: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows of some parts, part by part, and at which place of these each is."""
        counts = self.sizes[some]
        begins = np.repeat(self.starts[some] - np.cumsum(counts) + counts, counts)
        rows = self.order[begins + np.arange(len(begins))]
        return rows, np.repeat(np.arange(len(some)), counts)

    def parts(self) -> list[NDArray[np.int64]]:
        """Return the rows of each part."""
        return np.split(self.order, self.starts[1:-1])

    def ends(self, ranks: NDArray) -> tuple[NDArray, NDArray]:
        """Return the lowest and the highest of what the rows of each part have."""
        moved, starts = ranks[self.order], self.starts[:-1]
        return np.minimum.reduceat(moved, starts), np.maximum.reduceat(moved, starts)

    def of_part(self, of_row: NDArray) -> NDArray:
        """Return of each part what a row of it has: all of them the same."""
        return of_row[self.first]

    def of_row(self, of_part: NDArray) -> NDArray:
        """Return of each row what its part has."""
        return of_part[self.labels]

    def turns(self, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the place of each row among those of its part, taken in the given order."""
        by = order[np.argsort(self.labels[order], kind="stable")]
        found = np.empty(len(self.labels), np.int64)
        found[by] = np.arange(len(by)) - self.starts[self.labels[by]]
        return found

    def only(self, rows: NDArray) -> Self:
        """Return the partition of some rows; parts without any are gone."""
        return type(self)(renumber(self.labels[rows]))


class OnePart(Partition):
    """All rows in one part."""

    given = False
    height: int

    def __init__(self, height: int) -> None:
        object.__setattr__(self, "height", height)

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """A zero for each row."""
        return np.zeros(self.height, np.int64)

    def parts(self) -> list[NDArray[np.int64]]:
        """Return all rows."""
        return [np.arange(self.height, dtype=np.int64)]

    def only(self, rows: NDArray) -> OnePart:
        """Return the partition of some rows."""
        return OnePart(len(rows))


@dataclass(frozen=True, eq=False)
class PersonOf(Partition):
    """Whom each row is about: one of so many `people`, some of whom may have no rows here."""

    people: int = 0

    whom: ClassVar[str] = "people"  # what is counted, for sentences
    one: ClassVar[str] = "person"

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many rows each person has."""
        return np.bincount(self.labels, minlength=self.people).astype(np.int64)

    def count(self, codes: NDArray, distinct: int = 0) -> NDArray[np.int64]:
        """Return how many people have each code, of so many at least, in some row."""
        pairs = np.unique(codes.astype(np.int64) * len(self) + self.labels)
        return np.bincount(pairs // len(self), minlength=distinct)


class Everyone(PersonOf):
    """Every row about somebody else."""

    given = False
    whom = "rows"
    one = "row"

    def __init__(self, rows: int) -> None:
        object.__setattr__(self, "people", rows)

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """The rows themselves."""
        return np.arange(self.people, dtype=np.int64)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """A one for each row."""
        return np.ones(self.people, np.int64)

    @property
    def order(self) -> NDArray[np.int64]:
        """The rows as they stand."""
        return self.labels

    @property
    def first(self) -> NDArray[np.int64]:
        """The rows as they stand."""
        return self.labels

    def __len__(self) -> int:
        return self.people

    def ends(self, ranks: NDArray) -> tuple[NDArray, NDArray]:
        """Return what each row has, twice."""
        return ranks, ranks

    def of_part(self, of_row: NDArray) -> NDArray:
        """Return what was given."""
        return of_row

    def of_row(self, of_part: NDArray) -> NDArray:
        """Return what was given."""
        return of_part

    def only(self, rows: NDArray) -> Everyone:
        """Return the same of some rows."""
        return Everyone(len(rows))

    def count(self, codes: NDArray, distinct: int = 0) -> NDArray[np.int64]:
        """Return how many rows have each code, of so many at least."""
        return np.bincount(codes, minlength=distinct)


def renumber(marks: NDArray) -> NDArray[np.int64]:
    """Return marks (non-negative integers) as numbers from 0 without gaps, in the same order."""
    most = int(marks.max(initial=0)) + 1
    if most > SPARSE * len(marks):
        order = np.argsort(marks)
        ranked = marks[order].astype(np.int64, copy=False)
        new = np.empty(len(marks), np.bool_)
        new[:1] = False
        np.not_equal(ranked[1:], ranked[:-1], out=new[1:])
        ranked[order] = np.cumsum(new, dtype=np.int32)  # a third less memory than numpy.unique
        return ranked
    present = np.zeros(most, np.bool_)
    present[marks] = True
    numbers = np.cumsum(present, dtype=np.int32)  # there are fewer rows than 2**31
    return (numbers[marks] - 1).astype(np.int64)
