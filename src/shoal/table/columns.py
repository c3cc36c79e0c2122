"""Columns that arrive in batches, held in little memory.

A column of text that repeats its cells is held as a dictionary (Categorical, 4 bytes a row); one
whose cells are nearly all different stays text, because a dictionary would only add to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

UNIQUE = 0.9  # of the rows have a cell of their own: a dictionary no longer pays
ENOUGH = 2**20  # rows after which that is judged; cells that repeat seldom seem unique before


class Gathered:
    """A table in the making: batches come in, columns go out."""

    def __init__(self, *, lean: bool) -> None:
        self.lean = lean
        self.parts: dict[str, list[pl.Series]] = {}
        self.kinds: dict[str, pl.DataType] = {}

    def add(self, batch: pl.DataFrame) -> None:
        """Take the next rows."""
        if self.lean:
            for name, kind in batch.schema.items():
                if kind == pl.String and name not in self.kinds:
                    self.kinds[name] = pl.Categorical(pl.Categories.random())
            # In one call, so that columns are cast side by side.
            batch = batch.with_columns(pl.col(name).cast(kind) for name, kind in self.kinds.items())
        for column in batch:
            parts = self.parts.setdefault(column.name, [])
            parts.append(column)
            if is_dictionary(column) and not self._pays(parts):
                self.kinds[column.name] = pl.String()
                parts[:] = [part.cast(pl.String) for part in parts]

    @staticmethod
    def _pays(parts: list[pl.Series]) -> bool:
        rows = sum(map(len, parts))
        return rows < ENOUGH or top_code(parts[-1]) < UNIQUE * rows

    def table(self, header: Sequence[str], rows: int) -> pl.DataFrame:
        """Return all rows; a column of the header that never came has its name and no cells."""
        columns, nothing = [], pl.repeat(None, rows, dtype=pl.Null, eager=True)
        for name in header:
            parts = self.parts.pop(name, None)
            if parts is None:
                columns.append(nothing.alias(name))
            else:
                columns.append(pl.concat(parts, rechunk=False))  # no second copy
        return pl.DataFrame(columns)


def is_dictionary(column: pl.Series) -> bool:
    """Return whether the cells of a column are held once each."""
    return isinstance(column.dtype, pl.Categorical)


def top_code(column: pl.Series) -> int:
    """Return the largest code of a column that is held as codes; -1 where all cells are missing."""
    top = column.to_physical().max()
    assert top is None or isinstance(top, int)
    return -1 if top is None else top


def distinct(column: pl.Series) -> tuple[pl.Series, NDArray[np.int32]]:
    """Return the distinct cells of a dictionary, missing as one, and each row's place there."""
    cells = column.unique()
    missing = top_code(cells) + 1
    places = np.empty(missing + 1, np.int32)
    known, rows = (one.to_physical().cast(pl.UInt32).fill_null(missing) for one in (cells, column))
    places[known.to_numpy()] = np.arange(len(cells), dtype=np.int32)
    return cells, places[rows.to_numpy()]


def change_text(column: pl.Series, change: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Change the cells of a column of text, each by itself; a dictionary stays one."""
    if not is_dictionary(column):
        return change(column)
    cells, places = distinct(column)
    changed = change(cells.cast(pl.String))
    return changed.cast(pl.Categorical(pl.Categories.random())).gather(places)


def without_cells(table: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return a table whose named columns keep their place and have no cells."""
    nothing = pl.repeat(None, table.height, dtype=pl.Null, eager=True)
    return table.with_columns(nothing.alias(name) for name in names)


class Handed:
    """A table that is handed over: whoever takes it holds it alone and can let go of its cells."""

    def __init__(self, table: pl.DataFrame) -> None:
        self._held = [table]

    def take(self) -> pl.DataFrame:
        """Return the table, once."""
        return self._held.pop()
