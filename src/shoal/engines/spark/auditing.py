"""Part files are audited apart from what wrote them: each slice by a worker, as by a stranger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.audit.slices import Reading, audit_slice, joined_audit
from shoal.engines.spark.errand import pickled
from shoal.engines.spark.work import LEAST
from shoal.progress import limit_threads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shoal.audit.slices import SliceAudited
    from shoal.audit.verify import Audit
    from shoal.engines.spark.work import Work

SLICE = 500_000  # rows, about, that are audited together


def audit_parts(
    work: Work, manifest: dict[str, Any], labels: tuple[str, ...]
) -> tuple[Audit, list[SliceAudited]]:
    """Audit part files, rows with equal cells together."""
    with work.phase("audit"):
        paths = [str(work.place / name) for name in manifest["digests"] if "/" in name]
        frame = work.session.read.parquet(*paths)
        names = tuple(frame.columns)
        frame = frame.toDF(*(f"c{at}" for at in range(len(names))))
        quasi = {c["name"] for c in manifest["columns"] if c["role"] == "quasi"}
        carried = {c["name"] for c in manifest["columns"]} - quasi
        own = {"group", "person", *carried}
        cells = [f"c{at}" for at, name in enumerate(names) if name not in own]
        whole = all(one.principle.by_itself for one in work.requirements)
        count = max(-(-manifest["rows"] // SLICE), 1) if whole else 1
        cores = work.session.sparkContext.defaultParallelism
        if whole and manifest["rows"] > LEAST:
            count = max(count, cores)
        reading = Reading(manifest, work.requirements, names, labels)
        told = (reading, work.engine.threads)
        slices = work.spread(frame.repartition(count, *cells), audit_batches, told)
        return joined_audit(reading, slices), slices


def audit_batches(told: tuple[Reading, int], batches: Iterable[Any]) -> Iterator[Any]:
    """Audit the rows of some batches, on so many threads; yield what was measured."""
    import pyarrow as pa

    reading, threads = told
    limit_threads(threads)
    held = [batch for batch in batches if batch.num_rows]
    if not held:
        return
    table = pl.DataFrame(pl.from_arrow(pa.Table.from_batches(held)))
    del held
    table.columns = list(reading.names)
    yield pa.RecordBatch.from_pydict({"slice": [pickled(audit_slice(reading, table))]})
