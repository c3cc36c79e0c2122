"""What a bucket must keep to stand, besides its size: one check for each kind of demand.

A check sees the codes of a bucket in ascending order, a table of numbers that belongs to the
demand, and its bound `top / bottom` (or `level`, where it is no rational). Checks serve a search
only. They are exact while products stay below 2^62, and reals below 2^53; beyond, and where there
are logarithms, they refuse what is too near to the bound to tell.
"""

import numpy as np

from shoal.kernels.compiling import (
    APART,
    DISCLOSURE,
    DISTINCT,
    ENTROPY,
    ORDERED,
    RECURSIVE,
    RUN,
    SPREAD,
    VARIANCE,
    Ints,
    LongInts,
    Reals,
    compiled,
)

LARGEST = 2**62
EXACT = 2.0**53
DOUBT = 1e-10
SUMMED = 1e-9  # what rounding may add to a sum of many squares
COUNTED = 4  # codes are counted when there are at most this many times the bucket of them


@compiled("boolean(int64, int64, int64, int64)")
def within(part: int, whole: int, top: int, bottom: int) -> bool:
    """Return whether part / whole <= top / bottom."""
    if part <= LARGEST // bottom and whole <= LARGEST // max(top, 1):
        return part * bottom <= whole * top
    return float(part) * bottom * (1.0 + DOUBT) <= float(whole) * top


@compiled("int64(int32[::1], int64)")
def run_end(codes: Ints, begin: int) -> int:
    """Return where the run of equal codes that begins at `begin` ends (IN: codes)."""
    end = begin + 1
    while end < codes.size and codes[end] == codes[begin]:
        end += 1
    return end


@compiled("int64(int32[::1], float64[::1])")
def longest(codes: Ints, reach: Reals) -> int:
    """Return the most members of a run whose ends are near (IN: codes, reach of each code)."""
    low = 0
    for high in range(codes.size):
        if codes[high] > reach[codes[low]]:
            low += 1
    return codes.size - low


@compiled("int64(int32[::1])")
def different(codes: Ints) -> int:
    """Return the number of different codes (IN: codes)."""
    found = 1
    for row in range(1, codes.size):
        found += codes[row] != codes[row - 1]
    return found


@compiled("boolean(int32[::1], int64, int64, float64)")
def uncertain(codes: Ints, top: int, bottom: int, level: float) -> bool:
    """Return whether n ln n - Σ c ln c >= n ln l; top / bottom is 1 / l, level is ln l."""
    size = codes.size
    total, most, found, begin = 0.0, 0, 0, 0
    while begin < size:
        end = run_end(codes, begin)
        count = end - begin
        total += count * np.log(count)
        most = max(most, count)
        found += 1
        begin = end
    if most * found == size:
        return bottom <= found * top
    return size * np.log(size) - total >= size * level * (1.0 + DOUBT)


@compiled("boolean(int32[::1], int64, int64, int64)")
def recursive(codes: Ints, l: int, top: int, bottom: int) -> bool:
    """Return whether r1 < (top / bottom) (r_l + … + r_d), the counts falling."""
    size = codes.size
    largest = np.zeros(max(l - 1, 1), np.int64)
    begin = 0
    while begin < size:
        end = run_end(codes, begin)
        count = end - begin
        place = largest.size - 1
        if count > largest[place]:
            while place > 0 and largest[place - 1] < count:
                largest[place] = largest[place - 1]
                place -= 1
            largest[place] = count
        begin = end
    tail = size
    if l > 1:
        for place in range(l - 1):
            tail -= largest[place]
    return largest[0] * bottom < tail * top


@compiled("boolean(int32[::1], float64[::1], int64, int64, int64, int64)")
def close(codes: Ints, table: Reals, values: int, rows: int, top: int, bottom: int) -> bool:
    """Return whether the mean over levels of ½ Σ |p - q| is at most top / bottom.

    `table` holds two lines of `values` numbers for each level: the node of each code, equal nodes
    side by side, and how many rows of the table have that node (IN).
    """
    size = codes.size
    levels = table.size // (2 * values)
    part = 0
    for level in range(levels):
        nodes = 2 * level * values
        lacking = rows
        begin = 0
        while begin < size:
            node = table[nodes + codes[begin]]
            end = begin + 1
            while end < size and table[nodes + codes[end]] == node:
                end += 1
            shared = int(table[nodes + values + codes[begin]])
            part += abs((end - begin) * rows - shared * size)
            lacking -= shared
            begin = end
        part += lacking * size
    return within(part, 2 * size * rows * max(levels, 1), top, bottom)


@compiled("boolean(int32[::1], float64[::1], int64, int64, int64, int64)")
def close_in_order(
    codes: Ints, table: Reals, values: int, rows: int, top: int, bottom: int
) -> bool:
    """Return whether Σ |P - Q| / (values - 1) is at most top / bottom.

    `table` holds the cumulated counts of the table, then their sums from 0 on (IN). Between two
    codes of the bucket P stands still and Q grows: one search finds where the sign changes.
    """
    size = codes.size
    part = size * int(table[values + codes[0]])
    begin = 0
    while begin < size:
        end = run_end(codes, begin)
        low = int(codes[begin])
        high = int(codes[end]) if end < size else max(values - 1, low)
        mass = end * rows
        turn, above = low, high
        while turn < above:
            middle = (turn + above) >> 1
            if int(table[middle]) * size <= mass:
                turn = middle + 1
            else:
                above = middle
        first = int(table[values + low])
        switch = int(table[values + turn])
        last = int(table[values + high])
        part += (turn - low) * mass - size * (switch - first)
        part += size * (last - switch) - (high - turn) * mass
        begin = end
    return within(part, size * rows * max(values - 1, 1), top, bottom)


