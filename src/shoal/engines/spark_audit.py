"""What a worker does in an audit: it measures the rows of a slice, as a stranger reads them.

Rows with equal published cells are in one slice, so whole groups are. What slices measure adds up.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.claims import (
    CellCount,
    check_cells,
    check_columns,
    check_counts,
    check_groups,
    check_rows_in,
    count_cells,
)
from shoal.audit.forms import flat_cells, one_cell_each, wrong_headers
from shoal.audit.stated import kinds_of, manifest_schema
from shoal.audit.verify import Audit, Finding, audit_table, unknown_rows
from shoal.engines.spark_shard import pickled
from shoal.principles.groups import Totals
from shoal.progress import limit_threads
from shoal.release.codebook import HeldCells
from shoal.table.forms import INTERVALS, RELEASE
from shoal.table.schema import RESERVED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from fractions import Fraction

    from shoal.principles.groups import Summary
    from shoal.principles.requirement import Requirement


@dataclass(frozen=True, eq=False)
class Reading:
    """Everything that a worker has to know to audit a slice: what is stated, and what is asked.

    `labels` are the sensitive columns that hold labels: a slice that happens to hold numbers alone
    does not make numbers of them.
    """

    manifest: dict[str, Any]
    requirements: tuple[Requirement, ...]
    names: tuple[str, ...]  # of the columns, in the order of the files
    labels: tuple[str, ...]
    threads: int


@dataclass(frozen=True, eq=False)
class SliceAudited:
    """What was measured in one slice."""

    rows: int
    groups: int
    people: int
    alone: int
    findings: tuple[tuple[str, Summary, Fraction, str], ...]
    problems: tuple[str, ...]
    cells: dict[str, CellCount]
    alike: Counter[int]
    sizes: Counter[int]
    held: dict[str, HeldCells]  # what carried columns hold


def audit_slice(reading: Reading, batches: Iterable[Any]) -> Iterator[Any]:
    """Audit the rows of some batches; yield what was measured."""
    import pyarrow as pa

    limit_threads(reading.threads)
    held = [batch for batch in batches if batch.num_rows]
    if not held:
        return
    table = pl.DataFrame(pl.from_arrow(pa.Table.from_batches(held)))
    del held
    table.columns = list(reading.names)
    yield pa.RecordBatch.from_pydict({"slice": [pickled(_audited(reading, table))]})


def _audited(reading: Reading, table: pl.DataFrame) -> SliceAudited:
    manifest = reading.manifest
    schema = manifest_schema(manifest)
    labels = {name: "categorical" for name in reading.labels if name not in schema.types}
    schema = replace(schema, types={**schema.types, **labels})
    rows = flat_cells(table, manifest)
    problems = [] if manifest["form"] == INTERVALS else wrong_headers({RELEASE: rows}, manifest)
    rows = one_cell_each(rows, manifest)
    problems += check_columns(rows, manifest)
    if problems:
        return SliceAudited(rows.height, 0, 0, 0, (), tuple(problems), {}, Counter(), Counter(), {})
    problems += check_groups(rows, manifest)
    cells = {c["name"]: count_cells(rows, c) for c in manifest["columns"] if c["role"] == "quasi"}
    sizes = rows[RESERVED].value_counts()["count"]
    plain = schema.read_numbers(rows, "sensitive")
    found = audit_table(plain, schema, reading.requirements, kinds=kinds_of(manifest))
    return SliceAudited(
        rows.height,
        found.groups or 0,
        found.people or 0,
        found.alone or 0,
        tuple(
            (one.by, one.measurement.summary, one.measurement.bound, one.members)
            for one in found.findings
        ),
        (*problems, *found.problems),
        cells,
        _counted(found.alike),
        _counted(sizes.to_numpy()),
        {
            c["name"]: HeldCells.of(table[c["name"]], table[c["name"]].cast(pl.String))
            for c in manifest["columns"]
            if c["role"] != "quasi"
        },
    )


def _counted(sizes: Any) -> Counter[int]:
    values, counts = np.unique(sizes, return_counts=True)
    return Counter(dict(zip(values.tolist(), counts.tolist(), strict=True)))


def joined_audit(reading: Reading, slices: Sequence[SliceAudited]) -> Audit:
    """Return what slices measured as one audit."""
    manifest, asked = reading.manifest, reading.requirements
    problems = sorted({one for part in slices for one in part.problems})
    people = sum(one.people for one in slices) if "people" in manifest else None
    groups = sum(one.groups for one in slices)
    rows = sum(one.rows for one in slices)
    problems += check_rows_in(manifest)
    problems += check_counts(manifest, rows=rows, groups=groups, people=people)
    if all(one.cells for one in slices):
        cells = {
            name: sum((one.cells[name] for one in slices[1:]), start=slices[0].cells[name])
            for name in slices[0].cells
        }
        problems += check_cells(cells, manifest, rows)
    alike = sum((one.alike for one in slices), start=Counter())
    alone = sum(one.alone for one in slices)
    known = manifest.get("rows_known", True)
    return Audit(
        rows,
        groups,
        _findings(asked, slices),
        tuple(problems),
        alike=np.repeat(np.array(list(alike)), np.array(list(alike.values()))),
        remarks=() if known or people is None else (unknown_rows(alone, people),),
        people=people,
        alone=None if people is None else alone,
        rows_known=known,
    )


def _findings(asked: Sequence[Requirement], slices: Sequence[SliceAudited]) -> tuple[Finding, ...]:
    """Return what all slices found of each requirement; every slice has the same, in order."""
    of = [one for one in asked for _ in range(2 if one.principle.monotone else 1)]
    whole = [one.findings for one in slices if one.findings]
    if not whole:
        return ()
    joined = []
    for at, requirement in enumerate(of):
        by, summary, bound, members = whole[0][at]
        for part in whole[1:]:
            summary = summary + part[at][1]
            bound = max(bound, part[at][2])
        joined.append(Finding(requirement, by, Totals.of(summary, bound), members))
    return tuple(joined)


def held_by(slices: Sequence[SliceAudited]) -> dict[str, HeldCells]:
    """Return what carried columns hold."""
    first, *others = slices
    return {
        name: sum((one.held[name] for one in others), start=held)
        for name, held in first.held.items()
    }


def group_sizes_of(slices: Sequence[SliceAudited]) -> list[dict[str, int]]:
    """Return how many groups have how many rows."""
    sizes = sum((one.sizes for one in slices), start=Counter())
    return [{"size": size, "groups": sizes[size]} for size in sorted(sizes)]
