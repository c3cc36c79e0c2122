"""Writing a release: it appears whole or not at all, and only after its own audit.

Everything is written into a directory beside the target, synced, audited from there, and renamed.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.files import check_manifest, digest_of, read_published
from shoal.audit.manifest import MANIFEST, REPORT, check_shape
from shoal.audit.shapes import Wrong
from shoal.errors import AuditFailed, InputError, OutputError, UsageError
from shoal.progress import Progress, silent
from shoal.release.staging import claim, clear_leftovers, staging, swap_in, sync
from shoal.release.writing import write_as
from shoal.table.columns import Handed
from shoal.table.files import FORMATS, TABLES
from shoal.table.reading import take_frame
from shoal.table.strict import read_json
from shoal.views.exposure import THRESHOLD, check_threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from shoal.audit.verify import Audit
    from shoal.release.release import Release

FILES = {*TABLES, MANIFEST, REPORT}
PRIVATE = 0o600
READING, GROUPING = 0.5, 0.6  # how far an audit is when the file is read, when it is checked


def check_output(
    directory: str | Path,
    *,
    format: str,
    linkage: str | Path | None,
    force: bool,
    tables: Sequence[Path] = (),
) -> None:
    """Raise before any work is done where the output could not be written in the end.

    `tables` are the files that the input is read from.
    """
    target = _real(directory)
    name = Path(directory).name
    check_format(format)
    if any(target in (source := _real(table), *source.parents) for table in tables):
        msg = f"{name!r} holds the input table. Choose another --output."
        raise UsageError(msg)
    if os.path.lexists(directory):
        if not force:
            msg = f"{name!r} exists. Choose another --output, or replace it with --force."
            raise OutputError(msg)
        if not _replaceable(Path(directory)):
            msg = f"{name!r} exists and is not a release, so --force does not replace it."
            raise OutputError(msg)
    _check_place(target)
    if linkage is not None:
        check_private(linkage, target, tables, force=force)


def check_format(format: str) -> None:
    """Raise where a release cannot be written so."""
    if format not in FORMATS:
        msg = f"A release is written as {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, not {format!r}."
        raise UsageError(msg)


def _real(path: str | Path) -> Path:
    """Return where a path leads; unlike Path.resolve, a loop of links is no error."""
    return Path(os.path.realpath(path))


def _check_place(target: Path) -> None:
    above = next(parent for parent in target.parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        msg = f"Cannot write {target.name!r}: {above.name!r} is not a directory one can write into."
        raise OutputError(msg)


PRIVATE_FILES = {"linkage": "The linkage", "owner-report": "The owner's report"}


def check_private(
    path: str | Path,
    target: Path | None = None,
    tables: Sequence[Path] = (),
    *,
    what: str = "linkage",
    force: bool,
) -> None:
    """Raise where a private file could not be written in the end, or should not be there.

    `what` is the option that names it, `target` the release directory where that is known.
    """
    private, name = _real(path), PRIVATE_FILES[what]
    if target in (private, *private.parents) or _is_release(private.parent):
        msg = f"{name} is private and cannot lie inside the release. Choose another --{what}."
        raise UsageError(msg)
    if any(private == _real(table) for table in tables):
        msg = f"{name} would replace the input table. Choose another --{what}."
        raise UsageError(msg)
    if private.is_dir() or not private.parent.is_dir():
        msg = f"Cannot write {private.name!r}: it is a directory, or its directory is missing."
        raise OutputError(msg)
    _check_place(private)
    if os.path.lexists(path) and not force:
        msg = f"{private.name!r} exists. Choose another --{what}, or replace it with --force."
        raise OutputError(msg)


def _is_release(directory: Path) -> bool:
    """Return whether a directory holds a manifest of ours."""
    try:
        manifest = read_json((directory / MANIFEST).read_bytes())
    except (OSError, InputError):
        return False
    return isinstance(manifest, dict) and "shoal" in manifest


def _replaceable(directory: Path) -> bool:
    """Return whether a directory is empty or holds a release of ours and nothing else."""
    if directory.is_symlink() or not directory.is_dir():
        return False
    names = {path.name for path in directory.iterdir()}
    return not names or (names <= FILES and _is_release(directory))


def write_release(
    release: Release,
    directory: str | Path,
    *,
    format: str = "csv",
    linkage: str | Path | None = None,
    force: bool = False,
    threshold: float = THRESHOLD,
    trials: Callable[[], dict[str, Any]] | None = None,
    progress: Progress = silent,
) -> Audit:
    """Write and audit a release; nothing is left behind where the audit fails.

    First the table, then its audit, then the report, which shows the digest of the table, and last
    the manifest, which has the digests of all of them.

    `trials` makes what the report shows of other methods and parameters, where it is to.
    """
    check_threshold(threshold)
    check_output(directory, format=format, linkage=linkage, force=force)
    target = _real(directory)
    seconds = dict(release.manifest["seconds"])
    with as_output_errors(target.name), staging(target) as staged:
        progress("write", 0.0)
        start = time.perf_counter()
        write_table(release, staged / f"release.{format}", format, progress)
        seconds["write"] = round(time.perf_counter() - start, 3)
        progress("audit", 0.0)
        start = time.perf_counter()
        found = audit_written(release, staged, progress)
        seconds["audit"] = round(time.perf_counter() - start, 3)
        release.manifest.update(measured=found.measured(), seconds=seconds)
        tried = None if trials is None else trials()
        progress("report", 0.0)
        from shoal.views.html import render_release

        page = render_release(release, found, threshold=threshold, trials=tried)
        _write_text(staged / REPORT, page)
        release.manifest["digests"][REPORT] = digest_of(staged / REPORT)
        _write_manifest(release.manifest, staged)
        progress("report", 1.0)
        with private_file(linkage) as stage_linkage:
            stage_linkage(release.linkage)
            swap_in(staged, target)
    return found


@contextmanager
def new_directory(directory: str | Path) -> Iterator[Path]:
    """Give a place to write files into that becomes the directory, whole or not at all."""
    check_output(directory, format="csv", linkage=None, force=False)
    target = _real(directory)
    with as_output_errors(target.name), staging(target) as staged:
        yield staged
        for path in staged.iterdir():
            sync(path)
        swap_in(staged, target)


def audit_written(release: Release, staged: Path, progress: Progress = silent) -> Audit:
    """Audit the file just written, and raise where it does not keep what was asked."""

    def reading(phase: str, share: float) -> None:
        progress(phase, READING * share)

    published = Handed(read_published(staged, release.manifest, lean=True, progress=reading))
    return accept(release, published, progress)


def accept(release: Release, given: pl.DataFrame | Handed, progress: Progress = silent) -> Audit:
    """Audit a table as it was read back, and raise where it does not keep what was asked."""
    published = take_frame(given)
    problems = check_manifest(published, release.manifest)
    handed = Handed(published)
    del published  # so that quasi cells can go as soon as the groups are known
    progress("audit", GROUPING)
    found = release.audit_published(handed)
    complaints = found.complaints() + problems
    if complaints:
        msg = "The release failed its own audit and was not kept. " + " ".join(complaints)
        raise AuditFailed(msg)
    return found


def _write_manifest(manifest: dict[str, Any], staged: Path) -> None:
    """Write a manifest, and raise where an audit could not read it."""
    text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
    _write_text(staged / MANIFEST, text)
    try:
        check_shape(read_json(text))
    except (InputError, Wrong) as problem:
        msg = f"The release failed its own audit and was not kept. In its manifest, {problem}."
        raise AuditFailed(msg) from None


def write_table(release: Release, path: Path, format: str, progress: Progress = silent) -> None:
    """Write the published table alone, and note its digest."""
    rows = release.manifest["rows"]
    write_as(release, path, format, lambda done: progress("write", done / rows))
    sync(path)
    release.manifest["digests"] = {path.name: digest_of(path)}


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
    sync(path)


@contextmanager
def private_file(path: str | Path | None) -> Iterator[Any]:
    """Stage the linkage so that only its owner can ever read it; place it when all else stands."""
    if path is None:
        yield lambda _linkage: None
        return
    target = _real(path)
    staged = _beside(target)

    def stage(linkage: np.ndarray) -> None:
        order = np.argsort(linkage)
        table = pl.DataFrame({"row": linkage[order], "release_row": order})
        with _private(staged) as file:
            lock = claim(staged)
            if lock is not None:
                held.callback(os.close, lock)
            table.write_csv(file)

    clear_leftovers(target)
    with ExitStack() as held:
        try:
            yield stage
            staged.rename(target)
        finally:
            staged.unlink(missing_ok=True)


def private_text(path: str | Path, text: str) -> None:
    """Write a text that only its owner can ever read, whole or not at all."""
    target = _real(path)
    staged = _beside(target)
    with as_output_errors(target.name):
        try:
            with _private(staged) as file:
                file.write(text.encode("utf-8"))
            staged.rename(target)
        finally:
            staged.unlink(missing_ok=True)


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(8)}.partial")


@contextmanager
def _private(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file that nobody else can read; what was written stands on the disk."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
    with os.fdopen(descriptor, "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def as_output_errors(name: str) -> Iterator[None]:
    """Turn what the system and the writers raise into a sentence."""
    try:
        yield
    except (OSError, pl.exceptions.ComputeError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem).splitlines()[0]
        msg = f"Cannot write {name!r}: {reason}."
        raise OutputError(msg) from None
