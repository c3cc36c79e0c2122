"""Where the loss went, as a map: published cells over two quasi columns, gathered on a grid.

Every published row spreads evenly over its cells. A square of the grid has the rows that fall on
it, and the mean loss (NCP over the two columns) of these rows. Nothing is there that the published
table does not say.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.utility.bands import spelled, tails
from shoal.utility.columns import Intervals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shoal.utility.columns import Sets, Spread


SIDE = 20  # squares along an axis
RUN = 2**13  # pairs of cells that are spread together: more of them take memory and no less time
FAINT = 1e-5  # of the rows: fewer leave a square empty


@dataclass(frozen=True, eq=False)
class Axis:
    """One column of the map: the names of its squares, and the share of each cell in each."""

    name: str
    names: list[str]
    shares: NDArray  # by square and cell
    edges: bool = False  # whether the names are those of the edges between squares

    def to_dict(self) -> dict[str, Any]:
        """Return what a picture needs of it."""
        return {"name": self.name, "edges": self.edges, "names": self.names}


def loss_map(
    first: Spread,
    second: Spread,
    which: tuple[NDArray[np.int64], NDArray[np.int64]],
    rows: NDArray[np.int64],
) -> dict[str, Any]:
    """Return the map over two columns; so many rows have the cells `which` of both."""
    axes, lost = [], np.zeros(len(rows))
    for spread, cells in zip((first, second), which, strict=True):
        borne = np.bincount(cells, weights=rows, minlength=len(spread.sizes))
        axes.append(axis(spread, borne.astype(np.float64)))
        lost += spread.cover.loss()[cells] / 2
    x, y = axes
    inside, weight = np.zeros((2, len(x.shares), len(y.shares)))
    for begin in range(0, len(rows), RUN):
        run = slice(begin, begin + RUN)
        across = x.shares[:, which[0][run]] * rows[run]
        along = y.shares[:, which[1][run]].T
        inside += across @ along
        weight += (across * lost[run]) @ along
    total = int(rows.sum())
    filled = np.nonzero(inside > FAINT * total)
    return {
        "x": x.to_dict(),
        "y": y.to_dict(),
        "squares": [
            {
                "x": i,
                "y": j,
                "rows": float(inside[i, j] / total),
                "loss": float(weight[i, j] / inside[i, j]),
            }
            for i, j in zip(*(side.tolist() for side in filled), strict=True)
        ],
    }


def axis(spread: Spread, rows: NDArray[np.float64]) -> Axis:
    """Part a column into squares, and say which share of each cell lies in which."""
    if not isinstance(spread, Intervals):
        return _labels(spread)
    return _with_missing(spread, rows) if spread.missing else _numbers(spread, rows)


def _with_missing(spread: Intervals, rows: NDArray[np.float64]) -> Axis:
    """Part numbers into squares, with one more for cells in which all of them are missing."""
    there = ~spread.cover.alone
    found = _numbers(spread, rows * there)
    names = [f"{low} … {high}" for low, high in pairwise(found.names)]
    return Axis(found.name, [*names, "(missing)"], np.vstack([found.shares * there, ~there]))


def _numbers(spread: Intervals, rows: NDArray[np.float64]) -> Axis:
    """Part numbers or dates into squares of equal width; the last ones take in what is beyond."""
    low, high, steps = spread.lows, spread.highs, spread.steps
    first, last = tails((low + high) / 2, rows)
    if first == last:
        first, last = float(low.min()), float(high.max())
    edges = np.linspace(first, last, SIDE + 1)
    shares, below = np.empty((SIDE, len(low)), np.float32), np.zeros(len(low))
    for square in range(SIDE):  # one after the other: different cells can be as many as groups
        edge = np.clip((edges[square + 1] - low + 0.5) / (high - low + 1), 0.0, 1.0)
        within = edge if square < SIDE - 1 else np.ones(len(low))
        np.subtract(within, below, out=shares[square])
        below = within
    shown = ((edges + float(steps.origin)) / float(steps.units)).tolist()
    names = [spelled(one, dates=steps.dates) for one in shown]
    return Axis(spread.cover.domain.name, names, shares, edges=True)


def _labels(spread: Sets) -> Axis:
    """Part labels, or the lowest nodes that are named, into squares: one each, or runs of them."""
    names, of = spread.labels.to_list(), np.arange(len(spread.labels))
    if spread.leaves is not None:
        lowest = spread.leaves.lowest()
        met = list(dict.fromkeys(lowest.tolist()))  # in the order of the tree
        of = np.argsort(met)[np.searchsorted(np.sort(met), lowest)]
        names = [spread.leaves.tree.names[one] for one in met]
    squares = min(len(names), SIDE)
    square = np.arange(len(names)) * squares // len(names)
    cell, sizes = spread.held.owners, spread.held.counts
    shares = np.zeros((squares, len(sizes)))
    np.add.at(shares, (square[of[spread.held.ranks]], cell), 1 / sizes[cell])
    return Axis(spread.cover.domain.name, _run_names(names, square), shares)


def _run_names(names: Sequence[str], square: NDArray[np.int64]) -> list[str]:
    """Return how squares are named: after the one that they hold, or the first and the last."""
    starts = np.searchsorted(square, np.arange(square[-1] + 1), "left").tolist()
    ends = (np.searchsorted(square, np.arange(square[-1] + 1), "right") - 1).tolist()
    return [
        names[start] if start == end else f"{names[start]} … {names[end]}"
        for start, end in zip(starts, ends, strict=True)
    ]
