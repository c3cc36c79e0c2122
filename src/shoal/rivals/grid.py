"""The domain of a numeric column as evenly spaced values, counted in exact whole units.

A column of whole numbers has steps of 1; one with at most d decimals has steps of 10^-d. Noise is
drawn from these values, so that a reader cannot tell it from a true value by its digits, and the
length of an interval is the number of values in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.errors import InputError, UsageError
from shoal.notation import exact

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.schema.coding import Column

LARGEST = 2**61  # so that the number of values fits 64 bits


@dataclass(frozen=True)
class Grid:
    """The values from `first` to `last`, in units of 10^-`decimals`."""

    first: int
    last: int
    decimals: int

    @classmethod
    def of(cls, column: Column, domain: tuple[float, float] | None = None) -> Grid:
        """Return the domain of a column: the range of its values, or one that holds them all."""
        least, most = Fraction(column.spellings[0]), Fraction(column.spellings[-1])
        low, high = (least, most) if domain is None else map(exact, domain)
        if not low <= least <= most <= high:
            msg = (
                f"The domain [{float(low):g}, {float(high):g}] does not hold all values of "
                f"{column.name}, which go from {float(least):g} to {float(most):g}."
            )
            raise UsageError(msg)
        decimals = max(map(_decimals, (*column.spellings, *map(str, domain or ()))))
        first, last = (-(-low * 10**decimals // 1), high * 10**decimals // 1)
        if max(-first, last) > LARGEST:
            msg = f"The values of {column.name} are too large or too fine to count. Round them."
            raise InputError(msg)
        return cls(int(first), int(last), decimals)

    @property
    def size(self) -> int:
        """How many values there are."""
        return self.last - self.first + 1

    def units(self, value: Fraction) -> Fraction:
        """Return a number in units."""
        return value * 10**self.decimals

    def inside(self, low: Fraction, high: Fraction) -> int:
        """Return how many values of the domain lie in an interval given in units, ends included."""
        first, last = max(self.first, -(-low // 1)), min(self.last, high // 1)
        return max(0, int(last - first) + 1)

    def values(self, units: NDArray[np.int64]) -> pl.Series:
        """Return units as numbers: whole ones, or the doubles nearest to the decimals."""
        if not self.decimals:
            return pl.Series(units)
        scale = 10**self.decimals
        return pl.Series([unit / scale for unit in units.tolist()], dtype=pl.Float64)


def column_units(column: Column, grid: Grid) -> NDArray[np.int64]:
    """Return the distinct values of a column in units, ascending."""
    units = (int(Decimal(text).scaleb(grid.decimals)) for text in column.spellings)
    return np.fromiter(units, np.int64, column.distinct)


def _decimals(text: str) -> int:
    exponent = Decimal(text).normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    return max(0, -exponent)
