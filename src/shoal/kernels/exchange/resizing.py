"""Moves that change how many groups there are and how large: one dissolves, another is founded.

To join two groups never loses less, because the box of both covers either. But the members of a
group may all go to other groups, each to where it adds least; and members that their groups can do
without may leave them for a group of their own. To halve a group of twice the least size is to
found one from its members.

Every group stays within its bounds. To dissolve a group may lose more for once, a loan that others
repay: of those that got more members than they need, new ones are founded.
"""

from shoal.kernels.compiling import NONE, inner, lean
from shoal.kernels.exchange.anneal import keeps, settle
from shoal.kernels.exchange.loss import measure, ncp_after
from shoal.kernels.exchange.state import copy_member, move_member, refresh
from shoal.kernels.relations import admissible, proximate


@inner
def hand_over(space, relations, groups, homes, slots, g, i, h, now):
    """Move member i of g to the end of h, and measure both, once they are groups, or empty."""
    move_member(groups, g, i, h)
    for turn in range(2):
        one = g if turn == 0 else h
        if not 0 < groups.sizes[one] < relations.least[0]:
            refresh(space, relations, groups, one, now)
        settle(groups, homes, slots, one)


@inner
def cheapest(space, relations, groups, homes, near, block, own, g, i, most):
    """Find the group to which member i of g adds least when it joins.

    Returns what it adds, and the group; -1 where no group takes it for less than `most`. Groups
    stay under the size that there is room for: that is the size of two.
    """
    to, last, row, room = NONE, NONE, groups.rows[g, i], groups.rows.shape[1]
    for q in range(near.shape[1]):
        h = homes[near[row, q]]
        if h in (g, last) or block[h] != own:
            continue
        last, size = h, groups.sizes[h]
        if size + 1 >= room or not admissible(relations, size + 1):
            continue
        if groups.ncp[h] >= most and space.kinds[0] >= 0:  # it adds at least its own share
            continue
        added = (size + 1) * ncp_after(space, groups, h, NONE, g, i) - size * groups.ncp[h]
        if added < most and keeps(relations, groups, h, NONE, g, i):
            most, to = added, h
    return most, to


@lean
def dissolve(
    space, relations, groups, homes, slots, near, mine, block, own, loan, now, went
):  # fmt: skip
    """Dissolve groups of `mine`, all of one block, where the others lose less than `loan` more.

    Members go one after the other, the last first, each to where it adds least; a group of whom
    somebody finds no place stays. IN: near[row], rows near a row; block, that of each group; own,
    the block at hand. IN/OUT: groups; homes and slots, where each row is. Scratch: went, as long as
    a group has room. Returns how many were dissolved.
    """
    done = 0
    for place in range(mine.size):
        g = mine[place]
        size, moved, trial = groups.sizes[g], 0, True
        left = size * groups.ncp[g] + loan
        # Most groups cannot: each member is asked first as if it was the only one to go.
        while moved < size:
            i = size - 1 - moved
            added, to = cheapest(space, relations, groups, homes, near, block, own, g, i, left)
            if to < 0:
                break
            left -= added
            went[moved] = to
            moved += 1
            if not trial:
                hand_over(space, relations, groups, homes, slots, g, i, to, now)
            elif moved == size:
                left, moved, trial = size * groups.ncp[g] + loan, 0, False
        if trial:
            continue
        done += moved == size
        while 0 < moved < size:
            to = went[moved - 1]
            hand_over(space, relations, groups, homes, slots, to, groups.sizes[to] - 1, g, now)
            moved -= 1
    return done


@inner
def admits(relations, groups, g, last, size):
    """Say whether the row in slot `last` of g may be with those before, in a group of `size`.

    IN/OUT: counts of g, those of the rows that are together so far.
    """
    for r in range(relations.forms.size):
        bound, own, code = relations.bounds[r, size], 1, groups.codes[g, last, r]
        for v in range(last):
            other = groups.codes[g, v, r]
            near = proximate(relations, r, code, other)
            if groups.counts[g, r, v] + near > bound:
                return False
            own += near if relations.symmetric[r] else proximate(relations, r, other, code)
        if own > bound:
            return False
        groups.counts[g, r, last] = own
    for r in range(relations.forms.size):
        code = groups.codes[g, last, r]
        for v in range(last):
            groups.counts[g, r, v] += proximate(relations, r, code, groups.codes[g, v, r])
    return True


@inner
def gather(space, relations, groups, homes, slots, near, block, own, row, new, went):
    """Copy `row`, and rows near it, that their groups can do without into the empty group `new`.

    Returns how many there are, and what the loss falls by when they leave, each as if it was the
    only one to. OUT: went, the groups that they are in. Of a group of twice the least size, half
    may go: whether it holds without them is seen when they are gone.
    """
    size, gain, taken = relations.least[0], 0.0, 0
    for q in range(-1, near.shape[1]):
        other = row if q < 0 else near[row, q]
        h = homes[other]
        if block[h] == own:
            i, left = slots[other], groups.sizes[h] - 1
            for step in range(taken):
                left -= went[step] == h
            if admissible(relations, left) and (
                groups.sizes[h] >= 2 * size or keeps(relations, groups, h, i, h, NONE)
            ):
                copy_member(groups, new, taken, h, i)
                if admits(relations, groups, new, taken, size):
                    gain += groups.sizes[h] * groups.ncp[h]
                    gain -= (groups.sizes[h] - 1) * ncp_after(space, groups, h, i, h, NONE)
                    went[taken] = h
                    taken += 1
        if taken in (0, size):
            break
    return taken, gain


@lean
def found(
    space, relations, groups, homes, slots, near, mine, block, own, spare, least, now, went
):  # fmt: skip
    """Found groups of the least size around the rows `mine` where that gains more than `least`.

    IN: spare, groups of the block without members; as many are founded at most. Else as `dissolve`.
    Returns how many were founded.
    """
    done, size = 0, relations.least[0]
    for place in range(mine.size):
        if done == spare.size:
            break
        new = spare[done]
        taken, gain = gather(
            space, relations, groups, homes, slots, near, block, own, mine[place], new, went
        )
        if taken < size:
            continue
        groups.sizes[new] = size
        measure(space, groups, new)
        lost = size * groups.ncp[new]
        groups.sizes[new], groups.ncp[new] = 0, 0.0
        if gain - lost <= least:
            continue
        gain, holds = 0.0, True
        for step in range(size):
            h = went[step]
            gain += groups.sizes[h] * groups.ncp[h]
            i = slots[groups.rows[new, step]]
            hand_over(space, relations, groups, homes, slots, h, i, new, now)
            gain -= groups.sizes[h] * groups.ncp[h]
        for step in range(size):
            holds = holds and groups.excess[went[step]] == 0
        if holds and gain - lost > least:
            done += 1
            continue
        for step in range(size):
            last = size - 1 - step
            hand_over(space, relations, groups, homes, slots, new, last, went[last], now)
    return done
