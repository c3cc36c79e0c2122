"""Reading tables: files, several files as one, databases, frames. Nothing interprets a cell.

Large tables are read in batches, and only the cells that a run needs: the same cells as
`read_table` gives, held as dictionaries where they repeat. What has no batches is left to
`read_table`.
"""

from __future__ import annotations

import glob
import gzip
import os
import sys
import zlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Unpack, cast

import numpy as np
import polars as pl

from shoal.errors import InputError, UsageError, option
from shoal.progress import Progress, silent
from shoal.table.columns import FileLayout, Gathered, Handed, Reads
from shoal.table.databases.access import is_address, refuse_unknown
from shoal.table.delimited import InUtf8, read_csv
from shoal.table.files import (
    GZIP,
    HEAD,
    PARQUET,
    is_delimited,
    parse_file,
    refuse_encoding,
    separated,
)
from shoal.table.forms import check_header
from shoal.table.frames import (
    give_arrow,
    give_pandas,
    give_polars,
    hold_times,
    take_arrow,
    take_pandas,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray


STDIN = "-"
Source = str | Path | Sequence[str | Path]


def read_table(source: Source, *, query: str | None = None, **how: Unpack[Reads]) -> pl.DataFrame:
    """Read a table, wherever it is.

    Parameters
    ----------
    source : a file in any known format; a directory, a pattern or several files, which are one
        table; `-` for standard input; the address of a database, as sqlite:///people.db.
    query : what to ask a database; `?table=people` in its address asks for a whole table.
    how : the fields of a `FileLayout`, as `encoding` or `header_row`.
    """
    from shoal.table.databases.access import read_address

    layout = FileLayout(**how)
    sources = [source] if isinstance(source, str | Path) else list(source)
    for one in sources:
        refuse_unknown(one)
    if len(sources) == 1 and is_address(sources[0]):
        layout.refuse_lines("This is a database")
        return layout.emptied(read_address(str(sources[0]), query))
    if query is not None:
        msg = (
            f"{option('query')} applies to databases only. Name one, for example "
            f"sqlite:///people.db, or leave out {option('query')}."
        )
        raise UsageError(msg)
    if STDIN in map(str, sources):
        if len(sources) > 1:
            msg = "Standard input (-) cannot be read together with other tables."
            raise UsageError(msg)
        return parse_file(_standard_input(), "stdin", layout)
    paths = find_files(sources)
    tables = [_read_file(path, layout) for path in paths]
    return tables[0] if len(tables) == 1 else _join(tables, [path.name for path in paths])


def _standard_input() -> bytes:
    try:
        return b"" if sys.stdin is None else sys.stdin.buffer.read()
    except OSError as problem:
        msg = f"Cannot read standard input: {problem.strerror}."
        raise InputError(msg) from None


def _read_file(path: Path, layout: FileLayout) -> pl.DataFrame:
    try:
        data = path.read_bytes()
    except OSError as problem:
        msg = f"Cannot read {path.name!r}: {problem.strerror or problem}."
        raise InputError(msg) from None
    return parse_file(data, path.name, layout)


def find_files(source: Source) -> list[Path]:
    """Return the files that a table is read from; none for standard input and servers."""
    from shoal.table.databases.access import file_of

    files: list[Path] = []
    for one in [source] if isinstance(source, str | Path) else source:
        if is_address(one):
            files += file_of(str(one))
        elif str(one) != STDIN:
            files += _expand(one)
    for place, path in enumerate(files):
        if path in files[:place]:
            msg = f"{path.name!r} is named twice, so Shoal would count everyone in it twice."
            raise UsageError(msg)
    return files


def _expand(source: str | Path) -> list[Path]:
    path = Path(source)
    if path.is_dir():
        return _files_in(path)
    if glob.has_magic(str(source)) and not os.path.lexists(path):
        found = sorted(Path(name) for name in glob.glob(str(source), recursive=True))  # noqa: PTH207 - absolute patterns too
        if not found:
            msg = f"No file matches {path.name!r}."
            raise InputError(msg)
        return found
    return [path]


def _files_in(directory: Path) -> list[Path]:
    """Return the files of a directory; hidden ones and marks as _SUCCESS are no tables."""
    inside = sorted(path for path in directory.iterdir() if path.name[0] not in "._")
    if any(path.name == "manifest.json" for path in inside):
        msg = (
            f"{directory.name!r} is a release directory. Name the table in it, for example its "
            "release.csv."
        )
        raise InputError(msg)
    for path in inside:
        if path.is_dir():
            msg = (
                f"{directory.name!r} has a directory {path.name!r} in it. Name the files with a "
                "pattern in quotes, for example 'data/**/*.csv'."
            )
            raise InputError(msg)
    if not inside:
        msg = f"The directory {directory.name!r} has no files."
        raise InputError(msg)
    return inside


def _join(tables: list[pl.DataFrame], names: list[str]) -> pl.DataFrame:
    """Put tables with the same columns under one another, in the column order of the first."""
    first = tables[0]
    for name, table in zip(names, tables, strict=True):
        lacks = [column for column in first.columns if column not in table.columns]
        more = [column for column in table.columns if column not in first.columns]
        if lacks or more:
            differs = [f"lacks {', '.join(map(repr, lacks))}"] if lacks else []
            differs += [f"has {', '.join(map(repr, more))} besides"] if more else []
            msg = (
                f"The files do not form one table: compared with {names[0]!r}, {name!r} "
                f"{' and '.join(differs)}."
            )
            raise InputError(msg)
        for column, kind in table.schema.items():
            known = first.schema[column]
            if kind != known and not (kind.is_numeric() and known.is_numeric()):
                msg = (
                    f"The files do not form one table: column {column!r} is {known} in "
                    f"{names[0]!r} but {kind} in {name!r}."
                )
                raise InputError(msg)
    return pl.concat((table.select(first.columns) for table in tables), how="vertical_relaxed")


def take_frame(frame: Any) -> pl.DataFrame:
    """Take a pandas, Polars or PyArrow frame as columns; the frame itself is never changed."""
    if isinstance(frame, pl.DataFrame):
        return hold_times(frame)
    if isinstance(frame, Handed):
        return frame.take()
    from shoal.table.streams import is_stream, read_stream

    return read_stream(frame) if is_stream(frame) else _take_foreign(frame)


def _take_foreign(frame: Any) -> pl.DataFrame:
    import narwhals as nw

    try:
        known = nw.from_native(frame)
    except nw.exceptions.DuplicateError:
        names = getattr(frame, "column_names", frame.columns)  # Arrow's columns are its cells
        check_header([str(name) for name in names], "the frame")
        raise
    except TypeError:
        msg = f"A pandas, Polars or PyArrow table is needed, not a {type(frame).__name__}."
        raise InputError(msg) from None
    if isinstance(known, nw.LazyFrame):
        known = known.collect()
    check_header([str(name) for name in known.columns], "the frame")
    try:
        if known.implementation.is_pandas():
            return take_pandas(known.to_native())
        if known.implementation.is_pyarrow():
            return take_arrow(known.to_native())
        return hold_times(known.to_polars())
    except ModuleNotFoundError as problem:
        msg = f"This frame needs the package {problem.name!r}: pip install {problem.name}."
        raise InputError(msg) from None
    except (ValueError, TypeError, pl.exceptions.PolarsError) as problem:
        # Its text may hold cells, so only its kind is told.
        msg = (
            f"The frame cannot be taken as a table ({type(problem).__name__}). Are there columns "
            "of mixed types, or names that are not text?"
        )
        raise InputError(msg) from None


def give_frame(
    table: pl.DataFrame,
    like: Any,
    *,
    carried: Collection[str] = (),
    rows: NDArray[np.int64] | None = None,
) -> Any:
    """Return a table as the kind of frame that `like` is.

    The columns that are only carried are gathered from `like`, by its rows.
    """
    if isinstance(like, Handed):
        return like.give(table, carried)
    if isinstance(like, pl.LazyFrame):
        return table
    from shoal.table.streams import is_stream

    if is_stream(like):
        return table.to_arrow()
    import narwhals as nw

    native = nw.from_native(like)
    kind = native.implementation
    places = np.arange(table.height) if rows is None else rows
    if kind.is_polars():
        return give_polars(table, native.to_polars(), carried, places) if carried else table
    if kind.is_pandas():
        return give_pandas(table, like, carried, places)
    if kind.is_pyarrow():
        return give_arrow(table, like, carried, places)
    return table.to_arrow()


ROWS = 2**18  # of a Parquet file that are read at a time, as many as its groups of rows mostly have
BATCH = 2**16  # of them that are changed at a time: spelled out they take many times as much


def read_lean(
    source: Source,
    *,
    query: str | None = None,
    wanted: Collection[str] | None = None,
    change: Callable[[pl.DataFrame], pl.DataFrame] = lambda batch: batch,
    progress: Progress = silent,
    phase: str = "read",
    **how: Unpack[Reads],
) -> pl.DataFrame:
    """Read a table as `read_table` does, a file of text (plain or gzip) or Parquet in batches.

    Parameters
    ----------
    wanted : the columns that are needed; in what is read in batches, the others keep their name
        and place and have no cells.
    change : what to do to a table with types before its columns are kept, batch by batch.
    progress : told which share of the file has been read, under the name of the phase.
    how : the fields of a `FileLayout`.
    """
    layout = FileLayout(**how)
    for one in [source] if isinstance(source, str | Path) else source:
        refuse_unknown(one)
    path = None if query or layout.sheet else one_file(source)
    if path is None:
        return change(read_table(source, query=query, **how))
    try:
        with path.open("rb") as raw:
            first = raw.read(len(PARQUET))
            raw.seek(0)
            if first == PARQUET and layout == FileLayout(missing_codes=layout.missing_codes):
                whole = partial(progress, phase)
                return _parquet(
                    raw, path.name, wanted, lambda one: change(layout.emptied(one)), whole
                )
            size = max(path.stat().st_size, 1)
            packed = first.startswith(GZIP)
            name = path.name.removesuffix(".gz") if packed else path.name
            text = cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if packed else raw
            head = _head(text, name, layout.encoding)
            if is_delimited(head):
                text, separator = separated(text, name, layout)
                return read_csv(
                    text,
                    name,
                    separator,
                    wanted=wanted,
                    lean=True,
                    watch=lambda: progress(phase, min(1.0, raw.tell() / size)),
                    layout=layout,
                )
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        msg = f"{path.name!r} is not a whole gzip file ({problem}). Fetch it again."
        raise InputError(msg) from None
    except OSError as problem:
        msg = f"Cannot read {path.name!r}: {problem.strerror or problem}."
        raise InputError(msg) from None
    return change(read_table(path, **how))


def _head(text: BinaryIO, name: str, encoding: str | None) -> bytes:
    """Return how a file begins, as UTF-8 where its encoding is said."""
    head = text.read(HEAD)
    text.seek(0)
    if encoding is not None:
        refuse_encoding(head, name)
        head = InUtf8(text, encoding, name).read(HEAD)
        text.seek(0)
    return head


def one_file(source: Source) -> Path | None:
    """Return the ordinary file that a table is, None where it is something else."""
    sources = [source] if isinstance(source, str | Path) else list(source)
    if len(sources) > 1 or str(sources[0]) == STDIN or is_address(sources[0]):
        return None
    files = find_files(sources)
    return files[0] if len(files) == 1 and files[0].is_file() else None


def _parquet(
    raw: BinaryIO,
    name: str,
    wanted: Collection[str] | None,
    change: Callable[[pl.DataFrame], pl.DataFrame],
    watch: Callable[[float], None],
) -> pl.DataFrame:
    """Read an open file: Polars opens no name that is not UTF-8."""
    try:
        file = pl.scan_parquet(raw, glob=False)
        header = file.collect_schema().names()
        check_header(header, name)
        rows = file.select(pl.len()).collect().item()
        kept = file.select(one for one in header if wanted is None or one in wanted)
        gathered = Gathered(lean=True)
        for begin in range(0, max(rows, 1), ROWS):
            for part in kept.slice(begin, ROWS).collect().iter_slices(BATCH):
                gathered.add(change(part))
            watch(min(1.0, (begin + ROWS) / max(rows, 1)))
    except pl.exceptions.PolarsError as problem:
        reason = str(problem).splitlines()[0]
        msg = f"{name!r} is not a whole Parquet file ({reason}). Fetch it again."
        raise InputError(msg) from None
    return hold_times(gathered.table(header, rows))
