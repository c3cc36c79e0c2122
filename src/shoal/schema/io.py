"""Reading tables: files as text, frames as they are. Nothing here interprets a cell."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

BOM = b"\xef\xbb\xbf"
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


def parse_csv(data: bytes, name: str) -> pl.DataFrame:
    """Turn the bytes of a CSV file into columns of text; empty cells become null."""
    data = data.removeprefix(BOM).rstrip(b"\r\n")
    if not data:
        msg = f"{name!r} is empty: there is not even a header."
        raise InputError(msg)
    if b"\0" in data[:4096]:
        msg = f"{name!r} is not text: it has NUL bytes. Give a CSV or Parquet file."
        raise InputError(msg)
    _check_encoding(data, name)
    header = next(csv.reader(io.TextIOWrapper(io.BytesIO(data), "utf-8", newline="")))
    check_header(header, name)
    _check_records(data, len(header), name)
    try:
        return pl.read_csv(
            io.BytesIO(data),
            has_header=False,
            new_columns=header,
            infer_schema=False,
            null_values="",
        ).slice(1)
    except (pl.exceptions.PolarsError, OSError) as problem:
        msg = f"{name!r} cannot be read as CSV: {str(problem).splitlines()[0]}"
        raise InputError(msg) from None


def check_header(header: Sequence[str], name: str) -> None:
    """Raise where a column has no name or two columns share one."""
    for place, column in enumerate(header):
        if not column.strip():
            msg = f"Column {place + 1} of {name!r} has no name. Give every column a name."
            raise InputError(msg)
        if column in header[:place]:
            first = list(header).index(column) + 1
            both = f"Columns {first} and {place + 1} of {name!r}"
            msg = f"{both} are both named {column!r}. Rename one."
            raise InputError(msg)


def _check_encoding(data: bytes, name: str) -> None:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        msg = (
            f"{name!r} is not UTF-8: byte 0x{data[problem.start]:02x} in line {line}. "
            "Save it as UTF-8 first."
        )
        raise InputError(msg) from None


def _check_records(data: bytes, fields: int, name: str) -> None:
    from shoal.kernels.records import scan_records

    found = np.zeros(4, np.int64)
    scan_records(np.frombuffer(data, np.uint8), fields, ord(","), found)
    if found[3]:
        msg = f"{name!r} ends inside a quoted cell: the file is cut short or a quote is missing."
        raise InputError(msg)
    if found[1] >= 0:
        msg = (
            f"Data row {found[1]} of {name!r} has {found[2]} cells, the header has {fields}. "
            "Is the file cut short, or is there a comma that should be in quotes?"
        )
        raise InputError(msg)


def take_frame(frame: Any) -> pl.DataFrame:
    """Take a pandas, Polars or PyArrow frame as columns; the frame itself is never changed."""
    if isinstance(frame, pl.DataFrame):
        return frame
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
