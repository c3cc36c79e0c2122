"""Reading published cells back: what they cover, and what that costs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.table.coding import check_type
from shoal.table.columns import change_text, is_dictionary, top_code
from shoal.table.dates import date_parts
from shoal.table.ends import outermost, shares_of
from shoal.table.formulas import unescape, unescape_name
from shoal.table.missing import MISSING_LABEL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from shoal.release.stated import StatedColumn, StatedNodes


END = r"[^,\]n][^,\]]*"  # of an interval: a number, a date in quotes, and never null
ENDS = rf"^\[(?P<low>{END}), (?:(?P<mean>{END}), )?(?P<high>{END})(?:, null)?\]$"
BOTH = ", null]"  # how a cell ends that covers numbers and missing ones


def as_text(column: pl.Series) -> pl.Series:
    """Return struct<low, high> and list<string> cells as the text that release.csv has."""
    if isinstance(column.dtype, pl.Struct):
        if not {"low", "high"} <= {one.name for one in column.dtype.fields}:
            check_type(column)
        low, high = (column.struct.field(end).cast(pl.String) for end in ("low", "high"))
        dates = column.struct.field("low").dtype.is_temporal()
        named = {field.name for field in column.dtype.fields}
        gaps = column.struct.field("missing").fill_null(value=True) if "missing" in named else None
        return one_cell([low, high], gaps, dates=dates).alias(column.name)
    if isinstance(column.dtype, pl.List):
        return _spelled_sets(column)
    return column.cast(pl.String)


def cell_codes(column: pl.Series) -> tuple[NDArray, int]:
    """Return the codes of cells, and how many there are; a missing cell has the last."""
    if not is_dictionary(column):
        column = column.cast(pl.String)
        column = column.cast(pl.Enum(column.unique().drop_nulls()))
    missing = top_code(column) + 1
    return column.to_physical().cast(pl.UInt32).fill_null(missing).to_numpy(), missing + 1


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
    """Return struct<low, high> cells or arrays of two ends as the text that release.csv has.

    An array of three, the last of which is null, covers missing cells too; null covers these alone.
    """
    if not isinstance(column.dtype, pl.List):
        return as_text(column)
    dates = column.dtype.inner == pl.String
    ends = column.cast(pl.List(pl.String))
    low, high, last = (ends.list.get(place, null_on_oob=True) for place in range(3))
    gaps = (ends.list.len() == 3) & last.is_null()
    if not ((ends.list.len() == 2) | gaps).fill_null(value=True).all():
        return ends.list.join(", ", ignore_nulls=True)  # no interval: outside any domain
    return one_cell([low, high], gaps | column.is_null(), dates=dates).alias(column.name)


def one_cell(ends: list[pl.Series], gaps: pl.Series | None, *, dates: bool) -> pl.Series:
    """Return the one cell of two ends, or of two and a mean between them, as release.csv has it.

    `gaps` says which cover missing cells, None for a column that has none. What has no end covers
    those alone, and is null; an end beside none is not what is published, and stays one that
    nothing reads.
    """
    inner = ", ".join(['"{}"' if dates else "{}"] * len(ends))
    bare = same_value(ends, dates=dates)
    spelled = [end.fill_null("") for end in ends]
    plain = pl.when(bare).then(ends[0]).otherwise(pl.format(f"[{inner}]", *spelled))
    if gaps is None:
        return pl.select(plain).to_series()
    none = pl.Series(np.logical_and.reduce([end.is_null().to_numpy() for end in ends]))
    mixed = pl.when(~none).then(pl.format(f"[{inner}, null]", *spelled))
    return pl.select(pl.when(gaps).then(mixed).otherwise(plain)).to_series()


def same_value(ends: list[pl.Series], *, dates: bool) -> pl.Series:
    """Return where ends are spelled alike, and a mean, however it is spelled, is no other value."""
    low, high = ends[0], ends[-1]
    same = low == high
    for mean in ends[1:-1]:
        if dates:
            there, end = date_parts(mean), date_parts(low)
            alike = (there[0] == end[0]) & (there[1] == end[1])
        else:
            alike = mean.cast(pl.Float64, strict=False) == low.cast(pl.Float64, strict=False)
        same &= (mean == low) | alike.fill_null(value=False)
    return same.fill_null(value=False)


def without_escapes(published: pl.DataFrame, columns: Sequence[StatedColumn]) -> pl.DataFrame:
    """Take the apostrophes away that defused formulas: from headers, cells, and labels in sets.

    `columns` is what the manifest says of them.
    """
    kinds = {column.name: column.kind for column in columns}
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
    """Return how the ends of each interval are spelled; a bare value is both.

    A cell of missing numbers alone has none: null.
    """
    ends = texts.str.extract_groups(ENDS).struct.unnest()
    known = texts.replace(MISSING_LABEL, None)
    return tuple(ends[end].fill_null(known).str.strip_chars('"') for end in ("low", "high"))  # type: ignore[return-value]


def covers_missing(texts: pl.Series) -> pl.Series:
    """Return which intervals cover missing numbers, with others or alone."""
    cells = texts.fill_null(MISSING_LABEL)
    return (cells == MISSING_LABEL) | cells.str.ends_with(BOTH)


def interval_means(texts: pl.Series) -> pl.Series:
    """Return how the mean between the ends of each interval is spelled, null where none is."""
    return texts.str.extract_groups(ENDS).struct.field("mean").str.strip_chars('"')


def cell_ncp(texts: pl.Series, column: StatedColumn) -> tuple[NDArray[np.float64], int]:
    """Return the NCP of each published cell, and how many cells are outside the domain.

    `column` is what the manifest says of it.
    """
    if column.kind == "node":
        return _node_ncp(texts, column.tree)
    if column.kind == "set":
        return _set_ncp(texts, column.values)
    (low, high), gaps = interval_ends(texts), covers_missing(texts).to_numpy()
    mixed = gaps & low.is_not_null().to_numpy()
    stated = domain_ends(column)
    low, high = (end.fill_null(stated[0]) for end in (low, high))  # of missing ones nothing is lost
    dates = column.dates
    found, outside = shares_of(low, high, stated, dates=dates)
    if column.bounds is not None:
        whole = pl.Series([str(end) for end in column.bounds])
        found, beyond = shares_of(low, high, whole, dates=dates)
        outside |= beyond
    outside |= gaps & (not column.has_gap)
    return np.where(mixed, 1.0, found), int(outside.sum())


def domain_ends(column: StatedColumn) -> pl.Series:
    """Return the least and the greatest number of a column's domain, as texts."""
    return pl.Series([str(end) for end in column.values[:2]])


