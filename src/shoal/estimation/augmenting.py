"""Quasi values inside the cells of their groups, drawn as the values are: releases of one table.

A tight cell says that all values of its group lie between two ends and that both are somebody's,
or which labels its group has, each of them somebody's. Given the model, members of a group exchange
a value of one column, or one of them draws another inside the cell (Metropolis). Before anything is
known of the sensitive value, members of a cell are alike: their columns are drawn by how common
values are, and by how numbers go together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from shoal.estimation.bases import QuasiBasis, Reals
    from shoal.estimation.chains import Sampler
    from shoal.table.column import Column

    Codes = NDArray[np.int32]

GRID = 256  # numbers that a column has at least, where its ends are fewer
UNSEEN = 0.02  # rows that each value counts as having, beside those that have it
TURNS = 3  # members of each group that draw another value of each column, in one iteration
FURTHEST = 3.0  # standard deviations that numbers count as away, in how they go together
SURE_OF = 0.25  # of a cell's width: how exactly the sum of a group's numbers is kept


@dataclass(frozen=True, eq=False)
class GroupCells:
    """What the cells of all groups say of one column.

    Attributes
    ----------
    domain : the values that a member may have.
    low, high : the least and the greatest of each group, as codes.
    sets : of labels: where those of each group begin, and the labels, one group after the other.
    means : the mean of each group, where that is published.
    """

    domain: Column
    low: Codes
    high: Codes
    sets: tuple[NDArray[np.int64], Codes] | None = None
    means: Reals | None = None

    @property
    def wide(self) -> NDArray[np.bool_]:
        """Which cells have more than one value."""
        found: NDArray[np.bool_] = self.low < self.high
        return found

    def fill(self, starts: NDArray[np.int64], random: np.random.Generator) -> Codes:
        """Return values for all members, some of them at the ends, the others anywhere between."""
        sizes, rows = np.diff(starts), int(starts[-1])
        group = np.repeat(np.arange(len(sizes)), sizes)
        place = np.lexsort((random.random(rows), group))  # members of each group, in some order
        turn = np.arange(rows) - starts[group]
        drawn = random.random(rows)
        if self.sets is not None:
            begin, listed = self.sets
            many = np.diff(begin)[group]
            turn = np.where(turn < many, turn, (drawn * many).astype(np.int64))
            found = listed[begin[group] + turn]
        else:
            low, high = self.low[group], self.high[group]
            found = low + np.floor(drawn * (high - low + 1)).astype(np.int32)
            if self.means is not None:
                numbers = self.domain.numbers
                rest = self.means * sizes - numbers[self.low] - numbers[self.high]
                middle = np.searchsorted(numbers, rest / np.maximum(sizes - 2, 1))
                found = np.clip(middle[group], low, high)
            found = np.where(turn == 0, low, np.where(turn == sizes[group] - 1, high, found))
        codes = np.empty(rows, np.int32)
        codes[place] = found
        return codes


def grid_column(name: str, low: Reals, high: Reals) -> tuple[Column, Codes, Codes]:
    """Return a column of the numbers that members may have, and the codes of the ends.

    They are the ends of all cells and whole steps between them, as far as these are few.
    """
    import polars as pl

    from shoal.table.column import Column

    ends = np.unique(np.concatenate([low, high]))
    steps, whole = np.diff(ends), bool((ends == np.round(ends)).all())
    step = float(steps.min()) if len(steps) else 1.0
    multiples = np.round(steps / step)
    reach = ends[-1] - ends[0]
    if reach / step > GRID or not np.allclose(multiples * step, steps):
        step = reach / GRID
        step = float(np.ceil(step)) if whole else step
    between = ends[0] + step * np.arange(round(reach / step) + 1) if len(steps) else ends
    between = between[between <= ends[-1]]
    values = np.unique(np.concatenate([ends, between]))
    values = values[np.concatenate([[True], np.diff(values) > step * 1e-6])]
    values = values.astype(np.int64) if whole else values
    first, last = (np.searchsorted(values, end - step * 1e-6) for end in (low, high))
    spellings = pl.Series(name, values).cast(pl.String)
    codes = first.astype(np.int32), last.astype(np.int32)
    return Column(name, values, spellings, codes[0]), *codes


class Shapes:
    """The features of the model as functions of codes, as they were of the members filled in."""

    def __init__(self, quasi: QuasiBasis, columns: Mapping[str, Column]) -> None:
        names = list(columns)
        self.width = quasi.features.shape[1]
        self.own: list[tuple[int, list[int], Reals]] = []
        for place, (name, column) in enumerate(columns.items()):
            mine = [f for f, of in enumerate(quasi.columns) if of == (name,)]
            here, first = np.unique(column.codes, return_index=True)
            grid = np.arange(column.distinct) if not column.numeric else column.numbers
            table = [np.interp(grid, grid[here], quasi.features[first, f]) for f in mine]
            if mine:
                self.own.append((place, mine, np.ascontiguousarray(np.column_stack(table))))
        self.lines = {names[place]: mine[0] for place, mine, _ in self.own}
        self.products: list[tuple[int, int, int, float, float]] = []
        for f, of in enumerate(quasi.columns):
            if len(of) == 2:
                one, other = (self.lines[name] for name in of)
                both = _product(quasi.features, one, other)
                self.products.append((f, one, other, float(both.mean()), float(both.std())))
        numeric = [names.index(n) for n in self.lines if n in quasi.crossed]
        self.together = [self.lines[names[place]] for place in numeric]

    def of(self, codes: Codes) -> Reals:
        """Return the features of members."""
        found = np.zeros((len(codes), self.width))
        for place, mine, table in self.own:
            found[:, mine] = table[codes[:, place]]
        for f, one, other, middle, spread in self.products:
            found[:, f] = (_product(found, one, other) - middle) / spread
        return found


def _product(features: Reals, one: int, other: int) -> Reals:
    away = np.clip(features[:, [one, other]], -FURTHEST, FURTHEST)
    found: Reals = away[:, 0] * away[:, 1]
    return found


class DrawnMembers:
    """The quasi values of all members, in one chain."""

    def __init__(
        self,
        cells: Mapping[str, GroupCells],
        shapes: Shapes,
        starts: NDArray[np.int64],
        random: np.random.Generator,
    ) -> None:
        self.cells, self.shapes, self.starts, self.random = (
            list(cells.values()),
            shapes,
            starts,
            random,
        )
        self.group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        self.codes = np.column_stack([one.fill(starts, random) for one in self.cells])
        self.features = shapes.of(self.codes)
        self.pull = np.zeros((len(shapes.together),) * 2)

    def move(self, chain: Sampler) -> Reals:
        """Draw values anew, given the model and who has which sensitive value; return features."""
        lines = self._lines(self.features)
        if lines.shape[1] > 1:
            together = np.corrcoef(lines.T) + 1e-3 * np.eye(lines.shape[1])
            self.pull = np.linalg.inv(together) - np.eye(lines.shape[1])
        every = np.arange(len(self.codes))
        likely = self._likely(chain, every, self.features)
        for place, cells in enumerate(self.cells):
            if cells.wide.any():
                self._exchange(chain, place, likely)
                for _ in range(TURNS):
                    self._redraw(chain, place, likely)
        return self.features

    def _lines(self, features: Reals) -> Reals:
        return np.clip(features[:, self.shapes.together], -FURTHEST, FURTHEST)

    def _likely(self, chain: Sampler, rows: NDArray[np.int64], features: Reals) -> Reals:
        """Return the log-likelihood of some members as they are, or would be."""
        scores = features @ chain.theta
        bands = scores @ chain.centres.T + chain.shares
        top = bands.max(1)
        whole = np.log(np.exp(bands - top[:, None]).sum(1)) + top
        own = (scores * chain.values.functions[chain.order[rows]]).sum(1)
        lines = self._lines(features)
        found: Reals = own - whole - 0.5 * ((lines @ self.pull) * lines).sum(1)
        return found

    def _exchange(self, chain: Sampler, place: int, likely: Reals) -> None:
        """Let pairs of members of a group exchange what they have of a column."""
        at_random = np.lexsort((self.random.random(len(self.codes)), self.group))
        one, other = at_random[:-1], at_random[1:]
        turn = np.arange(len(one)) - self.starts[self.group[one]]
        paired = (self.group[one] == self.group[other]) & (turn % 2 == 0)
        paired &= self.codes[one, place] != self.codes[other, place]
        one, other = one[paired], other[paired]
        if not len(one):
            return
        both = np.concatenate([one, other])
        codes = self.codes[both]
        codes[:, place] = self.codes[np.concatenate([other, one]), place]
        features = self.shapes.of(codes)
        found = self._likely(chain, both, features)
        gain = (found - likely[both]).reshape(2, -1).sum(0)
        taken = np.tile(np.log(self.random.random(len(one))) < gain, 2)
        self._take(both[taken], codes[taken], features[taken], likely, found[taken])

    def _redraw(self, chain: Sampler, place: int, likely: Reals) -> None:
        """Let one member of each group draw another value inside the cell."""
        cells, starts = self.cells[place], self.starts
        sizes = np.diff(starts)
        chosen = starts[:-1] + np.floor(self.random.random(len(sizes)) * sizes).astype(np.int64)
        mine = self.codes[chosen, place]
        same = np.add.reduceat(self.codes[:, place] == mine[self.group], starts[:-1])
        needed = (mine == cells.low) | (mine == cells.high) if cells.sets is None else mine >= 0
        which = np.flatnonzero(cells.wide & ~(needed & (same == 1)))
        if not len(which):
            return
        usual = np.bincount(self.codes[:, place], minlength=cells.domain.distinct) + UNSEEN
        drawn, old = self.random.random(len(which)), mine[which]
        gain: Reals = np.zeros(len(which))
        if cells.sets is not None:
            begin, listed = cells.sets
            new = listed[begin[which] + (drawn * np.diff(begin)[which]).astype(np.int64)]
            gain = np.log(usual[new] / usual[old])
        else:
            below = np.concatenate([[0], np.cumsum(usual)])
            first, last = below[cells.low[which]], below[cells.high[which] + 1]
            new = np.searchsorted(below, first + drawn * (last - first), side="right") - 1
            new = np.clip(new, cells.low[which], cells.high[which]).astype(np.int32)
            if cells.means is not None:
                gain = self._nearer(place, which, new, old)
        rows = chosen[which]
        codes = self.codes[rows]
        codes[:, place] = new
        features = self.shapes.of(codes)
        found = self._likely(chain, rows, features)
        taken = np.log(self.random.random(len(rows))) < gain + found - likely[rows]
        self._take(rows[taken], codes[taken], features[taken], likely, found[taken])

    def _nearer(self, place: int, which: NDArray, new: Codes, old: Codes) -> Reals:
        """Return by how much sums come nearer to those that the published means say."""
        cells = self.cells[place]
        assert cells.means is not None
        numbers = np.asarray(cells.domain.numbers, np.float64)
        sums = np.add.reduceat(numbers[self.codes[:, place]], self.starts[:-1])
        off = (sums - cells.means * np.diff(self.starts))[which]
        reach = SURE_OF * (numbers[cells.high] - numbers[cells.low])[which]
        after = off + numbers[new] - numbers[old]
        found: Reals = (off**2 - after**2) / (2 * reach**2)
        return found

    def _take(
        self, rows: NDArray, codes: Codes, features: Reals, likely: Reals, found: Reals
    ) -> None:
        self.codes[rows], self.features[rows], likely[rows] = codes, features, found


def drawn_columns(cells: Mapping[str, GroupCells], codes: Codes) -> dict[str, Column]:
    """Return the quasi columns of one completed table."""
    return {
        name: replace(one.domain, codes=np.ascontiguousarray(codes[:, place]))
        for place, (name, one) in enumerate(cells.items())
    }
