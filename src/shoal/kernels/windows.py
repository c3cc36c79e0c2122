"""Runs of near values in one sorted pass.

Sensitive values come as *codes*: ranks over the sorted distinct values. What is near to a value is
then a band of codes, so every comparison here is between integers, whatever the values were.
"""

import numpy as np

from shoal.kernels.compiling import Ints, LongInts, Reals, compiled


@compiled("int64(int32[::1], int32[::1])")
def longest_run(codes: Ints, reach: Ints) -> int:
    """Return maxsize: the most members of a run whose first and last member are proximate.

    EM Definition 11 and Figure 1 (find-maxsize): the window never shrinks, so its final length is
    the answer. `codes` ascend (IN); `reach[c]` is the highest code proximate to c in either
    direction and is non-decreasing (IN).
    """
    low = 0
    for high in range(codes.size):
        if codes[high] > reach[codes[low]]:
            low += 1
    return codes.size - low


@compiled("int64(int64[::1], int32[::1], int64, int64[::1])")
def thin(counts: LongInts, reach: Ints, most: int, taken: LongInts) -> int:
    """Take the fewest members away that leave at most `most` of them in every run; return how many.

    `counts[c]` members carry code c, and a run goes from c to `reach[c]` (IN, non-decreasing; OUT:
    taken by code). Runs are looked at in the order of their ends, and what one has too many is
    taken from its end, where most of the later runs lie too. What a run has beyond `most` never
    exceeds what came in with it, so no code is looked at twice.
    """
    inside, end, total = 0, 0, 0
    for code in range(counts.size):
        while end <= reach[code]:
            inside += counts[end]
            taken[end] = 0
            end += 1
        place = end - 1
        while inside > most:
            part = min(inside - most, counts[place] - taken[place])
            taken[place] += part
            inside -= part
            total += part
            place -= 1
        inside -= counts[code] - taken[code]
    return total


@compiled("void(int32[::1], int64[::1], int32[::1], int32[::1], int64[::1])")
def most_proximate(
    codes: Ints, starts: LongInts, first: Ints, last: Ints, counts: LongInts
) -> None:
    """Count, for each group, the members proximate to its most exposed member, itself included.

    EM Definition 5 with closed neighbourhoods: u is proximate to v when
    first[v] <= u <= last[v]. Within a group `codes` ascend and both bounds are non-decreasing, so
    two pointers suffice (IN: codes, starts, first, last; OUT: counts, one per group).
    """
    for group in range(starts.size - 1):
        low = high = starts[group]
        end = starts[group + 1]
        most = 0
        for member in range(starts[group], end):
            code = codes[member]
            while codes[low] < first[code]:
                low += 1
            while high < end and codes[high] <= last[code]:
                high += 1
            most = max(most, high - low)
        counts[group] = most


@compiled(
    "void(int32[::1], int32[::1], int64[::1], int32[::1], int32[::1], int64[::1], int64[::1])"
)
def most_people_proximate(
    codes: Ints,
    members: Ints,
    starts: LongInts,
    first: Ints,
    last: Ints,
    inside: LongInts,
    counts: LongInts,
) -> None:
    """Count, for each group, the members with a value proximate to its most exposed value.

    As `most_proximate`, but a member may have several values and counts once (IN: codes, ascending
    in each group, and the member that has each of them, starts, first, last; inside, 0 for every
    member and so again in the end; OUT: counts).
    """
    for group in range(starts.size - 1):
        low = high = starts[group]
        end = starts[group + 1]
        most = people = 0
        for place in range(starts[group], end):
            code = codes[place]
            while high < end and codes[high] <= last[code]:
                people += inside[members[high]] == 0
                inside[members[high]] += 1
                high += 1
            while codes[low] < first[code]:
                inside[members[low]] -= 1
                people -= inside[members[low]] == 0
                low += 1
            most = max(most, people)
        for place in range(low, high):
            inside[members[place]] -= 1
        counts[group] = most


@compiled("void(int32[::1], int64[::1], int32[::1], int64[::1])")
def longest_runs(codes: Ints, starts: LongInts, reach: Ints, counts: LongInts) -> None:
    """Return `longest_run` of every group (IN: codes, starts, reach; OUT: counts)."""
    for group in range(starts.size - 1):
        counts[group] = longest_run(codes[starts[group] : starts[group + 1]], reach)


