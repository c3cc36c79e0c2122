"""How dense published records lie at the points of the original, value by value."""

from shoal.kernels.freeform.coverage import covers_of
from shoal.kernels.freeform.layouts import BOXES, LONGS, NODES, POINTS
from shoal.kernels.lean import lean_as


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
