"""What only the table itself can decide: how its dates are written, where percentiles lie.

A threshold is public, so a percentile is one of the rows that are published and of no others.

After that the numbers of columns are rounded and cut off, so that everything from here on, the
search, what is measured and what is published, is about the same values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from shoal.errors import BadCells
from shoal.table.columns import is_dictionary
from shoal.table.dates import guess_format
from shoal.table.decimals import plain_numbers
from shoal.table.missing import first_rows
from shoal.table.schema import LABELS, NUMERIC
from shoal.table.trimming import resolve, trim_column

if TYPE_CHECKING:
    from shoal.table.schema import Schema


def settle(
    table: pl.DataFrame, schema: Schema, stays: pl.Series | None = None
) -> tuple[pl.DataFrame, Schema]:
    """Return a table with its columns rounded and cut off, and the schema that says how.

    `stays` says which rows percentiles are taken of: by default all of them. Raises where a column
    has dates that nobody but its owner can read.
    """
    schema.check(table.columns)
    if schema.survey_weight is not None:
        check_weights(schema.read_numbers(table, "other")[schema.survey_weight])
    schema = with_date_formats(table, schema, "quasi", "sensitive")
    plain = {name: _plainly(table[name], schema) for name in schema.trims}
    trims = {
        name: resolve(trim, plain[name] if stays is None else plain[name].filter(stays))
        for name, trim in schema.trims.items()
    }
    settled = replace(
        schema,
        bottom={name: one.bottom for name, one in trims.items() if one.bottom is not None},
        top={name: one.top for name, one in trims.items() if one.top is not None},
    )
    return _trim(table, settled, plain), settled


def check_weights(column: pl.Series) -> None:
    """Raise where a survey weight is missing, no number, or below 0."""
    wrong = no_weights(column)
    if wrong.any():
        advice = (
            "A survey weight must be a number of at least 0 in every row. Correct these cells "
            "first."
        )
        raise BadCells(column.name, "unusable", first_rows(wrong), int(wrong.sum()), advice)


def no_weights(column: pl.Series) -> pl.Series:
    """Return where a cell is no survey weight: missing, no number, or below 0."""
    numbers = weights_of(column)
    bad = numbers.is_null() | ~numbers.is_finite().fill_null(value=False) | (numbers < 0)
    return bad.fill_null(value=True)


def weights_of(column: pl.Series) -> pl.Series:
    """Return survey weights as numbers, null where a cell is none."""
    texts = column.cast(pl.String) if is_dictionary(column) else column
    return texts.cast(pl.Float64, strict=False)


def with_date_formats(table: pl.DataFrame, schema: Schema, *roles: str) -> Schema:
    """Return the schema with how the columns of some roles write their dates."""
    formats = dict(schema.date_formats)
    for name in table.columns:
        kind = schema.types.get(name)
        if schema.role(name) not in roles or name in formats or name in schema.order:
            continue
        if kind in {*LABELS, *NUMERIC}:
            continue
        found = guess_format(table[name])
        if found is not None:
            formats[name] = found
    return replace(schema, date_formats=formats) if formats else schema


def trimmed(table: pl.DataFrame, schema: Schema, *roles: str) -> pl.DataFrame:
    """Return a table whose columns of some roles are rounded and cut off, as was settled."""
    names = [name for name in schema.trims if name in table.columns and schema.role(name) in roles]
    return _trim(table, schema, {name: _plainly(table[name], schema) for name in names})


def as_settled(people: pl.DataFrame | None, schema: Schema) -> pl.DataFrame | None:
    """Return other people with their quasi cells read, rounded and cut off as the table's are."""
    if people is None:
        return None
    return schema.read_numbers(trimmed(people, schema, "quasi"), "quasi")


def _trim(table: pl.DataFrame, schema: Schema, plain: dict[str, pl.Series]) -> pl.DataFrame:
    sign = schema.decimal or "."
    return table.with_columns(
        trim_column(column, schema.trims[name], sign).alias(name) for name, column in plain.items()
    )


def _plainly(column: pl.Series, schema: Schema) -> pl.Series:
    """Return a column with its numbers spelled plainly."""
    if column.dtype != pl.String and not is_dictionary(column):
        return column
    frame = column.to_frame()
    return plain_numbers(frame, frame.columns, schema.decimal, numeric=frame.columns)[column.name]
