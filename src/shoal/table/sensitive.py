"""Sensitive values of people: codes, and the sets of those with several."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from shoal.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.table.column import Column


@dataclass(frozen=True, eq=False)
class ValueSets:
    """The values of members: those of member u are `codes[ends[u] : ends[u + 1]]`, ascending."""

    ends: NDArray[np.int64]
    codes: NDArray[np.int32]

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """The member that has each value."""
        return np.repeat(np.arange(len(self.ends) - 1), np.diff(self.ends))


@dataclass(frozen=True, eq=False)
class Sensitive:
    """Codes over the distinct values of one or several columns.

    `places[c, j]` is the rank that distinct value c has in column j. For one column the codes are
    the column's own, so they ascend with its values, unless labels write one number twice. Where
    cells are missing, the last code is theirs (`gap`): a value of several columns is missing where
    any of its cells is. Where codes are those of some members of a table, `table` has those of all
    of it, for whatever compares groups with the table.
    """

    columns: tuple[Column, ...]
    codes: NDArray[np.int32]
    places: NDArray[np.int32]
    table: NDArray[np.int32] | None = None

    several: ClassVar[bool] = False  # whether some members have several values, or none

    @classmethod
    def of(cls, columns: tuple[Column, ...]) -> Sensitive:
        """Take columns together; labels that write one number are one value, the first of them."""
        told = [one.codes if one.alike is None else one.alike[one.codes] for one in columns]
        if len(columns) == 1 and columns[0].alike is None:
            places = np.arange(columns[0].distinct, dtype=np.int32)[:, None]
            return cls(columns, told[0], places).with_missing_last()
        keys = np.zeros(len(told[0]), np.int64)
        for column, codes in zip(columns, told, strict=True):
            distinct, keys = np.unique(keys * column.distinct + codes, return_inverse=True)
        first = np.full(len(distinct), len(keys), np.int64)
        np.minimum.at(first, keys, np.arange(len(keys)))
        places = np.column_stack([codes[first] for codes in told])
        return cls(columns, keys.astype(np.int32), places.astype(np.int32)).with_missing_last()

    def with_missing_last(self) -> Self:
        """Return the same with one code for all values that are missing, the last one."""
        missing = np.zeros(self.distinct, np.bool_)
        for j, column in enumerate(self.columns):
            if column.missing is not None:
                missing |= self.places[:, j] == column.missing
        if not missing.any() or (missing[-1] and missing.sum() == 1):
            return self
        known = np.flatnonzero(~missing)
        moved = np.full(self.distinct, len(known), np.int32)
        moved[known] = np.arange(len(known), dtype=np.int32)
        places = self.places[np.append(known, np.argmax(missing))]
        return replace(self, codes=moved[self.codes], places=places)

    @property
    def gap(self) -> int | None:
        """The code of missing values, the last one; None where none is missing."""
        if not len(self.places):
            return None
        last = zip(self.columns, self.places[-1].tolist(), strict=True)
        missing = any(column.missing == rank for column, rank in last)
        return len(self.places) - 1 if missing else None

    @cached_property
    def lacks(self) -> bool:
        """Whether anybody lacks a value, and not only others of the table."""
        codes = self.sets.codes if self.several else self.codes
        return self.gap is not None and bool((codes == self.gap).any())

    @cached_property
    def sets(self) -> ValueSets:
        """The values of each member, here one."""
        return ValueSets(np.arange(len(self.codes) + 1, dtype=np.int64), self.codes)

    @property
    def known(self) -> Sensitive:
        """The values that are not missing, as if there were no others; codes stay the same."""
        if self.gap is None:
            return self
        columns, places = self.known_columns()
        return Sensitive(columns, self.codes[self.codes != self.gap], places)

    def known_columns(self) -> tuple[tuple[Column, ...], NDArray[np.int32]]:
        """Return the columns of rows without missing cells, and the ranks of distinct values."""
        places = self.places[: self.gap].copy()
        there = np.ones(len(self.columns[0].codes), np.bool_)
        for j, column in enumerate(self.columns):
            if column.missing is not None:
                places[:, j] -= places[:, j] > column.missing
                there &= column.codes != column.missing
        rows = np.flatnonzero(there)
        return tuple(column.present(rows) for column in self.columns), places

    @property
    def each_row(self) -> Self:
        """The same row by row, where every code stands for as many rows as have it."""
        times = self.columns[0].times
        if times is None:
            return self
        columns = tuple(
            replace(one, codes=np.repeat(one.codes, times), times=None) for one in self.columns
        )
        return replace(self, columns=columns, codes=np.repeat(self.codes, times))

    @property
    def members(self) -> NDArray[np.int32]:
        """What tells members apart for a relation between them: the code of each one's value."""
        return self.codes

    @property
    def name(self) -> str:
        """The names of the columns, for sentences."""
        return " and ".join(column.name for column in self.columns)

    @property
    def distinct(self) -> int:
        """How many distinct values there are."""
        return len(self.places)

    @property
    def column(self) -> Column:
        """The column where there is a single one."""
        (column,) = self.columns
        return column

    @property
    def numbers(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """The distinct values of a single numeric column, ascending."""
        return self.column.numbers

    def points(self) -> NDArray[np.float64]:
        """Return the distinct values of numeric columns as points, one coordinate a column."""
        return np.column_stack(
            [
                column.numbers.astype(np.float64)[self.places[:, j]]
                for j, column in enumerate(self.columns)
            ]
        )

    def texts(self) -> list[tuple[str, ...]]:
        """Return the labels for what compares them as texts, which would tell `5` from `05`."""
        twice = [one.name for one in self.columns if one.alike is not None]
        if twice:
            msg = (
                f"Column {twice[0]!r} writes the same number in several ways, for example 5 and "
                "05, but the requirement compares texts. Write each number in one way."
            )
            raise InputError(msg)
        return self.labels()

    def labels(self) -> list[tuple[str, ...]]:
        """Return the distinct values as they are spelled, the first spelling of a number."""
        spelled = [c.spellings.gather(self.places[:, j]) for j, c in enumerate(self.columns)]
        return list(zip(*spelled, strict=True))
