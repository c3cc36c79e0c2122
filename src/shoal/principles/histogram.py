"""How often each sensitive value occurs in each group, and in the table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.notation import exact
from shoal.table.partition import renumber

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.principles.groups import Groups
    from shoal.table.sensitive import Sensitive


def counted(codes: NDArray) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return codes renumbered over those that occur, and how often each of them does."""
    present = renumber(codes)
    return present.astype(np.int32), np.bincount(present).astype(np.int64)


def as_worst(groups: Groups, sensitive: Sensitive) -> NDArray[np.int32]:
    """Return codes in which a missing value is the most frequent known one of its group.

    Of all values that it could have, that leaves a group the least diverse. Where a group has no
    known value, all of its members have one and the same.
    """
    gap = sensitive.gap
    if gap is None or not (missing := sensitive.codes == gap).any():
        return sensitive.codes
    keys = groups.labels[~missing] * (gap + 1) + sensitive.codes[~missing]
    entries, counts = np.unique(keys, return_counts=True)
    where, codes = np.divmod(entries, gap + 1)
    worst = np.zeros(len(groups), np.int32)
    order = np.lexsort((-counts, where))
    first = order[np.flatnonzero(np.diff(where[order], prepend=-1))]
    worst[where[first]] = codes[first]
    return np.where(missing, worst[groups.labels], sensitive.codes).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Histogram:
    """One entry for each value that occurs in a group: entries stand by group, then by code.

    Codes are numbered anew over the values that occur in the table, in their order.
    """

    groups: NDArray[np.int64]
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    totals: NDArray[np.int64]  # how often each code occurs in the table
    named: NDArray[np.int64]  # what each code was before

    @classmethod
    def of(cls, groups: Groups, codes: NDArray, table: NDArray | None = None) -> Histogram:
        """Count the codes of every group, and those of the table: by default all groups are it."""
        present, totals = counted(codes if table is None else table)
        named = np.empty(len(totals), np.int64)
        named[present] = codes if table is None else table
        if table is not None:
            present = np.searchsorted(named, codes).astype(np.int32)
        keys, counts = np.unique(groups.labels * len(totals) + present, return_counts=True)
        where, which = np.divmod(keys, len(totals))
        return cls(where, which, counts.astype(np.int64), totals, named)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the entries of each group begin."""
        return np.flatnonzero(np.diff(self.groups, prepend=-1))

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """Where the entries of each group end."""
        return np.append(self.starts[1:], len(self.groups))

    @property
    def distinct(self) -> NDArray[np.int64]:
        """How many different values each group has."""
        return self.ends - self.starts

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return int(self.totals.sum())

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many rows each group has."""
        return self.sum(self.counts)

    def sum(self, entries: NDArray) -> NDArray:
        """Add up the entries of each group."""
        return np.add.reduceat(entries, self.starts)

    def most(self, entries: NDArray) -> NDArray:
        """Return the largest entry of each group."""
        return np.maximum.reduceat(entries, self.starts)

    def last(self, entries: NDArray) -> NDArray[np.int64]:
        """Return where the largest entry of each group stands."""
        return np.lexsort((entries, self.groups))[self.ends - 1]

    @property
    def richest(self) -> NDArray[np.int64]:
        """The entry of each group with the largest p / q.

        Two different c / C are told apart as doubles up to 2^26 rows.
        """
        return self.last(self.counts / self.totals[self.codes])

    @property
    def rarest(self) -> NDArray[np.int64]:
        """The entry of each group with the least p / q."""
        return self.last(-self.counts / self.totals[self.codes])

    def factor(self, entry: int) -> Fraction:
        """Return p / q of an entry: its share of the group over its share of the table."""
        group, code = self.groups[entry], self.codes[entry]
        of_table = int(self.totals[code]) * int(self.sizes[group])
        return Fraction(int(self.counts[entry]) * self.rows, of_table)


def whole_numbers(sensitive: Sensitive, unit: int = 1) -> tuple[list[int], int]:
    """Return the distinct numbers of a column as written, times a scale that makes them whole.

    The scale is the least one that is also a multiple of `unit`.
    """
    per_day = sensitive.column.per_day
    numbers = [exact(value) / per_day for value in sensitive.column.exact.tolist()]
    scale = math.lcm(unit, *(number.denominator for number in numbers))
    return [number.numerator * (scale // number.denominator) for number in numbers], scale
