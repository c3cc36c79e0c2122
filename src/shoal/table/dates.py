"""Dates and timestamps, in the ways people write them, as whole units of time from 1970-01-01.

Time is integers: days where no cell has a time of day, microseconds where one has, nanoseconds
where one is finer still; `per_day` says which, and a timestamp without a zone counts as UTC. Only
what speaks of days (a distance, the width of a bin) divides by it, and what is compared is not.

They are read as ISO 8601 writes them, or as people do: 31/12/1948, 12/31/1948, 5 Mar 1948, Mar 5,
1948. The whole column decides, never its first cells. Where two ways read every cell, as for
03/04/1948, or the year has two digits, nobody but the owner can know: then it is asked about. Cells
so written are read as ISO 8601 dates; intervals of them are published in that form, which no two
countries read differently, and cells that are published as they are keep their writing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.errors import BadCells, BadColumnOption, UsageError, option
from shoal.table.columns import change_text, is_dictionary
from shoal.table.missing import first_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


MOMENT = (
    r"^(?<y>[0-9]{4})-?(?<m>[0-9]{2})-?(?<d>[0-9]{2})"
    r"(?:[T ](?<H>[0-9]{2}):?(?<M>[0-9]{2})(?::?(?<S>[0-9]{2})(?:\.(?<f>[0-9]{1,9}))?)?"
    r"(?<z>Z|[+-][0-9]{2}:?[0-9]{2})?)?$"
)
MICROSECONDS = 86_400_000_000  # in a day
NANOSECONDS = 1000 * MICROSECONDS
SECONDS = 86_400
LARGEST = 2**61  # units: differences and sums of so many fit 64 bits


def parse_dates(texts: pl.Series) -> tuple[NDArray[np.int64], int] | None:
    """Return the time that texts stand for, and how many units there are to a day.

    None where one is no date, or nanoseconds would not fit (see `too_fine`).

    Examples
    --------
    >>> parse_dates(pl.Series(["1969-12-31", "1970-01-02"]))
    (array([-1,  1]), 1)
    >>> parse_dates(pl.Series(["1970-01-01T00:00:01", "1970-01-02"]))
    (array([    1000000, 86400000000]), 86400000000)
    >>> parse_dates(pl.Series(["2023-02-30"])) is None
    True
    """
    seconds, rest = date_parts(texts)
    if seconds.has_nulls() or _beyond(seconds, rest).any():
        return None
    whole, nanoseconds = seconds.to_numpy(), rest.to_numpy()
    if (nanoseconds % 1000).any():
        return whole * 10**9 + nanoseconds, NANOSECONDS
    if nanoseconds.any() or (whole % SECONDS).any():
        return whole * 10**6 + nanoseconds // 1000, MICROSECONDS
    return whole // SECONDS, 1


def too_fine(texts: pl.Series) -> pl.Series:
    """Return which dates cannot be held in nanoseconds, where a column needs them."""
    return _beyond(*date_parts(texts))


def _beyond(seconds: pl.Series, rest: pl.Series) -> pl.Series:
    needed = bool((rest % 1000 != 0).any())
    return (seconds.abs() >= (LARGEST // 10**9 if needed else LARGEST)).fill_null(value=False)


def date_units(
    texts: pl.Series, per_day: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return the last unit not after each date, the first not before it, and which are dates."""
    seconds, rest = date_parts(texts)
    good = seconds.is_not_null().to_numpy()
    most = 2 * LARGEST // 10**9  # beyond whatever a column of nanoseconds has
    whole = seconds.fill_null(0).to_numpy()
    if per_day == NANOSECONDS:
        whole = whole.clip(-most, most)
    step = 10**9 * SECONDS // per_day  # nanoseconds of a unit
    if per_day == 1:
        floor, left = np.divmod(whole, SECONDS)
    else:
        floor, left = whole * (10**9 // step), np.zeros_like(whole)
    parts, fraction = np.divmod(rest.fill_null(0).to_numpy(), step)
    floor = floor + parts
    return floor, floor + ((left + fraction) > 0), good


def units_as_dates(values: NDArray[np.int64], per_day: int) -> pl.Series:
    """Return whole units of time as dates, or as timestamps where there is a time of day."""
    if per_day == 1:
        return pl.Series(values).cast(pl.Int32).cast(pl.Date)
    return pl.Series(values).cast(pl.Datetime("us" if per_day == MICROSECONDS else "ns"))


def read_moments(texts: pl.Series) -> NDArray[np.int64] | None:
    """Return the microseconds from 1970-01-01 up to each date; None if one is no date."""
    seconds, rest = date_parts(texts)
    return None if seconds.has_nulls() else (seconds * 10**6 + rest // 1000).to_numpy()


def not_dates(texts: pl.Series) -> pl.Series:
    """Return which texts are no dates."""
    return date_parts(texts)[0].is_null()


def date_parts(texts: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return the whole seconds before each date and the nanoseconds after them, null for none."""
    parts = texts.str.extract_groups(MOMENT).struct.unnest()
    number = {name: pl.col(name).cast(pl.Int64) for name in "ymdHMS"}
    clock = [number[name].fill_null(0) for name in "HMS"]
    inside = (clock[0] < 24) & (clock[1] < 60) & (clock[2] < 60)
    digits = pl.col("z").str.replace(":", "")
    shift = digits.str.slice(1, 2).cast(pl.Int64) * 60 + digits.str.slice(3, 2).cast(pl.Int64)
    minutes = pl.when(digits.str.starts_with("-")).then(-shift).otherwise(shift)
    zone = pl.when(pl.col("z") == "Z").then(0).otherwise(minutes).fill_null(0)
    dashed = pl.lit(texts).str.slice(4, 1) == "-"
    even = dashed == (pl.lit(texts).str.slice(7, 1) == "-")  # 2024-0101 is no date
    day = pl.concat_str("y", pl.lit("-"), "m", pl.lit("-"), "d").str.to_date(strict=False)
    days = day.cast(pl.Int32).cast(pl.Int64)
    fraction = pl.col("f").fill_null("0").str.pad_end(9, "0").cast(pl.Int64)
    seconds = clock[0] * 3600 + clock[1] * 60 + clock[2] - zone * 60
    found = parts.select(
        pl.when(inside & even).then(days * SECONDS + seconds).alias("seconds"),
        pl.when(inside & even).then(fraction).alias("rest"),
    )
    return found["seconds"], found["rest"]


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
ISO = "yyyy-mm-dd"
WAYS = (*NUMERIC_WAYS, *NAMED_WAYS, *OTHER_WAYS)


def check_format(column: str, said: object) -> str:
    """Return a way of writing dates, or raise where it is none.

    >>> check_format("born", "DD/MM/YYYY")
    'dd/mm/yyyy'
    """
    allowed = (
        "written with dd, mm (or mon), and yyyy (or yy), for example dd/mm/yyyy or 'dd mon yyyy'"
    )
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


def in_three_parts(cells: pl.Series) -> bool:
    """Return whether most of the first cells have three parts, as dates do: that is soon seen."""
    head = cells.head(FIRST)
    return not (~head.str.contains(THREE_PARTS)).sum() > MOSTLY * len(head)


def guess_format(column: pl.Series) -> str | None:
    """Return how a column of text writes its dates, None where they are ISO or it has none.

    Raises where that cannot be told, because the owner has to say it.
    """
    if column.dtype != pl.String and not is_dictionary(column):
        return None
    cells = column.drop_nulls().unique().cast(pl.String)
    head = cells.head(FIRST)
    if not len(head) or not in_three_parts(head):
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
        return found, f"has dates that can be read in two ways, {both}, and both fit every cell."
    if not found and (short := readings(cells, SHORT_WAYS)):
        return short, "has dates whose years have two digits."
    return found, None


def _remedy(name: str, found: Sequence[str]) -> str:
    ways = " or ".join(option("date_format", f"{name}={way}") for way in found)
    return (
        f"Tell Shoal which one it is: {ways}. If they are labels, set "
        f"{option('type', f'{name}=code')}."
    )


def _refuse_strays(column: pl.Series, cells: pl.Series) -> None:
    """Raise where most cells are dates in one way, and the others would make labels of all."""
    head = cells.head(FIRST)
    for way in (ISO, *WAYS):
        if _strays(head, way).sum() > MOSTLY * len(head):
            continue
        bad = _strays(cells, way)
        where = column.is_in(cells.filter(bad).cast(column.dtype).implode()).fill_null(value=False)
        if 0 < int(where.sum()) < MOSTLY * len(column):
            labels = option("type", f"{column.name}=categorical")
            advice = (
                f"The other cells are dates ({way}), so Shoal would read the whole column as "
                "labels. Correct or empty those cells, or confirm that they are labels: "
                f"{labels}."
            )
            raise BadCells(column.name, "not a date", first_rows(where), int(where.sum()), advice)


def _strays(cells: pl.Series, way: str) -> pl.Series:
    """Return which cells are no dates in a way."""
    return not_dates(cells) if way == ISO else to_iso(cells, way).is_null()


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
            advice = f"Correct them, or set how the dates are written: {option('date_format')}."
            raise BadCells(
                column.name, f"not a date ({way})", first_rows(where), int(where.sum()), advice
            )
        return cells.zip_with(lost, iso)

    return change_text(column, read)