def fills_domain(texts: pl.Series, column: StatedColumn) -> bool:
    """Return whether published cells, all in the domain, take up the whole of it.

    A domain is that of the published rows, so it has no end and no label that no cell shows.
    """
    if column.kind == "node":
        return True  # a node has parents that were not needed: `has_leaves` looks at them
    if column.kind == "set":
        sets = (read_set(text) for text in texts.fill_null(MISSING_LABEL))
        return set(column.values).issubset(label for labels in sets for label in labels or [])
    if column.has_gap and not covers_missing(texts).any():
        return False
    low, high = (end.drop_nulls() for end in interval_ends(texts))
    dates = column.dates
    return bool(len(low)) and outermost(low, high, domain_ends(column), dates=dates)


def has_leaves(rows: Mapping[str, int], domain: StatedNodes) -> bool:
    """Return whether published rows, counted by node, can have as many values as nodes say.

    A value under a node lies under one of the nodes below it, or is that of a row which was
    published as the node itself or as one above it.
    """
    nodes = {node.name: node for node in domain.nodes}
    below: dict[str, int] = dict.fromkeys(nodes, 0)
    for node in nodes.values():
        if node.parent is not None:
            below[node.parent] += node.leaves
    above: dict[str, int] = {}  # rows published as a node, or as one above it
    for name in nodes:
        way = [name]
        while way[-1] not in above and (parent := nodes[way[-1]].parent) is not None:
            way.append(parent)
        for one in reversed(way):
            parent = nodes[one].parent
            above[one] = rows.get(one, 0) + (0 if parent is None else above[parent])
    return all(node.leaves <= below[name] + above[name] for name, node in nodes.items())


def outer_cells(texts: pl.Series, column: StatedColumn) -> frozenset[str]:
    """Return the cells that say whether a domain is filled: the outermost ones, or every label."""
    if column.kind == "node" or not len(texts):
        return frozenset()
    if column.kind == "set":
        sets = map(read_set, texts.fill_null(MISSING_LABEL))
        return frozenset(spell_set([label]) for labels in sets for label in labels or [])
    low, high = interval_ends(texts)
    if column.dates:
        places = [date_parts(end)[0] for end in (low, high)]
    else:
        places = [end.cast(pl.Float64, strict=False) for end in (low, high)]
    outer = (places[0] == places[0].min()) | (places[1] == places[1].max())
    cells = texts.fill_null(MISSING_LABEL)
    gaps = cells.filter(covers_missing(cells)).head(1)
    return frozenset([*cells.filter(outer.fill_null(value=False)), *gaps])


def _node_ncp(texts: pl.Series, domain: StatedNodes) -> tuple[NDArray[np.float64], int]:
    whole = max(domain.leaves - 1, 1)
    known = {node.name: (node.leaves - 1) / whole for node in domain.nodes}
    found = np.array([known.get(text, np.nan) for text in texts.fill_null(MISSING_LABEL)])
    return found, int(np.isnan(found).sum())


def _set_ncp(texts: pl.Series, domain: Sequence[Any]) -> tuple[NDArray[np.float64], int]:
    known = set(domain)
    sets = [read_set(text) for text in texts.fill_null(MISSING_LABEL)]
    bad = sum(labels is None or not known.issuperset(labels) for labels in sets)
    counts = np.array([len(set(labels or [""])) for labels in sets])
    return (counts - 1) / max(len(domain) - 1, 1), bad
