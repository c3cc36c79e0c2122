"""Dates in the ways people write them: 31/12/1948, 12/31/1948, 5 Mar 1948, Mar 5, 1948.

The whole column decides, never its first cells. Where two ways read every cell, as for 03/04/1948,
or the year has two digits, nobody but the owner can know: then it is asked about. Cells so written
are read as ISO 8601 dates; intervals of them are published in that form, which no two countries
read differently, and cells that are published as they are keep their writing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from shoal.errors import BadCells, BadColumnOption, UsageError
from shoal.table.columns import change_text, is_dictionary
from shoal.table.dates import not_dates
from shoal.table.missing import first_rows
from shoal.wording import option

if TYPE_CHECKING:
    from collections.abc import Sequence

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
TOKEN = re.compile(r"yyyy|yy|month|mon|mm|dd|m|d")
BETWEEN = re.compile(r"[ /.,-]*")
CLOCK = r"(?:[ T](?<H>[0-9]{1,2}):(?<M>[0-9]{2})(?::(?<S>[0-9]{2})(?:\.[0-9]+)?)?)?"
PIVOT = 30  # two-digit years below it are of this century
FIRST = 50  # cells that mostly tell whether a column is worth reading
THREE_PARTS = r"[0-9A-Za-z][ /.,-]+[0-9A-Za-z]+[ /.,-]+[0-9A-Za-z]"  # as every way has them
MOSTLY = 0.5  # share of dates from which a column is taken to be meant as dates

NUMERIC_WAYS = tuple(
    order.replace("/", sign) for sign in "/.-" for order in ("dd/mm/yyyy", "mm/dd/yyyy")
)
NAMED_WAYS = (
    "dd mon yyyy",
    "dd-mon-yyyy",
    "dd/mon/yyyy",
    "dd. mon yyyy",
    "mon dd, yyyy",
    "mon dd yyyy",
    "yyyy-mon-dd",
)
OTHER_WAYS = ("yyyy/mm/dd", "yyyy.mm.dd")
SHORT_WAYS = tuple(way.replace("yyyy", "yy") for way in (*NUMERIC_WAYS, *NAMED_WAYS[:4]))
WAYS = (*NUMERIC_WAYS, *NAMED_WAYS, *OTHER_WAYS)


def check_format(column: str, said: object) -> str:
    """Return a way of writing dates, or raise where it is none.

    >>> check_format("born", "DD/MM/YYYY")
    'dd/mm/yyyy'
    """
    allowed = "written with dd, mm (or mon), and yyyy (or yy), as dd/mm/yyyy or 'dd mon yyyy'"
    if not isinstance(said, str):
        raise BadColumnOption(column, "date_format", allowed, said)
    way = said.strip().lower()
    kinds = sorted(token[0] for token in TOKEN.findall(way))
    if kinds != ["d", "m", "y"] or not BETWEEN.fullmatch(TOKEN.sub("", way)):
        raise BadColumnOption(column, "date_format", allowed, said)
    return way


def to_iso(texts: pl.Series, way: str) -> pl.Series:
    """Return dates so written as ISO 8601 writes them, null where a text is none.

    Examples
    --------
    >>> to_iso(pl.Series(["5 Mar 1948", "31 february 1950"]), "dd mon yyyy").to_list()
    ['1948-03-05', None]
    >>> to_iso(pl.Series(["3/4/48", "3/4/12"]), "dd/mm/yy").to_list()
    ['1948-04-03', '2012-04-03']
    """
    found = texts.str.strip_chars().str.extract_groups(_pattern(way)).struct.unnest()
    if "b" in found.columns:
        names = found["b"].str.to_lowercase()
        known = {name[:length]: place for place, name in enumerate(MONTHS, 1)
                 for length in range(3, len(name) + 1)} | {"sept": 9}  # fmt: skip
        found = found.with_columns(
            names.replace_strict(known, default=None, return_dtype=pl.Int64)
            .cast(pl.String)
            .alias("m")
        )
    year = pl.col("y").cast(pl.Int64, strict=False)
    if re.search(r"(?<!y)yy(?!y)", way):
        year = pl.when(year < PIVOT).then(year + 2000).otherwise(year + 1900)
    day = pl.concat_str(
        year.cast(pl.String).str.zfill(4),
        pl.lit("-"),
        pl.col("m").str.zfill(2),
        pl.lit("-"),
        pl.col("d").str.zfill(2),
    )
    clock = pl.concat_str(
        pl.lit("T"),
        pl.col("H").str.zfill(2),
        pl.lit(":"),
        "M",
        pl.lit(":"),
        pl.col("S").fill_null("00"),
    )
    written = pl.when(pl.col("H").is_null()).then(day).otherwise(day + clock)
    iso = found.select(written.alias("iso"))["iso"]
    bad = not_dates(iso)
    return iso.zip_with(~bad, pl.Series([None], dtype=pl.String)).alias(texts.name)


def _pattern(way: str) -> str:
    """Return what a text so written looks like; numbers side by side have all their digits."""
    parts, end, bare = [], 0, TOKEN.sub("", way) == ""
    for token in TOKEN.finditer(way):
        parts.append(re.escape(way[end : token.start()]).replace(r"\ ", " +"))
        word = token[0]
        if word in {"mon", "month"}:
            parts.append(r"(?<b>[A-Za-z]{3,9})\.?")
        elif word.startswith("y"):
            parts.append(f"(?<y>[0-9]{{{len(word)}}})")
        else:
            parts.append(f"(?<{word[0]}>[0-9]{{{'2' if bare else '1,2'}}})")
        end = token.end()
    parts.append(re.escape(way[end:]))
    return f"^{''.join(parts)}{CLOCK}$"


def readings(cells: pl.Series, ways: Sequence[str] = WAYS) -> list[str]:
    """Return the ways of writing dates in which every cell reads."""
    if not len(cells):
        return []
    head = cells.head(FIRST)
    likely = [way for way in ways if not to_iso(head, way).has_nulls()]
    return [way for way in likely if len(cells) <= FIRST or not to_iso(cells, way).has_nulls()]


def guess_format(column: pl.Series) -> str | None:
    """Return how a column of text writes its dates, None where they are ISO or it has none.

    Raises where that cannot be told, because the owner has to say it.
    """
    if column.dtype != pl.String and not is_dictionary(column):
        return None
    cells = column.drop_nulls().unique().cast(pl.String)
    head = cells.head(FIRST)
    if not len(head) or (~head.str.contains(THREE_PARTS)).sum() > MOSTLY * len(head):
        return None
    if not not_dates(head).any() and not not_dates(cells).any():
        return None
    found, doubt = tell_apart(cells)
    if doubt is not None:
        msg = f"Column {column.name!r} {doubt} {_remedy(column.name, found)}"
        raise UsageError(msg)
    if not found:
        _refuse_strays(column, cells)
    return found[0] if found else None


def tell_apart(cells: pl.Series) -> tuple[list[str], str | None]:
    """Return the ways in which cells read as dates, and what is unclear about them."""
    found = readings(cells)
    if len(found) > 1:
        both = " and ".join(found)
        return found, f"has dates that read in two ways, {both}, and both fit every cell."
    if not found and (short := readings(cells, SHORT_WAYS)):
        return short, "has dates whose years have two digits."
    return found, None


def _remedy(name: str, found: Sequence[str]) -> str:
    ways = " or ".join(option("date_format", f"{name}={way}") for way in found)
    return f"Say which it is: {ways}; or that they are labels: {option('type', f'{name}=code')}."


def _refuse_strays(column: pl.Series, cells: pl.Series) -> None:
    """Raise where most cells are dates in one way, and the others would make labels of all."""
    head = cells.head(FIRST)
    for way in WAYS:
        if to_iso(head, way).null_count() > MOSTLY * len(head):
            continue
        bad = to_iso(cells, way).is_null()
        where = column.is_in(cells.filter(bad).cast(column.dtype).implode()).fill_null(value=False)
        if 0 < int(where.sum()) < MOSTLY * len(column):
            labels = option("type", f"{column.name}=categorical")
            advice = (
                f"The others are dates ({way}), and would be taken for labels. Mend or empty those "
                f"cells, or say that they are labels: {labels}."
            )
            raise BadCells(column.name, "not a date", first_rows(where), int(where.sum()), advice)


def iso_column(column: pl.Series, way: str) -> pl.Series:
    """Return a column with its dates as ISO 8601 writes them, raising where one is none.

    Cells that are ISO dates already stay: a release has its intervals so.
    """
    if column.dtype != pl.String and not is_dictionary(column):
        return column

    def read(cells: pl.Series) -> pl.Series:
        iso = to_iso(cells, way)
        lost = iso.is_null() & cells.is_not_null()
        strange = lost & not_dates(cells).fill_null(value=False)
        if strange.any():
            texts = column.cast(pl.String)
            where = texts.is_in(cells.filter(strange).implode()).fill_null(value=False)
            advice = f"Mend them, or say how they are written: {option('date_format')}."
            raise BadCells(
                column.name, f"not a date ({way})", first_rows(where), int(where.sum()), advice
            )
        return cells.zip_with(lost, iso)

    return change_text(column, read)
