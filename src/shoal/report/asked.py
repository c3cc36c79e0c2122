"""How well the release answers count queries, by how much of the table they ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.release.release import Release

SELECTIVITIES = (0.01, 0.02, 0.05, 0.1, 0.2)
QUERIES = 200  # of each selectivity
FEWEST = 20  # that say anything about a selectivity
LEAST_ROWS = 50  # a relative error of counts of one or two rows says nothing
PATIENCE = 10  # draws for a query that finds anybody
WORK = 20_000_000  # rows that are looked at for a report that everybody gets


def errors_by_selectivity(release: Release, *, work: int | None = WORK) -> dict[str, Any]:
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
    from shoal.queries.workload import Workload  # kernels that a small table does not need
    from shoal.report.boxes import box_table, exact_table

    chance = 0 if release.manifest.get("reproducible") else None
    original, published = exact_table(release), box_table(release)
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
        return {"skipped": "Not asked: random queries of every size find nobody."}
    return {
        "quasi": quasi,
        "sensitive": sensitive,
        "queries": queries,
        "errors": found,
        "empty": skipped,
    }
