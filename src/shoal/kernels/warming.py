"""A tiny run of every kernel that compiles when first called, apart so that imports run none."""

import numpy as np

from shoal.kernels.exchange.anneal import anneal
from shoal.kernels.exchange.colouring import xcolor
from shoal.kernels.exchange.loss import LossSpace
from shoal.kernels.exchange.moves import improve
from shoal.kernels.exchange.resizing import dissolve, found
from shoal.kernels.exchange.start import near_rows, start
from shoal.kernels.exchange.state import GroupState, crossing, make_groups, refresh_each
from shoal.kernels.exchange.swaps import HELPFUL, chain, exchange_pairs, merge, repair, round_robin
from shoal.kernels.reach import DEEP, box_tree, nearest_points, reaches
from shoal.kernels.relations import (
    BAND,
    Relations,
    count_near,
    largest_neighbourhoods,
    most_people_near,
    row_weights,
)


def run() -> None:
    """Call every such kernel once, on eight rows in four groups."""
    space = LossSpace(np.zeros(1, np.int8), np.ones(1), np.zeros(8), np.array([0, 8]))
    values = np.linspace(0.0, 1.0, 8)[:, None]
    codes = np.zeros((1, 8), np.int32)
    relations = _equality()
    groups = _groups(space, relations, values, codes)
    pairs, near = np.array([[0, 1], [2, 3]]), np.array([[1, 2, 3]])
    one = np.array([0])
    scratch = crossing(groups, relations)
    exchange_pairs(space, relations, groups, pairs, 1.0, 1, *scratch)
    repair(space, relations, groups, one, near, 1e6, HELPFUL, 1, *scratch)
    chain(space, relations, groups, one, near, 1, *scratch)
    merge(space, relations, groups, one, near, 1)
    round_robin(space, relations, groups, np.arange(4), 1)
    _move(space, relations, values, codes)
    _reach(space, relations, values, codes)
    xcolor(space, relations, values, codes, np.zeros(1, np.int64), 2)
    counts = np.empty(1, np.int64)
    largest_neighbourhoods(relations, codes[0], np.array([0, 8]), counts)
    people, seen = np.arange(8, dtype=np.int32), np.full(8, -1)
    most_people_near(relations, codes[0], people, np.array([0, 8]), seen, counts)
    row_weights(np.zeros((1, 1), np.uint64), np.array([8]), counts, 0, 1)
    point, rows = np.zeros((1, 1)), np.array([0, 1])
    count_near(point, 0, point, rows, np.zeros(1), np.array([0, 8]), 1, 1.0, 0, 1, counts)


def _equality() -> Relations:
    """Return the relation of one value that is near to itself, two allowed in a group of four."""
    none = np.zeros(1, np.int64)
    code = np.zeros(1, np.int32)
    bounds = np.array([[0, 0, 1, 1, 2]])
    return Relations(
        forms=np.array([BAND], np.int8),
        starts=none,
        widths=none,
        first=code,
        last=code,
        points=np.zeros(0),
        bits=np.zeros(0, np.uint64),
        sets=np.full(1, -1, np.int64),
        parts=np.ones(1, np.int64),
        part=none,
        set_ends=none,
        set_codes=code,
        set_first=code,
        set_last=code,
        own_bits=np.zeros(1, np.uint64),
        near_bits=np.zeros(1, np.uint64),
        symmetric=np.ones(1, np.bool_),
        gaps=np.full(1, -1, np.int64),
        metrics=np.zeros(1, np.int8),
        thresholds=np.zeros(1),
        bounds=bounds,
        least=np.array([2]),
    )


def _move(space: LossSpace, relations: Relations, values: np.ndarray, codes: np.ndarray) -> None:
    groups = _groups(space, relations, values, codes)
    order, cuts = start(space, values, 1)
    near = np.empty((8, 2), np.int32)
    near_rows(space, values, order, cuts, np.zeros((1, 1), np.int64), 0, 1, np.empty(2), near)
    homes, slots = np.empty((2, 8), np.int64)
    homes[groups.rows[:, :2]], slots[groups.rows[:, :2]] = np.arange(4)[:, None], np.arange(2)
    mine, slab, chance = np.arange(4), np.zeros(4, np.int64), np.ones(1, np.uint64)
    shared = (space, relations, groups, homes, slots, near)
    anneal(*shared, mine, slab, 1, 1.0, chance, 1)
    scratch = np.zeros((2, 5), np.int64)
    improve(*shared, np.arange(8), slab, slab, 0, 1, 0, 1, 1e-9, *scratch)
    dissolve(*shared, mine, slab, 0, 0.0, 1, scratch[0])
    found(*shared, np.arange(8), slab, 0, mine[:0], 1e-9, 1, scratch[0])


def _reach(space: LossSpace, relations: Relations, values: np.ndarray, codes: np.ndarray) -> None:
    tree = box_tree(space, values)
    stack, near, away = np.empty(DEEP, np.int64), np.empty((1, 2), np.int64), np.empty(2)
    nearest_points(space, values, *tree, np.array([0]), 0, 1, stack, away, near)
    code, none = np.zeros(2, np.int32), np.zeros(1, np.int64)
    shared = (space, values, *tree, relations, codes, code, none, none, 2)
    reaches(*shared, 0, 1, stack, np.empty(DEEP), near[0], away, code, np.zeros(8))


def _groups(
    space: LossSpace, relations: Relations, values: np.ndarray, codes: np.ndarray
) -> GroupState:
    order, cuts = start(space, values, 4)
    groups = make_groups(values, codes, order, cuts, 4)
    refresh_each(space, relations, groups, np.arange(4), 1)
    return groups
