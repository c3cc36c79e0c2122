"""Numbers in the writing of a country: the decimal sign, and what stands between thousands.

Among labels, one number may stand in several writings. There a comma or a point before three digits
may mean either; what may be one number is then taken for one, on the private side.
"""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.errors import UsageError
from shoal.table.columns import change_text, is_dictionary

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray


SIGNS = (".", ",")


SPACES = " '’\u00a0\u202f"

WRITTEN = r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
# Of a number: no blanks or plus, no zeros that say nothing, no point that nothing follows.
PLAIN = (
    (r"^\s*\+?", ""),
    (r"\s+$", ""),
    (r"^(-?)0*([0-9])", "${1}${2}"),
    (r"^(-?)\.", "${1}0."),
    (r"(\.[0-9]*?)0+$", "$1"),
    (r"\.$", ""),
    (r"^-0$", "0"),
)
WAYS = (  # of writing a number, and what has to be replaced by what for a plain one
    (WRITTEN, ()),
    (r"^\s*[+-]?[0-9]+,[0-9]*\s*$", ((",", "."),)),
    (rf"^\s*[+-]?[0-9]{{1,3}}(?:[,{SPACES}][0-9]{{3}})+(?:\.[0-9]*)?\s*$", ((f"[,{SPACES}]", ""),)),
    (
        rf"^\s*[+-]?[0-9]{{1,3}}(?:[.{SPACES}][0-9]{{3}})+(?:,[0-9]*)?\s*$",
        ((f"[.{SPACES}]", ""), (",", ".")),
    ),
)


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


def first_alike(labels: pl.Series) -> NDArray[np.int32] | None:
    """Return for each label the first one that may write the same number, None where no two do.

    >>> first_alike(pl.Series(["1,5", "1.5", "x", "2", "1.234", "1234"])).tolist()
    [0, 0, 2, 3, 4, 4]
    """
    read = [
        pl.DataFrame({"at": at, "key": _changed(labels.gather(at), changes)})
        for pattern, changes in WAYS
        if len(at := labels.str.contains(pattern).arg_true())
    ]
    if not read:
        return None
    table = pl.concat(read).with_columns(_keys(pl.concat(read)["key"]).alias("key"))
    table = table.with_columns(pl.col("at").alias("first"))
    while True:  # a label that may be two numbers joins both
        least = pl.col("first").min()
        joined = table.with_columns(least.over("key")).with_columns(least.over("at"))
        if joined["first"].equals(table["first"]):
            break
        table = joined
    if table["first"].equals(table["at"]):
        return None
    found = np.arange(len(labels), dtype=np.int32)
    found[table["at"].to_numpy()] = table["first"].to_numpy()
    return found


def _changed(texts: pl.Series, changes: Sequence[tuple[str, str]]) -> pl.Series:
    for pattern, instead in changes:
        texts = texts.str.strip_chars().str.replace_all(pattern, instead)
    return texts


def _keys(texts: pl.Series) -> pl.Series:
    """Return numbers in their plainest writing, in which equal ones are equal texts."""
    powers = texts.str.contains("[eE]").arg_true()
    if len(powers):  # as doubles, so that no power is long
        exact = [f"{Decimal(repr(float(text))):f}" for text in texts.gather(powers)]
        texts = texts.scatter(powers, exact)
    for pattern, instead in PLAIN:
        texts = texts.str.replace(pattern, instead)
    return texts
