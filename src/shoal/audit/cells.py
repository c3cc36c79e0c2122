"""Reading published cells back: what they cover, and what that costs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.schema.columns import change_text, is_dictionary
from shoal.schema.dates import days
from shoal.schema.missing import MISSING_LABEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

ENDS = r"^\[(?P<low>[^,\]]+), (?P<high>[^,\]]+)\]$"


def as_text(column: pl.Series) -> pl.Series:
    """Return struct<low, high> and list<string> cells as the text that release.csv has."""
    if isinstance(column.dtype, pl.Struct):
        low, high = (column.struct.field(end).cast(pl.String) for end in ("low", "high"))
        dates = column.struct.field("low").dtype.is_temporal()
        both = pl.format('["{}", "{}"]' if dates else "[{}, {}]", low, high)
        interval = pl.when(low == high).then(low).otherwise(both)
        return pl.select(interval.alias(column.name)).to_series()
    if isinstance(column.dtype, pl.List):
        return _spelled_sets(column)
    return column.cast(pl.String)


def _spelled_sets(column: pl.Series) -> pl.Series:
    """Spell lists of labels as `spell_set` does; at once where no label has to be escaped."""
    labels = column.explode().unique()
    if labels.dtype != pl.String or any(
        label is None or json.dumps(label, ensure_ascii=False) != f'"{label}"' for label in labels
    ):
        spelled: dict[tuple[str, ...], str] = {}
        texts = [
            None if labels is None else spelled.setdefault(tuple(labels), spell_set(labels))
            for labels in column.to_list()
        ]
        return pl.Series(column.name, texts, pl.String)
    first = column.list.first()
    bare = (column.list.len() == 1) & ~first.str.starts_with("[")
    array = pl.format('["{}"]', column.list.join('", "'))
    return pl.select(pl.when(bare).then(first).otherwise(array).alias(column.name)).to_series()


def interval_text(column: pl.Series) -> pl.Series:
    """Return struct<low, high> cells or arrays of two ends as the text that release.csv has."""
    if not isinstance(column.dtype, pl.List):
        return as_text(column)
    dates = column.dtype.inner == pl.String
    ends = column.cast(pl.List(pl.String))
    if not (ends.list.len() == 2).all():
        return ends.list.join(", ")  # no interval: outside any domain
    low, high = (ends.list.get(place) for place in (0, 1))
    both = pl.format('["{}", "{}"]' if dates else "[{}, {}]", low, high)
    return pl.select(pl.when(low == high).then(low).otherwise(both).alias(column.name)).to_series()


def unescape(published: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Take the apostrophes away that defused formulas, so that values are what they were."""
    kinds = published.schema
    texts = [n for n in columns if is_dictionary(published[n]) or kinds[n] == pl.String]
    return published.with_columns(change_text(published[name], _armed) for name in texts)


def _armed(texts: pl.Series) -> pl.Series:
    return texts.str.replace(r"^'([=+\-@])", "$1")


def spell_set(labels: Sequence[str]) -> str:
    """Spell a set of labels: one bare, several as a JSON array.

    A bare label that begins like an array would be read as one, so it is put into an array too.
    """
    if len(labels) == 1 and not labels[0].startswith("["):
        return labels[0]
    return json.dumps(list(labels), ensure_ascii=False)


def read_set(text: str | None) -> list[str] | None:
    """Return the labels of a published cell, None where it is not one."""
    if text is None or not text.startswith("["):
        return None if text is None else [text]
    try:
        labels = json.loads(text)
    except ValueError:
        return None
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        return None
    return labels or None


def interval_ends(texts: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return how the ends of each interval are spelled; a bare value is both."""
    ends = texts.str.extract_groups(ENDS).struct.unnest()
    return tuple(ends[end].fill_null(texts).str.strip_chars('"') for end in ("low", "high"))  # type: ignore[return-value]


def cell_ncp(texts: pl.Series, column: dict[str, Any]) -> tuple[NDArray[np.float64], int]:
    """Return the NCP of each published cell, and how many cells are outside the domain.

    `column` is what the manifest says of it.
    """
    domain = column["domain"]
    if column["kind"] == "node":
        return _node_ncp(texts, domain)
    if column["kind"] == "set":
        return _set_ncp(texts, domain)
    if column.get("type") != "date":
        low, high = (e.cast(pl.Float64, strict=False).to_numpy() for e in interval_ends(texts))
        return _interval_ncp(low, high, float(domain[0]), float(domain[1]))
    low, high = (days(end) for end in interval_ends(texts))
    return _interval_ncp(low, high, *days(pl.Series(domain)).tolist())


def _node_ncp(texts: pl.Series, domain: dict[str, Any]) -> tuple[NDArray[np.float64], int]:
    whole = max(domain["leaves"] - 1, 1)
    known = {node["name"]: (node["leaves"] - 1) / whole for node in domain["nodes"]}
    found = np.array([known.get(text, np.nan) for text in texts.fill_null(MISSING_LABEL)])
    return found, int(np.isnan(found).sum())


def _interval_ncp(
    low: NDArray[np.float64], high: NDArray[np.float64], least: float, most: float
) -> tuple[NDArray[np.float64], int]:
    bad = ~((least <= low) & (low <= high) & (high <= most))
    scale = max(1.0, abs(least), abs(most))
    span = most / scale - least / scale
    return (high / scale - low / scale) / span if span > 0 else np.zeros(len(low)), int(bad.sum())


def _set_ncp(texts: pl.Series, domain: Sequence[Any]) -> tuple[NDArray[np.float64], int]:
    known = set(domain)
    sets = [read_set(text) for text in texts.fill_null(MISSING_LABEL)]
    bad = sum(labels is None or not known.issuperset(labels) for labels in sets)
    counts = np.array([len(set(labels or [""])) for labels in sets])
    return (counts - 1) / max(len(domain) - 1, 1), bad
