"""Annealed exchanges: from a valid state, losses are taken on loan and bounds never broken.

A row is drawn, then one of the rows near it. The first takes the place of a member of the other's
group (of that row itself, or of any), or joins it where both sizes stay admissible. An exchange
that loses d more is carried out with probability exp(-d / heat) (Metropolis et al., 1953), and only
where every member of both groups stays within its bound. So every state on the way is valid.
"""

import numpy as np

from shoal.kernels.compiling import NONE, inner, lean, placed_inner
from shoal.kernels.drawing import drawn
from shoal.kernels.exchange.loss import ncp_after
from shoal.kernels.exchange.state import apply
from shoal.kernels.relations import admissible, proximate

DIRECT = 0.4  # how often the near row itself is the partner
JOINING = 0.1  # how often a row joins instead of taking a place, where sizes allow


@placed_inner
def keeps(relations, groups, g, leave, source, enter):
    """Say whether all members of g stay within their bounds once one has left and one has come.

    `leave` is a member of g, `enter` one of `source`; -1 for nobody.
    """
    size = groups.sizes[g] - (leave >= 0) + (enter >= 0)
    for r in range(relations.forms.size):
        bound, own = relations.bounds[r, size], 1
        code = groups.codes[source, enter, r] if enter >= 0 else np.int32(0)
        for v in range(groups.sizes[g]):
            if v == leave:
                continue
            count = groups.counts[g, r, v]
            if leave >= 0:
                count -= groups.adjacent[g, r, v, leave]
            if enter >= 0:
                other = groups.codes[g, v, r]
                near = proximate(relations, r, code, other)
                count += near
                own += near if relations.symmetric[r] else proximate(relations, r, other, code)
            if count > bound:
                return False
        if own > bound:
            return False
    return True


@inner
def settle(groups, homes, slots, g):
    """Note for the members of g where they are."""
    for i in range(groups.sizes[g]):
        homes[groups.rows[g, i]] = g
        slots[groups.rows[g, i]] = i


@lean
def anneal(space, relations, groups, homes, slots, near, mine, slab, steps, heat, chance, now):
    """Try exchanges between the groups `mine`, which are those of one slab.

    IN: near[row], the rows near a row; slab, that of each group. IN/OUT: groups; homes and slots,
    where each row is; chance, the state of the generator. Groups of other slabs are neither read
    nor changed, but for the homes of their rows. Returns how many exchanges were carried out.
    """
    own = slab[mine[0]]
    done, reach, room = 0, near.shape[1], groups.rows.shape[1]
    for _ in range(steps):
        g = mine[np.int64(drawn(chance) * mine.size)]
        i = np.int64(drawn(chance) * groups.sizes[g])
        close = drawn(chance)
        other = near[groups.rows[g, i], np.int64(close * close * reach)]
        h = homes[other]
        if h == g or slab[h] != own:
            continue
        size_g, size_h, kind = groups.sizes[g], groups.sizes[h], drawn(chance)
        limit = -heat * np.log(1.0 - drawn(chance))
        if kind < DIRECT:
            j = slots[other]
        else:
            j = np.int64(drawn(chance) * size_h)
            joins = kind > 1.0 - JOINING and size_h < room
            joins = joins and admissible(relations, size_g - 1)
            if joins and admissible(relations, size_h + 1):
                j = NONE
        joins = j < 0
        more = (size_h + joins) * ncp_after(space, groups, h, j, g, i) - size_h * groups.ncp[h]
        if not joins and more - groups.relief[g, i] > limit:
            continue
        more += (size_g - joins) * ncp_after(space, groups, g, i, h, j) - size_g * groups.ncp[g]
        if more > limit:
            continue
        if keeps(relations, groups, h, j, g, i) and keeps(relations, groups, g, i, h, j):
            apply(space, relations, groups, g, i, h, j, now)
            settle(groups, homes, slots, g)
            settle(groups, homes, slots, h)
            done += 1
    return done
