"""From what is covered to published cells: intervals, nodes of a hierarchy, sets of labels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.schema.dates import units_as_dates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.release.spans import Spans
    from shoal.schema.coding import Column
    from shoal.schema.trees import Tree


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
        values = _typed_values(column)
        ends = {"low": values.gather(covered.low), "high": values.gather(covered.high)}
        return pl.DataFrame(ends).to_struct(column.name)
    cell, rank, _ = covered.listed()
    listed = pl.DataFrame({"cell": cell, "label": column.spellings.gather(rank)})
    by_cell = listed.group_by("cell", maintain_order=True).agg("label").sort("cell")
    return by_cell["label"].alias(column.name)


def _typed_values(column: Column) -> pl.Series:
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


def integer_type(least: int, most: int) -> pl.DataType:
    """Return the type that holds integers exactly: 64 bits, 38 digits, or text beyond those."""
    if least >= -(2**63) and most < 2**63:
        return pl.Int64()
    if least >= 0 and most < 2**64:
        return pl.UInt64()
    return pl.Decimal(38, 0) if max(-least, most) < 10**38 else pl.String()
