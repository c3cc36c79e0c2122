"""No release is handed out before its own audit, of the cells as they are spelled.

In memory, cells are put together a batch at a time, read by the audit's own parser and held as
dictionaries, as if they came from a file; nothing that the search knew is used.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.audit.claims import check_linked, check_manifest
from shoal.audit.published import Published, as_meant, read_batches, read_release
from shoal.errors import AuditFailed
from shoal.progress import Progress, silent
from shoal.release.building import build_release
from shoal.release.layout import Randomness
from shoal.runs.refusing import check_audited
from shoal.runs.release import Release
from shoal.utility.shown import shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import polars as pl

    from shoal.audit.verify import Audit
    from shoal.methods.base import Method
    from shoal.methods.choice import Searched
    from shoal.runs.checks import Prepared
    from shoal.table.schema import Schema

READING, GROUPING = 0.5, 0.6  # how far an audit is when the file is read, when it is checked


def audited(release: Release, *, trial: bool = False) -> Release:
    """Return a release whose cells keep what was asked, or raise.

    Of a trial, which nobody publishes, no column is refused because of what it exposes.
    """
    found = audit_spelled(release)
    _refuse(found)
    if not trial:
        check_audited(found)
    found.state(release.manifest)
    return release


def audit_spelled(release: Release) -> Audit:
    """Audit a release that is not written, as it would be read."""
    spelled = {name: part.text() for name, part in release.parts.items()}
    return _audit(release, read_batches(spelled, release.manifest))


def audit_written(
    release: Release,
    staged: Path,
    progress: Progress = silent,
    *,
    describe: Callable[[Published], None] = lambda _: None,
) -> Audit:
    """Audit the file just written, and raise where it does not keep what was asked.

    `describe` gets the tables as they were read back, where nothing is wrong with them.
    """

    def reading(phase: str, share: float) -> None:
        progress(phase, READING * share)

    published = read_release(staged, release.manifest, lean=True, progress=reading)
    found = _audit(release, published, progress, describe)
    _refuse(found)
    check_audited(found)
    return found


def accept(release: Release, table: pl.DataFrame) -> Audit:
    """Audit a table as it was read back, and raise where it does not keep what was asked."""
    found = _audit(release, as_meant(table, release.manifest))
    _refuse(found)
    check_audited(found)
    return found


def _audit(
    release: Release,
    published: Published,
    progress: Progress = silent,
    describe: Callable[[Published], None] | None = None,
) -> Audit:
    """Audit the tables of a release; of written ones it is noted what a report shows of them.

    Cells go as soon as nobody else looks at them.
    """
    manifest, linked, seen = release.manifest, published.linked, None
    problems = [*published.problems, *check_linked(linked, manifest)]
    if describe is not None and not problems:
        describe(published)
        seen = shown(published)
    problems += check_manifest(published.table, manifest, linked)
    progress("audit", GROUPING)
    found = release.audit_published(published)
    return replace(found, problems=(*found.problems, *problems), shown=seen)


def _refuse(found: Audit) -> None:
    """Raise where something does not hold."""
    if complaints := found.complaints():
        msg = "The release failed its own audit and was not kept. " + " ".join(complaints)
        raise AuditFailed(msg)


def made_of(
    prepared: Prepared, table: pl.DataFrame, schema: Schema, made: Searched, method: Method
) -> Release:
    """Return the release that a search which was tried leads to, not audited yet."""
    return Release.of(
        build_release(
            table,
            replace(schema, linked={name: one.schema for name, one in prepared.linked.items()}),
            made.task,
            made.found,
            suppression=made.suppression,
            method=method,
            randomness=Randomness(),
            given=table,
            population=prepared.everybody,
            linked=prepared.linked,
        )
    )
