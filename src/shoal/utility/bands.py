"""A column parted into bands that everybody may see: none holds fewer than eleven people.

Where bands begin follows from what is published: round numbers between the ends of the published
cells, published labels, published nodes. A band with too few people joins its neighbour, or the
other rare labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.release.cells import shown_nodes
from shoal.table.dates import units_as_dates
from shoal.utility.columns import Intervals

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from shoal.release.cover import Cover
    from shoal.table.column import Column
    from shoal.utility.columns import Sets, Spread

LEAST = 11  # people in whatever is shown
MOST = 24  # bands of numbers
LABELS = 12  # that stand by themselves
TAIL = 0.005  # of the rows at either end that share the outermost band
HUGE = 1e150
POINT = 1e-9  # of a column's range: a cell with a single value is as good as this wide
MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200)  # steps of dates
DAYS = (1, 2, 7)  # steps of dates that are close together
YEAR = 12  # months
MISSING = "(missing)"
SIDE = 20  # squares along an axis
RUN = 2**13  # pairs of cells that are spread together: more of them take memory and no less time
FAINT = 1e-5  # of the rows: fewer leave a square empty


@dataclass(frozen=True, eq=False)
class Bands:
    """A column in bands: the one that each value is in, and how cells spread over them.

    `edges` part numbers (those of dates in days); the outermost bands take in what lies beyond.
    `rare` is how many labels the last band has, where it is that of the rare ones.
    """

    column: Column
    edges: NDArray[np.float64] | None
    labels: list[str]
    place: NDArray[np.int64]  # by rank
    shares: NDArray[np.float64]  # by band and cell
    rare: int = 0

    def __len__(self) -> int:
        return len(self.shares)

    @property
    def names(self) -> list[str]:
        """How the bands are called."""
        if self.edges is None:
            return [*self.labels, *([f"{self.rare:,} others"] if self.rare else [])]
        shown = [spelled(edge, dates=self.column.dates) for edge in self.edges.tolist()]
        if not shown:
            return ["all"]
        between = [f"{one} to under {two}" for one, two in pairwise(shown)]
        return [f"under {shown[0]}", *between, f"{shown[-1]} or more"]


def spelled(value: float, *, dates: bool) -> str:
    """Write a number or a day."""
    if dates:
        return str(units_as_dates(np.array([round(value)], np.int64), 1)[0])
    return f"{value:,.6g}"


def bands(
    column: Column, covered: Cover, bearers: NDArray[np.int64], heads: Callable[[NDArray], NDArray]
) -> Bands:
    """Part a column; `heads` counts the people in bands, given the band of each row."""
    if column.gap is not None:
        return _with_missing(column, covered, bearers, heads)
    if column.numeric:
        return _joined(_numbers(column, covered, bearers), heads)
    return _labels(column, covered, heads)


def _with_missing(
    column: Column, covered: Cover, bearers: NDArray[np.int64], heads: Callable[[NDArray], NDArray]
) -> Bands:
    """Part numbers, and those that are missing, which join the last band where they are few."""
    numbers, there = covered.numbers()
    found = _numbers(replace(column, spellings=column.known), numbers, bearers * there)
    assert found.edges is not None
    found = replace(
        found,
        column=column,
        edges=np.append(found.edges, np.inf),
        place=np.append(found.place, len(found)),
        shares=np.vstack([found.shares * there, ~there]),
    )
    found = _joined(found, heads)
    assert found.edges is not None
    alone = bool(len(found.edges)) and found.edges[-1] == np.inf
    plain = replace(found, edges=found.edges[: -1 if alone else None]).names
    names = [*plain, MISSING] if alone else [*plain[:-1], f"{plain[-1]}, or missing"]
    return replace(found, edges=None, labels=names)


def _joined(found: Bands, heads: Callable[[NDArray], NDArray]) -> Bands:
    """Join neighbours until nobody stands in a band with fewer than `LEAST` people."""
    assert found.edges is not None
    while len(found) > 1:
        people = _counted(found, heads)
        few = int(np.argmin(people))
        if people[few] >= LEAST:
            break
        left = few > 0 and (few == len(found) - 1 or people[few - 1] <= people[few + 1])
        gone = few - 1 if left else few  # the edge between the two
        found = replace(
            found,
            edges=np.delete(found.edges, gone),
            place=found.place - (found.place > gone),
            shares=np.add.reduceat(found.shares, np.delete(np.arange(len(found)), gone + 1)),
        )
    return found


def _counted(found: Bands, heads: Callable[[NDArray], NDArray]) -> NDArray[np.int64]:
    people = np.zeros(len(found), np.int64)
    counts = heads(found.place[found.column.codes])
    people[: len(counts)] = counts
    return people


def _numbers(column: Column, covered: Cover, bearers: NDArray[np.int64]) -> Bands:
    values = column.numbers.astype(np.float64)
    unit = max(1.0, float(np.abs(values).max()) / HUGE)  # so that no difference overflows
    values = values / unit
    whole = column.per_day == 1 and column.exact.dtype != np.float64
    low, high = values[covered.low], values[covered.high]
    first, last = tails((low + high) / 2, bearers)
    edges = day_edges(first, last) if column.dates else round_edges(first, last, whole=whole)
    extent = POINT * max(values[-1] - values[0], 1e-300)
    width = np.maximum(high - low + (1 if whole else 0), extent)
    below = [np.zeros(len(low))]
    below += [np.clip((edge - low) / width, 0.0, 1.0) for edge in edges]
    below.append(np.ones(len(low)))
    place = np.searchsorted(edges, values, "right")
    return Bands(column, edges * unit, [], place, np.diff(np.array(below), axis=0))


def tails(values: NDArray[np.float64], rows: NDArray) -> tuple[float, float]:
    """Return between which values nearly all rows lie."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(rows[order])
    places = np.searchsorted(reached, np.array([TAIL, 1 - TAIL]) * reached[-1])
    first, last = values[order[np.minimum(places, len(order) - 1)]]
    return float(first), float(last)


