"""What published tables show by themselves: how wide cells are, and which counts they answer.

Everything here is computed from published cells alone, read as the audit reads them, so it can
tell no more than they do.
"""

from __future__ import annotations

import json
import keyword
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.cells import interval_ends
from shoal.errors import ShoalError
from shoal.table.forms import BOUNDS, INTERVALS, MEANS
from shoal.table.missing import MISSING_LABEL
from shoal.table.schema import PERSON, RESERVED
from shoal.table.settling import weights_of
from shoal.utility.bands import HUGE, day_edges, loss_map, round_edges, spelled, tails
from shoal.utility.bias import different
from shoal.utility.columns import Exact, Intervals, how_wide, read_cells
from shoal.utility.expression import read_condition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from shoal.audit.published import Published
    from shoal.release.stated import StatedColumn
    from shoal.table.schema import Schema
    from shoal.utility.columns import Spread
    from shoal.utility.sets import Set

ASKED = 3  # quasi columns that a count is asked of
UPPER = 0.75  # of the rows that lie below what is asked of numbers, about
LABELS = 12  # of a sensitive column that are shown by name
COLUMNS = 12  # sensitive columns that are shown
ROWS = 8  # of a group that is shown as an example
LOOSE = 6  # rows that are shown where there are no groups
COUNT, SIZE = "#rows", "#size"
NUMBER = pl.col(RESERVED).cast(pl.String).cast(pl.Int64)  # of a group, whichever type it has
Answer = tuple[int, float, int]  # at least, estimated, at most


def shown(published: Published) -> dict[str, Any]:
    """Return what the tables of a release show; of one in parts it may be some of its rows."""
    with np.errstate(all="ignore"):  # numbers may be as large as doubles are
        return _shown(published)


def _shown(published: Published) -> dict[str, Any]:
    manifest, schema, rows = published.stated, published.schema, published.table
    cells: dict[str, ShownCells] = {}
    widths: list[dict[str, Any]] = []
    pair: list[ShownCells] = []
    for place, one in enumerate(one for one in manifest.columns if one.quasi):
        column = ShownCells.of(rows, one)
        widths.append(column.widths())
        if column.moderate and column.spread.extent > 1:
            pair = sorted([*pair, column], key=lambda one: -one.lost)[:2]
        if place < ASKED:
            cells[column.name] = column  # the others go, because there can be many different cells
    cells |= {one.name: one for one in pair}
    values = {name: ShownValues.of(rows[name], schema) for name in schema.sensitive[:COLUMNS]}
    both = ShownPairs.of(rows, *pair) if len(pair) > 1 else None
    return {
        "looked_at": rows.height,
        "cells": widths,
        "map": None
        if both is None
        else loss_map(both.first.spread, both.second.spread, both.which, both.rows),
        "values": [one.spread() for one in values.values()],
        "questions": _questions(published, cells, values, both) if published.whole else [],
        "example": _example(published) if published.whole else None,
        "weighed": _weighed(published) if published.whole else None,
    }


