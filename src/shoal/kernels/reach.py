"""How far a row has to reach for a group that could hold: the row's share of the least loss.

The box of a group covers each of its rows and, from there, its farthest member. So its NCP is at
least what covering a row and the farthest of its nearest possible members costs.

Rows are found by a tree of boxes: node 1 is the whole, node v has the halves 2 v and 2 v + 1, and
the leaves are runs of rows that are close to one another. Nothing near is missed, whatever the
kinds of the columns: what a box is apart from a row in each column is never more than any row in it
is.
"""

import numpy as np

from shoal.kernels.compiling import inner, lean
from shoal.kernels.exchange.loss import LossSpace
from shoal.kernels.exchange.start import Spread, one_by_one, start
from shoal.kernels.relations import proximate
from shoal.kernels.space import INTERVAL, SET, highest_gap

DEEP = 128  # places of the stack: two for each level of the tree are enough
RUN = 12  # rows of a leaf, about
EFFORT = 512  # boxes that are looked at for one row


def box_tree(
    space: LossSpace, values: np.ndarray, spread: Spread = one_by_one
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return a tree of boxes over rows: the rows of each leaf, and what every node covers.

    Leaf l holds the rows order[cuts[l]:cuts[l + 1]], and is node leaves + l.
    """
    leaves = 2 ** max(0, (len(values) // RUN).bit_length() - 1)
    order, cuts = start(space, values, leaves, spread)
    lowest, highest = np.zeros((2, 2 * leaves, values.shape[1]))
    lowest[leaves:] = np.minimum.reduceat(values[order], cuts[:-1])
    highest[leaves:] = np.maximum.reduceat(values[order], cuts[:-1])
    level = leaves
    while level > 1:
        level //= 2
        lowest[level : 2 * level] = lowest[2 * level : 4 * level].reshape(level, 2, -1).min(1)
        highest[level : 2 * level] = highest[2 * level : 4 * level].reshape(level, 2, -1).max(1)
    return order, cuts, lowest, highest


@inner
def between(space, j, low, high):
    """NCP of column j over two values of it, low <= high."""
    if space.kinds[j] == INTERVAL:
        return min(high - low, space.units[j])
    if space.kinds[j] == SET:
        return space.units[j] if low < high else 0.0
    return highest_gap(
        space.coords, space.offsets[j], space.kinds[j] - 2, np.int64(low), np.int64(high)
    )


@inner
def from_box(space, values, row, lowest, highest, node):
    """Return the least that any row of a box is apart from a row."""
    total = 0.0
    for j in range(space.kinds.size):
        value, low, high = values[row, j], lowest[node, j], highest[node, j]
        if value < low and (space.kinds[j] != SET or low == high):
            total += between(space, j, value, low)
        elif value > high and (space.kinds[j] != SET or low == high):
            total += between(space, j, high, value)
    return total


@inner
def nearest(space, values, order, cuts, lowest, highest, row, stack, near, distances):
    """Find the rows nearest to a row, the nearest first. OUT: near, distances. Returns how many."""
    have, most, leaves = 0, near.size, cuts.size - 1
    stack[0], waiting = 1, 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        bound = from_box(space, values, row, lowest, highest, node)
        if have == most and bound >= distances[most - 1]:
            continue
        if node < leaves:
            left = from_box(space, values, row, lowest, highest, 2 * node)
            right = from_box(space, values, row, lowest, highest, 2 * node + 1)
            stack[waiting] = 2 * node + (left <= right)
            stack[waiting + 1] = 2 * node + (left > right)
            waiting += 2
            continue
        own = order[cuts[node - leaves] : cuts[node - leaves + 1]]
        have = take_in(space, values, own, row, near, distances, have)
    return have


@inner
def nearest_first(space, values, order, cuts, lowest, highest, row, heap, bounds, near, distances):
    """Find the rows nearest to a row, the nearest boxes first, as long as it pays.

    In a table of many columns every box is about as near as any other, and to find who is nearest
    would be to look at all rows. OUT: near, distances. Returns how many, and what every row that
    was not looked at is apart at least. Scratch: heap, bounds.
    """
    have, most, leaves = 0, near.size, cuts.size - 1
    heap[0], bounds[0], waiting = 1, 0.0, 1
    for _ in range(heap.size - 1):
        if waiting == 0 or (have == most and bounds[0] >= distances[most - 1]):
            return have, np.inf
        node = heap[0]
        if node < leaves:
            left = from_box(space, values, row, lowest, highest, 2 * node)
            right = from_box(space, values, row, lowest, highest, 2 * node + 1)
            heap[0], bounds[0] = 2 * node, left
            sink(heap, bounds, waiting)
            heap[waiting], bounds[waiting] = 2 * node + 1, right
            rise(heap, bounds, waiting)
            waiting += 1
            continue
        waiting -= 1
        heap[0], bounds[0] = heap[waiting], bounds[waiting]
        sink(heap, bounds, waiting)
        own = order[cuts[node - leaves] : cuts[node - leaves + 1]]
        have = take_in(space, values, own, row, near, distances, have)
    return have, bounds[0] if waiting > 0 else np.inf


@inner
def sink(heap, bounds, size):
    """Move the first of a heap down to its place, the least bound being first."""
    at = 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and bounds[below + 1] < bounds[below]:
            below += 1
        if bounds[at] <= bounds[below]:
            return
        heap[at], heap[below] = heap[below], heap[at]
        bounds[at], bounds[below] = bounds[below], bounds[at]
        at = below


@inner
def rise(heap, bounds, at):
    """Move the last of a heap up to its place."""
    while at > 0 and bounds[at] < bounds[(at - 1) // 2]:
        above = (at - 1) // 2
        heap[at], heap[above] = heap[above], heap[at]
        bounds[at], bounds[above] = bounds[above], bounds[at]
        at = above


@inner
def take_in(space, values, own, row, near, distances, have):
    """Put some rows among the nearest to a row (IN/OUT: near, distances). Returns how many."""
    most = near.size
    for other in own:
        if other == row:
            continue
        distance = 0.0
        for j in range(space.kinds.size):
            here, there = values[row, j], values[other, j]
            distance += between(space, j, min(here, there), max(here, there))
        if have == most and distance >= distances[most - 1]:
            continue
        at = have if have < most else most - 1
        have = min(have + 1, most)
        while at > 0 and distances[at - 1] > distance:
            distances[at] = distances[at - 1]
            near[at] = near[at - 1]
            at -= 1
        distances[at], near[at] = distance, other
    return have


@lean
def nearest_points(
    space, values, order, cuts, lowest, highest, which, begin, end, stack, distances, found
):
    """List the rows nearest to each of the rows which[begin:end], the nearest first.

    IN: a tree of boxes (`box_tree`) over at least one more row than are listed. OUT: found, by
    place in `which`. Scratch: stack, distances.
    """
    for place in range(begin, end):
        nearest(
            space, values, order, cuts, lowest, highest, which[place], stack, found[place],
            distances,
        )  # fmt: skip


@inner
def packed(codes, reach, row, near, have, wanted, sorted_codes):
    """Say how many near rows it takes until `wanted`, with the row, are pairwise not near.

    Two codes a <= b are near when b <= reach[a], which never falls. Packing from below is then best
    possible. Returns `have` where all of them are not enough. Scratch: sorted_codes.
    """
    own, count = codes[row], 0
    for taken in range(have):
        code = codes[near[taken]]
        if (code <= own <= reach[code]) or (own <= code <= reach[own]):
            continue
        at = count
        while at > 0 and sorted_codes[at - 1] > code:
            sorted_codes[at] = sorted_codes[at - 1]
            at -= 1
        sorted_codes[at] = code
        count += 1
        found, limit = 1, np.int32(-1)
        for place in range(count):
            if sorted_codes[place] > limit:
                found += 1
                limit = reach[sorted_codes[place]]
        if found >= wanted:
            return taken + 1
    return have


@lean
def reaches(
    space, values, order, cuts, lowest, highest, relations, codes, reach, wanted, away,
    least, begin, end, heap, bounds, near, distances, sorted_codes, found,
):  # fmt: skip
    """Say how far each of the rows begin … end has to reach.

    IN: order and cuts, the rows of each leaf; lowest, highest of each node. Relation r has its
    codes, `reach` from relations.starts[r] on where it is a band of which `wanted[r]` members of a
    group are pairwise not near, and `away[r]` members that are not near to any given one. `least`
    rows make a group. OUT: found. Scratch: heap, bounds, near, distances, sorted_codes.

    Where not all rows were looked at, the others are `beyond`: whoever is nearer than that is
    known, so a row reaches as far as is found, or at least there.
    """
    for place in range(begin, end):
        row = order[place]
        have, beyond = nearest_first(
            space, values, order, cuts, lowest, highest, row, heap, bounds, near, distances
        )
        needs = min(least - 1, have)
        for r in range(relations.forms.size):
            count = 0
            for taken in range(have):
                if count >= away[r]:
                    break
                other = codes[r, near[taken]]
                count += not proximate(relations, r, other, codes[r, row])
                needs = max(needs, taken + 1)
            if wanted[r] > 1:
                own = reach[relations.starts[r] :]
                needs = max(needs, packed(codes[r], own, row, near, have, wanted[r], sorted_codes))
        found[row] = min(distances[needs - 1], beyond) if needs > 0 else 0.0
