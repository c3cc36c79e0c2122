"""What published cells cover of known values, read by what the manifest says that they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.audit.cells import interval_ends, read_set
from shoal.audit.nodes import Stated
from shoal.errors import InputError
from shoal.schema.coding import NUMBER, code_column, code_known, parse_numbers
from shoal.schema.dates import days
from shoal.schema.missing import MISSING_LABEL
from shoal.schema.placing import distinct_of, named_above
from shoal.schema.roles import NUMERIC

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl
    from numpy.typing import NDArray

    from shoal.schema.coding import Column
    from shoal.schema.grouping import Hierarchy

EMPTY = (1, 0)  # an interval of ranks that covers nothing


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
    read: Callable[[pl.Series], NDArray] = days if column.dates else parse_numbers
    good = (
        ~np.isnan(days(low) + days(high))
        if column.dates
        else (low.str.contains(NUMBER) & high.str.contains(NUMBER)).to_numpy()
    )
    ranks = np.tile(np.array(EMPTY, np.int64)[:, None], len(texts))
    ranks[0, good] = np.searchsorted(column.numbers, read(low.filter(good)), "left")
    ranks[1, good] = np.searchsorted(column.numbers, read(high.filter(good)), "right") - 1
    return ranks[0], ranks[1], good


def labels_in(texts: pl.Series, column: Column) -> list[NDArray[np.bool_] | None]:
    """Return which labels each set holds, None where a cell is no set."""
    rank_of = {label: rank for rank, label in enumerate(column.spellings)}
    found: list[NDArray[np.bool_] | None] = []
    for text in texts:
        labels = read_set(text)
        if labels is None:
            found.append(None)
            continue
        marks = np.zeros(column.distinct, bool)
        marks[[rank_of[label] for label in labels if label in rank_of]] = True
        found.append(marks)
    return found


def values_under(
    texts: pl.Series, column: Column, hierarchy: Hierarchy
) -> dict[str, NDArray[np.bool_]]:
    """Return which values lie under each cell that is the name of a node, or a value's own.

    A cell that a manifest does not name is left out: it cannot be read.
    """
    if hierarchy.needs_numbers and not column.numeric:
        msg = f"{hierarchy!r} needs numbers or dates, and column {column.name!r} has other cells."
        raise InputError(msg)
    names = set(texts)
    if isinstance(hierarchy, Stated):
        names &= hierarchy.parents.keys()
    marks = {name: np.zeros(column.distinct, bool) for name in names}
    rank_of = {label: rank for rank, label in enumerate(column.spellings)}
    distinct = distinct_of(column)
    above = (
        hierarchy.covering(names, distinct)
        if isinstance(hierarchy, Stated)
        else named_above(hierarchy, names, distinct)
    )
    for label, path in zip(distinct.labels, above, strict=True):
        for name in path:
            marks[name][rank_of[label]] = True
    if MISSING_LABEL in rank_of and isinstance(hierarchy, Stated):
        for name in names.intersection({MISSING_LABEL, hierarchy.root}):
            marks[name][rank_of[MISSING_LABEL]] = True
    known = isinstance(hierarchy, Stated)
    return {name: found for name, found in marks.items() if known or found.any()}
