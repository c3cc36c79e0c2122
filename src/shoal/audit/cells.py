"""Reading published cells back: what they cover, and what that costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

ENDS = r"^\[(?P<low>[^,\]]+), (?P<high>[^,\]]+)\]$"


def as_text(column: pl.Series) -> pl.Series:
    """Return struct<low, high> and list<string> cells as the text that release.csv has."""
    if isinstance(column.dtype, pl.Struct):
        low, high = (column.struct.field(end).cast(pl.String) for end in ("low", "high"))
        return pl.select(
            pl.when(low == high)
            .then(low)
            .otherwise(pl.format("[{}, {}]", low, high))
            .alias(column.name)
        ).to_series()
    if isinstance(column.dtype, pl.List):
        quoted = column.list.eval(pl.format('"{}"', pl.element().str.replace_all('"', '\\"')))
        alone = column.list.first()
        several = pl.format("[{}]", quoted.list.join(", "))
        return pl.select(
            pl.when(column.list.len() == 1).then(alone).otherwise(several).alias(column.name)
        ).to_series()
    return column.cast(pl.String)


def cell_ncp(texts: pl.Series, kind: str, domain: Sequence[Any]) -> tuple[NDArray[np.float64], int]:
    """Return the NCP of each published cell, and how many cells are outside the domain."""
    if kind == "interval":
        return _interval_ncp(texts, float(domain[0]), float(domain[1]))
    return _set_ncp(texts, domain)


def _interval_ncp(texts: pl.Series, least: float, most: float) -> tuple[NDArray[np.float64], int]:
    ends = texts.str.extract_groups(ENDS).struct.unnest()
    low = ends["low"].fill_null(texts).cast(pl.Float64, strict=False).to_numpy()
    high = ends["high"].fill_null(texts).cast(pl.Float64, strict=False).to_numpy()
    bad = ~((least <= low) & (low <= high) & (high <= most))
    scale = max(1.0, abs(least), abs(most))
    span = most / scale - least / scale
    return (high / scale - low / scale) / span if span > 0 else np.zeros(len(low)), int(bad.sum())


def _set_ncp(texts: pl.Series, domain: Sequence[Any]) -> tuple[NDArray[np.float64], int]:
    several = texts.str.starts_with("[")
    listed = pl.select(
        pl.when(several)
        .then(
            pl.when(several).then(texts).otherwise(pl.lit("[]")).str.json_decode(pl.List(pl.String))
        )
        .otherwise(pl.concat_list(texts))
    ).to_series()
    known = listed.list.eval(pl.element().is_in(list(domain))).list.all()
    counts = listed.list.n_unique().to_numpy()
    return (counts - 1) / max(len(domain) - 1, 1), int((~known).sum())
