"""What to do about missing cells, in a table and in columns with a policy of their own.

Missing is null, NaN, or nothing between two commas.

`error` refuses quasi and sensitive columns that have any; `drop` leaves out their rows; `value`
takes missing for a value of its own: a quasi cell says that it may be missing, and a sensitive
value that is missing counts as near to every other.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, get_args

import polars as pl

from shoal.errors import BadCells, InputError, UsageError, option

if TYPE_CHECKING:
    from collections.abc import Mapping

Missing = Literal["error", "drop", "value"]
MISSING_LABEL = ""  # what a missing cell is among labels
FIRST = 5  # how many rows a message names


def is_missing(column: pl.Series) -> pl.Series:
    """Return where a column has no value."""
    if column.dtype.is_float():
        return column.is_null() | column.is_nan().fill_null(value=False)
    if isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
        return column.is_null() | (column.cast(pl.String) == MISSING_LABEL).fill_null(value=False)
    return column.is_null()


def first_rows(where: pl.Series) -> list[int]:
    """Return the first data rows, counted from 1 as people count them."""
    return [row + 1 for row in where.arg_true().head(FIRST)]


def check_policy(policy: str) -> None:
    """Raise where a policy is none."""
    if policy not in get_args(Missing):
        msg = f"{option('missing')} takes {', '.join(get_args(Missing))}. Got {policy!r}."
        raise UsageError(msg)


def complete_rows(
    table: pl.DataFrame,
    columns: tuple[str, ...],
    policy: Missing,
    own: Mapping[str, str] = MappingProxyType({}),
) -> pl.Series:
    """Return which rows stay, raising where the policy of a column, or of all, says so."""
    check_policy(policy)
    keep = pl.repeat(value=True, n=table.height, eager=True)
    for name in columns:
        missing = is_missing(table[name])
        count = int(missing.sum())
        if not count:
            continue
        chosen = own.get(name, policy)
        if chosen == "error":
            raise BadCells(
                name,
                "missing",
                first_rows(missing),
                count,
                f"Fill them in, or choose {option('missing', 'drop')} or "
                f"{option('missing', 'value')}.",
            )
        if chosen == "drop":
            keep &= ~missing
    if table.height and not keep.any():
        msg = "Every row has a missing value, so no row is left to publish."
        raise InputError(msg)
    return keep
