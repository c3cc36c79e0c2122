"""How far estimates are off where a method looks at values; apart, because it searches again.

A completed table is a table whose truth is known. The method that formed the groups searches it
again, what it finds is estimated from, and the difference to the completed table's own figures is
the bias (indirect inference; Gourieroux, Monfort, Renault 1993).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.claims import manifest_schema
from shoal.errors import NotAchievable, UsageError
from shoal.estimation.completing import Completed, Problem, agreement, complete_tables
from shoal.estimation.judging import AGREED, Diagnosis, needs_correction
from shoal.estimation.opening import open_release
from shoal.runs.anonymize import anonymize
from shoal.table.forms import TWO_TABLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shoal.estimation.analyses import Analysis
    from shoal.estimation.opening import Analysable
    from shoal.release.manifest import Manifest
    from shoal.runs.release import Release
    from shoal.table.column import Column
    from shoal.table.schema import Schema

SEARCHED = 2  # completed tables that are searched again
CORRECTED = "The bias of its groups was measured on completed tables and subtracted."
NOT_AGAIN = "The bias of the groups of this release cannot be measured,"
NOT_REACHED = (
    "The method did not reach the requirement on a completed table, or left out too many of its "
    "rows, so the bias of its groups could not be measured."
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
    if (reason := unrepeatable(release.manifest)) is not None:
        return Bias(nothing, nothing, nothing, [reason])
    off, apart = [], []
    for turn, order in enumerate(completed.tables(SEARCHED)):
        own = None if seed is None else seed + 1 + turn
        try:
            again = open_release(search_again(release, order, own))
            analysis = asked(again)
        except (NotAchievable, UsageError):  # too few rows may be left for what is asked
            return Bias(nothing, nothing, nothing, [NOT_REACHED])
        if analysis.names != first.names:
            return Bias(nothing, nothing, nothing, [NOT_REACHED])
        fits: list[NDArray] = []

        def settled(
            found: Completed, analysis: Analysis = analysis, fits: list[NDArray] = fits
        ) -> bool:
            fits[:] = [np.array([[analysis.fit(one)[0] for one in c] for c in found.orders])]
            return bool((agreement(fits[0]) < AGREED).all())

        complete_tables(Problem(again, name), chains=chains, seed=own, settled=settled)
        off.append(fits[0].mean((0, 1)) - first.fit(order)[0])
        apart.append(agreement(fits[0]))
    found = np.array(off)
    return Bias(found.mean(0), found.var(0, ddof=1) / SEARCHED, np.max(apart, 0))


def search_again(release: Analysable, order: NDArray[np.int32], seed: int | None = None) -> Release:
    """Publish a completed table as the manifest says that the release was asked for."""
    manifest, asked = release.manifest, release.manifest.asked
    columns = [
        *map(spelled, release.quasi.values()),
        *(spelled(one).gather(order) for one in release.values.values()),
    ]
    if release.weights is not None:
        columns.append(pl.Series(str(manifest.survey_weight), release.weights))
    return anonymize(
        pl.DataFrame(columns),
        schema_again(manifest),
        require=manifest.require,
        method=manifest.method,
        missing=asked.missing or "error",
        suppress=asked.suppress,
        seconds=asked.seconds,
        engine=asked.engine,
        seed=seed,
        form=TWO_TABLES,
        keep_other=release.weights is not None,
    )


def schema_again(manifest: Manifest) -> Schema:
    """Return the schema of a completed table: what decided over groups, of quasi and sensitive.

    Numbers are already plain, rounded and cut off.
    """
    asked = manifest.asked
    stated = manifest_schema(manifest).only("quasi", "sensitive")
    in_a_file = asked.schema or ()  # of labels it is their order that no option can say
    labels = (c for c in manifest.quasi if c.kind == "set" and c.name in in_a_file)
    ordered = {c.name: tuple(c.values) for c in labels}
    return replace(
        stated,
        survey_weight=manifest.survey_weight,
        decimal=None,
        round={},
        bottom={},
        top={},
        nobody_knows=(),
        weights={c.name: c.weight for c in manifest.quasi if c.weight is not None},
        hierarchies=asked.hierarchy or {},
        types={**stated.types, **dict.fromkeys(ordered, "ordered")},
        order=ordered,
    )


def unrepeatable(manifest: Manifest) -> str | None:
    """Say why a release cannot be searched again as it was asked for; None where it can."""
    for name, hierarchy in (manifest.asked.hierarchy or {}).items():
        if hierarchy is True:
            return f"{NOT_AGAIN} because the hierarchy of {name} is not published."
    if manifest.later_round:
        return f"{NOT_AGAIN} because its groups continue those of earlier releases."
    return None


def spelled(column: Column) -> pl.Series:
    """Return the cells of a column as they are published."""
    return column.spellings.gather(column.codes).alias(column.name)
