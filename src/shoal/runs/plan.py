"""What is achievable on a table: which width and share, or what is known of any requirement."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from shoal.engines.base import engine_of, is_spark
from shoal.errors import UsageError, option
from shoal.exact import upward
from shoal.principles.foresight import HELPS, Foreseen, RequirementPlan, check_odds
from shoal.principles.ordered import Point, Ranked
from shoal.principles.proximity import EpsilonM
from shoal.principles.remedies import crowd_of, left_out, remedies
from shoal.principles.requirement import read_requirement, requirements
from shoal.progress import Shown
from shoal.runs.checks import with_linked
from shoal.runs.run import Run
from shoal.table.people import by_people
from shoal.table.reading import take_frame
from shoal.table.schema import LABELS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shoal.engines.base import Engine
    from shoal.engines.spark.engine import Spark
    from shoal.principles.base import Principle
    from shoal.principles.requirement import Require, Requirement
    from shoal.table.coded import Coded
    from shoal.table.missing import Missing
    from shoal.table.schema import Schema
    from shoal.table.sensitive import Sensitive

NOTABLE = 10  # the m up to which it is told why no larger one is achievable


@dataclass(frozen=True, repr=False)
class Plan(Foreseen, Shown):
    """What is achievable for one numeric sensitive column; None where it was not asked.

    What is in the way of it, and would help, is for people; the plain values are as they were.
    """

    _brief = ("sensitive", "rows", "epsilon", "m", "achievable", "largest_m", "epsilon_bound")

    rows: int
    sensitive: str
    relative: bool
    epsilon: float | None
    m: int | None
    achievable: bool | None
    largest_m: int | None
    epsilon_bound: float | None
    frontier: tuple[Point, ...] | None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, like the JSON of the command."""
        return {name: value for name, value in super().to_dict().items() if name not in HELPS}


@overload
def plan(
    frame: Any,
    schema: Schema,
    *,
    epsilon: float | None = None,
    m: int | None = None,
    relative: bool = False,
    require: None = None,
    odds: float | None = None,
    missing: Missing = "error",
    engine: Engine | str | None = None,
) -> Plan: ...


@overload
def plan(
    frame: Any,
    schema: Schema,
    *,
    require: Require,
    odds: float | None = None,
    missing: Missing = "error",
    engine: Engine | str | None = None,
) -> RequirementPlan: ...


def plan(
    frame: Any,
    schema: Schema,
    *,
    epsilon: float | None = None,
    m: int | None = None,
    relative: bool = False,
    require: Require | None = None,
    odds: float | None = None,
    missing: Missing = "error",
    engine: Engine | str | None = None,
) -> Plan | RequirementPlan:
    """Say what is achievable on a table, counted by `engine` where it is a frame of Spark.

    For one numeric sensitive column it is about (ε,m). Given both, it says whether they are
    achievable. Given ε, it says the largest m. Given m, it says the bound that ε must stay under.
    Given neither, it lists the whole frontier. With `require=…` it says what is known about any
    requirement: whether it is achievable, and how far its parameters can go. Where people have
    several rows, these limits are necessary but may not be enough. They assume that all rows are
    published.

    With `odds=c` and an m or a requirement, take a reader for whom some rows of a group are up to c
    times as likely as others. `odds` says the highest chance of a near value for this reader, and
    which m keeps the chance as low as without odds.

    Examples
    --------
    >>> import polars, shoal
    >>> salaries = [1000, 1010, 1020, 16000, 24000, 31000, 33000, 50000]
    >>> table = polars.DataFrame({"salary": salaries})
    >>> shoal.plan(table, shoal.Schema(sensitive="salary"), m=3).epsilon_bound
    20
    """
    run = Run.over(frame, schema, missing=missing, engine=engine)
    return planned(run, epsilon=epsilon, m=m, relative=relative, require=require, odds=odds)


def planned(run: Run, *, odds: float | None = None, **asked: Any) -> Plan | RequirementPlan:
    """Say what is achievable on the table of a run, also for readers who prefer some rows."""
    if odds is None:
        return _planned(run, **asked)
    check_odds(odds)
    if asked.get("require") is not None:
        principle: Principle = read_requirement(asked["require"], run.schema.sensitive).principle
    elif asked.get("m") is not None:
        principle = EpsilonM(epsilon=asked.get("epsilon") or 0, m=asked["m"])
    else:
        msg = f"{option('odds')} needs {option('m')} or {option('require')}: what is bounded."
        raise UsageError(msg)
    return replace(_planned(run, **asked), odds=at_odds(principle, odds))


