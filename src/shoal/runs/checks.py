"""What can be wrong with what was asked for, found before work; then its tables."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from shoal.ask.options import options_of
from shoal.errors import UsageError, option
from shoal.exact import read_share
from shoal.principles.foresight import check_odds
from shoal.principles.requirement import asked_of, check_population, read_requirement
from shoal.progress import Progress, silent
from shoal.release.layout import Randomness
from shoal.release.places import check_format, check_output, check_private
from shoal.runs.refusing import offered_linked, offered_of
from shoal.table.column import hierarchy_of
from shoal.table.columns import Handed
from shoal.table.databases.access import is_outlet
from shoal.table.files import FORMATS
from shoal.table.forms import TWO_TABLES
from shoal.table.grid import KINDS_OF_CELLS, REGIONS
from shoal.table.reading import find_files, read_lean, read_table, take_frame
from shoal.table.schema import Schema
from shoal.table.settings import Settings, faults_of
from shoal.table.settling import as_settled, settle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from shoal.methods.base import Task
    from shoal.runs.run import Run
    from shoal.table.coded import Coded
    from shoal.table.linked import LinkedTable


def checked(said: Settings) -> Settings:
    """Check what is asked in the notation, naming the line and key of a schema file."""
    ask = said.ask
    for problem in () if said.file else (*ask.check(), *faults_of(ask)):
        raise problem.error(options_of(type(ask))[problem.field])
    for place, text in enumerate(cast("Sequence[str]", ask.require)):
        with said.blame("require"), said.blame("require", place):
            read_requirement(text, ask.sensitive)
    with said.blame("method"):
        if ask.method is not None:
            from shoal.methods.base import Method

            Method.read(str(ask.method))
    with said.blame("suppress"):
        read_share(ask.suppress)
    with said.blame("odds"):
        check_odds(1 if ask.odds is None else ask.odds)
    with said.blame("format"):
        check_format(ask.format or FORMATS[0])
    trees = {}
    for name, tree in ask.hierarchies.items():
        with said.blame("columns", name, "hierarchy"):
            trees[name] = hierarchy_of(tree)
    for name in said.columns:
        _check_column(said, name)
    return replace(said, ask=replace(ask, hierarchies=trees))


def _check_column(said: Settings, name: str) -> None:
    """Check what a schema file says of a column."""
    ask = said.ask
    kinds = {name: ask.types[name]} if name in ask.types else {}
    order = {name: ask.order[name]} if name in ask.order else {}
    with said.blame("columns", name):
        Schema(types=kinds, order=order)
    quasi = ask.quasi if ("quasi",) in said.lines else (name,)
    for key, entries in (("hierarchy", ask.hierarchies), ("weight", ask.weights)):
        with said.blame("columns", name, key):
            if name in entries and name not in quasi:
                msg = f"only quasi columns can have a {key}, and {name!r} is not one."
                raise UsageError(msg)


def check_budget(seconds: float | None) -> float | None:
    """Return a time budget that makes sense, or raise."""
    if seconds is not None and not 0 < seconds < float("inf"):
        msg = f"The time budget must be a number of seconds above 0. Got {seconds!r}."
        raise UsageError(msg)
    return seconds


def named_output(run: Run) -> str:
    """Return where a release goes, or say what is missing."""
    if run.output is not None:
        return str(run.output)
    if run.said.file or run.schema.quasi:
        place = option("output", "published")
        msg = f"No output was named. Say where the release should go: {place}."
        raise UsageError(msg)
    msg = (
        f"No column has a role. Give {option('quasi')}, {option('sensitive')}, {option('require')} "
        f"and {option('output')}, or let `shoal init` write a schema file and name it: "
        f"{option('schema')}."
    )
    raise UsageError(msg)


def check_alone(run: Run) -> None:
    """Raise where something is said of a series that is none."""
    for name in ("batch", "least_real"):
        if run.ledger is None and getattr(run, name) != 1:
            msg = (
                f"{option(name)} needs a series of releases: name its file with {option('ledger')} "
                "too."
            )
            raise UsageError(msg)


def check_cells(run: Run) -> None:
    """Raise where cells cannot be drawn as they are asked for."""
    if run.cells not in KINDS_OF_CELLS:
        msg = f"{option('cells')} takes {' or '.join(KINDS_OF_CELLS)}. Got {run.cells!r}."
        raise UsageError(msg)
    if run.cells != REGIONS:
        return
    from shoal.engines.base import engine_of
    from shoal.methods.choice import choose_method

    choose_method(run.method, run.requirements, cells=REGIONS).check_cells(REGIONS)
    refused = {
        f"{option('form', TWO_TABLES)}, which publishes no cells": run.form == TWO_TABLES,
        f"{option('population')}, which is compared with tight cells": run.population is not None,
        f"this {option('engine')}": engine_of(run.engine).spreads,
    }
    for said, asked in refused.items():
        if asked:
            msg = (
                f"{option('cells', REGIONS)} cannot be combined with {said}. Leave out one of them."
            )
            raise UsageError(msg)


def check_trials(run: Run) -> None:
    """Raise where trials are asked for that nobody would see: they are the owner's alone."""
    if run.trials and run.owner_report is None:
        msg = (
            "Trials of other methods and parameters need the original table, so only the "
            f"private owner's report shows them. Name it: {option('owner_report', 'owner.html')}."
        )
        raise UsageError(msg)


