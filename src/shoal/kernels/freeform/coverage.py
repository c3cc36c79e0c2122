"""Which originals a published record covers, over a tree of distinct originals or records.

A record covers an original when each value of the original lies in the record's cell. Summed over
records, that is how dense they lie at the points of the original.
"""

from shoal.kernels.compiling import inner_as, lean_as
from shoal.kernels.freeform.boxes import BOXES, LONG_ROWS, LONGS, NODES, POINTS, SHIFT, UNBOUNDED
from shoal.kernels.freeform.nearest import sift

APART, PARTLY, WHOLLY = 0, 1, 2


@inner_as(f"int64({BOXES}, int64, {BOXES}, int64, {LONGS})")
def covering(lows, highs, masks, box, other_lows, other_highs, other_masks, other, words):
    """Return whether a box covers another one wholly, perhaps partly, or nothing of it."""
    answer = WHOLLY
    for column in range(lows.shape[1]):
        low, high = other_lows[other, column], other_highs[other, column]
        if low > highs[box, column] or high < lows[box, column]:
            return APART
        if low < lows[box, column] or high > highs[box, column]:
            answer = PARTLY
    for place in range(len(words) - 1):
        shared = False
        for word in range(words[place], words[place + 1]):
            if other_masks[other, word] & masks[box, word] != 0:
                shared = True
            if other_masks[other, word] & ~masks[box, word] != 0:
                answer = PARTLY
        if not shared:
            return APART
    return answer


@lean_as(f"void({POINTS}, {LONGS}, {BOXES}, {LONGS}, {NODES}, {BOXES}, {LONGS}, {LONGS}, {LONGS})")
def count_covers(
    spans, point_masks, words, lows, highs, masks, records, starts, ends, lefts, hull_lows,
    hull_highs, hull_masks, stack, at_node, counts,
):  # fmt: skip
    """Count for each original the records that cover it into `counts` (OUT, from 0).

    The tree is over the originals; `records` is how many records share each box. A node that a box
    covers wholly is credited at once, in `at_node` (from 0, a place a node).
    """
    for box in range(len(lows)):
        stack[0], top = 0, 1
        while top > 0:
            top -= 1
            node = stack[top]
            found = covering(
                lows, highs, masks, box, hull_lows, hull_highs, hull_masks, node, words
            )
            if found == WHOLLY:
                at_node[node] += records[box]
            elif found == PARTLY and lefts[node] >= 0:
                stack[top], stack[top + 1] = lefts[node], lefts[node] + 1
                top += 2
            elif found == PARTLY:
                for row in range(starts[node], ends[node]):
                    if covering(lows, highs, masks, box, spans, spans, point_masks, row, words):
                        counts[row] += records[box]
    for node in range(len(starts)):
        if at_node[node]:
            for row in range(starts[node], ends[node]):
                counts[row] += at_node[node]


@lean_as(f"void({POINTS}, {LONGS}, {BOXES}, {NODES}, {BOXES}, {LONGS}, {LONGS}, {LONG_ROWS})")
def list_covers(
    spans, point_masks, words, lows, highs, masks, starts, ends, lefts, hull_lows, hull_highs,
    hull_masks, scarcity, stack, keys,
):  # fmt: skip
    """List for each box the covered originals of least scarcity in `keys` (OUT).

    A key is (scarcity << SHIFT) | original; places left over hold the largest int64.
    """
    wanted = keys.shape[1]
    for box in range(len(lows)):
        heap = keys[box]
        heap[:] = UNBOUNDED
        stack[0], top = 0, 1
        while top > 0:
            top -= 1
            node = stack[top]
            found = covering(
                lows, highs, masks, box, hull_lows, hull_highs, hull_masks, node, words
            )
            if found == APART:
                continue
            if found == PARTLY and lefts[node] >= 0:
                stack[top], stack[top + 1] = lefts[node], lefts[node] + 1
                top += 2
                continue
            for row in range(starts[node], ends[node]):
                key = (scarcity[row] << SHIFT) | row
                if key < heap[0] and (
                    found == WHOLLY
                    or covering(lows, highs, masks, box, spans, spans, point_masks, row, words)
                ):
                    sift(heap, wanted, key)


