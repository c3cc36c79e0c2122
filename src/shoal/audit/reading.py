"""What published cells cover of known values, read by what the manifest says that they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.audit.cells import interval_ends, read_set
from shoal.audit.nodes import Stated
from shoal.errors import InputError
from shoal.table.coding import NUMBER, code_column, code_known
from shoal.table.dates import not_dates
from shoal.table.ends import ranks_within
from shoal.table.missing import MISSING_LABEL
from shoal.table.placing import distinct_of, named_above
from shoal.table.schema import NUMERIC

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
    from numpy.typing import NDArray

    from shoal.table.column import Column
    from shoal.table.groupings import Hierarchy


def code_by_kind(known: pl.Series, kind: str, type: str | None) -> Column:
    """Code known values as the cells of a published column of some kind and type are to be read."""
    if kind == "interval":
        return code_column(known, kind=type or "numeric")
    if kind == "node" and type in {*NUMERIC, "date"}:
        return code_known(known, kind=type)
    return code_column(known, kind="categorical")


def ranks_between(
    texts: pl.Series, column: Column
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return the lowest and highest rank that lies in each interval, and which could be read."""
    low, high = interval_ends(texts)
    bad = [not_dates(e) if column.dates else ~e.str.contains(NUMBER) for e in (low, high)]
    return *ranks_within(column, low, high), ~(bad[0] | bad[1]).to_numpy()


def labels_in(texts: pl.Series, column: Column) -> Iterator[NDArray[np.int64] | None]:
    """Yield the ranks of the labels that each set holds, None where a cell is no set."""
    rank_of = {label: rank for rank, label in enumerate(column.spellings)}
    for text in texts:
        labels = read_set(text)
        if labels is None:
            yield None
        else:
            held = {rank_of[label] for label in labels if label in rank_of}
            yield np.array(sorted(held), np.int64)


def values_under(
    texts: pl.Series, column: Column, hierarchy: Hierarchy
) -> dict[str, NDArray[np.int64]]:
    """Return the ranks of the values under each cell that is the name of a node, or a value's own.

    A cell that a manifest does not name is left out: it cannot be read.
    """
    if hierarchy.needs_numbers and not column.numeric:
        msg = f"{hierarchy!r} needs numbers or dates, and column {column.name!r} has other cells."
        raise InputError(msg)
    names = set(texts)
    if isinstance(hierarchy, Stated):
        names &= hierarchy.parents.keys()
    ranks: dict[str, set[int]] = {name: set() for name in names}
    rank_of = {label: rank for rank, label in enumerate(column.spellings)}
    distinct = distinct_of(column)
    above = (
        hierarchy.covering(names, distinct)
        if isinstance(hierarchy, Stated)
        else named_above(hierarchy, names, distinct)
    )
    for label, path in zip(distinct.labels, above, strict=True):
        for name in path:
            ranks[name].add(rank_of[label])
    if MISSING_LABEL in rank_of and isinstance(hierarchy, Stated):
        for name in names.intersection({MISSING_LABEL, hierarchy.root}):
            ranks[name].add(rank_of[MISSING_LABEL])
    known = isinstance(hierarchy, Stated)
    return {n: np.array(sorted(found), np.int64) for n, found in ranks.items() if known or found}
