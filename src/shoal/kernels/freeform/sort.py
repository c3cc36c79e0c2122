"""SortGreedy rounds (HK, Algorithm 2) without sorting all pairs.

The pair taken next is the free one of least (w, position of i, position of j), words as in
`greedy`. Dead ends: as there, but both sides of i are asked, nearest first, before ahead of after.
"""

import numpy as np
from numba import njit

from shoal.kernels.freeform.boxes import SHIFT, UNBOUNDED
from shoal.kernels.freeform.greedy import AHEAD, ROUND, augment, first_free
from shoal.kernels.freeform.layouts import LONGS
from shoal.kernels.freeform.nearest import TAKEN, cheapest_boxes, is_listed, take
from shoal.kernels.lean import inner_as


@inner_as(f"int64({LONGS}, int64, int64)")
def push(queue, size, key):
    """Add a key to a min-heap; return the new size."""
    place = size
    while place > 0 and queue[(place - 1) // 2] > key:
        queue[place] = queue[(place - 1) // 2]
        place = (place - 1) // 2
    queue[place] = key
    return size + 1


@inner_as(f"int64({LONGS}, int64)")
def pop(queue, size):
    """Remove the least key of a min-heap; return the new size."""
    size -= 1
    key = queue[size]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and queue[child + 1] < queue[child]:
            child += 1
        if queue[child] >= key:
            break
        queue[place] = queue[child]
        place = child
    queue[place] = key
    return size


@njit(ROUND, cache=True, nogil=True)
def sort_round(
    spans, point_masks, lows, highs, masks, steps, words, starts, ends, lefts, hull_lows,
    hull_highs, hull_masks, earliest, free, matches, parents, leaves, point_at, slot_at, ahead,
    mates,
):  # fmt: skip
    """Run one round of Algorithm 2: the box of each original into `mates` (OUT).

    Each original stands in a queue with its cheapest free box when last looked up. The first in the
    queue whose box is still free is the cheapest free pair of all: free boxes only become fewer, so
    every entry is a lower bound on what its original can still get.
    """
    n, used = matches.shape
    stack = np.empty(len(starts), np.int64)
    bounds = np.empty(len(starts), np.int64)
    seen = np.zeros(n, np.int64)
    queue = np.empty(n, np.int64)
    mates[:] = -1
    size = 0
    for turn in range(n):
        key = ahead[point_at[turn], 0]
        if key != UNBOUNDED:
            size = push(queue, size, ((key >> SHIFT) << SHIFT) | turn)
    while size > 0:
        turn = queue[0] & TAKEN
        point = point_at[turn]
        row = ahead[point]
        box = slot_at[row[seen[point]] & TAKEN]
        if free[box] != TAKEN:
            mates[point] = box
            take(box, leaves[box], starts, ends, lefts, parents, free, earliest)
            size = pop(queue, size)
            continue
        seen[point] = first_free(row, seen[point], free, slot_at)
        if seen[point] == AHEAD:
            cheapest_boxes(
                point, spans, point_masks, lows, highs, masks, steps, words, starts, ends, lefts,
                hull_lows, hull_highs, hull_masks, earliest, free, matches, used, stack, bounds,
                row,
            )  # fmt: skip
            seen[point] = 0
        size = pop(queue, size)
        if row[seen[point]] != UNBOUNDED:
            size = push(queue, size, ((row[seen[point]] >> SHIFT) << SHIFT) | turn)
    best = np.empty(1, np.int64)
    for turn in range(n):
        point = point_at[turn]
        if mates[point] >= 0:
            continue
        for step in range(2, 2 * n):
            # Steps 2, 3, 4, 5... look at turn - 1, turn + 1, turn - 2, turn + 2...
            near = turn - step // 2 if step % 2 == 0 else turn + step // 2
            if near < 0 or near >= n or mates[point_at[near]] < 0:
                continue
            other = point_at[near]
            if is_listed(matches, mates[other], used, point):
                continue
            cheapest_boxes(
                other, spans, point_masks, lows, highs, masks, steps, words, starts, ends, lefts,
                hull_lows, hull_highs, hull_masks, earliest, free, matches, used, stack, bounds,
                best,
            )  # fmt: skip
            if best[0] != UNBOUNDED:
                box = slot_at[best[0] & TAKEN]
                mates[point], mates[other] = mates[other], box
                take(box, leaves[box], starts, ends, lefts, parents, free, earliest)
                break
        if mates[point] < 0:
            box = augment(point, matches, used, mates, free, slot_at)
            take(box, leaves[box], starts, ends, lefts, parents, free, earliest)
