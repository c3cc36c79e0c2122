"""Dates and timestamps as ISO 8601 writes them, as whole units of time from 1970-01-01.

Time is integers: days where no cell has a time of day, microseconds where one has, nanoseconds
where one is finer still; `per_day` says which, and a timestamp without a zone counts as UTC. Only
what speaks of days (a distance, the width of a bin) divides by it, and what is compared is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
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
