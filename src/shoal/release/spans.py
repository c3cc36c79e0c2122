"""What cells cover of a column, and which of them are alike.

Whoever covers rows, the groups of a partition or the recast records of a graph, has one *cell* a
column; several published rows can bear it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from shoal.schema.coding import Column

RUN = 2**20  # covered rows, or listed labels, that are looked at together


class Cover(Protocol):
    """What cells are made from: cell i covers the rows order[starts[i] : starts[i + 1]]."""

    @property
    def order(self) -> NDArray:
        """The covered rows, cell by cell."""

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each cell begins in `order`, and the end."""

    def __len__(self) -> int: ...


@dataclass(frozen=True, eq=False)
class Spans:
    """What each cell covers of one column.

    `low` and `high` are ranks. For a categorical column `ranks` lists the covered labels, cell by
    cell and ascending in each, and `labels` counts them by cell.
    """

    low: NDArray[np.int32]
    high: NDArray[np.int32]
    ranks: NDArray[np.int32] | None = None
    labels: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.low)

    def listed(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        """Return the cell and the rank of each listed label, and how many labels cells have."""
        assert self.ranks is not None
        assert self.labels is not None
        return np.repeat(np.arange(len(self)), self.labels), self.ranks, self.labels

    def only(self, chosen: NDArray) -> Spans:
        """Return what some cells cover."""
        low, high = self.low[chosen], self.high[chosen]
        if self.ranks is None or self.labels is None:
            return Spans(low, high)
        labels = self.labels[chosen]
        ends = np.cumsum(labels)
        begins = np.cumsum(self.labels)[chosen] - labels
        places = np.arange(ends[-1]) + np.repeat(begins - (ends - labels), labels)
        return Spans(low, high, self.ranks[places], labels)


def spans(column: Column, cover: Cover) -> Spans:
    """Return what every cell covers of a column."""
    ranks = column.codes[cover.order]
    starts = cover.starts[:-1]
    low, high = np.minimum.reduceat(ranks, starts), np.maximum.reduceat(ranks, starts)
    if column.numeric or column.tree is not None:
        return Spans(low, high)
    sizes = np.diff(cover.starts)
    listed, labels = [], []
    for run in _runs(sizes):
        owners = np.repeat(np.arange(run.stop - run.start), sizes[run])
        covered = ranks[cover.starts[run.start] : cover.starts[run.stop]]
        cell, rank = np.divmod(np.unique(owners * column.distinct + covered), column.distinct)
        listed.append(rank.astype(np.int32))
        labels.append(np.bincount(cell))
    return Spans(low, high, np.concatenate(listed), np.concatenate(labels))


def _runs(sizes: NDArray[np.int64]) -> Iterator[slice]:
    """Yield runs of cells; the sizes of each run add up to about `RUN`."""
    number = np.cumsum(sizes) // RUN
    bounds = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(sizes)]
    return map(slice, bounds[:-1], bounds[1:])


@dataclass(frozen=True, eq=False)
class Kinds:
    """The different cells of one column: what each covers, and which one every cell is."""

    spans: Spans
    which: NDArray[np.int32]


def kinds(column: Column, covered: Spans) -> Kinds:
    """Return the different cells of a column: few of many groups differ in one column alone."""
    if covered.ranks is None:
        keys = covered.low.astype(np.int64) * column.distinct + covered.high
        found, which = np.unique(keys, return_inverse=True)
        low, high = np.divmod(found, column.distinct)
        return Kinds(Spans(low.astype(np.int32), high.astype(np.int32)), which.astype(np.int32))
    for chance in count():
        weights = np.random.default_rng(chance).integers(
            2**64, size=column.distinct, dtype=np.uint64
        )
        _, first, which = np.unique(_sums(covered, weights), return_index=True, return_inverse=True)
        if _same(covered, first[which]):
            break
    return Kinds(covered.only(first), which.astype(np.int32))


def _sums(covered: Spans, weights: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the sum of the weights of each cell's labels, modulo 2**64.

    With random weights different sets hardly ever have one sum; whoever relies on it has to look.
    """
    assert covered.ranks is not None
    assert covered.labels is not None
    starts = np.cumsum(covered.labels) - covered.labels
    sums = [
        np.add.reduceat(weights[covered.ranks[part]], starts[run] - part.start)
        for run, part in _parts(covered.labels)
    ]
    return np.concatenate(sums)


def _same(covered: Spans, others: NDArray) -> bool:
    """Return whether every cell lists the same labels as some other cell."""
    assert covered.ranks is not None
    assert covered.labels is not None
    if (covered.labels != covered.labels[others]).any():
        return False
    return all(
        np.array_equal(covered.ranks[part], covered.only(others[run]).ranks)  # type: ignore[arg-type]
        for run, part in _parts(covered.labels)
    )


def _parts(labels: NDArray[np.int64]) -> Iterator[tuple[slice, slice]]:
    """Yield runs of cells, and where their labels are listed."""
    ends = np.cumsum(labels)
    for run in _runs(labels):
        yield run, slice(int(ends[run.start] - labels[run.start]), int(ends[run.stop - 1]))
