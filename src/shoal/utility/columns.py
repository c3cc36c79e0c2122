"""Columns as a query sees them: published cells that spread, and values that are exact.

A number in [low, high] is taken to be any of the numbers between, all alike, in steps of the
column's finest published decimal: whole numbers in steps of 1 ([20, 29] holds ten of them), 2.5 and
3 in steps of 0.1; dates in days. A label in a set is any of its labels, and a node of a hierarchy
any of the labels under it, all alike. Where a cell covers missing numbers beside others, missing is
one value more; it satisfies no comparison. Within a row columns are taken
to be independent (LeFevre, DeWitt, Ramakrishnan: Mondrian. ICDE 2006; EM Section 6). Where the
mean of a group is published beside the ends, `tilted` says how it is used; where a cell is several
times as wide as is usual in its column, `gathered` says where its rows are taken to lie.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.cells import domain_ends, interval_ends, interval_means, read_cover
from shoal.table.coding import NUMBER, code_column
from shoal.table.missing import MISSING_LABEL, is_missing
from shoal.utility.sets import Leaves, Numbers, Set, StatedLeaves, Steps, unreadable
from shoal.utility.tilted import Stretched, Tilted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shoal.release.cover import Cover
    from shoal.release.stated import StatedColumn
    from shoal.table.column import Column
    from shoal.table.groupings import Hierarchy


@dataclass(frozen=True, eq=False)
class Exact:
    """A column whose values are known: ranks, one more than there are values where one is missing.

    A missing label is a label like any other; a missing number satisfies no comparison.
    """

    name: str
    codes: NDArray[np.int32]
    values: NDArray | None  # numbers, or whole units of time, `per_day` of them to a day
    labels: pl.Series
    dates: bool = False
    per_day: int = 1

    @classmethod
    def of(
        cls,
        cells: pl.Series,
        *,
        kind: str | None = None,
        order: Sequence[str] | None = None,
        hierarchy: Hierarchy | None = None,
    ) -> Exact:
        """Code a column; with a hierarchy it holds labels, in the order of the tree."""
        known = (~is_missing(cells)).to_numpy()
        column = code_column(cells.filter(known), kind=kind, order=order)
        if not column.numeric or not column.distinct:
            known = np.ones(len(cells), bool)
            column = code_column(cells, kind="categorical", order=order)
        if hierarchy is not None:
            column = column.under(hierarchy)
        codes = np.full(len(cells), column.distinct, np.int32)
        codes[known] = column.codes
        return cls.from_column(replace(column, codes=codes))

    @classmethod
    def from_column(cls, column: Column) -> Exact:
        """Take a column as it is coded."""
        values = column.exact if column.numeric else None
        return cls(column.name, column.codes, values, column.known, column.dates, column.per_day)

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers."""
        return self.values is not None

    @cached_property
    def rank_of(self) -> dict[str, int]:
        """The rank of each label."""
        return {label: rank for rank, label in enumerate(self.labels)}

    @cached_property
    def ends(self) -> tuple[int, int, Fraction]:
        """The first and last unit of the domain, and how many there are to a number."""
        if not self.numeric:
            return 0, len(self.labels) - 1, Fraction(1)
        steps = Steps.of(self.labels, dates=self.dates)
        first, last = steps.places(self.labels[[0, -1]]).tolist()
        return int(first) + steps.origin, int(last) + steps.origin, steps.units

    def named(self, label: str) -> frozenset[str] | None:
        """Return the labels that go by a name, None where none does."""
        return frozenset({label}) if label in self.rank_of else None

    def sized(self, wanted: Numbers) -> frozenset[str] | None:  # noqa: ARG002 - as a tree's labels
        """Return the labels that are numbers in a set, None where labels are no numbers."""
        return None

    def ranges(self, wanted: Set) -> list[tuple[int, int]]:
        """Return the values that a query asks for as ranges of ranks, both ends included."""
        if isinstance(wanted, Numbers):
            assert self.values is not None
            return wanted.ranges(self.values, self.per_day)
        ranks = np.sort([self.rank_of[label] for label in wanted if label in self.rank_of])
        runs = np.split(ranks, np.flatnonzero(np.diff(ranks) > 1) + 1)
        return [(int(run[0]), int(run[-1])) for run in runs if len(run)]


