"""The coded table: what searching sees of a table, immutable, without strings or frames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import InputError, UsageError
from shoal.progress import Progress, silent
from shoal.schema.coding import Column, check_type, code_column
from shoal.schema.missing import Missing, complete_rows
from shoal.schema.sensitive import Sensitive

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from shoal.schema.roles import Schema

INTERVAL, SET = 0, 1  # as in shoal.kernels.space


@dataclass(frozen=True, eq=False)
class Space:
    """The quasi columns as the arrays that kernels take (see `shoal.kernels.space`)."""

    codes: tuple[NDArray[np.int32], ...]
    kinds: NDArray[np.int8]
    coords: NDArray[np.float64]
    offsets: NDArray[np.int64]
    units: NDArray[np.float64]

    @cached_property
    def ranks(self) -> NDArray[np.int32]:
        """The ranks of all rows; this is a second copy of the codes, kept for good."""
        return np.ascontiguousarray(np.column_stack(self.codes), np.int32)

    def ranks_of(self, rows: NDArray) -> NDArray[np.int32]:
        """Return the ranks of rows in the order asked for, without a copy of the table."""
        ranks = np.empty((len(rows), len(self.codes)), np.int32)
        for place, codes in enumerate(self.codes):
            ranks[:, place] = codes[rows]
        return ranks

    @property
    def shape_arrays(self) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """What a kernel needs to turn ranks into loss."""
        return self.kinds, self.coords, self.offsets, self.units


@dataclass(frozen=True, eq=False)
class Coded:
    """A table as ranks: quasi columns, sensitive columns, and which input rows they are."""

    quasi: tuple[Column, ...]
    sensitive: tuple[Column, ...]
    rows: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)

    def value(self, names: tuple[str, ...]) -> Sensitive:
        """Return sensitive columns by their names, taken together."""
        known = {column.name: column for column in self.sensitive}
        return Sensitive.of(tuple(known[name] for name in names))

    def subset(self, kept: NDArray[np.int64]) -> Coded:
        """Return some of the rows, with nothing left of the others, not even their values."""
        return Coded(
            tuple(column.only(kept) for column in self.quasi),
            tuple(column.only(kept) for column in self.sensitive),
            self.rows[kept],
        )

    @cached_property
    def space(self) -> Space:
        """The quasi columns as kernel arrays."""
        sizes = [column.distinct for column in self.quasi]
        return Space(
            codes=tuple(column.codes for column in self.quasi),
            kinds=np.array([INTERVAL if c.numeric else SET for c in self.quasi], np.int8),
            coords=np.concatenate([coordinates(column) for column in self.quasi]),
            offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            units=np.array([1 / max(size - 1, 1) for size in sizes]),
        )


def coordinates(column: Column) -> NDArray[np.float64]:
    """Return where each rank stands when the whole column has length one (0 for one value)."""
    if column.values is None:
        return np.arange(column.distinct) / max(column.distinct - 1, 1)
    values = column.values.astype(np.float64)
    values = values / max(1.0, np.abs(values).max())  # so that the span cannot overflow
    span = values[-1] - values[0]
    return (values - values[0]) / span if span > 0 else np.zeros(len(values))


def code_table(
    table: pl.DataFrame,
    schema: Schema,
    *,
    missing: Missing = "error",
    progress: Progress = silent,
) -> Coded:
    """Code a table by its schema, raising a sentence for whatever cannot be used."""
    if not schema.quasi:
        msg = "No quasi column was named. Name the columns to generalize, as in --quasi age,zip."
        raise UsageError(msg)
    schema.check(table.columns)
    if not table.height:
        msg = "The table has a header but no rows."
        raise InputError(msg)
    for name in schema.published:
        check_type(table[name])
    keep = complete_rows(table, (*schema.quasi, *schema.sensitive), missing)
    rows = keep.arg_true().to_numpy().astype(np.int64)
    if len(rows) < table.height:
        table = table.filter(keep)

    columns = (*schema.quasi, *schema.sensitive)

    def code(name: str) -> Column:
        progress("code", columns.index(name) / len(columns))
        return code_column(table[name], kind=schema.types.get(name), order=schema.order.get(name))

    return Coded(
        quasi=tuple(map(code, schema.quasi)),
        sensitive=tuple(map(code, schema.sensitive)),
        rows=rows,
    )
