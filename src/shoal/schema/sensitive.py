"""A sensitive value: one column, or several columns taken together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.schema.coding import Column


@dataclass(frozen=True, eq=False)
class Sensitive:
    """Codes over the distinct values of one or several columns.

    `places[c, j]` is the rank that distinct value c has in column j. For one column the codes are
    the column's own, so they ascend with its values.
    """

    columns: tuple[Column, ...]
    codes: NDArray[np.int32]
    places: NDArray[np.int32]

    @classmethod
    def of(cls, columns: tuple[Column, ...]) -> Sensitive:
        """Take columns together."""
        if len(columns) == 1:
            places = np.arange(columns[0].distinct, dtype=np.int32)[:, None]
            return cls(columns, columns[0].codes, places)
        keys = np.zeros(len(columns[0].codes), np.int64)
        for column in columns:
            distinct, keys = np.unique(keys * column.distinct + column.codes, return_inverse=True)
        first = np.full(len(distinct), len(keys), np.int64)
        np.minimum.at(first, keys, np.arange(len(keys)))
        places = np.column_stack([column.codes[first] for column in columns])
        return cls(columns, keys.astype(np.int32), places.astype(np.int32))

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

    def labels(self) -> list[tuple[str, ...]]:
        """Return the distinct values as they are spelled."""
        spelled = [
            column.spellings.gather(self.places[:, j]) for j, column in enumerate(self.columns)
        ]
        return list(zip(*spelled, strict=True))
