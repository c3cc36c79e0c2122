"""Where a table is cut, from a sample of it, and which method searches what the cuts make."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.engines.people import as_people, check_method
from shoal.engines.spark.cuts import LEAF, Cuts
from shoal.errors import UsageError
from shoal.methods.base import Task
from shoal.methods.choice import choose_method, method_for
from shoal.methods.suppression import check_share
from shoal.table.coding import code_persons

if TYPE_CHECKING:
    from shoal.engines.spark.scan import Scan
    from shoal.engines.spark.work import Work
    from shoal.methods.base import Method

SAMPLE = 2**23  # cells that cuts are made from: with four columns, all of two million rows


@dataclass(frozen=True, eq=False)
class Forest:
    """Cuts, the roots of rows that are never mixed, and the method that searches."""

    cuts: Cuts
    roots: pl.DataFrame | None
    method: Method


def cut_table(work: Work, scan: Scan) -> Forest:
    """Cut a table from a sample, and choose the method."""
    with work.phase("search"):
        largest = work.engine.shard
        alone = [one for one in work.requirements if not one.principle.by_itself]
        if alone and scan.rows > largest:
            msg = (
                f"{alone[0]!r} compares groups with the whole table, so no rows can be searched "
                f"apart: {scan.rows:,} rows are more than one shard holds. Use Local(), or a "
                "larger shard."
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
    most = SAMPLE // len(names)
    if scan.rows > most:
        frame = frame.sample(fraction=most / scan.rows, seed=secrets.randbits(31))
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
