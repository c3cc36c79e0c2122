"""What every engine is: a place where the work of a run is done, in shards.

This machine has the rows and gives back groups (`Local.solve`); Spark has files and gives back
files (`Spark.domains`, `shards`, `search`, `recode`, `measure`). Refusals, remarks and the report
are made outside of both. Where rows are about people, it is people who are searched: all ask for
that here, and the search of them is loaded where there are some.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, TypeGuard

import numpy as np

from shoal.errors import UsageError
from shoal.notation import Term
from shoal.principles.groups import Groups

if TYPE_CHECKING:
    from fractions import Fraction

    from shoal.engines.spark.engine import Spark
    from shoal.methods.base import Method, Task
    from shoal.methods.choice import Solve
    from shoal.release.layout import Found, Suppression


WITHOUT_GROUPS = (
    "{!r} forms no groups, and its guarantee is not defined if one person can have several "
    "rows. Use Exchange()."
)


class Engine(Term):
    """A place where the work of a run is done."""

    role = "engine"
    spreads: ClassVar[bool] = False  # whether over workers that see files, and not here


def is_spark(engine: Engine) -> TypeGuard[Spark]:
    """Return whether Spark does the work; nothing of it is loaded to ask."""
    return engine.spreads


def engine_of(engine: Engine | str | None) -> Engine:
    """Return the engine asked for, in Python or in the notation: this machine, if none is."""
    if engine is None:
        from shoal.engines.local import Local

        return Local()
    chosen = Engine.read(engine) if isinstance(engine, str) else engine
    if not isinstance(chosen, Engine):
        msg = f"{chosen!r} is not an engine. Engines are Local() and Spark()."
        raise UsageError(msg)
    return chosen


def check_method(method: Method, task: Task) -> None:
    """Raise where a method cannot search for what is required, of rows or of people."""
    if task.coded.person_of.given and not method.grouped:
        raise UsageError(WITHOUT_GROUPS.format(method))
    task = as_people(task)
    method.check_cells(task.coded.cells)
    method.check(task)


def as_people(task: Task) -> Task:
    """Return what is searched in the end: people, where rows are about them.

    Where one row of each is published, chance says which; here it is the first.
    """
    coded = task.coded
    if not coded.person_of.given:
        return task
    if coded.most_rows == 1:
        linked = [np.unique(one.person_of.labels, return_index=True)[1] for one in coded.linked]
        coded = coded.linking(list(map(np.sort, linked))).part(np.sort(coded.person_of.first))
    from shoal.table.people import by_people

    return replace(task, coded=by_people(coded))


def grouped_people(task: Task, groups: Groups) -> tuple[Task, Groups]:
    """Return what is judged in the end, people where rows are about them, and its groups."""
    if not task.coded.person_of.given:
        return task, groups
    return as_people(task), Groups(task.coded.person_of.of_part(groups.labels))


def search_whole(
    solve: Solve, task: Task, method: Method, share: Fraction
) -> tuple[Task, Found, Suppression]:
    """Search a table; of its rows, or of the people whom they are about, a share is left out."""
    if not task.coded.person_of.given:
        return solve(task, method, share)
    from shoal.engines.people import search_people

    return search_people(solve, task, method, share)
