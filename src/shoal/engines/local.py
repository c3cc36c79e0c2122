"""The whole way of the data on one machine: code, search, recode."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from shoal.engines.suppression import read_share, search_within
from shoal.errors import NotAchievable, UsageError
from shoal.guarantee import least_risk
from shoal.methods.base import Method, Task
from shoal.methods.exchange import Exchange
from shoal.methods.mondrian import Mondrian
from shoal.methods.split import Split
from shoal.notation import Term
from shoal.planning import check_achievable, largest_share
from shoal.principles.base import OneDimensional, Ordered, Pairwise
from shoal.principles.dissimilarity import Dissimilarity
from shoal.principles.groups import upward
from shoal.principles.k_anonymity import KAnonymity
from shoal.principles.requirement import Require, requirements
from shoal.progress import Progress, silent
from shoal.release.randomness import Randomness
from shoal.release.release import Release, build_release
from shoal.schema.coding import code_column, quantity
from shoal.schema.columns import without_cells
from shoal.schema.io import take_frame
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
    suppress: str | float | None = None,
    seconds: float | None = None,
    seed: int | None = None,
    escape_formulas: bool = False,
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
    suppress : how much of the table may be left out where that resolves it, as "1%".
    seconds : after which a search that can go on improving stops; what was found then depends on
        the clock, and a seed no longer repeats it.
    seed : for tests only: makes the order of published rows repeatable, and so guessable.
    escape_formulas : put an apostrophe before text cells that a spreadsheet would run.
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
    table = take_frame(frame)
    asked = requirements(require, schema.sensitive)
    times: dict[str, float] = {}
    with timed(times, "code", progress):
        coded = code_table(table, schema, missing=missing, progress=progress)
        coded = numeric_columns(coded, table, asked, schema)
        table = without_cells(table, schema.quasi)  # their ranks are enough from here on
    chosen = choose_method(method, asked)
    task = Task(coded, tuple(asked), progress, _budget(seconds))
    chosen.check(task)
    share = read_share(suppress)
    if not share:
        check_least_risk(task)
    with timed(times, "search", progress):
        task, found = search_within(chosen, task, check_task, share)
    with timed(times, "recode", progress):
        release = build_release(
            table,
            schema,
            task,
            found,
            suppressed=len(coded) - len(task.coded),
            method=chosen,
            randomness=Randomness(seed),
            escape_formulas=escape_formulas,
            given=frame,
            progress=progress,
        )
    release.manifest["seconds"] = times
    return release


def _budget(seconds: float | None) -> float | None:
    if seconds is not None and not 0 < seconds < float("inf"):
        msg = f"The time budget must be a number of seconds above 0. Got {seconds!r}."
        raise UsageError(msg)
    return seconds


def choose_method(method: Method | str | None, asked: list[Requirement]) -> Method:
    """Return the method asked for, in Python or in the notation, or the best for what is asked."""
    if method is None:
        pairwise = all(isinstance(one.principle, Pairwise | KAnonymity) for one in asked)
        if pairwise:
            return Exchange()
        ordered = all(isinstance(one.principle, Ordered | KAnonymity) for one in asked)
        return Split() if ordered else Mondrian()
    if isinstance(method, str):
        return Method.read(method)
    if not isinstance(method, Method):
        name = repr(method) if isinstance(method, Term) else type(method).__name__
        msg = f"{name} is not a method."
        raise UsageError(msg)
    return method


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


def check_least_risk(task: Task) -> None:
    """Raise where every grouping is known to have a larger risk than a dissimilarity allows."""
    for one, value in zip(task.requirements, task.values, strict=True):
        principle = one.principle
        if not isinstance(principle, Dissimilarity) or value is None:
            continue
        if principle.bound == 1 or len(task.coded) < principle.least:
            continue  # anything goes, or there are too few rows, which is another matter
        least = least_risk(principle.relation(value), value, principle.least)
        if least > principle.bound:
            msg = (
                f"{principle!r} is not achievable on these {len(task.coded)} rows: so many values "
                f"of {value.name} are near to one another that every grouping has a risk of at "
                f"least {upward(least):.4g}. Delta can be {float(1 - least):.4g} at most."
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
) -> dict[str, Any]:
    """Say what `anonymize` would do, and raise as it would, without searching."""
    table = take_frame(frame)
    asked = requirements(require, schema.sensitive)
    coded = code_table(table, schema, missing=missing)
    coded = numeric_columns(coded, table, asked, schema)
    task = Task(coded, tuple(asked))
    chosen = choose_method(method, asked)
    chosen.check(task)
    check_task(task)
    check_least_risk(task)
    return {
        "rows": len(coded),
        "roles": {
            role: list(getattr(schema, role))
            for role in ("quasi", "sensitive", "identifying", "other")
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
