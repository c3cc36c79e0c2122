"""Where a column of a bucket can be cut in two: at its median, or between a node's children."""

from numba import njit

from shoal.kernels.arrays import Ints, Reals
from shoal.kernels.space import highest_gap

HISTOGRAM = 4  # a median is counted when the span is at most this many times the bucket


@njit("int32(int32[::1], int64, int64)", cache=True, nogil=True)
def select(values: Ints, size: int, place: int) -> int:
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


@njit("int32(int32[:,::1], int64, int32, int32, int32[::1], int32[::1])", cache=True, nogil=True)
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


@njit(
    "int32(int32[:,::1], int64, int32, int32, float64[::1], int64, int64, int32[::1])",
    cache=True,
    nogil=True,
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
