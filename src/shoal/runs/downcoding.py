"""Downcoding at any size: what cells exclude for a reader who knows how they were made.

The reader knows the method, its requirement and how cells are drawn, and nobody. Had the rows lain
elsewhere, other cells would have been published (Cohen. Attacks on Deidentification's Defenses.
USENIX Security 2022; arXiv 2509.03350). So the reader knows, column by column:

    tight cells : somebody lies on each end, and has each label of a set; under a node, at least
                  two of its children are taken
    regions     : a cut lies at the roundest place between the rows on both sides, so some row
                  beside it lies before the next place that is as round
    parts       : one that the method shows and could have cut was not cut: so its rows tie at the
                  middle, or its sensitive values lie so that a half would fail
    minimality  : a table by others may have the narrowest nodes that groups of k rows allow; then
                  fewer than k rows lie under a child of a large group, and none under a child that
                  stands elsewhere

Each column and group is counted by itself, so what is counted is the least that this reader
excludes: `tests/reference` has the linear program over the counts of a group in all columns.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import exp, gcd
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.cells import covers_missing, interval_ends, read_set
from shoal.audit.regions import DAY, StatedLine, as_decimals, regions_apart
from shoal.errors import NotAchievable
from shoal.exact import percent
from shoal.methods.base import Method, Task
from shoal.principles.groups import Groups
from shoal.release.regions import ROUND
from shoal.runs.possibilities import Room, possible
from shoal.table.coded import code_table
from shoal.table.forms import TWO_TABLES
from shoal.table.grid import TIGHT, in_units
from shoal.table.missing import MISSING_LABEL
from shoal.table.schema import NODE, Schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from shoal.audit.published import Published
    from shoal.release.stated import StatedColumn

    Ints = NDArray[np.int64]

PARTS, DRAWS = 400, 8  # parts whose halves are drawn, and how often
SEED = 1  # of what is drawn, so that every run says the same


@dataclass(frozen=True)
class Downcoded:
    """What a reader excludes who knows how the cells of a release were made.

    Of the values of rows in cells that leave a choice, `named` is the share that the reader knows
    to be there, and `narrower` is how much narrower cells would exclude as much. `sensitive` is the
    mean share of pairings of values with either half of a part that are excluded; None where the
    method does not show its parts. `least` is the size of groups that a table without a manifest is
    taken to allow.
    """

    release: str
    named: float
    narrower: float
    sensitive: float | None
    least: int | None = None

    @property
    def sentence(self) -> str:
        """Say it in plain words."""
        who = f"A reader of {self.release} who knows how its cells were made"
        if self.least is not None:
            who = (
                f"If the nodes of {self.release} are the narrowest that groups of {self.least} "
                "rows allow, a reader"
            )
        said = (
            f"{who} can name {percent(self.named, 1)} of the quasi-identifiers in cells that "
            "leave a choice, but not whose they are. All that the reader excludes is worth as much "
            f"as cells that are {percent(self.narrower, 1)} narrower."
        )
        if self.sensitive is None:
            return f"{said} What this reader learns about sensitive values was not counted."
        if not self.sensitive:
            return f"{said} The reader excludes nothing about sensitive values."
        return (
            f"{said} Of the ways in which the sensitive values of a group can lie in its two "
            f"halves, the reader excludes {percent(self.sensitive, 1)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values with its sentence."""
        return asdict(self) | {"sentence": self.sentence}


def downcoded(published: Published) -> Downcoded | None:
    """Count what a reader excludes of a release, or of a table by others; None where nothing can.

    That is where cells are not drawn around rows: releases without groups, in two tables, coarser
    ones, those of a series and those of people with several rows.
    """
    if published.heterogeneous or published.form == TWO_TABLES or published.person is not None:
        return None
    manifest = published.manifest
    if manifest is None:
        least = int(published.by_cells.sizes.min())
        rooms = [room for *_, room in narrowest_rooms(published, least)]
        found = _counted(published.name, rooms)
        return None if found is None else replace(found, least=least)
    if manifest.coarsened_from or manifest.in_series or manifest.people is not None:
        return None
    found = _counted(published.name, [room for one in rooms_of(published) for room in one])
    return None if found is None else replace(found, sensitive=excluded(published))


