"""What a run works on: its tables read, coded together, and what must hold on them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.methods.base import Task
from shoal.principles.requirement import asked_of, check_population
from shoal.progress import Progress, silent
from shoal.release.layout import Randomness
from shoal.runs.checks import (
    check_budget,
    reads_files,
)
from shoal.table.columns import Handed
from shoal.table.linked import LinkedTable, check_columns, code_linked, under_both_names
from shoal.table.population import code_both
from shoal.table.reading import read_lean, read_table, take_frame
from shoal.table.settling import as_settled, settle
from shoal.table.streams import Streamed, is_stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from shoal.runs.run import Run
    from shoal.table.coded import Coded


@dataclass(frozen=True, eq=False)
class Prepared:
    """A coded table and what must hold on it, with everybody who could be in it.

    Linked tables are as they came in, rounded and cut off.
    """

    task: Task
    everybody: pl.DataFrame | None
    linked: dict[str, LinkedTable] = field(default_factory=dict)


def prepare(run: Run, table: pl.DataFrame, progress: Progress = silent) -> Prepared:
    """Return what is to be searched for: the one place where a task is made."""
    everybody = _everybody(run)
    run.schema.check_quasi()
    known = as_settled(everybody, run.schema)
    linked = _linked(run, table.columns)
    coded, people = code_both(known, with_linked(run, run.coded(table, progress), table, linked))
    budget = check_budget(run.seconds)
    orders = Randomness(run.seed).permutations
    asked = tuple(run.asked)
    heard: dict[str, Any] = {"enough": run.enough, "better": run.better}
    task = Task(coded, asked, progress, budget, people, orders=orders, **heard)
    return Prepared(task, everybody, linked)


def _linked(run: Run, columns: Sequence[str]) -> dict[str, LinkedTable]:
    """Read the linked tables, and round and cut off their numbers."""
    found = {}
    for name, schema in run.schema.linked.items():
        given = run.linked[name]
        bare = [one.removeprefix(f"{name}.") for one in (*schema.published, *schema.persons)]
        if reads_files(given):
            given = Handed(read_lean(given, encoding=run.encoding, wanted=bare))
        elif is_stream(given):
            given = Streamed(given, bare)
        table = under_both_names(take_frame(given), name)
        check_columns(name, table, schema, columns)
        found[name] = LinkedTable(*settle(table, schema), given)
    return found


def with_linked(
    run: Run,
    coded: Coded,
    table: pl.DataFrame,
    linked: Mapping[str, LinkedTable] | None = None,
) -> Coded:
    """Code linked tables, which are read where they are not given, beside the first."""
    linked = _linked(run, table.columns) if linked is None else linked
    asked = asked_of(run.asked)
    rows = tuple(
        code_linked(
            name, one, table[str(run.schema.person)], coded, missing=run.missing, asked=asked
        )
        for name, one in linked.items()
    )
    return replace(coded, linked=rows) if rows else coded


def _everybody(run: Run) -> pl.DataFrame | None:
    """Read the population where a requirement is about one."""
    check_population(run.asked, given=run.population is not None)
    if not any(one.principle.population for one in run.asked):
        return None
    people = run.population
    return read_table(people) if isinstance(people, str | Path) else take_frame(people)
