"""Rows near each row in quasi space, from runs of rows that are close to one another.

The order in which groups start keeps near rows together. Cut into short runs, a row's neighbours
are looked for in the runs around its own: some are missed where runs meet, and a search for
partners does not mind, at a seventh of the time that a tree of all rows takes.
"""

from shoal.kernels.compiling import inner, lean
from shoal.kernels.exchange.loss import extent
from shoal.kernels.space import SET


@inner
def apart(space, values, row, other):
    """NCP of a group of two rows: what one costs the other."""
    total = 0.0
    for j in range(space.kinds.size):
        here, there = values[row, j], values[other, j]
        if space.kinds[j] == SET:
            total += (here != there) * space.units[j]
        else:
            total += extent(space, j, min(here, there), max(here, there))
    return total


@lean
def near_rows(space, values, order, cuts, around, begin, end, distances, near):
    """Find the nearest rows of each row of the runs begin … end, in the runs around them.

    IN: run b holds the rows order[cuts[b]:cuts[b + 1]]; around[b] lists the runs near b.
    OUT: near[row], the nearest first, the row itself left out; where there are too few, the last
    one again. Scratch: distances, one for each column of `near`.
    """
    count = near.shape[1]
    for run in range(begin, end):
        for place in range(cuts[run], cuts[run + 1]):
            row, have = order[place], 0
            for b in around[run]:
                for p in range(cuts[b], cuts[b + 1]):
                    if order[p] == row:
                        continue
                    distance = apart(space, values, row, order[p])
                    if have == count and distance >= distances[count - 1]:
                        continue
                    at = have if have < count else count - 1
                    have = min(have + 1, count)
                    while at > 0 and distances[at - 1] > distance:
                        distances[at] = distances[at - 1]
                        near[row, at] = near[row, at - 1]
                        at -= 1
                    distances[at] = distance
                    near[row, at] = order[p]
            for at in range(have, count):
                near[row, at] = near[row, have - 1] if have else row
