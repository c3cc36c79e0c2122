"""Who is proximate to whom, and how many a group may hold.

A pairwise principle asks, for every member v of a group G, that the members proximate to v (v
itself included) number at most bound(|G|). The excess of a group is the sum over members and
relations of what lies above the bound; a group is valid iff its excess is 0. Its potential is the
number of ordered proximate pairs within it (XColor, Definition 14).

Rows within a threshold of a point are counted fibre by fibre. Points that agree in all coordinates
but one lie on a fibre. On a fibre whatever is near to a given point is an interval of that one
coordinate, found by bisection. Columns of a few labels beside one of many values give few fibres,
so nobody is compared with everybody.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiling import compiled, inner, lean
from shoal.kernels.metrics import EUCLID, LARGEST, MANHATTAN, SMALLEST

BAND, VECTOR, MATRIX = 0, 1, 2


class Relations(NamedTuple):
    """R relations over coded sensitive values, in flat arrays shared by all of them.

    Relation r owns the entries from `starts[r]` on of the arrays that its form uses.
    """

    forms: np.ndarray  # int8 (R): BAND, VECTOR or MATRIX
    starts: np.ndarray  # int64 (R): where the relation's entries begin
    widths: np.ndarray  # int64 (R): components of a point, or words of a matrix row
    first: np.ndarray  # int32: lowest code proximate to a code (BAND)
    last: np.ndarray  # int32: highest code proximate to a code (BAND)
    points: np.ndarray  # float64: scaled and weighted components (VECTOR)
    bits: np.ndarray  # uint64: rows of a symmetric bit matrix (MATRIX)
    sets: np.ndarray  # int64 (R): where the ends of members' sets begin, -1 for one value each
    parts: np.ndarray  # int64 (R): parts that the values of a member are divided into
    part: np.ndarray  # int64 (R): the one of them that members are near to
    set_ends: np.ndarray  # int64: where each part of each member's values begins, and the end
    set_codes: np.ndarray  # int32: the values of each member, ascending
    set_first: np.ndarray  # int32: lowest code proximate to each of them (BAND)
    set_last: np.ndarray  # int32: highest code proximate to each of them (BAND)
    own_bits: np.ndarray  # uint64: of each part, the bins of all of its member's values
    near_bits: np.ndarray  # uint64: of each part, the bins of all codes proximate to it (BAND)
    symmetric: np.ndarray  # bool (R): whether whoever is proximate to v has v proximate to itself
    gaps: np.ndarray  # int64 (R): the code that is proximate to every code, the last; -1 for none
    metrics: np.ndarray  # int8 (R): MANHATTAN, EUCLID, LARGEST, SMALLEST (VECTOR)
    thresholds: np.ndarray  # float64 (R): distance up to which values are proximate (VECTOR)
    bounds: np.ndarray  # int64 (R, S + 1): largest count by group size, below 1 where inadmissible
    least: np.ndarray  # int64 (1): least group size


@compiled(inline="always")
def proximate(relations, r, u, v):
    """Say whether member u is proximate to member v under relation r.

    The common case stands where it is asked for: to hand all these arrays over takes ten times as
    long as to compare two numbers.
    """
    sets = relations.sets[r]
    if relations.forms[r] == BAND:
        if sets < 0:
            value = relations.starts[r] + v
            return relations.first[value] <= u <= relations.last[value] or u == relations.gaps[r]
        parts = relations.parts[r]
        own, place = sets + u * parts, sets + v * parts + relations.part[r]
        found = False
        if relations.gaps[r] >= 0 and relations.set_ends[own] < relations.set_ends[own + parts]:
            there = relations.set_ends[place] < relations.set_ends[place + 1]
            last = relations.set_codes[relations.set_ends[own + parts] - 1]
            if there and last == relations.gaps[r]:
                return True
        if relations.own_bits[own] & relations.near_bits[place] == np.uint64(0):
            return found  # most members have no value in any bin in question
        here, last = relations.set_ends[own], relations.set_ends[own + parts]
        there, end = relations.set_ends[place], relations.set_ends[place + 1]
        while here < last and there < end and not found:
            code = relations.set_codes[here]
            if code < relations.set_first[there]:
                here += 1  # both bounds rise with the value
            elif code > relations.set_last[there]:
                there += 1
            else:
                found = True
        return found
    return related(relations, r, u, v)


@lean
def related(relations, r, u, v):
    """Say whether member u is proximate to member v under relation r of any form.

    A member is its code, or where members have several values each, the number of its set; then
    some value of u has to be proximate to some value of v, of the relation's part of them.
    """
    sets, parts = relations.sets[r], relations.parts[r]
    if sets < 0:
        return near_codes(relations, r, u, v)
    ends, codes = relations.set_ends, relations.set_codes
    here, last = ends[sets + u * parts], ends[sets + (u + 1) * parts]
    place = sets + v * parts + relations.part[r]
    for there in range(ends[place], ends[place + 1]):
        for other in range(here, last):
            if near_codes(relations, r, codes[other], codes[there]):
                return True
    return False


@lean
def near_codes(relations, r, u, v):
    """Say whether code u is proximate to code v under relation r."""
    form, start = relations.forms[r], relations.starts[r]
    if u == relations.gaps[r]:
        return True
    if form == BAND:
        return relations.first[start + v] <= u <= relations.last[start + v]
    width = relations.widths[r]
    if form == MATRIX:
        word = relations.bits[start + v * width + (u >> 6)]
        return (word >> np.uint64(u & 63)) & np.uint64(1) == np.uint64(1)
    metric, points = relations.metrics[r], relations.points
    here, there = start + u * width, start + v * width
    distance = np.inf if metric == SMALLEST else 0.0
    for i in range(width):
        gap = abs(points[here + i] - points[there + i])
        if metric == MANHATTAN:
            distance += gap
        elif metric == EUCLID:
            distance += gap * gap
        elif metric == LARGEST:
            distance = max(distance, gap)
        else:
            distance = min(distance, gap)
    if metric == EUCLID:
        distance = np.sqrt(distance)
    return distance <= relations.thresholds[r]


@inner
def admissible(relations, size) -> bool:
    """Say whether any group of this size can be valid."""
    if size < relations.least[0]:
        return False
    for r in range(relations.forms.size):
        if size >= relations.bounds.shape[1] or relations.bounds[r, size] < 1:
            return False
    return True


@inner
def recount(relations, groups, g) -> None:
    """Recompute adjacency, counts, drops, excess and potential of group g from its members.

    The drop of a member is what the excess falls by when it leaves and somebody proximate to
    nobody takes its place.
    """
    size, codes, counts = groups.sizes[g], groups.codes, groups.counts
    adjacent, drops = groups.adjacent, groups.drops
    excess, pairs = 0, 0
    for v in range(size):
        drops[g, v] = 0
    for r in range(relations.forms.size):
        bound = max(0, relations.bounds[r, size])
        both = relations.symmetric[r]
        for v in range(size):
            count = 0
            for u in range(size):
                if both and u < v:
                    near = adjacent[g, r, u, v] > 0
                else:
                    near = proximate(relations, r, codes[g, u, r], codes[g, v, r])
                adjacent[g, r, v, u] = near
                count += near
            counts[g, r, v] = count
            pairs += count
            if count > bound:
                excess += count - bound
                drops[g, v] += count - bound - 1
                for u in range(size):
                    drops[g, u] += adjacent[g, r, v, u]
    groups.excess[g] = excess
    groups.pairs[g] = pairs


@lean
def cross(relations, groups, g, h, forward, backward) -> None:
    """Adjacency between two groups.

    OUT: forward[r, i, j] says that member j of h is proximate to member i of g,
    backward[r, j, i] that member i of g is proximate to member j of h.
    """
    for r in range(relations.forms.size):
        for i in range(groups.sizes[g]):
            for j in range(groups.sizes[h]):
                u, v = groups.codes[g, i, r], groups.codes[h, j, r]
                forward[r, i, j] = backward[r, j, i] = proximate(relations, r, v, u)
                if not relations.symmetric[r]:
                    backward[r, j, i] = proximate(relations, r, u, v)


@lean
def excess_after(relations, groups, g, leave, enter, forward, backward, limit):
    """Excess and potential of group g after a replacement, given up once beyond `limit`.

    `leave` is a member of g, `enter` one of the other group of `cross`, -1 for nobody; g takes
    the part of its first group.
    """
    adjacent, counts, old = groups.adjacent, groups.counts, groups.sizes[g]
    size = old - (leave >= 0) + (enter >= 0)
    excess, pairs = 0, 0
    for r in range(relations.forms.size):
        bound = max(0, relations.bounds[r, size])
        if enter >= 0:
            own = 1
            for v in range(old):
                own += backward[r, enter, v]
            if leave >= 0:
                own -= backward[r, enter, leave]
            pairs += own
            excess += max(0, own - bound)
        for v in range(old):
            if v == leave:
                continue
            count = counts[g, r, v]
            if leave >= 0:
                count -= adjacent[g, r, v, leave]
            if enter >= 0:
                count += forward[r, v, enter]
            pairs += count
            if count > bound:
                excess += count - bound
        if excess > limit:
            return excess, pairs
    return excess, pairs


@lean
def largest_neighbourhoods(relations, codes, starts, counts) -> None:
    """Count, for each group, the members near to its most exposed member, itself included.

    Only distinct values of a group are compared. IN: relations (the first one is used), codes
    ascending in each group, starts. OUT: counts, one per group.
    """
    for group in range(starts.size - 1):
        begin, end = starts[group], starts[group + 1]
        most = 0
        here = begin
        while here < end:
            near = 0
            there = begin
            while there < end:
                run = there
                while run < end and codes[run] == codes[there]:
                    run += 1
                if proximate(relations, 0, codes[there], codes[here]):
                    near += run - there
                there = run
            most = max(most, near)
            value = codes[here]
            while here < end and codes[here] == value:
                here += 1
        counts[group] = most


@lean
def most_people_near(relations, codes, members, starts, seen, counts) -> None:
    """Count, for each group, the members of whom some value is near to its most exposed value.

    IN: relations (the first one is used, by codes), codes ascending in each group and the member
    that has each of them, starts; seen (-1 for every member). OUT: counts, one per group.
    """
    for group in range(starts.size - 1):
        begin, end = starts[group], starts[group + 1]
        most = 0
        for here in range(begin, end):
            if here > begin and codes[here] == codes[here - 1]:
                continue
            near = 0
            for there in range(begin, end):
                member = members[there]
                if seen[member] != here and near_codes(relations, 0, codes[there], codes[here]):
                    seen[member] = here
                    near += 1
            most = max(most, near)
        counts[group] = most


@lean
def row_weights(rows, weights, sizes, begin, end):
    """Count, for the values begin..end of a bit matrix, the rows near to each, itself included.

    IN: rows of bits, weights, how many rows carry each value. OUT: sizes.
    """
    for value in range(begin, end):
        near = 0
        for other in range(weights.size):
            bit = (rows[value, other >> 6] >> np.uint64(other & 63)) & np.uint64(1)
            near += weights[other] * np.int64(bit)
        sizes[value] = near


@inner
def lower_place(values, begin, end, limit):
    """Return the first place in begin..end whose value is at least `limit` (IN: values ascend)."""
    while begin < end:
        middle = (begin + end) // 2
        if values[middle] < limit:
            begin = middle + 1
        else:
            end = middle
    return begin


@inner
def upper_place(values, begin, end, limit):
    """Return the first place in begin..end whose value is above `limit` (IN: values ascend)."""
    while begin < end:
        middle = (begin + end) // 2
        if values[middle] <= limit:
            begin = middle + 1
        else:
            end = middle
    return begin


@lean
def count_near(points, along, fibres, starts, values, below, metric, threshold, begin, end, sizes):
    """Count the rows within the threshold of points begin..end, itself included.

    IN: points (D, q) and the coordinate `along` the fibres; fibres (F, q), starts (F + 1), values
    ascending in each fibre, below (rows before each place of `values`). OUT: sizes.
    """
    for point in range(begin, end):
        near = 0
        here = points[point, along]
        for fibre in range(starts.size - 1):
            across = np.inf if metric == SMALLEST else 0.0
            for column in range(points.shape[1]):
                if column == along:
                    continue
                gap = abs(points[point, column] - fibres[fibre, column])
                if metric == MANHATTAN:
                    across += gap
                elif metric == EUCLID:
                    across += gap * gap
                elif metric == LARGEST:
                    across = max(across, gap)
                else:
                    across = min(across, gap)
            first, last = starts[fibre], starts[fibre + 1]
            if metric == SMALLEST and across <= threshold:
                near += below[last] - below[first]
                continue
            reach = threshold
            if metric == MANHATTAN:
                reach = threshold - across
            elif metric == EUCLID:
                reach = np.sqrt(max(threshold * threshold - across, 0.0))
                if across > threshold * threshold:
                    continue
            elif metric == LARGEST and across > threshold:
                continue
            if reach < 0.0:
                continue
            low = lower_place(values, first, last, here - reach)
            high = upper_place(values, low, last, here + reach)
            near += below[high] - below[low]
        sizes[point] = near
