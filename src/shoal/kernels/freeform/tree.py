"""A k-d tree over boxes (an original is a box of no extent), searched by added loss.

Records are moved physically into tree order, so that a node is a contiguous run and identical
records lie side by side. A node's hull gives a lower bound on the loss between a query and
everything under it: the gap to its spans, and a step for each set column that shares no label with
it.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiling import LongInts, inner_as, lean_as
from shoal.kernels.cuts import select
from shoal.kernels.freeform.boxes import BOXES, LONGS, NODES, STEPS, Boxes, FixedPoints, Masks

LEAF = 8


class PointTree(NamedTuple):
    """Nodes breadth first (a child after its parent); node 0 is the root.

    Children are born in pairs, so the right child is the one after the left.
    """

    starts: LongInts  # first record
    ends: LongInts  # one past the last record
    lefts: LongInts  # left child, -1 for a leaf
    parents: LongInts
    lows: LongInts  # hull
    highs: LongInts
    masks: Masks


def build(points: FixedPoints, boxes: Boxes) -> tuple[LongInts, PointTree]:
    """Return the order of the boxes (tree position to box) and the tree over them."""
    n, columns = boxes.lows.shape
    order = np.arange(n)
    # Cuts may be uneven, but a node is cut only while it holds more than LEAF records: there are
    # fewer than n leaves.
    nodes = [np.empty(2 * n + 1, np.int64) for _ in range(4)]
    scratch = np.empty(n, np.int64), np.empty(n, np.int64)
    count = grow(*boxes, points.steps, points.words, order, *nodes, *scratch)
    starts, ends, lefts, parents = (node[:count].copy() for node in nodes)
    hulls = Boxes(
        np.empty((count, columns), np.int64),
        np.empty((count, columns), np.int64),
        np.empty((count, boxes.masks.shape[1]), np.uint64),
    )
    fit_hulls(starts, ends, lefts, *hulls, *boxes.take(order))
    tree = PointTree(starts, ends, lefts, parents, *hulls)
    return order, tree


@inner_as(f"int64({LONGS}, {LONGS}, {LONGS})")
def cut_run(values, run, copy):
    """Part `run` (IN/OUT) at a change of value near its middle; return where."""
    size = len(values)
    for place in range(size):
        copy[place] = values[place]
    middle = select(copy, size, size // 2)
    below, upto = 0, 0
    for value in values:
        below += value < middle
        upto += value <= middle
    if below == 0 and upto == size:
        return size // 2
    inclusive = below == 0 or (upto < size and abs(2 * upto - size) < abs(2 * below - size))
    first, second = 0, upto if inclusive else below
    cut = second
    for place in range(size):
        if values[place] < middle or (inclusive and values[place] == middle):
            copy[first] = run[place]
            first += 1
        else:
            copy[second] = run[place]
            second += 1
    for place in range(size):
        run[place] = copy[place]
    return cut


@lean_as(f"int64({BOXES}, {STEPS}, {LONGS}, {NODES}, {LONGS}, {LONGS}, {LONGS})")
def grow(lows, highs, masks, steps, words, order, starts, ends, lefts, parents, values, copy):
    """Split runs of `order` (IN/OUT) until they are small; return the number of nodes (OUT).

    The column to split is the one where the two halves would lie farthest apart: half the width of
    the lows or of the highs, the step of a set column whose cells differ. Splitting lows and highs
    apart keeps wide boxes from spoiling the hulls of narrow ones. The cut lies at a change of value
    near the middle, which keeps equal records together; records that are equal throughout are
    halved.
    """
    n, columns = lows.shape
    starts[0], ends[0], lefts[0], parents[0] = 0, n, -1, -1
    count = 1
    node = 0
    while node < count:
        start, end = starts[node], ends[node]
        size = end - start
        if size <= LEAF:
            node += 1
            continue
        run = order[start:end]
        best, chosen = 0, -1
        for candidate in range(2 * columns):
            side = lows if candidate < columns else highs
            least = most = side[run[0], candidate % columns]
            for place in range(1, size):
                value = side[run[place], candidate % columns]
                least, most = min(least, value), max(most, value)
            if (most - least + 1) // 2 > best:
                best, chosen = (most - least + 1) // 2, candidate
        for place in range(len(steps)):
            if steps[place] > best:
                for word in range(words[place], words[place + 1]):
                    for other in range(1, size):
                        if masks[run[other], word] != masks[run[0], word]:
                            best, chosen = steps[place], 2 * columns + word
                            break
        cut = size // 2
        if chosen >= 0:
            for place in range(size):
                if chosen < columns:
                    values[place] = lows[run[place], chosen]
                elif chosen < 2 * columns:
                    values[place] = highs[run[place], chosen - columns]
                else:
                    values[place] = np.int64(masks[run[place], chosen - 2 * columns])
            cut = cut_run(values[:size], run, copy)
        lefts[node] = count
        for side_start, side_end in ((start, start + cut), (start + cut, end)):
            starts[count], ends[count], lefts[count], parents[count] = (
                side_start,
                side_end,
                -1,
                node,
            )
            count += 1
        node += 1
    return count


@lean_as(f"void({NODES}, {BOXES}, {BOXES})")
def fit_hulls(starts, ends, lefts, lows, highs, masks, box_lows, box_highs, box_masks):
    """Fit the hulls (`lows`, `highs`, `masks`, OUT) from the leaves upward."""
    for node in range(len(starts) - 1, -1, -1):
        left = lefts[node]
        if left >= 0:
            for column in range(lows.shape[1]):
                lows[node, column] = min(lows[left, column], lows[left + 1, column])
                highs[node, column] = max(highs[left, column], highs[left + 1, column])
            for word in range(masks.shape[1]):
                masks[node, word] = masks[left, word] | masks[left + 1, word]
            continue
        first = starts[node]
        for row in range(first, ends[node]):
            for column in range(lows.shape[1]):
                if row == first or box_lows[row, column] < lows[node, column]:
                    lows[node, column] = box_lows[row, column]
                if row == first or box_highs[row, column] > highs[node, column]:
                    highs[node, column] = box_highs[row, column]
            for word in range(masks.shape[1]):
                if row == first:
                    masks[node, word] = box_masks[row, word]
                else:
                    masks[node, word] |= box_masks[row, word]
