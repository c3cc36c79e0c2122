"""Copies of files as Parquet, each made by a worker with the reader that every table is read by."""

from __future__ import annotations

import gzip
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import polars as pl

from shoal.engines.spark.errand import pickled
from shoal.errors import InputError, ShoalError
from shoal.release.writing import write_parquet
from shoal.table.delimited import PART, InUtf8, Parts
from shoal.table.files import GZIP, choose_separator, is_delimited
from shoal.table.reading import read_table
from shoal.table.schema import check_header

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

HEAD = 2**16  # bytes that tell what a file is


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
    batches: Iterable[Any], wanted: Sequence[str] | None, place: str, how: dict[str, str | None]
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


def _copy(
    path: Path, at: int, wanted: Sequence[str] | None, place: Path, how: dict[str, str | None]
) -> FileCopied:
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
    raw: BinaryIO, path: Path, wanted: Sequence[str] | None, how: dict[str, str | None]
) -> tuple[list[str], Iterator[pl.DataFrame]]:
    """Return the columns of a file, and its rows in batches where it is text."""
    packed = raw.read(len(GZIP)) == GZIP
    raw.seek(0)
    text = cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if packed else raw
    name = path.name.removesuffix(".gz") if packed else path.name
    if how["encoding"] is not None:
        text = cast("BinaryIO", InUtf8(text, how["encoding"], name))
    head = text.read(HEAD)
    raw.seek(0)
    if not is_delimited(head):
        table = read_table(path, **how)
        kept = [one for one in table.columns if wanted is None or one in wanted]
        return table.columns, iter([table.select(kept)])
    text = cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if packed else raw
    if how["encoding"] is not None:
        text = cast("BinaryIO", InUtf8(text, how["encoding"], name))
    parts = Parts(text, name, choose_separator(head, name, how["delimiter"]), PART)
    return parts.header, (batch for batch, _ in parts.batches(wanted))


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