@dataclass(frozen=True, eq=False)
class ShownCells:
    """A quasi column as it is published: its different cells, and how many rows have each."""

    name: str
    texts: pl.Series
    spread: Spread
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, table: pl.DataFrame, stated: StatedColumn, *, means: bool = False) -> ShownCells:
        """Count the cells of a column; `means` are looked at with the size of their group."""
        name, sizes = stated.name, None
        if means and stated.has_ends:
            by_group = table.group_by(RESERVED, name).len(COUNT)
            cells, sizes = _as_cells(by_group[name]), by_group[COUNT].cast(pl.Int64).to_numpy()
            counts = sizes
        else:
            cells, places = different(table[name])
            counts = np.bincount(places, minlength=len(cells))
        spread, which = read_cells(cells, stated, rows=sizes)
        rows = np.zeros(len(spread.sizes), np.int64)
        np.add.at(rows, which, counts)
        if isinstance(spread, Intervals):
            spread = spread.borne(rows)
        return cls(name, cells.unique().sort(), spread, rows)

    @property
    def lost(self) -> float:
        """What the rows lose in this column, in all."""
        return float(self.spread.cover.loss() @ self.rows)

    @property
    def moderate(self) -> bool:
        """Whether cells can be compared: not where they are wider than doubles reach."""
        return bool(np.isfinite(self.spread.sizes).all()) and bool(np.isfinite(self.spread.extent))

    def widths(self) -> dict[str, Any]:
        """Return how much cells cover: of numbers their width, of labels how many."""
        return {
            "column": self.name,
            "numeric": self.spread.numeric,
            "dates": self.spread.dates,
            **how_wide(self.spread, self.rows),
        }

    def condition(self) -> str | None:
        """Return a question about the column: who lies above most others, or has a label."""
        spread = self.spread
        if not self.moderate:
            return None
        if isinstance(spread, Intervals):
            ends = interval_ends(self.texts)[0].drop_nulls().unique().sort()
            order = np.argsort(spread.lows, kind="stable")
            reached = np.cumsum((self.rows * ~spread.cover.alone)[order])
            place = spread.lows[order[np.searchsorted(reached, UPPER * reached[-1])]]
            if ends.is_empty() or place not in (places := spread.steps.places(ends)):
                return None  # most cells are missing
            return _at_least(self.name, ends[int(np.argmax(places == place))], dates=spread.dates)
        if (tree := spread.cover.domain.tree) is not None:
            inner = spread.sizes < spread.extent
            chosen = np.where(inner, self.rows, 0) if inner.any() else self.rows
            return _is(self.name, tree.names[spread.cover.nodes[int(np.argmax(chosen))]])
        counts = np.zeros(len(spread.labels))
        np.add.at(counts, spread.held.ranks, (self.rows / spread.sizes)[spread.held.owners])
        return _is(self.name, spread.labels[int(np.argmax(counts))])

    def shares(self, wanted: Set) -> tuple[NDArray, NDArray, NDArray]:
        """Return which cells are inside what is asked for, how much of each, and which may be."""
        spread = self.spread
        found = plain = spread.shares(wanted)
        if isinstance(spread, Intervals):  # as far as cells reach, whatever is known of rows
            plain, cover = spread.reached(wanted), spread.cover
            if spread.missing:  # what is missing satisfies no question
                return (plain >= 1) & ~cover.gaps, found, (plain > 0) & ~cover.alone
        return plain >= 1, found, plain > 0

    def answer(self, wanted: Set) -> Answer:
        """Return how many rows are asked for."""
        least, about, most = (float(one @ self.rows) for one in self.shares(wanted))
        return round(least), about, round(most)


@dataclass(frozen=True, eq=False)
class ShownValues:
    """A column that is published as it is: its different values, and how many rows have each."""

    exact: Exact
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, cells: pl.Series, schema: Schema) -> ShownValues:
        """Count the values of a column."""
        counted = cells.to_frame().group_by(cells.name).len(COUNT)
        plain = counted[cells.name].cast(pl.String)
        exact = Exact.of(plain, kind=schema.types.get(cells.name))
        rows = np.zeros(int(exact.codes.max()) + 1, np.int64)
        np.add.at(rows, exact.codes, counted[COUNT].cast(pl.Int64).to_numpy())
        return cls(exact, rows)

    def spread(self) -> dict[str, Any]:
        """Return how the values are distributed: shares of round bands, or of labels."""
        exact, facts = self.exact, {"column": self.exact.name, "numeric": self.exact.numeric}
        total = int(self.rows.sum())
        if exact.values is None:
            order = np.argsort(-self.rows, kind="stable")
            kept = order[: LABELS if len(order) > LABELS + 1 else len(order)].tolist()
            names = [exact.labels[one] or "(missing)" for one in kept]
            shares = [int(self.rows[one]) / total for one in kept]
            return facts | {"names": names, "shares": shares, "others": len(order) - len(kept)}
        if abs(exact.values).max() > HUGE:
            nothing: dict[str, Any] = {"numeric": False, "names": [], "shares": []}
            return facts | nothing | {"others": len(exact.values)}
        numbers = exact.values.astype(np.float64) / exact.per_day
        rows = self.rows[: len(numbers)]
        first, last = tails(numbers, rows)
        whole = exact.per_day == 1 and exact.values.dtype != np.float64
        edges = day_edges(first, last) if exact.dates else round_edges(first, last, whole=whole)
        counts = np.bincount(
            np.searchsorted(edges, numbers, "right"), weights=rows, minlength=len(edges) + 1
        )
        return facts | {
            "dates": exact.dates,
            "edges": edges.tolist(),
            "ends": [spelled(one, dates=exact.dates) for one in numbers[[0, -1]].tolist()],
            "shares": (counts / total).tolist(),
            "mean": spelled(float(numbers @ (rows / rows.sum())), dates=exact.dates),
        }

    def condition(self) -> str | None:
        """Return a question about the column: the upper half, or the most frequent label."""
        exact = self.exact
        if exact.values is None:
            return _is(exact.name, exact.labels[int(np.argmax(self.rows))])
        if exact.per_day > 1 or abs(exact.values).max() > HUGE:
            return None
        reached = np.cumsum(self.rows[: len(exact.values)])
        place = int(np.searchsorted(reached, reached[-1] / 2))
        return _at_least(exact.name, exact.labels[place], dates=exact.dates)

    def answer(self, wanted: Set) -> Answer:
        """Return how many rows are asked for, which is known."""
        ranges = self.exact.ranges(wanted)
        found = sum(int(self.rows[low : high + 1].sum()) for low, high in ranges)
        return found, float(found), found


