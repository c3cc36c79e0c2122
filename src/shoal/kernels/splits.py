"""Top-down splitting: a table is cut at medians while both halves stay admissible.

Rows are moved, not gathered: every bucket is a contiguous range, and because the partition is
stable each bucket stays in ascending order of its sensitive codes, so the table is sorted once.
"""

import numpy as np

from shoal.kernels.compiling import Bytes, Flags, Ints, LongInts, Reals, compiled
from shoal.kernels.cuts import child_cut, cut_loss, earliest_least, goes_left, lower_median, tied
from shoal.kernels.demands import all_kept
from shoal.kernels.space import NODE, SET, extent
from shoal.kernels.windows import longest_run

# Slices are copied in plain loops: an assignment of slices brings the text of its error messages
# with it and takes seconds to compile.

LEAST_LOSS, WIDEST = 0, 1
LOWER, EITHER, DIVIDED = 0, 1, 2  # where rows go that tie with the median
STACK = 128  # the smaller half is cut first, so a stack of 64 ranges would hold 2**64 rows


@compiled("boolean(int32[::1], int32[::1], int64, int64, int64)")
def admissible(codes: Ints, reach: Ints, top: int, bottom: int, least: int) -> bool:
    """Return whether a bucket may stand: |G| >= least and maxsize(G) / |G| <= top / bottom."""
    size = codes.size
    if size < least:
        return False
    return top == bottom or longest_run(codes, reach) * bottom <= size * top


@compiled(
    "int64(int32[:,::1], int32[::1], int32[::1], int32[:,::1], int32[::1], int32[::1], int64,"
    " int32, int64, int64)",
)
def stable_partition(
    ranks: Ints,
    codes: Ints,
    rows: Ints,
    ranks_out: Ints,
    codes_out: Ints,
    rows_out: Ints,
    column: int,
    cut: int,
    room: int,
    ties: int,
) -> int:
    """Write the rows at or below the cut first, then the others, each in order; return how many.

    Of `ties` rows at the cut, only `room` come first (0 of 0: all do).

    IN: ranks, codes, rows. OUT: their *_out twins.
    """
    size = codes.size
    left = 0
    for row in range(size):
        left += ranks[row, column] <= cut
    left = left - ties + room
    tie = 0
    heads = np.empty(2, np.int64)
    heads[0], heads[1] = 0, left
    for row in range(size):
        side = np.int64(ranks[row, column] > cut)
        if ties > 0 and ranks[row, column] == cut:
            side = np.int64(not goes_left(tie, room, ties))
            tie += 1
        place = heads[side]
        heads[side] = place + 1
        for other in range(ranks.shape[1]):
            ranks_out[place, other] = ranks[row, other]
        codes_out[place] = codes[row]
        rows_out[place] = rows[row]
    return left


