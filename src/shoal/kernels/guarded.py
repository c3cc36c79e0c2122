"""Guarded cuts: a table is cut in two wherever every such cut would do.

A node of N rows may be dealt into groups of s rows where its longest run of near values is at most
w (N // s); `sizes` and `widths` hold the pairs s, w that the requirement allows. It is cut where
half as many groups would be enough for the run of the whole: then no cut, whoever has which value,
can leave a part that may not be dealt.

Rows are moved, not gathered: every node is a contiguous range, ascending in its sensitive codes.
"""

import numpy as np

from shoal.kernels.compiling import Ints, LongInts, Reals, compiled
from shoal.kernels.cuts import select
from shoal.kernels.demands import ascend
from shoal.kernels.windows import longest_run

LEAST_PART = 4  # a part has a quarter of the rows or more: small ones could not be cut again
STACK = 128  # nodes that wait, one a level: 3 / 4 to the 126th of 2**31 rows is less than one


@compiled("int64(int32[::1], int64, int64, float64[::1], int64)")
def best_place(ascending: Ints, low: int, high: int, coords: Reals, start: int) -> int:
    """Return the place of least loss, from low to high, to cut a column of ascending ranks (IN).

    The loss is b (x[b-1] - x[0]) + (N - b) (x[N-1] - x[b]); the place nearest to the middle wins
    among several, the lower of two.
    """
    size = ascending.size
    first, last = coords[start + ascending[0]], coords[start + ascending[size - 1]]
    best, least = low, np.inf
    for place in range(low, high + 1):
        loss = place * (coords[start + ascending[place - 1]] - first)
        loss += (size - place) * (last - coords[start + ascending[place]])
        nearer = abs(size - 2 * place) < abs(size - 2 * best)
        if loss < least or (loss == least and nearer):
            best, least = place, loss
    return best


@compiled(
    "float64(int32[:,::1], int64, int32[::1], int64, float64[::1], int64[::1])",
)
def loss_of_cut(
    ranks: Ints, column: int, ascending: Ints, left: int, coords: Reals, offsets: LongInts
) -> float:
    """Return what the two parts of a cut spread over, rows that tie at a divided edge in both.

    IN: ranks, the ranks of the column ascending, coords, offsets.
    """
    size = ascending.size
    edge, beyond = ascending[left - 1], ascending[left]
    loss = 0.0
    for other in range(ranks.shape[1]):
        low = low_right = np.int32(2**31 - 1)
        high = high_right = np.int32(-1)
        for row in range(size):
            rank = ranks[row, other]
            if ranks[row, column] <= edge:
                low, high = min(low, rank), max(high, rank)
            if ranks[row, column] >= beyond:
                low_right, high_right = min(low_right, rank), max(high_right, rank)
        at = offsets[other]
        loss += left * (coords[at + high] - coords[at + low])
        loss += (size - left) * (coords[at + high_right] - coords[at + low_right])
    return loss


@compiled(
    "UniTuple(int64, 2)(int32[:,::1], int64, int64, float64[::1], int64[::1], int32[::1],"
    " int32[::1])",
)
def cheapest(
    ranks: Ints,
    low: int,
    high: int,
    coords: Reals,
    offsets: LongInts,
    copy: Ints,
    histogram: Ints,
) -> tuple[int, int]:
    """Return the column and the place of the cut that loses least, the first of several.

    The first part gets `low` to `high` rows. IN: ranks, coords, offsets. Scratch: copy, histogram.
    """
    size = ranks.shape[0]
    ascending = copy[:size]
    best, best_left, least = 0, low, np.inf
    for column in range(ranks.shape[1]):
        for row in range(size):
            ascending[row] = ranks[row, column]
        ascend(ascending, offsets[column + 1] - offsets[column], histogram)
        left = best_place(ascending, low, high, coords, offsets[column])
        loss = loss_of_cut(ranks, column, ascending, left, coords, offsets)
        if loss < least:
            best, best_left, least = column, left, loss
    return best, best_left


