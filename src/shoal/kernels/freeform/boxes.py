"""Recast records as boxes, in the shapes in which kernels pass them, and what they lose.

Recast records are *boxes*: over interval columns the lowest and highest coordinate, over set
columns a bit for each label. *Points* are boxes of no extent: one coordinate, one bit.

Loss is kept in fixed point. A coordinate x becomes round(x * SCALE), so sums, differences and ties
are exact, do not depend on the order of addition, and can be handed to integer solvers as they
are. Each cell is off by at most 1/SCALE, far below any figure that is reported; `column_losses`
uses the doubles it was given.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.compiling import Bytes, Ints, LongInts, Reals, inner_as, lean_as
from shoal.kernels.space import INTERVAL, SET

LONGS = "int64[::1]"
LONG_ROWS = "int64[:,::1]"
MASK_ROWS = "uint64[:,::1]"
MATCHES = "int32[:,::1]"
POINTS = f"{LONG_ROWS}, {MASK_ROWS}"  # coordinates, labels
BOXES = f"{LONG_ROWS}, {LONG_ROWS}, {MASK_ROWS}"  # lows, highs, labels
STEPS = f"{LONGS}, {LONGS}"  # loss of a further label of each set column, its first word
NODES = f"{LONGS}, {LONGS}, {LONGS}"  # first record, end, left child of each node of a tree


Masks = NDArray[np.uint64]

SCALE = 1 << 30
SHIFT = 24  # a search key is (loss << SHIFT) | tie: one comparison orders by loss, then by tie
MOST_ROWS = (1 << SHIFT) - 1
MOST_COLUMNS = (1 << (63 - 30 - SHIFT)) - 1
UNBOUNDED = np.iinfo(np.int64).max


class FixedPoints(NamedTuple):
    """Originals, one row each."""

    spans: LongInts  # (n, interval columns) coordinate
    masks: Masks  # (n, words) one bit a set column
    steps: LongInts  # (set columns,) loss of a further label
    words: LongInts  # (set columns + 1,) first word of each set column


class Boxes(NamedTuple):
    """Recast records: everything that a published record covers."""

    lows: LongInts
    highs: LongInts
    masks: Masks

    def take(self, order: LongInts) -> "Boxes":
        """Return the boxes in another order, contiguous."""
        return Boxes(self.lows[order], self.highs[order], self.masks[order])


def fixed_point(
    ranks: Ints, kinds: Bytes, coords: Reals, offsets: LongInts, units: Reals
) -> FixedPoints:
    """Return a quasi space in fixed point (arrays as in `shoal.kernels.space`)."""
    labelled = kinds == SET
    spans = np.empty((len(ranks), int((~labelled).sum())), np.int64)
    for place, column in enumerate(np.flatnonzero(~labelled)):
        scaled = np.rint(coords[offsets[column] : offsets[column + 1]] * SCALE).astype(np.int64)
        spans[:, place] = scaled[ranks[:, column]]
    words = label_words(kinds, offsets)
    steps = np.rint(units[labelled] * SCALE).astype(np.int64)
    return FixedPoints(spans, label_masks(ranks[:, labelled], words), steps, words)


def rank_points(ranks: Ints, kinds: Bytes, offsets: LongInts) -> FixedPoints:
    """Return a quasi space whose coordinates are the ranks themselves."""
    labelled = kinds == SET
    words = label_words(kinds, offsets)
    spans = np.ascontiguousarray(ranks[:, ~labelled], np.int64)
    steps = np.ones(int(labelled.sum()), np.int64)
    return FixedPoints(spans, label_masks(ranks[:, labelled], words), steps, words)


def label_words(kinds: Bytes, offsets: LongInts) -> LongInts:
    """Return the first 64-bit word of each set column, and their end."""
    labels = np.diff(offsets)[kinds == SET]
    return np.concatenate([[0], np.cumsum((labels + 63) // 64)]).astype(np.int64)


def label_masks(ranks: Ints, words: LongInts) -> Masks:
    """Return the label of each record in each set column as a bit."""
    masks = np.zeros((len(ranks), words[-1]), np.uint64)
    for place, column in enumerate(ranks.T.astype(np.int64)):
        bit = np.left_shift(np.uint64(1), (column % 64).astype(np.uint64))
        masks[np.arange(len(ranks)), words[place] + column // 64] = bit
    return masks


def cover(points: FixedPoints, matches: Ints) -> Boxes:
    """Return the smallest boxes that cover the originals listed in each row of `matches`."""
    shape = len(matches), points.spans.shape[1]
    masks = np.empty((len(matches), points.masks.shape[1]), np.uint64)
    boxes = Boxes(np.empty(shape, np.int64), np.empty(shape, np.int64), masks)
    cover_matches(points.spans, points.masks, matches, *boxes)
    return boxes


def enlarge(points: FixedPoints, boxes: Boxes, assignment: Ints) -> None:
    """Enlarge each box, in place, to cover the original newly assigned to it."""
    np.minimum(boxes.lows, points.spans[assignment], out=boxes.lows)
    np.maximum(boxes.highs, points.spans[assignment], out=boxes.highs)
    np.bitwise_or(boxes.masks, points.masks[assignment], out=boxes.masks)


def total_loss(points: FixedPoints, boxes: Boxes) -> int:
    """Return the sum of NCP over records and columns, in units of 1/SCALE."""
    return int(summed_loss(*boxes, points.steps, points.words))


@inner_as("int64(int64, int64, int64, int64)")
def stretch(low, high, other_low, other_high):
    """Return the loss added to the span [low, high] when it has to reach [other_low, other_high].

    The one place where the searches price a span. Applied to the hull of many boxes it is a lower
    bound for each of them.
    """
    if other_low > high:
        return other_low - high
    if low > other_high:
        return low - other_high
    return 0


@inner_as("int64(uint64)")
def count_bits(bits):
    """Return how many bits are set."""
    count = 0
    while bits:
        bits &= bits - np.uint64(1)
        count += 1
    return count


@lean_as(f"int64({BOXES}, {STEPS})")
def summed_loss(lows, highs, masks, steps, words):
    """Return the loss of all boxes together."""
    loss = 0
    for box in range(len(lows)):
        for column in range(lows.shape[1]):
            loss += highs[box, column] - lows[box, column]
        for place in range(len(steps)):
            labels = 0
            for word in range(words[place], words[place + 1]):
                labels += count_bits(masks[box, word])
            loss += (labels - 1) * steps[place]
    return loss


@inner_as(f"int64({BOXES}, int64, {BOXES}, int64, {STEPS}, int64)")
def added_loss(
    lows, highs, masks, row, other_lows, other_highs, other_masks, other, steps, words, most
):
    """Return the loss added when box `row` takes in box `other`; stops early once above `most`."""
    loss = 0
    for column in range(lows.shape[1]):
        loss += stretch(
            lows[row, column],
            highs[row, column],
            other_lows[other, column],
            other_highs[other, column],
        )
    if loss > most:
        return loss
    for place in range(len(steps)):
        shared = np.uint64(0)
        for word in range(words[place], words[place + 1]):
            shared |= masks[row, word] & other_masks[other, word]
        if shared == 0:
            loss += steps[place]
    return loss


@lean_as(f"void({POINTS}, {MATCHES}, {BOXES})")
def cover_matches(spans, masks, matches, lows, highs, covered):
    """Fill `lows`, `highs`, `covered` (OUT) from the originals in `matches` (IN)."""
    n, k = matches.shape
    for row in range(n):
        for place in range(k):
            match = matches[row, place]
            for column in range(spans.shape[1]):
                value = spans[match, column]
                if place == 0 or value < lows[row, column]:
                    lows[row, column] = value
                if place == 0 or value > highs[row, column]:
                    highs[row, column] = value
            for word in range(masks.shape[1]):
                if place == 0:
                    covered[row, word] = masks[match, word]
                else:
                    covered[row, word] |= masks[match, word]


@lean_as(
    f"void({MATCHES}, int8[::1], float64[::1], int64[::1], float64[::1], {MATCHES}, float64[::1])"
)
def column_losses(ranks, kinds, coords, offsets, units, matches, losses):
    """Sum the NCP of each column over all recast records (HK, equations 1 and 2) into `losses`.

    Interval: coords[highest] - coords[lowest]; set: (distinct labels - 1) * unit.
    """
    n, k = matches.shape
    for column in range(ranks.shape[1]):
        total = 0.0
        for row in range(n):
            if kinds[column] == INTERVAL:
                low = high = ranks[matches[row, 0], column]
                for place in range(1, k):
                    rank = ranks[matches[row, place], column]
                    low, high = min(low, rank), max(high, rank)
                total += coords[offsets[column] + high] - coords[offsets[column] + low]
                continue
            further = 0
            for place in range(1, k):
                rank = ranks[matches[row, place], column]
                fresh = 1
                for earlier in range(place):
                    if ranks[matches[row, earlier], column] == rank:
                        fresh = 0
                        break
                further += fresh
            total += further * units[column]
        losses[column] = total


@lean_as(f"void({POINTS}, {BOXES}, {STEPS}, int32[::1], int64[::1])")
def assigned_losses(spans, point_masks, lows, highs, masks, steps, words, assignment, losses):
    """Fill `losses` (OUT) with what each box would add for its assigned original."""
    for box in range(len(assignment)):
        losses[box] = added_loss(
            lows, highs, masks, box, spans, spans, point_masks, assignment[box], steps, words,
            UNBOUNDED,
        )  # fmt: skip


@lean_as(f"void({POINTS}, {BOXES}, {STEPS}, {LONG_ROWS})")
def all_losses(spans, point_masks, lows, highs, masks, steps, words, losses):
    """Fill `losses` (OUT, boxes by originals) with the loss of every pair."""
    for box in range(len(losses)):
        for row in range(len(losses)):
            losses[box, row] = added_loss(
                lows, highs, masks, box, spans, spans, point_masks, row, steps, words, UNBOUNDED
            )


@lean_as(f"void({POINTS}, {STEPS}, {MATCHES}, {MASK_ROWS}, {LONG_ROWS})")
def losses_without(spans, masks, steps, words, matches, union, losses):
    """Fill losses[:, t] (OUT) with the loss of each box without its match at place t + 1.

    `union` is one row of scratch.
    """
    n, k = matches.shape
    for box in range(n):
        for left_out in range(1, k):
            loss = 0
            for column in range(spans.shape[1]):
                low = high = spans[matches[box, 0], column]
                for place in range(1, k):
                    if place != left_out:
                        value = spans[matches[box, place], column]
                        low, high = min(low, value), max(high, value)
                loss += high - low
            union[0, :] = 0
            for place in range(k):
                if place != left_out:
                    for word in range(masks.shape[1]):
                        union[0, word] |= masks[matches[box, place], word]
            for place in range(len(steps)):
                for word in range(words[place], words[place + 1]):
                    loss += count_bits(union[0, word]) * steps[place]
            losses[box, left_out - 1] = loss
