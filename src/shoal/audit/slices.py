"""An audit in slices: rows with equal published cells are in one slice, so whole groups are.

Each slice is measured as a stranger reads it, and what slices measure adds up; so no one has to
hold a release that comes in part files.

What a manifest says was done to cells is seen in them (`described`), and in the codebook, which
says too what the table cannot show, as a threshold that nobody reached.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.claims import (
    check_columns,
    check_counts,
    check_groups,
    check_rows_in,
    manifest_schema,
)
from shoal.audit.described import CellCount, check_cells, check_done, count_cells
from shoal.audit.forms import flat_cells, one_cell_each, wrong_headers
from shoal.audit.published import Published
from shoal.audit.tables import find_parts, read_part
from shoal.audit.verdict import Exposed
from shoal.audit.verify import Audit, Finding, audit_table, coded_as_asked, unknown_rows
from shoal.principles.groups import Totals
from shoal.principles.requirement import asked_of
from shoal.release.cells import unescape_name
from shoal.release.codebook import WEIGHED, HeldCells
from shoal.table.coding import code_lenient
from shoal.table.forms import CODEBOOK, INTERVALS, RELEASE
from shoal.table.schema import PERSON, RESERVED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from fractions import Fraction
    from pathlib import Path

    from shoal.audit.exposed import Tally
    from shoal.audit.tables import PartFiles
    from shoal.principles.groups import Summary
    from shoal.principles.requirement import Requirement
    from shoal.release.manifest import Manifest
    from shoal.table.column import Column
    from shoal.table.schema import Schema


TIMES = "\x00times"  # how many rows have a cell, beside it
BEFORE = ("First ", "Written as ", WEIGHED)  # how a codebook begins to say what was done first


def check_codebook(directory: Path, manifest: Manifest, schema: Schema) -> list[str]:
    """Return a sentence for every column of which the codebook says that something else was done.

    A codebook that cannot be read says nothing; its digest is compared elsewhere.
    """
    if CODEBOOK not in manifest.digests:
        return []
    named = unescape_name if manifest.escaped else str
    try:
        told = (directory / CODEBOOK).read_bytes()  # Polars opens no name that is not UTF-8
        lines = pl.read_csv(told, columns=["name", "done"], infer_schema=False)
    except (OSError, pl.exceptions.PolarsError):
        return ["The codebook cannot be read."]
    said = {named(name): done for name, done in lines.fill_null("").iter_rows()}
    problems = []
    for column in manifest.columns:
        before = WEIGHED if column.survey_weight else schema.done_to(column.name)
        for name in column.published_as(manifest.form):
            done = said.get(name, "")
            if not done.startswith(before) or done.removeprefix(before).strip().startswith(BEFORE):
                problems.append(
                    f"The codebook and the manifest disagree about what was done to {name!r}."
                )
    return problems


AT_ONCE = 2_000_000  # rows, about, that one machine audits together


@dataclass(frozen=True, eq=False)
class Reading:
    """Everything that one has to know to audit a slice: what is stated, and what is asked.

    `labels` are the sensitive columns that hold labels: a slice that happens to hold numbers alone
    does not make numbers of them. `offered` are whole columns by which distances are scaled.
    """

    manifest: Manifest
    requirements: Sequence[Requirement]
    names: tuple[str, ...]  # of the columns, in the order of the files
    labels: tuple[str, ...]
    offered: Mapping[str, Column] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        manifest: Manifest,
        asked: Sequence[Requirement],
        names: tuple[str, ...],
        counted: Callable[[str], pl.DataFrame],
        labels: tuple[str, ...] | None = None,
    ) -> Reading:
        """Take from all parts what no slice knows; `counted` cells come with their `TIMES`."""
        known = labels_of(manifest, asked, counted) if labels is None else labels
        return cls(manifest, asked, names, known, _offered(manifest, asked, counted, known))

    @property
    def cells(self) -> list[str]:
        """The columns by which rows are alike."""
        carried = {c.name for c in self.manifest.columns if not c.quasi}
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
    held: dict[str, HeldCells]  # what carried columns hold
    tally: Tally | None = None


def audit_slice(reading: Reading, table: pl.DataFrame) -> SliceAudited:
    """Measure the rows of a slice."""
    manifest = reading.manifest
    schema = _with_labels(manifest_schema(manifest), reading.labels)
    rows = flat_cells(table, manifest)
    problems = [] if manifest.form == INTERVALS else wrong_headers({RELEASE: rows}, manifest)
    rows = one_cell_each(rows, manifest)
    problems += check_columns(rows, manifest)
    if problems:
        return SliceAudited(rows.height, 0, 0, 0, (), tuple(problems), {}, Counter(), {})
    problems += check_groups(rows, manifest) + check_done(rows, manifest.columns, manifest)
    cells = {c.name: count_cells(rows, c) for c in manifest.columns if c.quasi}
    asked = reading.requirements
    plain = Published(schema.read_numbers(rows, "sensitive"), manifest, schema)
    exposed = Exposed.of(manifest, asked) if asked else None
    found = audit_table(plain, asked, exposed=exposed, offered=reading.offered)
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
        {
            c.name: HeldCells.of(table[c.name], table[c.name].unique())
            for c in manifest.columns
            if not c.quasi
        },
        None if found.exposed is None else found.exposed.tally,
    )


def _counted(sizes: Any) -> Counter[int]:
    values, counts = np.unique(sizes, return_counts=True)
    return Counter(dict(zip(values.tolist(), counts.tolist(), strict=True)))


def joined_audit(reading: Reading, slices: Sequence[SliceAudited]) -> Audit:
    """Return what slices measured as one audit."""
    manifest, asked = reading.manifest, reading.requirements
    problems = sorted({one for part in slices for one in part.problems})
    people = sum(one.people for one in slices) if manifest.people is not None else None
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
    known = manifest.rows_known is not False
    tallies = [one.tally for one in slices if one.tally is not None]
    exposed = Exposed.of(manifest, asked)
    if len(tallies) == len(slices):
        exposed = exposed.counted(sum(tallies[1:], start=tallies[0]))
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
        exposed=exposed,
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


def is_sliced(directory: Path, manifest: Manifest, asked: Sequence[Requirement]) -> bool:
    """Return whether a release comes in parts, with more rows than are audited together."""
    grouped = manifest.grouped and not manifest.in_series and manifest.cells is None
    if not (grouped and all(one.principle.by_itself for one in asked)):
        return False
    parts = find_parts(directory, RELEASE, manifest.digests)
    return parts is not None and parts.rows > AT_ONCE


def audit_parts(parts: PartFiles, manifest: Manifest, asked: Sequence[Requirement]) -> Audit:
    """Audit part files slice by slice; each takes a look at all of them, and memory for itself."""

    def counted(name: str) -> pl.DataFrame:
        held = [read_part(path, [name]).group_by(name).len(TIMES) for path in parts.paths]
        return pl.concat(held).group_by(name).agg(pl.col(TIMES).sum())

    reading = Reading.of(manifest, asked, parts.columns, counted)
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
    manifest: Manifest,
    asked: Sequence[Requirement],
    counted: Callable[[str], pl.DataFrame],
) -> tuple[str, ...]:
    """Return the sensitive columns that hold labels, as the distinct cells of all parts decide."""
    schema = manifest_schema(manifest)
    numbers = asked_of(asked)
    labels = []
    for name in schema.sensitive:
        if not numbers.get(name):
            plain = schema.read_numbers(counted(name).drop(TIMES), "sensitive")[name]
            if not code_lenient(plain, kind=schema.types.get(name)).numeric:
                labels.append(name)
    return tuple(labels)


def _with_labels(schema: Schema, labels: Sequence[str]) -> Schema:
    """Return a schema that says which columns hold labels, where it said nothing."""
    more = {name: "categorical" for name in labels if name not in schema.types}
    return replace(schema, types={**schema.types, **more})


def _offered(
    manifest: Manifest,
    asked: Sequence[Requirement],
    counted: Callable[[str], pl.DataFrame],
    labels: Sequence[str],
) -> dict[str, Column]:
    """Return the columns that distances are scaled by, as all parts together hold them."""
    schema = _with_labels(manifest_schema(manifest), labels)
    found: dict[str, Column] = {}
    for one in asked:
        for name in one.columns if one.principle.scaled else ():
            cells = counted(name)
            plain = schema.read_numbers(cells.drop(TIMES), "sensitive")
            (column,) = coded_as_asked(plain, schema, one, (name,))
            found[name] = replace(column, times=cells[TIMES].to_numpy().astype(np.int64))
    return found