def at_odds(principle: Principle, odds: float) -> dict[str, Any]:
    """Return what a requirement bounds where some rows of a group seem more likely than others.

    `bound` is of the chance of a near value; where one in `m` rows may be near, the chance is what
    the requirement bounds without odds. Both are None for what is not pairwise.
    """
    given = check_odds(odds)
    if (pairs := principle.pairs) is None:
        return {"odds": odds, "bound": None, "m": None}
    needed = math.ceil(1 + given * (1 / pairs.listed - 1))
    return {"odds": odds, "bound": upward(pairs.at_odds(given)), "m": needed}


def _planned(
    run: Run,
    *,
    epsilon: float | None = None,
    m: int | None = None,
    relative: bool = False,
    require: Require | None = None,
) -> Plan | RequirementPlan:
    """Say which widths and shares are achievable on the table of a run, or what is known else."""
    schema = run.schema
    engine = engine_of(run.engine)
    coded_by: Callable[[Run, Require], tuple[Coded, Requirement]] = coded_for
    if is_spark(engine):
        if schema.person is None:
            return _planned_there(run, engine, epsilon, m, require, relative=relative)
        coded_by = partial(_coded_there, engine)
    if require is not None:
        coded, asked = coded_by(run, require)
        value = coded.value(asked.columns) if asked.columns else None
        if (rows := _rows_of_several(coded, value)) is not None:
            return asked.principle.outlook(value, rows, people=len(coded))
        return _planned_for(asked, value, len(coded))
    name = _one_column(schema)
    coded, _ = coded_by(run, EpsilonM(epsilon=0, m=1))
    value = coded.value((name,))
    asked_for = Widths(epsilon, m, relative)
    if (rows := _rows_of_several(coded, value)) is not None:
        return asked_for.of_people(value, rows)
    return _with_reason(asked_for.of_rows(value), value, named=schema.sensitive)


@dataclass(frozen=True)
class Widths:
    """What is asked of a numeric column: an ε, an m, both, or neither."""

    epsilon: float | None
    m: int | None
    relative: bool

    @property
    def principle(self) -> EpsilonM:
        """What is asked for as a principle, with whatever holds where it is not asked."""
        m = 1 if self.m is None else self.m
        return EpsilonM(epsilon=self.epsilon or 0, m=m, relative=self.relative)

    def of_rows(self, value: Sensitive) -> Plan:
        """Answer it for rows."""
        column = value.columns[0]
        principle, ranked = self.principle, Ranked.of(column)
        most = None if self.epsilon is None else principle.largest(value)
        asked = most is not None and self.m is not None
        achievable = principle.achievable(value, column.rows) if asked else None
        found = self._plan(ranked, column.rows, most)
        return replace(found, achievable=achievable, missing=ranked.missing or None)

    def of_people(self, value: Sensitive, rows: int) -> Plan:
        """Answer it for people who have several rows, as far as it is necessary.

        `achievable` is False where it is known not to be, and None where a search has to tell.
        """
        ranked = Ranked.of_people(value)
        most = None
        if self.epsilon is not None:
            most = ranked.members // self.principle.together(value)
        beyond = most is not None and self.m is not None and self.m > most
        found = self._plan(ranked, rows, most)
        return replace(found, achievable=False if beyond else None, people=ranked.members)

    def _plan(self, ranked: Ranked, rows: int, most: int | None) -> Plan:
        relative = self.relative
        neither = self.epsilon is None and self.m is None
        return Plan(
            rows=rows,
            sensitive=ranked.column.name,
            relative=relative,
            epsilon=self.epsilon,
            m=self.m,
            achievable=None,
            largest_m=most,
            epsilon_bound=None if self.m is None else ranked.bound(self.m, relative=relative),
            frontier=tuple(ranked.frontier(relative=relative)) if neither else None,
        )


def _planned_for(asked: Requirement, value: Sensitive | None, rows: int) -> RequirementPlan:
    """Say what is known of a requirement; where it is not achievable, why, and what is."""
    found = asked.principle.outlook(value, rows)
    if found.limits and found.achievable is False:
        return replace(found, **_in_the_way(asked, value, rows))
    return found


