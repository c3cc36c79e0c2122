"""How far estimates are off where a method looks at values; apart, because it searches again.

A completed table is a table whose truth is known. The method that formed the groups searches it
again, what it finds is estimated from, and the difference to the completed table's own figures is
the bias (indirect inference; Gourieroux, Monfort, Renault 1993).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.errors import NotAchievable
from shoal.estimation.completing import Completed, Problem, agreement, complete_tables
from shoal.estimation.judging import AGREED, Diagnosis, needs_correction
from shoal.estimation.opening import open_release
from shoal.runs.anonymize import anonymize
from shoal.table.forms import TWO_TABLES
from shoal.table.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shoal.estimation.analyses import Analysis
    from shoal.estimation.opening import Analysable
    from shoal.table.column import Column

SEARCHED = 2  # completed tables that are searched again
CORRECTED = "The bias of its groups was measured on completed tables and subtracted."
NOT_REACHED = (
    "The method did not reach the requirement on a completed table, so the bias of its groups "
    "could not be measured."
)


@dataclass(frozen=True, eq=False)
class Bias:
    """How far each quantity is off, the squared error of that, and the split R̂ of the chains.

    `reasons` say why it could not be measured.
    """

    off: NDArray[np.float64]
    error: NDArray[np.float64]
    rhat: NDArray[np.float64]
    reasons: list[str] = field(default_factory=list)


def bias(
    completed: Completed,
    seen: Diagnosis,
    first: Analysis,
    asked: Callable[[Analysable], Analysis],
    *,
    chains: int,
    seed: int | None,
) -> Bias:
    """Return how far each quantity is off.

    Nothing is searched, and nothing is off, where groups do not follow values, or hardly do.
    """
    release, name = completed.problem.release, completed.problem.column
    nothing = np.zeros(len(first.names))
    if not needs_correction(release.manifest, seen):
        return Bias(nothing, nothing, nothing)
    off, apart = [], []
    for turn, order in enumerate(completed.tables(SEARCHED)):
        try:
            again = open_release(search_again(release, name, order))
        except NotAchievable:
            return Bias(nothing, nothing, nothing, [NOT_REACHED])
        analysis = asked(again)
        fits: list[NDArray] = []

        def settled(
            found: Completed, analysis: Analysis = analysis, fits: list[NDArray] = fits
        ) -> bool:
            fits[:] = [np.array([[analysis.fit(one)[0] for one in c] for c in found.orders])]
            return bool((agreement(fits[0]) < AGREED).all())

        own = None if seed is None else seed + 1 + turn
        complete_tables(Problem(again, name), chains=chains, seed=own, settled=settled)
        off.append(fits[0].mean((0, 1)) - first.fit(order)[0])
        apart.append(agreement(fits[0]))
    found = np.array(off)
    return Bias(found.mean(0), found.var(0, ddof=1) / SEARCHED, np.max(apart, 0))


def search_again(release: Analysable, name: str, order: NDArray[np.int32]) -> object:
    """Publish a completed table as the manifest says that the release was asked for."""
    manifest = release.manifest
    table = pl.DataFrame(
        [
            *(spelled(one) for one in release.quasi.values()),
            spelled(release.values[name]).gather(order),
        ]
    )
    types = {one.name: one.type for one in manifest.columns if one.type is not None}
    schema = Schema(quasi=list(release.quasi), sensitive=name, types=types)
    return anonymize(
        table, schema, require=manifest.require, method=manifest.method, form=TWO_TABLES
    )


def spelled(column: Column) -> pl.Series:
    """Return the cells of a column as they are published."""
    return column.spellings.gather(column.codes).alias(column.name)
