"""Loss of a group in quasi-identifier space.

A row carries one number per quasi column: the scaled coordinate of an interval column, the rank
of a set or node column. The NCP of a group is the sum over its columns of

    interval   highest - lowest coordinate, and at most the whole column
    set        (distinct labels - 1) * unit
    node       the NCP of the lowest node over lowest and highest rank

and its loss is size * NCP (Xu et al., KDD 2006). The two lowest and two highest values of every
group are kept, so that the NCP of a group with one member replaced costs O(columns).

Where means are published, squares are lost instead. Then all columns are of the kinds

    square     the mean square of the differences from the mean
    one-hot    1 - the sum of the squared shares of labels, times the unit

and size * NCP stands for the sum of squared errors. Sums are kept in place of edges.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiling import NONE, inner, placed, placed_inner
from shoal.kernels.space import INTERVAL, NODE, SET, SQUARE, promise


class LossSpace(NamedTuple):
    """What the kernels know about the quasi columns (see `shoal.kernels.space`)."""

    kinds: np.ndarray  # int8 (d): INTERVAL, SET or NODE + w; or SQUARE and ONE_HOT alone
    units: np.ndarray  # float64 (d): NCP of a whole interval, or of one label beyond the first; of
    # a difference one-hot
    coords: np.ndarray  # float64: for node columns, their tables
    offsets: np.ndarray  # int64 (d + 1): where each column begins in coords


def positions(
    ranks: np.ndarray, coords: np.ndarray, offsets: np.ndarray, kinds: np.ndarray
) -> np.ndarray:
    """Give each row its number per column: coordinate where intervals are published, else rank."""
    result = np.empty(ranks.shape, np.float64)
    for j, kind in enumerate(kinds):
        column = coords[offsets[j] : offsets[j + 1]]
        result[:, j] = column[ranks[:, j]] if kind == INTERVAL else ranks[:, j]
    return result


@inner
def extent(space, j, low, high):
    """NCP of column j for a group whose lowest and highest numbers are `low` and `high`.

    The one place where the NCP of a range is decided. For a set column this is an upper bound (all
    labels between the two), used only to choose where to split.
    """
    if space.kinds[j] == INTERVAL:
        return min(high - low, space.units[j])
    if space.kinds[j] == SQUARE:
        return (high - low) ** 2 / 2
    if space.kinds[j] >= NODE:
        return promise(
            space.coords,
            space.offsets[j],
            space.kinds[j] - NODE,
            np.int64(low),
            np.int64(high),
            space.units[j],
        )
    return (high - low) * space.units[j]


@inner
def measure(space, groups, g):
    """Recompute edges, NCP and relief of group g from its members.

    The relief of a member is what the loss falls by when it leaves and somebody from inside the
    remaining range takes its place.
    """
    edges, values, size = groups.edges, groups.values, groups.sizes[g]
    if size == 0:
        groups.ncp[g] = 0.0
        return
    if space.kinds[0] < 0:
        measure_squares(space, groups, g)
        return
    for j in range(space.kinds.size):
        if space.kinds[j] == SET:
            distinct = 0
            for i in range(size):
                distinct += 1
                for other in range(i):
                    if values[g, other, j] == values[g, i, j]:
                        distinct -= 1
                        break
            edges[g, 0, j] = distinct
            continue
        low, low_next, high, high_next = np.inf, np.inf, -np.inf, -np.inf
        for i in range(size):
            value = values[g, i, j]
            if value < low:
                low_next, low = low, value
            elif value < low_next:
                low_next = value
            if value > high:
                high_next, high = high, value
            elif value > high_next:
                high_next = value
        edges[g, 0, j], edges[g, 2, j] = low, low_next
        edges[g, 1, j], edges[g, 3, j] = high, high_next
    ncp = ncp_after(space, groups, g, NONE, g, NONE)
    groups.ncp[g] = ncp
    most = 0.0
    for i in range(size):
        groups.relief[g, i] = size * (ncp - ncp_after(space, groups, g, i, g, NONE))
        most = max(most, groups.relief[g, i])
    groups.most[g] = most


@placed
def ncp_after(space, groups, g, leave, source, enter):
    """NCP of group g once member `leave` has left and member `enter` of `source` has come.

    Either index may be -1: nobody leaves, nobody comes.
    """
    if space.kinds[0] < 0:
        return squares_after(space, groups, g, leave, source, enter)
    edges, values = groups.edges, groups.values
    total = 0.0
    for j in range(space.kinds.size):
        if space.kinds[j] == SET:
            total += (labels_after(groups, g, leave, source, enter, j) - 1) * space.units[j]
            continue
        low, high = edges[g, 0, j], edges[g, 1, j]
        if leave >= 0:
            value = values[g, leave, j]
            if value == low:
                low = edges[g, 2, j]
            if value == high:
                high = edges[g, 3, j]
        if enter >= 0:
            value = values[source, enter, j]
            low = min(low, value)
            high = max(high, value)
        total += extent(space, j, low, high)
    return total


@inner
def labels_after(groups, g, leave, source, enter, j):
    """Count the distinct labels of set column j after the replacement of `ncp_after`."""
    values = groups.values
    leaves_gap, is_new = leave >= 0, enter >= 0
    for i in range(groups.sizes[g]):
        if i == leave:
            continue
        if leaves_gap and values[g, i, j] == values[g, leave, j]:
            leaves_gap = False
        if is_new and values[g, i, j] == values[source, enter, j]:
            is_new = False
        if not (leaves_gap or is_new):
            break
    return groups.edges[g, 0, j] - leaves_gap + is_new


@inner
def measure_squares(space, groups, g):
    """Do what `measure` does where squares are lost.

    The sum of every column is kept, or of the squared counts of its labels; the sum of the squares
    of all columns stands once, beside the first, and so does how far from the mean the furthest
    member is. Whoever takes a place adds no less than nothing,
    so the relief is what leaving takes along.
    """
    sums, values, size = groups.edges, groups.values, groups.sizes[g]
    squares = 0.0
    for j in range(space.kinds.size):
        total = 0.0
        for i in range(size):
            value = values[g, i, j]
            if space.kinds[j] == SQUARE:
                total += value
                squares += value * value
            else:
                total += labelled(groups, g, value, j)
        sums[g, 0, j] = total
    sums[g, 1, 0] = squares
    mean = squares_after(space, groups, g, NONE, g, NONE)
    groups.ncp[g] = mean
    most = 0.0
    for i in range(size):
        left = (size - 1) * squares_after(space, groups, g, i, g, NONE)
        groups.relief[g, i] = size * mean - left
        most = max(most, groups.relief[g, i])
    groups.most[g] = most
    sums[g, 2, 0] = np.sqrt(most * (size - 1) / size)


@placed_inner
def squares_after(space, groups, g, leave, source, enter):
    """Mean squared error SSE / n of group g after the replacement of `ncp_after`.

    SSE = sum of squares - sum over the columns of (sum of values) ** 2 / n
    """
    sums, values = groups.edges, groups.values
    size = groups.sizes[g] - (leave >= 0) + (enter >= 0)
    if size == 0:
        return 0.0
    squares, of_sums, unlike = sums[g, 1, 0], 0.0, 0.0
    for j in range(space.kinds.size):
        total = sums[g, 0, j]
        if space.kinds[j] == SQUARE:
            if leave >= 0:
                value = values[g, leave, j]
                total -= value
                squares -= value * value
            if enter >= 0:
                value = values[source, enter, j]
                total += value
                squares += value * value
            of_sums += total * total
            continue
        gone = values[g, leave, j] if leave >= 0 else -1.0
        come = values[source, enter, j] if enter >= 0 else -1.0
        if gone != come:
            if leave >= 0:
                total -= 2 * labelled(groups, g, gone, j) - 1
            if enter >= 0:
                total += 2 * labelled(groups, g, come, j) + 1
        unlike += (1 - total / (size * size)) * space.units[j]
    return max(squares - of_sums / size, 0.0) / size + unlike


@inner
def labelled(groups, g, label, j):
    """Count the members of group g with a label in column j."""
    count = 0
    for i in range(groups.sizes[g]):
        count += groups.values[g, i, j] == label
    return count


@placed_inner
def least_added(space, groups, h, added):
    """Return what somebody adds at least to the loss of group h by taking a place there.

    Beside what the one who leaves takes along (its relief). IN: added, the NCP once somebody has
    come and nobody left. A box grows by as much whoever leaves. A mean moves towards the rest by
    the distance of the one who leaves, over those that are left:

        (n - 1) / n * (|x - mean| - furthest / (n - 1)) ** 2
    """
    size = groups.sizes[h]
    if space.kinds[0] >= 0:
        return size * (added - groups.ncp[h])
    if size == 1:
        return 0.0
    more = max((size + 1) * added - size * groups.ncp[h], 0.0)
    away = np.sqrt(more * (size + 1) / size) - groups.edges[h, 2, 0] / (size - 1)
    return (size - 1) / size * max(away, 0.0) ** 2