@inner_as(f"int64({POINTS}, int64, {LONGS}, {BOXES}, {NODES}, {BOXES}, {LONGS}, {LONGS})")
def covers_of(
    spans, point_masks, point, words, lows, highs, masks, starts, ends, lefts, hull_lows,
    hull_highs, hull_masks, stack, found,
):  # fmt: skip
    """List the boxes that cover one original in `found` (OUT); return how many there are.

    The tree is over the boxes.
    """
    count = 0
    stack[0], top = 0, 1
    while top > 0:
        top -= 1
        node = stack[top]
        # A hull that does not cover the point has no box under it that does.
        if not covering(
            hull_lows, hull_highs, hull_masks, node, spans, spans, point_masks, point, words
        ):
            continue
        if lefts[node] >= 0:
            stack[top], stack[top + 1] = lefts[node], lefts[node] + 1
            top += 2
            continue
        for box in range(starts[node], ends[node]):
            if covering(lows, highs, masks, box, spans, spans, point_masks, point, words):
                found[count] = box
                count += 1
    return count


@lean_as(
    f"void({POINTS}, {LONGS}, {LONGS}, {LONGS}, {BOXES}, {LONGS}, int32[::1], {NODES}, {BOXES},"
    f" int32[::1], int32[:,::1], int32[:,::1], {LONGS}, {LONGS}, {LONGS}, {LONGS}, {LONG_ROWS})"
)
def count_near(
    spans, point_masks, words, people_starts, people, lows, highs, masks, record_starts,
    record_codes, starts, ends, lefts, hull_lows, hull_highs, hull_masks, own, first, last, stack,
    found, tally, totals, near,
):  # fmt: skip
    """Count for each person the candidate values that are near to the person's own.

    The people of class c are people[people_starts[c] : people_starts[c + 1]] and share a point; the
    records of box b carry the codes record_codes[record_starts[b] : record_starts[b + 1]]. Width w
    holds what lies in first[w, v] .. last[w, v] for near to code v. OUT: near[w, person] and
    totals[person], the number of candidates. Scratch: stack, found, and tally with a place more
    than there are codes.

    Few candidates are compared with each person one by one; many are counted code by code first.
    """
    widths, codes = first.shape
    for point in range(len(people_starts) - 1):
        count = covers_of(
            spans, point_masks, point, words, lows, highs, masks, starts, ends, lefts, hull_lows,
            hull_highs, hull_masks, stack, found,
        )  # fmt: skip
        candidates = 0
        for place in range(count):
            candidates += record_starts[found[place] + 1] - record_starts[found[place]]
        begin, end = people_starts[point], people_starts[point + 1]
        summed = candidates * (end - begin) > candidates + codes
        if summed:
            tally[:] = 0
            for place in range(count):
                for row in range(record_starts[found[place]], record_starts[found[place] + 1]):
                    tally[record_codes[row] + 1] += 1
            for code in range(codes):
                tally[code + 1] += tally[code]
        for who in range(begin, end):
            person = people[who]
            totals[person] = candidates
            for width in range(widths):
                low, high = first[width, own[person]], last[width, own[person]]
                if summed:
                    near[width, person] = tally[high + 1] - tally[low]
                    continue
                within = 0
                for place in range(count):
                    for row in range(record_starts[found[place]], record_starts[found[place] + 1]):
                        within += low <= record_codes[row] <= high
                near[width, person] = within


@lean_as(
    f"void({POINTS}, {LONGS}, {LONGS}, {LONGS}, int32[::1], {BOXES}, {LONGS}, int32[::1],"
    f" float64[::1], {NODES}, {BOXES}, {LONGS}, {LONGS}, float64[::1], float64[::1])"
)
def spread_density(
    spans, point_masks, words, people_starts, people, own, lows, highs, masks, record_starts,
    record_codes, weights, starts, ends, lefts, hull_lows, hull_highs, hull_masks, stack, found,
    tally, density,
):  # fmt: skip
    """Sum for each person the weights of the records that cover the person and carry its value.

    People, boxes, records and tree are as in `count_near`; record r weighs weights[r]. OUT:
    density[person]. Scratch: stack, found, and tally, all 0 and a place for every code.
    """
    for point in range(len(people_starts) - 1):
        count = covers_of(
            spans, point_masks, point, words, lows, highs, masks, starts, ends, lefts, hull_lows,
            hull_highs, hull_masks, stack, found,
        )  # fmt: skip
        for place in range(count):
            for row in range(record_starts[found[place]], record_starts[found[place] + 1]):
                tally[record_codes[row]] += weights[row]
        for who in range(people_starts[point], people_starts[point + 1]):
            density[people[who]] = tally[own[people[who]]]
        for place in range(count):
            for row in range(record_starts[found[place]], record_starts[found[place] + 1]):
                tally[record_codes[row]] = 0.0
