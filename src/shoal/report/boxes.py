"""A release and its original as what answers count queries, without a detour over text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.queries.columns import Exact, Intervals, Sets, Spread
from shoal.queries.nodes import Leaves
from shoal.queries.ruler import Ruler
from shoal.queries.tables import BoxTable, ExactTable, Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.release.release import Release
    from shoal.release.spans import Spans
    from shoal.schema.coding import Column


def exact_table(release: Release) -> ExactTable:
    """Return the rows that are published, as they were."""
    return ExactTable(
        Rows(_exact((*release.coded.quasi, *release.coded.sensitive)), len(release.coded))
    )


def box_table(release: Release) -> BoxTable:
    """Return what `release.answers()` reads from the published text, straight from the recoding.

    Boxes are cells as they were recoded, so two groups with equal cells are two boxes; counts are
    the same.
    """
    layout, kinds = release.recoding.layout, release.recoding.kinds
    order = np.argsort(layout.bears)
    quasi, cells = {}, []
    for column in release.coded.quasi:
        kind = kinds[column.name]
        quasi[column.name], which = _spread(column, kind.spans)
        cells.append(which[kind.which])
    columns = _exact(release.coded.sensitive)
    rows = Rows(columns, len(release.coded), layout.carries[order])
    starts = np.concatenate([[0], np.cumsum(layout.bearers)]).astype(np.int64)
    return BoxTable(quasi, np.array(cells, np.int32), starts, rows)


def _exact(columns: tuple[Column, ...]) -> dict[str, Exact]:
    return {column.name: Exact.from_column(column) for column in columns}


def _spread(column: Column, covered: Spans) -> tuple[Spread, NDArray[np.int64]]:
    """Return the distinct cells of a column, and which of them each box bears."""
    every = np.arange(len(covered.low))
    if column.tree is not None:
        nodes, which = np.unique(column.nodes(covered.low, covered.high), return_inverse=True)
        names = pl.Series(column.tree.names, dtype=pl.String).gather(nodes)
        return Sets.of_nodes(names, column.name, Leaves.of(column)), which
    if column.numeric:
        shown = np.unique(np.concatenate([covered.low, covered.high, [0, column.distinct - 1]]))
        ruler = Ruler.of(column.spellings.gather(shown), dates=column.dates)
        places = ruler.places(column.spellings)
        extent = float(places[-1] - places[0] + 1)
        lows, highs = places[covered.low], places[covered.high]
        return Intervals(column.name, lows, highs, ruler, extent), every
    _, listed, counts = covered.listed()
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Sets(column.name, column.spellings, starts, listed), every
