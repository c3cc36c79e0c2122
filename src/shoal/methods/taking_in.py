"""Where rows go whose sensitive value is missing, once all others are in groups that hold.

A missing value counts as near to every other, so a group that has room for it is a larger one: with
at most one in m near, a group with j missing values has at least (1 + j) m rows. The groups near
such a row are looked at, one by one and two together, and the row joins those that lose least by it
of all that then hold. Rows that found none join more groups, ever more of those around them.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from shoal.methods.passes import Neighbours, apart
from shoal.principles.groups import Groups
from shoal.release.cover import certainty

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.kernels.exchange.loss import LossSpace
    from shoal.methods.base import Task

NEAR = 8  # groups around a row that are looked at
ROWS = 2**21  # of all that is looked at together


def take_in(
    task: Task,
    space: LossSpace,
    values: NDArray[np.float64],
    known: NDArray[np.int64],
    groups: Groups,
) -> Groups:
    """Return groups of all rows, made from groups of the `known` ones, which hold.

    All of them hold, unless even all groups together have no room for what is missing.
    """
    labels = np.full(len(task.coded), -1, np.int64)
    labels[known] = groups.labels
    together = 2
    while (waiting := np.flatnonzero(labels < 0)).size:
        placed = _round(task, space, values, labels, waiting, together)
        if not placed:
            if together > labels.max() + 1:
                labels[waiting] = 0
                break
            together *= 2
    return Groups.of(labels)


def _round(
    task: Task,
    space: LossSpace,
    values: NDArray[np.float64],
    labels: NDArray[np.int64],
    waiting: NDArray[np.int64],
    together: int,
) -> int:
    """Give rows that wait to groups that take them, no group to two of them; return how many."""
    there = labels >= 0
    count = int(labels.max()) + 1
    sizes = np.bincount(labels[there], minlength=count)
    filled = np.flatnonzero(sizes)
    sums = np.array([np.bincount(labels[there], column[there], count) for column in values.T])
    centres = apart(space, (sums[:, filled] / sizes[filled]).T)
    points = np.vstack([centres, apart(space, values[waiting])])
    wide = max(NEAR, together)
    reach = min(2 * wide, len(points) - 1)
    found = Neighbours(points).nearest(len(filled) + np.arange(len(waiting)), 0, reach)
    order = np.argsort(np.where(there, labels, count), kind="stable")
    starts = np.searchsorted(labels[order][: int(there.sum())], np.arange(count + 1))
    choices: list[tuple[int, tuple[int, ...]]] = []
    for place, around in enumerate(found.tolist()):
        near = [int(filled[one]) for one in around if one < len(filled)][:wide]
        some: list[tuple[int, ...]] = [tuple(near[:together])]
        if together == 2:
            some = [*combinations(near, 1), *combinations(near, 2)]
        choices += [(place, one) for one in some if one]
    return _settle(task, labels, waiting, choices, order, starts)


def _settle(
    task: Task,
    labels: NDArray[np.int64],
    waiting: NDArray[np.int64],
    choices: list[tuple[int, tuple[int, ...]]],
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
) -> int:
    """Try rows with the groups of each choice; carry out those that hold, the cheapest first."""
    held: list[tuple[float, int, tuple[int, ...]]] = []
    batch: list[tuple[int, tuple[int, ...]]] = []
    size = 0
    for choice in choices:
        batch.append(choice)
        size += 1 + sum(int(starts[one + 1] - starts[one]) for one in choice[1])
        if size >= ROWS:
            held += _tried(task, waiting, batch, order, starts)
            batch, size = [], 0
    held += _tried(task, waiting, batch, order, starts)
    taken: set[int] = set()
    done: set[int] = set()
    for _, place, some in sorted(held):
        if place in done or taken.intersection(some):
            continue
        done.add(place)
        taken.update(some)
        for one in some:
            labels[order[starts[one] : starts[one + 1]]] = some[0]
        labels[waiting[place]] = some[0]
    return len(done)


def _tried(
    task: Task,
    waiting: NDArray[np.int64],
    batch: list[tuple[int, tuple[int, ...]]],
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
) -> list[tuple[float, int, tuple[int, ...]]]:
    """Return the choices in which everything holds, each with what is lost more than before."""
    if not batch:
        return []
    parts = [
        [order[starts[one] : starts[one + 1]] for one in some] + [waiting[place : place + 1]]
        for place, some in batch
    ]
    flat = [part for some in parts for part in some]
    rows = np.concatenate(flat)
    sizes = np.array([len(part) for part in flat])
    owner = np.repeat(np.arange(len(parts)), [len(some) for some in parts])
    tried = task.part(rows)
    unions = Groups(np.repeat(owner, sizes))
    wrong = np.zeros(len(parts), np.bool_)
    for measured in tried.measure(unions):
        wrong |= measured.breaches
    before = Groups(np.repeat(np.arange(len(flat)), sizes))
    lost = before.sizes * certainty(tried.coded, before).sum(axis=1)
    after = unions.sizes * certainty(tried.coded, unions).sum(axis=1)
    more = after - np.bincount(owner, lost)
    return [(float(more[at]), *batch[at]) for at in np.flatnonzero(~wrong).tolist()]
