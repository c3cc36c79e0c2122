"""Whether a person of the original table is in a release, as far as its files show it.

The owner knows who was left out, and a stranger does not. Where rows were left out, a row is not in
a release if nothing published fits it, or none of what fits has its protected values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.table.coding import code_lenient
from shoal.table.missing import is_missing
from shoal.table.settling import trimmed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.audit.published import Published
    from shoal.release.manifest import Manifest

UNSAID = (
    "Rows may have been left out of the release, and the files do not show whether this one was. "
    "If it was, the rows that fit are about other people."
)
DOUBTFUL = (
    "{} that could be this one {} left out of the release, and the files do not show which. If it "
    "is this one, the rows that fit are about other people."
)


def in_release(
    published: Published, original: pl.DataFrame, mine: NDArray[np.int64], rows: NDArray[np.int64]
) -> bool | None:
    """Return whether a row of a person is published; None where the files leave it open.

    `mine` are the person's rows of the original, `rows` the published ones that fit.
    """
    manifest = published.stated
    mine = mine[_complete(manifest, original[mine])]
    if not len(mine):
        return False
    if not manifest.in_series and manifest.rows_in == original.height and not _gone(manifest):
        return True
    if not len(rows):
        return False
    names = published.schema.sensitive
    if manifest.in_series or not names or any(original[n].dtype.is_temporal() for n in names):
        return None
    own = trimmed(original[mine].select(names), published.schema, "sensitive")
    own = published.schema.read_numbers(own, "sensitive")
    codes = []
    for name in names:
        both = [own[name].cast(pl.String), published.table[name].gather(rows).cast(pl.String)]
        column = code_lenient(pl.concat(both), kind=published.schema.types.get(name))
        found = column.codes if column.alike is None else column.alike[column.codes]
        codes.append(found.astype(np.int64))
    _, kinds = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)
    kinds = kinds.ravel()
    return None if np.isin(kinds[: len(mine)], kinds[len(mine) :]).any() else False


def _complete(manifest: Manifest, own: pl.DataFrame) -> NDArray[np.bool_]:
    """Return which rows have all cells that a row had to have to be published."""
    stays = np.ones(own.height, np.bool_)
    for column in manifest.columns if manifest.coarsened_from is None else ():
        kept = (column.missing or manifest.asked.missing) == "value"
        if column.role in {"quasi", "sensitive"} and column.name in own.columns and not kept:
            stays &= ~is_missing(own[column.name]).to_numpy()
    return stays


def doubt(manifest: Manifest) -> str:
    """Say that rows were left out, and how many where the owner says it."""
    if manifest.rows_in is None or not (gone := _gone(manifest)):
        return UNSAID
    rows, verb = ("1 row", "was") if gone == 1 else (f"{gone:,} rows", "were")
    return DOUBTFUL.format(rows, verb)


def _gone(manifest: Manifest) -> int:
    """Return how many rows without gaps are left out, but for some of people who are there."""
    dropped = 0 if manifest.coarsened_from is None else manifest.dropped
    return sum(filter(None, (manifest.suppressed, dropped, manifest.held_out)))
