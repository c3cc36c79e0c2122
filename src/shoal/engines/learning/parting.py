"""Rows parted into those to train on and those to ask about, people whole.

Whoever has rows on both sides is recognized rather than learned about: a model that knows one row
of a person by heart answers for the others. So rows that are about one person stay together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import InputError
from shoal.schema.missing import is_missing

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from shoal.schema.roles import Schema

HELD_OUT = 0.2  # of the rows


def about_whom(table: pl.DataFrame, schema: Schema) -> NDArray[np.int64]:
    """Return a number for whom each row is about, as far as the columns that name people tell.

    Rows with an equal cell in any identifying or pseudonymized column are about one person, and so
    are all that are linked by such rows. A column with a value in more rows than are held out names
    nobody, and a missing cell neither.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows = np.arange(table.height)
    ends: list[NDArray[np.int64]] = []
    begins: list[NDArray[np.int64]] = []
    for name in (*schema.identifying, *schema.pseudonymize):
        if table[name].dtype.is_nested() or table[name].dtype.is_object():
            continue
        known = ~is_missing(table[name]).to_numpy()
        codes = table[name].rank("dense").fill_null(0).to_numpy().astype(np.int64)
        if not known.any() or np.bincount(codes[known]).max() > HELD_OUT * table.height:
            continue
        first = np.empty(int(codes.max()) + 1, np.int64)
        first[codes[::-1]] = rows[::-1]  # the first row of each value links all of them
        begins.append(rows[known])
        ends.append(first[codes[known]])
    if not ends:
        return rows
    links = np.concatenate(begins), np.concatenate(ends)
    graph = coo_array((np.ones(len(links[0]), np.int8), links), shape=(len(rows), len(rows)))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def part_rows(
    who: NDArray[np.int64], seed: int, share: float = HELD_OUT
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Part rows at random into a share to ask about, at least, and the others to train on.

    `who` says whom each row is about; all rows of a person are on one side.

    Examples
    --------
    >>> train, asked = part_rows(np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 2]), seed=0)
    >>> len(asked) in {3, 4}, len(train) + len(asked)
    (True, 10)
    """
    _, person, sizes = np.unique(who, return_inverse=True, return_counts=True)
    if len(sizes) < 2:
        msg = "All rows are about one person, so there is nobody to learn from and nobody to ask."
        raise InputError(msg)
    mixed = np.random.Generator(np.random.PCG64(seed)).permutation(len(sizes))
    wanted = max(1, round(share * len(who)))
    taken = int(np.searchsorted(np.cumsum(sizes[mixed]), wanted)) + 1
    asked = np.zeros(len(sizes), bool)
    asked[mixed[: min(taken, len(sizes) - 1)]] = True
    return np.flatnonzero(~asked[person]), np.flatnonzero(asked[person])
