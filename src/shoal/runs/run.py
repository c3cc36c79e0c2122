"""Everything asked for at once, before anything is done: checked, rehearsed, then done.

A run is made from a schema file, from options or from Python arguments; every view makes one and
shows its outcome.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from shoal.ask.ask import Ask
from shoal.ask.fields import AboutRun
from shoal.ask.options import READING, is_said, options_of
from shoal.audit.identification import check_threshold
from shoal.engines.base import engine_of, is_spark
from shoal.exact import read_share
from shoal.names import Renamed
from shoal.principles.requirement import asked_of, check_population, requirements
from shoal.progress import Better, Brief, Enough, Progress, never, silent, untold
from shoal.release.building import columns_of
from shoal.release.forms import check_form
from shoal.release.layout import Randomness
from shoal.release.statement import check_context, check_title
from shoal.runs.checks import (
    Prepared,
    check_alone,
    check_budget,
    check_cells,
    check_linked,
    check_named,
    check_places,
    check_trials,
    checked,
    prepare,
    reads_files,
)
from shoal.runs.refusing import check_columns, check_percentiles, offered_rows
from shoal.runs.remarks import AlsoPeople, Tell, about_columns, about_whom, unheard
from shoal.table.coded import code_table
from shoal.table.columns import without_cells
from shoal.table.grid import REGIONS
from shoal.table.reading import read_lean, read_table, take_frame
from shoal.table.schema import Schema
from shoal.table.settings import ROLES, Settings, read_settings
from shoal.table.settling import settle

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import polars as pl

    from shoal.methods.base import Method, Task
    from shoal.principles.requirement import Requirement
    from shoal.runs.compare import Comparison
    from shoal.runs.doing import Outcome
    from shoal.runs.release import Release
    from shoal.runs.tune import Frontier
    from shoal.table.coded import Coded


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Run(Brief, Renamed, AboutRun):
    """Everything asked for at once (see `anonymize` for what each part means).

    `table` is a frame, or the places of a table, which is then read by `query`, `sheet`,
    `delimiter` and `encoding`.

    Examples
    --------
    >>> import polars
    >>> people = polars.DataFrame({"age": [17, 19, 20, 24], "salary": [1000, 1500, 9000, 9900]})
    >>> schema = Schema(quasi="age", sensitive="salary")
    >>> run = Run(table=people, schema=schema, require="EpsilonM(epsilon=100, m=2)")
    >>> run.rehearse()["method"]
    'Exchange()'
    """

    _brief = ("require", "method", "form", "output")
    asks: ClassVar[type[Ask]] = Ask
    table: Any = None
    schema: Schema = field(default_factory=Schema)
    linked: Mapping[str, Any] = field(default_factory=dict)
    key: bytes | None = field(default=None, repr=False)
    # Asked by a search that has found something: whether to keep the best so far.
    enough: Enough = field(default=never, repr=False)
    better: Better = field(default=untold, repr=False)
    # The schema file, and the roles that options took from it.
    said: Settings = field(default_factory=Settings, repr=False)
    # Where it was drawn before the numbers were cut off which rows of a person are published.
    offered: pl.Series | None = field(default=None, repr=False)
    overruled: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Take what is usual where nothing is said; find the columns of linked tables."""
        for name, option in options_of(type(self)).items():
            if getattr(self, name) is None:
                usual = option.empty if option.usual is None else option.usual
                object.__setattr__(self, name, usual)
        object.__setattr__(self, "linked", self.linked or {})
        if self.linked:
            from shoal.table.linked import parted

            object.__setattr__(self, "schema", parted(self.schema, self.linked))

    @classmethod
    def of(
        cls,
        asked: Settings | Ask | None = None,
        *,
        key_file: str | Path | None = None,
        **options: Any,
    ) -> Self:
        """Make a run of what a schema file asks for, and of options, which overrule it.

        Options are the fields of a run and the parameters of a schema. None and False are ignored.
        """
        if isinstance(asked, Ask):
            asked = checked(Settings(asked))
        said = Settings(cls.asks()) if asked is None else asked
        given = {name: value for name, value in options.items() if is_said(value)}
        own = {one.name for one in fields(cls)} - {"said", "schema", "offered", "overruled"}
        of_file = {name: getattr(said.ask, name) for name in options_of(cls.asks) if name in own}
        if "context" in given:
            given["context"] = {**said.ask.context, **given["context"]}
        schema = said.schema(**{name: given.pop(name) for name in set(given) - own})
        return cls(
            **{name: value for name, value in of_file.items() if is_said(value)} | given,
            schema=schema,
            key=_key(schema, key_file),
            said=said,
            overruled=frozenset(name for name in options if is_said(options[name])),
        )

    @classmethod
    def of_ask(cls, ask: Ask) -> Self:
        """Make a run of what was asked, with the schema file that it names."""
        given = {name: getattr(ask, name) for name in options_of(type(ask)) if name != "schema"}
        return cls.load(ask.schema, **given) if ask.schema else cls.of(**given)

    @classmethod
    def over(cls, frame: Any, schema: Schema, **asked: Any) -> Self:
        """Make a run over a frame, and refuse what is none, be it the place of a table."""
        if frame is None or reads_files(frame):
            take_frame(frame)
        return cls(table=frame, schema=schema, **asked)

    @classmethod
    def load(cls, path: str | Path, *, text: str | None = None, **options: Any) -> Self:
        """Make a run of a schema file, or of its text. Options overrule it."""
        return cls.of(checked(read_settings(path, cls.asks, text)), **options)

    @cached_property
    def requirements(self) -> list[Requirement]:
        """What must hold, read and resolved."""
        return requirements(self.require, *self.schema.protected)

    def check(self) -> None:
        """Raise what is wrong with the request, before any work is done."""
        if self.output is not None:
            self.check_places()
        self.check_asked()

    def check_places(self) -> None:
        """Raise where what is written could not be written in the end."""
        check_places(self)

    def check_asked(self) -> None:
        """Raise what is wrong with what is asked, wherever it would be written."""
        from shoal.methods.choice import choose_method

        if self.schema.pseudonymize or self.key is not None:
            from shoal.table.pseudonyms import check_key

            check_key(self.schema.pseudonymize, self.key)
        check_title(self.title)
        check_context(self.context)
        check_threshold(self.threshold)
        check_trials(self)
        check_population(self.requirements, given=self.population is not None)
        check_form(self.form, self.requirements, self.schema, keep_other=self.keep_other)
        check_linked(self)
        check_alone(self)
        check_cells(self)
        if self.hold_out is not None or self.hold_out_file is not None:
            from shoal.runs.holding import check_hold_out

            check_hold_out(self)
        choose_method(self.method, self.requirements)
        read_share(self.suppress)
        check_percentiles(self)
        check_budget(self.seconds)
        Randomness(self.seed)
        if is_spark(engine_of(self.engine)):
            from shoal.runs.spread_checks import check_spread

            check_spread(self)

    def frame(self, progress: Progress = silent, *, lean: bool = False) -> Any:
        """Return the table of the run, read where it is named by places."""
        check_named(self.table)
        if not reads_files(self.table):
            return self.table
        known = options_of(self.asks).items()
        how = {name: getattr(self, name) for name, one in known if one.panel == READING}
        if not lean:
            return read_table(self.table, **how)
        wanted = self.wanted
        if not self.schema.persons:
            wanted = AlsoPeople([*wanted, *self.schema.identifying])
        return read_lean(self.table, **how, wanted=wanted, progress=progress)

    @property
    def wanted(self) -> list[str]:
        """The columns whose cells are needed."""
        wanted = [*self.schema.published, *self.schema.pseudonymize, *self.schema.persons]
        return [*wanted, *(self.schema.identifying if self.history is not None else ())]

    def with_table(self, table: pl.DataFrame) -> tuple[pl.DataFrame, Self]:
        """Return a table rounded and cut off, and the run with what the table has decided."""
        stays = offered_rows(self, table)
        table, schema = settle(table, self.schema, stays)
        return table, replace(self, schema=schema, offered=stays)

    def coded(self, table: pl.DataFrame, progress: Progress = silent) -> Coded:
        """Code a table for what is asked of it."""
        coded = code_table(
            table,
            self.schema,
            missing=self.missing,
            asked=asked_of(self.requirements),
            offered=self.offered,
            progress=progress,
        )
        coded = replace(coded, cells=self.cells)
        if self.cells == REGIONS:
            return coded
        return replace(coded, quasi=tuple(replace(one, step=None) for one in coded.quasi))

    def prepare(self, table: pl.DataFrame, progress: Progress = silent) -> Prepared:
        """Return what is to be searched for: the one place where a task is made."""
        return prepare(self, table, progress)

    def chosen(self, task: Task) -> Method:
        """Return the method of the run, which can search for what is required, or raise."""
        from shoal.engines.base import as_people, check_method
        from shoal.methods.choice import choose_method, method_for

        method = self.method
        if method is None:
            chosen = method_for(as_people(task), self.seed, self.form)
        else:
            chosen = choose_method(method, self.requirements)
        check_method(chosen, task)
        check_form(
            self.form,
            self.requirements,
            self.schema,
            grouped=chosen.grouped,
            keep_other=self.keep_other,
        )
        columns_of(self.form, self.schema, task.coded)
        return chosen

    def ready(self, frame: Any) -> tuple[Task, Task, Method]:
        """Return what is to be published, what of it would be searched, and how.

        The second is without rows that may be left out and have to be. Raises as a search would at
        once.
        """
        from shoal.engines.base import as_people
        from shoal.engines.local import foresee
        from shoal.methods.choice import check_least_risk

        table, run = self.with_table(take_frame(frame))
        prepared = run.prepare(table)
        task = prepared.task
        chosen = run.chosen(task)
        check_columns(run, table, prepared)
        share = read_share(self.suppress)
        left = foresee(task, chosen, share)
        check_least_risk(task, gone=int(len(task.coded) * share))
        return as_people(task), left, chosen

    def rehearse(self, progress: Progress = silent, tell: Tell = unheard) -> dict[str, Any]:
        """Say what `publish` would do, or raise what it would raise. Only samples are searched."""
        self.check_asked()
        if self.ledger is not None:
            from shoal.runs.republish import foresee_next

            return foresee_next(self, progress)
        engine = engine_of(self.engine)
        if is_spark(engine):
            from shoal.runs.spread import rehearse_spread

            return rehearse_spread(self, engine, progress, tell)
        from shoal.methods.base import Method
        from shoal.runs.estimate import search_seconds, whole_run

        frame = take_frame(self.read(progress, tell))
        if self.hold_out is not None:
            from shoal.runs.holding import hold_out

            frame = frame[hold_out(self, frame).kept]
        task, left, chosen = self.ready(frame)
        search = search_seconds(chosen, left, clock=time.perf_counter)
        if task.seconds is not None and type(chosen).refine is not Method.refine:
            search = task.seconds  # what the search leaves of them is spent on losing less
        coded = task.coded
        return {
            "rows": len(coded.table),
            "people": len(coded) if coded.table.person_of.given else None,
            "roles": {role: list(getattr(self.schema, role)) for role in ROLES},
            "require": [
                {
                    "principle": repr(one),
                    "achievable": True,
                    "largest_m": widths.largest(value)
                    if (widths := one.principle.widths) and value and not value.several
                    else None,
                }
                for one, value in zip(left.requirements, left.values, strict=True)
            ],
            "method": repr(chosen),
            "seconds": round(whole_run(search, len(task.coded)), 1),
        }

    def read(self, progress: Progress, tell: Tell) -> Any:
        """Return the table, its columns being those that the schema names."""
        frame = self.frame(progress, lean=True)
        if reads_files(self.table):
            self.check_header(frame.columns)
            for remark in about_columns(frame.columns, self.schema):
                tell(remark)
            for remark in about_whom(frame, self.schema):
                tell(remark)
            spare = [name for name in frame.columns if name not in self.wanted]
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
        """Read, search and recode, and return the release. Nothing is published."""
        from shoal.runs.doing import release_of

        return release_of(self, progress, tell)

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

    def publish(self, progress: Progress = silent, tell: Tell = unheard) -> Outcome:
        """Publish: read, search, write and audit. `tell` gets every remark at once."""
        from shoal.runs.doing import go

        return go(self, progress, tell)


def _key(schema: Schema, path: str | Path | None) -> bytes | None:
    """Return the key of pseudonyms, where there are any or a file is named."""
    if not path and not schema.pseudonymize:
        return None
    from shoal.table.pseudonyms import read_key

    return read_key(path)


def load(path: str | Path, **options: Any) -> Run:
    """Make a run of a schema file. Options have the names of its keys and overrule them.

    `shoal.load("shoal.toml").publish()` does what `shoal anonymize` does with the file.
    """
    return Run.load(path, **options)
