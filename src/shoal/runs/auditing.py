"""No release is handed out before its own audit, of the cells as they are spelled.

In memory, cells are put together a batch at a time, read by the audit's own parser and held as
dictionaries, as if they came from a file; nothing that the search knew is used.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.audit.claims import check_linked, check_manifest
from shoal.audit.tables import read_tables, tables_in_memory
from shoal.errors import AuditFailed
from shoal.progress import Progress, silent
from shoal.release.building import build_release
from shoal.release.layout import Randomness
from shoal.runs.refusing import check_audited
from shoal.runs.release import Release
from shoal.table.columns import Handed
from shoal.table.reading import take_frame
from shoal.utility.shown import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from shoal.audit.forms import Tables
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
    return _audit_tables(release, tables_in_memory(spelled, release.manifest))


def audit_written(
    release: Release,
    staged: Path,
    progress: Progress = silent,
    *,
    describe: Callable[[Tables], None] = lambda _: None,
) -> Audit:
    """Audit the file just written, and raise where it does not keep what was asked.

    `describe` gets the tables as they were read back, where nothing is wrong with them.
    """

    def reading(phase: str, share: float) -> None:
        progress(phase, READING * share)

    found = _audit_tables(
        release,
        read_tables(staged, release.manifest, lean=True, progress=reading),
        progress,
        describe,
    )
    _refuse(found)
    check_audited(found)
    return found


def _audit_tables(
    release: Release,
    tables: Tables,
    progress: Progress = silent,
    describe: Callable[[Tables], None] | None = None,
) -> Audit:
    """Audit the tables of a release; of written ones it is noted what a report shows of them."""
    published, linked, beside = Handed(tables.rows), tables.linked, tables.people
    problems = (*tables.problems, *check_linked(linked, release.manifest))
    seen = None
    if describe is not None and not problems:
        describe(tables)
        seen = shown(tables, release.manifest)
    del tables  # so that cells can go as soon as nobody else looks at them
    return replace(_audit(release, published, progress, problems, linked, beside), shown=seen)


def accept(release: Release, published: pl.DataFrame) -> Audit:
    """Audit a table as it was read back, and raise where it does not keep what was asked."""
    found = _audit(release, published)
    _refuse(found)
    check_audited(found)
    return found


def _audit(
    release: Release,
    given: pl.DataFrame | Handed,
    progress: Progress = silent,
    found_before: Sequence[str] = (),
    linked: Mapping[str, pl.DataFrame] | None = None,
    beside: pl.DataFrame | None = None,
) -> Audit:
    published = take_frame(given)
    problems = [*found_before, *check_manifest(published, release.manifest, linked or {})]
    handed = Handed(published)
    del published  # so that quasi cells can go as soon as the groups are known
    progress("audit", GROUPING)
    found = release.audit_published(handed, linked, beside)
    return replace(found, problems=(*found.problems, *problems))


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
