"""The published tables of a release directory, read as its manifest says."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from shoal.audit.cells import without_escapes
from shoal.audit.digests import is_ordinary
from shoal.audit.forms import (
    Tables,
    flat_cells,
    one_cell_each,
    put_together,
    wrong_headers,
)
from shoal.audit.parts import find_parts
from shoal.audit.stated import manifest_schema
from shoal.errors import InputError
from shoal.progress import Progress, silent
from shoal.table.columns import Gathered
from shoal.table.files import separator_of, tables_named
from shoal.table.forms import INTERVALS, RELEASE, TWO_TABLES, stems
from shoal.table.linked import under_both_names
from shoal.table.reading import read_lean, read_table

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from shoal.audit.parts import PartFiles


def read_published(
    directory: Path,
    manifest: dict[str, Any],
    *,
    lean: bool = False,
    progress: Progress = silent,
) -> pl.DataFrame:
    """Read the published table of a release directory: quasi cells as text, nothing escaped.

    With `lean`, cells that repeat are held as dictionaries.
    """
    return read_tables(directory, manifest, lean=lean, progress=progress).rows


def read_tables(
    directory: Path,
    manifest: dict[str, Any],
    *,
    lean: bool = False,
    progress: Progress = silent,
) -> Tables:
    """Read the published tables of a release directory as one, and say what is wrong with them."""
    found = read_spelled(directory, manifest, lean=lean, progress=progress)
    schema = manifest_schema(manifest)
    linked = {
        name: schema.linked[name].read_numbers(table, "sensitive")
        for name, table in found.linked.items()
    }
    return replace(found, rows=schema.read_numbers(found.rows, "sensitive"), linked=linked)


def read_spelled(
    directory: Path,
    manifest: dict[str, Any],
    *,
    lean: bool = False,
    progress: Progress = silent,
) -> Tables:
    """Read the published tables, quasi cells as text, nothing escaped, all spelled as they are."""
    form = manifest["form"]
    tables = {}
    for stem in (*stems(form), *manifest.get("tables", {})):
        if parts := find_parts(directory, stem, manifest["digests"]):
            tables[stem] = _read_parts(parts, manifest, progress)
            continue
        (name,) = (name for name in manifest["digests"] if name in tables_named(stem))
        path = directory / name
        if not is_ordinary(path):
            msg = f"{directory.name!r} has no {name}, or it is no ordinary file."
            raise InputError(msg)
        separator = separator_of(name.removeprefix(f"{stem}."))
        flat = partial(flat_cells, manifest=manifest)
        if lean and form != TWO_TABLES:
            tables[stem] = read_lean(
                path, delimiter=separator, change=flat, progress=progress, phase="audit"
            )
        else:
            tables[stem] = flat(read_table(path, delimiter=separator))
    if form == TWO_TABLES:
        return put_together(tables, manifest)
    linked = {}
    for name, stated in manifest.get("tables", {}).items():
        table = tables.pop(name)
        if manifest.get("escaped"):
            table = without_escapes(table, stated["columns"])
        linked[name] = under_both_names(table, name)
    problems = wrong_headers(tables, manifest) if form != INTERVALS else ()
    rows = tables[RELEASE] if problems else one_cell_each(tables[RELEASE], manifest)
    if manifest.get("escaped"):
        rows = without_escapes(rows, manifest["columns"])
    return Tables(rows, tuple(problems), linked=linked)


def _read_parts(parts: PartFiles, manifest: dict[str, Any], progress: Progress) -> pl.DataFrame:
    """Read the parts of a table as one, a part at a time."""
    gathered = Gathered(lean=True)
    for place, path in enumerate(parts.paths, 1):
        gathered.add(flat_cells(read_table(path), manifest))
        progress("audit", place / len(parts.paths))
    return gathered.table(list(parts.columns), parts.rows)


def as_meant(published: pl.DataFrame, manifest: dict[str, Any]) -> pl.DataFrame:
    """Return a published table, quasi cells as text, read as its manifest says."""
    if manifest.get("escaped"):
        published = without_escapes(published, manifest["columns"])
    return manifest_schema(manifest).read_numbers(published, "sensitive")
