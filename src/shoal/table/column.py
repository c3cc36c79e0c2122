"""A coded column: distinct values in order, how each is spelled, the rank of every row.

Its `Domain` is what it can hold, apart from the rows of any table: sorted distinct values, how they
are spelled, and the tree over them. Missing numbers have the rank after all numbers, and no value.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.progress import Brief
from shoal.table.decimals import first_alike
from shoal.table.missing import MISSING_LABEL

if TYPE_CHECKING:
    from decimal import Decimal

    from numpy.typing import NDArray

    from shoal.table.groupings import Hierarchy
    from shoal.table.hierarchy import Tree


INTEGER = r"^-?(0|[1-9][0-9]*)$"


def hierarchy_of(said: object) -> Hierarchy:
    """Return a hierarchy as it is said of a column."""
    from shoal.table.groupings import Hierarchy

    return Hierarchy.of(said)


@dataclass(frozen=True, eq=False)
class Domain:
    """The values of a column, apart from any table's codes; a shard is a domain and some codes.

    `values` are numbers for a numeric column, whole units of time for one of dates (`per_day` of
    them to a day), and None for a categorical one; `spellings` are the texts that stand for the
    ranks; `ordered` ones are labels in an order that was given. A column with a hierarchy has a
    `tree` and the place of each rank in it, ascending; its values are labels. Where numbers are
    missing, there is a spelling more than there are values: the last rank is theirs. `step` and
    `bounds` are what is publicly said of where a numeric column can be cut (`table/grid.py`).
    """

    name: str
    values: NDArray[np.int64] | NDArray[np.float64] | None
    spellings: pl.Series
    dates: bool = field(default=False, kw_only=True)
    per_day: int = field(default=1, kw_only=True)
    tree: Tree | None = field(default=None, kw_only=True)
    places: NDArray[np.int64] | None = field(default=None, kw_only=True)
    ordered: bool = field(default=False, kw_only=True)
    step: Decimal | None = field(default=None, kw_only=True)
    bounds: tuple[Any, Any] | None = field(default=None, kw_only=True)

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers or days."""
        return self.values is not None

    @property
    def gap(self) -> int | None:
        """The rank of missing numbers, the last one; None where no number is missing."""
        if self.values is None or len(self.values) == len(self.spellings):
            return None
        return len(self.values)

    @cached_property
    def missing(self) -> int | None:
        """The rank of missing cells, numbers or labels; None where none is missing."""
        if self.values is not None:
            return self.gap
        where = (self.spellings == MISSING_LABEL).arg_true()
        return int(where[0]) if len(where) else None

    @cached_property
    def alike(self) -> NDArray[np.int32] | None:
        """For each label the first one that writes the same number; None where no two do.

        `5`, `05`, `+5`, `5.0` and `5,0` are one number to a reader. An order that was given tells
        them apart.
        """
        if self.values is not None or self.ordered:
            return None
        found = first_alike(self.spellings)
        if found is None:
            return None
        return frozen(found)

    @property
    def numbers(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """The values of a numeric column, those of dates in days, as distances take them."""
        assert self.values is not None
        return self.values if self.per_day == 1 else self.values / self.per_day

    @cached_property
    def exact(self) -> NDArray:
        """The values of a numeric column to be compared with others: integers of any size."""
        assert self.values is not None
        if self.values.dtype == np.int64 or not self.known.str.contains(INTEGER).all():
            return self.values
        return np.array([int(text) for text in self.known], object)

    @property
    def distinct(self) -> int:
        """How many distinct values there are, missing numbers being one."""
        return len(self.spellings)

    @property
    def known(self) -> pl.Series:
        """The texts of all ranks but that of missing numbers."""
        return self.spellings[: self.gap]

    @property
    def domain(self) -> Domain:
        """The domain alone, without anybody's codes."""
        return Domain(**{one.name: getattr(self, one.name) for one in fields(Domain)})

    def nodes(self, low: NDArray[np.int32], high: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the lowest node of the hierarchy over each range of ranks."""
        assert self.tree is not None
        assert self.places is not None
        return self.tree.nodes(self.places[low], self.places[high])


@dataclass(frozen=True, eq=False, repr=False)
class Column(Brief, Domain):
    """One column of a table: its domain, and the rank of every row (`codes`).

    A column with a hierarchy knows what its tree was `grown` from, and one in which a value is
    spelled in several ways, which `wordings` its rows have. Where codes are those of distinct
    cells, and rows are elsewhere, `times` says how many rows have each cell. Of some rows of a
    table, `offered` is the column of all of them: it is what distances are scaled by.
    """

    _brief = ("name", "codes")

    codes: NDArray[np.int32]
    grown: Grown | None = field(default=None, kw_only=True)
    wordings: Wordings | None = field(default=None, kw_only=True)
    times: NDArray[np.int64] | None = field(default=None, kw_only=True)
    offered: Column | None = field(default=None, kw_only=True)

    @property
    def whole(self) -> Column:
        """The column of all rows that were offered, so that every part has one scale."""
        return self if self.offered is None else self.offered

    @property
    def width(self) -> float:
        """How far the numbers of all rows that were offered are apart, those of dates in days."""
        values = self.whole.values
        assert values is not None
        return float(values[-1].item() - values[0].item()) / self.per_day

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many rows have each value."""
        return np.bincount(self.codes, weights=self.times, minlength=self.distinct).astype(np.int64)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.codes) if self.times is None else int(self.times.sum())

    def part(self, rows: NDArray[np.int64]) -> Column:
        """Return the column of some rows, over the same domain."""
        wordings = None if self.wordings is None else self.wordings.part(rows)
        grown = self.grown and replace(self.grown, source=self.grown.source.part(rows))
        return replace(
            self,
            codes=self.codes[rows],
            wordings=wordings,
            grown=grown,
            times=None,
            offered=self.whole,
        )

    def present(self, rows: NDArray[np.int64]) -> Column:
        """Return the column of some rows, none of which is missing, over all values but missing."""
        found = self.part(rows)
        if self.missing is None:
            return found
        kept = [rank for rank in range(self.distinct) if rank != self.missing]
        codes = found.codes - (found.codes > self.missing)
        return replace(found, codes=frozen(codes), spellings=self.spellings.gather(kept))

    def among(self, people: Column) -> Column:
        """Return the column with a place in its tree, if it has one, for the values of people."""
        grown = self.grown
        return self if grown is None else grown.source.under(grown.hierarchy, people)

    def only(self, rows: NDArray[np.int64]) -> Column:
        """Return the column of some rows, with just the values that they have.

        Its tree is grown anew: names and counts of nodes tell nothing of the other rows, nor do
        spellings that only they have.
        """
        if self.grown is not None:
            return self.grown.source.only(rows).under(self.grown.hierarchy, self.grown.people)
        present, codes = np.unique(self.codes[rows], return_inverse=True)
        if self.gap is not None and (present == self.gap).all():
            bare = replace(self, values=None, dates=False, per_day=1, step=None, bounds=None)
            return bare.only(rows)  # no number is left
        wordings = None if self.wordings is None else self.wordings.only(rows, present)
        return replace(
            self,
            codes=frozen(codes.astype(np.int32)),
            times=None if self.times is None else self.times[rows],
            values=None
            if self.values is None
            else frozen(self.values[present[present != self.gap]]),
            spellings=self.spellings.gather(present) if wordings is None else wordings.shortest(),
            wordings=wordings,
            offered=self.whole,
        )

    def under(self, hierarchy: Hierarchy, people: Column | None = None) -> Column:
        """Return the column as labels of a hierarchy, its ranks in the order of the tree.

        A missing cell is a label under the root, unless the hierarchy has a place for it. `people`
        have values of the same kind, which stand under the nodes that cover them.
        """
        from shoal.table.placing import place

        placed = place(self, hierarchy, people)
        order = np.argsort(placed.places)
        ranks = np.empty(len(order), np.int32)
        ranks[order] = np.arange(len(order), dtype=np.int32)
        return Column(
            self.name,
            None,
            self.spellings.gather(order),
            frozen(ranks[self.codes]),
            times=self.times,
            tree=placed.tree,
            places=frozen(placed.places[order]),
            grown=Grown(self, hierarchy, people, placed.standing),
        )


@dataclass(frozen=True, eq=False)
class Wordings:
    """The texts of a column in which a value has several, the rank of each, and each row's text."""

    texts: pl.Series
    ranks: NDArray[np.int64]
    rows: NDArray[np.int64]

    def part(self, rows: NDArray[np.int64]) -> Wordings:
        """Return the texts of some rows."""
        return replace(self, rows=self.rows[rows])

    def only(self, rows: NDArray[np.int64], present: NDArray[np.int32]) -> Wordings:
        """Return the texts of some rows alone, whose values are those of the ranks `present`."""
        there, rows = np.unique(self.rows[rows], return_inverse=True)
        ranks = np.searchsorted(present, self.ranks[there])
        return Wordings(self.texts.gather(there), ranks, rows)

    def shortest(self) -> pl.Series:
        """Return for each rank the shortest of its texts."""
        return (
            pl.DataFrame({"rank": self.ranks, "text": self.texts})
            .sort(pl.col("text").str.len_bytes(), "text")
            .unique("rank", keep="first", maintain_order=True)
            .sort("rank")["text"]
        )


@dataclass(frozen=True, eq=False)
class Grown:
    """What a tree was grown from, so that another can be from fewer rows.

    `standing` says for each rank of `people` where it stands in the tree.
    """

    source: Column
    hierarchy: Hierarchy
    people: Column | None
    standing: NDArray[np.int64] | None


def frozen(array: NDArray) -> NDArray:
    """Return an array that nothing can write to."""
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array
