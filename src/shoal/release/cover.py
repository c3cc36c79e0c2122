"""What cells cover of a column, and what they lose.

Whoever covers rows, the groups of a partition or the recast records of a graph, has one *cell* a
column; several published rows can bear it. A cell is an interval, a node of a hierarchy, or a set
of labels. Its loss is measured by NCP and GCP, the normalized and global certainty penalties, 0 to
1; less is better.

NCP of a cell: interval (high - low) / (max - min of the column); set (labels - 1) / (distinct
labels - 1); node (values under it - 1) / (values - 1), of published rows, or of a population where
one was given; 0 for a column of one value; 1 for every cell of a suppressed row. A cell of missing
numbers alone loses nothing, one of numbers and missing ones everything, 1, whatever its interval
is. GCP is its mean over rows and quasi columns. Where rows are suppressed, the range and the labels
are those of the rows that are published: a wider range would tell what was left out, a narrower one
never flatters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Protocol

import numpy as np

from shoal.exact import with_lost
from shoal.principles.groups import Groups
from shoal.progress import Brief
from shoal.table.coded import widths
from shoal.table.grid import TIGHT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from shoal.release.means import Means
    from shoal.table.coded import Coded, Space
    from shoal.table.column import Column


RUN = 2**20  # covered rows, or listed labels, that are looked at together
BITS = 2**16  # unions whose labels are counted together, at 64 labels


class Covering(Protocol):
    """What cells are made from: cell i covers the rows order[starts[i] : starts[i + 1]]."""

    @property
    def order(self) -> NDArray:
        """The covered rows, cell by cell."""

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each cell begins in `order`, and the end."""


