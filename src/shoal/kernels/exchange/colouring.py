"""XCOLOR (Wang and Liu, "XColor: Protecting General Proximity Privacy", Algorithms 1 and 2).

Degrees are counted over distinct values, adjacency is asked for within a class and between one
vertex and a class only: no pair of rows is ever stored. Where the printed INITIALIZE has no free
slot (n mod k > floor(n / k)), classes take sizes floor(n / m) and ceil(n / m) for m = floor(n / k)
classes.
"""

import heapq

import numpy as np

from shoal.kernels.compiling import inner, lean
from shoal.kernels.exchange.loss import LossSpace, ncp_after
from shoal.kernels.exchange.state import GroupState, apply, make_groups, refresh_each
from shoal.kernels.relations import Relations, proximate


def xcolor(
    space: LossSpace,
    relations: Relations,
    values: np.ndarray,
    codes: np.ndarray,
    degrees: np.ndarray,
    size: int,
) -> GroupState:
    """Colour the rows by the paper's algorithm: INITIALIZE, then exchanges of violations.

    Parameters
    ----------
    relations
        Exactly one relation, and it must be symmetric.
    values, codes
        Positions (n, d) in quasi space and sensitive codes (1, n).
    degrees
        How many other rows are near to each distinct value.
    size
        k of the paper; there are floor(n / k) classes.

    Returns
    -------
    GroupState
        Violations that no exchange could resolve are left in `excess`.
    """
    order, cuts = initialize(degrees[codes[0]], codes.shape[1] // size)
    groups = make_groups(values, codes, order, cuts, int(np.diff(cuts).max()))
    count, room = groups.rows.shape
    refresh_each(space, relations, groups, np.arange(count), 0)
    stuck = np.zeros((count, room), np.bool_)
    best, change = np.empty(count, np.int64), np.empty(count)
    exchange_violations(space, relations, groups, stuck, best, change)
    return groups


def initialize(degree: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Deal vertices, largest degree first, to the class with the least sum of degrees.

    Returns order and cuts: class c holds the vertices `order[cuts[c]:cuts[c + 1]]`.
    """
    n = degree.size
    height = n // count
    queue = [(0, c) for c in range(count)]
    heights = np.zeros(count, np.int64)
    labels = np.empty(n, np.int64)
    full: list[tuple[int, int]] = []
    for vertex in np.argsort(-degree, kind="stable"):
        if not queue:
            # All classes have floor(n / m) members: the last n mod m vertices top some up.
            queue, full, height = full, [], height + 1
            heapq.heapify(queue)
        total, c = heapq.heappop(queue)
        labels[vertex] = c
        heights[c] += 1
        entry = (total + int(degree[vertex]), c)
        if heights[c] < height:
            heapq.heappush(queue, entry)
        else:
            full.append(entry)
    cuts = np.concatenate([[0], np.cumsum(heights)])
    return np.argsort(labels, kind="stable"), cuts


@inner
def easiest(relations, groups, g, stuck):
    """Violating member of class g whose departure lowers its loss most, and that change of loss.

    The change is infinite where no member (that is not stuck) violates.
    """
    best, least, size = -1, np.inf, groups.sizes[g]
    for i in range(size):
        if stuck[g, i] or groups.counts[g, 0, i] <= relations.bounds[0, size]:
            continue
        change = -groups.relief[g, i] / size
        if change < least:
            best, least = i, change
    return best, least


@inner
def best_partner(space, relations, groups, g, i):
    """Vertex exchangeable with member i of class g that adds the least loss, as class and member.

    A vertex v of class V is exchangeable with v' of V' when v is movable to V' (at most t adjacent
    members there) and the number of monochromatic edges falls (Definitions 13 to 15).
    """
    codes, counts, sizes = groups.codes, groups.counts, groups.sizes
    own = codes[g, i, 0]
    least, to, partner = np.inf, -1, -1
    for h in range(sizes.size):
        degree = -1
        for j in range(sizes[h]):
            # What j's departure can save bounds the loss from below and spares most evaluations.
            added = ncp_after(space, groups, g, i, h, j) - groups.ncp[g]
            if h == g or added - groups.relief[h, j] / sizes[h] >= least:
                continue
            added += ncp_after(space, groups, h, j, g, i) - groups.ncp[h]
            if added >= least:
                continue
            if degree < 0:
                degree = 0
                for v in range(sizes[h]):
                    degree += proximate(relations, 0, codes[h, v, 0], own)
            # The bound counts the vertex itself: t + 1.
            if degree >= relations.bounds[0, sizes[h]]:
                break
            other = codes[h, j, 0]
            change = degree - proximate(relations, 0, other, own)
            change -= counts[g, 0, i] - 1 + counts[h, 0, j] - 1
            for v in range(sizes[g]):
                if v != i:
                    change += proximate(relations, 0, codes[g, v, 0], other)
            if change < 0:
                least, to, partner = added, h, j
    return to, partner


@lean
def exchange_violations(space, relations, groups, stuck, best, change):
    """Exchange violating vertices as Algorithm 2 does, lines 4 to 11; returns how many times.

    Step one takes the violating vertex whose departure lowers the loss of its class most, step
    two its best partner. A vertex without one waits until all others have had their turn: outside
    the condition of Theorem 3 there need not be any. Losses leave out the size, as the paper does.
    Scratch: stuck, best, change.
    """
    count = groups.sizes.size
    exchanges, before = 0, -1
    while exchanges > before:
        before = exchanges
        for g in range(count):
            for i in range(stuck.shape[1]):
                stuck[g, i] = False
        for g in range(count):
            best[g], change[g] = easiest(relations, groups, g, stuck)
        while True:
            g = 0
            for other in range(1, count):
                if change[other] < change[g]:
                    g = other
            if change[g] == np.inf:
                break
            i = best[g]
            h, j = best_partner(space, relations, groups, g, i)
            if h < 0:
                stuck[g, i] = True
                best[g], change[g] = easiest(relations, groups, g, stuck)
                continue
            exchanges += 1
            apply(space, relations, groups, g, i, h, j, exchanges)
            stuck[g, i] = stuck[h, j] = False
            best[g], change[g] = easiest(relations, groups, g, stuck)
            best[h], change[h] = easiest(relations, groups, h, stuck)
    return exchanges
