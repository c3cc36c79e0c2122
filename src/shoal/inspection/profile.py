"""A column as its distinct cells and how often each stands there; everything is asked of those."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.sampling import draw
from shoal.table.coding import NUMBER, check_type
from shoal.table.domain import INTEGER

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST = 50  # distinct cells that mostly tell whether all are alike
SAMPLE = 2_000  # rows that tell whether half could be alike


@dataclass(frozen=True, eq=False)
class Profile:
    """The distinct cells of a column as text, without missing ones, and their counts."""

    column: pl.Series
    cells: pl.Series
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, column: pl.Series) -> Profile:
        """Count the cells of a column."""
        if column.dtype.is_float():
            column = column.fill_nan(None)
        known = column.drop_nulls().value_counts(name="#count" if column.name != "#count" else "#")
        cells, counts = known.get_columns()
        spelled = cells.cast(pl.String)
        # Some kinds of cells are spelled alike though they differ, as timestamps of two zones.
        if column.dtype != pl.String and spelled.n_unique() < len(spelled):
            merged = (
                pl.DataFrame({"cell": spelled, "count": counts})
                .group_by("cell")
                .agg(pl.col("count").sum())
            )
            spelled, counts = merged["cell"], merged["count"]
        return cls(column, spelled, counts.to_numpy().astype(np.int64))

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.column.name

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.column)

    @property
    def distinct(self) -> int:
        """How many distinct values there are."""
        return len(self.cells)

    @property
    def filled(self) -> int:
        """How many cells have a value."""
        return int(self.counts.sum())

    @property
    def missing(self) -> int:
        """How many cells have none."""
        return self.rows - self.filled

    @property
    def mode_share(self) -> float:
        """The share of the most frequent value among the cells that have one."""
        return float(self.counts.max()) / self.filled if self.distinct else 0.0

    @cached_property
    def is_number(self) -> NDArray[np.bool_]:
        """Which distinct cells are numbers."""
        if self.column.dtype.is_numeric():
            return np.ones(self.distinct, bool)
        return self.matching(NUMBER)

    @cached_property
    def all_numbers(self) -> bool:
        """Whether every cell is a number, and there are cells."""
        if not self.distinct:
            return False
        return self.column.dtype.is_numeric() or self.all_match(NUMBER)

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """The numbers that the distinct cells are, where all are."""
        if not self.all_numbers:
            return None
        return self.cells.cast(pl.Float64, strict=False).fill_null(np.inf).to_numpy()

    @cached_property
    def whole(self) -> bool:
        """Whether every cell is a whole number."""
        return bool(self.distinct) and self.all_match(INTEGER)

    def matching(self, pattern: str) -> NDArray[np.bool_]:
        """Return which distinct cells match a pattern."""
        return self.cells.str.contains(pattern).to_numpy()

    def all_match(self, pattern: str) -> bool:
        """Whether every cell matches a pattern; the first ones mostly tell."""
        first = self.cells.head(FIRST).str.contains(pattern).all()
        return bool(first) and bool(self.matching(pattern).all())

    def mostly(self, pattern: str) -> bool:
        """Whether at least half of the cells match a pattern; a sample rules most columns out.

        Rows are drawn at random, so a cell that stands there often is drawn often: that less than a
        quarter of the sample matches where half of the rows do has a chance of 10^-100.
        """
        if self.distinct > 2 * SAMPLE:
            rows = draw(self.filled, SAMPLE).places
            picked = np.searchsorted(np.cumsum(self.counts), rows, side="right")
            matched = self.cells.gather(picked).str.contains(pattern)
            if 4 * int(matched.sum()) < SAMPLE:
                return False
        return 2 * self.count(self.matching(pattern)) >= self.filled

    def count(self, which: NDArray[np.bool_]) -> int:
        """Return how many cells are among some distinct ones."""
        return int(self.counts[which].sum())

    def first_row(self, which: NDArray[np.bool_]) -> int:
        """Return the first data row, counted from 1, with a cell among some distinct ones."""
        wanted = self.cells.filter(pl.Series(which))
        found = self.column.cast(pl.String).is_in(wanted.implode()).arg_max()
        return 1 + int(found or 0)

    def most_frequent(self, count: int) -> list[tuple[str, int]]:
        """Return the most frequent cells, with how often each stands there."""
        order = np.lexsort((self.cells.rank("ordinal").to_numpy(), -self.counts))[:count]
        return [(self.cells[int(place)], int(self.counts[place])) for place in order]

    def codes(self) -> NDArray[np.int64]:
        """Return for each row which distinct cell it has, -1 where it has none."""
        physical = self.column.cast(pl.String).cast(pl.Enum(self.cells)).to_physical()
        return physical.cast(pl.Int64).fill_null(-1).to_numpy()


def usable(column: pl.Series) -> str | None:
    """Return what is wrong with a column that can have no role at all, None for others."""
    try:
        check_type(column)
    except InputError:
        return f"it holds {column.dtype}: turn it into text, numbers or dates first"
    return None
