"""Everything a report shows, as plain values; aggregates only, because the report is public.

How a release is made again and what to cite is among them, without paths, seeds or dropped columns.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.audit.identification import (
    check_threshold,
    exposure,
    identification,
    least_size,
)
from shoal.distances.relation import counting_work
from shoal.exact import percent
from shoal.principles.base import OneDimensional
from shoal.principles.dissimilarity import Dissimilarity
from shoal.principles.groups import renumber
from shoal.principles.guarantee import PATIENCE, guarantee
from shoal.principles.k_anonymity import KAnonymity
from shoal.principles.planning import frontier
from shoal.progress import silent
from shoal.runs.again import reproduction
from shoal.runs.remarks import Counted, alike_outside, members
from shoal.table.forms import BOUNDS, INTERVALS, TWO_TABLES
from shoal.table.pseudonyms import warning
from shoal.table.settling import weights_of
from shoal.table.trimming import stated_trim
from shoal.utility.bias import cell_bias
from shoal.utility.fidelity import fidelity
from shoal.utility.least import least_loss, times_least
from shoal.utility.maps import loss_map
from shoal.utility.selectivity import WORK, errors_by_selectivity
from shoal.views.commands import Command
from shoal.views.usual import THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shoal.audit.verify import Audit, Finding
    from shoal.progress import Progress
    from shoal.release.recoding import Recoding
    from shoal.release.release import ReleaseData


POINTS = 60  # of the frontier
MOST = 100_000  # rows of which the least loss is looked for, in seconds whatever the columns
# Seconds that parts of a report take, whatever the table and by a row of it, about.
COSTS = {"least": (0.0, 2.5e-5), "exposure": (0.01, 5e-7), "fidelity": (0.03, 8e-6),
         "queries": (0.35, 2e-6)}  # fmt: skip
GATHERING = 0.9  # of the report: the rest is writing it down
ROWS = 8  # of a group that is shown as an example
LOOSE = 6  # rows that are shown where there are no groups

LIMITS_OF_ALL = (
    "It does not cover what a reader knows from elsewhere about the protected values, two releases "
    "of overlapping tables, or other columns that are published as they were.",
)
LIMITS = (
    "The guarantee speaks of a reader who knows what the table says of a person in the columns by "
    "which people can be recognized, and the person's group, and who holds every row of the group "
    "for equally likely.",
    *LIMITS_OF_ALL,
    "It speaks of single groups, and promises nothing about several of them taken together: which "
    "group a row is in is part of the promise.",
)


def collect(
    release: ReleaseData,
    audit: Audit,
    *,
    threshold: float | str = THRESHOLD,
    work: int | None = WORK,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Gather what was asked, what was measured, what it cost, and where the limits are.

    `threshold` is the risk of being found that is held for acceptable; `work` limits the queries
    that are asked (see `shoal.utility.selectivity`).
    """
    rows = min(len(release.coded), MOST)
    costs = {name: fixed + rows * by_row for name, (fixed, by_row) in COSTS.items()}
    if not _bounded(release):
        costs["least"] = 0.0
    whole = sum(costs.values()) / GATHERING

    def told(after: str, share: float = 1.0) -> None:
        before = list(costs)[: list(costs).index(after)]
        progress("report", (sum(costs[one] for one in before) + share * costs[after]) / whole)

    counted = members(release)
    limits = (*release.manifest["adversary"], *LIMITS_OF_ALL) if release.heterogeneous else LIMITS
    hidden = release.schema.pseudonymize
    facts = stated(release.manifest, audit, threshold)
    facts["first"] = [*facts["first"], *estimated(release)]
    least = _times_least(release, lambda share: told("least", share))
    limit = check_threshold(threshold)
    found = exposure(release, audit, counted.coded, counted.before, counted.after, limit)
    told("exposure")
    kept = fidelity(release, release.coded.people)
    told("fidelity")
    queries = errors_by_selectivity(release, work=work)
    told("queries")
    return facts | {
        "columns_in": release.settings.get("columns_in"),
        "quasi": list(release.schema.quasi),
        "sensitive": list(chain(*release.schema.protected)),
        "requirements": [
            entry | _requirement(finding, release, counted)
            for entry, finding in zip(facts["requirements"], required(audit), strict=True)
        ],
        "guarded": any(one.columns for one in release.requirements),
        "times_least": least,
        "sizes": _counted(_sizes(counted, audit)),
        "map": loss_map(release),
        "exposure": found,
        "fidelity": kept,
        "bias": [one.to_dict() | {"sentence": str(one)} for one in cell_bias(release)],
        "example": example(release),
        "queries": queries,
        "reproduce": reproduction(release),
        "limits": (*limits, *([warning(hidden)] if hidden else [])),
    }


