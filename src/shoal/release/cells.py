"""How cells are spelled, as text or with types, and what a manifest says of their domain.

Columns that are published as they are stand after that: their text, types, and what a spreadsheet
would run. A spreadsheet runs what begins with = + - or @, and drops a tab or carriage return before
it; an apostrophe keeps it from doing so. Whoever reads the file again takes the apostrophe away; so
that nothing is taken from cells that had one of their own, those get another:
`unescape(escape(x)) == x` for every x.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.release.stated import StatedNode, StatedNodes
from shoal.table.coding import NUMBER, check_type
from shoal.table.column import INTEGER
from shoal.table.columns import BEYOND, is_dictionary, unheld
from shoal.table.dates import MICROSECONDS, NANOSECONDS, units_as_dates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.release.cover import Cover
    from shoal.table.column import Column
    from shoal.table.hierarchy import Tree
    from shoal.table.schema import Schema


TIMES = {"us": MICROSECONDS, "ns": NANOSECONDS}  # units of a timestamp in a day


def cells(cover: Cover) -> pl.Series:
    """Return the published cells as text."""
    if cover.domain.tree is not None:
        return _nodes(cover)
    return _intervals(cover) if cover.domain.numeric else _sets(cover)


def _nodes(cover: Cover) -> pl.Series:
    assert cover.domain.tree is not None
    names = pl.Series(cover.domain.name, cover.domain.tree.names, pl.String)
    return names.gather(cover.nodes)


def _intervals(cover: Cover) -> pl.Series:
    """Spell a single value bare, or nothing where it is missing, and two ends as a JSON array.

    Where missing numbers are covered beside others, the array ends in null.
    """
    return spelled_interval(
        [cover.domain.spellings.gather(e) for e in (cover.low, cover.top)], cover
    )


def spelled_interval(ends: list[pl.Series], cover: Cover) -> pl.Series:
    """Return one cell for the ends of each interval, or for its ends and a mean between them."""
    inner = ", ".join(['"{}"' if cover.domain.dates else "{}"] * len(ends))
    bare, mixed = pl.Series(cover.low == cover.high), pl.Series(cover.mixed)
    return pl.select(
        pl.when(bare)
        .then(ends[0])
        .when(mixed)
        .then(pl.format(f"[{inner}, null]", *ends))
        .otherwise(pl.format(f"[{inner}]", *ends))
        .alias(cover.domain.name)
    ).to_series()


def _sets(cover: Cover) -> pl.Series:
    """Spell a single label bare and several as a JSON array.

    A bare label that begins like an array would be read as one, so it is put into an array too.
    """
    column, cell, ranks = cover.domain, cover.owners, cover.ranks
    texts = pl.Series([json.dumps(label, ensure_ascii=False) for label in column.spellings])
    return (
        pl.DataFrame(
            {
                "cell": cell,
                "label": column.spellings.gather(ranks),
                "text": texts.gather(ranks),
            }
        )
        .group_by("cell", maintain_order=True)
        .agg(pl.col("text").str.join(", "), pl.col("label").first(), pl.len())
        .sort("cell")
        .select(
            pl.when((pl.col("len") == 1) & ~pl.col("label").str.starts_with("["))
            .then("label")
            .otherwise(pl.format("[{}]", "text"))
            .alias(column.name)
        )[column.name]
    )


def typed_cells(cover: Cover) -> pl.Series:
    """Return the published cells as struct<low, high>, the name of a node, or list<string>.

    Where numbers are missing, the struct says in a third field whether the cell covers any.
    """
    column = cover.domain
    if column.tree is not None:
        return _nodes(cover)
    if column.values is not None:
        values = typed_values(cover)
        fields = {"low": values.gather(cover.low), "high": values.gather(cover.top)}
        if column.gap is not None:
            fields["missing"] = pl.Series(cover.gaps)
        return pl.DataFrame(fields).to_struct(column.name)
    listed = pl.DataFrame({"cell": cover.owners, "label": column.spellings.gather(cover.ranks)})
    by_cell = listed.group_by("cell", maintain_order=True).agg("label").sort("cell")
    return by_cell["label"].alias(column.name)


def typed_values(cover: Cover) -> pl.Series:
    """Return the values of a numeric column in the type of its ends; missing is null.

    Values that no cell shows may be anything, because the type need not hold them.
    """
    column, kind = cover.domain, type_of_ends(cover)
    assert column.values is not None
    if column.dates:
        per_day = 1 if kind == pl.Date else TIMES[kind.time_unit]  # type: ignore[attr-defined]
        found = units_as_dates(column.exact // (column.per_day // per_day), per_day)
    elif kind in (pl.Int64, pl.Float64) and column.values.dtype == kind.to_python():
        found = pl.Series(column.values)
    else:
        found = column.known.cast(kind, strict=False)
    return found if column.gap is None else found.extend_constant(None, 1)


def type_of_ends(cover: Cover) -> pl.DataType:
    """Return the type of the ends that cells show, in which values between them have no say.

    Dates where all ends are days, integers where all are written as such.
    """
    if cover.type is not None:
        return cover.type
    column, shown = cover.domain, cover.ends()
    assert column.values is not None
    shown = shown[shown < len(column.values)]
    if column.dates:
        ends = column.values[shown]
        if not (ends % column.per_day).any():
            return pl.Date()
        fine = column.per_day == NANOSECONDS and (ends % (NANOSECONDS // MICROSECONDS)).any()
        return pl.Datetime("ns" if fine else "us")
    texts = column.spellings.gather(shown)
    if not texts.str.contains(INTEGER).all():
        return pl.Float64()
    return integer_type(int(texts[0]), int(texts[-1]))


def kind_of(column: Column) -> str:
    """Return how the cells of a quasi column are published."""
    if column.tree is not None:
        return "node"
    return "interval" if column.numeric else "set"


def domain(cover: Cover) -> list[Any] | StatedNodes:
    """Return what a column covers as a whole: [min, max], its labels, or its published nodes.

    The ends of numbers some of which are missing are [min, max, null].
    """
    column = cover.domain
    if column.tree is not None:
        return _node_domain(column.tree, cover.nodes)
    if column.values is None:
        return column.spellings.to_list()
    ends = [column.known[0], column.known[-1]]
    if not column.dates:
        ends = list(map(json.loads, ends))
    return ends if column.gap is None else [*ends, None]


def shown_nodes(tree: Tree, published: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which nodes a manifest names: the published ones and those above them."""
    parents = tree.parents()
    shown = np.zeros(len(tree.names), np.bool_)
    nodes = np.unique(published)
    while len(nodes):
        shown[nodes] = True
        nodes = np.unique(parents[nodes])
        nodes = nodes[(nodes >= 0) & ~shown[nodes]]
    return shown


