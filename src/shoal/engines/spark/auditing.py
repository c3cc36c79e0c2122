"""Part files are audited apart from what wrote them: each slice by a worker, as by a stranger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.audit.slices import Reading, audit_slice, joined_audit, labels_of
from shoal.engines.spark.errand import pickled
from shoal.engines.spark.work import LEAST
from shoal.progress import limit_threads
from shoal.table.files import part_files
from shoal.table.forms import RELEASE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shoal.audit.slices import SliceAudited
    from shoal.audit.verify import Audit
    from shoal.engines.spark.work import Work

SLICE = 500_000  # rows, about, that are audited together


def audit_parts(
    work: Work, manifest: dict[str, Any], labels: tuple[str, ...] | None = None
) -> tuple[Audit, list[SliceAudited]]:
    """Audit part files, rows with equal cells together.

    `labels` are the sensitive columns that hold labels, where somebody knows them already.
    """
    with work.phase("audit"):
        paths = [str(work.place / name) for name in part_files(RELEASE, manifest["digests"])]
        frame = work.session.read.parquet(*paths)
        names = tuple(frame.columns)
        frame = frame.toDF(*(f"c{at}" for at in range(len(names))))

        def distinct(name: str) -> pl.DataFrame:
            found = frame.select(f"c{names.index(name)}").distinct()
            return pl.DataFrame(pl.from_arrow(found.toArrow())).rename(lambda _: name)

        if labels is None:
            labels = labels_of(manifest, work.requirements, distinct)
        reading = Reading(manifest, work.requirements, names, labels)
        cells = [f"c{names.index(name)}" for name in reading.cells]
        whole = all(one.principle.by_itself for one in work.requirements)
        count = max(-(-manifest["rows"] // SLICE), 1) if whole else 1
        if whole and manifest["rows"] > LEAST:
            count = max(count, work.session.sparkContext.defaultParallelism)
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
