"""Work on Apache Spark: tables that no machine holds, with the same requirements and files.

A table is scanned for its domains, cut by quasi columns alone, searched shard by shard by the
engine of one machine, scattered over part files in random order, and audited from these. Whoever
drives it holds domains, a sample, and a line for each shard.

Part files are audited apart from what wrote them: each slice by a worker, as by a stranger.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.forms import flat_cells
from shoal.audit.slices import TIMES, Reading, audit_slice, joined_audit
from shoal.audit.tables import read_part
from shoal.engines.base import Engine
from shoal.engines.spark.work import (
    LEAST,
    NUMBER,
    PACKED,
    broadcast,
    packed,
    pickled,
    unpacked,
    unpickled,
)
from shoal.errors import BadParameter
from shoal.notation import whole_number
from shoal.progress import limit_threads
from shoal.table.columns import Gathered
from shoal.table.files import part_files
from shoal.table.forms import RELEASE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from shoal.audit.slices import SliceAudited
    from shoal.audit.verify import Audit
    from shoal.engines.spark.cuts import Forest
    from shoal.engines.spark.scan import Scan
    from shoal.engines.spark.work import ShardFound, Work
    from shoal.release.manifest import Manifest


SLICE = 500_000  # rows, about, that are audited together


def audit_parts(
    work: Work, manifest: Manifest, labels: tuple[str, ...] | None = None
) -> tuple[Audit, list[SliceAudited]]:
    """Audit part files, rows with equal cells together.

    `labels` are the sensitive columns that hold labels, where somebody knows them already.
    """
    with work.phase("audit"):
        paths = [work.place / name for name in part_files(RELEASE, manifest.digests)]
        names = tuple(pl.read_parquet_schema(paths[0]))

        def counted(name: str) -> pl.DataFrame:
            frame = work.session.read.parquet(*map(str, paths))
            found = frame.toDF(*map(str, range(len(names)))).groupBy(str(names.index(name))).count()
            cells = pl.DataFrame(pl.from_arrow(found.toArrow()))
            return cells.rename(dict(zip(cells.columns, (name, TIMES), strict=True)))

        reading = Reading.of(manifest, work.requirements, names, counted, labels)
        whole = all(one.principle.by_itself for one in work.requirements)
        count = max(-(-manifest.rows // SLICE), 1) if whole else 1
        if whole and manifest.rows > LEAST:
            count = max(count, work.session.sparkContext.defaultParallelism)
        told = Auditing(reading, tuple(paths), count, work.engine.threads)
        known = broadcast(work.session, told)

        def on_parts(batches: Iterable[Any]) -> Iterator[Any]:
            return read_parts(unpickled(known.value), batches)

        parts = work.session.range(0, len(paths), 1, len(paths)).mapInArrow(on_parts, PACKED)
        try:
            slices = work.spread(parts.repartitionById(count, NUMBER), audit_rows, told)
        finally:
            known.unpersist()
        return joined_audit(reading, slices), slices


@dataclass(frozen=True, eq=False)
class Auditing:
    """Everything that a worker has to know to read part files, and to audit a slice of all."""

    reading: Reading
    paths: tuple[Path, ...]
    count: int  # of slices
    threads: int


def read_parts(told: Auditing, batches: Iterable[Any]) -> Iterator[Any]:
    """Read the part files that batches number; yield their rows by the slice that they are in."""
    limit_threads(told.threads)

    def rows() -> Iterator[tuple[NDArray, pl.DataFrame]]:
        for batch in batches:
            for at in batch.column(0).to_pylist():
                part = read_part(told.paths[at])
                alike = part.select(told.reading.cells).hash_rows() % told.count
                yield alike.to_numpy().astype(np.int64), part

    return packed(rows())


def audit_rows(told: Auditing, batches: Iterable[Any]) -> Iterator[Any]:
    """Audit the rows of a slice; yield what was measured."""
    import pyarrow as pa

    limit_threads(told.threads)
    gathered, height = Gathered(lean=True), 0
    for _, rows in unpacked(batches):
        gathered.add(flat_cells(rows, told.reading.manifest))
        height += rows.height
    if height:
        found = audit_slice(told.reading, gathered.table(told.reading.names, height))
        yield pa.RecordBatch.from_pydict({"slice": [pickled(found)]})


MEMORY = re.compile(r"[1-9][0-9]*[mg]")


@dataclass(frozen=True)
class Spark(Engine):
    """Work on Apache Spark, for tables that outgrow one machine.

    Parameters
    ----------
    session : a Spark session, which is used as it is and left running; by default one is started.
    master : where a session is started, for example "local[*]" (the default), "local[4]" or
        "spark://host:7077".
    shard : rows, about, that are searched together by one worker.
    threads : threads that one search may take; a worker has one core mostly.
    memory : of the driver and of each executor of a session that Shoal starts, for example "1g".
    """

    spreads = True

    session: Any = None
    master: str | None = None
    shard: int = 500_000
    threads: int = 1
    memory: str = "1g"

    def __post_init__(self) -> None:
        object.__setattr__(self, "shard", whole_number(self, "shard", self.shard, least=1))
        object.__setattr__(self, "threads", whole_number(self, "threads", self.threads, least=1))
        if not isinstance(self.memory, str) or not MEMORY.fullmatch(self.memory):
            raise BadParameter("Spark", "memory", "an amount such as '1g' or '800m'", self.memory)
        if self.master is not None and not (isinstance(self.master, str) and self.master.strip()):
            allowed = "the address of a master, for example 'local[2]'"
            raise BadParameter("Spark", "master", allowed, self.master)
        if self.session is not None and not hasattr(self.session, "sparkContext"):
            raise BadParameter("Spark", "session", "a Spark session", self.session)

    def __repr__(self) -> str:
        if self.session is None:
            return super().__repr__()
        return repr(replace(self, session=None))

    def domains(self, work: Work) -> Scan:
        """Scan a table: how many rows, what its columns hold, and how often."""
        from shoal.engines.spark.scan import scan

        return scan(work)

    def shards(self, work: Work, scan: Scan) -> Forest:
        """Cut a table by its quasi columns, from a sample of them."""
        from shoal.engines.spark.cuts import cut_table

        return cut_table(work, scan)

    def search(self, work: Work, scan: Scan, forest: Forest) -> list[ShardFound]:
        """Search every shard, each by a worker; those that cannot hold are joined to others."""
        from shoal.engines.spark.searching import search_shards

        return search_shards(work, scan, forest)

    def recode(self, work: Work, scan: Scan, forest: Forest, found: list[ShardFound]) -> Manifest:
        """Write what was found as part files, in random order; return what is stated of them."""
        from shoal.engines.spark.scattering import scatter

        return scatter(work, scan, forest, found)

    def measure(
        self, work: Work, manifest: Manifest, labels: tuple[str, ...] | None = None
    ) -> tuple[Audit, list[SliceAudited]]:
        """Audit part files, each slice by a worker."""
        return audit_parts(work, manifest, labels)