@compiled("int64(int64[::1], int64)", "int64(float64[::1], int64)")
def narrowest_gap(values: np.ndarray, step: int) -> int:
    """Return the i of the least values[i + step] - values[i] (EM Theorem 2; IN: values ascend)."""
    best = 0
    for low in range(values.size - step):
        if values[low + step] - values[low] < values[best + step] - values[best]:
            best = low
    return best


@compiled("int64(float64[::1], int64)")
def narrowest_relative_gap(values: np.ndarray, step: int) -> int:
    """Return the i that minimizes the relative gap, 0/0 taken as 0 (IN: values ascend).

    The gap is (t[i+h] - t[i]) / max(|t[i]|, |t[i+h]|): the least ratio at which the two ends are
    proximate in either direction.
    """
    best = 0
    least = np.inf
    for low in range(values.size - step):
        gap = values[low + step] - values[low]
        size = max(abs(values[low]), abs(values[low + step]))
        ratio = gap / size if size > 0.0 else 0.0
        if ratio < least:
            best, least = low, ratio
    return best


@compiled(
    "UniTuple(int64, 2)(int64[::1], int32[::1], int64, int64[::1], int64)",
    "UniTuple(int64, 2)(float64[::1], int32[::1], int64, int64[::1], int64)",
)
def narrowest_crowd(
    values: np.ndarray, members: Ints, people: int, inside: LongInts, shares: int
) -> tuple[int, int]:
    """Return the ends of the narrowest window in which so many different members have a value.

    IN: values ascend, the member that has each of them, inside (0 for every member). Both ends are
    -1 where fewer have one. With `shares` 1 and not 0, the width is a share of the larger end; what
    lies across 0 is at least 1 wide then, and only the shortest from each place are looked at.
    """
    best, end, there, low = np.inf, -1, 0, 0
    begin = -1
    for high in range(values.size):
        there += inside[members[high]] == 0
        inside[members[high]] += 1
        while there == people:
            width = np.float64(values[high] - values[low])
            size = max(abs(np.float64(values[low])), abs(np.float64(values[high])))
            if shares and size > 0.0:
                width = width / size
            if width < best:
                best, begin, end = width, low, high
            inside[members[low]] -= 1
            there -= inside[members[low]] == 0
            low += 1
    return begin, end


@compiled("int64(int32[::1], int32[::1], int64[::1], int64[::1])")
def fullest_window(codes: Ints, members: Ints, last: LongInts, inside: LongInts) -> int:
    """Return the code at which the window begins in which the most different members have a value.

    IN: codes ascend, the member that has each of them; last, where the window from each code ends,
    non-decreasing; inside, 0 for every member and so again in the end. The first of equals.
    """
    there = most = end = 0
    best = codes[0]
    for begin in range(codes.size):
        while end < codes.size and codes[end] <= last[codes[begin]]:
            there += inside[members[end]] == 0
            inside[members[end]] += 1
            end += 1
        if there > most:
            most, best = there, codes[begin]
        inside[members[begin]] -= 1
        there -= inside[members[begin]] == 0
    return best


@compiled("void(float64[::1], int64, int64[::1])")
def cheapest_runs(values: Reals, least: int, labels: LongInts) -> None:
    """Give each value the number of its run, in the runs of least squared error.

    IN: values ascend. OUT: labels. The cost of the first i values is the least over the sizes s of
    their last run, cost[i - s] + SSE(i - s … i), squares summed up from the end (Welford, 1962).
    """
    cost = np.full(values.size + 1, np.inf)
    cost[0] = 0.0
    back = np.zeros(values.size + 1, np.int64)
    for end in range(1, values.size + 1):
        mean = squares = 0.0
        for size in range(1, min(2 * least, end + 1)):
            value = values[end - size]
            apart = value - mean
            mean += apart / size
            squares += apart * (value - mean)
            if size >= least and cost[end - size] + squares < cost[end]:
                cost[end], back[end] = cost[end - size] + squares, end - size
    end, number = values.size, 0
    while end > 0:
        labels[back[end] : end] = number
        end, number = back[end], number + 1
