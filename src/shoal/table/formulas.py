"""Cells that a spreadsheet would run, and the apostrophe that keeps it from doing so.

A spreadsheet runs what begins with = + - or @, and drops a tab or carriage return before it.
Whoever reads the file again takes the apostrophe away; so that nothing is taken from cells that had
one of their own, those get another: `unescape(escape(x)) == x` for every x.
"""

from __future__ import annotations

import polars as pl

from shoal.table.coding import NUMBER

SIGNS = r"[=+\-@\t\r]"
FORMULA = rf"^{SIGNS}"
LIKE_FORMULA = rf"^'*{SIGNS}"  # what cannot be told from an escaped formula, and formulas
ESCAPED = rf"^'('*{SIGNS})"


def risky(texts: pl.Series) -> pl.Series:
    """Return which cells a spreadsheet would run; a number is no formula, whatever its sign."""
    return _but_numbers(texts, FORMULA)


def _but_numbers(texts: pl.Series, pattern: str) -> pl.Series:
    found = texts.str.contains(pattern).fill_null(value=False)
    return found & ~texts.str.contains(NUMBER).fill_null(value=False) if found.any() else found


def escape(texts: pl.Series) -> pl.Series:
    """Put an apostrophe before formulas, and before what looks like an escaped one.

    Examples
    --------
    >>> escape(pl.Series(["=1+1", "'=1+1", "-5", "plain"])).to_list()
    ["'=1+1", "''=1+1", '-5', 'plain']
    """
    found = _but_numbers(texts, LIKE_FORMULA)
    return texts.zip_with(~found, "'" + texts) if found.any() else texts


def unescape(texts: pl.Series) -> pl.Series:
    """Take the apostrophes away that `escape` has put there."""
    return texts.str.replace(ESCAPED, "$1")


def escape_name(name: str) -> str:
    """Escape the name of a column, as it stands in a header."""
    return escape(pl.Series([name]))[0]


def unescape_name(name: str) -> str:
    """Return the name of a column as it was before it was escaped."""
    return unescape(pl.Series([name]))[0]
