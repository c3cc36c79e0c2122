"""The whole way of the data on one machine: code, search, recode."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.engines.base import Engine
from shoal.engines.local import Local
from shoal.errors import UsageError
from shoal.methods.achievable import check_least_risk, check_task
from shoal.methods.base import Method, Task
from shoal.methods.choice import choose_method, method_for
from shoal.methods.suppression import read_share
from shoal.principles.base import OneDimensional
from shoal.principles.k_anonymity import check_population
from shoal.principles.planning import largest_share
from shoal.principles.requirement import Require, requirements
from shoal.progress import Progress, silent
from shoal.release.layout import Randomness
from shoal.release.release import build_release, check_title
from shoal.runs.estimate import search_seconds, whole_run
from shoal.runs.release import Release
from shoal.table.coded import Coded, code_table
from shoal.table.coding import code_column, quantity
from shoal.table.columns import without_cells
from shoal.table.missing import is_missing
from shoal.table.population import code_both
from shoal.table.pseudonyms import check_key, pseudonymize
from shoal.table.reading import read_table, take_frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import polars as pl

    from shoal.principles.requirement import Requirement
    from shoal.table.coding import Column
    from shoal.table.missing import Missing
    from shoal.table.schema import Schema


def anonymize(
    frame: Any,
    schema: Schema,
    *,
    require: Require | Iterable[Require],
    method: Method | str | None = None,
    missing: Missing = "error",
    population: Any = None,
    suppress: str | float | None = None,
    seconds: float | None = None,
    seed: int | None = None,
    engine: Engine | str | None = None,
    escape_formulas: bool = False,
    key: bytes | None = None,
    title: str | None = None,
    progress: Progress = silent,
) -> Release:
    """Publish a table so that the requirements hold in every group.

    Parameters
    ----------
    frame : a pandas, Polars or PyArrow table; it is not changed.
    schema : the roles of its columns.
    require : one principle or several, as objects or in the notation.
    method : how to search; by default the best one for what is required.
    missing : what to do about missing cells: "error", "drop" or "value".
    population : the path or frame of a table of everybody who could be in the table, with the
        quasi columns as they really are; for `KMap` and `DeltaPresence`.
    suppress : how much of the table may be left out, as "1%": the fewest rows without which the
        requirements can hold, then rows that cost the others more than they are worth.
    seconds : after which a search that can go on improving stops; what was found then depends on
        the clock, and a seed no longer repeats it.
    seed : for tests only: makes the order of published rows repeatable, and so guessable.
    engine : where the work is done, `Local()` by default.
    escape_formulas : put an apostrophe before headers, labels and cells that a spreadsheet would
        run.
    key : the secret of at least 16 bytes that pseudonyms are made with; it is kept nowhere.
    title : what the release is called in its manifest and report, public.
    progress : called with the name of a phase and the share of it that is done.

    Examples
    --------
    >>> import polars, shoal
    >>> people = polars.DataFrame({
    ...     "age": [17, 19, 20, 24, 29, 34, 39, 45],
    ...     "salary": [1000, 1010, 1020, 50000, 16000, 24000, 33000, 31000],
    ... })
    >>> schema = shoal.Schema(quasi="age", sensitive="salary")
    >>> release = shoal.anonymize(people, schema, require=shoal.EpsilonM(epsilon=100, m=2))
    >>> release.audit().holds
    True
    """
    check_key(schema.pseudonymize, key)
    check_title(title)
    where = choose_engine(engine)
    table = take_frame(frame)
    asked = requirements(require, schema.sensitive)
    everybody = take_population(population, asked)
    times: dict[str, float] = {}
    with timed(times, "code", progress):
        coded = code_table(table, schema, missing=missing, progress=progress)
        coded = numeric_columns(coded, table, asked, schema)
        coded, people = code_both(everybody, coded)
        table = pseudonymize(table, schema.pseudonymize, key)
        table = without_cells(table, schema.quasi)  # their ranks are enough from here on
    chance = Randomness(seed)
    task = Task(
        coded, tuple(asked), progress, check_budget(seconds), people, orders=chance.permutations
    )
    chosen = method_for(task, seed) if method is None else choose_method(method, asked)
    chosen.check(task)
    share = read_share(suppress)
    check_least_risk(task, gone=int(len(coded) * share))
    with timed(times, "search", progress):
        task, found, suppression = where.solve(task, chosen, share)
    with timed(times, "recode", progress):
        release = build_release(
            table,
            schema,
            task,
            found,
            suppression=suppression,
            method=chosen,
            randomness=chance,
            escape_formulas=escape_formulas,
            given=frame,
            population=everybody,
            title=title,
            progress=progress,
        )
    release.manifest["seconds"] = times
    release.settings.update(
        missing=missing, suppress=suppress, seconds=seconds, escape_formulas=escape_formulas
    )
    return Release.of(release)


def choose_engine(engine: Engine | str | None) -> Local:
    """Return the engine asked for, in Python or in the notation: this machine, if none is."""
    chosen = Engine.read(engine) if isinstance(engine, str) else engine or Local()
    if not isinstance(chosen, Local):
        msg = f"{chosen!r} is not an engine that works on a table in memory."
        raise UsageError(msg)
    return chosen


def take_population(population: Any, asked: list[Requirement]) -> pl.DataFrame | None:
    """Read the population where a requirement is about one, and raise where one lacks it."""
    check_population(asked, given=population is not None)
    if not any(one.principle.population for one in asked):
        return None
    return read_table(population) if isinstance(population, str | Path) else take_frame(population)


def check_budget(seconds: float | None) -> float | None:
    """Return a time budget that makes sense, or raise."""
    if seconds is not None and not 0 < seconds < float("inf"):
        msg = f"The time budget must be a number of seconds above 0. Got {seconds!r}."
        raise UsageError(msg)
    return seconds


def numeric_columns(
    coded: Coded, table: pl.DataFrame, asked: list[Requirement], schema: Schema
) -> Coded:
    """See to it that columns under numeric principles are numeric, or say which cells are not.

    A column of numbers with missing cells is refused where a requirement is about it, and left
    alone where none is.
    """
    table = schema.read_numbers(table, "sensitive")
    named = {name for one in asked for name in one.columns}
    numeric = {
        name
        for one in asked
        for name, number in zip(
            one.columns, one.principle.numbers_of(len(one.columns)), strict=True
        )
        if number
    }

    def strict(column: Column) -> Column:
        name = column.name
        if column.numeric or name not in named:
            return column
        cells, said = table[name][coded.rows], schema.types.get(name)
        if name in numeric:
            return code_column(cells, kind=quantity(said))
        if is_missing(cells).any():
            return code_column(cells, kind=said, order=schema.order.get(name))
        return column

    return replace(coded, sensitive=tuple(map(strict, coded.sensitive)))


@contextmanager
def timed(seconds: dict[str, float], phase: str, progress: Progress) -> Iterator[None]:
    """Note how long a phase takes and report its beginning and end."""
    start = time.perf_counter()
    progress(phase, 0.0)
    yield
    progress(phase, 1.0)
    seconds[phase] = round(time.perf_counter() - start, 3)


def prepare(
    frame: Any,
    schema: Schema,
    *,
    require: Require | Iterable[Require],
    method: Method | str | None = None,
    missing: Missing = "error",
    population: Any = None,
) -> tuple[Task, Method]:
    """Return what `anonymize` would search for and how, or raise as it would before searching."""
    table = take_frame(frame)
    asked = requirements(require, schema.sensitive)
    everybody = take_population(population, asked)
    coded = code_table(table, schema, missing=missing)
    coded = numeric_columns(coded, table, asked, schema)
    coded, people = code_both(everybody, coded)
    task = Task(coded, tuple(asked), people=people)
    chosen = method_for(task) if method is None else choose_method(method, asked)
    chosen.check(task)
    check_task(task)
    check_least_risk(task)
    return task, chosen


def rehearse(frame: Any, schema: Schema, **options: Any) -> dict[str, Any]:
    """Say what `anonymize` would do, and raise as it would; only samples are searched.

    The options are those of `prepare`.
    """
    task, chosen = prepare(frame, schema, **options)
    search = search_seconds(chosen, task)
    return {
        "rows": len(task.coded),
        "roles": {
            role: list(getattr(schema, role))
            for role in ("quasi", "sensitive", "identifying", "other", "pseudonymize")
        },
        "require": [
            {
                "principle": repr(one),
                "achievable": True,
                "largest_m": largest_share(value.columns[0], one.principle)
                if isinstance(one.principle, OneDimensional) and value is not None
                else None,
            }
            for one, value in zip(task.requirements, task.values, strict=True)
        ],
        "method": repr(chosen),
        "seconds": round(whole_run(search, len(task.coded)), 1),
    }
