"""Searches of a tree by added loss: originals for a box, free boxes for an original.

Both go depth first, nearer child first, and leave out every node whose bound cannot beat what has
been found. A bound and a result are one integer, (loss << SHIFT) | tie, so ties are settled exactly
and prune like losses.
"""

import numpy as np

from shoal.kernels.compiling import inner_as, lean_as
from shoal.kernels.freeform.boxes import (
    BOXES,
    LONG_ROWS,
    LONGS,
    MATCHES,
    NODES,
    POINTS,
    SHIFT,
    STEPS,
    UNBOUNDED,
    added_loss,
)

# Position of a box that is no longer free; above every true position.
TAKEN = np.int64((1 << SHIFT) - 1)


@inner_as(f"void({LONGS}, int64, int64)")
def sift(keys, size, key):
    """Replace the largest of a max-heap `keys[:size]` by `key`."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] > keys[child]:
            child += 1
        if keys[child] <= key:
            break
        keys[place] = keys[child]
        place = child
    keys[place] = key


@inner_as(f"void({LONGS})")
def ascend(keys):
    """Sort a max-heap in place: Numba's own sort takes seconds to compile at each use."""
    for size in range(len(keys) - 1, 0, -1):
        largest = keys[0]
        sift(keys, size, keys[size])
        keys[size] = largest


@inner_as(f"boolean({MATCHES}, int64, int64, int64)")
def is_listed(matches, row, used, match):
    """Return whether `match` is among the first `used` entries of a row."""
    for place in range(used):  # noqa: SIM110 - Numba compiles no generators
        if matches[row, place] == match:
            return True
    return False


@lean_as(
    f"void({LONGS}, {POINTS}, {BOXES}, {STEPS}, {NODES}, {BOXES}, {MATCHES}, int64, {LONGS},"
    f" {LONGS}, {LONG_ROWS})"
)
def cheapest_points(
    members, spans, point_masks, lows, highs, masks, steps, words,
    starts, ends, lefts, hull_lows, hull_highs, hull_masks, matches, used, stack, bounds, keys,
):  # fmt: skip
    """Find for each box in `members` the unmatched originals that add least loss.

    Row b of `keys` (OUT) holds (loss << SHIFT) | steps from b forward to the original, going round
    in tree order, ascending. The tie rule matters: identical records would otherwise all list the
    same few partners. `stack` and `bounds` are scratch, a place a node.
    """
    n, wanted = keys.shape
    for box in members:
        heap = keys[box]
        heap[:] = UNBOUNDED
        top = 1
        stack[0], bounds[0] = 0, 0
        while top > 0:
            top -= 1
            node = stack[top]
            if bounds[top] >= heap[0]:
                continue
            left = lefts[node]
            if left < 0:
                for row in range(starts[node], ends[node]):
                    most = heap[0] >> SHIFT
                    loss = added_loss(
                        lows, highs, masks, box, spans, spans, point_masks, row, steps, words, most
                    )
                    ahead = row - box
                    if ahead < 0:
                        ahead += n
                    key = (loss << SHIFT) | ahead
                    if key < heap[0] and not is_listed(matches, box, used, row):
                        sift(heap, wanted, key)
                continue
            for child in range(left, left + 2):
                loss = added_loss(
                    lows, highs, masks, box, hull_lows, hull_highs, hull_masks, child, steps, words,
                    heap[0] >> SHIFT,
                )  # fmt: skip
                ahead = starts[child] - box
                if ahead < 0:
                    ahead = 0 if ends[child] > box else ahead + n
                bounds[top + child - left] = (loss << SHIFT) | ahead
                stack[top + child - left] = child
            if bounds[top] < bounds[top + 1]:
                stack[top], stack[top + 1] = stack[top + 1], stack[top]
                bounds[top], bounds[top + 1] = bounds[top + 1], bounds[top]
            top += 2
        ascend(heap)


@inner_as(
    f"void(int64, {POINTS}, {BOXES}, {STEPS}, {NODES}, {BOXES}, {LONGS}, {LONGS}, {MATCHES}, int64,"
    f" {LONGS}, {LONGS}, {LONGS})"
)
def cheapest_boxes(
    point, spans, point_masks, lows, highs, masks, steps, words,
    starts, ends, lefts, hull_lows, hull_highs, hull_masks, earliest, positions,
    matches, used, stack, bounds, heap,
):  # fmt: skip
    """Find the free boxes that lose least by taking in the original `point`, unmatched to it.

    `heap` (OUT) holds (loss << SHIFT) | position of the box, ascending; missing ones are the
    largest int64. `positions` gives a free box its place in the order of ties and TAKEN to any
    other, `earliest` the least position under each node, so that a node with no free box is never
    entered.
    """
    heap[:] = UNBOUNDED
    wanted = len(heap)
    top = 0
    if earliest[0] != TAKEN:
        stack[0], bounds[0] = 0, 0
        top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        if bounds[top] >= heap[0]:
            continue
        left = lefts[node]
        if left < 0:
            for box in range(starts[node], ends[node]):
                if positions[box] == TAKEN:
                    continue
                loss = added_loss(
                    lows, highs, masks, box, spans, spans, point_masks, point, steps, words,
                    heap[0] >> SHIFT,
                )  # fmt: skip
                key = (loss << SHIFT) | positions[box]
                if key < heap[0] and not is_listed(matches, box, used, point):
                    sift(heap, wanted, key)
            continue
        pushed = 0
        for child in range(left, left + 2):
            if earliest[child] == TAKEN:
                continue
            loss = added_loss(
                hull_lows, hull_highs, hull_masks, child, spans, spans, point_masks, point, steps,
                words, heap[0] >> SHIFT,
            )  # fmt: skip
            bounds[top + pushed] = (loss << SHIFT) | earliest[child]
            stack[top + pushed] = child
            pushed += 1
        if pushed == 2 and bounds[top] < bounds[top + 1]:
            stack[top], stack[top + 1] = stack[top + 1], stack[top]
            bounds[top], bounds[top + 1] = bounds[top + 1], bounds[top]
        top += pushed
    ascend(heap)


@inner_as(f"int64(int64, {NODES}, {LONGS}, {LONGS})")
def earliest_under(node, starts, ends, lefts, positions, earliest):
    """Return the least position under a node, given those of its children."""
    left = lefts[node]
    if left >= 0:
        return min(earliest[left], earliest[left + 1])
    least = positions[starts[node]]
    for box in range(starts[node] + 1, ends[node]):
        least = min(least, positions[box])
    return least


@lean_as(f"void({NODES}, {LONGS}, {LONGS})")
def fit_earliest(starts, ends, lefts, positions, earliest):
    """Fill `earliest` (OUT) with the least position under each node."""
    for node in range(len(starts) - 1, -1, -1):
        earliest[node] = earliest_under(node, starts, ends, lefts, positions, earliest)


@inner_as(f"void(int64, int64, {NODES}, {LONGS}, {LONGS}, {LONGS})")
def take(box, leaf, starts, ends, lefts, parents, positions, earliest):
    """Mark a box as taken and correct `earliest` (IN/OUT) up to the root."""
    positions[box] = TAKEN
    node = leaf
    while node >= 0:
        least = earliest_under(node, starts, ends, lefts, positions, earliest)
        if earliest[node] == least:
            break
        earliest[node] = least
        node = parents[node]