STATED = (
    "id", "title", "form", "rows", "rows_in", "dropped", "suppressed", "capped", "people",
    "suppressed_people", "rows_known", "tables", "groups", "columns", "method", "loss", "seconds",
    "digests",
)  # fmt: skip
SEEDED = (
    "Do not publish it. This release was made with a fixed seed, for testing: the order of its "
    "rows can be worked out again."
)


APART = (
    "The columns by which people can be recognized are published as they were, in a table of their "
    "own: who is in the table is no secret. What is promised is about the protected values alone."
)


def stated(manifest: dict[str, Any], audit: Audit, threshold: float | str) -> dict[str, Any]:
    """Gather what a manifest and an audit of the files tell, without the table as it was."""
    limit = check_threshold(threshold)
    if audit.alike is not None:
        found = identification(audit.alike, audit.alike, limit)
    elif audit.matches is not None:
        found = identification(audit.matches, np.ones_like(audit.matches), limit)
    else:
        found = None
    return {
        **{name: manifest.get(name) for name in STATED},
        "date": datetime.now(UTC).date().isoformat(),
        "version": manifest["shoal"],
        "holds": audit.holds,
        "first": first_lines(manifest, audit),
        "requirements": [_stated(finding) for finding in required(audit)],
        "cells": [finding.to_dict() for finding in audit.findings if finding.by == "cells"],
        "exposure": found and {"threshold": limit, "least_size": least_size(limit), "after": found},
        "reproduce": {"audit": Command("audit", ("DIR",)).line},
        "limits": (*manifest.get("adversary", LIMITS[:1]), *LIMITS[1:]),
    }


def required(audit: Audit) -> list[Finding]:
    """Return the findings that the promises are about."""
    return [finding for finding in audit.findings if finding.by != "cells"]


def _stated(finding: Finding) -> dict[str, Any]:
    principle, names = finding.requirement.principle, finding.requirement.columns
    return finding.to_dict() | {
        "promise": principle.promise_matches()
        if finding.by == "matches" and isinstance(principle, KAnonymity)
        else principle.promise(" and ".join(names)),
        "source": principle.source,
        "columns": list(names),
        "chance": principle.chance,
    }


def first_lines(manifest: dict[str, Any], audit: Audit) -> list[str]:
    """Return what has to be known of a release before anything else."""
    lines = [] if audit.rows_known or audit.alone is None else [unknown_rows(audit)]
    lines += [APART] if manifest.get("form") == TWO_TABLES else []
    lines += changes(manifest)
    return [*lines, SEEDED] if manifest.get("reproducible") else lines


def unknown_rows(audit: Audit) -> str:
    """Say what it means that how many rows a person has is taken for unknown."""
    return (
        "It is promised only against readers who do not know how many rows a person has: "
        f"{audit.alone:,} of {audit.people:,} people are alone with their number of rows in their "
        "group."
    )


def estimated(release: ReleaseData) -> list[str]:
    """Say how many people of the population share a description, as survey weights estimate it."""
    name = release.schema.survey_weight
    if name is None or release.heterogeneous:
        return []
    layout = release.recoding.layout
    source = release.schema.read_numbers(release.recoding.source.select(name), "other")[name]
    weights = weights_of(source).to_numpy()[layout.carries]
    alike = layout.bears.astype(np.int64)
    if layout.persons is not None:  # a person stands for others once, whatever rows there are
        _, one, counts = np.unique(layout.persons, return_index=True, return_counts=True)
        weights, alike = weights[one], alike[one]
        if release.coded.rows_known:
            alike = renumber(alike * (int(counts.max()) + 1) + counts)
    people = np.bincount(alike, weights=weights)
    who = "rows" if layout.persons is None else "people"
    return [
        f"An estimate from the survey weights ({name}): {who} of a group stand for at least "
        f"{people.min():,.0f} people of the population, and for {np.median(people):,.0f} in half "
        "of the groups or more. Whoever does not know that a person is in the table finds the "
        f"person with a chance of about 1 in {max(people.min(), 1):,.0f} at most. It is no promise."
    ]


def changes(manifest: dict[str, Any]) -> list[str]:
    """Return what was done to the table before anything was searched: rows and values."""
    said = []
    if dropped := manifest["dropped"]:
        share = percent(dropped / manifest["rows_in"], 1)
        said.append(
            f"{dropped:,} of {manifest['rows_in']:,} rows ({share}) are not here because cells of "
            "theirs were missing. What is published describes the others alone."
        )
    trims = [
        f"{column['name']} ({words})"
        for column in manifest["columns"]
        if (words := stated_trim(column).words)
    ]
    if trims:
        said.append(
            f"Numbers were rounded or cut off first: {', '.join(trims)}. What is promised holds "
            "for the values as they are published."
        )
    return said