@dataclass(frozen=True, eq=False)
class ShownPairs:
    """Two quasi columns: which cells of both stand together, and in how many rows."""

    first: ShownCells
    second: ShownCells
    which: tuple[NDArray[np.int64], NDArray[np.int64]]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, table: pl.DataFrame, first: ShownCells, second: ShownCells) -> ShownPairs:
        """Count the cells of two columns together."""
        (texts, ahead), (_, after) = (different(table[one.name]) for one in (first, second))
        # One number a pair: counting by two columns takes several times the memory of the rows.
        together, rows = np.unique(after.astype(np.int64) * len(texts) + ahead, return_counts=True)
        which = together % len(texts), together // len(texts)
        return cls(first, second, which, rows)

    def answer(self, query: Mapping[str, Set]) -> Answer:
        """Return how many rows are asked for in both columns."""
        sides = [
            [share[which] for share in one.shares(query[one.name])]
            for one, which in zip((self.first, self.second), self.which, strict=True)
        ]
        least, about, most = (
            float((one * other) @ self.rows) for one, other in zip(*sides, strict=True)
        )
        return round(least), about, round(most)


def _questions(
    published: Published,
    cells: Mapping[str, ShownCells],
    values: Mapping[str, ShownValues],
    both: ShownPairs | None,
) -> list[dict[str, Any]]:
    """Ask a few counts, and say between which numbers each must lie.

    Of two tables people are known exactly, and what goes with what by groups.
    """
    manifest, schema, people = published.stated, published.schema, published.people
    means, apart = manifest.form == MEANS, people is not None
    pair = [] if both is None or means or apart else [both.first.name, both.second.name]
    quasi = manifest.quasi
    quasi = [one for at, one in enumerate(quasi) if at < ASKED or one.name in pair]
    columns: dict[str, ShownCells | ShownValues] = dict(values)
    for one in quasi:
        columns[one.name] = (
            ShownValues.of(people[one.name], schema)
            if people is not None
            else cells[one.name]
            if not means
            else ShownCells.of(published.table, one, means=True)
        )
    asked = [[name] for name in list(values)[:1]] + [[one.name] for one in quasi[:ASKED]]
    asked += [pair] if pair else []
    if apart and values and PERSON not in published.table.columns:
        asked.append([quasi[0].name, next(iter(values))])
    found = []
    for names in asked:
        conditions = [columns[name].condition() for name in names]
        query = None if None in conditions else _read(" and ".join(map(str, conditions)), columns)
        if query is None:
            continue
        if len(query) == 1:
            answer = columns[names[0]].answer(query[names[0]])
        elif both is None or apart:
            answer = _by_groups(published, query)
        else:
            answer = both.answer(query)
        text = " and ".join(map(str, conditions))
        found.append(
            {"condition": text} | dict(zip(("least", "about", "most"), answer, strict=True))
        )
    return found


