"""Columns that are published as they are: their text, types, and what a spreadsheet runs."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING

import polars as pl

from shoal.errors import InputError
from shoal.table.coding import NUMBER, check_type
from shoal.table.column import INTEGER
from shoal.table.columns import is_dictionary
from shoal.table.formulas import escape, escape_name, risky
from shoal.table.frames import BEYOND, unheld

if TYPE_CHECKING:
    from shoal.table.schema import Schema


def integer_type(least: int, most: int) -> pl.DataType:
    """Return the type that holds integers exactly: 64 bits, 38 digits, or text beyond those."""
    if least >= -(2**63) and most < 2**63:
        return pl.Int64()
    if least >= 0 and most < 2**64:
        return pl.UInt64()
    return pl.Decimal(38, 0) if max(-least, most) < 10**38 else pl.String()


BATCH = 2**20  # cells looked at at a time


def unchanged(schema: Schema) -> tuple[str, ...]:
    """Return the published columns that are not generalized."""
    return (*schema.sensitive, *schema.other, *schema.pseudonymize)


def carried_text(column: pl.Series) -> pl.Series:
    """Return a carried column as it is, or as text where files have no other way to hold it.

    Lists and structs are spelled as JSON, bytes as hexadecimal digits, durations by ISO 8601.
    """
    kind = column.dtype
    if unheld(kind) == BEYOND:
        check_type(column)
    if unheld(kind) is not None:
        return column.struct.field(kind.fields[0].name).alias(column.name)  # type: ignore[attr-defined]
    if kind == pl.Duration:
        return column.dt.to_string("iso")
    if kind == pl.Binary:
        return column.bin.encode("hex")
    if kind == pl.Object:
        msg = f"Column {column.name!r} has cells of several types. Turn them into text first."
        raise InputError(msg)
    if not kind.is_nested():
        return column
    cells = column.to_list()
    texts = [None if c is None else json.dumps(c, ensure_ascii=False, default=str) for c in cells]
    return pl.Series(column.name, texts, pl.String)


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
    """Escape what is published as it is, and the header."""
    kept = [name for name in unchanged(schema) if name in table.columns]
    texts = [name for name in kept if table[name].dtype == pl.String]
    table = table.with_columns(escape(table[name]) for name in texts)
    return table.rename({name: escape_name(name) for name in table.columns})


def typed_kind(column: pl.Series, *, spelled: bool) -> pl.DataType | None:
    """Return the type of the numbers that a column spells; `spelled`: and that spell it back."""
    if is_dictionary(column):
        column = column.unique().cast(pl.String)
    known = column.drop_nulls()
    if column.dtype != pl.String or not len(known) or not known.str.contains(NUMBER).all():
        return None
    kind: pl.DataType = pl.Float64()
    if known.str.contains(INTEGER).all():
        beyond = known.filter(known.cast(pl.Int64, strict=False).is_null()).unique()
        whole = [0, *(int(Decimal(text)) for text in beyond)]
        kind = integer_type(min(whole), max(whole))
        if kind == pl.UInt64 and known.str.starts_with("-").any():
            kind = integer_type(-1, max(whole))
    same = not spelled or (known.cast(kind).cast(pl.String) == known).all()
    return kind if same else None
