"""What goes with a release: a certificate to sign, and programs that read it without Shoal.

The certificate is measured from the release's files and nothing else: two pages, or more where
there are many columns. The programs are for R, pandas and Stata.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.audit.identification import check_threshold
from shoal.audit.tables import read_manifest
from shoal.errors import UsageError
from shoal.exact import upward
from shoal.release.places import PUBLIC, check_beside, new_directory, write_whole
from shoal.runs.audit import audited
from shoal.runs.facts import facts
from shoal.table.files import tables_named
from shoal.table.forms import stems
from shoal.table.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shoal.audit.verify import Audit


# What is written, and what it is called here: a program of others is not to be checked as ours.
LOADERS = {"load.R": "load.R", "load.do": "load.do", "load_release.py": "load_release.py.txt"}
UNSEEN: dict[str, Any] = {"cells": []}  # of tables that cannot be read
TEXT = ("csv", "tsv", "csv.gz", "tsv.gz")


def write_scripts(release: str | Path, directory: str | Path) -> Sequence[Path]:
    """Write what reads a release into R, Stata and pandas into a new directory."""
    manifest = read_manifest(Path(release))
    for stem in stems(manifest.form):
        named = [name for name in manifest.digests if name in tables_named(stem)]
        name = named[0] if named else f"{stem}.parquet"  # which comes in parts
        if name.removeprefix(f"{stem}.") not in TEXT:
            msg = (
                f"{name} is not a text file that R, Stata and pandas read alike. Publish the "
                "release as csv or tsv, or read it in Python: shoal.measures.read."
            )
            raise UsageError(msg)
    with new_directory(directory) as staged:
        for name, kept in LOADERS.items():
            text = files("shoal.release.loaders").joinpath(kept).read_text("utf-8")
            (staged / name).write_text(text, "utf-8", newline="\n")
    return [Path(directory) / name for name in LOADERS]


def certificate(
    directory: str | Path,
    path: str | Path,
    *,
    original: Any = None,
    population: Any = None,
    person: str | None = None,
    threshold: float | str | None = None,
) -> Audit:
    """Audit a release and write its certificate, an HTML file to print and sign.

    It lies outside the release, whose files are complete without it. A release that does not hold
    what it promises gets a page that says so.

    Parameters
    ----------
    directory : the release.
    path : the file to write.
    original, population : as for `audit`.
    person : the column that says whom rows of the population are about, where people have several.
    threshold : the risk of being found that the certificate compares with, where it is to be
        another than that of the release.
    """
    if threshold is not None:
        check_threshold(threshold)
    directory, path = Path(directory), Path(path)
    _check(directory, path)
    whose = None if person is None else Schema(person=person)
    found = audited(directory, whose, original=original, population=population)
    _write(directory, path, found, {}, threshold)
    return found


def certified(directory: Path, path: Path, context: Mapping[str, str]) -> Audit:
    """Write a certificate as `certificate` does, with answers that came after the release."""
    _check(directory, path)
    found = audited(directory)
    _write(directory, path, found, context)
    return found


def _write(
    directory: Path,
    path: Path,
    found: Audit,
    context: Mapping[str, str],
    threshold: float | str | None = None,
) -> None:
    from shoal.views.html import render_certificate

    manifest = read_manifest(directory)
    found.state(manifest)
    manifest.context = {**manifest.context, **context}
    if threshold is not None:
        manifest.threshold = upward(check_threshold(threshold))
    alike = None if not manifest.grouped else found.alike
    page = render_certificate(facts(manifest, alike, found.shown or UNSEEN), found)
    write_whole(path, page, force=False, mode=PUBLIC)


def _check(directory: Path, path: Path) -> None:
    """Raise before any work is done where the certificate could not be written, or should not."""
    if not directory.is_dir():
        msg = (
            f"{directory.name!r} is not a release directory, and only a release directory gets "
            "a certificate."
        )
        raise UsageError(msg)
    if path.suffix == ".pdf":
        msg = (
            f"A certificate is a page to print, for example 'certificate.html'. Got {path.name!r}."
        )
        raise UsageError(msg)
    check_beside(directory, path, "A certificate")
