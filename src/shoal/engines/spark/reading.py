"""Tables that nobody holds whole, as Parquet that workers read: what is given, or a copy of it.

Parquet is read where it is. Everything else is copied first, column by column as it came: text is
read by the reader that every table is read by, a file at a time, and what a frame says is written
down once, so that it is the same whenever it is looked at. Each file is copied by a worker.
"""

from __future__ import annotations

import gzip
import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import polars as pl

from shoal.engines.spark.session import on_spark
from shoal.engines.spark.work import FILE, ROW, pickled, unpickled
from shoal.errors import InputError, ShoalError
from shoal.release.writing import write_parquet
from shoal.table.columns import FileLayout, Reads
from shoal.table.databases.access import is_address
from shoal.table.delimited import PART, Parts, utf8_lines
from shoal.table.files import (
    GZIP,
    HEAD,
    PARQUET,
    check_spelling,
    choose_separator,
    is_delimited,
    separated,
)
from shoal.table.forms import check_header
from shoal.table.reading import find_files, read_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class FileCopied:
    """A file that was copied to Parquet, or what is wrong with it."""

    at: int
    name: str
    header: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    file: str = ""
    problem: str | None = None


def copy_files(
    batches: Iterable[Any], wanted: Sequence[str] | None, place: str, how: Reads
) -> Iterator[Any]:
    """Copy every file that batches name."""
    import pyarrow as pa

    for batch in batches:
        for row in batch.to_pylist():
            try:
                done = _copy(Path(row["path"]), row["at"], wanted, Path(place), how)
            except ShoalError as problem:
                done = FileCopied(row["at"], row["name"], problem=problem.sentence)
            yield pa.RecordBatch.from_pydict({"blob": [pickled(done)]})


def _copy(path: Path, at: int, wanted: Sequence[str] | None, place: Path, how: Reads) -> FileCopied:
    with readable(path):
        raw = path.open("rb")
    with raw:
        with readable(path):
            header, frames = _frames(raw, path, wanted, how)
        check_header(header, path.name)
        kinds = tuple(name for name in header if wanted is None or name in wanted)
        file = f"{at:08d}.parquet"
        if kinds:
            write_parquet(_filled(frames, kinds, path), place / file, lambda _: None)
    return FileCopied(at, path.name, tuple(header), kinds, file)


