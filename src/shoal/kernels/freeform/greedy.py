"""Greedy and SortGreedy rounds (HK, Algorithms 1 and 2) over a spatial search.

In Greedy, originals go to free boxes; w(i, j) is the loss that box j adds by covering original i,
in fixed point. *Position* is a record's place in lexicographic order of quasi ranks, columns of low
cardinality first, then by row. Each original i in turn, by position, takes the box j of least (w,
position of j).

Dead ends. An original i left without a free partner asks the originals before it, nearest first,
for a y, matched to box j, such that (i, j) and (y, m) are unused pairs and m is free; y takes its
cheapest such m and i takes j. If none will do (possible only when n is below about 3k), a shortest
augmenting path is taken, found breadth first with boxes in order of position; one exists because
the unused pairs form a regular graph.

Within a round whatever belongs to boxes lies in the order of the round's tree (slots), whatever
belongs to originals in the order of the field.

SortGreedy does without sorting all pairs: taken next is the free pair of least (w, position of i,
position of j). At dead ends both sides of i are asked, nearest first, before ahead of after.
"""

import numpy as np

from shoal.kernels.compiling import compiled, inner_as
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
)
from shoal.kernels.freeform.nearest import TAKEN, cheapest_boxes, is_listed, take

AHEAD = 8  # partners that each original looks up at the start of a round; most find theirs there
SEARCH = f"{POINTS}, {BOXES}, {STEPS}, {NODES}, {BOXES}, {LONGS}, {LONGS}, {MATCHES}"
ROUND = f"void({SEARCH}, {LONGS}, {LONGS}, {LONGS}, {LONGS}, {LONG_ROWS}, int32[::1])"


@compiled(f"void(int64, int64, {SEARCH}, {LONG_ROWS})")
def look_ahead(
    first, last, spans, point_masks, lows, highs, masks, steps, words, starts, ends, lefts,
    hull_lows, hull_highs, hull_masks, earliest, free, matches, ahead,
):  # fmt: skip
    """Fill `ahead` (OUT) with the cheapest boxes of originals first..last-1 while all are free."""
    stack = np.empty(len(starts), np.int64)
    bounds = np.empty(len(starts), np.int64)
    for point in range(first, last):
        cheapest_boxes(
            point, spans, point_masks, lows, highs, masks, steps, words, starts, ends, lefts,
            hull_lows, hull_highs, hull_masks, earliest, free, matches, matches.shape[1], stack,
            bounds, ahead[point],
        )  # fmt: skip


@inner_as(f"int64({LONGS}, int64, {LONGS}, {LONGS})")
def first_free(row, seen, free, slot_at):
    """Return the place of the first key from `seen` on whose box is free, else the length."""
    place = seen
    while place < len(row):
        if row[place] == UNBOUNDED or free[slot_at[row[place] & TAKEN]] != TAKEN:
            break
        place += 1
    return place


@compiled(f"int64(int64, {MATCHES}, int64, int32[::1], {LONGS}, {LONGS})")
def augment(point, matches, used, mates, free, slot_at):
    """Match `point` along a shortest augmenting path; return the free box at its end."""
    n = len(mates)
    holder = np.full(n, -1, np.int64)
    for original in range(n):
        if mates[original] >= 0:
            holder[mates[original]] = original
    came_from = np.full(n, -1, np.int64)
    line = np.empty(n, np.int64)
    line[0], size, head = point, 1, 0
    while head < size:
        original = line[head]
        head += 1
        for box in slot_at:
            if came_from[box] >= 0 or is_listed(matches, box, used, original):
                continue
            came_from[box] = original
            if free[box] == TAKEN:
                line[size] = holder[box]
                size += 1
                continue
            step = box
            while True:
                original = came_from[step]
                previous = mates[original]
                mates[original] = step
                if original == point:
                    return box
                step = previous
    return -1


@compiled(ROUND)
def greedy_round(
    spans, point_masks, lows, highs, masks, steps, words, starts, ends, lefts, hull_lows,
    hull_highs, hull_masks, earliest, free, matches, parents, leaves, point_at, slot_at, ahead,
    mates,
):  # fmt: skip
    """Run one round of Algorithm 1: the box of each original into `mates` (OUT)."""
    n, used = matches.shape
    stack = np.empty(len(starts), np.int64)
    bounds = np.empty(len(starts), np.int64)
    best = np.empty(1, np.int64)
    mates[:] = -1
    for turn in range(n):
        point = point_at[turn]
        place = first_free(ahead[point], 0, free, slot_at)
        if place < AHEAD:
            best[0] = ahead[point, place]
        else:
            cheapest_boxes(
                point, spans, point_masks, lows, highs, masks, steps, words, starts, ends, lefts,
                hull_lows, hull_highs, hull_masks, earliest, free, matches, used, stack, bounds,
                best,
            )  # fmt: skip
        if best[0] != UNBOUNDED:
            box = slot_at[best[0] & TAKEN]
            mates[point] = box
            take(box, leaves[box], starts, ends, lefts, parents, free, earliest)
            continue
        for back in range(1, turn + 1):
            other = point_at[turn - back]
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


@compiled(ROUND)
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