@compiled("boolean(int32[::1], float64[::1], float64)")
def varied(codes: Ints, numbers: Reals, level: float) -> bool:
    """Return whether n Σ v² - (Σ v)² >= n² level (IN: codes, the number of each code)."""
    first, second = 0.0, 0.0
    for row in range(codes.size):
        value = numbers[codes[row]]
        first += value
        second += value * value
    size = float(codes.size)
    whole = size * second
    slack = 0.0 if whole < EXACT and size * size * level < EXACT else SUMMED * whole
    return whole - first * first - slack >= size * size * level


@compiled("boolean(int32[::1], float64[::1], int64, int64, float64)")
def undisclosed(codes: Ints, totals: Reals, values: int, rows: int, level: float) -> bool:
    """Return whether level < p/q < 1/level for every value (IN: codes, count of each code)."""
    size = codes.size
    begin, found = 0, 0
    while begin < size:
        end = run_end(codes, begin)
        share = (end - begin) * float(rows)
        whole = totals[codes[begin]] * size
        if min(share, whole) <= max(share, whole) * level * (1.0 + DOUBT):
            return False
        found += 1
        begin = end
    return found == values


@compiled("boolean(int32[::1], float64[::1], int64, int64, int64, int64)")
def alike(codes: Ints, table: Reals, values: int, rows: int, top: int, bottom: int) -> bool:
    """Return whether (p - q) / q is at most what each value may gain.

    `table` holds how often each code occurs in the table, then what it may gain, or -1 where that
    is top / bottom (IN).
    """
    size = codes.size
    begin = 0
    while begin < size:
        end = run_end(codes, begin)
        code = codes[begin]
        whole = int(table[code]) * size
        gain = (end - begin) * rows - whole
        allowed = table[values + code]
        if allowed < 0.0:
            if gain > 0 and not within(gain, whole, top, bottom):
                return False
        elif gain > 0 and gain * (1.0 + DOUBT) > allowed * whole:
            return False
        begin = end
    return True


@compiled(
    "boolean(int32[::1], float64[::1], int64, int64, int64, int64, int64, int64, float64)",
)
def keeps(
    codes: Ints,
    table: Reals,
    kind: int,
    values: int,
    rows: int,
    top: int,
    bottom: int,
    count: int,
    level: float,
) -> bool:
    """Return whether a bucket with these ascending codes keeps a demand (IN: codes, table)."""
    if kind == RUN:
        return within(longest(codes, table), codes.size, top, bottom)
    if kind == DISTINCT:
        return different(codes) >= count
    if kind == ENTROPY:
        return uncertain(codes, top, bottom, level)
    if kind == RECURSIVE:
        return recursive(codes, count, top, bottom)
    if kind == APART:
        return close(codes, table, values, rows, top, bottom)
    if kind == ORDERED:
        return close_in_order(codes, table, values, rows, top, bottom)
    if kind == SPREAD:
        length = table[codes[codes.size - 1]] - table[codes[0]]
        slack = 0.0 if length < EXACT and level < EXACT else DOUBT * length
        return different(codes) >= count and length - slack >= level
    if kind == VARIANCE:
        return varied(codes, table, level)
    if kind == DISCLOSURE:
        return undisclosed(codes, table, values, rows, level)
    return alike(codes, table, values, rows, top, bottom)


@compiled("void(int32[::1], int64, int32[::1])")
def ascend(codes: Ints, values: int, histogram: Ints) -> None:
    """Sort codes below `values`: by counting where they are dense, else in runs that are halved.

    IN/OUT: codes. Scratch: histogram.
    """
    size = codes.size
    if values <= COUNTED * size:
        for code in range(values):
            histogram[code] = 0
        for row in range(size):
            histogram[codes[row]] += 1
        place = 0
        for code in range(values):
            for _ in range(histogram[code]):
                codes[place] = code
                place += 1
        return
    gap = size // 2
    while gap > 0:
        for row in range(gap, size):
            code = codes[row]
            place = row
            while place >= gap and codes[place - gap] > code:
                codes[place] = codes[place - gap]
                place -= gap
            codes[place] = code
        gap = 1 if gap == 2 else gap * 5 // 11


@compiled(
    "boolean(int32[::1], int32[::1], int64[:,::1], float64[::1], float64[::1], int32[:,::1],"
    " int32[::1], int32[::1])",
)
def all_kept(
    codes: Ints,
    rows: Ints,
    demands: LongInts,
    levels: Reals,
    tables: Reals,
    others: Ints,
    copy: Ints,
    histogram: Ints,
) -> bool:
    """Return whether a bucket keeps every demand.

    A line of `demands` is kind, column, values, top, bottom, count, and where its numbers begin
    and end in `tables`. Column -1 is `codes`, which ascend; others are read by row and sorted.

    IN: codes, rows, demands, levels, tables, others. Scratch: copy, histogram.
    """
    size = codes.size
    sorted_column = -1
    for place in range(demands.shape[0]):
        column, values = demands[place, 1], demands[place, 2]
        if column >= 0 and column != sorted_column:
            for row in range(size):
                copy[row] = others[column, rows[row]]
            ascend(copy[:size], values, histogram)
            sorted_column = column
        if not keeps(
            codes if column < 0 else copy[:size],
            tables[demands[place, 6] : demands[place, 7]],
            demands[place, 0],
            values,
            others.shape[1],
            demands[place, 3],
            demands[place, 4],
            demands[place, 5],
            levels[place],
        ):
            return False
    return True