def _counted(name: str, rooms: Sequence[Room]) -> Downcoded | None:
    """Add up the rooms of all groups and columns that leave a choice."""
    each = Counter(room for room in rooms if room.values > 1)
    rows = sum(room.rows * times for room, times in each.items())
    if not rows:
        return None
    known = sum(min(room.named, room.rows) * times for room, times in each.items())
    left = sum(exp(possible(room) / room.rows) * room.rows * n for room, n in each.items())
    return Downcoded(name, known / rows, max(0.0, 1 - left / rows), None)


def rooms_of(published: Published) -> Iterator[list[Room]]:
    """Yield for each quasi column of a release what is known of every group in it.

    Of regions it is what is known of all rows in a region: groups may share one.
    """
    manifest = published.stated
    tight = manifest.cells is None
    groups = published.groups if tight else published.by_cells
    cells = published.table.select(manifest.named("quasi"))[groups.first.tolist()]
    sizes = groups.sizes.tolist()
    ties = _tied(published, groups)
    ends = {} if tight else _beside_cuts(cells, published)
    for column in manifest.quasi:
        texts = cells[column.name].cast(pl.String).fill_null(MISSING_LABEL)
        if column.kind == "node":
            found = list(_under(texts, column, sizes)) if tight else []
        elif column.kind == "set" and tight:
            counts = [len(read_set(text) or [text]) for text in texts]
            found = [
                Room(rows, (1,) * n, (1,) * n, (rows,) * n)
                for rows, n in zip(sizes, counts, strict=True)
            ]
        elif tight:
            known = zip(sizes, _values_of(texts, column), strict=True)
            found = [Room.between(rows, n, min(n - 1, 1), min(n - 1, 1)) for rows, n in known]
        else:
            known = zip(sizes, *ends[column.name], strict=True)
            found = [Room.between(rows, *more) for rows, *more in known]
        if ties is not None and column.kind != "node" and not (tight and column.kind == "set"):
            found = [room.tied(*tie) for room, tie in zip(found, ties, strict=True)]
        yield found


def _values_of(texts: pl.Series, column: StatedColumn) -> list[int]:
    """Return how many values an interval has: on the stated step, or in its last digit, or days."""
    low, high = interval_ends(texts)
    alone = low.is_null().to_list()
    both = [as_decimals(end.fill_null("0"), dates=column.dates) for end in (low, high)]
    ends = [one for end in both for one in end if one is not None]
    if column.dates:
        unit = Fraction(gcd(DAY, *map(int, ends)))
    elif column.step is not None:
        unit = Fraction(str(column.step))
    else:
        unit = Fraction(10) ** min(0, *(int(one.as_tuple().exponent) for one in ends))
    missing = (covers_missing(texts)).to_list()
    return [
        1 if gap or a is None or b is None else int((Fraction(b) - Fraction(a)) / unit) + 1 + more
        for gap, more, a, b in zip(alone, missing, *both, strict=True)
    ]


def _under(texts: pl.Series, column: StatedColumn, sizes: Sequence[int]) -> Iterator[Room]:
    """Yield the rooms of narrowest nodes: at least two children of each are taken.

    A manifest names the nodes that were used; what else lies under one is taken for its own child.
    """
    leaves = {node.name: node.leaves for node in column.tree.nodes}
    children: dict[str, list[int]] = {name: [] for name in leaves}
    for node in column.tree.nodes:
        if node.parent is not None and node.leaves < leaves[node.parent]:
            children[node.parent].append(node.leaves)
    for rows, text in zip(sizes, texts, strict=True):
        some = children.get(text, [])
        runs = (*some, *[1] * (leaves.get(text, 1) - sum(some)))
        yield Room(rows, runs, (0,) * len(runs), (max(rows - 1, 1),) * len(runs))


