"""Cells that are published as they are: which a spreadsheet would run, which are numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.schema.coding import NUMBER, parse_numbers
from shoal.schema.columns import is_dictionary

if TYPE_CHECKING:
    from shoal.schema.roles import Schema

FORMULA = r"^[=+\-@]"
BATCH = 2**20  # cells looked at at a time


def unchanged(schema: Schema) -> tuple[str, ...]:
    """Return the published columns that are not generalized."""
    return (*schema.sensitive, *schema.other, *schema.pseudonymize)


def risky(texts: pl.Series) -> pl.Series:
    """Return which cells a spreadsheet would run; a number is no formula, whatever its sign."""
    found = texts.str.contains(FORMULA).fill_null(value=False)
    return found & ~texts.str.contains(NUMBER).fill_null(value=False) if found.any() else found


def count_formulas(column: pl.Series) -> int:
    """Count the cells that a spreadsheet would run as a formula."""
    if column.dtype.is_integer():
        return 0
    if is_dictionary(column):
        counted = column.value_counts()
        return int(counted["count"].filter(risky(counted[column.name].cast(pl.String))).sum())
    return sum(
        int(risky(part["cell"].cast(pl.String)).sum())
        for part in column.to_frame("cell").iter_slices(BATCH)
    )


def defuse(table: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """Put an apostrophe before the text cells that a spreadsheet would run as a formula.

    Quasi cells are left alone: they are labels that the manifest lists.
    """
    for name in unchanged(schema):
        if table[name].dtype == pl.String and (found := risky(table[name])).any():
            escaped = pl.when(found).then(pl.lit("'") + pl.col(name)).otherwise(pl.col(name))
            table = table.with_columns(escaped.alias(name))
    return table


def typed_kind(column: pl.Series, *, spelled: bool) -> pl.DataType | None:
    """Return the type of the numbers that a column spells; `spelled`: and that spell it back."""
    if is_dictionary(column):
        column = column.unique().cast(pl.String)
    known = column.drop_nulls()
    if column.dtype != pl.String or not len(known) or not known.str.contains(NUMBER).all():
        return None
    kind = pl.Int64() if parse_numbers(known).dtype == np.int64 else pl.Float64()
    same = not spelled or (known.cast(kind).cast(pl.String) == known).all()
    return kind if same else None
