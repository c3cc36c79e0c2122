"""Where the ends of intervals stand among the values of a column, compared exactly.

Ends are texts, because a cell is published as text: integers of any size are compared as integers,
dates in whole units of time, and decimals as the doubles that the column holds.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.table.coding import NUMBER
from shoal.table.column import INTEGER
from shoal.table.dates import LARGEST, date_parts, date_units

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


def shares_of(
    low: pl.Series, high: pl.Series, domain: pl.Series, *, dates: bool
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return which share of a domain each interval spans, and which lie outside of it.

    `domain` has two texts, its least and its greatest value.
    """
    texts = pl.concat([low, high, domain])
    lows, highs, ends = slice(len(low)), slice(len(low), -2), slice(-2, None)
    if dates:
        seconds, rest = (part.fill_null(0).to_numpy() for part in date_parts(texts))
        read = date_parts(texts)[0].is_not_null().to_numpy()
        parts = [(seconds[part], rest[part]) for part in (lows, highs)]
        (low_end, high_end) = zip(seconds[ends], rest[ends], strict=True)
        inside = _ordered(low_end, parts[0]) & _ordered(*parts) & _ordered(parts[1], high_end)
        widths = _between(*parts)
        whole = float(_between(low_end, high_end))
        return _divided(widths, whole), ~(inside & read[lows] & read[highs])
    numbers = _numbers(texts)
    least, most = numbers[ends]
    bad = ~((least <= numbers[lows]) & (numbers[lows] <= numbers[highs]) & (numbers[highs] <= most))
    if numbers.dtype == np.float64:
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(most - least):
                numbers = numbers / 2  # so that the span does not overflow
                least, most = numbers[ends]
            widths = numbers[highs] - numbers[lows]
    else:
        widths = numbers[highs] - numbers[lows]
    return _divided(widths, most - least), bad.astype(bool)


def backwards(low: Any, high: Any, *, dates: bool) -> bool:
    """Return whether an interval ends before it begins."""
    if not dates:
        return low > high
    seconds, rest = (part.to_list() for part in date_parts(pl.Series([low, high])))
    return (seconds[0], rest[0]) > (seconds[1], rest[1])


def outermost(low: pl.Series, high: pl.Series, domain: pl.Series, *, dates: bool) -> bool:
    """Return whether the least low and the greatest high end are the two of a domain, exactly."""
    texts = pl.concat([low, high, domain])
    if dates:
        seconds, rest = (part.fill_null(0).to_numpy() for part in date_parts(texts))
        places = np.lexsort((rest, seconds))
        numbers = np.zeros(len(texts), np.int64)
        new = np.diff(seconds[places], prepend=0).astype(bool) | np.diff(
            rest[places], prepend=0
        ).astype(bool)
        numbers[places] = np.cumsum(new)
    else:
        numbers = _numbers(texts)
    least, most = numbers[-2:]
    return bool(numbers[: len(low)].min() == least and numbers[len(low) : -2].max() == most)


def _numbers(texts: pl.Series) -> NDArray:
    """Return numbers, exact where all are integers; NaN for what is no number."""
    if texts.str.contains(INTEGER).fill_null(value=False).all():
        integers = texts.cast(pl.Int64, strict=False)
        if not integers.has_nulls() and bool(integers.is_between(-LARGEST, LARGEST).all()):
            return integers.to_numpy()
        found = np.empty(len(texts), object)
        found[:] = [int(Decimal(text)) for text in texts]
        return found
    return texts.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()


def _divided(widths: NDArray, whole: float) -> NDArray[np.float64]:
    return (widths / whole).astype(np.float64) if whole > 0 else np.zeros(len(widths))


def _ordered(first: tuple[NDArray, NDArray], second: tuple[NDArray, NDArray]) -> NDArray[np.bool_]:
    """Return whether times, in seconds and nanoseconds, are not after others."""
    same = (first[0] == second[0]) & (first[1] <= second[1])
    return (first[0] < second[0]) | same


def _between(first: tuple[NDArray, NDArray], second: tuple[NDArray, NDArray]) -> NDArray:
    return (second[0] - first[0]) + (second[1] - first[1]) / 10**9
