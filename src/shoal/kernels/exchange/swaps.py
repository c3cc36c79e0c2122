"""Exchanges between two groups: the best one, and passes over many pairs of groups.

An exchange swaps a member of g with one of h, or moves one member where both new sizes are
admissible. Its gain is the fall of

    cost = excess_weight * excess + loss

so one search serves two ends. With a heavy excess weight, groups in violation are repaired at
the least added loss; once nothing is in violation the loss alone falls, and a gain never buys a
new violation. Every exchange lowers the cost, so no search can cycle.

What single exchanges cannot resolve is left to chains of two, to merging and to round-robin.
"""

import numpy as np

from shoal.kernels.compiling import NONE, inner, lean
from shoal.kernels.exchange.loss import LossSpace, ncp_after
from shoal.kernels.exchange.moves import BITS, NOBODY, welcome
from shoal.kernels.exchange.state import GroupState, apply, move_member, refresh, refresh_each
from shoal.kernels.relations import BAND, Relations, admissible, cross, excess_after, proximate

TINY = 1e-12  # gains below are rounding
HANDFUL = 16  # groups in reach that are weighed against each other
EVERY, HELPFUL = True, False  # which exchanges a repair weighs


@inner
def most_relief(groups, g, excess_weight):
    """Most that the departure of one member can lower the cost of group g at its size."""
    most = 0.0
    for i in range(groups.sizes[g]):
        most = max(most, groups.relief[g, i] + excess_weight * groups.drops[g, i])
    return most


@inner
def best_exchange(space, relations, groups, g, h, excess_weight, floor, forward, backward):
    """Find the exchange between groups g and h that gains most, and more than `floor`.

    Returns gain and the members; -1 means that nobody comes from that group, both -1 that there
    is no such exchange. Whoever takes a place only adds, so reliefs and drops bound the gain from
    above; adjacency between the groups is asked for only when a gain is in sight.
    """
    room, relief, drops = groups.rows.shape[1], groups.relief, groups.drops
    size_g, size_h = groups.sizes[g], groups.sizes[h]
    before = size_g * groups.ncp[g] + size_h * groups.ncp[h]
    before += excess_weight * (groups.excess[g] + groups.excess[h])
    gain, best_i, best_j, crossed = floor, NONE, NONE, False
    grow_g = size_g < room and admissible(relations, size_g + 1)
    grow_g = grow_g and admissible(relations, size_h - 1)
    grow_h = size_h < room and admissible(relations, size_h + 1)
    grow_h = grow_h and admissible(relations, size_g - 1)
    most_h = most_relief(groups, h, excess_weight)
    if not (grow_g or grow_h) and most_relief(groups, g, excess_weight) + most_h <= gain:
        return gain, best_i, best_j
    for i in range(0 if not grow_g else -1, size_g):
        hope = 0.0
        if i >= 0:
            hope = relief[g, i] + excess_weight * drops[g, i]
            if not grow_h and hope + most_h <= gain:
                continue
        for j in range(0 if i < 0 or not grow_h else -1, size_h):
            swap = i >= 0 and j >= 0
            if swap and hope + relief[h, j] + excess_weight * drops[h, j] <= gain:
                continue
            after = (size_g + (j >= 0) - (i >= 0)) * ncp_after(space, groups, g, i, h, j)
            if before - after <= gain:
                continue
            after += (size_h + (i >= 0) - (j >= 0)) * ncp_after(space, groups, h, j, g, i)
            if before - after <= gain:
                continue
            if not crossed:
                cross(relations, groups, g, h, forward, backward)
                crossed = True
            limit = np.int64((before - after - gain) / excess_weight)
            excess, _ = excess_after(relations, groups, g, i, j, forward, backward, limit)
            if excess > limit:
                continue
            more, _ = excess_after(relations, groups, h, j, i, backward, forward, limit - excess)
            after += excess_weight * (excess + more)
            if before - after > gain:
                gain, best_i, best_j = before - after, i, j
    return gain, best_i, best_j


@lean
def exchange_pairs(space, relations, groups, pairs, excess_weight, now, forward, backward):
    """Carry out gainful exchanges between pairs of groups until each pair has none.

    Two groups that hold and have not changed since the pass before had their turn. Scratch:
    forward, backward (`crossing`).
    """
    done = 0
    for p in range(pairs.shape[0]):
        g, h = pairs[p, 0], pairs[p, 1]
        changed = max(groups.stamps[g], groups.stamps[h]) >= now - 1
        if groups.excess[g] + groups.excess[h] == 0 and not changed:
            continue
        while groups.sizes[g] > 0 and groups.sizes[h] > 0:
            _, i, j = best_exchange(
                space, relations, groups, g, h, excess_weight, TINY, forward, backward
            )
            if i < 0 and j < 0:
                break
            apply(space, relations, groups, g, i, h, j, now)
            done += 1
    return done


