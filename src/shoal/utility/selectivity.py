"""How well the release answers count queries, by how much of the table they ask for.

Release and original answer without a detour over text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError
from shoal.release.forms import mean_texts
from shoal.table.forms import TWO_TABLES
from shoal.utility.columns import Exact, Intervals, Sets, Spread
from shoal.utility.queries import BoxTable, ExactTable, Rows, TwoTables
from shoal.utility.sets import Leaves

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.release.cover import Cover
    from shoal.release.release import ReleaseData
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
    original, published = exact_table(release), published_answers(release)
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


def published_answers(release: ReleaseData) -> BoxTable | TwoTables:
    """Return what `release.answers()` reads from the published text, straight from the recoding.

    Boxes are cells as they were recoded, so two groups with equal cells are two boxes; counts are
    the same.
    """
    layout = release.recoding.layout
    order = np.argsort(layout.bears)
    columns = _exact(release.coded.sensitive)
    rows = Rows(columns, len(release.coded), layout.carries[order])
    starts = np.concatenate([[0], np.cumsum(layout.bearers)]).astype(np.int64)
    if release.form == TWO_TABLES:
        lines = order
        if layout.persons is not None:  # one line a person
            one = np.unique(layout.persons, return_index=True)[1]
            lines = one[np.argsort(layout.bears[one])]
        people = np.bincount(layout.bears[lines], minlength=len(layout.bearers))
        exact = _exact(tuple(release.recoding.quasi.values()))
        return TwoTables(
            Rows(exact, len(lines), layout.carries[lines]),
            rows,
            (np.concatenate([[0], np.cumsum(people)]).astype(np.int64), starts),
        )
    quasi, cells = {}, []
    for name, cover in release.recoding.covers.items():
        quasi[name], which = _spread(cover)
        cells.append(which[cover.borne])
        spread = quasi[name]
        if cover.means is not None and isinstance(spread, Intervals):
            texts = mean_texts(cover.domain, cover.means.only(cover.borne))  # 0 of missing ones
            means = spread.steps.exact_places(texts)
            quasi[name] = spread.with_means(cover.borne, means, layout.bearers)
            cells[-1] = np.arange(len(cover.borne))
    return BoxTable(quasi, np.array(cells, np.int32), starts, rows, tuple(columns))


def _exact(columns: tuple[Column, ...]) -> dict[str, Exact]:
    return {column.name: Exact.from_column(column) for column in columns}


def _spread(cover: Cover) -> tuple[Spread, NDArray[np.int64]]:
    """Return the distinct cells of a column, and which of them each box bears."""
    if cover.domain.tree is not None:
        _, first, which = np.unique(cover.nodes, return_index=True, return_inverse=True)
        return Sets.of(cover.only(first), Leaves.of(cover.domain)), which
    numbers = cover.domain.numeric
    return Intervals.of(cover) if numbers else Sets.of(cover), np.arange(len(cover))
