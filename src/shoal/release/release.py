"""The release: a published table with its manifest, in memory until it is written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.loss.certainty import mean_over_rows, ncp_by_group
from shoal.progress import Progress, silent
from shoal.release.layout import Found, Layout, lay_out
from shoal.release.recode import Spans, cells, domain, kind_of, spans, typed_cells
from shoal.schema.coding import NUMBER, parse_numbers
from shoal.schema.io import give_frame
from shoal.schema.roles import LABELS, RESERVED
from shoal.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from shoal.audit.verify import Audit
    from shoal.methods.base import Method, Task
    from shoal.principles.requirement import Requirement
    from shoal.queries.tables import BoxTable
    from shoal.release.randomness import Randomness
    from shoal.release.suppression import Suppression
    from shoal.schema.coding import Column
    from shoal.schema.roles import Schema
    from shoal.schema.table import Coded

FORMULA = r"^[=+\-@]"


@dataclass(frozen=True, eq=False)
class Recoding:
    """Everything a published row is made of: source rows in their new order, and their cells."""

    source: pl.DataFrame
    schema: Schema
    quasi: dict[str, Column]
    spans: dict[str, Spans]
    layout: Layout

    @property
    def names(self) -> list[str]:
        """The published columns, in the order of the input."""
        shown = (*self.schema.published, *self.schema.pseudonymize)
        return [name for name in self.source.columns if name in shown]

    def text(self) -> pl.DataFrame:
        """Return the published table as text, as release.csv has it."""
        return self._table(self.source, cells, lambda column: column.cast(pl.String))

    def typed(self) -> pl.DataFrame:
        """Return the published table as typed columns; numbers in any writing are numbers."""
        return self._table(self._plain(), typed_cells, self._typed_column)

    def flat(self) -> pl.DataFrame:
        """Return the published table with quasi cells as text and other columns typed."""
        return self._table(self._plain(), cells, self._typed_column)

    def _plain(self) -> pl.DataFrame:
        return self.schema.read_numbers(self.source, "sensitive", "other")

    def mixed(self) -> pl.DataFrame:
        """Return the published table with quasi cells as text and other columns as they were."""
        return self._table(self.source, cells, lambda column: column)

    def _typed_column(self, column: pl.Series) -> pl.Series:
        labels = self.schema.types.get(column.name) in LABELS
        spelled = self.schema.decimal is None
        return column if labels else typed_values(column, spelled=spelled)

    def _table(
        self,
        source: pl.DataFrame,
        quasi_cells: Callable[[Column, Spans], pl.Series],
        other_cells: Callable[[pl.Series], pl.Series],
    ) -> pl.DataFrame:
        columns = {} if self.layout.numbers is None else {RESERVED: pl.Series(self.layout.numbers)}
        for name in self.names:
            columns[name] = (
                quasi_cells(self.quasi[name], self.spans[name]).gather(self.layout.bears)
                if name in self.quasi
                else other_cells(source[name])
            )
        return pl.DataFrame(columns)


@dataclass(frozen=True, eq=False)
class Release:
    """What is published, and what only the owner may see of how it came about.

    Attributes
    ----------
    published : the published table, cells as text.
    manifest : what the manifest will say, public.
    linkage : for each published row the input row it came from, private.
    suppression : what was left out and what that paid back, private but for the number of rows.
    population : everybody who could be in the table, where a requirement is about them, private.
    """

    published: pl.DataFrame
    manifest: dict[str, Any]
    linkage: NDArray[np.int64]
    recoding: Recoding
    coded: Coded
    requirements: tuple[Requirement, ...]
    suppression: Suppression
    formulas: int
    escaped: bool
    given: Any
    population: pl.DataFrame | None = None

    @property
    def schema(self) -> Schema:
        """The roles of the columns."""
        return self.recoding.schema

    @property
    def table(self) -> Any:
        """The published table, as the kind of frame that came in.

        Quasi cells are text as in release.csv; other columns keep their types.
        """
        table, _ = defuse(self.recoding.mixed(), self.schema, escape=self.escaped)
        return give_frame(table, self.given)

    def typed(self) -> pl.DataFrame:
        """Return the published table as release.parquet has it."""
        return defuse(self.recoding.typed(), self.schema, escape=self.escaped)[0]

    def flat(self) -> pl.DataFrame:
        """Return the published table for places without nested types, as sheets and databases."""
        return defuse(self.recoding.flat(), self.schema, escape=self.escaped)[0]

    @property
    def loss(self) -> float:
        """The global certainty penalty, from 0 (nothing lost) to 1."""
        return self.manifest["loss"]["gcp"]

    @property
    def heterogeneous(self) -> bool:
        """Whether every record was recast on its own, without groups."""
        return self.recoding.layout.numbers is None

    def audit(self) -> Audit:
        """Measure every requirement again on the published table.

        Groups are measured from that table alone, a heterogeneous release against the original.
        """
        return self.audit_published(self.schema.read_numbers(self.published, "sensitive"))

    def audit_published(self, published: pl.DataFrame) -> Audit:
        """Measure every requirement on a published table, as it was read back from a file."""
        from shoal.audit.files import manifest_schema
        from shoal.audit.matches import audit_matches
        from shoal.audit.verify import audit_table

        if self.heterogeneous:
            return audit_matches(published, self.coded, self.requirements)
        if self.population is None:
            return audit_table(published, self.schema, self.requirements)
        stated = manifest_schema(self.manifest)  # with hierarchies as they are published
        return audit_table(published, stated, self.requirements, self.population)

    def losses(self) -> dict[str, float]:
        """Measure every loss that is defined for this release (see `shoal.losses`)."""
        from shoal.loss.measure import losses

        return losses(self)

    def answers(self) -> BoxTable:
        """Return the published table as what answers count queries."""
        return self._boxes

    @cached_property
    def _boxes(self) -> BoxTable:
        from shoal.queries.tables import BoxTable

        return BoxTable.of(self.plain, self.manifest, self.schema)

    @property
    def plain(self) -> pl.DataFrame:
        """The published table, cells as text: no formula defused, numbers spelled plainly."""
        from shoal.audit.cells import unescape

        plain = self.published
        if self.manifest.get("escaped"):
            plain = unescape(plain, [*self.schema.sensitive, *self.schema.other])
        return self.schema.read_numbers(plain, "sensitive")

    def count(self, condition: str) -> float:
        """Return the expected number of rows for which a condition holds.

        A row is taken to lie anywhere in its published cells, all values alike; sensitive and
        other columns are exact. `release.count("30 <= age <= 40 and income > 50000")`.
        """
        from shoal.queries.expression import count

        return count(self, condition)

    def write(
        self,
        directory: str | Path,
        *,
        format: str = "csv",
        linkage: str | Path | None = None,
        force: bool = False,
        threshold: float = 0.09,
        progress: Progress = silent,
    ) -> Audit:
        """Write release, manifest and report as one directory, audited before it appears.

        The report compares the risk of being found with `threshold`. The address of a table, as
        sqlite:///people.db?table=published, takes the table alone.
        """
        from shoal.outlets import is_outlet, publish
        from shoal.publishing import write_release

        where: dict[str, Any] = {"linkage": linkage, "force": force, "progress": progress}
        if is_outlet(directory):
            return publish(self, directory, format=format, **where)
        return write_release(self, directory, format=format, threshold=threshold, **where)

    def owner_report(
        self,
        path: str | Path,
        *,
        threshold: float = 0.09,
        force: bool = False,
        progress: Progress = silent,
    ) -> None:
        """Write the report for the owner alone, readable by nobody else; never publish it.

        It says what report.html says, and names the riskiest groups and records, what was left out,
        what more protection would cost, and what other methods lose (both tried on a sample).
        """
        from shoal.engines.owner import write_owner_report

        write_owner_report(self, path, threshold=threshold, force=force, progress=progress)

    def _repr_html_(self) -> str:
        from shoal.report.notebook import release_part

        return release_part(self.manifest)

    def __repr__(self) -> str:
        groups = self.manifest["groups"]
        how = "each recast on its own" if groups is None else f"in {groups} groups"
        return f"<Release: {self.manifest['rows']} rows {how}, GCP {self.loss:.4f}>"


def build_release(
    table: pl.DataFrame,
    schema: Schema,
    task: Task,
    found: Found,
    *,
    suppression: Suppression,
    method: Method,
    randomness: Randomness,
    escape_formulas: bool = False,
    given: Any = None,
    population: pl.DataFrame | None = None,
) -> Release:
    """Recode what was found, shuffle rows and group numbers, and state what was done."""
    coded = task.coded
    layout = lay_out(found, randomness)
    covered = {column.name: spans(column, found) for column in coded.quasi}
    recoding = Recoding(
        source=table.select(pl.all().gather(coded.rows[layout.carries])),
        schema=schema,
        quasi={column.name: column for column in coded.quasi},
        spans=covered,
        layout=layout,
    )
    published, formulas = defuse(recoding.text(), schema, escape=escape_formulas)
    ncp = {
        column.name: mean_over_rows(
            ncp_by_group(column, covered[column.name]), layout.bearers, suppression.rows
        )
        for column in coded.quasi
    }
    manifest: dict[str, Any] = {
        "shoal": __version__,
        "rows": len(coded),
        "suppressed": suppression.rows,
        "groups": layout.groups,
        "columns": [_describe(name, recoding) for name in recoding.names],
        "require": [repr(requirement) for requirement in task.requirements],
        "method": repr(method),
        "measured": [],
        "loss": {"gcp": float(np.mean(list(ncp.values()))), "ncp": ncp},
        "seconds": {},
    }
    if layout.adversary:
        manifest |= {"heterogeneous": True, "adversary": list(layout.adversary)}
    if escape_formulas and formulas:
        manifest["escaped"] = True
    if schema.decimal is not None:
        manifest["decimal"] = schema.decimal
    if randomness.reproducible:
        manifest["reproducible"] = True
    return Release(
        published=published,
        manifest=manifest,
        linkage=coded.rows[layout.carries],
        recoding=recoding,
        coded=coded,
        requirements=task.requirements,
        suppression=suppression,
        formulas=formulas,
        escaped=escape_formulas,
        given=given,
        population=population,
    )


def _describe(name: str, recoding: Recoding) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": name, "role": recoding.schema.role(name)}
    if name in recoding.quasi:
        column = recoding.quasi[name]
        entry["kind"] = kind_of(column)
        entry["domain"] = domain(column)
        if column.dates:
            entry["type"] = "date"
        if name in recoding.schema.weights:
            entry["weight"] = recoding.schema.weights[name]
    if name in recoding.schema.types:
        entry["type"] = recoding.schema.types[name]
    return entry


def defuse(table: pl.DataFrame, schema: Schema, *, escape: bool) -> tuple[pl.DataFrame, int]:
    """Count the text cells that a spreadsheet would run as a formula, and escape them if asked.

    A number is no formula, with or without its sign. Quasi cells are left alone: they are labels
    that the manifest lists.
    """
    count = 0
    for name in (*schema.sensitive, *schema.other):
        column = table[name]
        if column.dtype != pl.String:
            continue
        risky = column.str.contains(FORMULA).fill_null(value=False)
        if risky.any():
            risky &= ~column.str.contains(NUMBER).fill_null(value=False)
        count += int(risky.sum())
        if escape and risky.any():
            escaped = pl.when(risky).then(pl.lit("'") + pl.col(name)).otherwise(pl.col(name))
            table = table.with_columns(escaped.alias(name))
    return table, count


def typed_values(column: pl.Series, *, spelled: bool) -> pl.Series:
    """Return a column of text numbers as numbers; `spelled`: where they are spelled back alike."""
    known = column.drop_nulls()
    if column.dtype != pl.String or not len(known) or not known.str.contains(NUMBER).all():
        return column
    kind = pl.Int64 if parse_numbers(known).dtype == np.int64 else pl.Float64
    numbers = column.cast(kind)
    return numbers if not spelled or (numbers.cast(pl.String) == column).all() else column
