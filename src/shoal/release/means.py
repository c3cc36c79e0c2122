"""Means of cells: computed exactly, rounded once, spelled as their column is."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.table.column import INTEGER
from shoal.table.dates import MICROSECONDS, units_as_dates

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shoal.release.cover import Cover, Covering
    from shoal.table.column import Column

    Spell = Callable[[Cover, str], list[pl.Series]]

MORE = 2  # decimals that a mean has beyond those of its column
LARGEST = 2**62  # what sums of 64 bits may reach
EXACT = 2**53  # up to here every integer is a double
DAY = 86_400
DOUBLE = 16  # from here on the power of ten alone is beyond what doubles hold exactly
STEPS = (DAY, 3600, 60, 1)  # seconds that dates may all be multiples of


@dataclass(frozen=True, eq=False)
class Means:
    """The rounded mean of each cell's rows, in whole units: decimals, or units of time."""

    units: NDArray  # 64 bits, or Python's integers where these would not do
    digits: int

    def only(self, chosen: NDArray) -> Means:
        """Return the means of some cells."""
        return Means(self.units[chosen], self.digits)


def cell_means(column: Column, cover: Covering) -> Means:
    """Return the mean over each cell's rows of a column of numbers or dates."""
    return means_of(column, *cell_sums(column, cover))


def cell_sums(column: Column, cover: Covering) -> tuple[NDArray, NDArray[np.int64]]:
    """Return the sum over each cell's rows, in the units of the column's values, and their number.

    Rows with missing cells count in neither.
    """
    values, _ = _in_units(column)
    largest = max(abs(int(values.min())), abs(int(values.max())))
    sizes = np.diff(cover.starts)
    if largest * int(sizes.max()) * 10**MORE >= LARGEST:
        values = values.astype(object)
    ranks = column.codes[cover.order]
    if column.gap is not None:
        values = np.append(values, 0)
        sizes = np.add.reduceat((ranks != column.gap).astype(np.int64), cover.starts[:-1])
    return np.add.reduceat(values[ranks], cover.starts[:-1]), sizes


def means_of(column: Column, sums: NDArray, sizes: NDArray[np.int64]) -> Means:
    """Return means from sums in the units of a column's values: 0, and not shown, of no rows."""
    sizes = np.maximum(sizes, 1)
    if column.dates:
        step = _step(column)
        return Means(_rounded(sums // step, sizes, even=False) * step, 0)
    return Means(_rounded(sums * 10**MORE, sizes), decimals_of(column) + MORE)


def decimals_of(column: Column) -> int:
    """Return how many decimals the unit of a column's values has."""
    return _in_units(column)[1]


def _in_units(column: Column) -> tuple[NDArray, int]:
    """Return the value of each rank in whole units, and how many decimals a unit has."""
    assert column.values is not None
    if column.dates or column.known.str.contains(INTEGER).all():
        return column.exact, 0
    texts = pl.Series(column.values).cast(pl.String)  # the shortest that spell these doubles
    digits = _decimals(texts)
    largest = float(np.abs(column.values).max())
    if digits < DOUBLE and largest * 10.0**digits < EXACT:
        return np.rint(column.values * 10.0**digits).astype(np.int64), digits
    exact = np.empty(len(texts), object)
    exact[:] = [int(Fraction(text) * 10**digits) for text in texts]
    return exact, digits


def _decimals(texts: pl.Series) -> int:
    """Return the most decimals of some numbers; zeros at the end are none."""
    digits = texts.str.extract(r"\.([0-9]*?)0*(?:[eE]|$)").str.len_chars().fill_null(0)
    shifts = texts.str.extract(r"[eE]\+?(-?[0-9]+)$").cast(pl.Int64).fill_null(0)
    return max(int((digits.cast(pl.Int64) - shifts).max()), 0)  # type: ignore[arg-type]


def _step(column: Column) -> int:
    """Return the largest step, in units of time, that all dates of a column are multiples of."""
    if column.per_day == 1:
        return 1
    second = column.per_day // DAY
    steps = [second * seconds for seconds in STEPS]
    steps += [second // 10**digits for digits in range(1, 10) if second % 10**digits == 0]
    values = column.values
    assert values is not None
    return next(step for step in steps if not (values % step).any())


def _rounded(sums: NDArray, sizes: NDArray[np.int64], *, even: bool = True) -> NDArray:
    """Divide whole numbers and round to the nearest, a tie to the even one or to the lower."""
    quotients = sums // sizes
    twice = 2 * (sums - quotients * sizes)
    up = (twice > sizes) | (even & (twice == sizes) & (quotients % 2 == 1))
    return quotients + up.astype(np.int64)


def mean_texts(column: Column, means: Means) -> pl.Series:
    """Spell means: numbers with all their decimals, dates by ISO 8601."""
    if column.dates:
        found = _mean_dates(column, means)
        if column.per_day == 1:
            return found.cast(pl.String)
        fraction = "%.6f" if column.per_day == MICROSECONDS else "%.9f"
        return found.dt.to_string(f"%Y-%m-%dT%H:%M:%S{fraction}")
    if means.units.dtype == object:
        texts = [_spelled(int(unit), means.digits) for unit in means.units]
        return pl.Series(column.name, texts, pl.String)
    whole, rest = np.divmod(np.abs(means.units), 10**means.digits)
    parts = pl.DataFrame({"whole": whole, "rest": rest, "below": means.units < 0})
    return parts.select(
        pl.concat_str(
            pl.when("below").then(pl.lit("-")).otherwise(pl.lit("")),
            pl.col("whole").cast(pl.String),
            pl.lit("."),
            pl.col("rest").cast(pl.String).str.zfill(means.digits),
        ).alias(column.name)
    )[column.name]


def _mean_dates(column: Column, means: Means) -> pl.Series:
    return units_as_dates(means.units.astype(np.int64), column.per_day).alias(column.name)


def _spelled(unit: int, digits: int) -> str:
    whole, rest = divmod(abs(unit), 10**digits)
    return f"{'-' if unit < 0 else ''}{whole}.{rest:0{digits}d}"


def mean_values(column: Column, means: Means, ends: pl.DataType) -> pl.Series:
    """Return means as doubles or dates; between integers that no double holds, as text."""
    if column.dates:
        return _mean_dates(column, means)
    texts = mean_texts(column, means)
    if ends != pl.Float64 and max(-int(column.known[0]), int(column.known[-1])) > EXACT:
        return texts
    return texts.cast(pl.Float64)
