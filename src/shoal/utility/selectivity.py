"""How well the release answers count queries, by how much of the table they ask for.

The original answers without a detour over text.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.published import plain_text
from shoal.errors import InputError
from shoal.table.forms import TWO_TABLES
from shoal.utility.columns import Exact
from shoal.utility.queries import BoxTable, ExactTable, Rows, TwoTables

if TYPE_CHECKING:
    from shoal.release.recoding import ReleaseData
    from shoal.table.column import Column


SELECTIVITIES = (0.01, 0.02, 0.05, 0.1, 0.2)
QUERIES = 200  # of each selectivity
FEWEST = 20  # that say anything about a selectivity
LEAST_ROWS = 50  # a relative error of counts of one or two rows says nothing
PATIENCE = 10  # draws for a query that finds anybody
WORK = 20_000_000  # rows that are looked at for a report that everybody gets


def errors_by_selectivity(release: ReleaseData, *, work: int | None = WORK) -> dict[str, Any]:
    """Ask random queries of every selectivity, of the original and of the release.

    Whose queries these are nobody can know, unless the whole release is repeatable. With more rows
    fewer are asked, so that all look at no more than `work` rows, but never fewer than `FEWEST` of
    a selectivity.
    """
    rows = len(release.coded)
    if rows < LEAST_ROWS:
        return {"skipped": f"Not asked: the table has only {rows} rows."}
    affordable = QUERIES if work is None else work // (rows * len(SELECTIVITIES))
    queries = min(QUERIES, max(FEWEST, affordable))
    from shoal.utility.workload import Workload  # kernels that a small table does not need

    chance = 0 if release.manifest.reproducible else None
    original, published = exact_table(release), answers_of(release)
    quasi = min(2, len(release.schema.quasi))
    sensitive = min(1, len(release.schema.sensitive))
    found, skipped = [], []
    for selectivity in SELECTIVITIES:
        workload = Workload(
            quasi=quasi, sensitive=sensitive, selectivity=selectivity, queries=queries
        )
        try:
            drawn = workload.draw(original, release.schema, seed=chance, patience=PATIENCE)
        except InputError:  # nobody is there to be asked for so little
            skipped.append(selectivity)
            continue
        error = drawn.compare(published)
        entry = {"selectivity": selectivity, "rows": float(np.median(error.truth) / rows)}
        found.append(entry | {name: getattr(error, name) for name in ("mean", "median", "p95")})
    if not found:
        return {"skipped": "Not asked: random queries of every size find no one."}
    return {
        "quasi": quasi,
        "sensitive": sensitive,
        "queries": queries,
        "errors": found,
        "empty": skipped,
    }


def exact_table(release: ReleaseData) -> ExactTable:
    """Return the rows that are published, as they were."""
    return ExactTable(
        Rows(
            _exact((*release.recoding.quasi.values(), *release.coded.sensitive)),
            len(release.coded),
        )
    )


def answers_of(release: ReleaseData) -> BoxTable | TwoTables:
    """Return the published table, or both tables, as what answers count queries."""
    if release.form != TWO_TABLES:
        return boxes_of(release)
    parts = [pl.concat(replace(part, escape=False).text()) for part in release.parts.values()]
    values = release.schema.read_numbers(parts[1], "sensitive")
    return TwoTables.of(parts[0], values, release.schema)


def boxes_of(release: ReleaseData) -> BoxTable:
    """Return what groups span, in every form."""
    return BoxTable.of(plain_text(release), release.manifest, release.schema, release.recoding)


def _exact(columns: tuple[Column, ...]) -> dict[str, Exact]:
    return {column.name: Exact.from_column(column) for column in columns}