def example(release: ReleaseData) -> dict[str, Any] | None:
    """Return published rows as they stand in the table: a small group, or the first ones.

    None where the form has cells that say more than what they cover.
    """
    if release.form not in {INTERVALS, BOUNDS}:
        return None
    layout = release.recoding.layout
    if layout.numbers is None:
        rows = np.arange(min(LOOSE, len(layout.bears)))
    else:
        sizes = layout.bearers
        usual = np.median(sizes[sizes <= ROWS]) if (sizes <= ROWS).any() else sizes.min()
        chosen = int(np.argmin(np.abs(sizes - usual)))
        rows = np.flatnonzero(layout.bears == chosen)[:ROWS]
    table = next(_only(release.recoding, rows).text())
    kinds = {one["name"]: one.get("kind") for one in release.manifest["columns"]}
    return {
        "group": None if layout.numbers is None else int(layout.bearers[layout.bears[rows[0]]]),
        "columns": [{"name": name, "kind": kinds.get(name)} for name in table.columns],
        "rows": [list(row) for row in table.iter_rows()],
    }


def _only(recoding: Recoding, rows: NDArray) -> Recoding:
    """Return what some published rows are made of."""
    layout = recoding.layout
    bears = layout.bears[rows]
    numbers = None if layout.numbers is None else layout.numbers[rows]
    every = np.arange(len(rows), dtype=np.int32)
    kinds = {
        name: replace(kind, spans=kind.spans.only(kind.which[bears]), which=every)
        for name, kind in recoding.kinds.items()
    }
    persons = None if layout.persons is None else layout.persons[rows]
    some = replace(
        layout, bears=every, carries=layout.carries[rows], numbers=numbers, persons=persons
    )
    return replace(recoding, kinds=kinds, layout=some)


def _bounded(release: ReleaseData) -> bool:
    """Return whether it can be said how much is lost at least.

    Who is left out changes what the others can reach, several rows of a person share one box, and
    very large tables would take minutes.
    """
    manifest = release.manifest
    return not (manifest["suppressed"] or manifest.get("people") or manifest["rows"] > MOST)


def _times_least(release: ReleaseData, watch: Callable[[float], None]) -> float | None:
    """Return how many times the least possible loss was lost at most, where that can be said."""
    if not _bounded(release):
        return None
    least = least_loss(release.coded, release.requirements, watch)
    return times_least(release.manifest["loss"]["gcp"], least)


def _sizes(counted: Counted, audit: Audit) -> NDArray[np.int64]:
    """Return how many cannot be told apart, or how many published rows each person matches."""
    if audit.matches is not None or counted.after is None:
        assert audit.matches is not None
        return audit.matches
    return counted.after.sizes


def _requirement(finding: Finding, release: ReleaseData, counted: Counted) -> dict[str, Any]:
    principle, before = finding.requirement.principle, counted.before
    names = finding.requirement.columns
    value = counted.coded.value(names) if names else None
    if principle.population and release.population is not None:
        before = replace(before, people=alike_outside(release, before))
    entry: dict[str, Any] = {"risk_before": float(principle.measure(before, value).risk)}
    if value is not None and value.sets is not None:
        return entry  # what theorems say of before is about one value each
    if isinstance(principle, OneDimensional) and value is not None:
        (column,) = value.columns
        relative = getattr(principle, "relative", False)
        width = getattr(principle, principle.width_name, None)
        if width is None:
            width = max(getattr(principle, "below", 0), getattr(principle, "above", 0))
        points = list(islice(frontier(column, relative=relative), POINTS))
        entry["frontier"] = {
            "points": [{"m": p.m, "bound": p.epsilon_bound} for p in points],
            "chosen": {"m": principle.share, "width": width * principle.width_scale},
            "column": column.name,
            "relative": relative,
        }
    if isinstance(principle, Dissimilarity) and value is not None:
        relation = principle.relation(value)
        if counting_work(relation) <= PATIENCE:
            known = guarantee(principle, value)
            entry["reach"] = {
                "points": [{"k": r.k, "delta": r.delta or 0.0} for r in known.reaches],
                "chosen": {"k": principle.k, "delta": principle.delta},
                "guaranteed": known.by,
            }
    return entry


def group_sizes(release: ReleaseData) -> list[dict[str, int]]:
    """Return how many groups have how many rows."""
    return _counted(release.recoding.layout.bearers)


def _counted(sizes: NDArray[np.int64]) -> list[dict[str, int]]:
    values, counts = np.unique(sizes, return_counts=True)
    return [{"size": int(v), "groups": int(c)} for v, c in zip(values, counts, strict=True)]