def _beside_cuts(cells: pl.DataFrame, published: Published) -> Mapping[str, Any]:
    """Return for each column but nodes how many values regions have, and where somebody lies.

    A cut at b is the highest multiple of the roundest step t between the rows on both sides. So
    above it, a row lies before b + t; below it, at the last place before b that is rounder, or
    beyond. Where one cell alone reaches so far, it is a row of its own.
    """
    manifest = published.stated
    axes, part = regions_apart(cells, manifest)
    lines = {name: axis for name, axis in axes.items() if isinstance(axis, StatedLine)}
    found = {
        name: (axis.ends[1] - axis.ends[0] + 1, *np.zeros((2, len(part)), np.int64))
        for name, axis in lines.items()
    }
    origins = {one.name: _origin(one) for one in manifest.quasi if one.name in lines}
    count = -1
    while axes and count < int(part.max()) + 1:
        count = int(part.max()) + 1
        for name, axis in axes.items():
            before = axis.box
            part = axis.divided(part)
            if isinstance(axis, StatedLine):
                low, high = axis.ends
                for side, (old, new) in enumerate(zip(before, axis.box, strict=True)):
                    at = new if side == 0 else new + 1
                    step, rounder = _roundness(at + origins[name])
                    last = at + step if side == 0 else rounder - origins[name]
                    reaching = (low < last) if side == 0 else (high >= last)
                    reaching &= old != new
                    single = np.bincount(part[reaching], minlength=int(part.max()) + 1) == 1
                    own = np.flatnonzero(reaching & single[part])
                    width = last - low if side == 0 else high + 1 - last
                    found[name][1 + side][own] = np.minimum(width, high - low + 1)[own]
    return {name: [one.tolist() for one in known] for name, known in found.items()}


def _origin(column: StatedColumn) -> int:
    """Return which multiple of the step the first place of a column is, 0 where it is none."""
    if column.kind == "set" or column.bounds is None:
        return 0
    (low,) = as_decimals(pl.Series([str(column.bounds[0])]), dates=column.dates)
    step = Decimal(str(column.step))
    width = in_units(step, DAY) if column.dates else step
    first = Fraction(low or 0) / Fraction(width)
    return int(first) if first.denominator == 1 else 0


