"""The release that a run leads to, with what can be done with it, and what it says was asked."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from shoal.ask.fields import CONTEXT
from shoal.ask.options import NAMES, OF_COLUMNS, THRESHOLD, is_said, listable, options_of
from shoal.audit.identification import check_threshold
from shoal.audit.published import as_read, plain_text
from shoal.audit.verdict import Exposed
from shoal.audit.verify import audit_table
from shoal.engines.base import engine_of, is_spark
from shoal.errors import UsageError
from shoal.exact import upward
from shoal.methods.choice import choose_method
from shoal.notation import Term
from shoal.progress import Progress, Shown, silent, with_bar
from shoal.release.building import in_form
from shoal.release.forms import check_form
from shoal.release.recoding import ReleaseData
from shoal.release.stated import StatedAsk
from shoal.table.forms import MEANS, TWO_TABLES
from shoal.table.grid import REGIONS
from shoal.table.schema import BY_COLUMN, OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl

    from shoal.ask.options import Option
    from shoal.audit.published import Published
    from shoal.audit.seen import PersonView
    from shoal.audit.verify import Audit
    from shoal.engines.base import Engine
    from shoal.release.manifest import Manifest
    from shoal.runs.remarks import Remark
    from shoal.runs.run import Run
    from shoal.table.schema import Schema
    from shoal.utility.bias import CellBias
    from shoal.utility.queries import BoxTable, TwoTables


@dataclass(frozen=True, eq=False, repr=False)
class Release(ReleaseData, Shown):
    """What is published, and what only the owner may see.

    `table` is the published table, as the kind of frame that came in. `manifest` describes it, and
    `loss` is the information lost. `audit` measures it again, and `write` publishes it.
    """

    @classmethod
    def of(cls, data: ReleaseData) -> Release:
        """Give data the verbs that people use."""
        return cls(**{field.name: getattr(data, field.name) for field in fields(data)})

    def as_form(self, form: str, *, keep_other: bool = False) -> Release:
        """Return the release in another form: the same groups, other columns.

        Raises where the form would break a requirement. Also raises where it would publish other
        columns beside exact quasi values, unless `keep_other` allows that.
        """
        if form == self.form:
            return self
        check_form(
            form,
            self.requirements,
            self.schema,
            grouped=not self.heterogeneous,
            keep_other=keep_other,
        )
        if self.recast and form in {MEANS, TWO_TABLES}:
            msg = (
                "A coarser release was made from published boxes, so the exact values are not "
                "known."
            )
            raise UsageError(msg)
        from shoal.runs.publish import audited

        return audited(Release.of(in_form(self, form)))

    def table_as(self, form: str, *, keep_other: bool = False) -> Any:
        """Return the published table in another form, as the kind of frame that came in.

        Of two tables, `people, values = release.table_as("two-tables")`.
        """
        return self.as_form(form, keep_other=keep_other).table

    def audit(self) -> Audit:
        """Measure every requirement again on the published table.

        Groups are measured from that table alone, a heterogeneous release against the original.
        """
        return self.audit_published(as_read(self))

    def audit_published(self, published: Published) -> Audit:
        """Measure every requirement on published tables, as they were read back."""
        asked = self.requirements
        usual = upward(check_threshold(THRESHOLD))
        stated = self.manifest if self.manifest.threshold else self.manifest.but(threshold=usual)
        exposed = Exposed.of(stated, asked)
        if self.heterogeneous:
            from shoal.audit.matches import audit_matches

            return replace(audit_matches(published.table, self.coded, asked), exposed=exposed)
        if self.population is not None:
            published = replace(published, hierarchies=self.listed)
        return audit_table(published, asked, self.population, exposed)

    def remarks(self, *, named: bool, escaped: bool, seed: int | None) -> Iterator[Remark]:
        """Say what the owner should know of it; `named`: whether its method was asked for."""
        from shoal.runs.remarks import about_release

        return about_release(self, named=named, escaped=escaped, seed=seed)

    def codebook(self) -> pl.DataFrame:
        """Return a line for each published column: what it is, and what was done to it."""
        from shoal.utility.bias import codebook

        return codebook(as_read(self))

    def bias(self) -> list[CellBias]:
        """Return which means differ between narrow and wide cells, and by how much."""
        from shoal.utility.bias import cell_bias

        return cell_bias(plain_text(self), self.manifest)

    def losses(self) -> dict[str, float]:
        """Measure every loss that is defined for this release (see `shoal.measures.losses`)."""
        self._check_original("Losses are")
        from shoal.utility.losses import losses

        return losses(self)

    def answers(self) -> BoxTable | TwoTables:
        """Return what answers count queries about the published table, or about both tables."""
        if self.form != TWO_TABLES:
            return self.boxes
        from shoal.utility.selectivity import answers_of

        return answers_of(self)

    @cached_property
    def boxes(self) -> BoxTable:
        """What groups span, in every form."""
        from shoal.utility.selectivity import boxes_of

        return boxes_of(self)

    def features(self) -> Any:
        """Return quasi and other columns as numbers, as the kind of frame that came in."""
        from shoal.utility.numbers import features

        return features(self)

    def count(self, condition: str) -> float:
        """Return the expected number of rows for which a condition holds.

        It assumes that a row has any value of its published cells with equal probability, or where
        groups show means, the mean. Sensitive and other columns are exact. For example
        `release.count("30 <= age <= 40 and income > 50000")`.
        """
        from shoal.utility.expression import count

        return count(self, condition)

    @with_bar
    def write(
        self,
        directory: str | Path,
        *,
        format: str = "csv",
        linkage: str | Path | None = None,
        force: bool = False,
        threshold: float | str = THRESHOLD,
        progress: Progress = silent,
    ) -> Audit:
        """Write release, manifest and report as one directory, audited before it appears.

        The report compares the re-identification risk with `threshold`. An address of a table, for
        example sqlite:///people.db?table=published, takes the table alone.
        """
        if linkage is not None:
            self._check_original("A linkage is")
        from shoal.runs.outlets import publish
        from shoal.runs.publish import write_release
        from shoal.table.databases.access import is_outlet

        where: dict[str, Any] = {"linkage": linkage, "force": force, "progress": progress}
        if is_outlet(directory):
            return publish(self, directory, format=format, **where)
        return write_release(self, directory, format=format, threshold=threshold, **where)

    @with_bar
    def owner_report(
        self,
        path: str | Path,
        *,
        threshold: float | str = THRESHOLD,
        trials: bool = False,
        force: bool = False,
        progress: Progress = silent,
    ) -> None:
        """Write the report for the owner alone. Only the owner can read the file; never publish it.

        It says what report.html says, compares the release with the original table, and names the
        riskiest groups and records. With `trials` it also shows what more protection would cost and
        what other methods lose, both tried on a sample.
        """
        self._check_original("The owner's report is")
        from shoal.runs.trials import write_owner_report

        write_owner_report(
            self, path, threshold=threshold, tried=trials, force=force, progress=progress
        )

    def person(self, row: int | None = None, *, original: Any = None) -> PersonView:
        """Return what a stranger learns about one person, today and after the release; private.

        It is computed as a stranger would, from the person's quasi values and the published table.

        Parameters
        ----------
        row : the row of the original, counted from 0; None for the most exposed person.
        original : the table that it was made from, where the release no longer holds it.
        """
        self._check_original("What a stranger learns is")
        from shoal.runs.person import person_of

        return person_of(self, row, original)

    def _check_original(self, what: str) -> None:
        """Raise where something is asked that only the original table can tell."""
        if self.recast:
            msg = f"{what} made from the original table, and this release was made from another."
            raise UsageError(msg)


NO_OPTION = [name for name in BY_COLUMN if not (OPTIONS[name].panel or OPTIONS[name].shares)]


def asked(run: Run) -> dict[str, Any]:
    """Return the public part of what was asked, by the names of options.

    Requirements, form, title, context and threshold have keys of their own in a manifest. Of
    places, of secrets and of the person column it is only said, by `True`, that they were given.
    """
    schema = run.schema if run.cells == REGIONS else replace(run.schema, step={})
    tables = (schema, *schema.linked.values())
    method = None if run.method is None else repr(choose_method(run.method, run.requirements))
    settled: dict[str, Any] = {
        "schema": in_a_file(schema),
        "other": [n for one in tables for n in one.other if n != schema.survey_weight],
        "key_file": bool(schema.pseudonymize),
        "linked": list(schema.linked),
        "method": method,
        "engine": _engine(engine_of(run.engine)),
        "hold_out": None if run.withhold_counts else _plain(run.hold_out),
        "format": None,  # of the files, which is said where they are written
    }
    said = {}
    for name, option in options_of(run.asks).items():
        if not option.in_asked:
            continue
        value = settled[name] if name in settled else _value(run, tables, name, option)
        if is_said(value) and value != option.usual:
            said[option.name] = value
    return said


def say_asked(manifest: Manifest, run: Run) -> None:
    """Put the public part of what was asked into a manifest."""
    manifest.asked = StatedAsk(**asked(run))
    if public := {name: run.context[name] for name in CONTEXT if name in run.context}:
        manifest.context = public


def _value(run: Run, tables: tuple[Schema, ...], name: str, option: Option) -> Any:
    """Return what is said of published columns or of the run, as an option says it."""
    if option.within == OF_COLUMNS:
        return {
            column: _of_column(value)
            for one in tables
            for column, value in getattr(one, name).items()
            if column in one.published and column not in in_a_file(one)
        }
    if option.kind == NAMES:
        return [column for one in tables for column in getattr(one, name)]
    value = getattr(run if hasattr(run, name) else run.schema, name)
    return value is not None if option.secret else _plain(value)


def _of_column(value: object) -> object:
    """Return what is said of one column: of a list of labels only that there is one."""
    if isinstance(value, Term):
        from shoal.table.groupings import Listed

        return True if isinstance(value, Listed) else _plain(value)
    return _plain(value)


def _plain(value: Any) -> Any:
    """Return what an option takes: a number, or a text."""
    if value is None or type(value) in {int, float, str, bool}:
        return value
    return str(value)


def _engine(engine: Engine) -> str | None:
    """Return an engine in the notation, without where it is; None for the usual one."""
    if is_spark(engine):
        return repr(replace(engine, session=None, master=None))
    return None if engine == engine_of(None) else repr(engine)


def in_a_file(schema: Schema) -> list[str]:
    """Return the columns of which something stands in a schema file, as no option can say it."""
    used = (*schema.published, *schema.pseudonymize)
    if schema.linked:
        plain = replace(schema, linked={})
        return sorted(n for one in (plain, *schema.linked.values()) for n in in_a_file(one))
    told = {name for key in NO_OPTION for name in getattr(schema, key)}
    named = {name for name in told if name in used}
    named |= {name for name in used if not listable(name)}
    said = {name for key in BY_COLUMN for name in getattr(schema, key)}
    named |= {name for name in used if name in said and "=" in name}
    return sorted(named)
