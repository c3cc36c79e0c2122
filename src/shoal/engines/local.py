"""The whole way of the data on one machine: code, search, recode."""

from __future__ import annotations

import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.engines.choice import choose_method, method_for
from shoal.engines.suppression import read_share, search_within
from shoal.errors import NotAchievable, UsageError
from shoal.guarantee import least_risk
from shoal.methods.base import Method, Task
from shoal.planning import check_achievable, largest_share
from shoal.principles.base import OneDimensional
from shoal.principles.dissimilarity import Dissimilarity
from shoal.principles.groups import upward
from shoal.principles.population import check_population
from shoal.principles.requirement import Require, requirements
from shoal.progress import Progress, silent
from shoal.release.randomness import Randomness
from shoal.release.release import Release, build_release
from shoal.schema.coding import code_column, quantity
from shoal.schema.columns import without_cells
from shoal.schema.io import read_table, take_frame
from shoal.schema.people import code_people
from shoal.schema.pseudonyms import check_key, pseudonymize
from shoal.schema.table import Coded, code_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import polars as pl

    from shoal.principles.requirement import Requirement
    from shoal.schema.missing import Missing
    from shoal.schema.roles import Schema


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
    escape_formulas: bool = False,
    key: bytes | None = None,
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
    escape_formulas : put an apostrophe before text cells that a spreadsheet would run.
    key : the secret of at least 16 bytes that pseudonyms are made with; it is kept nowhere.
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
    table = take_frame(frame)
    asked = requirements(require, schema.sensitive)
    everybody = take_population(population, asked)
    times: dict[str, float] = {}
    with timed(times, "code", progress):
        coded = code_table(table, schema, missing=missing, progress=progress)
        coded = numeric_columns(coded, table, asked, schema)
        people = None if everybody is None else code_people(everybody, coded)
        table = pseudonymize(table, schema.pseudonymize, key)
        table = without_cells(table, schema.quasi)  # their ranks are enough from here on
    chance = Randomness(seed)
    task = Task(
        coded, tuple(asked), progress, check_budget(seconds), people, orders=chance.permutations
    )
    chosen = method_for(task) if method is None else choose_method(method, asked)
    chosen.check(task)
    share = read_share(suppress)
    check_least_risk(task, gone=int(len(coded) * share))
    with timed(times, "search", progress):
        task, found, suppression = search_within(chosen, task, check_task, share)
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
            progress=progress,
        )
    release.manifest["seconds"] = times
    return release


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
    """See to it that columns under numeric principles are numeric, or say which cells are not."""
    table, types = schema.read_numbers(table, "sensitive"), schema.types
    needed = {name for one in asked if one.principle.needs_numbers for name in one.columns}
    return Coded(
        coded.quasi,
        tuple(
            code_column(table[column.name][coded.rows], kind=quantity(types.get(column.name)))
            if column.name in needed and not column.numeric
            else column
            for column in coded.sensitive
        ),
        coded.rows,
        coded.weights,
    )


def check_task(task: Task) -> None:
    """Raise where a requirement cannot hold on this table, before anything is searched."""
    rows = len(task.coded)
    for one, value in zip(task.requirements, task.values, strict=True):
        if rows < one.principle.least:
            msg = (
                f"{one.principle!r} needs groups of at least {one.principle.least} rows, "
                f"and the table has {rows}."
            )
            raise NotAchievable(msg)
        if isinstance(one.principle, OneDimensional) and value is not None:
            check_achievable(one.principle, value.columns[0])
        elif value is not None and (few := int(one.principle.surplus(value).sum())):
            msg = (
                f"{one!r} is not achievable on these {rows} rows: too many of them carry the same "
                f"{value.name} or near ones. At least {few} rows ({few / rows:.2%}) would have to "
                "be left out; --suppress says how many may be."
            )
            raise NotAchievable(msg)


def check_least_risk(task: Task, *, gone: int = 0) -> None:
    """Raise where every grouping is known to have a larger risk than a dissimilarity allows.

    `gone` rows may be left out, which all might be near to one another.
    """
    few = f", whichever {gone} are left out" if gone else ""
    for one, value in zip(task.requirements, task.values, strict=True):
        principle = one.principle
        if not isinstance(principle, Dissimilarity) or value is None:
            continue
        if principle.bound == 1 or len(task.coded) < principle.least:
            continue  # anything goes, or there are too few rows, which is another matter
        least = least_risk(principle.relation(value), value, principle.least, gone=gone)
        if least > principle.bound:
            msg = (
                f"{principle!r} is not achievable on these {len(task.coded)} rows{few}: so many "
                f"values of {value.name} are near to one another that every grouping has a risk "
                f"of at least {upward(least):.4g}. Delta can be {float(1 - least):.4g} at most."
            )
            raise NotAchievable(msg)


@contextmanager
def timed(seconds: dict[str, float], phase: str, progress: Progress) -> Iterator[None]:
    """Note how long a phase takes and report its beginning and end."""
    start = time.perf_counter()
    progress(phase, 0.0)
    yield
    progress(phase, 1.0)
    seconds[phase] = round(time.perf_counter() - start, 3)


def rehearse(
    frame: Any,
    schema: Schema,
    *,
    require: Require | Iterable[Require],
    method: Method | str | None = None,
    missing: Missing = "error",
    population: Any = None,
) -> dict[str, Any]:
    """Say what `anonymize` would do, and raise as it would, without searching."""
    table = take_frame(frame)
    asked = requirements(require, schema.sensitive)
    everybody = take_population(population, asked)
    coded = code_table(table, schema, missing=missing)
    coded = numeric_columns(coded, table, asked, schema)
    people = None if everybody is None else code_people(everybody, coded)
    task = Task(coded, tuple(asked), people=people)
    chosen = method_for(task) if method is None else choose_method(method, asked)
    chosen.check(task)
    check_task(task)
    check_least_risk(task)
    return {
        "rows": len(coded),
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
            for one, value in zip(asked, task.values, strict=True)
        ],
        "method": repr(chosen),
        "seconds": round(chosen.estimate(task), 1),
    }
