"""A table on its way over Spark: what is asked of it, and where its work is done.

What travels between the driver and its workers stands here as well.
"""

from __future__ import annotations

import os
import pickle
import secrets
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.engines.spark.session import on_spark, session_of, tagged
from shoal.progress import Progress, silent
from shoal.table.forms import INTERVALS, RELEASE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray
    from pyspark.core.broadcast import Broadcast
    from pyspark.sql import DataFrame, SparkSession

    from shoal.engines.spark.cells import Domains
    from shoal.engines.spark.cuts import Cuts
    from shoal.engines.spark.engine import Spark
    from shoal.methods.base import Method
    from shoal.principles.requirement import Requirement
    from shoal.release.layout import Suppression
    from shoal.table.missing import Missing
    from shoal.table.schema import Schema


SHARD, FILE, ROW = "_shard", "_file", "_row"
BEYOND = "_beyond"  # rows of the same person that are never offered
GROUP, PERSON = "_group", "_person"  # of what was found
NUMBER, BLOB = "_number", "_found"
PACKED = f"{NUMBER} int, {BLOB} binary"
OFFSET = np.dtype("<i8")  # where a slice of a file begins
AT_ONCE = 2**19  # rows that are put in order at a time


@dataclass(frozen=True, eq=False)
class Carried:
    """The columns of rows on their way: cells by their place, then others as they came."""

    known: tuple[str, ...]  # quasi and sensitive columns, in the order of the domains
    other: tuple[str, ...]
    persons: tuple[str, ...]  # the column that says whom rows are about, if any does

    def raw(self, place: int) -> str:
        """Return what a column is called where its name might be no name: by its place."""
        return f"c{place}"

    @property
    def names(self) -> tuple[str, ...]:
        """All columns as they are read."""
        return (*self.known, *self.other, *self.persons)

    @property
    def kept(self) -> list[str]:
        """What travels as it came: other columns, and whom a row is about."""
        return [self.raw(at) for at in range(len(self.known), len(self.names))]

    @property
    def whom(self) -> str | None:
        """What the column is called that says whom a row is about."""
        return self.kept[-1] if self.persons else None


@dataclass(frozen=True, eq=False)
class Errand:
    """Everything that a worker has to know to find shards, and to search one."""

    domains: Domains
    carried: Carried
    cuts: Cuts
    roots: pl.DataFrame | None  # the root for each combination of ranks that are never mixed
    first: NDArray[np.int64]  # the number of the first unit of each leaf
    shard: NDArray[np.int64]  # the shard of each unit, -1 where it is not searched now
    requirements: tuple[Requirement, ...]
    method: Method
    share: Fraction  # of each shard that may be left out
    spared: dict[int, Fraction]  # of shards that need more: only what is in the way goes there
    form: str
    threads: int
    place: str  # where what was found is written
    parts: int  # files that published rows are dealt to
    keys: tuple[bytes, bytes]  # of the numbers of groups and of people


@dataclass(frozen=True, eq=False)
class ShardFound:
    """What a search found in one shard, in a file; or why nothing was found."""

    shard: int
    rows: int
    members: int  # rows, or people where rows are about them: a share is of these
    file: str = ""
    published: int = 0
    groups: int = 0
    people: int = 0
    capped: int = 0  # rows of published people that were never offered
    alone: int = 0  # people with so many rows as nobody else of their group
    suppression: Suppression | None = None
    counts: tuple[tuple[NDArray, NDArray], ...] | None = None  # of published cells, by column
    pairs: tuple[NDArray[np.int64] | None, ...] = ()  # different ends of cells, by column
    types: dict[str, tuple[Any, bool]] | None = None  # of carried text; whether any is below 0
    problem: str | None = None
    refused: str | None = None  # what was asked makes no sense for these rows, nor for more of them


def pickled(found: object) -> bytes:
    """Return something as bytes that the driver can read."""
    return pickle.dumps(found)


def unpickled(blob: bytes) -> Any:
    """Return what a worker has sent."""
    return pickle.loads(blob)  # noqa: S301 - from a worker of ours


def broadcast(session: SparkSession, told: object) -> Broadcast[bytes]:
    """Tell every worker something, as bytes: Spark cannot encrypt whatever else holds an array."""
    return session.sparkContext.broadcast(pickled(told))


TABLE = f"{RELEASE}.parquet"
LEAST = 100_000  # rows that one task has at least, where there are more cores than it needs
PART = 1_000_000  # rows, about, that a part file has at most


def unseen(_header: tuple[str, ...]) -> None:
    """Say nothing of the columns of a table."""


