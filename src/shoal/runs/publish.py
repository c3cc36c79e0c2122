"""Writing a release: it appears whole or not at all, and only after its own audit.

Everything is written into a directory beside the target, synced, audited from there, and renamed.
The report is made of what was read back, and of nothing else.

The audit is of the cells as they are spelled. In memory, cells are put together a batch at a time,
read by the audit's own parser and held as dictionaries, as if they came from a file; nothing that
the search knew is used.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.ask.options import THRESHOLD
from shoal.audit.asked import check_asked
from shoal.audit.described import Wrong
from shoal.audit.identification import check_threshold
from shoal.audit.published import Published, as_meant, read_batches, read_release
from shoal.audit.tables import check_shape, digest_of
from shoal.errors import AuditFailed, InputError, OutputError, UsageError
from shoal.exact import upward
from shoal.notation import read_json
from shoal.platforms import sync
from shoal.progress import Laps, Progress, silent
from shoal.release.building import build_release
from shoal.release.layout import Randomness
from shoal.release.manifest import MANIFEST, REPORT
from shoal.release.places import _real, appear, as_output_errors, check_output, linkage_file
from shoal.release.staging import staging, turn_in, undisturbed
from shoal.release.writing import write_as
from shoal.runs.facts import facts
from shoal.runs.refusing import check_audited
from shoal.runs.release import Release
from shoal.table.files import FORMATS
from shoal.table.forms import CODEBOOK
from shoal.utility.bias import codebook
from shoal.utility.shown import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from shoal.audit.verify import Audit
    from shoal.methods.base import Method
    from shoal.methods.choice import Searched
    from shoal.release.manifest import Manifest
    from shoal.release.places import Waiting
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
    seen = None
    if describe is not None and not published.problems:
        describe(published)
        seen = shown(published)
    problems = published.untrue()
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


def write_release(
    release: Release,
    directory: str | Path,
    *,
    format: str = "csv",
    linkage: str | Path | None = None,
    force: bool = False,
    threshold: float | str = THRESHOLD,
    beside: Sequence[Waiting] = (),
    commit: Callable[[Path], None] | None = None,
    progress: Progress = silent,
) -> Audit:
    """Write and audit a release; nothing is left behind where the audit fails.

    First the tables and their codebook, then the audit, then the report, which shows the digests of
    the tables, and last the manifest, which has the digests of all of them.

    Private files that are `beside` it appear with it. `commit` is called with what is about to
    appear, before it does.
    """
    check_threshold(threshold)
    check_output(directory, format=format, linkage=linkage, force=force)
    target = _real(directory)
    laps = Laps({**release.settings.get("seconds", {})})
    withheld = say_when(release.manifest, threshold, format)
    release.settings["withheld"] = release.settings.get("withheld", {}) | withheld
    with as_output_errors(target.name), staging(target) as staged:
        with laps.timed("write", progress):
            write_tables(release, staged, format, progress)

        def describe(published: Published) -> None:
            write_codebook(codebook(published), release.manifest, staged)

        with laps.timed("audit", progress):
            found = audit_written(release, staged, progress, describe=describe)
        found.state(release.manifest)
        with laps.timed("report", progress):
            write_report(release.manifest, found, staged, progress)
        release.settings["seconds"] = laps.seconds
        with (
            turn_in(target.parent),
            linkage_file(linkage, release.origins, force=force) as linked,
            undisturbed(),  # whoever stops a run that is appearing gets all of it
        ):
            appear(staged, target, force=force, beside=[*linked, *beside], commit=commit)
    return found


def dated(threshold: float | str) -> dict[str, Any]:
    """Return what a manifest says of the day and of the risk that is compared with."""
    limit = upward(check_threshold(threshold))
    return {"date": datetime.now(UTC).date().isoformat(), "threshold": limit}


def say_when(
    manifest: Manifest, threshold: float | str, format: str | None = None
) -> dict[str, Any]:
    """Put into a manifest what is known when it is written: the day, and what it is asked for.

    Returned is what is taken out of it, where the owner withholds how many rows were left out.
    """
    manifest.say(**dated(threshold))
    manifest.asked.say(format=None if format == FORMATS[0] else format)
    return manifest.withhold() if manifest.asked.withhold_counts else {}


def write_codebook(table: pl.DataFrame, manifest: Manifest, staged: Path) -> None:
    """Write a codebook, and note its digest."""
    write_text(staged / CODEBOOK, table.write_csv())
    manifest.digests[CODEBOOK] = digest_of(staged / CODEBOOK)


def write_report(
    manifest: Manifest, found: Audit, staged: Path, progress: Progress = silent
) -> None:
    """Write the report, from what was read back alone, and last the manifest."""
    from shoal.views.html import render_report

    progress("report", 0.0)
    assert found.shown is not None
    alike = None if not manifest.grouped else found.alike
    write_text(staged / REPORT, render_report(facts(manifest, alike, found.shown)))
    manifest.digests[REPORT] = digest_of(staged / REPORT)
    write_manifest(manifest, staged)
    progress("report", 1.0)


def write_manifest(manifest: Manifest, staged: Path) -> None:
    """Write a manifest, and raise where an audit could not read it."""
    text = manifest.to_json()
    write_text(staged / MANIFEST, text)
    try:
        check_shape(read_json(text))
    except (InputError, Wrong) as problem:
        msg = f"The release failed its own audit and was not kept. In its manifest, {problem}."
        raise AuditFailed(msg) from None
    if untrue := check_asked(manifest):
        msg = f"The release failed its own audit and was not kept. {' '.join(untrue)}"
        raise AuditFailed(msg)


def write_tables(release: Release, staged: Path, format: str, progress: Progress = silent) -> None:
    """Write the published tables alone, and note their digests."""
    rows = release.manifest.rows
    digests = {}
    for place, (stem, recoding) in enumerate(release.parts.items()):

        def watch(done: int, before: int = place) -> None:
            progress("write", (before + min(1.0, done / rows)) / len(release.parts))

        path = staged / f"{stem}.{format}"
        write_as(recoding, path, format, watch)
        sync(path)
        digests[path.name] = digest_of(path)
    release.manifest.digests = digests


def write_text(path: Path, text: str) -> None:
    """Write a text, and wait until it is on the disk."""
    path.write_text(text, "utf-8", newline="\n")
    sync(path)


def copy_release(source: str | Path, target: str | Path) -> Path:
    """Copy the files of a release into a directory that is not there yet, and return which."""
    if not str(target).strip():
        msg = "Name the folder that the release should go into."
        raise UsageError(msg)
    place = Path(target).expanduser().absolute()
    if os.path.lexists(place) or "\x00" in str(place):
        msg = f"{place.name!r} exists, or can be no folder. Choose another folder."
        raise OutputError(msg)
    check_output(place, format="csv", linkage=None, force=False)
    with as_output_errors(place.name), staging(place) as staged:
        for path in sorted(Path(source).rglob("*")):
            copied = staged / path.relative_to(source)
            if path.is_dir():
                copied.mkdir()
            else:
                shutil.copyfile(path, copied)
                sync(copied)
        appear(staged, place, force=False)
    return place