@inner
def may_help(relations, groups, g, h):
    """Say whether some member whose departure helps g has room among the members of h.

    A cheap test before the full one: it turns down most groups of a crowded neighbourhood.
    """
    if groups.excess[h] > 0:
        return True
    for i in range(groups.sizes[g]):
        if groups.drops[g, i] == 0:
            continue
        fits = True
        for r in range(relations.forms.size):
            code, count = groups.codes[g, i, r], 0
            for v in range(groups.sizes[h]):
                count += proximate(relations, r, groups.codes[h, v, r], code)
            # One of those counted may be the one who leaves h in exchange.
            fits = fits and count <= relations.bounds[r, groups.sizes[h]]
        if fits:
            return True
    return False


@inner
def excess_with(relations, groups, g, leave, source, enter, limit):
    """Return the excess of group g once member `enter` of `source` has the place of `leave`.

    Where it is above `limit`, any number above it.
    """
    size, excess = groups.sizes[g], 0
    for r in range(relations.forms.size):
        bound, own, code = max(0, relations.bounds[r, size]), 1, groups.codes[source, enter, r]
        for v in range(size):
            if v == leave:
                continue
            other = groups.codes[g, v, r]
            near = proximate(relations, r, code, other)
            own += near if relations.symmetric[r] else proximate(relations, r, other, code)
            count = groups.counts[g, r, v] - groups.adjacent[g, r, v, leave] + near
            if count > bound:
                excess += count - bound
        excess += max(0, own - bound)
        if excess > limit:
            return excess
    return excess


@inner
def best_repair(space, relations, groups, g, h, excess_weight, floor):
    """Find the swap of members of g and h that gains most, after which h is valid (`welcome`).

    As `best_exchange`, but only members whose departure lowers the excess of g are looked at, and
    whether h takes them is asked before any box: of most groups nobody is welcome.
    """
    relief, drops = groups.relief, groups.drops
    size_g, size_h = groups.sizes[g], groups.sizes[h]
    gain, best_i, best_j = floor, NONE, NONE
    most_h = groups.most[h]
    lost_g, lost_h = size_g * groups.ncp[g], size_h * groups.ncp[h]
    both = groups.excess[g] + groups.excess[h]
    for i in range(size_g):
        if drops[g, i] == 0:
            continue
        hope = relief[g, i] + excess_weight * (drops[g, i] + groups.excess[h])
        if hope + most_h <= gain:
            continue
        places = welcome(relations, groups, h, g, i)
        if places == NOBODY:
            continue
        for j in range(size_h):
            if (places >> j) & 1 == 0 or hope + relief[h, j] <= gain:
                continue
            less = lost_h - size_h * ncp_after(space, groups, h, j, g, i)
            if hope + less <= gain:
                continue
            less += lost_g - size_g * ncp_after(space, groups, g, i, h, j)
            limit = both - np.int64(np.ceil((gain - less) / excess_weight))
            if limit < groups.excess[g] - drops[g, i]:
                continue
            excess = excess_with(relations, groups, g, i, h, j, limit)
            found = less + excess_weight * (both - excess)
            if found > gain:
                gain, best_i, best_j = found, i, j
    return gain, best_i, best_j


@lean
def repair(space, relations, groups, wrong, near, excess_weight, every, now, forward, backward):
    """Exchange members of the groups `wrong` with those in reach until they are valid.

    Row p of `near` lists the groups in reach of wrong[p], nearest first. They are taken a handful
    at a time: the exchange that gains most is carried out as long as there is one, then the next
    handful has its turn. Weighing all in reach against each other costs far more time. Unless
    `every` exchange is to be weighed, the excess has to fall, and the other group to be valid
    afterwards, where sizes stay. Scratch: forward, backward (`crossing`).
    """
    done = 0
    for p in range(wrong.size):
        g, begin = wrong[p], 0
        while begin < near.shape[1] and groups.excess[g] > 0:
            gain = TINY if every else 0.5 * excess_weight
            to, best_i, best_j = NONE, NONE, NONE
            for q in range(begin, min(begin + HANDFUL, near.shape[1])):
                h = near[p, q]
                if h == g or groups.sizes[h] == 0:
                    continue
                loose = admissible(relations, groups.sizes[h] - 1)
                loose = loose or admissible(relations, groups.sizes[g] - 1)
                if every or loose or groups.sizes[h] > BITS:
                    if not may_help(relations, groups, g, h):
                        continue
                    found, i, j = best_exchange(
                        space, relations, groups, g, h, excess_weight, gain, forward, backward
                    )
                else:
                    found, i, j = best_repair(space, relations, groups, g, h, excess_weight, gain)
                if i >= 0 or j >= 0:
                    gain, to, best_i, best_j = found, h, i, j
            if to < 0:
                begin += HANDFUL
                continue
            apply(space, relations, groups, g, best_i, to, best_j, now)
            done += 1
    return done


