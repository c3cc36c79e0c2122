"""Writing a release: it appears whole or not at all, and only after its own audit.

Everything is written into a directory beside the target, synced, audited from there, and renamed.

A release that was made from published groups has a report that knows no original. It is computed
from published rows alone, because whatever else it said would be more than they tell: nothing is
compared with the original.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.audit.claims import check_linked, check_manifest
from shoal.audit.identification import check_threshold
from shoal.audit.manifest import MANIFEST, REPORT, check_shape
from shoal.audit.shapes import Wrong
from shoal.audit.tables import digest_of, read_tables
from shoal.errors import AuditFailed, InputError, OutputError, UsageError
from shoal.progress import Progress, silent
from shoal.release.places import _real, as_output_errors, check_output, private_file
from shoal.release.staging import staging, swap_in, sync
from shoal.release.writing import write_as
from shoal.runs.again import citations
from shoal.runs.facts import LIMITS, group_sizes, stated
from shoal.table.columns import Handed
from shoal.table.forms import CODEBOOK
from shoal.table.reading import take_frame
from shoal.table.strict import read_json
from shoal.utility.fidelity import kept_columns
from shoal.utility.maps import loss_map
from shoal.views.commands import Command
from shoal.views.usual import THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from shoal.audit.verify import Audit
    from shoal.release.release import ReleaseData
    from shoal.runs.release import Release
    from shoal.runs.spread import SpreadRelease


NESTED = (
    "It was made from a finer release alone: whoever has both learns what the finer one tells.",
)
SERIES = (
    "It is one of a series. A group is published unchanged or not at all, so all releases together "
    "tell no more than the first one of each group, provided that whether somebody stays or leaves "
    "does not depend on the sensitive value among people of equal quasi values.",
    "Rows of people who left are published as before and stand for nobody; `real` says how many "
    "people of a group are still there.",
)


def collect_recast(release: ReleaseData, audit: Audit, threshold: float | str) -> dict[str, Any]:
    """Gather what published rows tell."""
    series = "previous" in release.manifest
    return stated(release.manifest, audit, threshold) | {
        "series": series,
        "sizes": group_sizes(release),
        "map": loss_map(release),
        "fidelity": {"columns": kept_columns(release)},
        "limits": (*(SERIES if series else NESTED), *LIMITS),
        "citations": citations(release),
        "command": _command(release).folded,
    }


def collect_spread(
    manifest: dict[str, Any], audit: Audit, release: SpreadRelease, threshold: float | str
) -> dict[str, Any]:
    """Gather what is known of a release that nobody holds whole."""
    asked = [("require", one) for one in manifest["require"]]
    schema = release.schema
    roles = [
        (role, ",".join(getattr(schema, role)))
        for role in ("quasi", "sensitive", "other")
        if getattr(schema, role)
    ]
    how = [("method", manifest["method"]), ("engine", "Spark()"), ("output", "DIR")]
    return stated(manifest, audit, threshold) | {
        "series": False,
        "spread": len([name for name in manifest["digests"] if "/" in name]),
        "sizes": release.sizes,
        "map": None,
        "fidelity": {"columns": []},
        "limits": LIMITS,
        "citations": citations(release),
        "command": Command("anonymize", ("TABLE",), (*roles, *asked, *how)).folded,
    }


def _command(release: ReleaseData) -> Command:
    asked = [("require", one) for one in release.manifest["require"]]
    if "previous" in release.manifest:
        return Command("audit", ("BEFORE", "DIR"))
    return Command("coarsen", ("FINER",), (*asked, ("output", "DIR")))


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
        shutil.copytree(source, staged, dirs_exist_ok=True)
        for path in staged.rglob("*"):
            if path.is_file():
                sync(path)
        swap_in(staged, place)
    return place
