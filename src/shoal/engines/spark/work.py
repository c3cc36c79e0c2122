"""The way of a table over Spark after it was scanned: cut, search, scatter, audit."""

from __future__ import annotations

import secrets
import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.slices import Reading, joined_audit
from shoal.engines.people import as_people, check_method
from shoal.engines.spark.cuts import LEAF, Cuts
from shoal.engines.spark.joining import ShardJoining
from shoal.engines.spark.parts import (
    Printing,
    audit_batches,
    describing,
    published_kinds,
    settle_columns,
    settle_types,
    with_losses,
    write_part,
)
from shoal.engines.spark.session import on_spark, session_of, tagged
from shoal.engines.spark.shard import BLOB, FILE, KEY, ROW, SHARD, Errand, assign, search, unpickled
from shoal.errors import UsageError
from shoal.methods.base import Task
from shoal.methods.choice import choose_method, method_for
from shoal.methods.suppression import check_share
from shoal.progress import Progress, silent
from shoal.release.layout import Suppression
from shoal.release.statement import state
from shoal.table.coding import code_persons
from shoal.table.forms import INTERVALS, RELEASE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from shoal.audit.slices import SliceAudited
    from shoal.audit.verify import Audit
    from shoal.engines.spark.engine import Spark
    from shoal.engines.spark.parts import PartWritten
    from shoal.engines.spark.scan import Scan
    from shoal.engines.spark.shard import ShardFound
    from shoal.methods.base import Method
    from shoal.principles.requirement import Requirement
    from shoal.release.recoding import Recoding
    from shoal.table.missing import Missing
    from shoal.table.schema import Schema

SAMPLE = 200_000  # rows that cuts are made from
PART = 1_000_000  # rows, about, of a part file
LEAST = 100_000  # and of a smaller one, where there are more cores than files
SLICE = 500_000  # rows, about, that are audited together
TABLE = f"{RELEASE}.parquet"


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


@dataclass(frozen=True, eq=False)
class Forest:
    """Cuts, the roots of rows that are never mixed, and the method that searches."""

    cuts: Cuts
    roots: pl.DataFrame | None
    method: Method


# Cutting


def cut_table(work: Work, scan: Scan) -> Forest:
    """Cut a table from a sample, and choose the method."""
    with work.phase("search"):
        largest = work.engine.shard
        alone = [one for one in work.requirements if not one.principle.by_itself]
        if alone and (scan.rows > largest or scan.schema.never_mix):
            msg = (
                f"{alone[0]!r} compares groups with the whole table, so no rows can be searched "
                f"apart: {scan.rows:,} rows are more than one shard holds, or some are never "
                "mixed. Use Local(), or a larger shard."
            )
            raise UsageError(msg)
        task, coded_rows = _sampled(work, scan)
        chosen = (
            method_for(as_people(task))
            if work.method is None
            else choose_method(work.method, work.requirements)
        )
        check_method(chosen, task)
        check_share(chosen, work.share)
        cuts = Cuts()
        if not scan.schema.never_mix:
            rows = np.arange(coded_rows, dtype=np.int64)
            cuts.grow(task.coded, rows, scan.rows / max(coded_rows, 1), largest)
            return Forest(cuts, None, chosen)
        return Forest(cuts, _roots(scan, task, cuts, largest), chosen)


def _sampled(work: Work, scan: Scan) -> tuple[Task, int]:
    """Return a sample of rows as a task; all of them where there are few."""
    names = [scan.carried.raw(at) for at in range(len(scan.carried.known))]
    if scan.carried.person is not None:
        names.append(scan.carried.kept[-1])
    frame = scan.frame.select(*names)
    if scan.rows > SAMPLE:
        frame = frame.sample(fraction=SAMPLE / scan.rows, seed=secrets.randbits(31))
    rows = pl.DataFrame(pl.from_arrow(frame.toArrow()))
    places = [one.places(rows[scan.carried.raw(at)]) for at, one in enumerate(scan.domains.all)]
    people = None if scan.carried.person is None else code_persons(rows[names[-1]])
    return Task(scan.domains.coded(places, people), work.requirements), rows.height


