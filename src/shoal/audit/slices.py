"""An audit in slices: rows with equal published cells are in one slice, so whole groups are.

Each slice is measured as a stranger reads it, and what slices measure adds up; so no one has to
hold a release that comes in part files.

What a manifest says was done to cells is seen in them, and in the codebook: numbers that were
rounded are multiples of the step, and those that were cut off lie within their thresholds. What the
table cannot show, as a threshold that nobody reached, the codebook says too.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.cells import interval_ends
from shoal.audit.claims import (
    CellCount,
    check_cells,
    check_columns,
    check_counts,
    check_groups,
    check_rows_in,
    count_cells,
    kinds_of,
    manifest_schema,
)
from shoal.audit.forms import flat_cells, one_cell_each, wrong_headers
from shoal.audit.tables import find_parts, read_part
from shoal.audit.verify import Audit, Finding, audit_table, unknown_rows
from shoal.principles.groups import Totals
from shoal.principles.requirement import asked_of
from shoal.release.codebook import WEIGHED, HeldCells
from shoal.table.coding import code_lenient
from shoal.table.forms import CODEBOOK, INTERVALS, RELEASE, has_ends, spelled_as
from shoal.table.formulas import unescape_name
from shoal.table.schema import PERSON, RESERVED
from shoal.table.trimming import odd_numbers, stated_trim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from fractions import Fraction
    from pathlib import Path

    from shoal.audit.tables import PartFiles
    from shoal.principles.groups import Summary
    from shoal.principles.requirement import Requirement
    from shoal.table.schema import Schema


BEFORE = ("First ", "Written as ", WEIGHED)  # how a codebook begins to say what was done first


def check_done(table: pl.DataFrame, columns: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a sentence for every column with numbers that no such rounding or cutting leaves."""
    problems = []
    for column in columns:
        name, trim = column["name"], stated_trim(column)
        if not trim.words or name not in table.columns or column.get("survey_weight"):
            continue
        cells = table[name].unique().drop_nulls().cast(pl.String)
        if has_ends(column):
            cells = pl.concat([end.alias(name) for end in interval_ends(cells)])
        elif column["role"] == "quasi":
            continue  # labels and nodes
        if odd := odd_numbers(cells, trim):
            problems.append(f"Column {name!r} has {odd:,} numbers that were not {trim.words}.")
    return problems


def check_codebook(directory: Path, manifest: Mapping[str, Any], schema: Schema) -> list[str]:
    """Return a sentence for every column of which the codebook says that something else was done.

    A codebook that cannot be read says nothing; its digest is compared elsewhere.
    """
    if CODEBOOK not in manifest["digests"]:
        return []
    named = unescape_name if manifest.get("escaped") else str
    try:
        told = (directory / CODEBOOK).read_bytes()  # Polars opens no name that is not UTF-8
        lines = pl.read_csv(told, columns=["name", "done"], infer_schema=False)
    except (OSError, pl.exceptions.PolarsError):
        return ["The codebook cannot be read."]
    said = {named(name): done for name, done in lines.fill_null("").iter_rows()}
    problems = []
    for column in manifest["columns"]:
        before = WEIGHED if column.get("survey_weight") else schema.done_to(column["name"])
        for name in spelled_as(column["name"], manifest["form"], interval=has_ends(column)):
            done = said.get(name, "")
            if not done.startswith(before) or done.removeprefix(before).strip().startswith(BEFORE):
                problems.append(
                    f"The codebook says of {name!r} that something else was done to it than the "
                    "manifest says."
                )
    return problems


AT_ONCE = 2_000_000  # rows, about, that one machine audits together


@dataclass(frozen=True, eq=False)
class Reading:
    """Everything that one has to know to audit a slice: what is stated, and what is asked.

    `labels` are the sensitive columns that hold labels: a slice that happens to hold numbers alone
    does not make numbers of them.
    """

    manifest: dict[str, Any]
    requirements: Sequence[Requirement]
    names: tuple[str, ...]  # of the columns, in the order of the files
    labels: tuple[str, ...]

    @property
    def cells(self) -> list[str]:
        """The columns by which rows are alike."""
        carried = {c["name"] for c in self.manifest["columns"] if c["role"] != "quasi"}
        return [one for one in self.names if one not in {RESERVED, PERSON, *carried}]


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


def audit_slice(reading: Reading, table: pl.DataFrame) -> SliceAudited:
    """Measure the rows of a slice."""
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
    problems += check_groups(rows, manifest) + check_done(rows, manifest["columns"])
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
            c["name"]: HeldCells.of(table[c["name"]], table[c["name"]].unique())
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


# Part files on one machine


def is_sliced(directory: Path, manifest: dict[str, Any], asked: Sequence[Requirement]) -> bool:
    """Return whether a release comes in parts, with more rows than are audited together."""
    grouped = manifest["groups"] is not None and "previous" not in manifest
    if not (grouped and all(one.principle.by_itself for one in asked)):
        return False
    parts = find_parts(directory, RELEASE, manifest["digests"])
    return parts is not None and parts.rows > AT_ONCE


def audit_parts(parts: PartFiles, manifest: dict[str, Any], asked: Sequence[Requirement]) -> Audit:
    """Audit part files slice by slice; each takes a look at all of them, and memory for itself."""

    def distinct(name: str) -> pl.DataFrame:
        return pl.concat([read_part(path, [name]).unique() for path in parts.paths]).unique()

    reading = Reading(manifest, asked, parts.columns, labels_of(manifest, asked, distinct))
    count = -(-parts.rows // AT_ONCE)
    slices = []
    for number in range(count):
        held = []
        for path in parts.paths:
            part = read_part(path)
            held.append(part.filter(part.select(reading.cells).hash_rows() % count == number))
        table = pl.concat(held)
        del held
        if table.height:
            slices.append(audit_slice(reading, table))
    return joined_audit(reading, slices)


def labels_of(
    manifest: dict[str, Any],
    asked: Sequence[Requirement],
    distinct: Callable[[str], pl.DataFrame],
) -> tuple[str, ...]:
    """Return the sensitive columns that hold labels, as the distinct cells of all parts decide."""
    schema = manifest_schema(manifest)
    numbers = asked_of(asked)
    labels = []
    for name in schema.sensitive:
        if not numbers.get(name):
            plain = schema.read_numbers(distinct(name), "sensitive")[name]
            if not code_lenient(plain, kind=schema.types.get(name)).numeric:
                labels.append(name)
    return tuple(labels)


def group_sizes_of(slices: Sequence[SliceAudited]) -> list[dict[str, int]]:
    """Return how many groups have how many rows."""
    sizes = sum((one.sizes for one in slices), start=Counter())
    return [{"size": size, "groups": sizes[size]} for size in sorted(sizes)]
