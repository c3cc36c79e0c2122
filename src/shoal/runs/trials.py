"""Trials on a sample of the rows: what more protection would cost, and what other methods lose.

The owner's report shows them beside the release and what is private about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.ask.options import THRESHOLD
from shoal.audit.identification import check_threshold
from shoal.audit.published import as_read
from shoal.errors import ShoalError
from shoal.exact import percent
from shoal.methods.base import Method
from shoal.progress import Progress, silent
from shoal.release.places import check_private, write_whole
from shoal.runs.compare import compare
from shoal.runs.facts import facts
from shoal.runs.owner import collect_owner
from shoal.runs.publish import dated
from shoal.runs.tune import tune
from shoal.table.schema import Schema
from shoal.utility.shown import shown
from shoal.views.html import render_owner

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from shoal.runs.compare import Comparison
    from shoal.runs.release import Release
    from shoal.runs.tune import Frontier
    from shoal.table.coded import Coded


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
    chance = 0 if release.manifest.reproducible else None
    rows = _drawn(coded, np.random.default_rng(chance))
    some = "all" if len(rows) == len(coded) else f"{len(rows):,} of {len(coded):,}"
    drawn = "" if len(rows) == len(coded) else ", drawn at random"
    told: dict[str, Any] = {
        "sample": f"Tried on {some} rows{drawn}, with at most {SECONDS:g} s for a search. Compare "
        "these losses with one another; the release itself, on all rows and with all the time it "
        f"took, loses {percent(release.loss, 2)} (GCP)."
    }
    columns = (*coded.quasi, *coded.sensitive)
    table = pl.DataFrame({one.name: one.spellings.gather(one.codes[rows]) for one in columns})
    schema = trial_schema(release.schema)
    if schema.person is not None and coded.person_of.given:
        table = table.with_columns(pl.Series(schema.person, coded.person_of.labels[rows]))
    if release.population is not None:
        why = "Not tried: a requirement compares with a population; a sample would mislead."
        return told | {"no_frontier": why, "no_comparison": why}
    asked: Any = release.requirements
    options: dict[str, Any] = {"require": asked, "missing": "value", "seconds": SECONDS}
    method = Method.read(release.manifest.method)
    progress("trials", 0.0)
    frontier, no_frontier = _tried(lambda: tune(table, schema, method=method, **options))
    progress("trials", 0.5)
    comparison, no_comparison = _tried(lambda: compare(table, schema, queries=QUERIES, **options))
    for entry in comparison["entries"] if comparison else ():
        if entry["problem"]:
            entry["problem"] = _missed(made=entry["method"] == repr(method))
    progress("trials", 1.0)
    return told | {
        "frontier": frontier and frontier | {"trial": True},
        "no_frontier": no_frontier,
        "comparison": comparison,
        "no_comparison": no_comparison,
    }


def _drawn(coded: Coded, random: np.random.Generator) -> NDArray[np.int64]:
    """Return the rows of a trial; those of one person come together."""
    if len(coded) <= SAMPLE:
        return np.arange(len(coded))
    people = len(coded.person_of)
    some = random.choice(people, max(SAMPLE * people // len(coded), 1), replace=False)
    return np.flatnonzero(np.isin(coded.person_of.labels, some))


def _tried(
    attempt: Callable[[], Comparison | Frontier],
) -> tuple[dict[str, Any] | None, str | None]:
    """Return what was found, or why nothing was: a trial never stands in the way of a release."""
    try:
        found = attempt()
    except ShoalError as problem:
        return None, f"Not tried: {problem}"
    if not found.reached:
        return None, f"No trial met the requirements within {SECONDS:g} s. The release meets them."
    return found.to_dict(), None


def _missed(*, made: bool) -> str:
    """Say that a trial failed, without advice about options that nobody gave."""
    return f"in {SECONDS:g} s" + ("; the release itself was made by this method" if made else "")


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
        person=schema.person,
        rows=schema.rows,
    )


def write_owner_report(
    release: Release,
    path: str | Path,
    *,
    threshold: float | str = THRESHOLD,
    tried: bool = False,
    force: bool = False,
    progress: Progress = silent,
) -> None:
    """Write the owner's report, readable by its owner alone."""
    limit = check_threshold(threshold)
    check_private(path, what="owner_report", force=force)
    known = trials(release, progress) if tried else None
    progress("owner", 0.0)
    found = release.audit()
    known_when = dated(threshold)
    manifest = release.manifest.but(measured=found.measured())
    manifest.say(**{name: known_when[name] for name in known_when if name in manifest.lacking})
    alike = None if release.heterogeneous else found.alike
    public = facts(manifest, alike, shown(as_read(release)))
    public["release"] = release.facts | public["release"]
    page = render_owner(public, collect_owner(release, found, limit), known)
    write_whole(path, page, force=force, what="owner_report")
    progress("owner", 1.0)