def _with_reason(found: Plan, value: Sensitive, named: Sequence[str]) -> Plan:
    """Add which rows are in the way where a width or a share is not achievable, and what is."""
    ends = found.frontier[-1] if found.frontier else None
    m = found.m or 2
    if ends is not None and ends.epsilon_bound == 0 and ends.m <= NOTABLE:
        m = ends.m
    elif found.achievable is not False and found.epsilon_bound != 0 and (found.largest_m or 2) > 1:
        return found
    principle = EpsilonM(epsilon=found.epsilon or 0, m=m, relative=found.relative)
    (asked,) = requirements(principle, named)
    return replace(found, **_in_the_way(asked, value, found.rows))


def _in_the_way(asked: Requirement, value: Sensitive | None, rows: int) -> dict[str, Any]:
    crowd = crowd_of(asked.principle, value)
    gone = left_out(asked.principle, value, rows)
    return {
        "reason": None if crowd is None else crowd.text,
        "remedies": tuple(repr(one.requirement) for one in remedies(asked, value, rows)),
        "suppress": None if gone is None else gone[1],
    }


def _rows_of_several(coded: Coded, value: Sensitive | None) -> int | None:
    """Return how many rows there are, where people have several and no theorem says enough.

    None for rows, for people with one value each and equally many rows, or of whom these are not
    known: they are planned for as rows are.
    """
    rows = coded.table
    counts, most = rows.person_of.sizes, rows.most_rows
    beyond = most is not None and counts.max() > most
    each = (rows.capped, *(one.capped for one in rows.linked))
    if beyond or any(one is not None and len(one) for one in each):
        raise UsageError(BY_CHANCE)
    apart = rows.rows_known and len(np.unique(counts)) > 1
    several = value is not None and value.several
    return len(rows) if apart or several else None


def _one_column(schema: Schema) -> str:
    """Return the one sensitive column that a plan is about, which has to hold numbers."""
    if len(schema.sensitive) != 1:
        msg = f"A plan is about one sensitive column, but {len(schema.sensitive)} were named."
        raise UsageError(msg)
    (name,) = schema.sensitive
    if schema.types.get(name) in LABELS:
        msg = (
            f"A plan with epsilon and m is about numbers or dates, but column {name!r} is "
            f"{schema.types[name]}. Ask for FrequencyL or AlphaK instead: `shoal tune` shows "
            "which levels are achievable."
        )
        raise UsageError(msg)
    return name


def _planned_there(
    run: Run,
    engine: Spark,
    epsilon: float | None,
    m: int | None,
    require: Require | None,
    *,
    relative: bool,
) -> Plan | RequirementPlan:
    """Plan for a table that Spark counts; whatever is asked, distinct values and counts tell it."""
    from shoal.runs.spread import counted_values

    if require is None:
        _one_column(run.schema)
        value, _ = counted_values(run, engine, EpsilonM(epsilon=0, m=1))
        assert value is not None
        found = Widths(epsilon, m, relative).of_rows(value)
        return _with_reason(found, value.each_row, named=run.schema.sensitive)
    (asked,) = requirements(require, run.schema.sensitive)
    value, rows = counted_values(run, engine, require)
    # Principles look at rows: their codes are put down.
    return _planned_for(asked, None if value is None else value.each_row, rows)


def _coded_there(engine: Spark, run: Run, require: Require) -> tuple[Coded, Requirement]:
    from shoal.runs.spread import counted_people

    return counted_people(run, engine, require)


BY_CHANCE = (
    f"Shoal draws at random which rows stay of people with more than {option('most_rows')}, so a "
    "plan does not know their values. Use a dry run of the release instead: "
    f"{option('dry_run', 'True')}."
)


def coded_for(run: Run, require: Require) -> tuple[Coded, Requirement]:
    """Code the columns that a requirement is about, and no others: a plan needs no more."""
    (asked,) = requirements(require, *run.schema.protected)
    table = take_frame(run.frame())
    run.schema.only("sensitive").check(table.columns)
    schema = run.schema.only("sensitive", "person", among=asked.columns)
    linked = {name: run.linked[name] for name in schema.linked}
    table, settled = replace(run, schema=schema, require=asked, linked=linked).with_table(table)
    coded = with_linked(settled, settled.coded(table), table)
    return by_people(coded), asked
