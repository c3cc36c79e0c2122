"""What is achievable on a table: which width and share, or what is known of any requirement."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from shoal.engines.choice import engine_of
from shoal.engines.spark import Spark
from shoal.errors import UsageError
from shoal.principles.planning import plan_column, plan_requirement
from shoal.principles.proximity import EpsilonM
from shoal.principles.requirement import requirements
from shoal.runs.preparing import with_linked
from shoal.runs.run import Run
from shoal.table.people import CodedPeople
from shoal.table.reading import take_frame
from shoal.table.schema import LABELS
from shoal.wording import option

if TYPE_CHECKING:
    from shoal.engines.base import Engine
    from shoal.principles.guarantee import Guarantee
    from shoal.principles.outlook import Outlook
    from shoal.principles.planning import Plan
    from shoal.principles.requirement import Require, Requirement
    from shoal.table.coded import Coded
    from shoal.table.missing import Missing
    from shoal.table.schema import Schema


@overload
def plan(
    frame: Any,
    schema: Schema,
    *,
    epsilon: float | None = None,
    m: int | None = None,
    relative: bool = False,
    require: None = None,
    missing: Missing = "error",
    engine: Engine | str | None = None,
) -> Plan: ...


@overload
def plan(
    frame: Any,
    schema: Schema,
    *,
    require: Require,
    missing: Missing = "error",
    engine: Engine | str | None = None,
) -> Guarantee | Outlook: ...


def plan(
    frame: Any,
    schema: Schema,
    *,
    epsilon: float | None = None,
    m: int | None = None,
    relative: bool = False,
    require: Require | None = None,
    missing: Missing = "error",
    engine: Engine | str | None = None,
) -> Plan | Guarantee | Outlook:
    """Say what is achievable on a table, counted by `engine` where it is a frame of Spark.

    For one numeric sensitive column, which (ε,m): both given, whether they are; ε given, the
    largest m; m given, the bound that ε must stay strictly under; neither, the whole frontier.
    With `require=…`, what is known about any requirement: whether it is achievable, and how far its
    parameters can go; for `Dissimilarity`, what theorems say.

    Examples
    --------
    >>> import polars, shoal
    >>> salaries = [1000, 1010, 1020, 16000, 24000, 31000, 33000, 50000]
    >>> table = polars.DataFrame({"salary": salaries})
    >>> shoal.plan(table, shoal.Schema(sensitive="salary"), m=3).epsilon_bound
    20
    """
    run = Run.over(frame, schema, missing=missing, engine=engine)
    return planned(run, epsilon=epsilon, m=m, relative=relative, require=require)


def planned(
    run: Run,
    *,
    epsilon: float | None = None,
    m: int | None = None,
    relative: bool = False,
    require: Require | None = None,
) -> Plan | Guarantee | Outlook:
    """Say which widths and shares are achievable on the table of a run, or what is known else."""
    schema = run.schema
    engine = engine_of(run.engine)
    if isinstance(engine, Spark):
        return _planned_there(run, engine, epsilon, m, require, relative=relative)
    if require is not None:
        coded, asked = coded_for(run, require)
        value = coded.value(asked.columns) if asked.columns else None
        if value is not None and value.sets is not None:
            raise UsageError(SEVERAL)
        return plan_requirement(asked.principle, value, len(coded))
    name = _one_column(schema)
    coded, _ = coded_for(run, EpsilonM(epsilon=0, m=1))
    value = coded.value((name,))
    if value.sets is not None:
        raise UsageError(SEVERAL)
    return plan_column(value.column, epsilon=epsilon, m=m, relative=relative)


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
) -> Plan | Guarantee | Outlook:
    """Plan for a table that Spark counts; whatever is asked, distinct values and counts tell it."""
    from shoal.runs.spread import counted_values

    if require is None:
        _one_column(run.schema)
        value, _ = counted_values(run, engine, EpsilonM(epsilon=0, m=1))
        assert value is not None
        return plan_column(value.columns[0], epsilon=epsilon, m=m, relative=relative)
    (asked,) = requirements(require, run.schema.sensitive)
    value, rows = counted_values(run, engine, require)
    if value is not None and value.columns[0].times is not None:
        times = value.columns[0].times  # principles look at rows: their codes are put down
        columns = tuple(
            replace(one, codes=np.repeat(one.codes, times), times=None) for one in value.columns
        )
        value = replace(value, columns=columns, codes=np.repeat(value.codes, times))
    return plan_requirement(asked.principle, value, rows)


SEVERAL = (
    "A plan is about one value a person, and some people have several: what is known before a "
    f"search is then necessary only. Rehearse the release instead: {option('dry_run', 'True')}."
)


def coded_for(run: Run, require: Require) -> tuple[Coded, Requirement]:
    """Code the columns that a requirement is about, and no others: a plan needs no more."""
    (asked,) = requirements(require, *run.schema.protected)
    table = take_frame(run.frame())
    run.schema.only("sensitive").check(table.columns)
    schema = run.schema.only("sensitive", "person", among=asked.columns)
    linked = {name: run.linked[name] for name in schema.linked}
    table, settled = replace(run, schema=schema, require=asked, linked=linked).settled(table)
    coded = with_linked(settled, settled.coded(table), table)
    return coded if coded.people is None else _people(coded), asked


def _people(coded: Coded) -> Coded:
    """Return the people of a table, who all have the same number of rows."""
    assert coded.people is not None
    if coded.rows_known and len(np.unique(np.bincount(coded.people))) > 1:
        msg = (
            "People have different numbers of rows, and those with each number are searched by "
            f"themselves. Rehearse the release instead: {option('dry_run', 'True')}."
        )
        raise UsageError(msg)
    return CodedPeople.of(coded)