@compiled(
    "void(int64, int64, int64, int32[:,::1], int32[::1], int32[::1], int32[:,::1], int32[::1],"
    " int32[::1], int8[::1], float64[::1], int64[::1], float64[::1], int32[::1], int64, int64,"
    " int64, int64, int64, int64[:,::1], float64[::1], float64[::1], int32[:,::1], boolean[::1],"
    " int64[::1])",
)
def split_range(
    begin: int,
    end: int,
    grain: int,
    ranks: Ints,
    codes: Ints,
    rows: Ints,
    ranks_out: Ints,
    codes_out: Ints,
    rows_out: Ints,
    kinds: Bytes,
    coords: Reals,
    offsets: LongInts,
    units: Reals,
    reach: Ints,
    top: int,
    bottom: int,
    least: int,
    rule: int,
    way: int,
    demands: LongInts,
    levels: Reals,
    tables: Reals,
    others: Ints,
    ends: Flags,
    done: LongInts,
) -> None:
    """Cut rows begin..end into buckets until no median cut leaves two admissible halves.

    EM section 5.2 (LEAST_LOSS: the cut of least total loss) and Mondrian (WIDEST: the widest
    column first). Where the median is tied, ties go left (LOWER), the cut just under it is tried as
    well (EITHER), or ties are divided so that both halves are equal (DIVIDED). A node is first cut
    between its children, as evenly as they allow, then at the median. Halves also have to
    keep the demands (`demands.all_kept`). Buckets of at most `grain` rows are left as they are.

    IN/OUT: ranks, codes, rows (permuted within begin..end). Scratch: their *_out twins.
    OUT: ends, true at the last row of each bucket; done[0], rows in finished buckets.
    """
    columns = ranks.shape[1]
    widest_domain = 1
    for column in range(columns):
        widest_domain = max(widest_domain, offsets[column + 1] - offsets[column])
    for demand in range(demands.shape[0]):
        widest_domain = max(widest_domain, demands[demand, 2])
    histogram = np.empty(max(widest_domain, 1), np.int32)
    copy = np.empty(end - begin, np.int32)
    seen = np.zeros((2, coords.size), np.int32)
    stamp = 0
    low = np.empty((2, columns), np.int32)
    high = np.empty((2, columns), np.int32)
    distinct = np.empty((2, columns), np.int32)
    sizes = np.empty(2, np.int64)
    scores = np.empty(2 * columns, np.float64)
    cut_columns = np.empty(2 * columns, np.int64)
    cuts = np.empty(2 * columns, np.int32)
    rooms = np.empty(2 * columns, np.int64)
    all_ties = np.empty(2 * columns, np.int64)
    stack = np.empty((STACK, 2), np.int64)
    stack[0, 0], stack[0, 1] = begin, end
    depth = 1
    while depth > 0:
        depth -= 1
        start, stop = stack[depth, 0], stack[depth, 1]
        size = stop - start
        found = 0
        if size > grain and size >= 2 * least:
            bucket = ranks[start:stop]
            for column in range(columns):
                lowest = highest = bucket[0, column]
                for row in range(size):
                    lowest = min(lowest, bucket[row, column])
                    highest = max(highest, bucket[row, column])
                if lowest == highest:
                    continue
                width = 0.0
                if rule == WIDEST:
                    stamp += 1
                    labels = 0
                    if kinds[column] == SET:
                        for row in range(size):
                            place = offsets[column] + bucket[row, column]
                            labels += seen[0, place] != stamp
                            seen[0, place] = stamp
                    width = extent(column, lowest, highest, labels, kinds, coords, offsets, units)
                median = lower_median(bucket, column, lowest, highest, histogram, copy)
                node = kinds[column] >= NODE
                between = median
                if node:
                    between = child_cut(
                        bucket,
                        column,
                        lowest,
                        highest,
                        coords,
                        offsets[column],
                        kinds[column] - NODE,
                        histogram,
                    )
                for under in range(2 if way == EITHER or node else 1):
                    cut = median - under
                    if node:
                        cut = median if under else between
                    room, ties = 0, 0
                    if way == DIVIDED and not (node and under == 0):
                        room, ties = tied(bucket, column, cut)
                    if cut < lowest or (cut >= highest and ties == 0):
                        continue
                    if rule == WIDEST:
                        score = -width
                    else:
                        stamp += 1
                        score = cut_loss(
                            bucket,
                            column,
                            cut,
                            room,
                            ties,
                            kinds,
                            coords,
                            offsets,
                            units,
                            seen,
                            stamp,
                            low,
                            high,
                            distinct,
                            sizes,
                        )
                        if min(sizes[0], sizes[1]) < least:
                            continue
                    scores[found] = score
                    cut_columns[found] = column
                    cuts[found] = cut
                    rooms[found] = room
                    all_ties[found] = ties
                    found += 1
        middle = start
        for _ in range(found):
            best = earliest_least(scores, found)
            scores[best] = np.inf
            left = stable_partition(
                ranks[start:stop],
                codes[start:stop],
                rows[start:stop],
                ranks_out[start:stop],
                codes_out[start:stop],
                rows_out[start:stop],
                cut_columns[best],
                cuts[best],
                rooms[best],
                all_ties[best],
            )
            fits = True
            for half in range(2):
                first, last = (start, start + left) if half == 0 else (start + left, stop)
                fits = (
                    fits
                    and admissible(codes_out[first:last], reach, top, bottom, least)
                    and all_kept(
                        codes_out[first:last],
                        rows_out[first:last],
                        demands,
                        levels,
                        tables,
                        others,
                        copy,
                        histogram,
                    )
                )
            if fits:
                middle = start + left
                break
        if middle == start:
            ends[stop - 1] = True
            done[0] += size
            continue
        for row in range(start, stop):
            for other in range(columns):
                ranks[row, other] = ranks_out[row, other]
            codes[row] = codes_out[row]
            rows[row] = rows_out[row]
        first_half_larger = middle - start > stop - middle
        for turn in range(2):
            if first_half_larger == (turn == 0):
                stack[depth, 0], stack[depth, 1] = start, middle
            else:
                stack[depth, 0], stack[depth, 1] = middle, stop
            depth += 1
