"""Dates and timestamps as ISO 8601 writes them, and how many days they are from 1970-01-01.

A column of dates has whole days; with a time of day anywhere it has days with a fraction, a
timestamp without a zone counting as UTC. Distances between dates are therefore in days.
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


def parse_dates(texts: pl.Series) -> NDArray[np.int64] | NDArray[np.float64] | None:
    """Return the days that texts stand for, whole where there is no time; None if one is no date.

    Examples
    --------
    >>> parse_dates(pl.Series(["1969-12-31", "1970-01-02"]))
    array([-1,  1])
    >>> parse_dates(pl.Series(["1970-01-01T12:00", "1970-01-02"]))
    array([0.5, 1. ])
    >>> parse_dates(pl.Series(["2023-02-30"])) is None
    True
    """
    moments = read_moments(texts)
    if moments is None:
        return None
    whole, rest = np.divmod(moments, MICROSECONDS)
    return moments / MICROSECONDS if rest.any() else whole


def days(texts: pl.Series) -> NDArray[np.float64]:
    """Return the days that texts stand for, NaN for those that are no dates."""
    return (_moments(texts).cast(pl.Float64) / MICROSECONDS).fill_null(float("nan")).to_numpy()


def days_as_dates(values: NDArray) -> pl.Series:
    """Return days as dates, or as timestamps where there is a time of day."""
    if values.dtype == np.int64:
        return pl.Series(values).cast(pl.Int32).cast(pl.Date)
    return pl.Series(np.rint(values * MICROSECONDS).astype(np.int64)).cast(pl.Datetime("us"))


def read_moments(texts: pl.Series) -> NDArray[np.int64] | None:
    """Return the microseconds from 1970-01-01 that texts stand for; None if one is no date."""
    moments = _moments(texts)
    return None if moments.has_nulls() else moments.to_numpy()


def not_dates(texts: pl.Series) -> pl.Series:
    """Return which texts are no dates."""
    return _moments(texts).is_null()


def _moments(texts: pl.Series) -> pl.Series:
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
    fraction = pl.col("f").fill_null("0").str.pad_end(9, "0").cast(pl.Int64) // 1000
    seconds = clock[0] * 3600 + clock[1] * 60 + clock[2] - zone * 60
    moment = days * MICROSECONDS + seconds * 1_000_000 + fraction
    return parts.select(pl.when(inside & even).then(moment).alias("moment"))["moment"]
