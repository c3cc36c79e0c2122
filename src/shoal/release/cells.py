"""What published cells cover of a column, how they are spelled, and what they lose.

Whoever covers rows, the groups of a partition or the recast records of a graph, has one *cell* a
column; several published rows can bear it.

What is covered is published as intervals, nodes of a hierarchy or sets of labels. Its loss is
measured by NCP and GCP, the normalized and global certainty penalties, 0 to 1; less is better.

NCP of a cell: interval (high - low) / (max - min of the column); set (labels - 1) / (distinct
labels - 1); node (values under it - 1) / (values - 1), of published rows; 0 for a column of one
value; 1 for every cell of a suppressed row. GCP is its mean over rows and quasi columns. Where rows
are suppressed, the range and the labels are those of the rows that are published: a wider range
would tell what was left out, a narrower one never flatters.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import polars as pl

from shoal.release.carried import integer_type
from shoal.table.coded import widths
from shoal.table.dates import units_as_dates
from shoal.table.formulas import risky

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from shoal.release.forms import Means
    from shoal.table.column import Column
    from shoal.table.hierarchy import Tree


RUN = 2**20  # covered rows, or listed labels, that are looked at together


class Covering(Protocol):
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


def spans(column: Column, cover: Covering) -> Spans:
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
    means: Means | None = None


def kinds(column: Column, covered: Spans, means: Means | None = None) -> Kinds:
    """Return the different cells of a column: few of many groups differ in one column alone."""
    if means is not None:
        plain = kinds(column, covered)
        _, places = np.unique(means.units, return_inverse=True)
        keys = plain.which.astype(np.int64) * (places.max() + 1) + places
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        chosen = plain.spans.only(plain.which[first])
        return Kinds(chosen, which.astype(np.int32), means.only(first))
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
    cell, ranks, _ = covered.listed()
    texts = pl.Series([json.dumps(label, ensure_ascii=False) for label in column.spellings])
    return (
        pl.DataFrame(
            {
                "cell": cell,
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
        values = typed_values(column)
        ends = {"low": values.gather(covered.low), "high": values.gather(covered.high)}
        return pl.DataFrame(ends).to_struct(column.name)
    cell, rank, _ = covered.listed()
    listed = pl.DataFrame({"cell": cell, "label": column.spellings.gather(rank)})
    by_cell = listed.group_by("cell", maintain_order=True).agg("label").sort("cell")
    return by_cell["label"].alias(column.name)


def typed_values(column: Column) -> pl.Series:
    """Return the values of a numeric column as dates, exact integers or doubles."""
    if column.dates:
        return units_as_dates(column.exact, column.per_day)
    if column.exact.dtype != object:
        return pl.Series(column.exact)
    return column.spellings.cast(integer_type(column.exact[0], column.exact[-1]))


def kind_of(column: Column) -> str:
    """Return how the cells of a quasi column are published."""
    if column.tree is not None:
        return "node"
    return "interval" if column.numeric else "set"


def domain(column: Column, covered: Spans) -> Any:
    """Return what a column covers as a whole: [min, max], its labels, or its published nodes."""
    if column.tree is not None:
        return _node_domain(column.tree, column.nodes(covered.low, covered.high))
    if column.dates:
        return [column.spellings[0], column.spellings[-1]]
    if column.values is not None:
        return [json.loads(column.spellings[0]), json.loads(column.spellings[-1])]
    return column.spellings.to_list()


def shown_nodes(tree: Tree, published: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which nodes a manifest names: the published ones and those above them."""
    parents = tree.parents()
    shown = np.zeros(len(tree.names), np.bool_)
    nodes = np.unique(published)
    while len(nodes):
        shown[nodes] = True
        nodes = np.unique(parents[nodes])
        nodes = nodes[(nodes >= 0) & ~shown[nodes]]
    return shown


def _node_domain(tree: Tree, published: NDArray[np.int32]) -> dict[str, Any]:
    """Return the named nodes, from above, with their parents and the leaves that the loss counts.

    What else the tree has, no cell shows.
    """
    parents = tree.parents()
    nodes = np.flatnonzero(shown_nodes(tree, published))
    depth = np.zeros(len(parents), np.int64)
    for level in tree.up[::-1]:
        depth[level] = np.where(parents[level] < 0, 0, depth[parents[level]] + 1)
    order = nodes[np.lexsort((tree.first[nodes], depth[nodes]))]
    return {
        "leaves": int(tree.leaves[tree.up[-1, 0]]),
        "nodes": [
            {
                "name": tree.names[node],
                "parent": None if parents[node] < 0 else tree.names[parents[node]],
                "leaves": int(tree.leaves[node]),
            }
            for node in order.tolist()
        ],
    }


def count_quasi_formulas(column: Column, kinds: Kinds, bears: NDArray) -> int:
    """Count the published cells of a quasi column that a spreadsheet would run."""
    labels = (
        column.spellings if column.tree is None else pl.Series(column.tree.names, dtype=pl.String)
    )
    if (column.tree is None and column.numeric) or not risky(labels).any():
        return 0
    found = risky(cells(column, kinds.spans)).to_numpy()
    return int(found[kinds.which[bears]].sum())


def ncp_by_group(column: Column, spans: Spans) -> NDArray[np.float64]:
    """Return the NCP of each cell of a column, one for a group or for a recast record."""
    if column.tree is not None:
        return column.tree.ncp[column.nodes(spans.low, spans.high)]
    if column.numeric:
        return widths(column, spans.low, spans.high)
    assert spans.labels is not None
    return (spans.labels - 1) / max(column.distinct - 1, 1)


def mean_over_rows(by_cell: NDArray[np.float64], rows: NDArray[np.int64], suppressed: int) -> float:
    """Return the mean over all rows, a suppressed row counting as lost entirely.

    `rows` counts the published rows that bear each cell.
    """
    return float((by_cell @ rows + suppressed) / (rows.sum() + suppressed))
