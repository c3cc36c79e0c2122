"""Who is near: for values on a line the run of values near each, and how many are near whom."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from shoal.distances.relation import Band, Bits, Points, Relation, Unsure, equality, near, pack
from shoal.progress import in_threads

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import NDArray

    from shoal.principles.groups import Groups
    from shoal.table.column import Column
    from shoal.table.sensitive import Sensitive, ValueSets

    Near = Callable[[NDArray, NDArray], NDArray[np.bool_]]

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


PIECES = 32  # jobs that counting neighbours is cut into


def most_near(relation: Relation, groups: Groups, sensitive: Sensitive) -> NDArray[np.int64]:
    """Count, in each group, the members near to its most exposed member, itself included.

    A band takes linear time after one sort; the other forms compare the distinct values of each
    group with one another. Where members have several values each, those are counted who have a
    value near to the most exposed value.
    """
    if sensitive.several:
        return most_people(relation, groups, sensitive.sets)
    known = relation.values if isinstance(relation, Unsure) else relation
    return beside_missing(groups, sensitive, partial(_most, known))


def beside_missing(
    groups: Groups, sensitive: Sensitive, count: Callable[[NDArray, NDArray], NDArray[np.int64]]
) -> NDArray[np.int64]:
    """Count something among the known values of each group, and add all that are missing.

    `count` takes codes, ascending in each group, and where groups begin; some may be empty.
    """
    codes = groups.sorted_codes(sensitive)
    if sensitive.gap is None:
        return count(codes, groups.starts)
    missing = codes == sensitive.gap
    before = np.concatenate([[0], np.cumsum(missing)])[groups.starts]
    return count(codes[~missing], groups.starts - before) + np.diff(before)


def _most(relation: Relation, codes: NDArray, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    counts = np.zeros(len(starts) - 1, np.int64)
    if isinstance(relation, Band):
        from shoal.kernels.windows import most_proximate

        most_proximate(codes, starts, relation.first, relation.last, counts)
    else:
        from shoal.kernels.relations import largest_neighbourhoods

        largest_neighbourhoods(pack([relation]), codes, starts, counts)
    return counts


def most_people(relation: Relation, groups: Groups, sets: ValueSets) -> NDArray[np.int64]:
    """Count as `most_near` does where members have several values each."""
    owners = sets.owners
    order = np.lexsort((sets.codes, groups.labels[owners]))
    codes, members = sets.codes[order], owners[order].astype(np.int32)
    entries = np.bincount(groups.labels, weights=np.diff(sets.ends), minlength=len(groups))
    starts = np.concatenate([[0], np.cumsum(entries)]).astype(np.int64)
    counts = np.empty(len(groups), np.int64)
    lacking = np.zeros(len(groups.labels), np.bool_)
    known: Relation = relation
    if isinstance(relation, Unsure) and isinstance(relation.values, Band):
        lacking[owners[sets.codes == relation.gap]] = True
        known = relation.values
    if isinstance(known, Band):
        from shoal.kernels.windows import most_people_proximate

        # Whoever lacks a value is near to all, so is counted beforehand and not again.
        inside = lacking.astype(np.int64)
        most_people_proximate(codes, members, starts, known.first, known.last, inside, counts)
        counts += np.bincount(groups.labels, lacking, len(groups)).astype(np.int64)
    else:
        from shoal.kernels.relations import most_people_near

        seen = np.full(len(groups.labels), -1, np.int64)
        most_people_near(pack([relation]), codes, members, starts, seen, counts)
    return counts


def neighbourhood_sizes(relation: Relation, sensitive: Sensitive) -> NDArray[np.int64]:
    """Count, for each distinct value, the rows of the whole table near to it, itself included."""
    weights = np.bincount(sensitive.codes, minlength=sensitive.distinct).astype(np.int64)
    if isinstance(relation, Unsure):
        missing = int(weights[relation.gap])
        known = replace(sensitive, codes=sensitive.codes[sensitive.codes != relation.gap])
        sizes = neighbourhood_sizes(relation.values, known) + missing
        sizes[relation.gap] = missing
        return sizes
    if isinstance(relation, Band):
        below = np.concatenate([[0], np.cumsum(weights)])
        return below[relation.last + 1] - below[relation.first]
    sizes = np.empty(sensitive.distinct, np.int64)
    if isinstance(relation, Points):
        count = _fibre_counter(relation, weights, sizes)
    else:
        from shoal.kernels.relations import row_weights

        count = partial(row_weights, relation.rows, weights, sizes)
    ends = np.linspace(0, sensitive.distinct, PIECES + 1).astype(int)
    in_threads([partial(count, begin, end) for begin, end in pairwise(ends)], lambda: None)
    return sizes


def counting_work(relation: Relation) -> int:
    """Return about how many steps `neighbourhood_sizes` takes."""
    if isinstance(relation, Unsure):
        relation = relation.values
    if isinstance(relation, Band):
        return len(relation.first)
    if isinstance(relation, Bits):
        return len(relation.rows) ** 2
    distinct = [len(np.unique(column)) for column in relation.points.T]
    fibres = min(len(relation.points), math.prod(distinct) // max(distinct))
    return len(relation.points) * fibres


def _fibre_counter(
    relation: Points, weights: NDArray[np.int64], sizes: NDArray[np.int64]
) -> Callable[[int, int], None]:
    """Lay the points out along the coordinate with the most values."""
    from shoal.kernels.relations import count_near

    points = relation.points
    along = int(np.argmax([len(np.unique(column)) for column in points.T]))
    others = [column for place, column in enumerate(points.T) if place != along]
    order = np.lexsort([points[:, along], *others])
    across = points.copy()
    across[:, along] = 0
    sorted_across = across[order]
    changes = (sorted_across[1:] != sorted_across[:-1]).any(axis=1)
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1, [len(order)]]).astype(np.int64)
    below = np.concatenate([[0], np.cumsum(weights[order])]).astype(np.int64)

    def count(begin: int, end: int) -> None:
        count_near(
            points,
            along,
            sorted_across[starts[:-1]],
            starts,
            points[order, along],
            below,
            relation.metric,
            relation.threshold,
            begin,
            end,
            sizes,
        )

    return count
