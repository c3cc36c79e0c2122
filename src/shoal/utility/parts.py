"""A release in part files answers count queries a part at a time, and memory holds one of them.

What a column holds, all parts say together: its distinct cells are gathered first, so that an
answer is the one that the same rows in one file give. Where means are published, how many rows a
group has is gathered too; which of them lies where is learned from whole groups, so releases of
means come here only where they have too many rows for that.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.claims import manifest_schema
from shoal.audit.forms import flat_cells, one_cell_each
from shoal.errors import UnknownColumn
from shoal.table.columns import is_dictionary
from shoal.table.forms import MEANS
from shoal.table.missing import MISSING_LABEL
from shoal.table.reading import read_lean
from shoal.table.schema import RESERVED
from shoal.table.settling import weights_of
from shoal.utility.columns import Exact, Intervals, Spread, read_cells

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from shoal.audit.tables import PartFiles
    from shoal.release.manifest import Manifest
    from shoal.utility.sets import Set

CELL, SIZE, ROWS, PLACE = "cell", "size", "rows", "place"
KEPT = 2**27  # bytes of places that are held for the next queries


@dataclass(frozen=True, eq=False)
class KnownColumn:
    """A column, the distinct cells that all parts have in it, and which of its own each one is."""

    cells: pl.DataFrame  # and, where means are published, how many rows the group has
    column: Exact | Spread
    which: NDArray[np.int64]

    def shares(self, wanted: Set) -> NDArray[np.float64]:
        """Return which part of each distinct cell a query asks for."""
        if not isinstance(self.column, Exact):
            return self.column.shares(wanted)[self.which]
        found = np.zeros(len(self.which))
        for first, last in self.column.ranges(wanted):
            found[(self.which >= first) & (self.which <= last)] = 1
        return found

    def places(self, cells: pl.DataFrame) -> NDArray[np.int32]:
        """Return where each of some cells stands among the distinct ones."""
        known = self.cells.drop(ROWS).with_columns(
            pl.Series(PLACE, np.arange(self.cells.height, dtype=np.int32))
        )
        joined = cells.join(
            known, on=cells.columns, how="left", nulls_equal=True, maintain_order="left"
        )
        return joined[PLACE].to_numpy()


class KnownColumns(Mapping[str, "Exact | Spread"]):
    """What can be asked about; a column is read when it is first looked at."""

    def __init__(self, table: PartsTable) -> None:
        self.table = table

    def __getitem__(self, name: str) -> Exact | Spread:
        if name not in self:
            raise KeyError(name)
        return self.table.known(name).column

    def __contains__(self, name: object) -> bool:
        return name in self.table.stated

    def __iter__(self) -> Iterator[str]:
        return iter(self.table.stated)

    def __len__(self) -> int:
        return len(self.table.stated)


class PartsTable:
    """A published table in part files, as something that answers queries."""

    def __init__(self, parts: PartFiles, manifest: Manifest) -> None:
        self.parts, self.manifest = parts, manifest
        self.schema = manifest_schema(manifest)
        self.stated = manifest.by_name
        self.columns = KnownColumns(self)
        self._known: dict[str, KnownColumn] = {}
        self._held: dict[tuple[str, int], NDArray[np.int32]] = {}
        self._lock = threading.RLock()  # queries may come from several threads

    def __len__(self) -> int:
        return self.parts.rows

    @property
    def weighed(self) -> bool:
        """Whether rows stand for people of a population."""
        return self.schema.survey_weight is not None

    def count(self, query: dict[str, Set]) -> float:
        """Return the expected number of rows that a query asks for."""
        return self._sum(query)

    def estimate(self, query: dict[str, Set]) -> float:
        """Return the expected number of people of the population, by the survey weights."""
        name = self.schema.survey_weight
        if name is None:
            return self._sum(query)
        cells = self.known(name).cells.select(pl.col(CELL).alias(name))
        plain = self.schema.read_numbers(cells, "other")[name]
        return self._sum(query, (name, weights_of(plain).to_numpy()))

    def _sum(self, query: dict[str, Set], *weights: tuple[str, NDArray[np.float64]]) -> float:
        """Add up what each row has of a query: the product of its shares, by column."""
        for name in query:
            if name not in self.columns:
                raise UnknownColumn(name, list(self.columns))
        factors = [(name, self.known(name).shares(wanted)) for name, wanted in query.items()]
        total = 0.0
        for part, height in enumerate(self.parts.heights):
            rows = np.ones(height)
            for name, of_cells in (*factors, *weights):
                rows *= of_cells[self._places(name, part)]
            total += float(rows.sum())
        return total

    def known(self, name: str) -> KnownColumn:
        """Return a column with the cells of all parts."""
        with self._lock:
            if name not in self._known:
                counted = pl.concat(
                    [_counted(self._read(name, at)) for at in range(len(self.parts.paths))]
                )
                self._known[name] = self._coded(name, _counted(counted))
            return self._known[name]

    def _coded(self, name: str, cells: pl.DataFrame) -> KnownColumn:
        schema, stated = self.schema, self.stated[name]
        if not stated.quasi:
            named = cells.select(pl.col(CELL).alias(name))
            exact = Exact.of(
                schema.read_numbers(named, "sensitive")[name],
                kind=schema.types.get(name),
                order=schema.order.get(name),
                hierarchy=schema.hierarchies.get(name),
            )
            return KnownColumn(cells, exact, exact.codes.astype(np.int64))
        sizes = cells[SIZE].to_numpy() if SIZE in cells.columns else None
        spread, which = read_cells(cells[CELL], stated, rows=sizes)
        if isinstance(spread, Intervals):
            rows = cells[ROWS].to_numpy().astype(np.float64)
            borne = np.bincount(which, weights=rows, minlength=len(spread.lows))
            spread = spread.borne(borne)
        return KnownColumn(cells, spread, which)

    def _places(self, name: str, part: int) -> NDArray[np.int32]:
        """Return which distinct cell each row of a part has."""
        with self._lock:
            held = self._held.get((name, part))
        if held is None:
            held = self.known(name).places(self._read(name, part))
            with self._lock:
                if sum(one.nbytes for one in self._held.values()) + held.nbytes <= KEPT:
                    self._held[name, part] = held
        return held

    # Reading

    def _read(self, name: str, part: int) -> pl.DataFrame:
        """Return the cells of a column in a part, and the sizes of their groups where means are."""
        stated, form = self.stated[name], self.manifest.form
        tilted = stated.has_ends and stated.form_in(form) == MEANS
        wanted = stated.published_as(form)
        table = self._columns(part, (*wanted, RESERVED) if tilted else wanted)
        cells = one_cell_each(table, self.manifest.but(columns=[stated]))[name]
        if stated.quasi:
            cells = cells.cast(pl.String).fill_null(MISSING_LABEL)
        elif is_dictionary(cells):
            cells = cells.cast(pl.String)
        found = cells.alias(CELL).to_frame()
        if not tilted:
            return found
        return found.with_columns(
            table.select(RESERVED).join(self._sizes, on=RESERVED, maintain_order="left")[SIZE]
        )

    @cached_property
    def _sizes(self) -> pl.DataFrame:
        """How many rows each group has in all parts."""
        parts = [
            self._columns(at, (RESERVED,)).group_by(RESERVED).agg(pl.len().alias(SIZE))
            for at in range(len(self.parts.paths))
        ]
        return pl.concat(parts).group_by(RESERVED).agg(pl.col(SIZE).sum().cast(pl.Int64))

    def _columns(self, part: int, names: tuple[str, ...]) -> pl.DataFrame:
        flat = partial(flat_cells, manifest=self.manifest)
        table = read_lean(self.parts.paths[part], wanted=names, change=flat)
        for name in names:
            if name not in table.columns:
                raise UnknownColumn(name, table.columns)
        return table.select(names)


def _counted(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the distinct cells of some, and how many rows have each."""
    if ROWS not in cells.columns:
        cells = cells.with_columns(pl.lit(1, pl.Int64).alias(ROWS))
    return cells.group_by(pl.exclude(ROWS)).agg(pl.col(ROWS).sum())