@dataclass(frozen=True, eq=False, repr=False)
class Cover(Brief):
    """What each cell covers of a column.

    `low` and `high` are ranks of the domain; a node is the ranks that it was needed for. A set has
    the labels `listed[starts[i] : starts[i + 1]]`, ascending; where only `starts` is there, it is
    known how many, and not which. Of numbers some of which are missing, which is their highest
    rank, `most` is the highest number covered. `means` are those of the rows of each cell, `named`
    the nodes, where only their names were read.

    Where alike cells are kept once, `which` says the cell of everyone who bears one. `type` is that
    of the ends, where cells that are not here have a say in it too.
    """

    _brief = ("domain", "low")

    domain: Column
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    listed: NDArray[np.int32] | None = None
    starts: NDArray[np.int64] | None = None
    most: NDArray[np.int32] | None = None
    means: Means | None = None
    named: NDArray[np.int32] | None = None
    which: NDArray[np.int32] | None = None
    type: pl.DataType | None = None

    @classmethod
    def of(cls, column: Column, rows: Covering) -> Cover:
        """Return what every cell covers of a column."""
        ranks = column.codes[rows.order]
        starts = rows.starts[:-1]
        low, high = np.minimum.reduceat(ranks, starts), np.maximum.reduceat(ranks, starts)
        if column.gap is not None:
            numbers = np.maximum.reduceat(np.where(ranks == column.gap, -1, ranks), starts)
            most = np.where(numbers < 0, high, numbers).astype(np.int32)
            return cls(column, low, high, most=most)
        if column.numeric or column.tree is not None:
            return cls(column, low, high)
        sizes = np.diff(rows.starts)
        listed, counts = [], []
        for run in _runs(sizes):
            owners = np.repeat(np.arange(run.stop - run.start), sizes[run])
            covered = ranks[rows.starts[run.start] : rows.starts[run.stop]]
            cell, rank = np.divmod(np.unique(owners * column.distinct + covered), column.distinct)
            listed.append(rank.astype(np.int32))
            counts.append(np.bincount(cell))
        return cls(column, low, high, np.concatenate(listed), _starts(np.concatenate(counts)))

    @classmethod
    def of_lists(cls, domain: Column, listed: NDArray, counts: NDArray[np.int64]) -> Cover:
        """Take sets of labels, so many in each, one after the other."""
        starts, ranks = _starts(counts), listed.astype(np.int32)
        return cls(domain, ranks[starts[:-1]], ranks[starts[1:] - 1], ranks, starts)

    @classmethod
    def of_runs(cls, domain: Column, low: NDArray, high: NDArray) -> Cover:
        """Return sets of all labels between two, in the order of the labels."""
        counts = high - low + 1
        begins = np.cumsum(counts) - counts
        ranks = np.arange(counts.sum()) + np.repeat(low - begins, counts)
        return cls.of_lists(domain, ranks, counts)

    @classmethod
    def of_values(cls, column: Column) -> Cover:
        """Return the values of a column as cells, of which every row bears its own."""
        ranks = np.arange(column.distinct, dtype=np.int32)
        if column.numeric or column.tree is not None:
            return cls(column, ranks, ranks, which=column.codes)
        found = cls.of_lists(column, ranks, np.ones(len(ranks), np.int64))
        return replace(found, which=column.codes)

    def __len__(self) -> int:
        return len(self.low)

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many labels each set has."""
        assert self.starts is not None
        return np.diff(self.starts)

    @property
    def owners(self) -> NDArray[np.int64]:
        """The cell of each listed label."""
        return np.repeat(np.arange(len(self)), self.counts)

    @property
    def ranks(self) -> NDArray[np.int32]:
        """The listed labels."""
        assert self.listed is not None
        return self.listed

    @property
    def borne(self) -> NDArray[np.int32]:
        """The cell of everyone who bears one."""
        assert self.which is not None
        return self.which

    @property
    def top(self) -> NDArray[np.int32]:
        """The highest number that each cell covers, where it covers any."""
        return self.high if self.most is None else self.most

    @property
    def mixed(self) -> NDArray[np.bool_]:
        """Which cells cover numbers and missing ones."""
        return self.top != self.high

    @property
    def gaps(self) -> NDArray[np.bool_]:
        """Which cells cover missing numbers, with others or alone."""
        return self.high == (-1 if self.domain.gap is None else self.domain.gap)

    @property
    def alone(self) -> NDArray[np.bool_]:
        """Which cells cover missing numbers alone."""
        return self.low == (-1 if self.domain.gap is None else self.domain.gap)

    @property
    def nodes(self) -> NDArray[np.int32]:
        """The node of each cell of a column with a hierarchy."""
        return self.domain.nodes(self.low, self.high) if self.named is None else self.named

    def labels(self) -> tuple[NDArray[np.int64], NDArray, NDArray[np.int64]]:
        """Return cell and rank of every label that a cell covers, and how many each cell does.

        A node covers the labels under it that the column has.
        """
        tree, places = self.domain.tree, self.domain.places
        if tree is None or places is None:
            return self.owners, self.ranks, self.counts
        nodes = self.nodes
        first = np.searchsorted(places, tree.first[nodes])
        counts = np.searchsorted(places, tree.last[nodes], side="right") - first
        cell = np.repeat(np.arange(len(nodes)), counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return cell, first[cell] + within, counts

    def ends(self) -> NDArray[np.int32]:
        """Return the ranks that stand at an end of some cell, ascending."""
        return np.unique(np.concatenate([self.low, self.top]))

    def numbers(self) -> tuple[Cover, NDArray[np.bool_]]:
        """Return what cells cover of the numbers alone, and which cover any.

        A cell of missing numbers alone seems to cover the highest number.
        """
        if self.domain.gap is None:
            return self, np.ones(len(self), np.bool_)
        last = np.int32(self.domain.gap - 1)
        known = replace(self.domain, spellings=self.domain.known)
        ends = np.minimum(self.low, last), np.minimum(self.top, last)
        return Cover(known, *ends), self.low <= last

    def only(self, chosen: NDArray) -> Cover:
        """Return what some cells cover."""
        found = replace(
            self,
            low=self.low[chosen],
            high=self.high[chosen],
            most=None if self.most is None else self.most[chosen],
            means=None if self.means is None else self.means.only(chosen),
            named=None if self.named is None else self.named[chosen],
            which=None,
        )
        if self.starts is None:
            return found
        counts = self.counts[chosen]
        starts = _starts(counts)
        places = np.arange(starts[-1]) + np.repeat(self.starts[:-1][chosen] - starts[:-1], counts)
        return replace(found, listed=self.ranks[places], starts=starts)

    def union(self, one: NDArray[np.int64], other: NDArray[np.int64]) -> Cover:
        """Return what pairs of cells cover together; of labels, how many."""
        low = np.minimum(self.low[one], self.low[other])
        high = np.maximum(self.high[one], self.high[other])
        if self.starts is None:
            return Cover(self.domain, low, high)
        bits = np.zeros((len(self), -(-self.domain.distinct // 8)), np.uint8)
        marks = (1 << (self.ranks % 8)).astype(np.uint8)
        np.bitwise_or.at(bits, (self.owners, self.ranks // 8), marks)
        counts = np.empty(len(one), np.int64)
        step = max(1, BITS * 8 // bits.shape[1])
        for begin in range(0, len(one), step):
            part = slice(begin, begin + step)
            counts[part] = np.bitwise_count(bits[one[part]] | bits[other[part]]).sum(axis=1)
        return Cover(self.domain, low, high, starts=_starts(counts))

    def contains(self, places: NDArray[np.int64], at: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which places the cell `at` each of them covers.

        A rank r has the place 2 r + 1, what lies before it 2 r; that of a tree is one of its own.
        """
        domain, low = self.domain, self.low.astype(np.int64)
        if domain.tree is not None:
            nodes = self.nodes[at]
            return (domain.tree.first[nodes] <= places) & (places <= domain.tree.last[nodes])
        if self.starts is not None:
            keys = self.owners * domain.distinct + self.ranks
            wanted = at * domain.distinct + places // 2
            hit = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            return (places >= 0) & (keys[hit] == wanted)
        numbers = (2 * low[at] < places) & (places <= 2 * self.top.astype(np.int64)[at] + 1)
        if domain.gap is None:
            return numbers
        return numbers | (self.gaps[at] & (places == 2 * domain.gap + 1))

    def loss(self) -> NDArray[np.float64]:
        """Return the NCP of each cell."""
        if self.domain.tree is not None:
            return self.domain.tree.ncp[self.nodes]
        if self.starts is not None:
            return (self.counts - 1) / max(self.domain.distinct - 1, 1)
        return widths(self.domain, self.low, self.high)

    def cost(self, space: Space, place: int, *, promised: bool = False) -> NDArray[np.float64]:
        """Return the NCP of each cell as a search weighs it: the column at a place of a space.

        `promised` takes for a node the mean of its NCP and of the share of labels between its ends,
        as searches for the least loss do (`kernels.space.promise`).
        """
        unit, low, high = space.units[place], self.low.astype(np.int64), self.high.astype(np.int64)
        if self.domain.tree is not None:
            found = self.loss() * (unit * max(self.domain.distinct - 1, 1))
            return (found + (high - low) * unit) / 2 if promised else found
        if self.starts is not None:
            return (self.counts - 1) * unit
        coords = space.coords[space.offsets[place] : space.offsets[place + 1]]
        return np.minimum(coords[high] - coords[low], unit)

    def distinct(self) -> Cover:
        """Return the different cells: few of many groups differ in one column alone."""
        if self.means is not None:
            plain = replace(self, means=None).distinct()
            _, places = np.unique(self.means.units, return_inverse=True)
            keys = plain.borne.astype(np.int64) * (places.max() + 1) + places
            _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        elif self.domain.tree is not None:
            _, first, which = np.unique(self.nodes, return_index=True, return_inverse=True)
        elif self.starts is None:
            keys = self.low.astype(np.int64) * self.domain.distinct + self.top
            keys = keys * 2 + self.mixed
            if self.named is not None:  # two nodes may cover the same values
                keys = keys * (int(self.named.max(initial=0)) + 1) + self.named
            _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        else:
            for chance in count():
                weights = np.random.default_rng(chance).integers(
                    2**64, size=self.domain.distinct, dtype=np.uint64
                )
                sums = self._sums(weights)
                _, first, which = np.unique(sums, return_index=True, return_inverse=True)
                if self._same(first[which]):
                    break
        return replace(self.only(first), which=which.astype(np.int32))

    def _sums(self, weights: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the sum of the weights of each cell's labels, modulo 2**64.

        With random weights different sets hardly ever have one sum; whoever relies on it has to
        look.
        """
        assert self.starts is not None
        sums = [
            np.add.reduceat(weights[self.ranks[part]], self.starts[run] - part.start)
            for run, part in self._parts()
        ]
        return np.concatenate(sums)

    def _same(self, others: NDArray) -> bool:
        """Return whether every cell lists the same labels as some other cell."""
        if (self.counts != self.counts[others]).any():
            return False
        return all(
            np.array_equal(self.ranks[part], self.only(others[run]).ranks)
            for run, part in self._parts()
        )

    def _parts(self) -> Iterator[tuple[slice, slice]]:
        """Yield runs of cells, and where their labels are listed."""
        assert self.starts is not None
        for run in _runs(self.counts):
            yield run, slice(int(self.starts[run.start]), int(self.starts[run.stop]))


def covers(coded: Coded, quasi: Sequence[Column], found: Covering) -> list[Cover]:
    """Return what cells cover of quasi columns, as the table says that they are drawn.

    Columns of regions have the points of their grid for values, too.
    """
    if coded.cells == TIGHT or not isinstance(found, Groups):
        return [Cover.of(column, found) for column in quasi]
    from shoal.release.regions import regions

    return regions(coded, found)


def mean_over_rows(by_cell: NDArray[np.float64], rows: NDArray[np.int64], suppressed: int) -> float:
    """Return the mean over all rows, a suppressed row counting as lost entirely.

    `rows` counts the published rows that bear each cell.
    """
    return with_lost(float((by_cell * rows).sum() / rows.sum()), int(rows.sum()), suppressed)


def _starts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where lists of so many begin that stand one after the other, and the end."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _runs(sizes: NDArray[np.int64]) -> Iterator[slice]:
    """Yield runs of cells; the sizes of each run add up to about `RUN`."""
    number = np.cumsum(sizes) // RUN
    bounds = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(sizes)]
    return map(slice, bounds[:-1], bounds[1:])


def certainty(coded: Coded, groups: Groups, *, promised: bool = False) -> NDArray[np.float64]:
    """Return the NCP of each group's description, a column each, as the weights of columns say."""
    found = [
        Cover.of(column, groups).cost(coded.space, j, promised=promised)
        for j, column in enumerate(coded.quasi)
    ]
    return np.column_stack(found)
