"""Writing a release: it appears whole or not at all, and only after its own audit.

Everything is written into a directory beside the target, synced, audited from there, and renamed.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from shoal.audit.claims import check_linked, check_manifest
from shoal.audit.digests import digest_of
from shoal.audit.identification import check_threshold
from shoal.audit.manifest import MANIFEST, REPORT, check_shape
from shoal.audit.shapes import Wrong
from shoal.audit.tables import read_tables
from shoal.errors import AuditFailed, InputError
from shoal.progress import Progress, silent
from shoal.release.staging import staging, swap_in, sync
from shoal.release.writing import write_as
from shoal.table.columns import Handed
from shoal.table.forms import CODEBOOK
from shoal.table.reading import take_frame
from shoal.table.strict import read_json
from shoal.views.usual import THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from shoal.audit.verify import Audit
    from shoal.runs.release import Release

from shoal.release.places import _real, as_output_errors, check_output, private_file

READING, GROUPING = 0.5, 0.6  # how far an audit is when the file is read, when it is checked


def write_release(
    release: Release,
    directory: str | Path,
    *,
    format: str = "csv",
    linkage: str | Path | None = None,
    force: bool = False,
    threshold: float | str = THRESHOLD,
    trials: Callable[[], dict[str, Any]] | None = None,
    commit: Callable[[Path], None] | None = None,
    progress: Progress = silent,
) -> Audit:
    """Write and audit a release; nothing is left behind where the audit fails.

    First the tables and their codebook, then the audit, then the report, which shows the digests of
    the tables, and last the manifest, which has the digests of all of them.

    `commit` is called with what is about to appear, before it does.
    `trials` makes what the report shows of other methods and parameters, where it is to.
    """
    check_threshold(threshold)
    check_output(directory, format=format, linkage=linkage, force=force)
    target = _real(directory)
    seconds = dict(release.manifest["seconds"])
    with as_output_errors(target.name), staging(target) as staged:
        progress("write", 0.0)
        start = time.perf_counter()
        write_tables(release, staged, format, progress)
        write_text(staged / CODEBOOK, release.codebook().write_csv())
        release.manifest["digests"][CODEBOOK] = digest_of(staged / CODEBOOK)
        seconds["write"] = round(time.perf_counter() - start, 3)
        progress("audit", 0.0)
        start = time.perf_counter()
        found = audit_written(release, staged, progress)
        seconds["audit"] = round(time.perf_counter() - start, 3)
        release.manifest.update(measured=found.measured(), seconds=seconds)
        tried = None if trials is None else trials()
        progress("report", 0.0)
        page = _page(release, found, threshold, tried, progress)
        write_text(staged / REPORT, page)
        release.manifest["digests"][REPORT] = digest_of(staged / REPORT)
        write_manifest(release.manifest, staged)
        progress("report", 1.0)
        with private_file(linkage) as stage_linkage:
            stage_linkage(release.linkage)
            if commit is not None:
                commit(staged)
            swap_in(staged, target)
    return found


def _page(
    release: Release,
    found: Audit,
    threshold: float | str,
    tried: dict[str, Any] | None,
    progress: Progress,
) -> str:
    """Return the report; of one made from published groups, what published rows tell."""
    if release.recast:
        from shoal.runs.recast import collect_recast
        from shoal.views.html import render_recast

        return render_recast(collect_recast(release, found, threshold))
    from shoal.runs.facts import collect
    from shoal.views.html import render_release

    return render_release(collect(release, found, threshold=threshold, progress=progress), tried)


def audit_written(release: Release, staged: Path, progress: Progress = silent) -> Audit:
    """Audit the file just written, and raise where it does not keep what was asked."""

    def reading(phase: str, share: float) -> None:
        progress(phase, READING * share)

    tables = read_tables(staged, release.manifest, lean=True, progress=reading)
    problems, published, linked = tables.problems, Handed(tables.rows), tables.linked
    del tables  # so that cells can go as soon as nobody else looks at them
    problems = (*problems, *check_linked(linked, release.manifest))
    return accept(release, published, progress, problems, linked)


def accept(
    release: Release,
    given: pl.DataFrame | Handed,
    progress: Progress = silent,
    found_before: Sequence[str] = (),
    linked: Mapping[str, pl.DataFrame] | None = None,
) -> Audit:
    """Audit a table as it was read back, and raise where it does not keep what was asked."""
    published = take_frame(given)
    problems = [*found_before, *check_manifest(published, release.manifest)]
    handed = Handed(published)
    del published  # so that quasi cells can go as soon as the groups are known
    progress("audit", GROUPING)
    found = release.audit_published(handed, linked)
    complaints = found.complaints() + problems
    if complaints:
        msg = "The release failed its own audit and was not kept. " + " ".join(complaints)
        raise AuditFailed(msg)
    return found


def write_manifest(manifest: dict[str, Any], staged: Path) -> None:
    """Write a manifest, and raise where an audit could not read it."""
    text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
    write_text(staged / MANIFEST, text)
    try:
        check_shape(read_json(text))
    except (InputError, Wrong) as problem:
        msg = f"The release failed its own audit and was not kept. In its manifest, {problem}."
        raise AuditFailed(msg) from None


def write_tables(release: Release, staged: Path, format: str, progress: Progress = silent) -> None:
    """Write the published tables alone, and note their digests."""
    rows = release.manifest["rows"]
    digests = {}
    for place, (stem, recoding) in enumerate(release.parts.items()):

        def watch(done: int, before: int = place) -> None:
            progress("write", (before + min(1.0, done / rows)) / len(release.parts))

        path = staged / f"{stem}.{format}"
        write_as(recoding, path, format, watch)
        sync(path)
        digests[path.name] = digest_of(path)
    release.manifest["digests"] = digests


def write_text(path: Path, text: str) -> None:
    """Write a text, and wait until it is on the disk."""
    path.write_text(text, "utf-8")
    sync(path)