def _frames(
    raw: BinaryIO, path: Path, wanted: Sequence[str] | None, how: Reads
) -> tuple[list[str], Iterator[pl.DataFrame]]:
    """Return the columns of a file, and its rows in batches where it is text."""
    layout = FileLayout(**how)
    packed = raw.read(len(GZIP)) == GZIP
    raw.seek(0)
    text = cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if packed else raw
    name = path.name.removesuffix(".gz") if packed else path.name
    head = utf8_lines(text, name, FileLayout(encoding=layout.encoding)).read(HEAD)
    text.seek(0)
    if not is_delimited(head):
        table = read_table(path, **how)
        kept = [one for one in table.columns if wanted is None or one in wanted]
        return table.columns, iter([table.select(kept)])
    lines, separator = separated(text, name, layout)
    parts = Parts(lines, name, separator, PART, layout)
    return parts.header, (layout.emptied(one, parts.header) for one, _ in parts.batches(wanted))


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Say which file cannot be read; what cannot be written is another matter."""
    try:
        yield
    except OSError as problem:
        msg = f"Cannot read {path.name!r}: {problem.strerror or problem}."
        raise InputError(msg) from None


def _filled(
    frames: Iterator[pl.DataFrame], names: Sequence[str], path: Path
) -> Iterator[pl.DataFrame]:
    """Yield frames, or one without rows where there is none."""
    some = False
    while True:
        with readable(path):
            frame = next(frames, None)
        if frame is None:
            break
        some = True
        yield frame.rename({name: f"c{at}" for at, name in enumerate(frame.columns)})
    if not some:
        yield pl.DataFrame(schema={f"c{at}": pl.String for at in range(len(names))})


REMOTE = re.compile(r"[a-z][a-z0-9+.-]*://")
TEXT = re.compile(r"\.(csv|tsv|txt)(\.(gz|bz2|zst))?/?$")


@dataclass(frozen=True, eq=False)
class SparkRows:
    """A table as a frame of Spark, whose columns are called by their place: `c0` is the first.

    `files` are what rows were read from, by the name of the file that is read now.
    """

    frame: DataFrame
    header: tuple[str, ...]
    files: dict[str, str]

    def only(self, names: Sequence[str]) -> DataFrame:
        """Return some columns, called by their place among these."""
        places = [self.header.index(name) for name in names]
        return self.frame.select(
            *(self.frame[f"c{place}"].alias(f"c{at}") for at, place in enumerate(places)),
            self.frame[FILE],
            self.frame[ROW],
        )


def is_spark_frame(table: Any) -> bool:
    """Return whether something is a frame of Spark, without loading Spark."""
    return type(table).__module__.startswith("pyspark.sql")


def read_rows(
    session: SparkSession,
    table: Any,
    wanted: Sequence[str] | None,
    place: Path,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
) -> SparkRows:
    """Return a table, whose wanted columns are copied to a place where that is needed."""
    with on_spark():
        if is_spark_frame(table):
            return _of_frame(session, table, wanted, place)
        places = [table] if isinstance(table, str | Path) else list(table)
        if any(REMOTE.match(str(one)) and not is_address(one) for one in places):
            return _remote(session, [str(one) for one in places], wanted, place, delimiter)
        files = find_files(places)
        for one in files:
            check_spelling(str(one), "Spark cannot read it")
        if encoding is None and all(map(_is_parquet, files)):
            return _parquet(session, [str(one.resolve()) for one in files], _header(files))
        how = Reads(delimiter=delimiter, encoding=encoding)
        return _copied(session, files, wanted, place, how)


def _is_parquet(path: Path) -> bool:
    with readable(path), path.open("rb") as file:
        return file.read(len(PARQUET)) == PARQUET


def _header(files: Sequence[Path]) -> tuple[str, ...]:
    """Return the columns of Parquet files, which have to be the same, of the same types."""
    first: dict[str, Any] | None = None
    for path in files:
        try:
            found = dict(pl.read_parquet_schema(path))
        except pl.exceptions.PolarsError as problem:
            reason = str(problem).splitlines()[0]
            msg = f"{path.name!r} is not a whole Parquet file ({reason}). Fetch it again."
            raise InputError(msg) from None
        check_header(list(found), path.name)
        if first is not None and found != first:
            other = next(n for n in (*first, *found) if first.get(n) != found.get(n))
            msg = (
                f"The files do not form one table: column {other!r} is "
                f"{first.get(other, 'not there')} in {files[0].name!r} but "
                f"{found.get(other, 'not there')} in {path.name!r}."
            )
            raise InputError(msg)
        first = found
    return tuple(first or ())


def _parquet(
    session: SparkSession,
    paths: Sequence[str],
    header: tuple[str, ...],
    files: dict[str, str] | None = None,
) -> SparkRows:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    frame = session.read.parquet(*paths)
    columns = [frame[_quoted(name)].alias(f"c{at}") for at, name in enumerate(frame.columns)]
    known = frame.select(
        *columns,
        F.col("_metadata.file_path").alias(FILE),
        F.col("_metadata.row_index").alias(ROW),
    )
    return SparkRows(known, header, files or {})


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _of_frame(
    session: SparkSession, table: Any, wanted: Sequence[str] | None, place: Path
) -> SparkRows:
    """Write down what a frame says, which might say something else the next time."""
    header = list(table.columns)
    check_header(header, "the frame")
    names = [name for name in header if wanted is None or name in wanted]
    if not names:
        return _named(session, header)
    kept = table.select(*(table[_quoted(name)] for name in names)).toDF(
        *(f"c{at}" for at in range(len(names)))
    )
    kept.write.parquet(str(place))
    return _placed(_parquet(session, [str(place)], tuple(names)), header)


def _named(session: SparkSession, header: Sequence[str]) -> SparkRows:
    """Return a table of which no column is wanted."""
    return SparkRows(session.range(0).toDF("c0"), tuple(header), {})


def _placed(rows: SparkRows, header: Sequence[str]) -> SparkRows:
    """Return a copy of some columns under the places that they have in the whole header."""
    frame = rows.frame
    moved = [frame[f"c{at}"].alias(f"c{header.index(name)}") for at, name in enumerate(rows.header)]
    return SparkRows(frame.select(*moved, FILE, ROW), tuple(header), rows.files)


def _remote(
    session: SparkSession,
    addresses: list[str],
    wanted: Sequence[str] | None,
    place: Path,
    delimiter: str | None,
) -> SparkRows:
    """Read what only Spark reads, by its address: Parquet, or text if it is called so."""
    if not all(TEXT.search(one) for one in addresses):
        frame = session.read.parquet(*addresses)
        check_header(frame.columns, addresses[0])
        return _parquet(session, addresses, tuple(frame.columns))
    frame = session.read.csv(
        addresses,
        sep=choose_separator(b",", addresses[0], delimiter),
        header=True,
        inferSchema=False,
        quote='"',
        escape='"',
        multiLine=True,
        mode="FAILFAST",
        enforceSchema=False,
    )
    return _of_frame(session, frame, wanted, place)


def _copied(
    session: SparkSession,
    files: Sequence[Path],
    wanted: Sequence[str] | None,
    place: Path,
    how: Reads,
) -> SparkRows:
    """Copy files to Parquet, each by a worker, and say what is wrong with the first bad one."""
    place.mkdir()
    chosen = None if wanted is None else tuple(wanted)
    names = [(at, str(path.resolve()), path.name) for at, path in enumerate(files)]

    def copy(batches: Iterable[Any]) -> Iterator[Any]:
        return copy_files(batches, chosen, str(place), how)

    listed = session.createDataFrame(names, "at long, path string, name string")
    spread = listed.repartitionById(len(files), listed["at"].cast("int"))
    done = [unpickled(row[0]) for row in spread.mapInArrow(copy, "blob binary").collect()]
    done.sort(key=lambda one: one.at)
    for one in done:
        if one.problem is not None:
            raise InputError(one.problem)
        if one.header != done[0].header or one.kinds != done[0].kinds:
            msg = (
                f"The files do not form one table: {done[0].name!r} has the columns "
                f"{', '.join(done[0].header)}, but {one.name!r} has {', '.join(one.header)}, or "
                "columns of other types."
            )
            raise InputError(msg)
    header = done[0].header
    if not done[0].kinds:
        return _named(session, header)
    paths = [str(place / one.file) for one in done]
    rows = _parquet(session, paths, tuple(done[0].kinds), {one.file: one.name for one in done})
    return _placed(rows, header)
