"""Loss of a set of rows in quasi space: which ranks it spans and what that costs.

A quasi column is an array of ranks over its sorted distinct values. Rank r of an interval column j
stands at `coords[offsets[j] + r]`, scaled so that the whole column has length one (times its
weight, which is `units[j]`). Missing numbers stand one length beyond the highest, and no range
costs more than the whole column. A node column has its ranks in the order of a hierarchy's tree, so
the lowest common ancestor of a range is the highest one of any two neighbours in it. Its kind is
NODE + w, and its table has w numbers a rank: number i of rank r is the largest NCP of the node over
two neighbours among r … r + 2**i, so that the NCP of any range is read off two of them.
"""

from shoal.kernels.compiling import Bytes, LongInts, Reals, compiled

INTERVAL, SET, NODE = 0, 1, 2
SQUARE, ONE_HOT = -1, -2  # where squares are lost: numbers, and labels as 0 and 1 for each


@compiled("float64(float64[::1], int64, int64, int64, int64)")
def highest_gap(coords: Reals, start: int, width: int, low: int, high: int) -> float:
    """Return the NCP of the lowest node over the ranks low … high (IN: its table at `start`)."""
    if low >= high:
        return 0.0
    step, row = 1, 0
    while 2 * step <= high - low:
        step *= 2
        row += 1
    return max(coords[start + low * width + row], coords[start + (high - step) * width + row])


@compiled("float64(float64[::1], int64, int64, int64, int64, float64)")
def promise(coords: Reals, start: int, width: int, low: int, high: int, unit: float) -> float:
    """Return the mean of a node's NCP and of the share of labels between its ends.

    While a range shrinks, the node over it stays the same for long and then drops at once. A search
    that looks for the least loss step by step needs to see that it comes nearer.
    """
    return (highest_gap(coords, start, width, low, high) + (high - low) * unit) / 2


@compiled(
    "float64(int64, int64, int64, int64, int8[::1], float64[::1], int64[::1], float64[::1])",
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
    """Return the NCP of a published cell: interval (high - low), set (labels - 1) * unit, or node.

    An interval costs at most the whole column, which it does where missing numbers are in it.
    `distinct` counts the labels of a set and is not read for the others.
    """
    if kinds[column] == SET:
        return (distinct - 1) * units[column]
    if kinds[column] >= NODE:
        return highest_gap(coords, offsets[column], kinds[column] - NODE, low, high)
    return min(coords[offsets[column] + high] - coords[offsets[column] + low], units[column])