def _roundness(at: Ints) -> tuple[Ints, Ints]:
    """Return the roundest step that a place is a multiple of, and the last rounder one below."""
    step, rounder = np.ones_like(at), np.full_like(at, np.iinfo(np.int64).min // 2)
    power = 1
    while power <= 10 * max(1, int(np.abs(at).max())):
        for times in ROUND:
            size = power * times
            fits = at % size == 0
            step = np.where(fits, size, step)
            rounder = np.where(fits, np.iinfo(np.int64).min // 2, rounder)
            rounder = np.where(fits, rounder, np.maximum(rounder, at // size * size))
        power *= 10
    return step, rounder


def _tied(published: Published, parts: Groups) -> list[tuple[int, int]] | None:
    """Return which numbers of rows lie below no cut of each part; None where that is not known.

    A part that could have been cut in two, and was not, has no place for a cut that leaves enough
    rows on both sides: for regions wherever it lies, for tight cells at the median.
    """
    manifest, required = published.stated, published.require
    if manifest.suppressed != 0 or not all(one.principle.sizes_only for one in required):
        return None
    if not Method.read(manifest.method).halves:
        return None
    least = max(one.principle.least for one in required)
    alone = np.ones(len(parts), np.bool_)
    if manifest.cells is not None:  # a region that several groups share says nothing of one
        first = np.unique(published.groups.labels, return_index=True)[1]
        alone = np.bincount(parts.labels[first], minlength=len(parts)) == 1
    return [
        (max(least, (rows + 1) // 2 if manifest.cells is None else 0), rows - least)
        if one
        else (1, 0)
        for rows, one in zip(parts.sizes.tolist(), alone.tolist(), strict=True)
    ]


def _shown_parts(published: Published, method: Method) -> Groups | None:
    """Return the parts at which cuts ended, None where a reader does not see them."""
    if method.shows_nodes():
        known = NODE in published.table.columns
        return Groups.of(published.table[NODE].cast(pl.Int64).to_numpy()) if known else None
    every = [one.principle for one in published.require]
    halved = method.halves and all(
        one.monotone and (one.searchable or one.sizes_only) for one in every
    )
    return published.groups if halved else None


def excluded(published: Published) -> float | None:
    """Return which share of pairings of sensitive values with half a part are excluded, on average.

    A half is drawn, and the method asked whether it would have cut the part so. Where it would for
    some draws, these are excluded, because the part was not cut. Where it would for all, other
    reasons kept it from doing so: its rows tie.
    """
    method = Method.read(published.stated.method)
    parts = _shown_parts(published, method)
    if parts is None:
        return None
    required = published.require
    if all(one.principle.sizes_only for one in required):
        return 0.0
    numbers = {
        name: asked
        for one in required
        for name, asked in zip(one.columns, one.principle.numbers_of(len(one.columns)), strict=True)
    }
    schema = published.schema
    kept = Schema(
        sensitive=schema.sensitive,
        types={name: schema.types[name] for name in schema.sensitive if name in schema.types},
    )
    coded = code_table(published.table, kept, missing="value", asked=numbers)
    task = Task(replace(coded, cells=published.stated.cells or TIGHT), tuple(required))
    random = np.random.default_rng(SEED)
    shares = []
    for part in random.permutation(np.argsort(parts.first))[:PARTS].tolist():  # numbered by chance
        rows = parts.rows(part)
        drawn = [random.permutation(rows) for _ in range(DRAWS if len(rows) > 1 else 0)]
        middle = (len(rows) + (not task.draws_regions)) // 2
        cut = [
            method.divides(task, [np.sort(one[:middle]), np.sort(one[middle:])], _must_hold)
            for one in drawn
        ]
        shares.append(0.0 if all(cut) else float(np.mean(cut)))
    return float(np.mean(shares))


def _must_hold(task: Task) -> None:
    if not task.holds(Groups(np.zeros(len(task.coded), np.int64))):
        msg = "A half does not hold."
        raise NotAchievable(msg)


def narrowest_rooms(
    published: Published, least: int
) -> Iterator[tuple[tuple[str, ...], int, Room]]:
    """Yield cells, the place of a column, and the room of its node, where nodes are the narrowest.

    A child of a group of 2k rows that had k of them would stand by itself. A child that stands
    elsewhere, with all other cells alike, would have taken in the rows that lie under it.
    """
    quasi = published.schema.quasi
    parts = published.by_cells
    cells = published.table.select(quasi)[parts.first.tolist()].rows()
    known = set(cells)
    for place, name in enumerate(quasi):
        listed = published.schema.hierarchies.get(name)
        paths = getattr(listed, "paths", ())
        leaves = Counter(node for path in paths for node in dict.fromkeys(path))
        children: dict[str, dict[str, None]] = {}
        for path in paths:
            way = list(dict.fromkeys(path))
            for child, node in pairwise(way):
                children.setdefault(node, {})[child] = None
        for cell, rows in zip(cells, parts.sizes.tolist(), strict=True):
            under = children.get(cell[place])
            if under is None:
                continue
            usual = rows - 1 if rows < 2 * least else least - 1
            most = [
                0 if rows > least and (*cell[:place], one, *cell[place + 1 :]) in known else usual
                for one in under
            ]
            if sum(most) >= rows:  # otherwise the nodes are not the narrowest
                runs = tuple(leaves[one] for one in under)
                yield cell, place, Room(rows, runs, (0,) * len(runs), tuple(most))