@compiled(
    "void(int32[:,::1], int32[::1], int32[::1], int32[:,::1], int32[::1], int32[::1], int32[::1],"
    " int64, int64, int32[::1])",
)
def cut(
    ranks: Ints,
    codes: Ints,
    rows: Ints,
    ranks_out: Ints,
    codes_out: Ints,
    rows_out: Ints,
    chance: Ints,
    column: int,
    left: int,
    copy: Ints,
) -> None:
    """Put the `left` lowest rows of a column first, rows that tie at the edge by their chance.

    Both parts keep their order. IN: chance, by row of the table. IN/OUT: ranks, codes, rows.
    Scratch: their *_out twins, copy.
    """
    size = codes.size
    for row in range(size):
        copy[row] = ranks[row, column]
    edge = select(copy, size, left - 1)
    below = ties = 0
    for row in range(size):
        if ranks[row, column] < edge:
            below += 1
        elif ranks[row, column] == edge:
            copy[ties] = chance[rows[row]]
            ties += 1
    last = select(copy, ties, left - below - 1)
    heads = np.empty(2, np.int64)
    heads[0], heads[1] = 0, left
    for row in range(size):
        rank = ranks[row, column]
        side = np.int64(rank > edge or (rank == edge and chance[rows[row]] > last))
        place = heads[side]
        heads[side] = place + 1
        for other in range(ranks.shape[1]):
            ranks_out[place, other] = ranks[row, other]
        codes_out[place] = codes[row]
        rows_out[place] = rows[row]
    for row in range(size):
        for other in range(ranks.shape[1]):
            ranks[row, other] = ranks_out[row, other]
        codes[row] = codes_out[row]
        rows[row] = rows_out[row]


@compiled("int64(int64, int64, int64[::1], int64[::1])")
def guarded_rows(size: int, most: int, sizes: LongInts, widths: LongInts) -> int:
    """Return how many rows each part of a cut needs, 0 where no cut is sure to hold (IN)."""
    for choice in range(sizes.size):
        groups = -(-most // widths[choice])
        needed = groups * sizes[choice]
        if 2 * needed <= size:
            return max(needed, -(-size // LEAST_PART))
    return 0


@compiled("int64(int64, int64, int64[::1], int64[::1])")
def groups_of(size: int, most: int, sizes: LongInts, widths: LongInts) -> int:
    """Return into how many groups a node can be dealt, 0 where it cannot (IN)."""
    for choice in range(sizes.size):
        groups = size // sizes[choice]
        if groups > 0 and most <= widths[choice] * groups:
            return groups
    return 0


@compiled(
    "void(int64, int32[:,::1], int32[::1], int32[::1], int32[:,::1], int32[::1], int32[::1],"
    " int32[::1], int32[::1], int32[::1], float64[::1], int64[::1], int32[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1])",
)
def guarded_cuts(
    blocks: int,
    ranks: Ints,
    codes: Ints,
    rows: Ints,
    ranks_out: Ints,
    codes_out: Ints,
    rows_out: Ints,
    copy: Ints,
    histogram: Ints,
    chance: Ints,
    coords: Reals,
    offsets: LongInts,
    reach: Ints,
    sizes: LongInts,
    widths: LongInts,
    parts: LongInts,
    done: LongInts,
) -> None:
    """Cut the table into so many blocks, whatever they hold, and each of them while it is guarded.

    IN: chance, coords, offsets, reach, sizes, widths. IN/OUT: ranks, codes, rows; done counts rows.
    OUT: parts; where the last row of a node stands, into how many groups it can be dealt, and 0
    for a block that cannot; -1 elsewhere. Scratch: ranks_out, codes_out, rows_out, copy,
    histogram.
    """
    stack = np.empty((STACK, 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, codes.size, blocks
    depth = 1
    while depth > 0:
        depth -= 1
        begin, end, wanted = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        size = end - begin
        first = wanted // 2
        part = ranks[begin:end]
        if wanted > 1:  # blocks differ by one row at most
            left = first * (size // wanted) + size % wanted * first // wanted
            column, left = cheapest(part, left, left, coords, offsets, copy, histogram)
        else:
            most = longest_run(codes[begin:end], reach)
            needed = guarded_rows(size, most, sizes, widths)
            if needed == 0:
                parts[end - 1] = groups_of(size, most, sizes, widths)
                done[0] += size
                continue
            column, left = cheapest(part, needed, size - needed, coords, offsets, copy, histogram)
        cut(
            part,
            codes[begin:end],
            rows[begin:end],
            ranks_out[begin:end],
            codes_out[begin:end],
            rows_out[begin:end],
            chance,
            column,
            left,
            copy,
        )
        middle = begin + left
        stack[depth, 0], stack[depth, 1], stack[depth, 2] = middle, end, max(wanted - first, 1)
        stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2] = begin, middle, max(first, 1)
        depth += 2
