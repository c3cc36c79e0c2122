"""What published cells cover of a column, how they are spelled, and what they lose.

Whoever covers rows, the groups of a partition or the recast records of a graph, has one *cell* a
column; several published rows can bear it.

What is covered is published as intervals, nodes of a hierarchy or sets of labels. Its loss is
measured by NCP and GCP, the normalized and global certainty penalties, 0 to 1; less is better.

NCP of a cell: interval (high - low) / (max - min of the column); set (labels - 1) / (distinct
labels - 1); node (values under it - 1) / (values - 1), of published rows; 0 for a column of one
value; 1 for every cell of a suppressed row. A cell of missing numbers alone loses nothing, one of
numbers and missing ones everything, 1, whatever its interval is. GCP is its mean over rows and
quasi columns. Where rows are suppressed, the range and the labels are those of the rows that are
published: a wider range would tell what was left out, a narrower one never flatters.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import polars as pl

from shoal.principles.groups import Groups
from shoal.release.carried import integer_type
from shoal.release.stated import StatedNode, StatedNodes
from shoal.table.coded import widths
from shoal.table.column import INTEGER
from shoal.table.dates import MICROSECONDS, NANOSECONDS, units_as_dates
from shoal.table.formulas import risky
from shoal.table.grid import TIGHT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from shoal.release.forms import Means
    from shoal.table.coded import Coded
    from shoal.table.column import Column
    from shoal.table.hierarchy import Tree


RUN = 2**20  # covered rows, or listed labels, that are looked at together
TIMES = {"us": MICROSECONDS, "ns": NANOSECONDS}  # units of a timestamp in a day


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
    cell and ascending in each, and `labels` counts them by cell. For one of numbers some of which
    are missing, which is their highest rank, `most` is that of the highest number covered.
    """

    low: NDArray[np.int32]
    high: NDArray[np.int32]
    ranks: NDArray[np.int32] | None = None
    labels: NDArray[np.int64] | None = None
    most: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.low)

    @property
    def top(self) -> NDArray[np.int32]:
        """The highest number that each cell covers, where it covers any."""
        return self.high if self.most is None else self.most

    @property
    def mixed(self) -> NDArray[np.bool_]:
        """Which cells cover numbers and missing ones."""
        return self.top != self.high

    def listed(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        """Return the cell and the rank of each listed label, and how many labels cells have."""
        assert self.ranks is not None
        assert self.labels is not None
        return np.repeat(np.arange(len(self)), self.labels), self.ranks, self.labels

    def numbers(self, column: Column) -> tuple[Column, Spans, NDArray[np.bool_]]:
        """Return a column without missing numbers, what cells cover of it, and which cover any.

        A cell of missing numbers alone seems to cover the highest number.
        """
        if column.gap is None:
            return column, self, np.ones(len(self), np.bool_)
        last = np.int32(column.gap - 1)
        ends = np.minimum(self.low, last), np.minimum(self.top, last)
        return replace(column, spellings=column.known), Spans(*ends), self.low <= last

    def only(self, chosen: NDArray) -> Spans:
        """Return what some cells cover."""
        low, high = self.low[chosen], self.high[chosen]
        if self.ranks is None or self.labels is None:
            return Spans(low, high, most=None if self.most is None else self.most[chosen])
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
    if column.gap is not None:
        numbers = np.maximum.reduceat(np.where(ranks == column.gap, -1, ranks), starts)
        return Spans(low, high, most=np.where(numbers < 0, high, numbers).astype(np.int32))
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


def covers(coded: Coded, quasi: Sequence[Column], found: Covering) -> list[tuple[Column, Spans]]:
    """Return quasi columns and what cells cover of each, as the table says that they are drawn.

    Columns of regions have the points of their grid for values, too.
    """
    if coded.cells == TIGHT or not isinstance(found, Groups):
        return [(column, spans(column, found)) for column in quasi]
    from shoal.release.regions import regions

    return regions(coded, found)


def _runs(sizes: NDArray[np.int64]) -> Iterator[slice]:
    """Yield runs of cells; the sizes of each run add up to about `RUN`."""
    number = np.cumsum(sizes) // RUN
    bounds = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(sizes)]
    return map(slice, bounds[:-1], bounds[1:])


@dataclass(frozen=True, eq=False)
class Kinds:
    """The different cells of one column: what each covers, and which one every cell is.

    `type` is that of their ends, where cells that are not here have a say in it too.
    """

    spans: Spans
    which: NDArray[np.int32]
    means: Means | None = None
    type: pl.DataType | None = None


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
        keys = covered.low.astype(np.int64) * column.distinct + covered.top
        keys = keys * 2 + covered.mixed
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        return Kinds(covered.only(first), which.astype(np.int32))
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
    """Spell a single value bare, or nothing where it is missing, and two ends as a JSON array.

    Where missing numbers are covered beside others, the array ends in null.
    """
    ends = [column.spellings.gather(covered.low), column.spellings.gather(covered.top)]
    return spelled_interval(ends, covered, dates=column.dates).alias(column.name)


