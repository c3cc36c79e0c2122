"""A release that was made on Spark: part files, a manifest and a report, and no rows in memory."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.ask.options import THRESHOLD
from shoal.audit.claims import manifest_schema
from shoal.audit.files import audit_directory
from shoal.audit.identification import check_threshold
from shoal.audit.published import read_release
from shoal.audit.slices import AT_ONCE, held_by
from shoal.audit.tables import find_parts
from shoal.engines.spark.reading import is_spark_frame
from shoal.engines.spark.scan import scan_columns, value_of
from shoal.engines.spark.scattering import suppressed
from shoal.engines.spark.work import TABLE, Work
from shoal.errors import AuditFailed, UsageError
from shoal.exact import read_share, upward
from shoal.principles.requirement import requirements
from shoal.progress import CLOCK, Progress, Shown, silent
from shoal.release.places import _real, appear, as_output_errors, check_output
from shoal.release.staging import staging
from shoal.runs.publish import say_when, write_codebook, write_report
from shoal.runs.refusing import check_audited, check_names, check_quasi, check_shown
from shoal.runs.release import say_asked
from shoal.runs.remarks import (
    about_columns,
    about_labels,
    about_names,
    about_spread,
    about_telling,
    unheard,
)
from shoal.runs.spread_checks import check_source, check_spread
from shoal.table.forms import RELEASE
from shoal.table.people import by_people
from shoal.table.settings import ROLES
from shoal.utility.bias import codebook
from shoal.utility.expression import count
from shoal.utility.parts import PartsTable
from shoal.utility.shown import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import polars as pl

    from shoal.audit.files import Look
    from shoal.audit.published import Published
    from shoal.audit.tables import PartFiles
    from shoal.audit.verify import Audit
    from shoal.engines.spark.engine import Spark
    from shoal.engines.spark.scan import Scan
    from shoal.principles.requirement import Require, Requirement
    from shoal.release.codebook import HeldCells
    from shoal.release.layout import Suppression
    from shoal.release.manifest import Manifest
    from shoal.runs.remarks import Remark, Tell
    from shoal.runs.run import Run
    from shoal.table.coded import Coded
    from shoal.table.schema import Schema
    from shoal.table.sensitive import Sensitive


@dataclass(frozen=True, eq=False, repr=False)
class SpreadRelease(Shown):
    """What is published by Spark: part files, with what is said of them.

    `table` is the published table as a frame of Spark, `manifest` what is said of it, `loss` what
    it cost; `audit` measures the files again and `write` publishes them.
    """

    manifest: Manifest
    work: Work
    requirements: tuple[Requirement, ...]
    schema: Schema
    suppression: Suppression
    labels: tuple[str, ...]
    audited: Audit
    held: dict[str, HeldCells]
    settings: dict[str, Any] = field(default_factory=dict)
    of_cells: tuple[Remark, ...] = ()  # of the table as it came

    @property
    def table(self) -> Any:
        """The published table, as a frame of Spark with the types of the part files."""
        paths = [str(self.work.place / name) for name in self.manifest.digests if "/" in name]
        return self.work.session.read.parquet(*paths)

    @property
    def facts(self) -> dict[str, Any]:
        """What the owner is told: what the manifest says, what it withholds, and times."""
        return self.manifest.told(self.settings, CLOCK)

    @property
    def loss(self) -> float:
        """The global certainty penalty, from 0 (nothing lost) to 1."""
        return self.manifest.loss.gcp

    @property
    def squared_error(self) -> None:
        """What the means lose is not measured here: it needs the rows themselves."""

    @property
    def form(self) -> str:
        """How the release spells groups."""
        return self.manifest.form

    def codebook(self) -> pl.DataFrame:
        """Return a line for each published column: what it is, and what was done to it."""
        some = read_release(self.work.place, self.manifest, lean=True, most=AT_ONCE)
        return described(some, self)

    def audit(self) -> Audit:
        """Measure every requirement again on the part files."""
        return self.work.engine.measure(self.work, self.manifest, self.labels)[0]

    def answers(self) -> PartsTable:
        """Return what the part files answer."""
        parts = find_parts(self.work.place, RELEASE, self.manifest.digests)
        assert parts is not None
        return PartsTable(parts, self.manifest)

    def count(self, condition: str) -> float:
        """Return the expected number of rows for which a condition holds."""
        return count(self, condition)

    def write(
        self,
        directory: str | Path,
        *,
        format: str = "parquet",
        force: bool = False,
        threshold: float | str = THRESHOLD,
    ) -> Audit:
        """Write part files, manifest and report as one directory, audited before it appears."""
        if format != "parquet":
            msg = f"A release by Spark() is a directory of Parquet files. Got {format!r}."
            raise UsageError(msg)
        check_output(directory, format=format, linkage=None, force=force)
        target = _real(directory)
        self.manifest.threshold = upward(check_threshold(threshold))
        with as_output_errors(target.name), staging(target) as staged:
            shutil.copytree(self.work.files, staged / TABLE)
            copy = Work(
                **{one.name: getattr(self.work, one.name) for one in fields(Work)}
                | {"place": staged}
            )
            found, _ = copy.engine.measure(copy, self.manifest, self.labels)
            finish(self, staged, found, threshold)
            appear(staged, target, force=force)
        return found

    def remarks(self, **_asked: Any) -> Iterator[Remark]:
        """Say what the owner should know of it."""
        return about_spread(self)

    def __repr__(self) -> str:
        rows, groups = self.manifest.rows, self.manifest.groups
        return f"<Release by Spark: {rows} rows in {groups} groups, GCP {self.loss:.4f}>"


def spread_release(
    run: Run, engine: Spark, progress: Progress, tell: Tell = unheard, place: Path | None = None
) -> SpreadRelease:
    """Make part files of a table, audited; where no place is given, they live with the release."""
    check_spread(run)
    check_source(run)
    kept = place or Path(tempfile.mkdtemp(prefix="shoal-"))
    work = _work(run, engine, progress, tell, kept)
    try:
        release = _made(work, run.threshold)
        say_asked(release.manifest, run)
    except BaseException:
        if place is None:
            shutil.rmtree(kept, ignore_errors=True)
        raise
    if place is None:
        weakref.finalize(release, shutil.rmtree, kept, ignore_errors=True)
    return release


def _work(run: Run, engine: Spark, progress: Progress, tell: Tell, place: Path) -> Work:
    return Work(
        engine,
        run.table,
        run.schema,
        tuple(run.requirements),
        place,
        method=run.method,
        missing=run.missing,
        share=read_share(run.suppress),
        form=run.form,
        title=run.title,
        delimiter=run.delimiter,
        encoding=run.encoding,
        progress=progress,
        seen=lambda header: _told(run, header, tell),
    )


def _told(run: Run, header: tuple[str, ...], tell: Tell) -> None:
    """Check the columns of a table that was named by its places, and say which are dropped."""
    if is_spark_frame(run.table):
        return
    run.check_header(list(header))
    for remark in (*about_columns(header, run.schema), *about_names(header, run.schema)):
        tell(remark)


def _made(work: Work, threshold: float | str) -> SpreadRelease:
    engine = work.engine
    scan = engine.domains(work)
    of_cells = (*_check_labels(work, scan), *_telling(work, scan))
    forest = engine.shards(work, scan)
    found = engine.search(work, scan, forest)
    manifest = engine.recode(work, scan, forest, found)
    manifest.threshold = upward(check_threshold(threshold))
    labels = tuple(one.column.name for one in scan.domains.sensitive if not one.column.numeric)
    audit, slices = engine.measure(work, manifest, labels)
    complaints = audit.complaints()
    if complaints:
        msg = "The release failed its own audit and was not kept. " + " ".join(complaints)
        raise AuditFailed(msg)
    check_audited(audit)
    audit.state(manifest)
    return SpreadRelease(
        manifest,
        work,
        work.requirements,
        scan.schema,
        suppressed(found, scan.capped),
        labels,
        audit,
        held_by(slices),
        {"shards": len(found), "seconds": dict(work.seconds)},
        of_cells,
    )


def _check_labels(work: Work, scan: Scan) -> list[Remark]:
    """Raise where published cells name or reach people, or are free text; say which look alike."""
    said: list[Remark] = []
    unknown = {*work.schema.nobody_knows, work.schema.survey_weight}
    with work.phase("code"):
        for one in (*scan.domains.quasi, *scan.domains.sensitive):
            name = one.column.name
            labels, people, rows = scan.labels(name)
            if not one.column.numeric:
                said += about_labels(name, labels, rows)
            if name not in unknown and one in scan.domains.quasi:
                check_quasi(one.column, people, rows)
            elif name not in unknown:
                check_names(name, labels, rows)
        if others := [name for name in scan.carried.other if name not in unknown]:
            check_shown(scan.some(others), others)
    return said


def _telling(work: Work, scan: Scan) -> Iterator[Remark]:
    """Warn of columns that tell others, as some rows show."""
    asked = {name for one in work.requirements for name in one.columns}
    quasi = [one.column.name for one in scan.domains.quasi]
    secret = [one.column.name for one in scan.domains.sensitive if one.column.name in asked]
    if not secret:
        return
    with work.phase("code"):
        some = scan.some([*quasi, *secret])
        codes = {name: scan.codes(name, some[name]) for name in some.columns}
    yield from about_telling(*({name: codes[name] for name in one} for one in (quasi, secret)))


def written_spread(
    run: Run, engine: Spark, progress: Progress, tell: Tell
) -> tuple[SpreadRelease, Audit]:
    """Make a release on Spark where it is to be, beside its target until it is whole."""
    target = _real(str(run.output))
    with as_output_errors(target.name), staging(target) as staged:
        release = spread_release(run, engine, progress, tell, staged)
        finish(release, staged, release.audited, run.threshold, progress)
        appear(staged, target, force=run.force)
    release.work.place = target
    return release, release.audited


def described(published: Published, release: SpreadRelease) -> pl.DataFrame:
    """Return the codebook of part files; where not all were read, workers know what they hold."""
    return codebook(published, None if published.whole else release.held)


def finish(
    release: SpreadRelease,
    staged: Path,
    found: Audit,
    threshold: float | str,
    progress: Progress = silent,
) -> None:
    """Write the report, and last the manifest, as the mark that the release is whole."""
    manifest = release.manifest
    release.settings["withheld"] = say_when(manifest, threshold)
    found.state(manifest)
    some = read_release(staged, manifest, lean=True, most=AT_ONCE)
    write_codebook(described(some, release), manifest, staged)
    write_report(manifest, replace(found, shown=shown(some)), staged, progress)


def rehearse_spread(run: Run, engine: Spark, progress: Progress, tell: Tell) -> dict[str, Any]:
    """Say what would be done on Spark, and raise as a search would at once; nothing is searched."""
    check_spread(run)
    check_source(run)
    with tempfile.TemporaryDirectory(prefix="shoal-") as place:
        work = _work(run, engine, progress, tell, Path(place))
        scan = engine.domains(work)
        _check_labels(work, scan)
        forest = engine.shards(work, scan)
    return {
        "rows": scan.rows,
        "roles": {role: list(getattr(run.schema, role)) for role in ROLES},
        "require": [
            {"principle": repr(one), "achievable": True, "largest_m": _largest(scan, one)}
            for one in work.requirements
        ],
        "method": repr(forest.method),
        "seconds": None,
    }


def _largest(scan: Scan, one: Requirement) -> int | None:
    widths = one.principle.widths
    return None if scan.schema.person or widths is None else widths.largest(value_of(scan, one))


def audit_spread(
    directory: Path,
    engine: Spark,
    look: Look | None = None,
    require: Require | Iterable[Require] | None = None,
) -> Audit:
    """Audit a release in part files on Spark; what its other files say is looked at here."""

    def measured(_parts: PartFiles, manifest: Manifest, asked: Sequence[Requirement]) -> Audit:
        work = Work(engine, None, manifest_schema(manifest), tuple(asked), directory.resolve())
        return engine.measure(work, manifest)[0]

    return audit_directory(directory, require, elsewhere=measured, look=look)


def counted_values(run: Run, engine: Spark, require: Require) -> tuple[Sensitive | None, int]:
    """Return the values that a requirement is about, each with its rows, and how many rows."""
    (asked,) = requirements(require, run.schema.sensitive)
    with _scanned(run, engine, asked) as scan:
        return (value_of(scan, asked) if asked.columns else None), scan.rows


def counted_people(run: Run, engine: Spark, require: Require) -> tuple[Coded, Requirement]:
    """Return people with the values that a requirement is about, though not who they are."""
    (asked,) = requirements(require, run.schema.sensitive)
    with _scanned(run, engine, asked) as scan:
        return by_people(scan.people()), asked


@contextmanager
def _scanned(run: Run, engine: Spark, asked: Requirement) -> Iterator[Scan]:
    """Scan the columns that a requirement is about, and whom rows are about."""
    check_source(run)
    schema = run.schema.only("sensitive", "person", among=asked.columns)
    with tempfile.TemporaryDirectory(prefix="shoal-") as place:
        narrow = replace(run, schema=schema, require=asked)
        work = _work(narrow, engine, silent, unheard, Path(place))
        scan = scan_columns(work)
        with work.phase("code"):
            yield scan
