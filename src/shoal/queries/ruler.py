"""In which steps the values of a column are counted.

Numbers in steps of the finest decimal that occurs, whole numbers in steps of 1; dates in days, and
in microseconds or nanoseconds where there is a time of day.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import floor, log10
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.schema.coding import INTEGER
from shoal.schema.dates import LARGEST, date_units, parse_dates

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIGITS = 15  # whole numbers of so many digits are exact as doubles
FINEST = 300  # decimals; more would overflow


@dataclass(frozen=True)
class Ruler:
    """How many units there are to a number, or to a day, and at which of them counting begins.

    Places are counted from the least number, so that large numbers close together stay apart.
    """

    units: Fraction
    origin: int = 0
    dates: bool = False

    @classmethod
    def of(cls, texts: pl.Series, *, dates: bool = False) -> Ruler:
        """Return the ruler on which all of some numbers or dates have a place.

        >>> Ruler.of(pl.Series(["20", "2.50", "1e3"])).units
        Fraction(10, 1)
        """
        if dates:
            read = parse_dates(texts)
            assert read is not None
            return cls(Fraction(read[1]), int(read[0].min()), dates=True)
        if texts.str.contains(INTEGER).all():
            return cls(Fraction(1), int(integers(texts).min()))
        return cls(Fraction(10) ** _decimals(texts))

    def places(self, texts: pl.Series) -> NDArray[np.float64]:
        """Return numbers or dates in whole units from the origin."""
        if self.dates:
            moments, _, _ = date_units(texts, int(self.units))
            return (moments - self.origin).astype(np.float64)
        if self.units == 1 and texts.str.contains(INTEGER).all():
            return (integers(texts) - self.origin).astype(np.float64)
        return np.rint(texts.cast(pl.Float64).to_numpy() * float(self.units)) - self.origin

    def shift(self, finer: Ruler) -> tuple[float, float]:
        """Return by what a place has to be multiplied, and what added, for a finer ruler."""
        factor = finer.units / self.units
        return float(factor), float(self.origin * factor - finer.origin)


def integers(texts: pl.Series) -> NDArray:
    """Return integers exactly, as 64 bits where their differences fit, as Python's otherwise."""
    known = texts.cast(pl.Int64, strict=False)
    if not known.has_nulls() and bool(known.is_between(-LARGEST, LARGEST).all()):
        return known.to_numpy()
    return np.array([int(Decimal(text)) for text in texts], object)


def _decimals(texts: pl.Series) -> int:
    """Return the most decimals of some numbers, as many as doubles can tell apart."""
    digits = texts.str.extract(r"\.([0-9]*?)0*(?:[eE]|$)").str.len_chars().fill_null(0)
    shifts = texts.str.extract(r"[eE]\+?(-?[0-9]+)$").cast(pl.Int64).fill_null(0)
    needed = int((digits.cast(pl.Int64) - shifts).max())  # type: ignore[arg-type]
    largest = float(texts.cast(pl.Float64).abs().max())  # type: ignore[arg-type]
    room = DIGITS - 1 - floor(log10(largest)) if largest > 0 else FINEST
    return min(max(needed, 0), room, FINEST)
