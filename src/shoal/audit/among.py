"""Which people of an original table may be those who are published, as far as the files show it.

The owner knows who was left out, and a stranger does not: for missing cells, to keep a requirement,
or as a control group. But a row can be there only if a published row fits its quasi cells and has
its protected and other values. Usually no more rows fit so than were published, and then it is
known which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.linking import code_both
from shoal.table.coding import code_lenient
from shoal.table.missing import is_missing
from shoal.table.schema import RESERVED
from shoal.table.settling import trimmed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.audit.covers import CellCover
    from shoal.audit.published import Published
    from shoal.release.manifest import Manifest
    from shoal.table.partition import PersonOf


def among_published(
    published: Published, cover: CellCover, original: pl.DataFrame, whom: PersonOf
) -> NDArray[np.bool_]:
    """Return for each person of the original whether a row of theirs may be published.

    In a series everyone may be: it repeats values that may have changed since. So may everyone
    where no row fits, of a table that was read otherwise.
    """
    everyone = np.ones(len(whom), bool)
    if published.manifest is not None and published.manifest.in_series:
        return everyone
    own, carried = _exact_values(published, original)
    found = np.zeros(original.height, bool)
    for (description, rows), values in zip(
        cover.matched(), _of_descriptions(published, cover, carried), strict=True
    ):
        assert description >= 0
        found[rows] |= np.isin(own[rows], values)
    inside = np.zeros(len(whom), bool)
    inside[whom.labels[found]] = True
    return inside if inside.any() else everyone


def _exact_values(
    published: Published, original: pl.DataFrame
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a number for the exact cells of each row: of the original, and of the release."""
    schema, table = published.schema, published.table
    known = trimmed(original, schema, "sensitive", "other")
    known = schema.read_numbers(known, "sensitive")
    both = np.zeros(original.height + table.height, np.int64)
    for name in (*schema.sensitive, *schema.other):
        if name == schema.survey_weight or not {name} <= {*known.columns} & {*table.columns}:
            continue
        if original[name].dtype.is_temporal():  # which a release spells in a way of its own
            continue
        numeric = published.sensitive(name).numeric
        codes = code_both(known[name], table[name], numeric=numeric)[0].codes.astype(np.int64)
        _, both = np.unique(both * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
    return both[: original.height], both[original.height :]


def _of_descriptions(
    published: Published, cover: CellCover, carried: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    """Return the values of every description; in two tables, those of the groups it stands in."""
    labels = cover.published.by_cells.labels
    rows = pl.DataFrame({"value": carried})
    if published.people is None:
        rows = rows.with_columns(pl.Series("at", labels))
    else:
        groups = pl.DataFrame({"group": published.table[RESERVED].cast(pl.String)})
        lines = pl.DataFrame({"group": published.people[RESERVED].cast(pl.String), "at": labels})
        rows = rows.hstack(groups).join(lines.unique(), on="group")
    each = dict(rows.unique(["at", "value"]).group_by("at").agg("value").iter_rows())
    return [np.array(each.get(at, []), np.int64) for at in range(len(cover.rows))]


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
