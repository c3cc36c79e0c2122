"""The files of a release: whether they are those that were published, and their tables, as meant.

Digests say whether they are the same byte for byte. A table may come in part files: all of them are
there, readable to their end, and with the same columns.
"""

from __future__ import annotations

import hashlib
import stat
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

import polars as pl

from shoal.audit.cells import without_escapes
from shoal.audit.claims import manifest_schema
from shoal.audit.forms import Tables, flat_cells, one_cell_each, put_together, wrong_headers
from shoal.errors import InputError
from shoal.progress import Progress, silent
from shoal.release.manifest import MANIFEST
from shoal.table.columns import Gathered
from shoal.table.files import part_files, separator_of, tables_named
from shoal.table.forms import INTERVALS, RELEASE, TWO_TABLES, stems
from shoal.table.linked import under_both_names
from shoal.table.reading import read_lean, read_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from shoal.release.manifest import Manifest


def digest_of(path: Path) -> str:
    """Return the digest of a file as a manifest has it."""
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def is_ordinary(path: Path) -> bool:
    """Return whether there is a file that can be read to its end: no link, pipe or device."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def check_digests(directory: Path, stated: Mapping[str, str]) -> list[str]:
    """Return a sentence for every published file that is missing or not what it was."""
    problems = []
    for name, digest in stated.items():
        if not is_ordinary(directory / name):
            problems.append(f"The file {name!r} is missing.")
        elif digest_of(directory / name) != digest:
            problems.append(f"The file {name!r} is not the one that was published.")
    return problems


def files_beside(directory: Path, stated: Mapping[str, str]) -> list[str]:
    """Return a sentence where files lie in a release directory that do not belong to it."""
    others = sorted(set(_files(directory)) - {*stated, MANIFEST})
    if not others:
        return []
    return [f"Not part of the release, and not looked at: {', '.join(map(repr, others))}."]


def _files(directory: Path) -> Iterator[str]:
    """Yield what lies in a directory and one directory below it, as a manifest names it."""
    for path in directory.iterdir():
        below = list(path.iterdir()) if path.is_dir() and not path.is_symlink() else []
        yield from (f"{path.name}/{inner.name}" for inner in below)
        if not below:
            yield path.name


@dataclass(frozen=True, eq=False)
class PartFiles:
    """Parts of one table: their paths, how many rows each has, and the columns of all."""

    paths: tuple[Path, ...]
    heights: tuple[int, ...]
    columns: tuple[str, ...]

    @property
    def rows(self) -> int:
        """How many rows they have together."""
        return sum(self.heights)

    def first(self, most: int) -> PartFiles:
        """Return the first parts, as many as it takes to have so many rows."""
        reached = accumulate(self.heights)
        count = next((at for at, rows in enumerate(reached, 1) if rows >= most), len(self.paths))
        return replace(self, paths=self.paths[:count], heights=self.heights[:count])


def find_parts(directory: Path, stem: str, stated: Iterable[str]) -> PartFiles | None:
    """Return the parts of a table among the files that a manifest states, None where it has none.

    Nothing but the ends of the files is read.
    """
    names = part_files(stem, stated)
    if not names:
        return None
    paths, heights = [], []
    first: list[tuple[str, pl.DataType]] | None = None
    for name in names:
        path = directory / name
        if not is_ordinary(path):
            msg = f"{directory.name!r} has no {name}, or it is no ordinary file."
            raise InputError(msg)
        with _whole(path), path.open("rb") as raw:  # Polars opens no name that is not UTF-8
            file = pl.scan_parquet(raw, glob=False)
            found = list(file.collect_schema().items())
            heights.append(int(file.select(pl.len()).collect().item()))
        if first is not None and found != first:
            msg = f"{name} has other columns than {names[0]}, or others of their types."
            raise InputError(msg)
        first = found
        paths.append(path)
    return PartFiles(tuple(paths), tuple(heights), tuple(column for column, _ in first or ()))


def read_part(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """Return a part, or some of its columns."""
    with _whole(path), path.open("rb") as raw:
        return pl.read_parquet(raw, columns=columns, glob=False)


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    try:
        yield
    except pl.exceptions.PolarsError as problem:
        reason = str(problem).splitlines()[0]
        msg = f"{path.name!r} is not a whole Parquet file ({reason}). Fetch it again."
        raise InputError(msg) from None


def read_tables(
    directory: Path,
    manifest: Manifest,
    *,
    lean: bool = False,
    most: int | None = None,
    progress: Progress = silent,
) -> Tables:
    """Read the published tables of a release directory as one, and say what is wrong with them.

    Of a table in parts only the first ones are read once they have `most` rows.
    """
    found = read_spelled(directory, manifest, lean=lean, most=most, progress=progress)
    return _with_numbers(found, manifest)


def tables_in_memory(spelled: Mapping[str, Iterable[pl.DataFrame]], manifest: Manifest) -> Tables:
    """Read tables that are not written, from batches of spelled cells, as if they were."""
    tables = {}
    for stem, batches in spelled.items():
        gathered, rows, header = Gathered(lean=manifest.form != TWO_TABLES), 0, list[str]()
        for batch in batches:
            flat = flat_cells(batch, manifest)
            gathered.add(flat)
            rows, header = rows + flat.height, flat.columns
        tables[stem] = gathered.table(header, rows)
    return _with_numbers(_assembled(tables, manifest), manifest)


def _with_numbers(found: Tables, manifest: Manifest) -> Tables:
    """Return tables with the numbers of sensitive columns spelled plainly."""
    schema = manifest_schema(manifest)
    linked = {
        name: schema.linked[name].read_numbers(table, "sensitive")
        for name, table in found.linked.items()
    }
    return replace(found, rows=schema.read_numbers(found.rows, "sensitive"), linked=linked)


def read_spelled(
    directory: Path,
    manifest: Manifest,
    *,
    lean: bool = False,
    most: int | None = None,
    progress: Progress = silent,
) -> Tables:
    """Read the published tables, quasi cells as text, nothing escaped, all spelled as they are."""
    form, whole = manifest.form, True
    tables = {}
    for stem in (*stems(form), *manifest.tables):
        if parts := find_parts(directory, stem, manifest.digests):
            some = parts if most is None else parts.first(most)
            tables[stem], whole = _read_parts(some, manifest, progress), some.rows == parts.rows
            continue
        (name,) = (name for name in manifest.digests if name in tables_named(stem))
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
    return replace(_assembled(tables, manifest), whole=whole)


def _assembled(tables: dict[str, pl.DataFrame], manifest: Manifest) -> Tables:
    """Return the tables of a release as one, with those linked to it."""
    form = manifest.form
    if form == TWO_TABLES:
        return put_together(tables, manifest)
    linked = {}
    for name, stated in manifest.tables.items():
        table = tables.pop(name)
        if manifest.escaped:
            table = without_escapes(table, stated.columns)
        linked[name] = under_both_names(table, name)
    problems = wrong_headers(tables, manifest) if form != INTERVALS else ()
    rows = tables[RELEASE] if problems else one_cell_each(tables[RELEASE], manifest)
    if manifest.escaped:
        rows = without_escapes(rows, manifest.columns)
    return Tables(rows, tuple(problems), linked=linked)


def _read_parts(parts: PartFiles, manifest: Manifest, progress: Progress) -> pl.DataFrame:
    """Read the parts of a table as one, a part at a time."""
    gathered = Gathered(lean=True)
    for place, path in enumerate(parts.paths, 1):
        gathered.add(flat_cells(read_table(path), manifest))
        progress("audit", place / len(parts.paths))
    return gathered.table(list(parts.columns), parts.rows)


def as_meant(published: pl.DataFrame, manifest: Manifest) -> pl.DataFrame:
    """Return a published table, quasi cells as text, read as its manifest says."""
    if manifest.escaped:
        published = without_escapes(published, manifest.columns)
    return manifest_schema(manifest).read_numbers(published, "sensitive")
