"""Reading tables: files as text, frames as they are. Nothing here interprets a cell."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import InputError
from shoal.schema.columns import Handed
from shoal.schema.delimited import parse_csv
from shoal.schema.names import check_header

GZIP = b"\x1f\x8b"
PARQUET = b"PAR1"


def read_table(path: str | Path) -> pl.DataFrame:
    """Read a CSV (plain or gzip) or Parquet file; CSV cells stay text, character for character.

    What a file is, its first bytes say, not its name.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as problem:
        msg = f"Cannot read {path.name!r}: {problem.strerror or problem}."
        raise InputError(msg) from None
    if data[:4] == PARQUET:
        return _parquet(data, path.name)
    if data[:2] == GZIP:
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as problem:
            msg = f"{path.name!r} is not a whole gzip file ({problem}). Fetch it again."
            raise InputError(msg) from None
    return parse_csv(data, path.name)


def _parquet(data: bytes, name: str) -> pl.DataFrame:
    try:
        return pl.read_parquet(io.BytesIO(data))
    except (pl.exceptions.PolarsError, OSError) as problem:
        reason = str(problem).splitlines()[0]
        msg = f"{name!r} is not a whole Parquet file ({reason}). Fetch it again."
        raise InputError(msg) from None


def take_frame(frame: Any) -> pl.DataFrame:
    """Take a pandas, Polars or PyArrow frame as columns; the frame itself is never changed."""
    if isinstance(frame, pl.DataFrame):
        return frame
    if isinstance(frame, Handed):
        return frame.take()
    import narwhals as nw

    try:
        known = nw.from_native(frame)
    except nw.exceptions.DuplicateError:
        check_header([str(name) for name in frame.columns], "the frame")
        raise
    except TypeError:
        msg = f"A pandas, Polars or PyArrow table is needed, not a {type(frame).__name__}."
        raise InputError(msg) from None
    if isinstance(known, nw.LazyFrame):
        known = known.collect()
    check_header([str(name) for name in known.columns], "the frame")
    try:
        return known.to_polars()
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


def give_frame(table: pl.DataFrame, like: Any) -> Any:
    """Return a table as the kind of frame that `like` is."""
    if isinstance(like, pl.DataFrame | pl.LazyFrame):
        return table
    import narwhals as nw

    native = nw.from_native(like)
    return table.to_pandas() if native.implementation.is_pandas() else table.to_arrow()
