"""Reading published cells back: what they cover, and what that costs."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.principles.groups import Groups
from shoal.release.cells import unescape, unescape_name
from shoal.release.cover import Cover
from shoal.table.coding import NUMBER, check_type, code_lenient
from shoal.table.column import Column
from shoal.table.columns import change_text, is_dictionary, top_code
from shoal.table.dates import date_parts, not_dates
from shoal.table.grid import read_bounds
from shoal.table.missing import MISSING_LABEL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from shoal.release.stated import StatedColumn, StatedNodes
    from shoal.table.groupings import Hierarchy


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


def alike(table: pl.DataFrame, columns: Sequence[str]) -> Groups:
    """Group rows with equal cells; a missing cell is a value like any other."""
    return Groups.alike(table.height, (cell_codes(table[name]) for name in columns))


def check_rows(table: pl.DataFrame) -> None:
    """Raise where there is nothing to audit."""
    if not table.height:
        msg = "The published table has no rows."
        raise InputError(msg)


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


def read_cover(texts: pl.Series, column: StatedColumn) -> tuple[Cover, NDArray[np.bool_]]:
    """Return what published cells cover, and which of them are outside the domain.

    `column` is what the manifest says of it. What a cell outside the domain covers says nothing.
    """
    if column.kind == "node":
        return _read_nodes(texts.fill_null(MISSING_LABEL), column)
    if column.kind == "set":
        return _read_sets(texts.fill_null(MISSING_LABEL), column)
    (low, high), gaps = interval_ends(texts), covers_missing(texts).to_numpy()
    alone, stated = low.is_null().to_numpy(), domain_ends(column)
    wrong = (_unread(low, column) | _unread(high, column)) & ~alone
    if _unread(stated, column).any():
        wrong, stated = wrong | True, pl.Series(["2000-01-01" if column.dates else "0"] * 2)
    count, there, least = len(texts), pl.Series(~wrong & ~alone), stated[:1]
    ends = [end.zip_with(there, least).alias(column.name) for end in (low, high)]
    coded = _coded([*ends, stated, *[pl.Series([None], dtype=pl.String)] * column.has_gap], column)
    lows, highs, (first, last) = np.split(coded.codes[: 2 * count + 2], [count, 2 * count])
    outside = wrong | (lows < first) | (lows > highs) | (highs > last)
    domain, most = replace(coded, codes=NOBODY, wordings=None), None
    if column.bounds is not None:
        whole = pl.Series([str(end) for end in column.bounds])
        places = _coded([stated, whole], column).codes
        outside |= bool(places[0] < places[2] or places[1] > places[3])
        domain = replace(domain, bounds=read_bounds(column.name, column.bounds))
    if column.step is not None:
        domain = replace(domain, step=Decimal(str(column.step)))
    if coded.gap is None:
        outside |= gaps
    else:
        gap = np.int32(coded.gap)
        lows, most = np.where(alone, gap, lows), np.where(alone, gap, highs)
        highs = np.where(gaps, gap, highs)
    return Cover(domain, lows, highs, most=most), outside


NOBODY = np.empty(0, np.int32)  # codes of a domain that was read, and not its rows


def _unread(ends: pl.Series, column: StatedColumn) -> NDArray[np.bool_]:
    """Return which ends are no dates, or no numbers."""
    if column.dates:
        return not_dates(ends).fill_null(value=True).to_numpy()
    finite = ends.cast(pl.Float64, strict=False).is_finite()
    return ~(ends.str.contains(NUMBER) & finite).fill_null(value=False).to_numpy()


def _coded(ends: list[pl.Series], column: StatedColumn) -> Column:
    named = pl.concat([end.alias(column.name) for end in ends])
    return code_lenient(named, kind="date" if column.dates else "numeric")


def _read_sets(texts: pl.Series, column: StatedColumn) -> tuple[Cover, NDArray[np.bool_]]:
    rank_of = {label: rank for rank, label in enumerate(column.values)}
    sets = [read_set(text) for text in texts]
    bad = [labels is None or not rank_of.keys() >= set(labels) for labels in sets]
    ranks = [
        [0] if wrong else sorted({rank_of[label] for label in labels or ()})
        for labels, wrong in zip(sets, bad, strict=True)
    ]
    labels = pl.Series(column.name, column.values, pl.String, strict=False)
    listed = np.array([rank for some in ranks for rank in some], np.int32)
    counts = np.array([len(some) for some in ranks], np.int64)
    domain = Column(column.name, None, labels, NOBODY)
    return Cover.of_lists(domain, listed, counts), np.array(bad, bool)


def node_rule(column: StatedColumn, owned: Hierarchy | None) -> Hierarchy:
    """Return the hierarchy of nodes that a manifest states, with what its owner adds."""
    from shoal.audit.reading import Stated

    return Stated.of_manifest(column, owned)


def _read_nodes(texts: pl.Series, column: StatedColumn) -> tuple[Cover, NDArray[np.bool_]]:
    """Read the names of nodes; values under them stand in the order in which nodes are named."""
    from shoal.table.hierarchy import Tree

    nodes = column.tree.nodes
    place = {node.name: number for number, node in enumerate(nodes)}
    leaves = np.array([node.leaves for node in nodes], np.int64)
    first = np.zeros(len(nodes), np.int64)
    taken = np.zeros(len(nodes), np.int64)
    for number, node in enumerate(nodes):
        if node.parent in place:
            above = place[node.parent]
            first[number] = first[above] + taken[above]
            taken[above] += node.leaves
    root = next((number for number, node in enumerate(nodes) if node.parent is None), 0)
    found = np.array([place.get(text, -1) for text in texts], np.int32)
    outside = (found < 0) | bool(leaves[root] != column.tree.leaves)
    tree = Tree((), tuple(place), first, first + leaves - 1, np.array([[root]], np.int32), leaves)
    domain = Column(column.name, None, pl.Series([], dtype=pl.String), NOBODY, tree=tree)
    low, high = (end[found].astype(np.int32) for end in (tree.first, tree.last))
    return Cover(domain, low, high, named=found), outside


def domain_ends(column: StatedColumn) -> pl.Series:
    """Return the least and the greatest number of a column's domain, as texts."""
    return pl.Series([str(end) for end in column.values[:2]])


