"""The search of all shards, each by a worker, as whoever drives it sees it."""

from __future__ import annotations

import secrets
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.engines.spark.errand import BLOB, FILE, ROW, SHARD, Errand, unpickled
from shoal.engines.spark.joining import ShardJoining
from shoal.engines.spark.shard import assign, search

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shoal.engines.spark.errand import ShardFound
    from shoal.engines.spark.forest import Forest
    from shoal.engines.spark.scan import Scan
    from shoal.engines.spark.work import Work


def search_shards(work: Work, scan: Scan, forest: Forest) -> list[ShardFound]:
    """Search every shard; one that cannot hold is joined to a sibling, and searched again."""
    place = work.place / "found"
    place.mkdir()
    joining = ShardJoining(forest.cuts, work.share, people=scan.carried.person is not None)
    keys = (secrets.token_bytes(32), secrets.token_bytes(32))
    with work.phase("search"):
        while waiting := joining.waiting():
            errand = Errand(
                domains=scan.domains,
                carried=scan.carried,
                cuts=forest.cuts,
                roots=forest.roots,
                first=joining.first,
                shard=joining.numbers(waiting),
                requirements=work.requirements,
                method=forest.method,
                share=work.share,
                spared=joining.spared(waiting),
                form=work.form,
                threads=work.engine.threads,
                place=str(place),
                keys=keys,
            )
            joining.take(_search(work, scan, errand, waiting), waiting)
            work.progress("search", joining.done)
    found = joining.found()
    shutil.rmtree(work.place / "rows", ignore_errors=True)
    return found


def _search(work: Work, scan: Scan, errand: Errand, waiting: list[int]) -> list[ShardFound]:
    """Search some shards, each by one worker, which gets its rows in the order of the table."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
    from pyspark.sql.types import IntegerType, StructField, StructType
    from pyspark.sql.window import Window

    ordered = len(waiting) == 1
    people = scan.carried.person is not None
    numbers = errand.shard
    if people:
        errand = replace(errand, shard=np.arange(len(numbers)))
    known = work.session.sparkContext.broadcast(errand)
    first = min(waiting)
    raw = [scan.carried.raw(at) for at in range(len(scan.carried.names))]
    frame = scan.frame.select(*raw, *([FILE, ROW] if ordered else []))
    kinds = {one.name: one for one in frame.schema}
    schema = StructType(
        [
            StructField(SHARD, IntegerType()),
            *(StructField(name, IntegerType()) for name in raw[: len(scan.carried.known)]),
            *(kinds[name] for name in scan.carried.kept),
            *(kinds[name] for name in ([FILE, ROW] if ordered else [])),
        ]
    )

    def on_rows(batches: Iterable[Any]) -> Iterator[Any]:
        return assign(known.value, batches, ordered=ordered)

    def on_shard(batches: Iterable[Any]) -> Iterator[Any]:
        return search(known.value, batches, ordered=ordered)

    rows = frame.mapInArrow(on_rows, schema)
    if people:  # all rows of a person are where the first of them is, searched by now or not
        by = Window.partitionBy(scan.carried.kept[-1])
        shards = F.array(*(F.lit(int(number)) for number in numbers))
        rows = rows.withColumn(SHARD, F.element_at(shards, F.min(SHARD).over(by) + 1))
        rows = rows.filter(F.col(SHARD) >= 0)
    rows = rows.repartitionById(max(waiting) - first + 1, F.col(SHARD) - first)
    try:
        found = rows.mapInArrow(on_shard, f"{SHARD} int, {BLOB} binary").collect()
        return [unpickled(row[1]) for row in found]
    finally:
        known.unpersist()