@dataclass(frozen=True, eq=False)
class Intervals:
    """The distinct cells of a numeric quasi column, or one of dates, in whole steps.

    A cell of missing numbers alone has ends all the same, which say nothing; its cover knows it.
    """

    cover: Cover
    lows: NDArray[np.float64]
    highs: NDArray[np.float64]
    steps: Steps
    span: float  # units from the least to the greatest number
    tilted: Tilted | None = None  # what means tell beside the ends
    gathered: Stretched | None = None  # where rows lie in cells that are wide beside the usual ones

    numeric = True
    labels = pl.Series([], dtype=pl.String)

    @classmethod
    def of(cls, cover: Cover) -> Intervals:
        """Count what cells cover in the finest decimal of their ends."""
        numbers, _ = cover.numbers()
        spellings = numbers.domain.spellings
        shown = np.union1d(numbers.ends(), [0, len(spellings) - 1])
        steps = Steps.of(spellings.gather(shown), dates=cover.domain.dates)
        places = steps.places(spellings)
        span = float(places[-1] - places[0] + 1)
        return cls(cover, places[numbers.low], places[numbers.high], steps, span)

    def with_means(
        self, which: NDArray, means: NDArray[np.float64], rows: NDArray[np.int64]
    ) -> Intervals:
        """Return a cell for each group, which one it bears, with the mean of so many rows.

        Where numbers are missing, one row has none.
        """
        cover, lows, highs = self.cover.only(which), self.lows[which], self.highs[which]
        known = rows.astype(np.float64)
        if self.missing:
            known, means = np.maximum(known - cover.mixed, 1), np.where(cover.alone, lows, means)
        tilted = Tilted.of(lows, highs, means, known, held=0 if self.region else 2)
        return replace(self, cover=cover, lows=lows, highs=highs, tilted=tilted)

    def borne(self, rows: NDArray) -> Intervals:
        """Return the cells with what is known of them by how many rows bear each."""
        known = rows.astype(np.float64) * ~self.cover.alone
        if self.tilted is not None or self.region or not known.any():
            return self
        return replace(self, gathered=Stretched.of(self.lows, self.highs, known))

    @property
    def dates(self) -> bool:
        """Whether the values are dates."""
        return self.steps.dates

    @property
    def missing(self) -> bool:
        """Whether some numbers are missing."""
        return self.cover.domain.gap is not None

    @property
    def region(self) -> bool:
        """Whether cells are regions: then nobody has to lie at their ends."""
        return self.cover.domain.step is not None

    @property
    def sizes(self) -> NDArray[np.float64]:
        """How many units each cell holds, missing being one."""
        return self.holding(self.highs - self.lows + 1)

    def holding(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how many values cells hold that hold so many numbers, missing being one more."""
        return np.where(self.cover.alone, 1.0, numbers + self.cover.gaps)

    @property
    def extent(self) -> float:
        """The units of the whole domain, missing being one."""
        return self.span + self.missing

    def wide(self) -> tuple[NDArray[np.float64], float]:
        """Return how wide each cell is, and the whole column; missing ones may be any number."""
        unit, cover = float(self.steps.units), self.cover
        whole = float((self.span - 1) / unit)
        widths = np.where(cover.alone, 0.0, (self.highs - self.lows) / unit)
        return np.where(cover.mixed, whole, widths), whole

    def known(self) -> NDArray[np.float64] | float:
        """Return which part of each cell's rows is taken to have a number."""
        return np.where(self.cover.gaps, 1 - 1 / self.sizes, 1.0) if self.missing else 1.0

    def runs(self, wanted: Set) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the runs of units that a query asks for: where each begins, and its last one."""
        assert isinstance(wanted, Numbers)
        return wanted.units(self.steps.units, self.steps.origin)

    def reached(self, wanted: Set) -> NDArray[np.float64]:
        """Return which part of the units of each cell a query asks for."""
        from shoal.kernels.queries import interval_shares

        shares = np.empty(len(self.lows))
        interval_shares(self.lows, self.highs, *self.runs(wanted), shares)
        return shares

    def shares(self, wanted: Set) -> NDArray[np.float64]:
        """Return which part of the rows of each cell a query asks for."""
        if self.tilted is not None:
            return self.tilted.shares(*self.runs(wanted)) * self.known()
        shares = self.reached(wanted)
        if self.gathered is not None:
            self.gathered.correct(self.lows, self.highs, *self.runs(wanted), shares)
        return shares * self.known()


@dataclass(frozen=True, eq=False)
class Sets:
    """The distinct cells of a categorical quasi column; `held` are the labels that each stands for.

    With a hierarchy, these are the leaves under nodes, in tree order.
    """

    cover: Cover
    held: Cover
    leaves: Leaves | None = None

    numeric = False
    dates = False

    @classmethod
    def of(cls, cover: Cover, leaves: Leaves | None = None) -> Sets:
        """Take sets, or nodes, each of which stands for the leaves under it."""
        return cls(cover, cover if leaves is None else leaves.under(cover), leaves)

    @property
    def labels(self) -> pl.Series:
        """All labels there are."""
        return self.held.domain.spellings

    @property
    def extent(self) -> float:
        """The labels in the whole domain."""
        return float(len(self.labels))

    @property
    def sizes(self) -> NDArray[np.float64]:
        """How many labels each cell holds."""
        return self.held.counts.astype(np.float64)

    def wide(self) -> tuple[NDArray[np.float64], float]:
        """Return how many labels each cell covers, and how many there are."""
        return self.sizes, self.extent

    @cached_property
    def rank_of(self) -> dict[str, int]:
        """The rank of each label."""
        return {label: rank for rank, label in enumerate(self.labels)}

    def named(self, label: str) -> frozenset[str] | None:
        """Return the labels that go by a name, a node's among them; None where none does."""
        if self.leaves is None or label in self.rank_of:
            return frozenset({label}) if label in self.rank_of else None
        if label in self.leaves.node:
            return frozenset(self.labels[slice(*self.leaves.run(label))])
        rank = self.leaves.rank(label)
        return None if rank is None else frozenset({self.labels[rank]})

    def sized(self, wanted: Numbers) -> frozenset[str] | None:
        """Return the labels that are numbers in a set, None where labels are no numbers.

        Numbers are labels under a hierarchy, and where some of them are missing.
        """
        known = self.labels.filter(self.labels != MISSING_LABEL)
        if not known.str.contains(NUMBER).all():
            return None
        return frozenset(label for label in known if Fraction(label) in wanted)

    def shares(self, wanted: Set) -> NDArray[np.float64]:
        """Return which part of each cell a query asks for."""
        from shoal.kernels.queries import label_shares

        if isinstance(wanted, Numbers):
            wanted = self.sized(wanted) or frozenset()
        marks = np.zeros(len(self.labels), np.uint8)
        ranks = self.rank_of.get if self.leaves is None else self.leaves.rank
        marks[[rank for rank in map(ranks, wanted) if rank is not None]] = 1
        shares = np.empty(len(self.held))
        assert self.held.starts is not None
        label_shares(self.held.starts, self.held.ranks, marks, shares)
        return shares


Spread = Intervals | Sets


def spread_over(cover: Cover) -> Spread:
    """Return cells that never were text as a query sees them, nodes with the labels under them."""
    if cover.domain.tree is not None:
        return Sets.of(cover, Leaves.of(cover.domain))
    return Intervals.of(cover) if cover.domain.numeric else Sets.of(cover)


def take_cells(cover: Cover, rows: NDArray[np.int64]) -> tuple[Spread, NDArray[np.int64]]:
    """Return the cells of a release in memory, and which of them each group of so many rows has."""
    spread, means = spread_over(cover), cover.means
    if means is None or not isinstance(spread, Intervals):
        return spread, cover.borne.astype(np.int64)
    from shoal.release.means import mean_texts

    places = spread.steps.exact_places(mean_texts(cover.domain, means.only(cover.borne)))
    each = np.stack([cover.borne, places, rows])  # groups that a reader sees as one cell are one
    _, first, which = np.unique(each, axis=1, return_index=True, return_inverse=True)
    cells = spread.with_means(cover.borne[first], places[first], rows[first])
    return cells, which.ravel().astype(np.int64)


def how_wide(spread: Spread, rows: NDArray) -> dict[str, float]:
    """Return how much cells cover that so many rows bear: numbers their width, labels how many."""
    with np.errstate(over="ignore"):  # numbers may be as large as doubles are
        wide, whole = spread.wide()
        exact = spread.sizes == 1
    wide = np.nan_to_num(wide)
    order = np.argsort(wide, kind="stable")
    reached = np.cumsum(rows[order])
    half, most = wide[order[np.searchsorted(reached, np.array([0.5, 0.9]) * reached[-1])]].tolist()
    return {
        "exact": float(rows[exact].sum() / reached[-1]),
        "half": half,
        "ninety": most,
        "widest": float(wide[order[-1]]),
        "whole": float(np.nan_to_num(whole)),
    }


def read_cells(
    cells: pl.Series,
    stated: StatedColumn,
    rows: NDArray[np.int64] | None = None,
) -> tuple[Spread, NDArray[np.int64]]:
    """Return the distinct cells of a quasi column and which of them each row bears.

    `rows` says how many rows the group of each has, where the cells have means: then cells differ
    by that too.
    """
    cells = cells.cast(pl.String).fill_null(MISSING_LABEL)
    texts = cells.unique().sort()
    which = cells.cast(pl.Enum(texts)).to_physical().to_numpy().astype(np.int64)
    cover, outside = read_cover(texts, stated)
    if outside.any():
        raise unreadable(stated.name)
    if stated.kind == "node":
        return Sets.of(cover, StatedLeaves(cover, stated)), which
    if not stated.has_ends:
        return Sets.of(cover), which
    found = Intervals.of(cover)
    if rows is None:
        return found, which
    most = int(rows.max()) + 1
    keys, which = np.unique(which * most + rows, return_inverse=True)
    place, count = np.divmod(keys, most)
    low = interval_ends(texts)[0].fill_null(domain_ends(stated)[0])
    means = found.steps.exact_places(interval_means(texts).fill_null(low))
    return found.with_means(place, means[place], count), which
