"""Numbers in the writing of a country: the decimal sign, and what stands between thousands."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from shoal.errors import UsageError
from shoal.table.columns import change_text, is_dictionary

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


SIGNS = (".", ",")


SPACES = " '’\u00a0\u202f"


def check_decimal(sign: str | None) -> str | None:
    """Raise where a decimal sign is neither a point nor a comma."""
    if sign is not None and sign not in SIGNS:
        msg = f"The decimal sign is '.' or ','. Got {sign!r}."
        raise UsageError(msg)
    return sign


def plain_numbers(
    table: pl.DataFrame, names: Sequence[str], sign: str | None, *, numeric: Collection[str] = ()
) -> pl.DataFrame:
    """Spell the numbers of text columns plainly: a point, and nothing between thousands.

    A column is spelled anew when every cell is a number in this writing, or its cells that are
    when it is one of `numeric`. Without a sign nothing changes.
    """
    if check_decimal(sign) is None:
        return table
    texts = [name for name in names if table[name].dtype == pl.String or is_dictionary(table[name])]
    return table.with_columns(
        change_text(table[name], partial(_plain, sign=str(sign), every=name not in numeric))
        for name in texts
    )


def _plain(column: pl.Series, sign: str, *, every: bool) -> pl.Series:
    other = "," if sign == "." else "."
    dot, between = ("\\" + mark for mark in (sign, other))
    whole = rf"-?(?:0|[1-9][0-9]*|[1-9][0-9]{{0,2}}(?:[{SPACES}{between}][0-9]{{3}})+)"
    written = rf"^{whole}(?:{dot}[0-9]+)?(?:[eE][+-]?[0-9]+)?$"
    fits = column.str.contains(written).fill_null(value=True)
    if every and not fits.all():
        return column
    plain = column.str.replace_all(f"[{SPACES}{between}]", "")
    if sign == ",":
        plain = plain.str.replace(",", ".", literal=True)
    return plain if fits.all() else plain.zip_with(fits, column)