@lean
def chain(space, relations, groups, wrong, near, now, forward, backward):
    """Resolve excess by two exchanges in a row, the first of which gains nothing by itself.

    Member i of g goes to h, member j of h by way of g to a third group, whose member comes to g:
    a cycle through three classes. A chain is kept only if the excess falls in all. Scratch:
    forward, backward (`crossing`).
    """
    done = 0
    for p in range(wrong.size):
        g, q = wrong[p], 0
        while q < near.shape[1] and groups.excess[g] > 0:
            h, found = near[p, q], False
            for i in range(groups.sizes[g]):
                if groups.drops[g, i] == 0:
                    continue
                for j in range(groups.sizes[h]):
                    before = groups.excess[g] + groups.excess[h]
                    apply(space, relations, groups, g, i, h, j, now)
                    allowance = groups.excess[g] + groups.excess[h] - before
                    if allowance < 0:
                        found = True
                        break
                    for s in range(near.shape[1]):
                        third = near[p, s]
                        if third == h or groups.excess[g] <= allowance:
                            continue
                        # With weight 1e6 a gain above this means the excess falls in all.
                        floor = 1e6 * (allowance + 0.5)
                        _, a, b = best_exchange(
                            space, relations, groups, g, third, 1e6, floor, forward, backward
                        )
                        if a >= 0 or b >= 0:
                            apply(space, relations, groups, g, a, third, b, now)
                            found = True
                            break
                    if found:
                        break
                    apply(space, relations, groups, g, i, h, j, now)
                if found:
                    break
            done += found
            q += not found
    return done


@lean
def merge(space, relations, groups, wrong, near, now):
    """Join a group in violation with one in reach where that lowers the excess of the two."""
    done = 0
    for p in range(wrong.size):
        g = wrong[p]
        for q in range(near.shape[1]):
            h = near[p, q]
            size_g, size_h = groups.sizes[g], groups.sizes[h]
            if groups.excess[g] == 0 or h == g or size_h == 0:
                continue
            joint = size_g + size_h
            if joint > groups.rows.shape[1] or not admissible(relations, joint):
                continue
            before = groups.excess[g] + groups.excess[h]
            for _ in range(size_g):
                move_member(groups, g, groups.sizes[g] - 1, h)
            refresh(space, relations, groups, h, now)
            if groups.excess[h] >= before:
                for _ in range(size_g):
                    move_member(groups, h, groups.sizes[h] - 1, g)
                refresh(space, relations, groups, h, now)
            else:
                done += 1
            refresh(space, relations, groups, g, now)
    return done


def round_robin(
    space: LossSpace, relations: Relations, groups: GroupState, block: np.ndarray, now: int
) -> bool:
    """Deal the rows of a block of groups out in sorted order, one to each group in turn.

    No two members of a group are then proximate if the block has at least maxsize groups, maxsize
    being the longest run in sorted order whose first and last are proximate in either direction
    (Li, Tao and Xiao, (epsilon, m)-anonymity, Theorem 1; both bounds must be monotone). Returns
    whether that holds; otherwise nothing is changed.
    """
    if relations.forms.size != 1 or relations.forms[0] != BAND:
        return False
    if relations.sets[0] >= 0:  # codes name people with several values, which have no order
        return False
    member = np.arange(groups.rows.shape[1]) < groups.sizes[block, None]
    codes = groups.codes[block][member]
    order = np.argsort(codes[:, 0], kind="stable")
    ranked = codes[order, 0]
    reach = np.maximum(
        relations.last[ranked], np.searchsorted(relations.first, ranked, side="right") - 1
    )
    longest = (np.searchsorted(ranked, reach, side="right") - np.arange(ranked.size)).max()
    if longest > block.size:
        return False
    rows, values = groups.rows[block][member][order], groups.values[block][member][order]
    for turn, g in enumerate(block):
        dealt = slice(turn, None, block.size)
        size = rows[dealt].size
        groups.sizes[g] = size
        groups.rows[g, :size] = rows[dealt]
        groups.values[g, :size] = values[dealt]
        groups.codes[g, :size] = codes[order][dealt]
    refresh_each(space, relations, groups, block, now)
    return True
