"""Where in its cell a row with some value is likely to lie, by what all boxes tell together.

Means say where the rows of a group lie between two ends (`tilted`), not which row lies where. But
the one who stretches a cell is there for a value that the others lack: among houses of one place
the one from afar is the one of another price. So the cell of a box is a few places, its two ends
and the parts between, each with as many of the rows as lie there; places go to bands of their
column, values to bands of theirs, and likings between both are learned, and values shared out among
the places of their box, as they are among people (`pairing`). Of a row with a value in band s a
query asks for the part of what lies at each place that goes to band s; columns are independent of
each other given the value. Every cell keeps what its mean says of it: what changes is who lies
where. A column counts if its bands tell more than chance does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.kernels.pairing import keep_placed
from shoal.kernels.queries import mark_rows
from shoal.utility.columns import Intervals
from shoal.utility.pairing import Slots, in_bands, learn, most_bands, one_in, share_out, telling
from shoal.utility.tilted import tilt_below, tilt_place

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.utility.queries import BoxTable, Query
    from shoal.utility.sets import Set
    from shoal.utility.tilted import Tilted

    LongInts = NDArray[np.int64]
    Reals = NDArray[np.float64]

PARTS = 3  # between the ends of a cell, at most


@dataclass(frozen=True, eq=False)
class CellPlaces:
    """Where rows may lie in a column, box by box: those of box b begin at `starts[b]`.

    A place is a unit, `spots`, or (`spread`) the rows between the ends from the share `begins` of
    them to the share `ends`, in the order of their values; the spot is then in the middle of them.
    `weights` is the share of the box's rows that lie there, and `cells` the cell of the box.
    """

    tilted: Tilted
    starts: LongInts
    cells: LongInts
    weights: Reals
    spots: Reals
    spread: NDArray[np.bool_]
    begins: Reals
    ends: Reals

    @classmethod
    def of(cls, tilted: Tilted, cells: LongInts) -> CellPlaces:
        """Take cells with their means, and the cell of each box."""
        sizes = (tilted.highs - tilted.lows + 1)[cells]
        held = tilted.held
        rows = np.maximum(tilted.rows[cells], max(held, 1))
        parts = np.where(sizes > 1, np.minimum(rows - held, PARTS), 0).astype(np.int64)
        points = np.where(sizes > 1, held, 1)  # the ends, where there are two
        starts = np.concatenate([[0], np.cumsum(points + parts)]).astype(np.int64)
        box = np.repeat(np.arange(len(cells)), points + parts)
        part = np.arange(starts[-1]) - starts[box] - points[box]
        between = part >= 0
        every = np.maximum(parts[box], 1)
        begins, ends = part / every, (part + 1) / every
        each = np.where(points[box] == 1, 1.0, 1 / rows[box])
        weights = np.where(between, (rows[box] - held) / rows[box] / every, each)
        cell = cells[box]
        middles = np.where(between, (begins + ends) / 2, 0.5)
        inner = tilt_place(sizes[box], tilted.rates[cell], middles)
        known = tilted.rows[cell] == held + 1  # a single row between the ends follows from the mean
        inner = np.where(known, np.rint(tilted.centres[cell]), inner)
        at_end = np.where(part == -points[box], tilted.lows[cell], tilted.highs[cell])
        spots = np.where(between, tilted.lows[cell] + inner, at_end)
        return cls(tilted, starts, cell, weights, spots, between & ~known, begins, ends)

    def marks(self, firsts: Reals, lasts: Reals) -> Reals:
        """Return which part of each place's rows lies in any of some disjoint runs of units."""
        lows, rates = self.tilted.lows, self.tilted.rates
        sizes = self.tilted.highs - lows + 1
        found = np.zeros(len(self.spots))
        for first, last in zip(firsts, lasts, strict=True):
            begin = np.clip(first - lows, 0, sizes)
            end = np.maximum(np.clip(last - lows + 1, 0, sizes), begin)
            before, until = (tilt_below(sizes, rates, at)[self.cells] for at in (begin, end))
            inside = np.minimum(until, self.ends) - np.maximum(before, self.begins)
            part = np.maximum(inside, 0.0) / (self.ends - self.begins)
            found += np.where(self.spread, part, (first <= self.spots) & (self.spots <= last))
        return found

    def bands(self, rows: LongInts, most: int) -> NDArray[np.int32]:
        """Return the band of each place, when boxes have so many rows."""
        codes = np.unique(self.spots, return_inverse=True)[1]
        borne = self.weights * np.repeat(rows, np.diff(self.starts))
        return in_bands(codes, True, most, borne)  # noqa: FBT003


@dataclass(frozen=True, eq=False)
class TellingColumn:
    """A column that tells something: its places, and how the values are shared out among them."""

    places: CellPlaces
    shares: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class LikelyPlaces:
    """The columns of a table in which rows with some values lie at some places rather."""

    slots: Slots
    rows: LongInts  # the slot of each row
    columns: dict[str, TellingColumn]

    @classmethod
    def of(cls, table: BoxTable) -> LikelyPlaces | None:
        """Learn from a table of means; None where it tells nothing."""
        tilted = {
            name: CellPlaces.of(column.tilted, cells.astype(np.int64))
            for (name, column), cells in zip(table.quasi.items(), table.cells, strict=True)
            if isinstance(column, Intervals) and column.tilted is not None
        }
        if not tilted or not table.values:
            return None
        slots = Slots.holding(table.rows, table.values, table.starts)
        groups = np.ascontiguousarray(chance_order(tilted)[:: one_in(len(table))])
        columns = {}
        for name, places in tilted.items():
            bands = places.bands(table.sizes, most_bands(len(table)))[np.newaxis]
            told = groups, places.starts, slots, bands, places.weights
            if telling(*told)[0]:
                shares = share_out(*told[1:], learn(*told))
                columns[name] = TellingColumn(places, shares)
        rows = np.repeat(slots.starts[:-1], table.sizes) + slots.of
        return cls(slots, rows, columns) if columns else None

    def asked(self, table: BoxTable, query: Query) -> Reals:
        """Return the expected number of rows of each box that a query asks for, by its places.

        What it asks of columns that are not placed is left to the caller.
        """
        marks = np.empty((2, len(table)), np.uint8)
        codes, *ranges = table.rows.asked(query)
        mark_rows(codes, 0, len(table), *ranges, marks)
        slots = self.slots
        found = np.bincount(self.rows, weights=marks[0], minlength=len(slots.held))
        for name, column in self.columns.items():
            if name in query:
                places = column.places
                marked = places.marks(*_runs(table, name, query[name]))
                keep_placed(places.starts, slots.starts, slots.filled, column.shares, marked, found)
        return np.add.reduceat(found, slots.starts[:-1])


def chance_order(columns: dict[str, CellPlaces]) -> LongInts:
    """Return boxes in an order of chance, which is the same in whichever order they come."""
    keys = [
        part[places.cells[places.starts[:-1]]]
        for places in columns.values()
        for part in (places.tilted.lows, places.tilted.highs, places.tilted.centres)
    ]
    order = np.lexsort(keys)
    return order[np.random.default_rng(0).permutation(len(order))]


def _runs(table: BoxTable, name: str, wanted: Set) -> tuple[Reals, Reals]:
    column = table.quasi[name]
    assert isinstance(column, Intervals)
    return column.runs(wanted)
