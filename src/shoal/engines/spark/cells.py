"""Distinct cells in place of cells, so that rows travel as small numbers and lose nothing.

A column is known by its distinct cells and how many rows have each. The place of a cell among them
stands for it everywhere: its rank is read from there, and so is the cell as it came in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.table.coded import Coded, strata_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from shoal.table.column import Column
    from shoal.table.partition import PersonOf
    from shoal.table.schema import Schema

CELL, PLACE = "cell", "place"


@dataclass(frozen=True, eq=False)
class Cells:
    """The distinct cells of a column, and the column that they make, one code a cell."""

    cells: pl.Series
    column: Column

    def places(self, cells: pl.Series) -> NDArray[np.int32]:
        """Return where each of some cells stands among the distinct ones."""
        known = pl.DataFrame(
            {
                CELL: as_key(self.cells),
                PLACE: pl.Series(np.arange(len(self.cells), dtype=np.int32)),
            }
        )
        found = as_key(cells).alias(CELL).to_frame()
        joined = found.join(known, on=CELL, how="left", nulls_equal=True, maintain_order="left")
        places = joined[PLACE]
        if places.has_nulls():
            msg = f"Column {self.column.name!r} changed while it was being read. Try again."
            raise InputError(msg)
        return places.to_numpy()

    def ranks(self, places: NDArray) -> Column:
        """Return the column of rows whose cells stand at some places."""
        return self.column.part(places)

    def as_they_came(self, places: pl.Series) -> pl.Series:
        """Return the cells that stand at some places."""
        return self.cells.gather(places).alias(self.column.name)


def as_key(cells: pl.Series) -> pl.Series:
    """Return cells so that equal ones are found: what is no number is missing."""
    return cells.fill_nan(None) if cells.dtype.is_float() else cells


@dataclass(frozen=True, eq=False)
class Domains:
    """What the quasi and the sensitive columns of a table hold, and what was said of them."""

    quasi: tuple[Cells, ...]
    sensitive: tuple[Cells, ...]
    schema: Schema

    @property
    def all(self) -> tuple[Cells, ...]:
        """The quasi columns, then the sensitive ones."""
        return (*self.quasi, *self.sensitive)

    def coded(
        self,
        places: Sequence[NDArray[np.int32]],
        person_of: PersonOf,
    ) -> Coded:
        """Return rows as the search sees them, over the domains of the whole table."""
        columns = [one.ranks(at) for one, at in zip(self.all, places, strict=True)]
        quasi = tuple(columns[: len(self.quasi)])
        schema, rows = self.schema, len(person_of.labels)
        return Coded(
            quasi=quasi,
            sensitive=tuple(columns[len(self.quasi) :]),
            rows=np.arange(rows, dtype=np.int64),
            person_of=person_of,
            strata=strata_of(quasi, schema, rows),
            weights=schema.weights,
            most_rows=schema.most_rows,
            rows_known=schema.rows_known,
        )


def only_published(column: Column, published: Mapping[int, int]) -> tuple[Column, NDArray]:
    """Return a column with the cells that are published, each so often, and where ranks are now.

    What a hierarchy is built from are these cells too, so nothing is left of the others.
    """
    places = np.array(sorted(published), np.int64)
    times = np.zeros(len(column.codes), np.int64)
    times[places] = [published[int(place)] for place in places]
    whole = replace(column, times=times)
    if column.grown is not None:
        source = replace(column.grown.source, times=times)
        whole = replace(whole, grown=replace(column.grown, source=source))
    fewer = whole.only(places)
    moved = np.full(column.distinct, -1, np.int32)
    moved[column.codes[places]] = fewer.codes
    return fewer, moved