def _read(text: str, columns: Mapping[str, ShownCells | ShownValues]) -> dict[str, Set] | None:
    """Read a condition; None where it has names or numbers that the notation cannot spell."""
    known = {
        name: one.spread if isinstance(one, ShownCells) else one.exact
        for name, one in columns.items()
    }
    try:
        ((query, _),) = read_condition(text, known).items()
    except (ShoalError, ValueError):
        return None
    return dict(query)


def _by_groups(published: Published, query: Mapping[str, Set]) -> Answer:
    """Return how many rows are asked for in both of two tables, which share their groups."""
    schema, people = published.schema, published.people
    assert people is not None
    counts = []
    for name, wanted in query.items():
        table = people if name in schema.quasi else published.table
        exact = Exact.of(table[name].cast(pl.String), kind=schema.types.get(name))
        inside = np.zeros(table.height, np.int64)
        for low, high in exact.ranges(wanted):
            inside[(exact.codes >= low) & (exact.codes <= high)] = 1
        groups = table.select(NUMBER).with_columns(pl.Series(COUNT, inside))
        by_group = groups.group_by(RESERVED).agg(pl.col(COUNT).sum(), pl.len().alias(SIZE))
        counts.append(by_group.sort(RESERVED))
    one, other = (side[COUNT].to_numpy() for side in counts)
    size = counts[0][SIZE].to_numpy()
    least, most = np.maximum(one + other - size, 0), np.minimum(one, other)
    return int(least.sum()), float((one * other / size).sum()), int(most.sum())


def _as_cells(cells: pl.Series) -> pl.Series:
    return cells.cast(pl.String).fill_null(MISSING_LABEL)


def _at_least(name: str, value: str, *, dates: bool) -> str:
    return f"{_quoted(name)} >= {json.dumps(value) if dates else value}"


def _is(name: str, label: str | None) -> str:
    return f"{_quoted(name)} == {json.dumps(label or '', ensure_ascii=False)}"


def _quoted(name: str) -> str:
    """Return the name of a column as a condition has it."""
    return name if name.isidentifier() and not keyword.iskeyword(name) else f"`{name}`"


def _example(published: Published) -> dict[str, Any] | None:
    """Return published rows as they stand in the table: a small group, or the first ones.

    Columns that are published beside them are left out. None where the form has cells that say
    more than what they cover.
    """
    manifest, schema, rows = published.stated, published.schema, published.table
    if manifest.form not in {INTERVALS, BOUNDS}:
        return None
    if not manifest.grouped:
        some = rows.head(LOOSE)
    else:
        texts, which = different(rows[RESERVED])
        counted = {RESERVED: texts.cast(pl.Int64), COUNT: np.bincount(which)}
        sizes = pl.DataFrame(counted).group_by(RESERVED).sum().sort(COUNT, RESERVED)
        small = sizes.filter(pl.col(COUNT) <= ROWS)
        chosen = small[(small.height - 1) // 2] if small.height else sizes[0]
        wanted = (counted[RESERVED] == chosen[RESERVED][0]).to_numpy()
        some = rows.filter(pl.Series(wanted[which])).head(ROWS)
    kinds = {one.name: one.kind for one in manifest.columns}
    beside = {one.name for one in manifest.columns} - {*schema.quasi, *schema.sensitive}
    cells = some.select(pl.exclude(beside).cast(pl.String))
    return {
        "group": None if not manifest.grouped else int(chosen[COUNT][0]),
        "columns": [{"name": name, "kind": kinds.get(name)} for name in cells.columns],
        "rows": [list(row) for row in cells.iter_rows()],
    }


def _weighed(published: Published) -> dict[str, Any] | None:
    """Return how many people of the population those of a group stand for, by survey weights."""
    manifest, schema, rows = published.stated, published.schema, published.table
    name = manifest.survey_weight
    if name is None or name not in rows.columns or not manifest.grouped:
        return None
    weights = weights_of(schema.read_numbers(rows.select(name), "other")[name])
    members = pl.col(PERSON).n_unique() if PERSON in rows.columns else pl.len()
    groups = rows.with_columns(weights.alias(COUNT)).group_by(RESERVED)
    people = groups.agg((pl.col(COUNT).first() * members).alias(COUNT))[COUNT].to_numpy()
    return {"column": name, "least": float(people.min()), "median": float(np.median(people))}
