"""What single exchanges cannot resolve: chains of two exchanges, merging, and round-robin."""

import numpy as np

from shoal.kernels.exchange.loss import Space
from shoal.kernels.exchange.state import Groups, apply, move_member, refresh, refresh_each
from shoal.kernels.exchange.swaps import best_exchange
from shoal.kernels.lean import lean
from shoal.kernels.relations import BAND, Relations, admissible


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
    space: Space, relations: Relations, groups: Groups, block: np.ndarray, now: int
) -> bool:
    """Deal the rows of a block of groups out in sorted order, one to each group in turn.

    No two members of a group are then proximate if the block has at least maxsize groups, maxsize
    being the longest run in sorted order whose first and last are proximate in either direction
    (Li, Tao and Xiao, (epsilon, m)-anonymity, Theorem 1; both bounds must be monotone). Returns
    whether that holds; otherwise nothing is changed.
    """
    if relations.forms.size != 1 or relations.forms[0] != BAND:
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
