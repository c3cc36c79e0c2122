"""Publishing where there is no directory: to standard output, or as a table of a database.

Only the table is published there, after the same audit as that of a directory.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from shoal.errors import OutputError, UsageError, option
from shoal.progress import Progress, silent
from shoal.release.places import (
    as_output_errors,
    check_output,
    check_private,
    linkage_file,
    put_whole,
)
from shoal.release.staging import staging
from shoal.runs.publish import accept, audit_written, write_tables
from shoal.table.databases.access import (
    check_target,
    file_of,
    is_address,
    moved,
    write_address,
)
from shoal.table.files import FORMATS
from shoal.table.forms import RELEASE, TWO_TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shoal.audit.verify import Audit
    from shoal.runs.release import Release


def check_outlet(
    target: str,
    *,
    format: str | None,
    linkage: str | Path | None,
    force: bool,
    form: str | None = None,
    tables: Sequence[Path] = (),
) -> None:
    """Raise before any work is done where the output could not be written in the end."""
    check_one_table(form)
    if is_address(target):
        if format is not None:
            msg = f"A table of a database has no {option('format')}. Omit it."
            raise UsageError(msg)
        check_target(target, force=force)
    elif format is not None and format not in FORMATS:
        check_output(target, format=format, linkage=None, force=force)
    if linkage is not None:
        check_private(linkage, None, tables, force=force)


def check_one_table(form: str | None) -> None:
    """Raise where a form has more than the one table that there is place for."""
    if form == TWO_TABLES:
        msg = (
            "Two tables need a directory: standard output and a table of a database take one. "
            f"Give {option('output')} a directory, or choose another {option('form')}."
        )
        raise UsageError(msg)


def publish(
    release: Release,
    target: str | Path,
    *,
    format: str = "csv",
    linkage: str | Path | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> Audit:
    """Publish the table alone, audited as it was written."""
    check_one_table(release.form)
    if isinstance(target, str) and is_address(target):
        return _into_database(release, target, linkage=linkage, force=force, progress=progress)
    return _to_stdout(release, format, linkage=linkage, force=force, progress=progress)


def _into_database(
    release: Release, target: str, *, linkage: str | Path | None, force: bool, progress: Progress
) -> Audit:
    progress("write", 0.0)
    private = linkage_file(linkage, release.origins, force=force)
    with as_output_errors("the linkage"), private as beside:

        def accepted(table: pl.DataFrame) -> Audit:
            found = accept(release, table)
            for one in beside:
                one.place()
            return found

        with _standing(target, force=force) as place:
            found = write_address(place, _for_databases(release), force=force, accept=accepted)
    found.state(release.manifest)
    progress("write", 1.0)
    return found


@contextmanager
def _standing(target: str, *, force: bool) -> Iterator[str]:
    """Give an address to write to; a file that is not there yet is written beside its place."""
    check_target(target, force=force)
    new = [path for path in file_of(target) if not path.exists()]
    if not new:
        yield target
        return
    (path,) = new
    with staging(path) as staged:
        yield moved(target, staged / path.name)
        put_whole(staged / path.name, path)


def _for_databases(release: Release) -> pl.DataFrame:
    """Return the table without nested types; dates of quasi columns are text, as everywhere."""
    table = pl.concat(release.recoding.flat())
    dates = [name for name in release.recoding.counted if table[name].dtype.is_temporal()]
    return table.with_columns(pl.col(name).cast(pl.String) for name in dates)


def _to_stdout(
    release: Release, format: str, *, linkage: str | Path | None, force: bool, progress: Progress
) -> Audit:
    """Write and audit in a directory that only its owner can read, then hand the bytes on."""
    with (
        as_output_errors("the release"),
        tempfile.TemporaryDirectory(prefix="shoal-") as staged,
        linkage_file(linkage, release.origins, force=force) as beside,
    ):
        progress("write", 0.0)
        write_tables(release, Path(staged), format)
        progress("audit", 0.0)
        found = audit_written(release, Path(staged))
        found.state(release.manifest)
        for one in beside:
            one.place()
        progress("audit", 1.0)
        with (Path(staged) / f"{RELEASE}.{format}").open("rb") as file:
            try:
                shutil.copyfileobj(file, sys.stdout.buffer)
                sys.stdout.buffer.flush()
            except BrokenPipeError:
                msg = "The reader of the output stopped before the end."
                raise OutputError(msg) from None
    return found
