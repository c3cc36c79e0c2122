"""Near on a line: for every value the run of values that are near it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import NDArray

    from shoal.table.column import Column

    Near = Callable[[NDArray, NDArray], NDArray[np.bool_]]
from shoal.distances.relation import Band, Bits, Points, Relation, equality, near

TOLERANCE = 1e-9


LARGEST = 2**62
HUGE, HALVED = 1e300, 16


def band_of_column(column: Column, below: Fraction, above: Fraction) -> Band:
    """Return the band of a column's values; widths of dates are in days, and compared exactly."""
    assert column.values is not None
    band = absolute_band(column.values, below * column.per_day, above * column.per_day)
    return with_missing(band, column)


def relative_band_of_column(column: Column, ratio: Fraction) -> Band:
    """Return the relative band of a column's values, whatever unit they have."""
    assert column.values is not None
    return with_missing(relative_band(column.values, ratio), column)


def with_missing(band: Band, column: Column) -> Band:
    """Return the band of numbers with a place for missing ones, which are near to these alone."""
    if column.gap is None:
        return band
    return Band(*(np.append(end, np.int32(column.gap)) for end in (band.first, band.last)))


def absolute_band(values: NDArray, below: Fraction, above: Fraction) -> Band:
    """Return the band of [v - below, v + above] over sorted distinct values."""
    if values.dtype == np.int64:
        low = _shifted(values, -(below.numerator // below.denominator))
        high = _shifted(values, above.numerator // above.denominator)
        return _searched(values, low, high)
    unit = _unit(values, below, above)
    values = values / unit
    low_limit, high_limit = _double(below / unit), _double(above / unit)
    return _bisected(
        values,
        lambda u, v: _within(v - u, u, v, low_limit),
        lambda u, v: _within(u - v, u, v, high_limit),
    )


def relative_band(values: NDArray, ratio: Fraction) -> Band:
    """Return the band of [v - ratio |v|, v + ratio |v|] over sorted distinct values.

    No logarithm: both bounds are non-decreasing in v for ratios from 0 to 1, over zeros and
    negatives too.
    """
    top, bottom = ratio.numerator, ratio.denominator
    if values.dtype == np.int64 and int(np.abs(values).max(initial=0)) * max(top, 1) <= LARGEST:
        reach = np.abs(values) * top // min(bottom, LARGEST + 1)  # of less there is nothing
        return _searched(values, values - reach, values + reach)
    values = values.astype(np.float64) / _unit(values)
    share = float(ratio)

    def near(u: NDArray, v: NDArray) -> NDArray[np.bool_]:
        return _within(np.abs(u - v), u, v, share * np.abs(v))

    return _bisected(values, near, near)


def _unit(values: NDArray, *limits: Fraction) -> int:
    """Return a power of two; divided by it, no sum or difference is beyond all doubles."""
    large = max(float(np.abs(values).max(initial=0)), *map(_double, limits), 0.0)
    return HALVED if large > HUGE else 1


def ordered(relation: Relation) -> tuple[NDArray[np.int64], Band] | None:
    """Return a relation as a band over classes of values, and the class of each value.

    A band is one; so are points on a line, and an equivalence, whose classes are near to
    themselves alone. None for any other relation.
    """
    if isinstance(relation, Band):
        return np.arange(len(relation.first)), relation
    if isinstance(relation, Bits):
        rows, classes = np.unique(relation.rows, axis=0, return_inverse=True)
        alike = (np.bitwise_count(rows).sum(axis=1) == np.bincount(classes)).all()
        return (classes, equality(len(rows))) if alike else None
    return _on_a_line(relation) if isinstance(relation, Points) else None


def _on_a_line(relation: Points) -> tuple[NDArray[np.int64], Band] | None:
    if relation.points.shape[1] > 1 or (np.diff(relation.points[:, 0]) < 0).any():
        return None
    codes = np.arange(len(relation.points))

    def close(u: NDArray, v: NDArray) -> NDArray[np.bool_]:
        return near(relation, u, v)

    return codes, _bisected(codes, close, close)


def _double(limit: Fraction) -> float:
    """Return a limit as a double; one beyond all doubles reaches every value."""
    try:
        return float(limit)
    except OverflowError:
        return float("inf")


def _shifted(values: NDArray, step: int) -> NDArray[np.int64]:
    """Add a step to integers of at most 2**61: no two are more than LARGEST apart."""
    return values + np.int64(min(max(step, -LARGEST), LARGEST))


def _within(distance: NDArray, u: NDArray, v: NDArray, limit: NDArray | float) -> NDArray[np.bool_]:
    size = np.maximum(np.maximum(np.abs(u), np.abs(v)), limit)
    return distance <= limit + TOLERANCE * size


def _searched(values: NDArray, low: NDArray, high: NDArray) -> Band:
    first = np.searchsorted(values, low, side="left").astype(np.int32)
    last = (np.searchsorted(values, high, side="right") - 1).astype(np.int32)
    return Band(first, last)


def _bisected(values: NDArray, near_below: Near, near_above: Near) -> Band:
    """Find both ends of the band of every value at once; being near is monotone on either side."""
    places = np.arange(len(values))
    low, high = np.zeros_like(places), places.copy()
    while (low < high).any():
        middle = (low + high) // 2
        near = near_below(values[middle], values)
        low, high = np.where(near, low, np.minimum(middle + 1, high)), np.where(near, middle, high)
    first = high
    low, high = places.copy(), np.full_like(places, len(values) - 1)
    while (low < high).any():
        middle = (low + high + 1) // 2
        near = near_above(values[middle], values)
        low, high = np.where(near, middle, low), np.where(near, high, np.maximum(middle - 1, low))
    return Band(first.astype(np.int32), low.astype(np.int32))
