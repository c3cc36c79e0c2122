"""Loss of a set of rows in quasi space: which ranks it spans and what that costs.

A quasi column is an array of ranks over its sorted distinct values. Rank r of column j stands at
`coords[offsets[j] + r]`, scaled so that the whole column has length one (times its weight).
"""

from numba import njit

from shoal.kernels.arrays import Bytes, LongInts, Reals

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