def _roots(scan: Scan, task: Task, cuts: Cuts, largest: int) -> pl.DataFrame:
    """Grow a tree for every combination that is never mixed; small ones share a shard."""
    names = list(scan.schema.never_mix)
    places, times = scan.counted(names)
    by_name = {one.column.name: one.column for one in scan.domains.quasi}
    ranks = {name: by_name[name].codes[at] for name, at in zip(names, places, strict=True)}
    combined = pl.DataFrame({**ranks, "times": times}).group_by(names).agg(pl.col("times").sum())
    combined = combined.sort("times", descending=True)
    sample = pl.DataFrame(
        {c.name: c.codes for c in task.coded.quasi if c.name in names}
    ).with_row_index("row")
    grouped = {
        key: rows["row"].to_numpy().astype(np.int64)
        for key, rows in sample.group_by(names, maintain_order=True)
    }
    roots, held, shared = [], 0, LEAF
    for *key, count in combined.select(*names, "times").iter_rows():
        rows = grouped.get(tuple(key), np.empty(0, np.int64))
        if count > largest and len(rows):
            roots.append(cuts.grow(task.coded, rows, count / len(rows), largest))
            continue
        if shared == LEAF or held + count > largest:
            shared, held = cuts.add(LEAF), 0
        roots.append(shared)
        held += count
    return combined.select(names).with_columns(pl.Series("root", roots, pl.Int64))


# Searching


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


# Scattering


def scatter(
    work: Work, scan: Scan, forest: Forest, found: list[ShardFound]
) -> tuple[dict[str, Any], Recoding]:
    """Write what was found as part files in random order; return what is stated of them."""
    with work.phase("write"):
        work.files.mkdir()
        domains = scan.domains
        columns, moved = settle_columns(domains, found)
        decides = domains.schema.decimal is None
        printing = Printing(
            domains,
            scan.carried,
            tuple(name for name in scan.header if name in domains.schema.published),
            columns,
            moved,
            settle_types(found, spelled=decides),
            work.form,
            work.engine.threads,
            str(work.files),
        )
        before = [one.column for one in domains.quasi]
        cells = published_kinds(columns, before, moved, found)
        parts = _write(work, printing, found)
    shutil.rmtree(work.place / "found", ignore_errors=True)
    recoding = describing(printing, cells)
    ncp = with_losses(columns, parts, suppressed(found).rows)
    return _stated(work, scan, forest, found, recoding, parts, ncp), recoding


def _write(work: Work, printing: Printing, found: list[ShardFound]) -> list[PartWritten]:
    files = [str(work.place / "found" / one.file) for one in found if one.published]
    rows = sum(one.published for one in found)
    cores = work.session.sparkContext.defaultParallelism
    count = max(-(-rows // PART), min(cores, -(-rows // LEAST)))
    frame = work.session.read.parquet(*files).repartition(count, KEY).sortWithinPartitions(KEY)
    parts: list[PartWritten] = work.spread(frame, write_part, printing)
    known = {part.name for part in parts}
    for path in work.files.iterdir():
        if path.name not in known:  # what a worker left that did not live to say so
            path.unlink()
    return sorted(parts, key=lambda part: part.name)


def _stated(
    work: Work,
    scan: Scan,
    forest: Forest,
    found: list[ShardFound],
    recoding: Recoding,
    parts: list[PartWritten],
    ncp: dict[str, float],
) -> dict[str, Any]:
    """Return the manifest, before anything is measured."""
    suppression = suppressed(found)
    people = None if scan.schema.person is None else sum(one.people or 0 for one in found)
    manifest = state(
        recoding,
        rows_in=scan.rows_in,
        rows=sum(one.published for one in found),
        suppression=suppression,
        groups=sum(one.groups for one in found),
        requirements=work.requirements,
        method=forest.method,
        ncp=ncp,
        title=work.title,
        people=people,
        alone=None if people is None or scan.schema.rows_known else sum(one.alone for one in found),
    )
    manifest["digests"] = {f"{TABLE}/{part.name}": part.digest for part in parts}
    return manifest


def suppressed(found: list[ShardFound]) -> Suppression:
    """Return what all shards left out together."""
    each = [one.suppression for one in found if one.suppression is not None]
    of_people = [one.of_people for one in each if one.of_people is not None]
    return Suppression(
        in_the_way=sum(one.in_the_way for one in each),
        costly=sum(one.costly for one in each),
        of_people=sum(of_people) if of_people else None,
        capped=sum(one.capped for one in each),
        before=each[0].before if len(each) == 1 else 0.0,
        after=each[0].after if len(each) == 1 else 0.0,
    )


# Auditing


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
