"""Trials on a sample of the rows: what more protection would cost, and what other methods lose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.engines.compare import compare
from shoal.engines.tune import tune
from shoal.errors import ShoalError
from shoal.methods.base import Method
from shoal.progress import Progress, silent
from shoal.schema.roles import Schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from shoal.engines.compare import Comparison
    from shoal.engines.tune import Frontier
    from shoal.release.release import Release

SAMPLE = 4000  # rows of the trials
SECONDS = 1.0  # of each search in them
QUERIES = 200


def trials(release: Release, progress: Progress = silent) -> dict[str, Any]:
    """Tune the first parameter of the requirement and compare methods, on a sample of the rows.

    Which rows are drawn nobody can know, unless the whole release is repeatable. Returned are
    `frontier` and `comparison` as plain values, or, under `no_frontier` and `no_comparison`, a
    sentence that says why not.
    """
    coded = release.coded
    rows = np.arange(len(coded))
    facts: dict[str, Any] = {"sample": None}
    if len(rows) > SAMPLE:
        chance = 0 if release.manifest.get("reproducible") else None
        rows = np.sort(np.random.default_rng(chance).choice(rows, SAMPLE, replace=False))
        facts["sample"] = (
            f"Tried on {SAMPLE:,} of {len(release.coded):,} rows, drawn at random: with fewer rows "
            "groups are wider, so losses are larger than those of the whole table; which method "
            "and which value lose less can be read off all the same."
        )
    columns = (*coded.quasi, *coded.sensitive)
    table = pl.DataFrame({one.name: one.spellings.gather(one.codes[rows]) for one in columns})
    schema = trial_schema(release.schema)
    if release.population is not None:
        why = "Not tried: what is required is about a population, which a sample does not keep."
        return facts | {"no_frontier": why, "no_comparison": why}
    asked: Any = release.requirements
    options: dict[str, Any] = {"require": asked, "missing": "value", "seconds": SECONDS}
    method = Method.read(release.manifest["method"])
    progress("trials", 0.0)
    frontier, no_frontier = _tried(lambda: tune(table, schema, method=method, **options))
    progress("trials", 0.5)
    comparison, no_comparison = _tried(lambda: compare(table, schema, queries=QUERIES, **options))
    progress("trials", 1.0)
    return facts | {
        "frontier": frontier,
        "no_frontier": no_frontier,
        "comparison": comparison,
        "no_comparison": no_comparison,
    }


def _tried(
    attempt: Callable[[], Comparison | Frontier],
) -> tuple[dict[str, Any] | None, str | None]:
    """Return what was found, or why nothing was: a trial never stands in the way of a release."""
    try:
        found = attempt()
    except ShoalError as problem:
        return None, f"Not tried: {problem}"
    return (found.to_dict(), None) if found.reached else (None, found.refusal)


def trial_schema(schema: Schema) -> Schema:
    """Return a schema with the quasi and sensitive columns alone."""
    names = (*schema.quasi, *schema.sensitive)
    return Schema(
        quasi=schema.quasi,
        sensitive=schema.sensitive,
        types={name: kind for name, kind in schema.types.items() if name in names},
        order={name: labels for name, labels in schema.order.items() if name in names},
        hierarchies=schema.hierarchies,
        weights=schema.weights,
    )
