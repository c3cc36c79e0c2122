"""Loss of a group in quasi-identifier space.

A row carries one number per quasi column: the scaled coordinate of an interval column, the rank
of a set or node column. The NCP of a group is the sum over its columns of

    interval   highest - lowest coordinate
    set        (distinct labels - 1) * unit
    node       the NCP of the lowest node over lowest and highest rank

and its loss is size * NCP (Xu et al., KDD 2006). The two lowest and two highest values of every
group are kept, so that the NCP of a group with one member replaced costs O(columns).
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiling import NONE, inner, lean
from shoal.kernels.space import INTERVAL, NODE, SET, promise


class LossSpace(NamedTuple):
    """What the kernels know about the quasi columns (see `shoal.kernels.space`)."""

    kinds: np.ndarray  # int8 (d): INTERVAL, SET or NODE + w
    units: np.ndarray  # float64 (d): NCP of one label beyond the first, for set columns
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
        return high - low
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
        edges[g, 0, j], edges[g, 1, j] = low, low_next
        edges[g, 2, j], edges[g, 3, j] = high, high_next
    ncp = ncp_after(space, groups, g, NONE, g, NONE)
    groups.ncp[g] = ncp
    for i in range(size):
        groups.relief[g, i] = size * (ncp - ncp_after(space, groups, g, i, g, NONE))


@lean
def ncp_after(space, groups, g, leave, source, enter):
    """NCP of group g once member `leave` has left and member `enter` of `source` has come.

    Either index may be -1: nobody leaves, nobody comes.
    """
    edges, values = groups.edges, groups.values
    total = 0.0
    for j in range(space.kinds.size):
        if space.kinds[j] == SET:
            total += (labels_after(groups, g, leave, source, enter, j) - 1) * space.units[j]
            continue
        low, high = edges[g, 0, j], edges[g, 2, j]
        if leave >= 0:
            value = values[g, leave, j]
            if value == low:
                low = edges[g, 1, j]
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
