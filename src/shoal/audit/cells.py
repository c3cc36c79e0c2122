"""Reading published cells back: what they cover, and what that costs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.table.columns import change_text, is_dictionary
from shoal.table.dates import date_parts
from shoal.table.ends import outermost, shares_of
from shoal.table.formulas import unescape, unescape_name
from shoal.table.missing import MISSING_LABEL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


ENDS = r"^\[(?P<low>[^,\]]+), (?:(?P<mean>[^,\]]+), )?(?P<high>[^,\]]+)\]$"


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


def without_escapes(published: pl.DataFrame, columns: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Take the apostrophes away that defused formulas: from headers, cells, and labels in sets.

    `columns` is what the manifest says of them.
    """
    kinds = {column["name"]: column.get("kind") for column in columns}
    names = [unescape_name(name) for name in published.columns]
    if len(set(names)) < len(names):
        msg = "Two columns of the published table have one name once apostrophes are taken away."
        raise InputError(msg)
    plain = published.rename(dict(zip(published.columns, names, strict=True)))
    return plain.with_columns(
        change_text(plain[name], _unescape_sets if kinds.get(name) == "set" else unescape)
        for name, kind in plain.schema.items()
        if is_dictionary(plain[name]) or kind == pl.String
    )


def _unescape_sets(texts: pl.Series) -> pl.Series:
    """Unescape every label of every set; what is no set stays as it is."""
    return pl.Series(texts.name, [_unescape_set(text) for text in texts], pl.String)


def _unescape_set(text: str | None) -> str | None:
    labels = read_set(text)
    if labels is None or "'" not in str(text):
        return text
    return spell_set(unescape(pl.Series(labels)).to_list())


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
    except (ValueError, RecursionError):  # no JSON, or nested deeper than any list of labels
        return None
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        return None
    return labels or None


def interval_ends(texts: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return how the ends of each interval are spelled; a bare value is both."""
    ends = texts.str.extract_groups(ENDS).struct.unnest()
    return tuple(ends[end].fill_null(texts).str.strip_chars('"') for end in ("low", "high"))  # type: ignore[return-value]


def interval_means(texts: pl.Series) -> pl.Series:
    """Return how the mean between the ends of each interval is spelled, null where none is."""
    return texts.str.extract_groups(ENDS).struct.field("mean").str.strip_chars('"')


def cell_ncp(texts: pl.Series, column: dict[str, Any]) -> tuple[NDArray[np.float64], int]:
    """Return the NCP of each published cell, and how many cells are outside the domain.

    `column` is what the manifest says of it.
    """
    domain = column["domain"]
    if column["kind"] == "node":
        return _node_ncp(texts, domain)
    if column["kind"] == "set":
        return _set_ncp(texts, domain)
    stated = pl.Series([str(end) for end in domain])
    found, outside = shares_of(*interval_ends(texts), stated, dates=column.get("type") == "date")
    return found, int(outside.sum())


def fills_domain(texts: pl.Series, column: dict[str, Any]) -> bool:
    """Return whether published cells, all in the domain, take up the whole of it.

    A domain is that of the published rows, so it has no end and no label that no cell shows.
    """
    domain = column["domain"]
    if column["kind"] == "node":
        return True  # a node has parents that were not needed: `has_leaves` looks at them
    if column["kind"] == "set":
        sets = (read_set(text) for text in texts.fill_null(MISSING_LABEL))
        return set(domain).issubset(label for labels in sets for label in labels or [])
    stated = pl.Series([str(end) for end in domain])
    return outermost(*interval_ends(texts), stated, dates=column.get("type") == "date")


def has_leaves(rows: Mapping[str, int], domain: dict[str, Any]) -> bool:
    """Return whether published rows, counted by node, can have as many values as nodes say.

    A value under a node lies under one of the nodes below it, or is that of a row which was
    published as the node itself or as one above it.
    """
    nodes = {node["name"]: node for node in domain["nodes"]}
    below: dict[str, int] = dict.fromkeys(nodes, 0)
    for node in nodes.values():
        if node["parent"] is not None:
            below[node["parent"]] += node["leaves"]
    above: dict[str, int] = {}  # rows published as a node, or as one above it
    for name in nodes:
        way = [name]
        while way[-1] not in above and nodes[way[-1]]["parent"] is not None:
            way.append(nodes[way[-1]]["parent"])
        for one in reversed(way):
            parent = nodes[one]["parent"]
            above[one] = rows.get(one, 0) + (0 if parent is None else above[parent])
    return all(node["leaves"] <= below[name] + above[name] for name, node in nodes.items())


def outer_cells(texts: pl.Series, column: dict[str, Any]) -> frozenset[str]:
    """Return the cells that say whether a domain is filled: the outermost ones, or every label."""
    if column["kind"] == "node" or not len(texts):
        return frozenset()
    if column["kind"] == "set":
        sets = map(read_set, texts.fill_null(MISSING_LABEL))
        return frozenset(spell_set([label]) for labels in sets for label in labels or [])
    low, high = interval_ends(texts)
    if column.get("type") == "date":
        places = [date_parts(end)[0].fill_null(0) for end in (low, high)]
    else:
        places = [end.cast(pl.Float64, strict=False) for end in (low, high)]
    outer = (places[0] == places[0].min()) | (places[1] == places[1].max())
    return frozenset(texts.filter(outer.fill_null(value=False)).drop_nulls())


def _node_ncp(texts: pl.Series, domain: dict[str, Any]) -> tuple[NDArray[np.float64], int]:
    whole = max(domain["leaves"] - 1, 1)
    known = {node["name"]: (node["leaves"] - 1) / whole for node in domain["nodes"]}
    found = np.array([known.get(text, np.nan) for text in texts.fill_null(MISSING_LABEL)])
    return found, int(np.isnan(found).sum())


def _set_ncp(texts: pl.Series, domain: Sequence[Any]) -> tuple[NDArray[np.float64], int]:
    known = set(domain)
    sets = [read_set(text) for text in texts.fill_null(MISSING_LABEL)]
    bad = sum(labels is None or not known.issuperset(labels) for labels in sets)
    counts = np.array([len(set(labels or [""])) for labels in sets])
    return (counts - 1) / max(len(domain) - 1, 1), bad
