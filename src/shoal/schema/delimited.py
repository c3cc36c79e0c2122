"""Delimited text: the bytes of a CSV file as columns of text. Nothing here interprets a cell."""

from __future__ import annotations

import csv
import io

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.schema.names import check_header

BOM = b"\xef\xbb\xbf"
SEPARATORS = {",": "comma", "\t": "tab", ";": "semicolon"}


def parse_csv(data: bytes, name: str, separator: str = ",") -> pl.DataFrame:
    """Turn the bytes of delimited text into columns of text; empty cells become null."""
    data = data.removeprefix(BOM).rstrip(b"\r\n")
    if not data:
        msg = f"{name!r} is empty: there is not even a header."
        raise InputError(msg)
    if b"\0" in data[:4096]:
        msg = f"{name!r} is not text: it has NUL bytes. Give a CSV or Parquet file."
        raise InputError(msg)
    _check_encoding(data, name)
    lines = io.TextIOWrapper(io.BytesIO(data), "utf-8", newline="")
    header = next(csv.reader(lines, delimiter=separator))
    check_header(header, name)
    _check_records(data, len(header), name, separator)
    try:
        return pl.read_csv(
            io.BytesIO(data),
            has_header=False,
            separator=separator,
            new_columns=header,
            infer_schema=False,
            null_values="",
        ).slice(1)
    except (pl.exceptions.PolarsError, OSError) as problem:
        msg = f"{name!r} cannot be read as CSV: {str(problem).splitlines()[0]}"
        raise InputError(msg) from None


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


def _check_records(data: bytes, fields: int, name: str, separator: str) -> None:
    from shoal.kernels.records import scan_records

    found = np.zeros(4, np.int64)
    scan_records(np.frombuffer(data, np.uint8), fields, ord(separator), found)
    if found[3]:
        msg = f"{name!r} ends inside a quoted cell: the file is cut short or a quote is missing."
        raise InputError(msg)
    if found[1] >= 0:
        sign = SEPARATORS[separator]
        msg = (
            f"Data row {found[1]} of {name!r} has {found[2]} cells, the header has {fields}. "
            f"Is the file cut short, or is there a {sign} that should be in quotes?"
        )
        raise InputError(msg)
