"""The start of an exchange: an equitable partition into groups close in quasi space.

Rows near each row come from runs of rows that are close to one another. The order in which groups
start keeps near rows together. Cut into short runs, a row's neighbours are looked for in the runs
around its own: some are missed where runs meet, and a search for partners does not mind, at a
seventh of the time that a tree of all rows takes.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from shoal.kernels.compiling import NONE, compiled, inner, lean
from shoal.kernels.exchange.loss import LossSpace, extent
from shoal.kernels.space import NODE, ONE_HOT, SET, promise


@inner
def apart(space, values, row, other):
    """NCP of a group of two rows: what one costs the other."""
    total = 0.0
    for j in range(space.kinds.size):
        here, there = values[row, j], values[other, j]
        if space.kinds[j] in (SET, ONE_HOT):
            total += (here != there) * space.units[j]
        else:
            total += extent(space, j, min(here, there), max(here, there))
    return total


@lean
def near_rows(space, values, order, cuts, around, begin, end, distances, near):
    """Find the nearest rows of each row of the runs begin … end, in the runs around them.

    IN: run b holds the rows order[cuts[b]:cuts[b + 1]]; around[b] lists the runs near b.
    OUT: near[row], the nearest first, the row itself left out; where there are too few, the last
    one again. Scratch: distances, one for each column of `near`.
    """
    count = near.shape[1]
    for run in range(begin, end):
        for place in range(cuts[run], cuts[run + 1]):
            row, have = order[place], 0
            for b in around[run]:
                for p in range(cuts[b], cuts[b + 1]):
                    if order[p] == row:
                        continue
                    distance = apart(space, values, row, order[p])
                    if have == count and distance >= distances[count - 1]:
                        continue
                    at = have if have < count else count - 1
                    have = min(have + 1, count)
                    while at > 0 and distances[at - 1] > distance:
                        distances[at] = distances[at - 1]
                        near[row, at] = near[row, at - 1]
                        at -= 1
                    distances[at] = distance
                    near[row, at] = order[p]
            for at in range(have, count):
                near[row, at] = near[row, have - 1] if have else row


DEPTH = 3  # splits after which the parts are sorted side by side
Spread = Callable[[Sequence[Callable[[], None]]], None]


def one_by_one(jobs: Sequence[Callable[[], None]]) -> None:
    """Do one job after the other."""
    for job in jobs:
        job()


def start(
    space: LossSpace, values: np.ndarray, count: int, spread: Spread = one_by_one
) -> tuple[np.ndarray, np.ndarray]:
    """Divide the rows into `count` groups of sizes equal or one apart, each close in quasi space.

    Median splits at multiples of the group size (LeFevre et al., Mondrian, 2006, without its
    regard for ties), each along the column that leaves the least loss. `spread` is given jobs that
    may be done side by side.

    Returns
    -------
    order, cuts
        Group g holds the rows `order[cuts[g]:cuts[g + 1]]`; neighbours in this numbering are
        neighbours in space.
    """
    n = values.shape[0]
    cuts = np.arange(count + 1, dtype=np.int64) * n // count
    order = np.arange(n, dtype=np.int64)
    sort = partial(split, space, values.copy(), order, cuts)
    parts = [(0, count)]
    for _ in range(DEPTH):
        spread([partial(sort, begin, end, end - begin) for begin, end in parts])
        halves = [(begin, (begin + end) // 2, end) for begin, end in parts]
        parts = [part for half in halves for part in pairwise(half)]
    spread([partial(sort, begin, end, 2) for begin, end in parts])
    return order, cuts


@compiled()
def split(space, values, order, cuts, first, last, least):
    """Sort the rows of the groups first … last into these groups.

    Ranges of fewer groups than `least` are left as they are. OUT: values and order, physically
    rearranged.
    """
    columns = values.shape[1]
    stack = [(first, last)]
    while len(stack) > 0:
        begin, end = stack.pop()
        if end - begin < max(2, least):
            continue
        middle = (begin + end) // 2
        low, cut, high = cuts[begin], cuts[middle], cuts[end]
        best, best_loss, current = np.int64(0), np.inf, NONE
        for j in range(columns):
            if span(space, values, low, high, j) == 0.0:
                continue
            select(values, order, low, high, cut, j)
            current = j
            loss = 0.0
            for c in range(columns):
                loss += (cut - low) * span(space, values, low, cut, c)
                loss += (high - cut) * span(space, values, cut, high, c)
            if loss < best_loss:
                best, best_loss = j, loss
        if current >= 0 and current != best:
            select(values, order, low, high, cut, best)
        stack.append((begin, middle))
        stack.append((middle, end))


@inner
def span(space, values, low, high, j):
    """NCP of column j over the rows from `low` up to `high`."""
    least = most = values[low, j]
    for i in range(low + 1, high):
        value = values[i, j]
        if value < least:
            least = value
        elif value > most:
            most = value
    if space.kinds[j] >= NODE:
        return promise(
            space.coords,
            space.offsets[j],
            space.kinds[j] - NODE,
            np.int64(least),
            np.int64(most),
            space.units[j],
        )
    return extent(space, j, least, most)


@inner
def select(values, order, low, high, cut, j):
    """Rearrange rows so that column j is at most as large before `cut` as from it on."""
    while high - low > 1:
        a, b, c = values[low, j], values[(low + high) // 2, j], values[high - 1, j]
        pivot = max(min(a, b), min(max(a, b), c))
        # Three-way: coded columns repeat few values, and a two-way partition would crawl.
        i, less, more = low, low, high
        while i < more:
            value = values[i, j]
            if value < pivot:
                swap_rows(values, order, i, less)
                less += 1
                i += 1
            elif value > pivot:
                more -= 1
                swap_rows(values, order, i, more)
            else:
                i += 1
        if cut < less:
            high = less
        elif cut > more:
            low = more
        else:
            return


@inner
def swap_rows(values, order, i, k):
    """Exchange two rows and their numbers."""
    if i != k:
        for c in range(values.shape[1]):
            value = values[i, c]
            values[i, c] = values[k, c]
            values[k, c] = value
        order[i], order[k] = order[k], order[i]
