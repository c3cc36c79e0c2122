"""Rows that cost the others more than they are worth: what leaving them out pays back.

The loss of a table is the sum of the NCP of its cells, and every cell of a row that is left out
counts 1, so with d quasi columns a row is worth leaving out where the others lose less by more
than d less its own NCP. Two ways to publish are compared by one measure: ranges and labels are
those of the rows that the smaller one publishes, as in its manifest, and no cell counts more than
1. By the range of the whole input one extreme value would make every interval look narrow.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.principles.groups import Groups
from shoal.release.cover import Cover
from shoal.table.coded import coordinates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shoal.methods.base import Task
    from shoal.release.graph import GeneralizationGraph
    from shoal.table.column import Column

    Found = Groups | GeneralizationGraph

ROUNDS = 8  # rows that one group may lose
TINY = 1e-9  # gains below are rounding


def of_rows(quasi: Sequence[Column], rows: NDArray[np.int64]) -> tuple[Column, ...]:
    """Return columns for some rows, over the domain of all."""
    return tuple(replace(column, codes=column.codes[rows]) for column in quasi)


def extents(quasi: Sequence[Column], rows: NDArray[np.int64]) -> list[float]:
    """Return how much of each column's domain some rows cover, from 0 to 1."""
    found = []
    for column in quasi:
        present = np.unique(column.codes[rows])
        if column.numeric:
            where = coordinates(column)[present[present != column.gap]]
            found.append(float(np.ptp(where)) if len(where) else 0.0)
        else:
            found.append((len(present) - 1) / max(column.distinct - 1, 1))
    return found


def total_loss(quasi: Sequence[Column], found: Found, covered: Sequence[float]) -> float:
    """Return the sum of NCP over published rows and columns, as shares of what is covered."""
    return float(loss_of_each(quasi, found, covered).sum())


def loss_of_each(
    quasi: Sequence[Column], found: Found, covered: Sequence[float]
) -> NDArray[np.float64]:
    """Return the same of each group, or of each row where there are none."""
    bearers = found.sizes if isinstance(found, Groups) else np.ones(len(found))
    total = np.zeros(len(bearers))
    for column, extent in zip(quasi, covered, strict=True):
        ncp = Cover.of(column, found).loss()
        share = np.minimum(ncp / extent, 1) if extent > 0 else (ncp > 0).astype(np.float64)
        total += share * bearers
    return total


def costly_rows(quasi: Sequence[Column], found: Found, most: int) -> NDArray[np.int64]:
    """Return up to so many rows whose absence would lower the loss, by estimate.

    What a row costs is measured where it lies now. From a group, the costliest row is taken first,
    and the next one measured without it.
    """
    if not isinstance(found, Groups):
        gains = gains_of(quasi, found)
        rows = np.flatnonzero(gains > TINY)
        return rows[np.argsort(-gains[rows], kind="stable")[:most]]
    taken: list[NDArray[np.int64]] = []
    rows, labels, left = np.arange(len(found.labels)), found.labels, most
    for _ in range(ROUNDS):
        part = Groups.of(labels)
        gains = gains_of(of_rows(quasi, rows), part)
        order = np.lexsort((np.arange(len(rows)), -gains, part.labels))
        best = order[part.starts[:-1]]
        best = best[gains[best] > TINY]
        best = best[np.argsort(-gains[best], kind="stable")[:left]]
        if not len(best):
            break
        taken.append(rows[best])
        left -= len(best)
        changed = np.zeros(len(part), np.bool_)
        changed[part.labels[best]] = True
        stays = changed[part.labels]
        stays[best] = False
        rows, labels = rows[stays], part.labels[stays]
        if not len(rows):
            break
    return np.concatenate(taken) if taken else np.empty(0, np.int64)


def gains_of(quasi: Sequence[Column], found: Found) -> NDArray[np.float64]:
    """Return what the loss falls by when a row leaves and all else stays where it is.

    Whoever else bears a cell that covers the row gains what the cell shrinks by; the row itself
    goes from its own NCP to 1 in every column.
    """
    order, starts = found.order, found.starts
    sizes = np.diff(starts)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    shrinks = np.zeros(len(order))
    whole = np.zeros(len(sizes))
    for column in quasi:
        covered = Cover.of(column, found)
        ncp = covered.loss()
        whole += ncp
        shrinks += ncp[owners] - _without_each(covered, found, owners).loss()
    if isinstance(found, Groups):
        others, own = sizes[owners] - 1, whole[found.labels]
    else:
        others, own = (order != owners).astype(np.int64), whole
    paid = np.bincount(order, weights=shrinks * others, minlength=len(own))
    return paid + own - len(quasi)


def _without_each(covered: Cover, found: Found, owners: NDArray[np.int64]) -> Cover:
    """Return, for every covered row, what its cell would cover without it."""
    order, starts = found.order, found.starts
    ranks = covered.domain.codes[order]
    inside = np.lexsort((ranks, owners))
    sorted_ranks = ranks[inside]
    first, last = starts[:-1], starts[1:] - 1
    several = last > first
    low, high = covered.low[owners], covered.high[owners]
    low[inside[first[several]]] = sorted_ranks[first[several] + 1]
    high[inside[last[several]]] = sorted_ranks[last[several] - 1]
    if covered.starts is None:
        return Cover(covered.domain, low, high)
    new = np.ones(len(order) + 1, np.bool_)  # whether a label, or a cell, begins here
    new[1:-1] = (np.diff(sorted_ranks) != 0) | (np.diff(owners) != 0)
    alone = np.empty(len(order), np.bool_)
    alone[inside] = new[:-1] & new[1:]
    counts = np.maximum(covered.counts[owners] - alone, 1)
    return Cover(covered.domain, low, high, starts=np.append(0, np.cumsum(counts)))


def leave_groups(task: Task, groups: Groups, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return those of the rows that can leave their groups while everything required still holds.

    Whoever left a group that then breaks a requirement comes back. Where another group is in
    breach, because it is measured against the table, nobody leaves.
    """
    out = np.zeros(len(task.coded), np.bool_)
    out[rows] = True
    while out.any():
        kept = np.flatnonzero(~out)
        if not len(kept):
            return np.empty(0, np.int64)
        labels = groups.labels[kept]
        left = replace(task, coded=task.coded.subset(kept))
        rest = Groups.of(labels)
        wrong = np.zeros(len(groups), np.bool_)
        names = np.empty(len(rest), np.int64)
        names[rest.labels] = labels
        for measured in left.measure(rest):
            wrong[names[measured.breaches]] = True
        if not wrong.any():
            return np.flatnonzero(out)
        back = out & wrong[groups.labels]
        if not back.any():
            return np.empty(0, np.int64)
        out &= ~back
    return np.empty(0, np.int64)
