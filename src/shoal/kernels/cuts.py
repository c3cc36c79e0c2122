"""Where a column of a bucket can be cut in two, where ties go, and which cut loses least.

A column is cut at its median, or between a node's children.
"""

import numpy as np

from shoal.kernels.compiling import Bytes, Ints, LongInts, Reals, compiled
from shoal.kernels.space import NODE, SET, extent, highest_gap, promise

TIE = 1e-9
TOP = 2**31 - 1


@compiled("boolean(int64, int64, int64)")
def goes_left(tie: int, room: int, ties: int) -> bool:
    """Return whether the tie with this number is one of the `room` among `ties` that go left.

    They are spread evenly, so that either side gets its share of low and of high codes.
    """
    return (tie + 1) * room // ties > tie * room // ties


@compiled("UniTuple(int64, 2)(int32[:,::1], int64, int32)")
def tied(ranks: Ints, column: int, cut: int) -> tuple[int, int]:
    """Return how many ties with the cut make the left half as large as the right, and all ties.

    Where all of them belong left, nothing is divided, and both are 0 (IN: ranks).
    """
    below = ties = 0
    for row in range(ranks.shape[0]):
        below += ranks[row, column] < cut
        ties += ranks[row, column] == cut
    room = (ranks.shape[0] + 1) // 2 - below
    return (0, 0) if room == ties else (room, ties)


@compiled(
    "float64(int32[:,::1], int64, int32, int64, int64, int8[::1], float64[::1], int64[::1],"
    " float64[::1], int32[:,::1], int64, int32[:,::1], int32[:,::1], int32[:,::1], int64[::1])",
)
def cut_loss(
    ranks: Ints,
    column: int,
    cut: int,
    room: int,
    ties: int,
    kinds: Bytes,
    coords: Reals,
    offsets: LongInts,
    units: Reals,
    seen: Ints,
    stamp: int,
    low: Ints,
    high: Ints,
    distinct: Ints,
    sizes: LongInts,
) -> float:
    """Return |G1| loss(G1) + |G2| loss(G2) for the cut at `cut` of `column` (EM section 5.2).

    Of `ties` rows at the cut, `room` go left (0 of 0: all do).

    IN: ranks, kinds, coords, offsets, units. Scratch: seen, low, high, distinct, a row per side.
    OUT: sizes of both sides.
    """
    columns = ranks.shape[1]
    for half in range(2):
        sizes[half] = 0
        for other in range(columns):
            low[half, other] = TOP
            high[half, other] = -1
            distinct[half, other] = 0
    tie = 0
    for row in range(ranks.shape[0]):
        side = np.int64(ranks[row, column] > cut)
        if ties > 0 and ranks[row, column] == cut:
            side = np.int64(not goes_left(tie, room, ties))
            tie += 1
        sizes[side] += 1
        for other in range(columns):
            rank = ranks[row, other]
            if kinds[other] == SET:
                place = offsets[other] + rank
                if seen[side, place] != stamp:
                    seen[side, place] = stamp
                    distinct[side, other] += 1
            else:
                low[side, other] = min(low[side, other], rank)
                high[side, other] = max(high[side, other], rank)
    total = 0.0
    for half in range(2):
        box = 0.0
        for other in range(columns):
            if kinds[other] >= NODE:
                box += promise(
                    coords,
                    offsets[other],
                    kinds[other] - NODE,
                    low[half, other],
                    high[half, other],
                    units[other],
                )
                continue
            box += extent(
                other,
                low[half, other],
                high[half, other],
                distinct[half, other],
                kinds,
                coords,
                offsets,
                units,
            )
        total += sizes[half] * box
    return total


@compiled("int64(float64[::1], int64)")
def earliest_least(scores: Reals, count: int) -> int:
    """Return the first of the least scores; what rounding alone tells apart counts as equal."""
    least = scores[0]
    for place in range(1, count):
        least = min(least, scores[place])
    place = 0
    while scores[place] > least + TIE:
        place += 1
    return place


HISTOGRAM = 4  # a median is counted when the span is at most this many times the bucket


@compiled("int32(int32[::1], int64, int64)", "int64(int64[::1], int64, int64)")
def select(values: Ints | LongInts, size: int, place: int) -> int:
    """Return the element at `place` of the sorted values[:size] (Hoare's selection; IN/OUT)."""
    low, high = 0, size - 1
    while low < high:
        pivot = values[(low + high) >> 1]
        left, right = low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if place <= right:
            high = right
        elif place >= left:
            low = left
        else:
            break
    return values[place]


@compiled("int32(int32[:,::1], int64, int32, int32, int32[::1], int32[::1])")
def lower_median(ranks: Ints, column: int, low: int, high: int, histogram: Ints, copy: Ints) -> int:
    """Return the element (size - 1) // 2 of the sorted column (IN: ranks; scratch: the rest)."""
    size = ranks.shape[0]
    place = (size - 1) // 2
    if high - low + 1 > HISTOGRAM * size:
        for row in range(size):
            copy[row] = ranks[row, column]
        return select(copy, size, place)
    for rank in range(high - low + 1):
        histogram[rank] = 0
    for row in range(size):
        histogram[ranks[row, column] - low] += 1
    rank, left = -1, place
    while left >= 0:
        rank += 1
        left = int(left - histogram[rank])
    return rank + low


@compiled(
    "int32(int32[:,::1], int64, int32, int32, float64[::1], int64, int64, int32[::1])",
)
def child_cut(
    ranks: Ints,
    column: int,
    low: int,
    high: int,
    coords: Reals,
    start: int,
    width: int,
    histogram: Ints,
) -> int:
    """Return the last rank of the left half when a node is cut between two of its children.

    Of the places between children of the lowest node over low … high, the one that leaves the
    halves most equal (IN: ranks, and the table of the column at `start`; scratch: histogram).
    """
    size = ranks.shape[0]
    for rank in range(high - low + 1):
        histogram[rank] = 0
    for row in range(size):
        histogram[ranks[row, column] - low] += 1
    top = highest_gap(coords, start, width, low, high)
    best, uneven, left = low, size + 1, 0
    for rank in range(low, high):
        left += histogram[rank - low]
        if coords[start + rank * width] == top and abs(size - 2 * left) < uneven:
            best, uneven = rank, abs(size - 2 * left)
    return best
