"""Counting on boxes: the share of each cell that a query asks for, and the rows that bear it.

Rows of one box stand together: those of box b are starts[b] … starts[b + 1] - 1. Of a column that
spreads a query asks for a part of each distinct cell; these `shares` lie one column after the
other, beginning at `offsets`. Of a column of exact values it asks for ranges of codes, which are
compared without branches, a block of rows at a time: that runs ten times as fast as looking up
each code. Kernels are handed what they write on: to load one that allocates takes 20 ms more.
"""

import numpy as np

from shoal.kernels.compiling import Ints, LongInts, Reals, compiled

Marks = np.ndarray
BLOCK = 4096  # rows that fit the nearest cache with their marks


@compiled("void(float64[::1], float64[::1], float64[::1], float64[::1], float64[::1])")
def interval_shares(lows: Reals, highs: Reals, firsts: Reals, lasts: Reals, shares: Reals) -> None:
    """Return which part of each interval lies in any of some disjoint ones.

    Intervals hold the whole units from low to high, both included, all alike
    (IN: lows, highs, firsts, lasts; OUT: shares).
    """
    for cell in range(lows.size):
        covered = 0.0
        for part in range(firsts.size):
            inside = min(highs[cell], lasts[part]) - max(lows[cell], firsts[part]) + 1.0
            covered += max(inside, 0.0)
        shares[cell] = covered / (highs[cell] - lows[cell] + 1.0)


@compiled("void(int64[::1], int32[::1], uint8[::1], float64[::1])")
def label_shares(starts: LongInts, labels: Ints, marks: Marks, shares: Reals) -> None:
    """Return which part of each set of labels is marked.

    IN: starts, labels, marks; OUT: shares.
    """
    for cell in range(starts.size - 1):
        marked = 0
        for place in range(starts[cell], starts[cell + 1]):
            marked += marks[labels[place]]
        shares[cell] = marked / (starts[cell + 1] - starts[cell])


@compiled("void(int32[:,::1], int64, int64, int64[::1], int32[::1], int32[::1], uint8[:,::1])")
def mark_rows(
    codes: Ints, begin: int, end: int, ranges: LongInts, firsts: Ints, lasts: Ints, marks: Marks
) -> None:
    """Mark in marks[0] (OUT; marks[1] is scratch) which rows of a run a query asks for.

    In column j these are the codes firsts[r] … lasts[r] for r from ranges[j] to ranges[j + 1] - 1.
    """
    hits, part = marks[0, : end - begin], marks[1, : end - begin]
    for row in range(hits.size):
        hits[row] = 1
    for column in range(ranges.size - 1):
        own = codes[column, begin:end]
        for row in range(part.size):
            part[row] = 0
        for place in range(ranges[column], ranges[column + 1]):
            first, last = firsts[place], lasts[place]
            for row in range(part.size):
                part[row] |= np.uint8((own[row] >= first) & (own[row] <= last))
        for row in range(hits.size):
            hits[row] &= part[row]


@compiled(
    "void(int64[::1], int32[:,::1], int64[::1], int32[::1], int32[::1], uint8[:,::1], int64[::1],"
    " int64[::1])"
)
def box_counts(
    starts: LongInts,
    codes: Ints,
    ranges: LongInts,
    firsts: Ints,
    lasts: Ints,
    marks: Marks,
    before: LongInts,
    counts: LongInts,
) -> None:
    """Count the rows of every box that a query asks for (IN as `mark_rows`; OUT: counts).

    Running counts over a block, `before` (scratch, as `marks`), give those of a box by one
    difference; a box may go on in the next block.
    """
    boxes = starts.size - 1
    box = 0
    counts[0] = 0
    for begin in range(0, starts[boxes], BLOCK):
        end = min(begin + BLOCK, starts[boxes])
        mark_rows(codes, begin, end, ranges, firsts, lasts, marks)
        total = 0
        for row in range(end - begin):
            before[row] = total
            total += marks[0, row]
        before[end - begin] = total
        while starts[box + 1] <= end:
            counts[box] += before[starts[box + 1] - begin] - before[max(starts[box] - begin, 0)]
            box += 1
            if box == boxes:
                return
            counts[box] = 0
        counts[box] += total - before[max(starts[box] - begin, 0)]


@compiled("int64(int64, int32[:,::1], int64[::1], int32[::1], int32[::1], uint8[:,::1])")
def count_rows(
    rows: int, codes: Ints, ranges: LongInts, firsts: Ints, lasts: Ints, marks: Marks
) -> int:
    """Return how many rows a query asks for (IN as `mark_rows`; marks are scratch)."""
    total = 0
    for begin in range(0, rows, BLOCK):
        end = min(begin + BLOCK, rows)
        mark_rows(codes, begin, end, ranges, firsts, lasts, marks)
        found = 0
        for row in range(end - begin):
            found += marks[0, row]
        total += found
    return total


@compiled("float64(int32[:,::1], int64[::1], float64[::1], int64[::1], int64[::1])")
def spread_count(
    cells: Ints,
    used: LongInts,
    shares: Reals,
    offsets: LongInts,
    counts: LongInts,
) -> float:
    """Return the expected number of rows that a query asks for, when each spreads over its box.

    That is the sum over boxes of the product of the shares of its cells, times the number of its
    rows whose exact values are asked for (`counts`). `cells[j, b]` is the cell of box
    b in column j; `used` lists the columns that the query asks about (all IN).
    """
    total = 0.0
    for box in range(counts.size):
        share = float(counts[box])
        if share > 0.0:
            for place in range(used.size):
                share *= shares[offsets[place] + cells[used[place], box]]
            total += share
    return total