@dataclass(eq=False)
class Work:
    """A table on its way, what is asked of it, and what is known so far."""

    engine: Spark
    table: Any
    schema: Schema
    requirements: tuple[Requirement, ...]
    place: Path  # where copies, what was found and part files are kept
    method: Method | str | None = None
    missing: Missing = "error"
    share: Fraction = Fraction(0)
    form: str = INTERVALS
    title: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    progress: Progress = silent
    seen: Callable[[tuple[str, ...]], None] = unseen  # called with the columns of the table
    seconds: dict[str, float] = field(default_factory=dict)
    tag: str = field(default_factory=lambda: f"shoal-{secrets.token_hex(8)}")

    @property
    def session(self) -> SparkSession:
        """The session that the work is done in."""
        return session_of(self.engine)

    @property
    def files(self) -> Path:
        """Where the part files are."""
        return self.place / TABLE

    def parts(self, rows: int) -> int:
        """Return how many files so many rows are dealt to; who holds a shard can hold a part."""
        cores = self.session.sparkContext.defaultParallelism
        most = min(PART, max(self.engine.shard, LEAST))
        return max(-(-rows // most), min(cores, -(-rows // LEAST)))

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Note how long a phase takes, report its beginning and end, and say what goes wrong."""
        start = time.perf_counter()
        self.progress(name, 0.0)
        with on_spark(), tagged(self.session, self.tag):
            yield
        self.progress(name, 1.0)
        self.seconds[name] = round(self.seconds.get(name, 0) + time.perf_counter() - start, 3)

    def spread(self, frame: DataFrame, work: Callable[..., Iterator[Any]], told: Any) -> list[Any]:
        """Let workers work on the batches of each partition; return what they send."""
        known = broadcast(self.session, told)

        def on_batches(batches: Iterable[Any]) -> Iterator[Any]:
            return work(unpickled(known.value), batches)

        try:
            sent = frame.mapInArrow(on_batches, "blob binary").collect()
            return [unpickled(row[0]) for row in sent]
        finally:
            known.unpersist()


# Rows by numbers: those with equal numbers are taken together, and Java moves bytes, not rows


def sliced(rows: pl.DataFrame, numbers: NDArray) -> Iterator[tuple[int, pl.DataFrame]]:
    """Yield the rows of each number, in the order of the numbers."""
    small = np.min_scalar_type(int(numbers.max(initial=0)))  # two bytes are sorted much faster
    order = np.argsort(numbers.astype(small), kind="stable")
    ordered, found = rows[order], numbers[order]
    begins = np.flatnonzero(np.diff(found, prepend=-1)).tolist()
    for begin, end in zip(begins, [*begins[1:], len(found)], strict=True):
        yield int(found[begin]), ordered[begin:end]


def write_slices(path: Path, rows: pl.DataFrame, numbers: NDArray, count: int) -> None:
    """Write rows by their numbers, each number a slice that can be read without the others.

    Where slices begin is said at the end of the file.
    """
    ends = np.zeros(count + 1, OFFSET)
    with path.open("wb") as file:
        for number, some in sliced(rows, numbers):
            some.write_ipc_stream(file)
            ends[number + 1] = file.tell()
        file.write(np.maximum.accumulate(ends).tobytes())


def read_slice(path: Path, number: int, count: int) -> pl.DataFrame | None:
    """Return the rows with a number, of a file of so many slices; None where there are none."""
    with path.open("rb") as file:
        file.seek((number - count - 1) * OFFSET.itemsize, os.SEEK_END)
        begin, end = np.frombuffer(file.read(2 * OFFSET.itemsize), OFFSET).tolist()
        if begin == end:
            return None
        file.seek(begin)
        return pl.read_ipc_stream(BytesIO(file.read(end - begin)))


def packed(frames: Iterable[tuple[NDArray, pl.DataFrame]]) -> Iterator[Any]:
    """Yield batches of numbers and of bytes that hold the rows of each, many at a time."""
    held: list[tuple[NDArray, pl.DataFrame]] = []
    for numbers, rows in frames:
        held.append((numbers, rows))
        if sum(some.height for _, some in held) >= AT_ONCE:
            yield from _packed(held)
            held = []
    yield from _packed(held)


def _packed(held: list[tuple[NDArray, pl.DataFrame]]) -> Iterator[Any]:
    import pyarrow as pa

    if not held:
        return
    rows = pl.concat([some for _, some in held])
    for number, some in sliced(rows, np.concatenate([numbers for numbers, _ in held])):
        blob = BytesIO()
        some.write_ipc_stream(blob)
        yield pa.RecordBatch.from_arrays(
            [pa.array([number], pa.int32()), pa.array([blob.getvalue()], pa.binary())],
            names=[NUMBER, BLOB],
        )


def unpacked(batches: Iterable[Any]) -> Iterator[tuple[int, pl.DataFrame]]:
    """Yield the rows that batches hold as bytes, each frame with its number."""
    for batch in batches:
        for number, blob in zip(batch.column(0), batch.column(1), strict=True):
            yield number.as_py(), pl.read_ipc_stream(BytesIO(blob.as_buffer()))
