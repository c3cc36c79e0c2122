"""Everything asked for at once, before anything is done: checked, rehearsed, then done.

A run is made from a schema file, from options or from Python arguments; every view makes one and
shows its outcome.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from shoal.audit.identification import check_threshold
from shoal.audit.manifest import REPORT
from shoal.engines.base import Engine
from shoal.engines.local import Local
from shoal.engines.people import as_people, check_method, check_people
from shoal.engines.spark import Spark
from shoal.errors import UsageError
from shoal.methods.achievable import check_least_risk, check_task
from shoal.methods.base import Method, Task
from shoal.methods.choice import choose_method, method_for
from shoal.methods.suppression import read_share
from shoal.principles.base import OneDimensional
from shoal.principles.planning import largest_share
from shoal.principles.requirement import Require, asked_of, check_population, requirements
from shoal.progress import Enough, Progress, never, silent
from shoal.release.forms import check_form
from shoal.release.layout import Randomness
from shoal.release.release import build_release, check_title, columns_of
from shoal.runs.budget import best_within
from shoal.runs.checks import (
    check_budget,
    check_linked,
    check_places,
    checked_settings,
    reads_files,
)
from shoal.runs.estimate import search_seconds, whole_run
from shoal.runs.outlets import is_outlet
from shoal.runs.owner import what_changed
from shoal.runs.release import Release
from shoal.runs.remarks import AlsoPeople, Remark, Tell, about_columns, about_whom, unheard
from shoal.table.coded import code_table
from shoal.table.columns import Handed, without_cells
from shoal.table.databases.access import name_of
from shoal.table.forms import INTERVALS
from shoal.table.linked import LinkedTable, check_columns, code_linked, parted, under_both_names
from shoal.table.population import code_both
from shoal.table.pseudonyms import check_key, pseudonymize, read_key
from shoal.table.reading import read_lean, read_table, take_frame
from shoal.table.schema import Schema
from shoal.table.settings import ROLES, Settings, is_said
from shoal.table.settling import as_settled, settle
from shoal.views.usual import THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from fractions import Fraction

    import polars as pl

    from shoal.audit.verify import Audit
    from shoal.principles.requirement import Requirement
    from shoal.release.layout import Found, Suppression
    from shoal.runs.compare import Comparison
    from shoal.runs.tune import Frontier
    from shoal.table.coded import Coded
    from shoal.table.missing import Missing


@dataclass(frozen=True, eq=False)
class Prepared:
    """A coded table and what must hold on it, with everybody who could be in it.

    Linked tables are as they came in, rounded and cut off.
    """

    task: Task
    everybody: pl.DataFrame | None
    linked: dict[str, LinkedTable] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run did: its release, the audit of what was written, facts, remarks and files.

    `facts` are what the manifest says; `files` are all that were written, private ones included.
    """

    release: Release
    audit: Audit
    remarks: tuple[Remark, ...]
    files: tuple[Path, ...]
    place: str  # where the release is, without a password where that is a database

    @property
    def facts(self) -> dict[str, Any]:
        """What the manifest says."""
        return self.release.manifest

    @property
    def report(self) -> Path | None:
        """The public report, where there is a directory for one."""
        return next((one for one in self.files if one.name == REPORT), None)


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """Everything asked for at once (see `anonymize` for what each part means).

    `table` is a frame, or the places of a table, which is then read by `query`, `sheet`,
    `delimiter` and `encoding`. `enough` is asked by a search that has found something: once it says
    True, the best so far is kept. `said` is the schema file that the run was made from.

    Examples
    --------
    >>> import polars
    >>> people = polars.DataFrame({"age": [17, 19, 20, 24], "salary": [1000, 1500, 9000, 9900]})
    >>> schema = Schema(quasi="age", sensitive="salary")
    >>> run = Run(table=people, schema=schema, require="EpsilonM(epsilon=100, m=2)")
    >>> run.rehearse()["method"]
    'Exchange()'
    """

    table: Any = None
    schema: Schema = field(default_factory=Schema)
    require: Require | Iterable[Require] = ()
    method: Method | str | None = None
    missing: Missing = "error"
    population: Any = None
    linked: Mapping[str, Any] = field(default_factory=dict)
    suppress: str | float | None = None
    seconds: float | None = None
    seed: int | None = None
    engine: Engine | str | None = None
    escape_formulas: bool = False
    key: bytes | None = field(default=None, repr=False)
    title: str | None = None
    form: str = INTERVALS
    keep_other: bool = False
    # How the table is read.
    query: str | None = None
    sheet: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    # What is written, and where.
    output: str | Path | None = None
    format: str | None = None
    linkage: str | Path | None = None
    owner_report: str | Path | None = None
    history: str | Path | None = None
    # A series of releases.
    ledger: str | Path | None = None
    batch: int = 1
    least_real: int = 1
    threshold: float | str = THRESHOLD
    trials: bool = False
    force: bool = False
    # Asked by a search that has found something: whether to keep the best so far.
    enough: Enough = field(default=never, repr=False)
    # The schema file, and the roles that options took from it.
    said: Settings = field(default_factory=Settings, repr=False)
    overruled: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Find the columns of linked tables among those that the schema names."""
        object.__setattr__(self, "schema", parted(self.schema, self.linked))

    @classmethod
    def of(
        cls, said: Settings | None = None, *, key_file: str | Path | None = None, **options: Any
    ) -> Self:
        """Make a run of a schema file and options, which overrule it; None and False say nothing.

        Options are the fields of a run and the parameters of a schema.
        """
        said = Settings() if said is None else said
        given = {name: value for name, value in options.items() if is_said(value)}
        own = {one.name for one in fields(cls)} - {"said", "schema", "overruled"}
        of_file = {name: value for name, value in vars(said).items() if name in own}
        schema = said.schema(**{name: given.pop(name) for name in set(given) - own})
        key = read_key(key_file) if key_file or schema.pseudonymize else None
        return cls(
            **{name: value for name, value in of_file.items() if is_said(value)} | given,
            schema=schema,
            key=key,
            said=said,
            overruled=frozenset(name for name in options if is_said(options[name])),
        )

    @classmethod
    def over(cls, frame: Any, schema: Schema, **asked: Any) -> Self:
        """Make a run over a frame, and refuse what is none, be it the place of a table."""
        if frame is None or reads_files(frame):
            take_frame(frame)
        return cls(table=frame, schema=schema, **asked)

    @classmethod
    def load(cls, path: str | Path, **options: Any) -> Self:
        """Make a run of a schema file; options overrule what it says."""
        return cls.of(checked_settings(path), **options)

    @cached_property
    def asked(self) -> list[Requirement]:
        """What must hold, read and resolved."""
        return requirements(self.require, *self.schema.protected)

    def check(self) -> None:
        """Raise whatever can be known to be wrong before any work is done."""
        if self.output is not None:
            self.check_places()
        self._check_asked()

    def check_places(self) -> None:
        """Raise where what is written could not be written in the end."""
        check_places(self)

    def _check_asked(self) -> None:
        check_key(self.schema.pseudonymize, self.key)
        check_title(self.title)
        check_threshold(self.threshold)
        check_population(self.asked, given=self.population is not None)
        check_form(self.form, self.asked, self.schema, keep_other=self.keep_other)
        check_linked(self)
        choose_method(self.method, self.asked)
        read_share(self.suppress)
        check_budget(self.seconds)
        Randomness(self.seed)
        if isinstance(engine_of(self.engine), Spark):
            from shoal.runs.spread import check_spread

            check_spread(self)

    def frame(self, progress: Progress = silent, *, lean: bool = False) -> Any:
        """Return the table of the run, read where it is named by places."""
        if self.table is None or (reads_files(self.table) and not self.table):
            msg = "No table was named: give one, or a schema file that names it."
            raise UsageError(msg)
        if not reads_files(self.table):
            return self.table
        how: dict[str, Any] = {
            "query": self.query,
            "sheet": self.sheet,
            "delimiter": self.delimiter,
            "encoding": self.encoding,
        }
        if not lean:
            return read_table(self.table, **how)
        wanted = self._wanted if self.schema.persons else AlsoPeople(self._wanted)
        return read_lean(self.table, **how, wanted=wanted, progress=progress)

    @property
    def _wanted(self) -> list[str]:
        """The columns whose cells are needed."""
        wanted = [*self.schema.published, *self.schema.pseudonymize, *self.schema.persons]
        return [*wanted, *(self.schema.identifying if self.history is not None else ())]

    def settled(self, table: pl.DataFrame) -> tuple[pl.DataFrame, Self]:
        """Return a table rounded and cut off, and the run with what the table has decided."""
        table, schema = settle(table, self.schema)
        return table, replace(self, schema=schema)

    def coded(self, table: pl.DataFrame, progress: Progress = silent) -> Coded:
        """Code a table for what is asked of it."""
        asked = asked_of(self.asked)
        return code_table(table, self.schema, missing=self.missing, asked=asked, progress=progress)

    def prepare(self, table: pl.DataFrame, progress: Progress = silent) -> Prepared:
        """Return what is to be searched for: the one place where a task is made."""
        everybody = self._everybody()
        self.schema.check_quasi()
        known = as_settled(everybody, self.schema)
        linked = self._linked(table.columns)
        coded, people = code_both(
            known, self.with_linked(self.coded(table, progress), table, linked)
        )
        budget = check_budget(self.seconds)
        orders = Randomness(self.seed).permutations
        asked = tuple(self.asked)
        task = Task(coded, asked, progress, budget, people, orders=orders, enough=self.enough)
        return Prepared(task, everybody, linked)

    def _linked(self, columns: Sequence[str]) -> dict[str, LinkedTable]:
        """Read the linked tables, and round and cut off their numbers."""
        found = {}
        for name, schema in self.schema.linked.items():
            given = self.linked[name]
            if reads_files(given):
                bare = [
                    one.removeprefix(f"{name}.") for one in (*schema.published, *schema.persons)
                ]
                given = Handed(read_lean(given, encoding=self.encoding, wanted=bare))
            table = under_both_names(take_frame(given), name)
            check_columns(name, table, schema, columns)
            found[name] = LinkedTable(*settle(table, schema), given)
        return found

    def with_linked(
        self,
        coded: Coded,
        table: pl.DataFrame,
        linked: Mapping[str, LinkedTable] | None = None,
    ) -> Coded:
        """Code linked tables, which are read where they are not given, beside the first."""
        linked = self._linked(table.columns) if linked is None else linked
        asked = asked_of(self.asked)
        rows = tuple(
            code_linked(
                name, one, table[str(self.schema.person)], coded, missing=self.missing, asked=asked
            )
            for name, one in linked.items()
        )
        return replace(coded, linked=rows) if rows else coded

    def _everybody(self) -> pl.DataFrame | None:
        """Read the population where a requirement is about one."""
        check_population(self.asked, given=self.population is not None)
        if not any(one.principle.population for one in self.asked):
            return None
        people = self.population
        return read_table(people) if isinstance(people, str | Path) else take_frame(people)

    def chosen(self, task: Task) -> Method:
        """Return the method of the run, which can search for what is required, or raise."""
        method = self.method
        if method is None:
            chosen = method_for(as_people(task), self.seed)
        else:
            chosen = choose_method(method, self.asked)
        check_method(chosen, task)
        check_form(
            self.form,
            self.asked,
            self.schema,
            grouped=chosen.grouped,
            keep_other=self.keep_other,
        )
        columns_of(self.form, self.schema, task.coded)
        return chosen

    def ready(self, frame: Any) -> tuple[Task, Method]:
        """Return what would be searched for and how, or raise as a search would at once."""
        table, run = self.settled(take_frame(frame))
        task = run.prepare(table).task
        chosen = run.chosen(task)
        if task.coded.people is not None:
            return check_people(task, chosen), chosen
        check_task(task)
        check_least_risk(task)
        return task, chosen

    def rehearse(self, progress: Progress = silent, tell: Tell = unheard) -> dict[str, Any]:
        """Say what would be done, and raise as `go` would; only samples are searched."""
        self._check_asked()
        if self.ledger is not None:
            from shoal.runs.republish import foresee

            return foresee(self, progress)
        engine = engine_of(self.engine)
        if isinstance(engine, Spark):
            from shoal.runs.spread import rehearse_spread

            return rehearse_spread(self, engine, progress, tell)
        task, chosen = self.ready(self._read(progress, tell))
        search = search_seconds(chosen, task, clock=time.perf_counter)
        if task.seconds is not None and type(chosen).refine is not Method.refine:
            search = task.seconds  # what the search leaves of them is spent on losing less
        return {
            "rows": len(task.coded),
            "roles": {role: list(getattr(self.schema, role)) for role in ROLES},
            "require": [
                {
                    "principle": repr(one),
                    "achievable": True,
                    "largest_m": largest_share(value.columns[0], one.principle)
                    if isinstance(one.principle, OneDimensional)
                    and value is not None
                    and value.sets is None
                    else None,
                }
                for one, value in zip(task.requirements, task.values, strict=True)
            ],
            "method": repr(chosen),
            "seconds": round(whole_run(search, len(task.coded)), 1),
        }

    def _read(self, progress: Progress, tell: Tell) -> Any:
        """Return the table, its columns being those that the schema names."""
        frame = self.frame(progress, lean=True)
        if reads_files(self.table):
            self.check_header(frame.columns)
            for remark in about_columns(frame.columns, self.schema):
                tell(remark)
            for remark in about_whom(frame, self.schema):
                tell(remark)
            spare = [name for name in frame.columns if name not in self._wanted]
            frame = without_cells(frame, spare)
        return frame

    def check_header(self, columns: list[str]) -> None:
        """Raise where a table that is read lacks a column that was named."""
        self.said.check_columns(
            columns,
            [role for role in ROLES if role not in self.overruled],
            [f"{name}." for name in self.linked],
        )
        self.schema.check(columns)

    def release(self, progress: Progress = silent, tell: Tell = unheard) -> Release:
        """Read, search and recode; nothing is written, or by Spark where it is its own alone."""
        self._check_asked()
        engine = engine_of(self.engine)
        if isinstance(engine, Spark):
            from shoal.runs.spread import spread_release

            return cast("Release", spread_release(self, engine, progress, tell))
        return self.release_here(progress, tell)

    def release_here(self, progress: Progress = silent, tell: Tell = unheard) -> Release:
        """Read, search and recode in memory."""
        times: dict[str, float] = {}
        given = self.table
        if reads_files(given) or given is None:
            with timed(times, "read", progress):
                given = Handed(self._read(progress, tell))
        table = take_frame(given)
        with timed(times, "code", progress):
            table, run = self.settled(table)
            prepared = run.prepare(table, progress)
            table = pseudonymize(table, self.schema.pseudonymize, self.key)
            table = without_cells(table, self.schema.quasi)  # their ranks are enough from here on
        task = prepared.task
        chosen = self.chosen(task)
        share = read_share(self.suppress)
        if task.coded.people is None:
            check_least_risk(task, gone=int(len(task.coded) * share))
        with timed(times, "search", progress):
            first = chosen
            chosen, (task, found, suppression) = self._solve(task, first, share)
        with timed(times, "recode", progress):
            release = build_release(
                table,
                replace(run.schema, linked={n: one.schema for n, one in prepared.linked.items()}),
                task,
                found,
                suppression=suppression,
                method=chosen,
                randomness=Randomness(self.seed),
                escape_formulas=self.escape_formulas,
                given=given,
                population=prepared.everybody,
                title=self.title,
                form=self.form,
                linked=prepared.linked,
                progress=progress,
            )
        release.manifest["seconds"] = times
        for name in REPEATED:
            release.settings[name] = getattr(self, name)
        changed = what_changed(prepared.task.coded, task.coded)
        if chosen != first:
            release.settings["instead_of"] = repr(first)
        release.settings.update(columns_in=table.width, changed=changed)
        return Release.of(release)

    def _solve(
        self, task: Task, chosen: Method, share: Fraction
    ) -> tuple[Method, tuple[Task, Found, Suppression]]:
        """Search by the method; within a time budget, where nobody named it, by others too."""
        engine = choose_engine(self.engine)
        if task.seconds is None or self.method is not None:
            return chosen, engine.solve(task, chosen, share)
        return best_within(engine, task, chosen, share)

    def compare(self, **options: Any) -> Comparison:
        """Publish by several methods, in memory, and measure each (see `shoal.compare`)."""
        from shoal.runs.compare import compared

        return compared(self, **options)

    def tune(self, **options: Any) -> Frontier:
        """Search under requirements that differ in one parameter (see `shoal.tune`)."""
        from shoal.runs.tune import tuned

        return tuned(self, **options)

    def plan(self, **options: Any) -> Any:
        """Say what is achievable (see `shoal.plan`)."""
        from shoal.runs.plan import planned

        return planned(self, **options)

    def go(self, progress: Progress = silent, tell: Tell = unheard) -> Outcome:
        """Read, search, write and audit; `tell` hears every remark as soon as it is known."""
        said: list[Remark] = []

        def remark(one: Remark) -> None:
            said.append(one)
            tell(one)

        self.check_places()
        self._check_asked()
        target = str(self.output)
        if self.trials or self.owner_report is not None:
            from shoal.views.charts.base import warm_up

            warm_up()
        release, audit = self._publish(progress, remark)
        if self.owner_report is not None:
            release.owner_report(
                self.owner_report, threshold=self.threshold, force=self.force, progress=progress
            )
        named, escaped = self.method is not None, self.escape_formulas
        for sentence in audit.remarks:
            remark(Remark(sentence, warning=True))
        for one in release.remarks(named=named, escaped=escaped, seed=self.seed):
            remark(one)
        public = () if is_outlet(target) else sorted(Path(target).iterdir())
        private = [Path(one) for one in (self.linkage, self.owner_report) if one is not None]
        return Outcome(release, audit, tuple(said), (*public, *private), name_of(target))

    def _publish(self, progress: Progress, tell: Tell) -> tuple[Release, Audit]:
        """Make and write the release, and remember it where there is a history."""
        engine = engine_of(self.engine)
        if isinstance(engine, Spark):
            from shoal.runs.spread import written_spread

            spread, audit = written_spread(self, engine, progress, tell)
            return cast("Release", spread), audit  # with the same verbs
        if self.history is None:
            return self.written(progress, tell)
        from shoal.runs.history import History

        frame = self._read(progress, tell)
        history = History(self.history, take_frame(frame), self.schema, self.ledger)

        def warn(release: Release) -> None:
            for said in history.warnings(release.linkage):
                tell(Remark(said, warning=True))

        release, audit = replace(self, table=frame).written(progress, tell, warn)
        history.add(release.linkage, release.manifest["require"], name_of(str(self.output)))
        return release, audit

    def written(
        self, progress: Progress, tell: Tell, made: Callable[[Release], None] = lambda _: None
    ) -> tuple[Release, Audit]:
        """Make and write the release; `made` sees it before it appears."""
        if self.ledger is not None:
            from shoal.runs.republish import republish

            return republish(self, progress, tell, made)
        release = self.release_here(progress, tell)
        made(release)
        return release, release.write(
            str(self.output),
            format=self.format or "csv",
            linkage=self.linkage,
            force=self.force,
            threshold=self.threshold,
            trials=self.trials,
            progress=progress,
        )


# What a release remembers of its run beside schema, requirements and method: no places.
REPEATED = [
    "missing",
    "suppress",
    "seconds",
    "escape_formulas",
    "delimiter",
    "encoding",
    "format",
    "form",
    "keep_other",
]


def engine_of(engine: Engine | str | None) -> Engine:
    """Return the engine asked for, in Python or in the notation: this machine, if none is."""
    chosen = Engine.read(engine) if isinstance(engine, str) else engine or Local()
    if not isinstance(chosen, Engine):
        msg = f"{chosen!r} is not an engine, as Local() or Spark() are."
        raise UsageError(msg)
    return chosen


def choose_engine(engine: Engine | str | None) -> Local:
    """Return the engine asked for, which has to work on a table in memory."""
    chosen = engine_of(engine)
    if not isinstance(chosen, Local):
        msg = f"{chosen!r} is not an engine that works on a table in memory."
        raise UsageError(msg)
    return chosen


@contextmanager
def timed(seconds: dict[str, float], phase: str, progress: Progress) -> Iterator[None]:
    """Note how long a phase takes and report its beginning and end."""
    start = time.perf_counter()
    progress(phase, 0.0)
    yield
    progress(phase, 1.0)
    seconds[phase] = round(time.perf_counter() - start, 3)


def load(path: str | Path, **options: Any) -> Run:
    """Make a run of a schema file; options, named as its keys are, overrule what it says.

    `shoal.load("shoal.toml").go()` does what `shoal anonymize` does with the file.
    """
    return Run.load(path, **options)
