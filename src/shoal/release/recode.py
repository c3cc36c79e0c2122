"""From what is covered to published cells: intervals, nodes of a hierarchy, sets of labels.

Whoever covers rows, the groups of a partition or the recast records of a graph, has one *cell* a
column; several published rows can bear it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import polars as pl

from shoal.schema.dates import days_as_dates
from shoal.schema.hierarchy import nest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.schema.coding import Column


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

    `low` and `high` are ranks. For a categorical column `pairs` lists the covered labels as
    cell * distinct + rank, ascending, and `labels` counts them by cell.
    """

    low: NDArray[np.int32]
    high: NDArray[np.int32]
    pairs: NDArray[np.int64] | None = None
    labels: NDArray[np.int64] | None = None

    def only(self, chosen: NDArray, distinct: int) -> Spans:
        """Return what some cells cover, of a column of so many values."""
        low, high = self.low[chosen], self.high[chosen]
        if self.pairs is None or self.labels is None:
            return Spans(low, high)
        labels = self.labels[chosen]
        ends = np.cumsum(labels)
        begins = np.cumsum(self.labels)[chosen] - labels
        places = np.arange(ends[-1]) + np.repeat(begins - (ends - labels), labels)
        ranks = self.pairs[places] % distinct
        return Spans(
            low, high, np.repeat(np.arange(len(chosen)), labels) * distinct + ranks, labels
        )


def spans(column: Column, cover: Cover) -> Spans:
    """Return what every cell covers of a column."""
    ranks = column.codes[cover.order]
    starts = cover.starts[:-1]
    low, high = np.minimum.reduceat(ranks, starts), np.maximum.reduceat(ranks, starts)
    if column.numeric or column.tree is not None:
        return Spans(low, high)
    owners = np.repeat(np.arange(len(cover)), np.diff(cover.starts))
    pairs = np.unique(owners * column.distinct + ranks)
    return Spans(low, high, pairs, np.bincount(pairs // column.distinct, minlength=len(cover)))


@dataclass(frozen=True, eq=False)
class Kinds:
    """The different cells of one column: what each covers, and which one every cell is."""

    spans: Spans
    which: NDArray[np.int32]


def kinds(column: Column, covered: Spans) -> Kinds:
    """Return the different cells of a column: few of many groups differ in one column alone."""
    if covered.pairs is None:
        keys = covered.low.astype(np.int64) * column.distinct + covered.high
        found, which = np.unique(keys, return_inverse=True)
        low, high = np.divmod(found, column.distinct)
        return Kinds(Spans(low.astype(np.int32), high.astype(np.int32)), which.astype(np.int32))
    texts = _sets(column, covered)
    physical = texts.cast(pl.Enum(texts.unique(maintain_order=True))).to_physical()
    found, first, which = np.unique(physical.to_numpy(), return_index=True, return_inverse=True)
    assert (np.diff(first) > 0).all()  # numbered as they are first met
    return Kinds(covered.only(first, column.distinct), which.astype(np.int32))


def cells(column: Column, covered: Spans) -> pl.Series:
    """Return the published cells as text."""
    if column.tree is not None:
        return _nodes(column, covered)
    return _intervals(column, covered) if column.numeric else _sets(column, covered)


def _nodes(column: Column, covered: Spans) -> pl.Series:
    assert column.tree is not None
    names = pl.Series(column.name, column.tree.names, pl.String)
    return names.gather(column.nodes(covered.low, covered.high))


def _intervals(column: Column, covered: Spans) -> pl.Series:
    both = '["{}", "{}"]' if column.dates else "[{}, {}]"
    texts = pl.DataFrame(
        {"low": column.spellings.gather(covered.low), "high": column.spellings.gather(covered.high)}
    )
    bare = pl.Series(covered.low == covered.high)
    return texts.select(
        pl.when(bare).then("low").otherwise(pl.format(both, "low", "high")).alias(column.name)
    )[column.name]


def _sets(column: Column, covered: Spans) -> pl.Series:
    """Spell a single label bare and several as a JSON array.

    A bare label that begins like an array would be read as one, so it is put into an array too.
    """
    pairs = covered.pairs
    assert pairs is not None
    texts = pl.Series([json.dumps(label, ensure_ascii=False) for label in column.spellings])
    ranks = pairs % column.distinct
    return (
        pl.DataFrame(
            {
                "cell": pairs // column.distinct,
                "label": column.spellings.gather(ranks),
                "text": texts.gather(ranks),
            }
        )
        .group_by("cell", maintain_order=True)
        .agg(pl.col("text").str.join(", "), pl.col("label").first(), pl.len())
        .sort("cell")
        .select(
            pl.when((pl.col("len") == 1) & ~pl.col("label").str.starts_with("["))
            .then("label")
            .otherwise(pl.format("[{}]", "text"))
            .alias(column.name)
        )[column.name]
    )


def typed_cells(column: Column, covered: Spans) -> pl.Series:
    """Return the published cells as struct<low, high>, the name of a node, or list<string>."""
    if column.tree is not None:
        return _nodes(column, covered)
    if column.values is not None:
        values = days_as_dates(column.values) if column.dates else pl.Series(column.values)
        ends = {"low": values.gather(covered.low), "high": values.gather(covered.high)}
        return pl.DataFrame(ends).to_struct(column.name)
    assert covered.pairs is not None
    cell, rank = np.divmod(covered.pairs, column.distinct)
    listed = pl.DataFrame({"cell": cell, "label": column.spellings.gather(rank)})
    by_cell = listed.group_by("cell", maintain_order=True).agg("label").sort("cell")
    return by_cell["label"].alias(column.name)


def kind_of(column: Column) -> str:
    """Return how the cells of a quasi column are published."""
    if column.tree is not None:
        return "node"
    return "interval" if column.numeric else "set"


def domain(column: Column) -> Any:
    """Return what a column covers as a whole: [min, max], its labels, or its hierarchy, nested."""
    if column.tree is not None:
        return nest(column.tree.levels)
    if column.dates:
        return [column.spellings[0], column.spellings[-1]]
    if column.values is not None:
        return [json.loads(column.spellings[0]), json.loads(column.spellings[-1])]
    return column.spellings.to_list()