def check_linked(run: Run) -> None:
    """Raise where linked tables cannot be published with what else is asked for."""
    if not run.linked:
        return
    refused = {
        option("form", TWO_TABLES): run.form == TWO_TABLES,
        option("ledger"): run.ledger is not None,
        option("output"): run.output is not None and is_outlet(run.output),
        option("engine"): not repr(run.engine or "Local").strip("' ").startswith("Local"),
    }
    for said, asked in refused.items():
        if asked:
            msg = f"{option('linked')} cannot be combined with this {said}. Leave out one of them."
            raise UsageError(msg)


def check_places(run: Run) -> None:
    """Raise where what a run writes could not be written in the end."""
    target = named_output(run)
    files = [
        path
        for table in (run.table, *run.linked.values())
        if reads_files(table)
        for path in find_files(table)
    ]
    how: dict[str, Any] = {"linkage": None, "force": run.force, "tables": files}
    if is_outlet(target):
        from shoal.runs.outlets import check_outlet

        check_outlet(target, form=run.form, format=run.format, **how)
    else:
        check_output(target, format=run.format or "csv", **how)
    place = None if is_outlet(target) else Path(os.path.realpath(target))
    given = private_files(run)
    for what, (path, grows) in given.items():
        check_private(path, place, files, what=what, force=run.force or grows)
    if len({os.path.realpath(path) for path, _ in given.values()}) < len(given):
        msg = f"{' and '.join(map(option, given))} name the same file. Give each its own."
        raise UsageError(msg)


def private_files(run: Run) -> dict[str, tuple[str | Path, bool]]:
    """Return the private files of a run, by their options, and whether it only adds to them."""
    known = [(name, one.grows) for name, one in options_of(run.asks).items() if one.private]
    return {
        name: (getattr(run, name), grows) for name, grows in known if getattr(run, name) is not None
    }


def reads_files(table: Any) -> bool:
    """Return whether a table is named, by one place or several, and not given as a frame."""
    return isinstance(table, str | Path | list | tuple)


def check_named(table: Any) -> None:
    """Raise where there is no table at all."""
    if table is None or (reads_files(table) and not table):
        msg = "No table was named: give one, or a schema file that names it."
        raise UsageError(msg)


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
    from shoal.methods.base import Task

    everybody = _everybody(run)
    run.schema.check_quasi()
    known = as_settled(everybody, run.schema)
    linked = _linked(run, table.columns)
    coded, people = with_linked(run, run.coded(table, progress), table, linked), None
    if known is not None:
        from shoal.table.people import code_both

        coded, people = code_both(known, coded)
    budget = check_budget(run.seconds)
    orders = Randomness(run.seed).permutations
    asked = tuple(run.requirements)
    heard: dict[str, Any] = {"enough": run.enough, "better": run.better}
    task = Task(coded, asked, progress, budget, people, orders=orders, **heard)
    return Prepared(task, everybody, linked)


def _linked(run: Run, columns: Sequence[str]) -> dict[str, LinkedTable]:
    """Read the linked tables, and round and cut off their numbers."""
    if not run.schema.linked:
        return {}
    from shoal.table.linked import LinkedTable, check_columns, under_both_names
    from shoal.table.streams import Streamed, is_stream

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
        stays = offered_linked(run, table, schema)
        found[name] = LinkedTable(*settle(table, schema, stays), given)
    return found


def with_linked(
    run: Run,
    coded: Coded,
    table: pl.DataFrame,
    linked: Mapping[str, LinkedTable] | None = None,
) -> Coded:
    """Code linked tables, which are read where they are not given, beside the first."""
    linked = _linked(run, table.columns) if linked is None else linked
    if not linked:
        return coded
    from shoal.table.linked import code_linked

    asked = asked_of(run.requirements)
    rows = tuple(
        code_linked(
            name,
            one,
            table[str(run.schema.person)],
            coded,
            missing=run.missing,
            asked=asked,
            offered=partial(offered_of, run),
        )
        for name, one in linked.items()
    )
    return replace(coded, linked=rows)


def _everybody(run: Run) -> pl.DataFrame | None:
    """Read the population where a requirement is about one."""
    check_population(run.requirements, given=run.population is not None)
    if not any(one.principle.population for one in run.requirements):
        return None
    people = run.population
    known = read_table(people) if isinstance(people, str | Path) else take_frame(people)
    if run.schema.person is None:
        return known
    from shoal.table.people import whose_rows

    return whose_rows(known, run.schema.person)
