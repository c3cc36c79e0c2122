"""The state of the exchange engine: groups with their members held side by side.

Members are copied into the group's own slots, because gathering them through an index costs more
than moving them. A group has room for `rows.shape[1]` members; an emptied group has size 0.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiling import inner, lean
from shoal.kernels.exchange.loss import measure
from shoal.kernels.relations import Relations, recount


class GroupState(NamedTuple):
    """G groups with room for c members each, and what is kept about them."""

    sizes: np.ndarray  # int64 (G)
    rows: np.ndarray  # int64 (G, c): input row of each member
    values: np.ndarray  # float64 (G, c, d): its position in quasi space
    codes: np.ndarray  # int32 (G, c, R): its sensitive codes
    adjacent: np.ndarray  # uint8 (G, R, c, c): [g, r, v, u] whether u is proximate to v
    counts: np.ndarray  # int32 (G, R, c): members proximate to it, itself included
    drops: np.ndarray  # int32 (G, c): what its departure takes from the excess
    relief: np.ndarray  # float64 (G, c): what its departure takes from the loss
    most: np.ndarray  # float64 (G): the highest relief, which most visits to a group end with
    edges: np.ndarray  # float64 (G, 4, d): lowest, highest, and the next of each; a set: its labels
    ncp: np.ndarray  # float64 (G)
    excess: np.ndarray  # int64 (G)
    pairs: np.ndarray  # int64 (G): potential
    stamps: np.ndarray  # int64 (G): when the group last changed


def make_groups(
    values: np.ndarray, codes: np.ndarray, order: np.ndarray, cuts: np.ndarray, room: int
) -> GroupState:
    """Lay rows out in groups: group g takes `order[cuts[g]:cuts[g + 1]]`. Nothing is measured."""
    sizes = np.diff(cuts).astype(np.int64)
    count, columns, relations = sizes.size, values.shape[1], codes.shape[0]
    group = np.repeat(np.arange(count), sizes)
    slot = np.arange(order.size) - cuts[group]
    groups = GroupState(
        sizes=sizes,
        rows=np.full((count, room), -1, np.int64),
        values=np.zeros((count, room, columns)),
        codes=np.zeros((count, room, relations), np.int32),
        adjacent=np.zeros((count, relations, room, room), np.uint8),
        counts=np.zeros((count, relations, room), np.int32),
        drops=np.zeros((count, room), np.int32),
        relief=np.zeros((count, room)),
        most=np.zeros(count),
        edges=np.zeros((count, 4, columns)),
        ncp=np.zeros(count),
        excess=np.zeros(count, np.int64),
        pairs=np.zeros(count, np.int64),
        stamps=np.zeros(count, np.int64),
    )
    groups.rows[group, slot] = order
    groups.values[group, slot] = values[order]
    groups.codes[group, slot] = codes.T[order]
    return groups


def labels_of(groups: GroupState, n: int) -> np.ndarray:
    """Give each input row the number of its group, numbered without gaps."""
    filled = np.flatnonzero(groups.sizes)
    labels = np.empty(n, np.int64)
    member = np.arange(groups.rows.shape[1]) < groups.sizes[filled, None]
    labels[groups.rows[filled][member]] = np.repeat(np.arange(filled.size), groups.sizes[filled])
    return labels


def crossing(groups: GroupState, relations: Relations) -> tuple[np.ndarray, np.ndarray]:
    """Return room for the adjacency between two groups, both ways; one for each thread."""
    shape = (relations.forms.size, groups.rows.shape[1], groups.rows.shape[1])
    return np.empty(shape, np.uint8), np.empty(shape, np.uint8)


def total_loss(groups: GroupState) -> float:
    """Loss of all groups: the sum of size * NCP."""
    # Not by BLAS, which adds in another order on every kind of processor.
    return float((groups.sizes * groups.ncp).sum())


@inner
def refresh(space, relations, groups, g, now):
    """Measure group g anew and mark it as changed."""
    measure(space, groups, g)
    recount(relations, groups, g)
    groups.stamps[g] = now


@lean
def refresh_each(space, relations, groups, which, now):
    """Measure the groups `which` anew."""
    for place in range(which.size):
        refresh(space, relations, groups, which[place], now)


@inner
def copy_member(groups, g, i, h, j):
    """Write member j of group h into slot i of group g."""
    groups.rows[g, i] = groups.rows[h, j]
    for c in range(groups.values.shape[2]):
        groups.values[g, i, c] = groups.values[h, j, c]
    for r in range(groups.codes.shape[2]):
        groups.codes[g, i, r] = groups.codes[h, j, r]


@inner
def swap_members(groups, g, i, h, j):
    """Exchange member i of group g with member j of group h. Nothing is measured."""
    groups.rows[g, i], groups.rows[h, j] = groups.rows[h, j], groups.rows[g, i]
    for c in range(groups.values.shape[2]):
        value = groups.values[g, i, c]
        groups.values[g, i, c] = groups.values[h, j, c]
        groups.values[h, j, c] = value
    for r in range(groups.codes.shape[2]):
        code = groups.codes[g, i, r]
        groups.codes[g, i, r] = groups.codes[h, j, r]
        groups.codes[h, j, r] = code


@inner
def move_member(groups, g, i, h):
    """Move member i of group g to the end of group h. Nothing is measured."""
    copy_member(groups, h, groups.sizes[h], g, i)
    groups.sizes[h] += 1
    groups.sizes[g] -= 1
    if i != groups.sizes[g]:
        copy_member(groups, g, i, g, groups.sizes[g])


@inner
def apply(space, relations, groups, g, i, h, j, now):
    """Carry out an exchange; j = -1 moves member i to h, i = -1 moves member j to g."""
    if i < 0:
        move_member(groups, h, j, g)
    elif j < 0:
        move_member(groups, g, i, h)
    else:
        swap_members(groups, g, i, h, j)
    refresh(space, relations, groups, g, now)
    refresh(space, relations, groups, h, now)