def fills_domain(texts: pl.Series, column: StatedColumn) -> bool:
    """Return whether published cells, all in the domain, take up the whole of it.

    A domain is that of the published rows, so it has no end and no label that no cell shows.
    """
    if column.kind == "node":
        return True  # a node has parents that were not needed: `has_leaves` looks at them
    cover, _ = read_cover(texts, column)
    if column.kind == "set":
        return len(np.unique(cover.ranks)) == cover.domain.distinct
    numbers, there = cover.numbers()
    ends, last = numbers.only(there).ends(), numbers.domain.distinct - 1
    filled = bool(len(ends)) and ends[0] == 0 and ends[-1] == last
    return bool(filled and (cover.gaps.any() or not column.has_gap))


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


def outer_cells(texts: pl.Series, cover: Cover) -> frozenset[str]:
    """Return the cells that say whether a domain is filled: the outermost ones, or every label."""
    if cover.domain.tree is not None or not len(texts):
        return frozenset()
    if cover.starts is not None:
        shown = cover.domain.spellings.gather(np.unique(cover.ranks))
        return frozenset(spell_set([label]) for label in shown)
    numbers, there = cover.numbers()
    outer = there & ((numbers.low == numbers.low.min()) | (numbers.high == numbers.high.max()))
    cells = texts.fill_null(MISSING_LABEL)
    gaps = cells.filter(pl.Series(cover.gaps)).head(1)
    return frozenset([*cells.filter(pl.Series(outer)), *gaps])
