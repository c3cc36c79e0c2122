"""What was found becomes part files in random order, and what is stated of them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from shoal.engines.spark.errand import KEY
from shoal.engines.spark.parts import (
    Printing,
    describing,
    published_kinds,
    settle_columns,
    settle_types,
    with_losses,
    write_part,
)
from shoal.engines.spark.work import LEAST, TABLE
from shoal.release.layout import Suppression
from shoal.release.statement import state

if TYPE_CHECKING:
    from shoal.engines.spark.errand import ShardFound
    from shoal.engines.spark.forest import Forest
    from shoal.engines.spark.parts import PartWritten
    from shoal.engines.spark.scan import Scan
    from shoal.engines.spark.work import Work
    from shoal.release.recoding import Recoding

PART = 1_000_000  # rows, about, of a part file


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