def _node_domain(tree: Tree, published: NDArray[np.int32]) -> StatedNodes:
    """Return the named nodes, from above, with their parents and the leaves that the loss counts.

    What else the tree has, no cell shows.
    """
    parents = tree.parents()
    nodes = np.flatnonzero(shown_nodes(tree, published))
    depth = np.zeros(len(parents), np.int64)
    for level in tree.up[::-1]:
        depth[level] = np.where(parents[level] < 0, 0, depth[parents[level]] + 1)
    order = nodes[np.lexsort((tree.first[nodes], depth[nodes]))]
    return StatedNodes(
        leaves=int(tree.leaves[tree.up[-1, 0]]),
        nodes=[
            StatedNode(
                name=tree.names[node],
                parent=None if parents[node] < 0 else tree.names[parents[node]],
                leaves=int(tree.leaves[node]),
            )
            for node in order.tolist()
        ],
    )


def count_quasi_formulas(cover: Cover, bears: NDArray) -> int:
    """Count the published cells of a quasi column that a spreadsheet would run."""
    column = cover.domain
    labels = (
        column.spellings if column.tree is None else pl.Series(column.tree.names, dtype=pl.String)
    )
    if (column.tree is None and column.numeric) or not risky(labels).any():
        return 0
    return int(risky(cells(cover)).to_numpy()[cover.borne[bears]].sum())


# Columns that are published as they are


def integer_type(least: int, most: int) -> pl.DataType:
    """Return the type that holds integers exactly: 64 bits, 38 digits, or text beyond those."""
    if least >= -(2**63) and most < 2**63:
        return pl.Int64()
    if least >= 0 and most < 2**64:
        return pl.UInt64()
    return pl.Decimal(38, 0) if max(-least, most) < 10**38 else pl.String()


BATCH = 2**20  # cells looked at at a time


def unchanged(schema: Schema) -> tuple[str, ...]:
    """Return the published columns that are not generalized."""
    return (*schema.sensitive, *schema.other, *schema.pseudonymize)


def carried_text(column: pl.Series) -> pl.Series:
    """Return a carried column as it is, or as text where files have no other way to hold it.

    Lists and structs are spelled as JSON, bytes as hexadecimal digits, durations by ISO 8601.
    """
    kind = column.dtype
    if unheld(kind) == BEYOND:
        check_type(column)
    if unheld(kind) is not None:
        return column.struct.field(kind.fields[0].name).alias(column.name)  # type: ignore[attr-defined]
    if kind == pl.Duration:
        return column.dt.to_string("iso")
    if kind == pl.Binary:
        return column.bin.encode("hex")
    if kind == pl.Object:
        msg = f"Column {column.name!r} has cells of several types. Turn them into text first."
        raise InputError(msg)
    if not kind.is_nested():
        return column
    cells = column.to_list()
    texts = [None if c is None else json.dumps(c, ensure_ascii=False, default=str) for c in cells]
    return pl.Series(column.name, texts, pl.String)


def count_formulas(column: pl.Series) -> int:
    """Count the cells that a spreadsheet would run as a formula."""
    if column.dtype.is_integer():
        return 0
    if is_dictionary(column):
        counted = column.value_counts()
        return int(counted["count"].filter(risky(counted[column.name].cast(pl.String))).sum())
    return sum(
        int(risky(part["cell"].cast(pl.String)).sum())
        for part in column.to_frame("cell").iter_slices(BATCH)
    )


def defuse(table: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """Escape what is published as it is, and the header."""
    kept = [name for name in unchanged(schema) if name in table.columns]
    texts = [name for name in kept if table[name].dtype == pl.String]
    table = table.with_columns(escape(table[name]) for name in texts)
    return table.rename({name: escape_name(name) for name in table.columns})


def typed_kind(column: pl.Series, *, spelled: bool) -> pl.DataType | None:
    """Return the type of the numbers that a column spells; `spelled`: and that spell it back."""
    if is_dictionary(column):
        column = column.unique().cast(pl.String)
    known = column.drop_nulls()
    if column.dtype != pl.String or not len(known) or not known.str.contains(NUMBER).all():
        return None
    kind: pl.DataType = pl.Float64()
    if known.str.contains(INTEGER).all():
        beyond = known.filter(known.cast(pl.Int64, strict=False).is_null()).unique()
        whole = [0, *(int(Decimal(text)) for text in beyond)]
        kind = integer_type(min(whole), max(whole))
        if kind == pl.UInt64 and known.str.starts_with("-").any():
            kind = integer_type(-1, max(whole))
    same = not spelled or (known.cast(kind).cast(pl.String) == known).all()
    return kind if same else None


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
