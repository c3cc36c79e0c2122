"""Moves that start from a row whose departure helps: swaps, and cycles through three groups.

A row of group g takes the place of a member of a group h near it, and that member goes to g, or
takes the place of a member of a third group near it, who goes to g. Where sizes allow, the last to
move joins a group instead and nobody comes to g. A member who moves only adds to what it joins, so
a cycle is followed only as long as what was gained so far is more than what is lost so far.

Every group stays within its bounds, and every move lowers the loss: none can cycle for ever.
"""

import numpy as np

from shoal.kernels.compiling import NONE, inner, lean, placed_inner
from shoal.kernels.exchange.anneal import keeps, settle
from shoal.kernels.exchange.loss import least_added, ncp_after
from shoal.kernels.exchange.state import move_member, refresh, swap_members
from shoal.kernels.relations import admissible, proximate

BITS = 62  # members of a group of whom each has a bit
EVERYBODY, NOBODY = np.int64(-1), np.int64(0)  # all bits, and none


@placed_inner
def welcome(relations, groups, h, source, enter):
    """Say in whose place of group h member `enter` of `source` keeps all bounds: bit j is member j.

    With many members, bits do not suffice, and whoever asks has to look at each (`keeps`).
    """
    size = groups.sizes[h]
    if size > BITS:
        return EVERYBODY
    places = EVERYBODY
    for r in range(relations.forms.size):
        code, bound, own = groups.codes[source, enter, r], relations.bounds[r, size], 1
        met = NOBODY
        for v in range(size):
            other = groups.codes[h, v, r]
            near = proximate(relations, r, other, code)
            own += near
            met |= np.int64(near) << v
            if groups.counts[h, r, v] >= bound:
                if not relations.symmetric[r]:
                    near = proximate(relations, r, code, other)
                if near or groups.counts[h, r, v] > bound:
                    places &= leavers(groups, h, r, v, groups.counts[h, r, v] + near - bound)
        if own > bound + 1:
            return NOBODY
        if own > bound:
            places &= met
        if places == NOBODY:
            return NOBODY
    return places


@inner
def leavers(groups, h, r, v, over):
    """Return whose departure lets member v of group h stay, who is over its bound, as bits."""
    places = np.int64(1) << v
    if over == 1:
        for j in range(groups.sizes[h]):
            places |= np.int64(groups.adjacent[h, r, v, j]) << j
    return places


@lean
def improve(
    space, relations, groups, homes, slots, near, mine, block, before, own,
    reach, since, now, least, seen, tried,
):  # fmt: skip
    """Carry out gainful moves that start from the rows `mine` within one block of groups.

    IN: near[row], rows near a row; block, that of each group, and `before` at the last pass; own,
    the block at hand; reach, how many groups near a member are asked to take it at the last step of
    a cycle, 0 for swaps alone; since, two groups that were in one block and did not change from
    then on have nothing to exchange; least, what a move has to gain. IN/OUT: groups; homes and
    slots, where each row is; seen and tried (a count, and one for each group; zeros at first).
    Returns how many moves were carried out.
    """
    done, room = 0, groups.rows.shape[1]
    for place in range(mine.size):
        row = mine[place]
        if block[homes[row]] != own:
            continue
        while True:
            g, i = homes[row], slots[row]
            size_g = groups.sizes[g]
            # Nobody lowers a loss by more than all of it: alone in a group, relief is endless.
            relief = min(groups.relief[g, i], size_g * groups.ncp[g])
            shrinks = admissible(relations, size_g - 1)
            alone = 0.0
            if shrinks:
                alone = (size_g - 1) * ncp_after(space, groups, g, i, g, NONE)
                alone = size_g * groups.ncp[g] - alone
            most = max(relief, alone)
            gain, to, best_j, third, best_l = least, NONE, NONE, NONE, NONE
            if most <= gain:
                break
            seen[0] += 1
            for q in range(near.shape[1]):
                h = homes[near[row, q]]
                if h == g or block[h] != own or seen[1 + h] == seen[0]:
                    continue
                seen[1 + h] = seen[0]
                if groups.stamps[g] < since and groups.stamps[h] < since and before[g] == before[h]:
                    continue
                size_h = groups.sizes[h]
                added = ncp_after(space, groups, h, NONE, g, i)
                if shrinks and size_h < room and admissible(relations, size_h + 1):
                    found = alone - (size_h + 1) * added + size_h * groups.ncp[h]
                    kept = found > gain and keeps(relations, groups, h, NONE, g, i)
                    if kept and keeps(relations, groups, g, i, h, NONE):
                        gain, to, best_j, third, best_l = found, h, NONE, NONE, NONE
                # Whoever leaves h takes at most its relief along.
                hope = most - least_added(space, groups, h, added)
                if hope + groups.most[h] <= gain:
                    continue
                open_to = welcome(relations, groups, h, g, i)
                if open_to == NOBODY:
                    continue
                for j in range(size_h):
                    if (open_to >> min(j, BITS)) & 1 == 0 or hope + groups.relief[h, j] <= gain:
                        continue
                    cost = size_h * (ncp_after(space, groups, h, j, g, i) - groups.ncp[h])
                    if most - cost <= gain:
                        continue
                    if size_h > BITS and not keeps(relations, groups, h, j, g, i):
                        continue
                    if relief - cost > gain:
                        found = size_g * (groups.ncp[g] - ncp_after(space, groups, g, i, h, j))
                        if found - cost > gain and keeps(relations, groups, g, i, h, j):
                            gain, to, best_j, third, best_l = found - cost, h, j, NONE, NONE
                    if reach == 0:
                        continue
                    gain, found, last = cycle(
                        space, relations, groups, homes, near, block, own, reach, tried,
                        g, i, h, j, relief, alone, cost, gain,
                    )  # fmt: skip
                    if found >= 0:
                        to, best_j, third, best_l = h, j, found, last
            if to < 0:
                break
            carry_out(space, relations, groups, homes, slots, g, i, to, best_j, third, best_l, now)
            done += 1
    return done