def spelled_interval(ends: list[pl.Series], covered: Spans, *, dates: bool) -> pl.Series:
    """Return one cell for the ends of each interval, or for its ends and a mean between them."""
    inner = ", ".join(['"{}"' if dates else "{}"] * len(ends))
    bare, mixed = pl.Series(covered.low == covered.high), pl.Series(covered.mixed)
    return pl.select(
        pl.when(bare)
        .then(ends[0])
        .when(mixed)
        .then(pl.format(f"[{inner}, null]", *ends))
        .otherwise(pl.format(f"[{inner}]", *ends))
    ).to_series()


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


def typed_cells(column: Column, kinds: Kinds) -> pl.Series:
    """Return the published cells as struct<low, high>, the name of a node, or list<string>.

    Where numbers are missing, the struct says in a third field whether the cell covers any.
    """
    covered = kinds.spans
    if column.tree is not None:
        return _nodes(column, covered)
    if column.values is not None:
        values = typed_values(column, kinds)
        fields = {"low": values.gather(covered.low), "high": values.gather(covered.top)}
        if column.gap is not None:
            fields["missing"] = pl.Series(covered.high == column.gap)
        return pl.DataFrame(fields).to_struct(column.name)
    cell, rank, _ = covered.listed()
    listed = pl.DataFrame({"cell": cell, "label": column.spellings.gather(rank)})
    by_cell = listed.group_by("cell", maintain_order=True).agg("label").sort("cell")
    return by_cell["label"].alias(column.name)


def typed_values(column: Column, kinds: Kinds) -> pl.Series:
    """Return the values of a numeric column in the type of its ends; missing is null.

    Values that no cell shows may be anything, because the type need not hold them.
    """
    kind = type_of_ends(column, kinds)
    assert column.values is not None
    if column.dates:
        per_day = 1 if kind == pl.Date else TIMES[kind.time_unit]  # type: ignore[attr-defined]
        found = units_as_dates(column.exact // (column.per_day // per_day), per_day)
    elif kind in (pl.Int64, pl.Float64) and column.values.dtype == kind.to_python():
        found = pl.Series(column.values)
    else:
        found = column.known.cast(kind, strict=False)
    return found if column.gap is None else found.extend_constant(None, 1)


def type_of_ends(column: Column, kinds: Kinds) -> pl.DataType:
    """Return the type of the ends that cells show, in which values between them have no say.

    Dates where all ends are days, integers where all are written as such.
    """
    if kinds.type is not None:
        return kinds.type
    assert column.values is not None
    shown = shown_ends(kinds.spans)
    shown = shown[shown < len(column.values)]
    if column.dates:
        ends = column.values[shown]
        if not (ends % column.per_day).any():
            return pl.Date()
        fine = column.per_day == NANOSECONDS and (ends % (NANOSECONDS // MICROSECONDS)).any()
        return pl.Datetime("ns" if fine else "us")
    texts = column.spellings.gather(shown)
    if not texts.str.contains(INTEGER).all():
        return pl.Float64()
    return integer_type(int(texts[0]), int(texts[-1]))


def shown_ends(covered: Spans) -> NDArray[np.int32]:
    """Return the ranks that stand at an end of some cell, ascending."""
    return np.unique(np.concatenate([covered.low, covered.top]))


def kind_of(column: Column) -> str:
    """Return how the cells of a quasi column are published."""
    if column.tree is not None:
        return "node"
    return "interval" if column.numeric else "set"


def domain(column: Column, covered: Spans) -> list[Any] | StatedNodes:
    """Return what a column covers as a whole: [min, max], its labels, or its published nodes.

    The ends of numbers some of which are missing are [min, max, null].
    """
    if column.tree is not None:
        return _node_domain(column.tree, column.nodes(covered.low, covered.high))
    if column.values is None:
        return column.spellings.to_list()
    ends = [column.known[0], column.known[-1]]
    if not column.dates:
        ends = list(map(json.loads, ends))
    return ends if column.gap is None else [*ends, None]


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


def _node_domain(tree: Tree, published: NDArray[np.int32]) -> StatedNodes:
    """Return the named nodes, from above, with their parents and the leaves that the loss counts.

    What else the tree has, no cell shows.
    """
    parents = tree.parents()
    nodes = np.flatnonzero(shown_nodes(tree, published))
    depth = np.zeros(len(parents), np.int64)
    for level in tree.up[::-1]:
        depth[level] = np.where(parents[level] < 0, 0, depth[parents[level]] + 1)
    order = nodes[np.lexsort((tree.first[nodes], depth[nodes]))]
    return StatedNodes(
        leaves=int(tree.leaves[tree.up[-1, 0]]),
        nodes=[
            StatedNode(
                name=tree.names[node],
                parent=None if parents[node] < 0 else tree.names[parents[node]],
                leaves=int(tree.leaves[node]),
            )
            for node in order.tolist()
        ],
    )


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
