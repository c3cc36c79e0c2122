"""Stand-ins: a table that fills published boxes exactly, in place of one that nobody shows.

The box of a union of groups depends on their boxes alone: on the ends of intervals, the labels of
sets, the nodes of a tree. So any table whose groups have these boxes gives the same coarser
release as the original, and one can be read off the published cells: of an interval some row has
the low end and another the high one, the labels of a set are dealt to the rows, and below a node
stand two leaves that meet in it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.cells import covers_missing, interval_ends, read_set
from shoal.errors import InputError
from shoal.table.coded import NOTHING, Coded
from shoal.table.coding import code_asked, code_column, code_lenient
from shoal.table.grid import read_bounds
from shoal.table.groupings import Listed
from shoal.table.missing import MISSING_LABEL
from shoal.table.partition import Everyone, OnePart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from shoal.principles.groups import Groups
    from shoal.release.manifest import Manifest
    from shoal.release.stated import StatedColumn, StatedNode
    from shoal.table.column import Column
    from shoal.table.hierarchy import Levels
    from shoal.table.schema import Schema

BELOW = "\x00"  # parts the name of a node from which of its two stand-ins it is


def stand_ins(
    published: pl.DataFrame,
    manifest: Manifest,
    schema: Schema,
    groups: Groups,
    asked: Mapping[str, bool] = NOTHING,
) -> Coded:
    """Code a published table, quasi cells as text, by values that fill the boxes of its groups.

    `asked` has the sensitive columns that a requirement is about, and whether it needs numbers.
    """
    said = manifest.by_name
    turn = groups.turns(np.arange(len(groups.labels)))
    plain = schema.read_numbers(published, "sensitive")
    return Coded(
        tuple(
            _column(published[name].cast(pl.String).fill_null(MISSING_LABEL), said[name], turn)
            for name in schema.quasi
        ),
        tuple(
            code_asked(plain[name], numbers=asked.get(name), kind=schema.types.get(name))
            for name in schema.sensitive
        ),
        np.arange(published.height),
        Everyone(published.height),
        OnePart(published.height),
        {name: column.weight for name, column in said.items() if column.weight is not None},
    )


def _column(texts: pl.Series, said: StatedColumn, turn: NDArray[np.int64]) -> Column:
    """Code one column; `turn` counts the rows of each group."""
    cells = texts.unique(maintain_order=True)
    which = texts.cast(pl.Enum(cells)).to_physical().to_numpy()
    if said.has_ends:
        ends = zip(*interval_ends(cells), covers_missing(cells), strict=True)
        held = [[*dict.fromkeys((a, b))] * (a is not None) + [None] * gap for a, b, gap in ends]
        dealt = _dealt(texts.name, held, which, turn)
        bounds = read_bounds(texts.name, said.bounds) if said.bounds is not None else None
        return replace(code_lenient(dealt, kind=said.type or "numeric"), bounds=bounds)
    if said.kind == "set":
        sets = [_labels(cell, texts.name) for cell in cells]
        dealt = _dealt(texts.name, sets, which, turn)
        return code_column(dealt, kind="categorical", order=said.values)
    nodes = {node.name: node for node in said.tree.nodes}
    leaves = [_leaves(cell, nodes, texts.name) for cell in cells]
    column = code_column(_dealt(texts.name, leaves, which, turn), kind="categorical")
    column = column.under(Listed(paths=_paths(leaves, nodes)))
    assert column.tree is not None
    counted = [nodes[name].leaves if name in nodes else 1 for name in column.tree.names]
    return replace(column, tree=replace(column.tree, leaves=np.array(counted, np.int64)))


def _dealt(
    name: str,
    values: Sequence[Sequence[str | None]],
    which: NDArray[np.int64],
    turn: NDArray[np.int64],
) -> pl.Series:
    """Deal what a cell covers to the rows of its group, in turn, and raise where they are few."""
    counts = np.array([len(some) for some in values])
    sizes = np.zeros(len(values), np.int64)
    np.maximum.at(sizes, which, turn + 1)
    if (counts > sizes).any():
        msg = (
            f"Column {name!r} has a cell that covers more than the rows of a group can fill, so it "
            "was not made from them."
        )
        raise InputError(msg)
    flat = pl.Series(name, [value for some in values for value in some], pl.String)
    starts = np.cumsum(counts) - counts
    return flat.gather(starts[which] + turn % counts[which])


def _labels(cell: str, name: str) -> list[str]:
    labels = read_set(cell)
    if labels is None:
        raise _unread(cell, name)
    return labels


def _leaves(cell: str, nodes: Mapping[str, StatedNode], name: str) -> list[str]:
    """Return what stands for a published node: itself, or two leaves that meet in it."""
    if cell not in nodes:
        raise _unread(cell, name)
    return [cell] if nodes[cell].leaves == 1 else [f"{cell}{BELOW}{side}" for side in "ab"]


def _unread(cell: str, name: str) -> InputError:
    return InputError(f"Column {name!r} has the cell {cell[:40]!r}, which cannot be read.")


def _paths(leaves: Sequence[Sequence[str]], nodes: Mapping[str, StatedNode]) -> Levels:
    """Return the named nodes above every stand-in."""
    paths = []
    for label in sorted({label for some in leaves for label in some}):
        node, _, side = label.partition(BELOW)
        path: list[str] = [label] if side else []
        above: str | None = node
        while above is not None:
            path.append(above)
            above = nodes[above].parent
        paths.append(path)
    deepest = max(map(len, paths))
    return tuple((path[0],) * (deepest - len(path)) + tuple(path) for path in paths)