def round_edges(first: float, last: float, *, whole: bool) -> NDArray[np.float64]:
    """Return round numbers between two, few enough; none where the two are one.

    >>> round_edges(17, 93, whole=True).tolist()[:3]
    [20.0, 25.0, 30.0]
    """
    span = last - first
    if not span > 0:
        return np.empty(0)
    size = 10.0 ** np.floor(np.log10(span / MOST))
    step = next(size * part for part in (1, 2, 5, 10) if span / (size * part) <= MOST)
    step = max(step, 1.0) if whole else step
    numbers = np.arange(np.floor(first / step) + 1, np.floor(last / step) + 1)
    return numbers * step


def day_edges(first: float, last: float) -> NDArray[np.float64]:
    """Return days at which months (or years, or weeks) begin between two days."""
    span = last - first
    if not span > 0:
        return np.empty(0)
    for step in DAYS:
        if span / step <= MOST:
            return np.arange(np.floor(first / step) + 1, np.floor(last / step) + 1) * step
    month = 365.2425 / YEAR
    step = next((one for one in MONTHS if span / (one * month) <= MOST), MONTHS[-1])
    begin, end = (np.datetime64(int(day), "D").astype("datetime64[M]") for day in (first, last))
    numbers = np.arange(begin.astype(int) // step + 1, end.astype(int) // step + 1) * step
    days = numbers.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    return days[(days > first) & (days <= last)].astype(np.float64)


def _labels(column: Column, covered: Cover, heads: Callable[[NDArray], NDArray]) -> Bands:
    """Part labels, or the lowest nodes that the manifest names: frequent ones, and the others."""
    if column.tree is None:
        names, place = column.spellings.to_list(), np.arange(column.distinct)
        cell, ranks, counts = covered.labels()
        rank, weight = ranks.astype(np.int64), 1 / counts[cell]
    else:
        names, place, (cell, rank, weight) = _nodes(column, covered)
    people = np.zeros(len(names), np.int64)
    counted = heads(place[column.codes])
    people[: len(counted)] = counted
    order = np.argsort(-people, kind="stable")
    kept = order[: np.count_nonzero(people >= LEAST)][:LABELS]
    while True:
        band = np.full(len(names), len(kept), np.int64)
        band[kept] = np.arange(len(kept))
        rest = len(names) - len(kept)
        several = heads(band[place[column.codes]])
        if not rest or not len(kept) or several[len(kept)] >= LEAST:
            break
        kept = kept[:-1]  # the rare ones are too few to stand alone even together
    shares = np.zeros((len(kept) + bool(rest), len(covered)))
    np.add.at(shares, (band[rank], cell), weight)
    shown = [names[one] or MISSING for one in kept.tolist()]
    return Bands(column, None, shown, band[place], shares, rest)


Listed = tuple["NDArray[np.int64]", "NDArray[np.int64]", "NDArray[np.float64]"]


def lowest_named(column: Column, covered: Cover) -> tuple[NDArray, NDArray[np.int64]]:
    """Return the node of each cell, and the lowest node over each rank that a manifest names."""
    tree, places = column.tree, column.places
    assert tree is not None
    assert places is not None
    bearing = column.nodes(covered.low, covered.high)
    shown = shown_nodes(tree, bearing)
    lowest = np.full(column.distinct, -1, np.int64)
    for level in tree.up[::-1]:
        nodes = level[places]
        lowest = np.where(shown[nodes], nodes, lowest)
    return bearing, lowest


def _nodes(column: Column, covered: Cover) -> tuple[list[str], NDArray[np.int64], Listed]:
    """Return the lowest named nodes, that of each rank, and which share of each cell is in each.

    Which labels lie under them is not public. A published node covers all of a lowest one or
    nothing of it, so its rows spread over these by how many leaves each has.
    """
    tree = column.tree
    assert tree is not None
    bearing, lowest = lowest_named(column, covered)
    named, place, leaves = np.unique(lowest, return_inverse=True, return_counts=True)
    begin, end = tree.first[named], tree.last[named]
    inside = (tree.first[bearing][:, None] <= begin) & (end <= tree.last[bearing][:, None])
    cell, node = np.nonzero(inside)
    weight = leaves[node].astype(np.float64)
    weight /= np.bincount(cell, weights=weight, minlength=len(bearing))[cell]
    return [tree.names[one] for one in named.tolist()], place, (cell, node, weight)


def as_facts(found: Bands) -> dict[str, Any]:
    """Return what a picture needs of bands."""
    edges = found.edges
    return {
        "names": found.names,
        "edges": None if edges is None else edges.tolist(),
        "ends": None
        if edges is None or not len(edges)
        else [spelled(edge, dates=found.column.dates) for edge in edges[[0, -1]].tolist()],
    }


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
        return _label_squares(spread)
    return _axis_with_missing(spread, rows) if spread.missing else _squares(spread, rows)


def _axis_with_missing(spread: Intervals, rows: NDArray[np.float64]) -> Axis:
    """Part numbers into squares, with one more for cells in which all of them are missing."""
    there = ~spread.cover.alone
    found = _squares(spread, rows * there)
    names = [f"{low} … {high}" for low, high in pairwise(found.names)]
    return Axis(found.name, [*names, MISSING], np.vstack([found.shares * there, ~there]))


def _squares(spread: Intervals, rows: NDArray[np.float64]) -> Axis:
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


def _label_squares(spread: Sets) -> Axis:
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
