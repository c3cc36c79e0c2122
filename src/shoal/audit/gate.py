"""The one gate to a release directory: what reads one for other ends than an audit comes through.

A manifest may be anybody's. What it says of itself was compared when it was read (`manifest`); here
it is compared with its files, so that nobody behind the gate meets cells of another kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.audit.agreement import contradictions
from shoal.audit.asked import check_asked
from shoal.audit.claims import check_linked, check_manifest, check_real, uneven_weights
from shoal.audit.manifest import read_manifest
from shoal.audit.slices import check_done
from shoal.audit.tables import check_digests, read_tables
from shoal.errors import AuditFailed
from shoal.release.manifest import REPORT
from shoal.table.forms import CODEBOOK

if TYPE_CHECKING:
    from collections.abc import Container
    from pathlib import Path

    from shoal.audit.forms import Tables
    from shoal.release.manifest import Manifest


def open_stated(directory: Path, but: Container[str] = (REPORT, CODEBOOK)) -> Manifest:
    """Read the manifest of a release whose files are those that it names, or raise.

    Files named in `but` may be missing: those that are to be made anew, or that nobody looks at.
    """
    manifest = read_manifest(directory)
    digests = {name: said for name, said in manifest.digests.items() if name not in but}
    refuse(directory, check_digests(directory, digests) + inconsistent(manifest))
    return manifest


def open_tables(directory: Path, manifest: Manifest, *, lean: bool = False) -> Tables:
    """Read the published tables of a release, of which its manifest tells the truth, or raise."""
    tables = read_tables(directory, manifest, lean=lean)
    refuse(directory, untrue(tables, manifest))
    return tables


def inconsistent(manifest: Manifest) -> list[str]:
    """Return a sentence for everything that parts of a manifest say against each other."""
    return contradictions(manifest) + check_asked(manifest)


def refuse(directory: Path, problems: list[str]) -> None:
    """Raise where anything is wrong with a release."""
    if problems:
        msg = f"The files of {directory.name!r} are not what its manifest says. "
        raise AuditFailed(msg + " ".join(problems))


def untrue(tables: Tables, manifest: Manifest) -> list[str]:
    """Return a sentence for everything that a manifest says wrongly of its tables."""
    published, linked = tables.rows, tables.linked
    problems = [*tables.problems, *check_manifest(published, manifest, linked)]
    problems += check_linked(linked, manifest)
    if tables.people is not None:
        problems += uneven_weights(tables.people, manifest)
    if manifest.in_series:
        parts = [one for one in (published, tables.people) if one is not None]
        problems += check_real(parts, manifest.asked)
    problems += check_done(published, manifest.columns)
    for name, table in linked.items():
        problems += check_done(table, manifest.linked_columns(name))
    return problems
