"""True matches: one of the matchings of a random decomposition of the k-regular graph.

Goel, Kapralov and Khanna (Perfect matchings in O(n log n) time in regular bipartite graphs, 2010):
in a d-regular bipartite graph with some pairs matched, walk from an unmatched box over a random
unmatched edge to an original, from there over its matching edge back to a box, and so on until an
original is unmatched; the walk without its loops is an augmenting path. With u boxes unmatched a
walk takes at most about 2 + n / u steps on average, so one matching takes O(n log n) steps. Taking
a matching out of a d-regular graph leaves a (d - 1)-regular one: k walks-throughs give k matchings
that share no edge and together are the graph.

Why the probabilities are exact. Every edge lies in exactly one of the k matchings. The matching to
publish is drawn uniformly and independently of the decomposition, so *whatever* the decomposition,
an edge is published with probability exactly 1/k. The random decomposition adds that the edges are
not tied together: under a fixed one, a single true link that is known would reveal all the others.
The walks do not sample decompositions uniformly (no method of that speed is known); every perfect
matching of the graph can come up.

The pairs that an exact round is given, within a block and across borders, are made here too.
"""

import numpy as np

from shoal.kernels.chacha import Stream, below
from shoal.kernels.compiling import Ints, compiled, inner_as, lean_as
from shoal.kernels.freeform.boxes import LONG_ROWS, LONGS, MATCHES, SHIFT
from shoal.kernels.freeform.nearest import is_listed


def true_matches(matches: Ints, stream: Stream) -> Ints:
    """Return for each recast record the original whose remaining columns it carries.

    Each edge of the graph is chosen with probability exactly 1/k.
    """
    columns = decompose(matches, stream)
    return columns[:, below(stream, columns.shape[1])].copy()


def decompose(matches: Ints, stream: Stream) -> Ints:
    """Return the same graph, its edges dealt at random into k columns, each a perfect matching."""
    n, k = matches.shape
    degrees = np.bincount(matches.ravel(), minlength=n)
    if len(degrees) != n or (degrees != k).any():
        msg = f"Every record has to be listed in exactly {k} rows."
        raise ValueError(msg)
    columns = np.array(matches, np.int32, order="C")
    deal_edges(columns, stream)
    return columns


@inner_as(f"void({MATCHES}, int64, int64, {LONGS}, {LONGS}, {LONGS}, uint32[::1])")
def walk(columns, degree, start, place, chosen, holder, stream):
    """Match the unmatched box `start` by a random walk.

    `place` and `holder` are IN/OUT, `chosen` is scratch.
    A box writes its last choice over earlier ones, which erases loops: following last choices from
    the start visits no box twice.
    """
    box = start
    while True:
        if place[box] < 0:
            choice = below(stream, degree)
        else:
            choice = below(stream, degree - 1)
            choice += choice >= place[box]
        chosen[box] = choice
        original = columns[box, choice]
        if holder[original] < 0:
            break
        box = holder[original]
    box = start
    while box >= 0:
        original = columns[box, chosen[box]]
        following = holder[original]
        holder[original] = box
        place[box] = chosen[box]
        box = following


@compiled(f"void({MATCHES}, uint32[::1])")
def deal_edges(columns, stream):
    """Deal the edges of each row of `columns` (IN/OUT) so that every column is a perfect matching.

    While a matching is sought among the first `degree` places of each row, `place` holds where a
    box's matching edge lies (-1: none) and `holder` the box of each original. A finished matching
    moves to the last of those places.
    """
    n, k = columns.shape
    place = np.empty(n, np.int64)
    chosen = np.empty(n, np.int64)
    holder = np.empty(n, np.int64)
    starts = np.arange(n)
    for degree in range(k, 1, -1):
        place[:] = -1
        holder[:] = -1
        # A random order of starting boxes, lest early rows be treated otherwise than late ones.
        for last in range(n - 1, 0, -1):
            other = below(stream, last + 1)
            starts[last], starts[other] = starts[other], starts[last]
        for start in starts:
            walk(columns, degree, start, place, chosen, holder, stream)
        last = degree - 1
        for box in range(n):
            held = columns[box, place[box]]
            columns[box, place[box]] = columns[box, last]
            columns[box, last] = held


@lean_as(
    f"int64({LONGS}, {LONG_ROWS}, int32[::1], {LONGS}, int32[::1], int32[::1], int64, {LONG_ROWS})"
)
def list_arcs(members, keys, held, costs, owner, place, number, arcs):
    """List the pairs inside one block in `arcs` (OUT: box, original, loss); return their number."""
    n = len(owner)
    count = 0
    for row in range(len(members)):
        box = members[row]
        arcs[0, count], arcs[1, count], arcs[2, count] = row, place[held[row]], costs[box]
        count += 1
        for key in keys[box]:
            original = (box + (key & ((1 << SHIFT) - 1))) % n
            if owner[original] == number and original != held[row]:
                arcs[0, count], arcs[1, count], arcs[2, count] = row, place[original], key >> SHIFT
                count += 1
    return count


@lean_as(f"void({LONG_ROWS}, {LONGS}, {LONGS}, int32[::1], boolean[::1])")
def mark_seam(keys, costs, holder, home, near):
    """Mark in `near` (OUT) both ends of pairs across a border, cheaper than what the box has."""
    n = len(holder)
    for box in range(n):
        for key in keys[box]:
            if key >> SHIFT >= costs[box]:
                break
            original = (box + (key & ((1 << SHIFT) - 1))) % n
            if home[holder[original]] != home[box]:
                near[box] = True
                near[holder[original]] = True


@lean_as(f"void({MATCHES}, {LONGS}, int32[::1])")
def spare_assignment(matches, members, assignment):
    """Fill `assignment` (OUT) with one that is disjoint from `matches`: a ring with repairs.

    Box j starts with original j + 1. Where that pair is used, j changes partners with the next box
    for which both new pairs are free. Each box forbids at most `used` partners and each original at
    most `used` boxes, so with n >= 4 * (used + 1) there always is one.
    """
    used = matches.shape[1]
    n = len(members)
    for place in range(n):
        assignment[members[place]] = members[(place + 1) % n]
    for place in range(n):
        box = members[place]
        for ahead in range(1, n):
            held = assignment[box]
            if not is_listed(matches, box, used, held):
                break
            other = members[(place + ahead) % n]
            offered = assignment[other]
            if not is_listed(matches, box, used, offered) and not is_listed(
                matches, other, used, held
            ):
                assignment[box], assignment[other] = offered, held
