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
"""

import numpy as np
from numba import njit

from shoal.kernels.arrays import Ints
from shoal.kernels.chacha import Stream, below
from shoal.kernels.freeform.layouts import LONGS, MATCHES
from shoal.kernels.lean import inner_as


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


@njit(f"void({MATCHES}, uint32[::1])", cache=True, nogil=True)
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
