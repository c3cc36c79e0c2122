"""A table on its way over Spark: what is asked of it, and where its work is done."""

from __future__ import annotations

import secrets
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from shoal.engines.spark.errand import unpickled
from shoal.engines.spark.session import on_spark, session_of, tagged
from shoal.progress import Progress, silent
from shoal.table.forms import INTERVALS, RELEASE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from shoal.engines.spark.engine import Spark
    from shoal.methods.base import Method
    from shoal.principles.requirement import Requirement
    from shoal.table.missing import Missing
    from shoal.table.schema import Schema

TABLE = f"{RELEASE}.parquet"
LEAST = 100_000  # rows that one task has at least, where there are more cores than it needs


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
        known = self.session.sparkContext.broadcast(told)

        def on_batches(batches: Iterable[Any]) -> Iterator[Any]:
            return work(known.value, batches)

        try:
            sent = frame.mapInArrow(on_batches, "blob binary").collect()
            return [unpickled(row[0]) for row in sent]
        finally:
            known.unpersist()