@placed_inner
def cycle(
    space, relations, groups, homes, near, block, own, reach, tried,
    g, i, h, j, relief, alone, cost, gain,
):  # fmt: skip
    """Find the group to take member j of h once member i of g has its place.

    Returns gain, group and the member who goes on to g, -1 for none; -1 for the group where no
    cycle gains more than `gain`.
    """
    to, last, asked, room = NONE, NONE, 0, groups.rows.shape[1]
    size_g = groups.sizes[g]
    tried[0] += 1
    tried[1 + g] = tried[1 + h] = tried[0]
    row = groups.rows[h, j]
    for q in range(near.shape[1]):
        k = homes[near[row, q]]
        if block[k] != own or tried[1 + k] == tried[0]:
            continue
        tried[1 + k] = tried[0]
        size_k = groups.sizes[k]
        added = ncp_after(space, groups, k, NONE, h, j)
        if alone > 0.0 and size_k < room and admissible(relations, size_k + 1):
            found = alone - cost - (size_k + 1) * added + size_k * groups.ncp[k]
            kept = found > gain and keeps(relations, groups, k, NONE, h, j)
            if kept and keeps(relations, groups, g, i, h, NONE):
                gain, to, last = found, k, NONE
        hope = relief - cost - least_added(space, groups, k, added)
        if hope + groups.most[k] <= gain:
            continue
        open_to = welcome(relations, groups, k, h, j)
        if open_to == NOBODY:
            continue
        for m in range(size_k):
            if (open_to >> min(m, BITS)) & 1 == 0 or hope + groups.relief[k, m] <= gain:
                continue
            paid = cost + size_k * (ncp_after(space, groups, k, m, h, j) - groups.ncp[k])
            if relief - paid <= gain:
                continue
            found = size_g * (groups.ncp[g] - ncp_after(space, groups, g, i, k, m)) - paid
            if found <= gain or (size_k > BITS and not keeps(relations, groups, k, m, h, j)):
                continue
            if keeps(relations, groups, g, i, k, m):
                gain, to, last = found, k, m
        asked += 1
        if asked >= reach:
            break
    return gain, to, last


@inner
def carry_out(space, relations, groups, homes, slots, g, i, h, j, k, m, now):
    """Move member i of g to h, its member j to k, or to g where k is -1, and member m of k to g.

    -1 for j or m: nobody moves on.
    """
    if j < 0:
        move_member(groups, g, i, h)
    else:
        swap_members(groups, g, i, h, j)
        if k >= 0:
            if m < 0:
                move_member(groups, g, i, k)
            else:
                swap_members(groups, g, i, k, m)
            refresh(space, relations, groups, k, now)
            settle(groups, homes, slots, k)
    refresh(space, relations, groups, g, now)
    refresh(space, relations, groups, h, now)
    settle(groups, homes, slots, g)
    settle(groups, homes, slots, h)
