"""Where the ends of intervals stand among the values of a column, compared exactly.

Ends are texts, because a cell is published as text: integers of any size are compared as integers,
dates in whole units of time, and decimals as the doubles that the column holds.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.table.coding import NUMBER
from shoal.table.column import INTEGER
from shoal.table.dates import date_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.table.column import Column

EMPTY = (1, 0)  # ranks between which there is none
SHORT = r"[eE][+-]?[0-9]{1,5}$|^[^eE]*$"  # an exponent with more digits would fill the memory


def ranks_within(
    column: Column, low: pl.Series, high: pl.Series
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the last rank from each low end to each high end, both included.

    Where an end is no number (or no date), there is none: `EMPTY`.
    """
    first, found_low = _places(column, low, after=False)
    last, found_high = _places(column, high, after=True)
    good = found_low & found_high
    return np.where(good, first, EMPTY[0]), np.where(good, last - 1, EMPTY[1])


def _places(
    column: Column, texts: pl.Series, *, after: bool
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Count the values before each text, or up to it with `after`; and which texts can be read."""
    side = "right" if after else "left"
    if column.dates:
        floor, ceiling, good = date_units(texts, column.per_day)
        wanted = floor if after else ceiling
        return np.searchsorted(column.exact, wanted, side), good  # type: ignore[call-overload]
    read = (texts.str.contains(NUMBER) & texts.str.contains(SHORT)).fill_null(value=False)
    known = texts.filter(read)
    values = column.exact
    if values.dtype == np.float64:
        ends: NDArray = known.cast(pl.Float64).to_numpy()
    else:
        ends = _whole(known, ROUND_FLOOR if after else ROUND_CEILING)
        if ends.dtype != values.dtype:
            values = values.astype(object)
    places = np.zeros(len(texts), np.int64)
    places[read.to_numpy()] = np.searchsorted(values, ends, side)  # type: ignore[call-overload]
    return places, read.to_numpy()


def _whole(texts: pl.Series, rounding: str) -> NDArray:
    """Return numbers rounded to integers, as 64 bits where all fit and as Python's otherwise."""
    integers = texts.cast(pl.Int64, strict=False)
    if texts.str.contains(INTEGER).all() and not integers.has_nulls():
        return integers.to_numpy()
    whole = [int(Decimal(text).to_integral_value(rounding)) for text in texts]
    found = np.empty(len(whole), object)
    found[:] = whole
    return found
