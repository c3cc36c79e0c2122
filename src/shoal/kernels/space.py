"""Loss of a set of rows in quasi space: which ranks it spans and what that costs.

A quasi column is an array of ranks over its sorted distinct values. Rank r of column j stands at
`coords[offsets[j] + r]`, scaled so that the whole column has length one (times its weight).
"""

from numba import njit

from shoal.kernels.arrays import Bytes, Ints, LongInts, Reals

INTERVAL, SET = 0, 1


@njit(
    "float64(int64, int64, int64, int64, int8[::1], float64[::1], int64[::1], float64[::1])",
    cache=True,
    nogil=True,
    inline="always",
)
def extent(
    column: int,
    low: int,
    high: int,
    distinct: int,
    kinds: Bytes,
    coords: Reals,
    offsets: LongInts,
    units: Reals,
) -> float:
    """Return the NCP of one published cell: interval (high - low), set (labels - 1) * unit."""
    if kinds[column] == SET:
        return (distinct - 1) * units[column]
    return coords[offsets[column] + high] - coords[offsets[column] + low]


@njit(
    "float64(int32[:,::1], int8[::1], float64[::1], int64[::1], float64[::1], int32[::1], int64)",
    cache=True,
    nogil=True,
)
def box_loss(
    ranks: Ints,
    kinds: Bytes,
    coords: Reals,
    offsets: LongInts,
    units: Reals,
    seen: Ints,
    stamp: int,
) -> float:
    """Return the sum of NCP over the columns for one set of rows.

    `seen` has a cell per value of every column; a cell that holds `stamp` was met in this set
    (IN/OUT), which spares clearing it between sets.
    """
    total = 0.0
    for column in range(ranks.shape[1]):
        low = high = ranks[0, column]
        distinct = 0
        for row in range(ranks.shape[0]):
            rank = ranks[row, column]
            low = min(low, rank)
            high = max(high, rank)
            if kinds[column] == SET and seen[offsets[column] + rank] != stamp:
                seen[offsets[column] + rank] = stamp
                distinct += 1
        total += extent(column, low, high, distinct, kinds, coords, offsets, units)
    return total
