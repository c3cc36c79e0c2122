"""Writing the published table in every format, batch by batch: it is never in memory whole."""

from __future__ import annotations

import gzip
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.errors import OutputError, option
from shoal.progress import in_threads
from shoal.table.files import EXCEL_ROWS, load, separator_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from shoal.release.recoding import Recoding


NO_TIME = datetime(2000, 1, 1, tzinfo=UTC)  # sheets say when they were made: times are private
EXCEL_TEXT = 32_767  # characters of a cell
EXCEL_DIGITS = 10**15  # a sheet holds doubles and shows fifteen digits


def write_as(recoding: Recoding, path: Path, format: str, watch: Callable[[int], None]) -> None:
    """Write a published table; text formats may be packed by gzip or zstd.

    `watch` is called with the number of rows written so far, where they are written in batches.
    """
    text, _, packed = format.partition(".")
    if format == "parquet":
        write_parquet(recoding.typed(), path, watch)
    elif format == "feather":
        table = pl.concat(recoding.typed())
        with path.open("wb") as file:  # Polars opens no name that is not UTF-8
            table.write_ipc(file, compression="zstd", compat_level=pl.CompatLevel.oldest())
    elif format == "xlsx":
        _write_excel(pl.concat(recoding.flat()), path, recoding.counted)
    else:
        with _packing(path, packed) as file:
            if text == "jsonl":
                write_json_lines(map(_arrays, recoding.typed()), file, watch)
            else:
                write_csv(recoding.text(), file, separator_of(text) or ",", watch)


@contextmanager
def _packing(path: Path, packed: str) -> Iterator[Any]:
    """Open a file to write into; neither name nor time of it goes into a gzip header."""
    with path.open("wb") as file:
        if packed == "gz":
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packing:
                yield packing
        elif packed == "zst":
            import zstandard

            with zstandard.ZstdCompressor().stream_writer(file, closefd=False) as packing:
                yield packing
        else:
            yield file


def _arrays(table: pl.DataFrame) -> pl.DataFrame:
    """Return a typed table with intervals as arrays [low, high]; sets are arrays already.

    Dates are spelled as everywhere else. Where numbers are missing, the array is [low, high, null],
    and null where all of them are.
    """
    return table.with_columns(
        _ends(column) if isinstance(column.dtype, pl.Struct) else column.cast(pl.String)
        for column in table
        if isinstance(column.dtype, pl.Struct) or column.dtype.is_temporal()
    )


def _ends(column: pl.Series) -> pl.Series:
    ends = [column.struct.field(end) for end in ("low", "high")]
    spelled = [end.cast(pl.String) if end.dtype.is_temporal() else end for end in ends]
    both = pl.concat_list(spelled)
    if len(column.struct.fields) > len(ends):
        nothing = pl.lit(None, spelled[0].dtype)
        three = pl.when(column.struct.field("missing")).then(pl.concat_list(*spelled, nothing))
        both = pl.when(ends[0].is_not_null()).then(three.otherwise(both))
    return pl.select(both.alias(column.name)).to_series()


def _write_excel(table: pl.DataFrame, path: Path, counted: Collection[str]) -> None:
    """Write one sheet: integers as numbers, everything else as text that no sheet runs or changes.

    The driver takes cell by cell, so that is how they are given. Of the columns that are `counted`
    with, decimals are numbers too, where a sheet gives them back as they are.
    """
    writer = load("xlsxwriter", extra="excel", what="Writing Excel")
    if table.height >= EXCEL_ROWS:
        msg = (
            f"An Excel sheet holds {EXCEL_ROWS - 1:,} rows, the release has {table.height:,}. "
            f"Choose another {option('format')}."
        )
        raise OutputError(msg)
    plain = table.with_columns(_excel_column(one, counted) for one in table)
    for column in plain:
        if column.dtype == pl.String and (column.str.len_chars() > EXCEL_TEXT).any():
            raise _unfit(column.name)
    book = writer.Workbook(path, {"constant_memory": True, "tmpdir": str(path.parent)})
    book.set_properties({"created": NO_TIME})
    sheet = book.add_worksheet("release")
    put = [sheet.write_number if c.dtype.is_numeric() else sheet.write_string for c in plain]
    for place, name in enumerate(plain.columns):
        sheet.write_string(0, place, name)
    for number, row in enumerate(plain.iter_rows(), 1):
        for place, cell in enumerate(row):
            if cell is not None:
                put[place](number, place, cell)
    book.close()
    _check_excel(plain, path)


def _excel_column(column: pl.Series, counted: Collection[str]) -> pl.Series:
    if column.dtype.is_integer():
        largest: Any = column.cast(pl.Float64).abs().max()
        if (largest or 0) < EXCEL_DIGITS:
            return column
    if column.name in counted and column.dtype == pl.Float64:
        different = column.unique().drop_nulls()
        if different.equals(pl.Series([float(f"{cell:.15G}") for cell in different])):
            return column
    return column.cast(pl.String)


def _check_excel(written: pl.DataFrame, path: Path) -> None:
    """Raise where a sheet does not give back what it was given, as with odd control characters."""
    from shoal.table.reading import read_table

    found = read_table(path)
    for column in written:
        kind = pl.Float64 if column.dtype.is_float() else pl.String
        cells, given = column.cast(kind), found[column.name].cast(kind)
        if kind == pl.String:  # a sheet has no empty text
            cells, given = (some.replace("", None) for some in (cells, given))
        if not given.equals(cells, null_equal=True):
            raise _unfit(column.name)


def _unfit(name: str) -> OutputError:
    return OutputError(
        f"Column {name!r} has cells that Excel cannot hold: longer than {EXCEL_TEXT:,} characters, "
        f"or with characters it does not know. Choose another {option('format')}."
    )


def write_csv(
    batches: Iterator[pl.DataFrame], file: Any, separator: str, watch: Callable[[int], None]
) -> None:
    """Write batches as delimited text, calling `watch` with the number of rows written so far."""
    done = 0
    for batch in batches:
        batch.write_csv(file, include_header=not done, separator=separator)
        done += batch.height
        watch(done)


def write_json_lines(
    batches: Iterator[pl.DataFrame], file: Any, watch: Callable[[int], None]
) -> None:
    """Write batches as JSON lines, calling `watch` with the number of rows written so far."""
    done = 0
    for batch in batches:
        batch.write_ndjson(file)
        done += batch.height
        watch(done)


def write_parquet(
    batches: Iterator[pl.DataFrame], path: Path, watch: Callable[[int], None]
) -> None:
    """Write batches as Parquet, calling `watch` with the number of rows handed over so far.

    Polars asks for the batches itself, from a thread of its own, so that the interpreter's own
    thread stays free to hear Ctrl-C. What goes wrong in making a batch is raised as it is.
    """
    from polars.io.plugins import register_io_source

    first = next(batches)
    done = 0
    wrong: list[BaseException] = []

    def source(*_asked: object) -> Iterator[pl.DataFrame]:
        nonlocal done
        try:
            for batch in chain([first], batches):
                yield batch
                done += batch.height
        except BaseException as problem:
            wrong.append(problem)
            raise

    def write() -> None:
        try:
            register_io_source(source, schema=first.schema).sink_parquet(
                file, compression="zstd", statistics=False, maintain_order=True
            )
        except pl.exceptions.PolarsError:
            if wrong:
                raise wrong[0] from None
            raise

    with path.open("wb") as file:
        in_threads([write], lambda: watch(done))
