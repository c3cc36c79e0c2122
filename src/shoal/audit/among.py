"""Which people of an original table may be those who are published.

A release does not say who was left out: for missing cells, to keep a requirement, or as a control
group. But a row can be there only if a published row fits its quasi cells and has its protected
and other values. Usually no more rows fit so than were published, and then it is known which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.linking import code_both
from shoal.table.schema import RESERVED
from shoal.table.settling import trimmed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.audit.covers import CellCover
    from shoal.audit.published import Published
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
