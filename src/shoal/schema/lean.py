"""Reading large tables: in batches, and only the cells that a run needs.

The same cells as `read_table` gives, held as dictionaries where they repeat.
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
from shoal.schema.delimited import read_csv
from shoal.schema.io import GZIP, PARQUET
from shoal.schema.names import check_header

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

ROWS = 2**18  # of a Parquet file that are read at a time


def read_lean(
    path: str | Path,
    *,
    wanted: Collection[str] | None = None,
    change: Callable[[pl.DataFrame], pl.DataFrame] = lambda batch: batch,
    progress: Progress = silent,
    phase: str = "read",
) -> pl.DataFrame:
    """Read a CSV (plain or gzip) or Parquet file in batches.

    Parameters
    ----------
    wanted : the columns to keep; the others keep their name and place and have no cells.
    change : what to do to every batch of a Parquet file before its columns are kept.
    progress : told which share of the file has been read, under the name of the phase.
    """
    path = Path(path)
    try:
        with path.open("rb") as raw:
            first = raw.read(4)
            raw.seek(0)
            if first == PARQUET:
                return _parquet(path, wanted, change, lambda share: progress(phase, share))
            size = max(path.stat().st_size, 1)
            packed = first[:2] == GZIP
            return read_csv(
                cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if packed else raw,
                path.name,
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


def _parquet(
    path: Path,
    wanted: Collection[str] | None,
    change: Callable[[pl.DataFrame], pl.DataFrame],
    watch: Callable[[float], None],
) -> pl.DataFrame:
    try:
        file = pl.scan_parquet(path)
        header = file.collect_schema().names()
        check_header(header, path.name)
        rows = file.select(pl.len()).collect().item()
        kept = file.select(name for name in header if wanted is None or name in wanted)
        gathered = Gathered(lean=True)
        for begin in range(0, max(rows, 1), ROWS):
            gathered.add(change(kept.slice(begin, ROWS).collect()))
            watch(min(1.0, (begin + ROWS) / max(rows, 1)))
    except pl.exceptions.PolarsError as problem:
        reason = str(problem).splitlines()[0]
        msg = f"{path.name!r} is not a whole Parquet file ({reason}). Fetch it again."
        raise InputError(msg) from None
    return gathered.table(header, rows)
