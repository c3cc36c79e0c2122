"""Whether published cells are regions: the cuts that part them are found again.

Beginning with all that the manifest says there can be, a part is cut in a column where no cell lies
on both sides. In the end every cell has to fill what is left for it, in every column: a cell that
is drawn around its rows does not, nor do two cells that overlap. Cells have to end on the public
grid. What is never mixed, and people with different numbers of rows, are parted by themselves.
So are the rounds of a series, where the cells of groups that are gone fill their place.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.cells import covers_missing, interval_ends, read_set
from shoal.table.dates import date_parts
from shoal.table.forms import MEANS
from shoal.table.grid import in_units
from shoal.table.missing import MISSING_LABEL
from shoal.table.schema import PERSON, RESERVED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from shoal.release.manifest import Manifest
    from shoal.release.stated import StatedColumn, StatedNode

    Ints = NDArray[np.int64]

DAY = 86_400 * 10**9  # nanoseconds
NOWHERE = -1


def check_regions(
    published: pl.DataFrame, manifest: Manifest, linked: Mapping[str, pl.DataFrame]
) -> list[str]:
    """Return a sentence where cells that are said to be regions are none."""
    keys = _without_means(_with_counts(published, manifest, linked), manifest)
    cells = keys.group_by([RESERVED]).first()
    if not manifest.births:
        return _check(cells.drop(RESERVED), manifest)
    firsts = [one.first for one in manifest.births]
    born = cells[RESERVED].cast(pl.String).cast(pl.Int64, strict=False).fill_null(-1)
    round_of = np.searchsorted(firsts, born.to_numpy(), "right") - 1
    wrong = [
        f"{n:,} groups belong to no round of the series." for n in [int((round_of < 0).sum())] if n
    ]
    cells = cells.select(manifest.named("quasi")).cast(pl.String)  # of one row a person
    for place, birth in enumerate(manifest.births):
        gone = pl.DataFrame(birth.gone, schema=cells.schema, orient="row")
        ways: dict[str, dict[str, list[str]]] = {}
        for column in manifest.quasi:
            if column.kind == "node" and not column.never_mix:
                read = [read_set(text) or [""] for text in gone[column.name]]
                ways[column.name] = {way[-1]: way for way in read}
                gone = gone.with_columns(
                    pl.Series(column.name, [way[-1] for way in read], pl.String)
                )
        own = pl.concat([cells.filter(round_of == place), gone])
        wrong += _check(own, manifest, ways) if own.height else []
    return wrong


def _check(
    cells: pl.DataFrame,
    manifest: Manifest,
    ways: Mapping[str, Mapping[str, list[str]]] = MappingProxyType({}),
) -> list[str]:
    """Return a sentence where the cells of one round are no regions."""
    cells = cells.unique(maintain_order=True)  # cells that are equal are one region
    found, part = regions_apart(cells, manifest, ways)
    for name, axis in found.items():
        if bad := int((axis.ends[0] == NOWHERE).sum()):
            return [
                f"{bad:,} regions of column {name!r} end where the step and the bounds of the "
                "manifest allow no cut."
            ]
    axes = [*found.values()]
    count = -1
    while axes and count < int(part.max()) + 1:
        count = int(part.max()) + 1
        for axis in axes:
            part = axis.divided(part)
    wrong = np.bincount(part)[part] > 1
    for axis in axes:
        wrong |= ~axis.filled()
    if not wrong.any():
        return []
    return [
        f"{int(wrong.sum()):,} of {cells.height:,} regions cannot come from cuts: they overlap "
        "others, or do not fill the space between two cuts."
    ]


def _without_means(cells: pl.DataFrame, manifest: Manifest) -> pl.DataFrame:
    """Return cells without the means of their groups: groups that share a region have others."""
    if manifest.form != MEANS:
        return cells
    ends = [column.name for column in manifest.quasi if column.kind == "interval"]
    return cells.with_columns(
        pl.col(ends).cast(pl.String).str.replace(r"^\[([^,]+), [^,]+, ([^,]+)\]$", "[$1, $2]")
    )


def _with_counts(
    published: pl.DataFrame, manifest: Manifest, linked: Mapping[str, pl.DataFrame]
) -> pl.DataFrame:
    """Return the quasi cells of rows, and how many rows their people have, where that is known."""
    names = manifest.named("quasi")
    found = published.select(RESERVED, *names)
    if not manifest.rows_known:
        return found
    whom = published[PERSON].cast(pl.String)
    for place, (name, table) in enumerate([(PERSON, published), *linked.items()]):
        own = table[PERSON if table is published else f"{name}.{PERSON}"].cast(pl.String)
        counts = own.value_counts()
        each = whom.to_frame("who").join(
            counts.rename({own.name: "who", "count": "rows"}), on="who", how="left"
        )
        found = found.with_columns(each["rows"].fill_null(0).alias(f"#rows {place}"))
    return found


def regions_apart(
    cells: pl.DataFrame,
    manifest: Manifest,
    ways: Mapping[str, Mapping[str, list[str]]] = MappingProxyType({}),
) -> tuple[dict[str, StatedLine | StatedBranches], Ints]:
    """Return what each column of regions is cut along, and which regions cuts cannot part."""
    quasi = sorted(manifest.quasi, key=lambda column: column.name)  # as they were cut
    cut = {column.name: column for column in quasi if not column.never_mix}
    apart = [name for name in cells.columns if name not in cut]
    part = np.zeros(cells.height, np.int64)
    if apart:
        part = cells.select(pl.struct(apart).rank("dense") - 1).to_series().to_numpy()
        part = part.astype(np.int64)
    axes: dict[str, StatedLine | StatedBranches] = {}
    for name, column in cut.items():
        texts = cells[name].cast(pl.String)
        axes[name] = (
            StatedBranches.of(texts, column, ways.get(name))
            if column.kind == "node"
            else StatedLine.of(texts, column)
        )
    return axes, part


@dataclass(eq=False)
class StatedLine:
    """Places along a line that cells begin and end at, and what is left for each cell so far."""

    ends: tuple[Ints, Ints]
    box: tuple[Ints, Ints]

    @classmethod
    def of(cls, texts: pl.Series, column: StatedColumn) -> StatedLine:
        """Read the cells of a column."""
        low, high, last = (_labels if column.kind == "set" else _numbers)(texts, column)
        return cls((low, high), (np.zeros_like(low), np.full_like(low, last)))

    def divided(self, part: Ints) -> Ints:
        """Cut parts where no cell lies on both sides."""
        low, high = self.ends
        order = np.lexsort((low, part))
        _, ranks = np.unique(part[order], return_inverse=True)
        known, places = np.unique(high[order], return_inverse=True)
        reached = known[np.maximum.accumulate(places + ranks * len(known)) - ranks * len(known)]
        new = np.diff(ranks, prepend=-1) > 0
        begins = new.copy()
        begins[1:] |= low[order][1:] > reached[:-1]
        at = np.flatnonzero(begins)
        first = np.where(new[at], self.box[0][order][at], low[order][at])
        inner = np.append(~new[at][1:], False)  # the next piece is of the same part
        last = np.where(inner, np.append(first[1:], 0) - 1, self.box[1][order][at])
        found = np.empty_like(part)
        found[order] = np.cumsum(begins) - 1
        self.box = first[found], last[found]
        return found

    def filled(self) -> NDArray[np.bool_]:
        """Return which cells are all that is left for them."""
        found: NDArray[np.bool_] = (self.ends[0] == self.box[0]) & (self.ends[1] == self.box[1])
        return found


def _labels(texts: pl.Series, column: StatedColumn) -> tuple[Ints, Ints, int]:
    """Return the first and the last label of each set, which has to hold all between them."""
    place = {label: rank for rank, label in enumerate(column.values)}
    low, high = np.full((2, len(texts)), NOWHERE, np.int64)
    for row, text in enumerate(texts.fill_null(MISSING_LABEL)):
        ranks = {place.get(label, NOWHERE) for label in read_set(text) or ["", ""]}
        if NOWHERE not in ranks and max(ranks) - min(ranks) + 1 == len(ranks):
            low[row], high[row] = min(ranks), max(ranks)
    return low, high, len(place) - 1


def _numbers(texts: pl.Series, column: StatedColumn) -> tuple[Ints, Ints, int]:
    """Return at which points of the grid each interval begins and ends; missing ones come last."""
    dates = column.dates
    bounds = [str(end) for end in column.bounds or ()]
    step = Decimal(str(column.step))
    first, last = (as_decimals(pl.Series([end]), dates=dates)[0] or Decimal(0) for end in bounds)
    width = in_units(step, DAY) if dates else step
    points = int((last - first) / width) + 1
    ends = []
    alone = texts.fill_null(MISSING_LABEL) == MISSING_LABEL
    for end in interval_ends(texts):
        values = as_decimals(end.fill_null(bounds[0]), dates=dates)
        places = [NOWHERE if one is None else (one - first) / width for one in values]
        good = [one == int(one) and 0 <= one < points for one in places]
        ends.append(
            np.array(
                [int(one) if fine else NOWHERE for one, fine in zip(places, good, strict=True)],
                np.int64,
            )
        )
    low, high = ends
    gaps = covers_missing(texts).to_numpy()
    short = gaps & (high < points - 1)  # nothing lies between the last number and missing ones
    wrong = (low == NOWHERE) | (high == NOWHERE) | (low > high) | short
    high = np.where(gaps, points, high)
    low = np.where(alone.to_numpy(), points, np.where(wrong, NOWHERE, low))
    return low, high, points - (not column.has_gap)


def as_decimals(texts: pl.Series, *, dates: bool) -> list[Decimal | None]:
    """Return numbers as they are written, dates as nanoseconds; None for what is neither."""
    if dates:
        seconds, rest = date_parts(texts)
        pairs = zip(seconds, rest, strict=True)
        return [None if one is None else Decimal(one * 10**9 + more) for one, more in pairs]
    fine = texts.str.contains(r"^-?[0-9.]+([eE][+-]?[0-9]{1,3})?$")
    return [Decimal(text) if good else None for text, good in zip(texts, fine, strict=True)]


@dataclass(eq=False)
class StatedBranches:
    """Nodes of a hierarchy: those above each cell from the root down, and what is left for it."""

    ends: tuple[Ints, Ints]  # the node of each cell, twice
    above: NDArray[np.int64]
    box: Ints

    @classmethod
    def of(
        cls,
        texts: pl.Series,
        column: StatedColumn,
        gone: Mapping[str, list[str]] | None = None,
    ) -> StatedBranches:
        """Read the cells of a column; of nodes with the same values the highest stands for all.

        In a series every node stands for itself: later rounds may bring other values under it. The
        ways down to those of `gone` groups are said.
        """
        nodes = {node.name: node for node in column.tree.nodes}
        number = {name: place for place, name in enumerate(nodes)}

        def way(name: str) -> list[int]:
            found: list[int] = []
            node: StatedNode | None = nodes[name]
            while node is not None:
                above = None if node.parent is None else nodes[node.parent]
                if gone is not None or above is None or above.leaves > node.leaves:
                    found.append(number[node.name])
                node = above
            return found[::-1]

        ways = {name: way(name) for name in nodes}
        for name, named in (gone or {}).items():
            ways[name] = [number.setdefault(one, len(number)) for one in named]
        deep = max(map(len, ways.values())) + 1
        cells = [ways.get(text, []) for text in texts.fill_null(MISSING_LABEL)]
        above = np.full((len(cells), deep), NOWHERE, np.int64)
        for row, nodes_above in enumerate(cells):
            above[row, : len(nodes_above)] = nodes_above
        own = np.array([one[-1] if one else NOWHERE for one in cells], np.int64)
        return cls((own, own), above, above[:, 0].copy())

    def divided(self, part: Ints) -> Ints:
        """Cut parts between the children of the lowest node above all of their cells."""
        _, ranks = np.unique(part, return_inverse=True)
        count = int(ranks.max()) + 1
        level = np.zeros(count, np.int64)  # of the lowest node that is above all cells of a part
        same = np.ones(count, np.bool_)
        for deep in range(1, self.above.shape[1]):
            least = np.full(count, np.iinfo(np.int64).max)
            most = np.full(count, np.iinfo(np.int64).min)
            np.minimum.at(least, ranks, self.above[:, deep])
            np.maximum.at(most, ranks, self.above[:, deep])
            same &= (least == most) & (least != NOWHERE)
            level += same
        child = self.above[
            np.arange(len(ranks)), np.minimum(level[ranks] + 1, self.above.shape[1] - 1)
        ]
        blocked = np.zeros(count, np.bool_)
        blocked[ranks[child == NOWHERE]] = True
        free = ~blocked[ranks]
        self.box = np.where(free, child, self.box)
        keys = ranks * (int(self.above.max()) + 2) + np.where(free, child + 1, 0)
        return np.unique(keys, return_inverse=True)[1].astype(np.int64)

    def filled(self) -> NDArray[np.bool_]:
        """Return which cells are all that is left for them."""
        found: NDArray[np.bool_] = self.ends[0] == self.box
        return found
