"""In which steps the values of a column are counted.

Numbers in steps of the finest decimal that occurs, whole numbers in steps of 1; dates in days, and
in microseconds where there is a time of day.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor, log10
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.schema.dates import MICROSECONDS, read_moments

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIGITS = 15  # whole numbers of so many digits are exact as doubles
FINEST = 300  # decimals; more would overflow


@dataclass(frozen=True)
class Ruler:
    """How many units there are to a number, or to a day."""

    units: Fraction
    dates: bool = False

    @classmethod
    def of(cls, texts: pl.Series, *, dates: bool = False) -> Ruler:
        """Return the ruler on which all of some numbers or dates have a place.

        >>> Ruler.of(pl.Series(["20", "2.50", "1e3"])).units
        Fraction(10, 1)
        """
        if not dates:
            return cls(Fraction(10) ** _decimals(texts))
        moments = read_moments(texts)
        assert moments is not None
        return cls(Fraction(MICROSECONDS if (moments % MICROSECONDS).any() else 1), dates=True)

    def places(self, texts: pl.Series) -> NDArray[np.float64]:
        """Return numbers or dates in whole units."""
        if not self.dates:
            return np.rint(texts.cast(pl.Float64).to_numpy() * float(self.units))
        moments = read_moments(texts)
        assert moments is not None
        return (moments // (MICROSECONDS // int(self.units))).astype(np.float64)


def _decimals(texts: pl.Series) -> int:
    """Return the most decimals of some numbers, as many as doubles can tell apart."""
    digits = texts.str.extract(r"\.([0-9]*?)0*(?:[eE]|$)").str.len_chars().fill_null(0)
    shifts = texts.str.extract(r"[eE]\+?(-?[0-9]+)$").cast(pl.Int64).fill_null(0)
    needed = int((digits.cast(pl.Int64) - shifts).max())  # type: ignore[arg-type]
    largest = float(texts.cast(pl.Float64).abs().max())  # type: ignore[arg-type]
    room = DIGITS - 1 - floor(log10(largest)) if largest > 0 else FINEST
    return min(max(needed, 0), room, FINEST)
