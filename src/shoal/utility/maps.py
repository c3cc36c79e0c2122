"""Where the loss went, as a map: group boxes over two quasi columns, gathered on a grid.

Every published row spreads evenly over its box. A square of the grid has the rows that fall on it,
and the mean loss (NCP over the two columns) of these rows. Nothing is there that the published
table does not say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.release.cells import ncp_by_group
from shoal.sampling import draw
from shoal.table.dates import units_as_dates
from shoal.utility.bands import lowest_named

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.release.cells import Spans
    from shoal.release.release import ReleaseData
    from shoal.table.column import Column


SIDE = 20  # squares along an axis
HUGE = 1e150
BOXES = 20_000  # that a picture is made from; of more, so many at random
TAIL = 0.005  # of the rows at either end of an axis that may lie beyond its last square
FAINT = 1e-5  # of the rows: fewer leave a square empty
POINT = 1e-9  # of an axis: a cell with a single value is as good as this wide


@dataclass(frozen=True, eq=False)
class Axis:
    """One column of the map: the names of its squares, and the share of each box in each."""

    column: Column
    edges: NDArray[np.float64] | None  # of numbers and dates
    names: list[str]
    shares: NDArray[np.float64]  # by square and box

    def to_dict(self) -> dict[str, Any]:
        """Return what a picture needs of it."""
        return {
            "name": self.column.name,
            "dates": self.column.dates,
            "edges": None if self.edges is None else self.edges.tolist(),
            "names": self.names,
        }


def loss_map(release: ReleaseData) -> dict[str, Any] | None:
    """Return the map over the two columns with the most loss; None where there are not two."""
    ncp = release.manifest["loss"]["ncp"]
    wide = [c for c in release.coded.quasi if c.distinct > 1]
    chosen = sorted(wide, key=lambda column: -ncp[column.name])[:2]
    if len(chosen) < 2:
        return None
    bearers = release.recoding.layout.bearers
    some = draw(len(bearers), BOXES, 0 if release.manifest.get("reproducible") else None)
    bearers = bearers[some.places]
    spans = {}
    for column in chosen:
        kinds = release.recoding.kinds[column.name]
        spans[column.name] = kinds.spans.only(kinds.which[some.places])
    x, y = (axis(column, spans[column.name], bearers) for column in chosen)
    losses = [ncp_by_group(column, spans[column.name]) for column in chosen]
    lost = (losses[0] + losses[1]) / 2
    rows = (x.shares * bearers) @ y.shares.T
    weight = (x.shares * (bearers * lost)) @ y.shares.T
    across, along = np.nonzero(rows > FAINT * bearers.sum())
    return {
        "drawn": len(some),
        "boxes": some.whole,
        "x": x.to_dict(),
        "y": y.to_dict(),
        "squares": [
            {
                "x": int(i),
                "y": int(j),
                "rows": float(rows[i, j] / bearers.sum()),
                "loss": float(weight[i, j] / rows[i, j]),
            }
            for i, j in zip(across.tolist(), along.tolist(), strict=True)
        ],
    }


def axis(column: Column, spans: Spans, bearers: NDArray[np.int64]) -> Axis:
    """Part a column into squares, and say which share of each box lies in which."""
    if column.numeric:  # squares of equal width: the values inside a box are not public
        return _numbers(column, spans, bearers)
    return _labels(column, spans)


def _numbers(column: Column, spans: Spans, bearers: NDArray[np.int64]) -> Axis:
    """Part numbers or dates into squares of equal width; the last ones take in what is beyond."""
    values = column.numbers.astype(np.float64)
    most = float(np.abs(values).max())
    unit = most if most > HUGE else 1.0  # so that neither sums nor spans overflow
    values /= unit
    low, high = values[spans.low], values[spans.high]
    first, last = _ends((low + high) / 2, bearers)
    if first == last:
        first, last = float(values[0]), float(values[-1])
    edges = np.linspace(first, last, SIDE + 1)
    shown = edges * unit
    # Large integers may differ by less than doubles can tell: then everything is one point.
    point = POINT * (values[-1] - values[0]) or 1.0
    slope = 1 / np.maximum(high - low, point)
    below = np.empty((SIDE + 1, len(low)))  # the share of each box below each edge
    below[0], below[-1] = 0.0, 1.0
    for place, edge in enumerate(edges[1:-1], 1):
        np.subtract(edge, low, out=below[place])
        below[place] *= slope
    np.clip(below, 0.0, 1.0, out=below)
    names = units_as_dates(np.rint(shown).astype(np.int64), 1) if column.dates else None
    texts = [str(day) for day in names] if names is not None else [f"{e:,.6g}" for e in shown]
    return Axis(column, shown, texts, np.diff(below, axis=0))


def _ends(middles: NDArray[np.float64], bearers: NDArray[np.int64]) -> tuple[float, float]:
    """Return where an axis begins and ends: a few rows at either side may lie beyond."""
    order = np.argsort(middles)
    reached = np.cumsum(bearers[order])
    places = np.searchsorted(reached, np.array([TAIL, 1 - TAIL]) * reached[-1])
    first, last = middles[order[np.minimum(places, len(order) - 1)]]
    return float(first), float(last)


def _labels(column: Column, spans: Spans) -> Axis:
    """Part labels into squares: one each, or runs of them in their order."""
    if column.tree is not None:
        return _nodes(column, spans)
    squares = min(column.distinct, SIDE)
    square = np.arange(column.distinct) * squares // column.distinct
    shares = np.zeros((squares, len(spans.low)))
    cell, rank, counts = spans.listed()
    np.add.at(shares, (square[rank], cell), 1 / counts[cell])
    return Axis(column, None, _run_names(column.spellings.to_list(), square), shares)


def _nodes(column: Column, spans: Spans) -> Axis:
    """Part nodes into squares: the lowest ones that the manifest names, or runs of them.

    Which labels lie under them is not public. A published node covers all of a lowest one or
    nothing of it, so its rows spread over these by how many leaves each has.
    """
    tree = column.tree
    assert tree is not None
    bearing, lowest = lowest_named(column, spans)
    named, first, leaves = np.unique(lowest, return_index=True, return_counts=True)
    order = np.argsort(first)
    named, leaves = named[order], leaves[order]
    squares = min(len(named), SIDE)
    square = np.arange(len(named)) * squares // len(named)
    shares = np.zeros((squares, len(bearing)))
    for place, (node, count) in enumerate(zip(named.tolist(), leaves.tolist(), strict=True)):
        inside = (tree.first[bearing] <= tree.first[node]) & (tree.last[node] <= tree.last[bearing])
        shares[square[place]] += np.where(inside, count / tree.leaves[bearing], 0)
    return Axis(column, None, _run_names([tree.names[node] for node in named], square), shares)


def _run_names(names: list[str], square: NDArray[np.int64]) -> list[str]:
    """Return how squares are named: after the one that they hold, or the first and the last."""
    starts = np.searchsorted(square, np.arange(square[-1] + 1), "left").tolist()
    ends = (np.searchsorted(square, np.arange(square[-1] + 1), "right") - 1).tolist()
    return [
        names[start] if start == end else f"{names[start]} … {names[end]}"
        for start, end in zip(starts, ends, strict=True)
    ]
