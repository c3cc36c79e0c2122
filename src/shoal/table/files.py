"""Formats of files: reading one, by its first bytes and not its name, and what can be written.

Delimited text keeps its cells character for character; formats with types keep their types.
Packages that only some tables need are loaded when they are.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import re
import zlib
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.errors import InputError, UsageError, option
from shoal.notation import once
from shoal.table.columns import FileLayout
from shoal.table.delimited import BOM, SEPARATORS, in_utf8, read_csv, utf8_lines
from shoal.table.forms import check_header
from shoal.table.frames import hold_times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import BinaryIO


GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
PARQUET = b"PAR1"
ARROW_FILE, ARROW_STREAM, FEATHER_1 = b"ARROW1", b"\xff\xff\xff\xff", b"FEA1"
EXCEL, EXCEL_97 = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
SQLITE, DUCKDB = b"SQLite format 3\0", b"DUCK"  # the second one after eight bytes of checksum
SAS = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
STATISTICS = {  # how files of statistics packages begin, and what reads them
    b"<stata_dta>": ("Stata", "read_dta"),
    **{
        bytes((old, order, 1)): ("Stata", "read_dta") for old in range(110, 116) for order in (1, 2)
    },
    b"$FL2": ("SPSS", "read_sav"),
    b"$FL3": ("SPSS", "read_sav"),
    SAS: ("SAS", "read_sas7bdat"),
}
OTHERS = (
    *(GZIP, ZSTD, PARQUET, ARROW_FILE, ARROW_STREAM, FEATHER_1, EXCEL, EXCEL_97, SQLITE),
    *STATISTICS,
)
TAB_ENDINGS = (".tsv", ".tab")
HEAD = 2**16  # bytes that tell what a file is
DELIMITERS = SEPARATORS | {"tab": "tab", "\\t": "tab"}


def parse_file(data: bytes, name: str, layout: FileLayout | None = None) -> pl.DataFrame:
    """Turn the bytes of a file into a table, whichever format they are in."""
    layout = layout or FileLayout()
    data, name = _unpack(data, name)
    if layout.encoding is not None:
        refuse_encoding(data, name)
    excel = data.startswith((EXCEL, EXCEL_97))
    if layout.sheet is not None and not excel:
        msg = (
            f"{name!r} is no Excel file, so it has no sheet {layout.sheet!r}. Omit "
            f"{option('sheet')}."
        )
        raise UsageError(msg)
    if excel:
        from shoal.table.sheets import Book

        return Book(data, name).table(layout)
    if (typed := _typed(data, name, layout.encoding)) is not None:
        layout.refuse_lines(f"{name!r} is already a single table")
        return layout.emptied(typed)
    text, separator = separated(io.BytesIO(data), name, layout)
    return read_csv(text, name, separator, layout=layout)


def _typed(data: bytes, name: str, encoding: str | None = None) -> pl.DataFrame | None:
    """Return what is in a file of a format with types, None for delimited text."""
    if data.startswith(PARQUET):
        return _framed(pl.read_parquet, data, name, "Parquet")
    if data.startswith(ARROW_FILE):
        return _framed(pl.read_ipc, data, name, "Arrow")
    if data.startswith(ARROW_STREAM):
        return _framed(pl.read_ipc_stream, data, name, "Arrow")
    for begins, (kind, reads) in STATISTICS.items():
        if data.startswith(begins):
            return _of_package(data, name, kind, reads)
    _refuse_others(data, name)
    plain = data if encoding is None else in_utf8(data, encoding, name)
    return _json_lines(plain.removeprefix(BOM), name) if _is_json_lines(plain) else None


def separated(text: BinaryIO, name: str, layout: FileLayout) -> tuple[BinaryIO, str]:
    """Return delimited text, from its beginning, and what separates its cells."""
    head = utf8_lines(text, name, layout).read(HEAD)
    text.seek(0)
    return utf8_lines(text, name, layout), choose_separator(head, name, layout.delimiter)


def refuse_encoding(head: bytes, name: str) -> None:
    """Raise where a file is no text, so that it has no encoding to be said."""
    if head.startswith(OTHERS) or head[8:12] == DUCKDB:
        msg = f"{name!r} is not a text file, so it has no encoding. Omit {option('encoding')}."
        raise UsageError(msg)


def is_delimited(head: bytes) -> bool:
    """Return whether a file that begins so can only be delimited text."""
    json = head.removeprefix(BOM).lstrip().startswith(b"{")
    return not (json or head.startswith(OTHERS) or head[8:12] == DUCKDB)


def _refuse_others(data: bytes, name: str) -> None:
    if data.startswith(FEATHER_1):
        msg = f"{name!r} is a Feather file of version 1. Write it as version 2 (Arrow) first."
        raise InputError(msg)
    for kind, known in (("sqlite", data.startswith(SQLITE)), ("duckdb", data[8:12] == DUCKDB)):
        if known:
            msg = (
                f"{name!r} is a database. Write it as {kind}:///{name} and name what Shoal "
                f"should read from it: {option('query', 'select …')}."
            )
            raise InputError(msg)


# Compression


def _unpack(data: bytes, name: str) -> tuple[bytes, str]:
    """Return what gzip or zstd hold, and the name without their ending."""
    if data.startswith(GZIP):
        return _gunzip(data, name), name.removesuffix(".gz")
    if data.startswith(ZSTD):
        return _unzstd(data, name), name.removesuffix(".zst")
    return data, name


def _gunzip(data: bytes, name: str) -> bytes:
    import gzip

    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as problem:
        msg = f"{name!r} is not a whole gzip file ({problem}). Fetch it again."
        raise InputError(msg) from None


def _unzstd(data: bytes, name: str) -> bytes:
    """Unpack all frames of a zstd file; a frame without its end is no whole file."""
    import zstandard

    parts = []
    try:
        while data:
            frame = zstandard.ZstdDecompressor().decompressobj()
            parts.append(frame.decompress(data))
            if not frame.eof:
                msg = f"{name!r} is not a whole zstd file (its end is missing). Fetch it again."
                raise InputError(msg)
            data = frame.unused_data
    except zstandard.ZstdError as problem:
        msg = f"{name!r} is not a whole zstd file ({problem}). Fetch it again."
        raise InputError(msg) from None
    return b"".join(parts)


# Formats with types


def _framed(
    read: Callable[[io.BytesIO], pl.DataFrame], data: bytes, name: str, format: str
) -> pl.DataFrame:
    try:
        table = read(io.BytesIO(data))
    except (pl.exceptions.PolarsError, OSError) as problem:
        reason = str(problem).splitlines()[0]
        msg = f"{name!r} is not a whole {format} file ({reason}). Fetch it again."
        raise InputError(msg) from None
    check_header(table.columns, name)
    return hold_times(table)


def _of_package(data: bytes, name: str, kind: str, reads: str) -> pl.DataFrame:
    """Read a file of a statistics package: labels in place of their codes, codes of missing empty.

    Where only some values of a column have labels, as one code of an income, all stay codes. Such
    files hold numbers as decimals; those that are all whole are whole here. SAS keeps labels in
    another file, so its codes stay.
    """
    package = load("pyreadstat", extra="statistics", what=f"Reading {kind}")
    try:
        table, said = getattr(package, reads)(io.BytesIO(data), output_format="polars")
    except (package.ReadstatError, package.PyreadstatError, ValueError, OverflowError) as problem:
        msg = (
            f"{name!r} cannot be read as a file of {kind} ({type(problem).__name__}). Save it "
            "again there, or as CSV."
        )
        raise InputError(msg) from None
    check_header(table.columns, name)
    labels = said.variable_value_labels
    columns = (_labelled(column, labels.get(column.name, {})) for column in table)
    return hold_times(pl.DataFrame([_plain_column(column) for column in columns]))


def _labelled(column: pl.Series, labels: Mapping[object, str]) -> pl.Series:
    """Return the labels of a column whose every value has one, otherwise its values."""
    values = (column.fill_nan(None) if column.dtype.is_float() else column).drop_nulls().unique()
    if not labels or not {*values} - {""} <= {*labels}:
        return column
    known = [*labels.values()]
    return column.replace_strict([*labels], known, default=None, return_dtype=pl.String)


def _plain_column(column: pl.Series) -> pl.Series:
    if isinstance(column.dtype, pl.Categorical | pl.Enum | pl.String):
        return column.cast(pl.String).replace("", None)
    if column.dtype.is_float() and column.drop_nulls().is_finite().all():
        least: Any = column.abs().max()
        if (least or 0) < 2**53 and (column.drop_nulls() % 1 == 0).all():
            return column.cast(pl.Int64)
    return column


# Text


def _is_json_lines(data: bytes) -> bool:
    first = data.removeprefix(BOM).lstrip().partition(b"\n")[0]
    if not first.startswith(b"{"):
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _json_lines(data: bytes, name: str) -> pl.DataFrame:
    try:
        table = pl.read_ndjson(io.BytesIO(data), infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError):  # its text may hold cells
        for number, line in enumerate(data.splitlines(), 1):
            if line.strip() and not isinstance(_loaded(line), dict):
                msg = f"Line {number} of {name!r} is not a JSON object. Is the file cut short?"
                raise InputError(msg) from None
        msg = (
            f"{name!r} has a column of mixed types, for example true and 1, or integers of more "
            "than 38 digits. Write one type in each column, and such integers as text."
        )
        raise InputError(msg) from None
    check_header(table.columns, name)
    _refuse_twice(data, table.columns, name)
    huge = [n for n, kind in table.schema.items() if kind in {pl.Int128, pl.UInt64}]
    return table.with_columns(pl.col(name).cast(pl.String) for name in huge)


def _refuse_twice(data: bytes, columns: list[str], name: str) -> None:
    """Raise where a line gives a key twice: one reader takes its first value, another its last.

    Only lines that could are read once more: where a key seems to stand twice, or is escaped.
    """
    lines = pl.Series(data.removeprefix(BOM).decode("utf-8", "replace").split("\n"))
    doubtful = lines.str.contains("\\", literal=True)
    for column in columns:
        key = re.escape(json.dumps(column, ensure_ascii=False))
        doubtful |= lines.str.count_matches(f"{key}\\s*:") > 1
    for place in doubtful.arg_true():
        try:
            json.loads(lines[place], object_pairs_hook=once, strict=False)
        except InputError as problem:
            msg = f"Line {place + 1} of {name!r} cannot be read: {problem}."
            raise InputError(msg) from None
        except (ValueError, RecursionError):
            continue  # what else is odd about it, the reader has judged


def _loaded(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def choose_separator(data: bytes, name: str, delimiter: str | None) -> str:
    """Return what was asked for, or what the header has most of outside quotes."""
    if delimiter is not None:
        if delimiter not in DELIMITERS:
            msg = (
                f"{option('delimiter')} takes a comma, a semicolon, a vertical bar or 'tab'. "
                f"Got {delimiter!r}."
            )
            raise UsageError(msg)
        return "\t" if DELIMITERS[delimiter] == "tab" else delimiter
    header = bytearray()
    quoted = False
    for part in data[:65536].split(b'"'):
        if not quoted:
            line, newline, _ = part.partition(b"\n")
            header += line
            if newline:
                break
        quoted = not quoted
    if b"\t" in header and name.lower().endswith(TAB_ENDINGS):
        return "\t"
    return max(SEPARATORS, key=lambda sign: header.count(sign.encode()))


TEXT = ("csv", "tsv", "jsonl")
PACKED = ("gz", "zst")
FORMATS = (
    *TEXT,
    "parquet",
    "feather",
    "xlsx",
    *(f"{text}.{packed}" for text in TEXT for packed in PACKED),
)
EXCEL_ROWS = 1_048_576  # of a sheet, its header included


def tables_named(stem: str) -> tuple[str, ...]:
    """Return the names that a table of a release may have, in any format."""
    return tuple(f"{stem}.{ending}" for ending in FORMATS)


def part_files(stem: str, names: Iterable[str]) -> list[str]:
    """Return the files that are parts of a table, as a release by Spark has them."""
    return [name for name in names if name.startswith(f"{stem}.parquet/")]


def check_spelling(name: str, so: str) -> None:
    """Raise where the name of a file is not UTF-8, for whom that matters."""
    try:
        name.encode()
    except UnicodeEncodeError:
        shown = os.fsencode(name).decode("utf-8", "replace")
        msg = f"The name {shown!r} is not UTF-8, so {so}. Rename it first."
        raise UsageError(msg) from None


def separator_of(format: str) -> str | None:
    """Return what separates the cells of a format, None where nothing does."""
    return {"csv": ",", "tsv": "\t"}.get(format.partition(".")[0])


def load(module: str, *, extra: str, what: str) -> Any:
    """Import an optional package, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        package = module.partition(".")[0]
        msg = f"{what} needs the package {package!r}: pip install 'shoal[{extra}]'."
        raise UsageError(msg) from None
