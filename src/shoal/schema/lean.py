"""Reading large tables: in batches, and only the cells that a run needs.

The same cells as `read_table` gives, held as dictionaries where they repeat. What has no batches is
left to `read_table`.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import polars as pl

from shoal.errors import InputError
from shoal.progress import Progress, silent
from shoal.schema.columns import Gathered
from shoal.schema.databases.access import is_address
from shoal.schema.delimited import read_csv
from shoal.schema.encodings import InUtf8
from shoal.schema.files import GZIP, PARQUET, choose_separator, is_delimited, refuse_encoding
from shoal.schema.io import STDIN, Source, find_files, read_table
from shoal.schema.names import check_header

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

ROWS = 2**18  # of a Parquet file that are read at a time, as many as its groups of rows mostly have
BATCH = 2**16  # of them that are changed at a time: spelled out they take many times as much
HEAD = 2**16  # bytes that tell what a file is


def read_lean(
    source: Source,
    *,
    query: str | None = None,
    sheet: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    wanted: Collection[str] | None = None,
    change: Callable[[pl.DataFrame], pl.DataFrame] = lambda batch: batch,
    progress: Progress = silent,
    phase: str = "read",
) -> pl.DataFrame:
    """Read a table as `read_table` does, a file of text (plain or gzip) or Parquet in batches.

    Parameters
    ----------
    wanted : the columns that are needed; in what is read in batches, the others keep their name
        and place and have no cells.
    change : what to do to a table with types before its columns are kept, batch by batch.
    progress : told which share of the file has been read, under the name of the phase.
    """
    path = None if query or sheet else _one_file(source)
    if path is None:
        how = {"sheet": sheet, "delimiter": delimiter, "encoding": encoding}
        return change(read_table(source, query=query, **how))
    try:
        with path.open("rb") as raw:
            first = raw.read(len(PARQUET))
            raw.seek(0)
            if first == PARQUET and encoding is None:
                return _parquet(path, wanted, change, lambda share: progress(phase, share))
            size = max(path.stat().st_size, 1)
            packed = first.startswith(GZIP)
            name = path.name.removesuffix(".gz") if packed else path.name
            text = cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if packed else raw
            head = text.read(HEAD)
            text.seek(0)
            if encoding is not None:
                refuse_encoding(head, name)
                head = InUtf8(text, encoding, name).read(HEAD)
                text.seek(0)
                text = cast("BinaryIO", InUtf8(text, encoding, name))
            if is_delimited(head):
                return read_csv(
                    text,
                    name,
                    choose_separator(head, name, delimiter),
                    wanted=wanted,
                    lean=True,
                    watch=lambda: progress(phase, min(1.0, raw.tell() / size)),
                )
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        msg = f"{path.name!r} is not a whole gzip file ({problem}). Fetch it again."
        raise InputError(msg) from None
    except OSError as problem:
        msg = f"Cannot read {path.name!r}: {problem.strerror or problem}."
        raise InputError(msg) from None
    return change(read_table(path, delimiter=delimiter, encoding=encoding))


def _one_file(source: Source) -> Path | None:
    """Return the ordinary file that a table is, None where it is something else."""
    sources = [source] if isinstance(source, str | Path) else list(source)
    if len(sources) > 1 or str(sources[0]) == STDIN or is_address(sources[0]):
        return None
    files = find_files(sources)
    return files[0] if len(files) == 1 and files[0].is_file() else None


def _parquet(
    path: Path,
    wanted: Collection[str] | None,
    change: Callable[[pl.DataFrame], pl.DataFrame],
    watch: Callable[[float], None],
) -> pl.DataFrame:
    try:
        file = pl.scan_parquet(path, glob=False)
        header = file.collect_schema().names()
        check_header(header, path.name)
        rows = file.select(pl.len()).collect().item()
        kept = file.select(name for name in header if wanted is None or name in wanted)
        gathered = Gathered(lean=True)
        for begin in range(0, max(rows, 1), ROWS):
            for part in kept.slice(begin, ROWS).collect().iter_slices(BATCH):
                gathered.add(change(part))
            watch(min(1.0, (begin + ROWS) / max(rows, 1)))
    except pl.exceptions.PolarsError as problem:
        reason = str(problem).splitlines()[0]
        msg = f"{path.name!r} is not a whole Parquet file ({reason}). Fetch it again."
        raise InputError(msg) from None
    return gathered.table(header, rows)
