"""Work on this machine: a table is searched whole, or shard by shard on all cores.

What is searched by itself is what is never mixed, and the parts of a large table. Cutting looks at
quasi columns alone, so that where a cut lies tells nothing about sensitive values. Whether a cut is
made is the method's decision: most check that every part is achievable on its own, and where one is
not, it stays with its sibling; `Oblivious()` cuts where any parts of these sizes would do.

What compares values by the rest of the table has one scale in all parts, that of all rows offered.
What is published is judged by its own. Where rows were left out and that makes a difference, the
rest is searched again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from shoal.engines.base import Engine, as_people, engine_of, grouped_people, search_whole
from shoal.errors import NotAchievable, UsageError, option
from shoal.methods.choice import check_task
from shoal.methods.suppression import (
    Solved,
    check_share,
    search_part,
    search_within,
    unsearched_part,
)
from shoal.notation import whole_number
from shoal.principles.groups import Groups
from shoal.progress import in_threads, silent
from shoal.release.layout import Suppression
from shoal.table.grid import REGIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shoal.methods.base import Method, Task
    from shoal.release.layout import Found


AGAIN = 3  # searches by what the one before left


def cut(
    task: Task, method: Method, rows: NDArray[np.int64], largest: int
) -> list[NDArray[np.int64]]:
    """Return parts of at most `largest` rows, as far as the method allows.

    A part is halved at a value of the quasi column in which it spreads most, of all columns in
    which it can be; rows with equal values stay together.
    """
    done, waiting = [], [rows]
    while waiting:
        part = waiting.pop()
        halves = _halves(task, method, part) if len(part) > largest else None
        if halves is None:
            done.append(part)
        else:
            waiting.extend(halves)
    return done


def _halves(
    task: Task, method: Method, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return two halves that may be searched apart, None where no column gives any."""
    space = task.coded.line
    spreads = []
    for place, codes in enumerate(space.codes):
        some = codes[rows]
        coords = space.coords[space.offsets[place] : space.offsets[place + 1]]
        spreads.append(min(float(coords[some.max()] - coords[some.min()]), space.units[place]))
    for place in np.argsort(spreads)[::-1]:
        if not spreads[place] > 0:
            break
        codes = space.codes[place][rows]
        first = codes < _boundary(codes)
        halves = rows[first], rows[~first]
        if method.divides(task, halves, check_task):
            return halves
    return None


def _boundary(codes: NDArray[np.int32]) -> int:
    """Return the rank that parts rows most evenly; some rows are on either side."""
    counts = np.bincount(codes - codes.min())
    below = np.cumsum(counts)[:-1]
    return int(codes.min()) + 1 + int(np.argmin(np.abs(below - len(codes) / 2)))


@dataclass(frozen=True)
class Local(Engine):
    """Work on this machine, on all of its cores.

    Parameters
    ----------
    shard : rows, at most, that are searched together; by default as many as the method likes to
        have at once. Fewer take less memory and time, and lose a little where shards meet.
    """

    shard: int | None = None

    def __post_init__(self) -> None:
        if self.shard is not None:
            object.__setattr__(self, "shard", whole_number(self, "shard", self.shard, least=1))

    def shards(self, task: Task, method: Method) -> list[NDArray[np.int64]]:
        """Return rows that are never mixed apart, and large parts cut by quasi columns alone."""
        largest = self.shard or method.at_once or len(task.coded)
        parts = _parts(task)
        if task.coded.cells == REGIONS:
            return parts  # shards are cut without regard to children of nodes and to people's rows
        if not all(one.principle.by_itself for one in task.requirements):
            return parts
        return [part for rows in parts for part in cut(task, method, rows, largest)]

    def search(self, shard: Task, method: Method, limit: int) -> Solved:
        """Search one shard."""
        return search_part(method, shard, check_task, limit)

    def solve(self, task: Task, method: Method, share: Fraction) -> tuple[Task, Found, Suppression]:
        """Search a whole table; returns the task without the rows left out, and what was found."""
        check_share(method, share)
        solved = self._once(task, method, share)
        if _scaled_by_itself(task) and method.chooses_rows:
            for _ in range(AGAIN):
                left, found, gone = solved
                left = replace(left, coded=left.coded.afresh())
                if len(left.coded) == len(task.coded) or _holds(left, found):
                    break
                again, found, more = self._once(left, method, Fraction(0))
                solved = again, found, gone.again(more)
        left, found, gone = solved
        left = replace(left, coded=left.coded.afresh())
        if task.coded.cells == REGIONS and len(left.coded) < len(task.coded):
            # Cuts follow from published rows alone: those left out had a say in these.
            left, found, more = self._once(left, method, Fraction(0))
            gone = gone.again(more)
        return left, found, gone

    def _once(self, task: Task, method: Method, share: Fraction) -> tuple[Task, Found, Suppression]:
        """Search a table by the scale of all of its rows."""
        return search_whole(self._solve, task, method, share)

    def _solve(
        self, task: Task, method: Method, share: Fraction
    ) -> tuple[Task, Found, Suppression]:
        shards = self.shards(task, method)
        if len(shards) == 1:
            return search_within(method, task, _check(task), share)
        limit = int(len(task.coded) * share)
        solved = (
            _within(partial(self.search, method=method), task, shards, limit)
            if limit
            else self._side_by_side(task, shards, method)
        )
        return _joined(task, solved)

    def solve_needed(
        self, task: Task, method: Method, share: Fraction
    ) -> tuple[Task, Found, Suppression]:
        """Search a whole table as `solve` does, leaving out none but rows that are in the way."""
        return search_whole(self._needed, task, method, share)

    def _needed(
        self, task: Task, method: Method, share: Fraction
    ) -> tuple[Task, Found, Suppression]:
        limit, shards = int(len(task.coded) * share), self.shards(task, method)
        return _joined(task, _within(partial(self.search, method=method), task, shards, limit))

    def _side_by_side(
        self, task: Task, shards: list[NDArray[np.int64]], method: Method
    ) -> list[tuple[NDArray[np.int64], Solved]]:
        """Search shards on all cores; none may leave out rows."""
        found: list[Solved | None] = [None] * len(shards)

        def search(place: int) -> None:
            rows = shards[place]
            part = _of_rows(task, rows)
            try:
                found[place] = self.search(part, method, 0)
            except NotAchievable as problem:
                raise _of_part(task, rows, problem) from None

        def watch() -> None:
            done = sum(len(rows) for rows, one in zip(shards, found, strict=True) if one)
            task.progress("search", done / len(task.coded))

        in_threads([partial(search, place) for place in range(len(shards))], watch)
        return [(rows, one) for rows, one in zip(shards, found, strict=True) if one is not None]


def _scaled_by_itself(task: Task) -> bool:
    """Return whether something is compared by the rows of this table, and no larger one."""
    scaled = any(one.principle.scaled or not one.principle.by_itself for one in task.requirements)
    return scaled and all(one.whole.rows == len(task.coded) for one in task.coded.sensitive)


def _holds(task: Task, found: Found) -> bool:
    """Return whether groups hold by the scale of the rows that are left, where it matters."""
    if not isinstance(found, Groups):
        return True
    task, groups = grouped_people(task, found)
    return all(
        one.principle.measure(groups, value).holds
        for one, value in zip(task.requirements, task.values, strict=True)
        if one.principle.scaled or not one.principle.by_itself
    )


def _parts(task: Task) -> list[NDArray[np.int64]]:
    """Return the rows that may be mixed, or raise where a requirement is about all of them."""
    for one in task.requirements if task.coded.strata.given else ():
        if not one.principle.by_itself:
            msg = (
                f"{one!r} compares each group with the whole table, so {task.coded.whom} cannot "
                "be combined with it."
            )
            raise UsageError(msg)
    return task.coded.strata.parts()


def _within(
    search: Callable[..., Solved], task: Task, shards: list[NDArray[np.int64]], limit: int
) -> list[tuple[NDArray[np.int64], Solved]]:
    """Search shards one after the other, leaving out rows, or whole shards, within a limit."""
    solved = []
    for rows in sorted(shards, key=len):  # small ones are the likeliest to be in the way
        part = _of_rows(task, rows)
        try:
            one = search(part, limit=limit)
        except NotAchievable as problem:
            if len(rows) > limit:
                raise _of_part(task, rows, problem) from None
            limit -= len(rows)
            continue
        limit -= len(rows) - len(one.kept)
        solved.append((rows, one))
        task.progress("search", sum(len(some) for some, _ in solved) / len(task.coded))
    if not solved:
        msg = (
            "Not achievable: none of the parts that are kept apart meets the requirement by "
            "itself. Keep fewer columns apart, or require less."
        )
        raise NotAchievable(msg)
    return solved


def foresee(task: Task, method: Method, share: Fraction) -> Task:
    """Return the task without rows that have to go, or raise as a search would at once.

    Nothing is searched.
    """
    check_share(method, share)
    return as_people(search_whole(_foreseen, task, method, share)[0])


def _foreseen(task: Task, _method: Method, share: Fraction) -> tuple[Task, Found, Suppression]:
    """Look at every part that may be mixed as a search would; what is found are no groups."""
    limit, parts = int(len(task.coded) * share), _parts(task)
    look = partial(unsearched_part, check=check_task)
    if len(parts) == 1:
        whole = unsearched_part(task, check=_check(task), limit=limit)
        return _joined(task, [(parts[0], whole)])
    return _joined(task, _within(look, replace(task, progress=silent), parts, limit))


def _check(task: Task) -> Callable[[Task], None]:
    """Return what checks that a task can be kept, by a table that is not parted."""
    return partial(check_task, whole=task.coded.whom == "rows")


def _of_rows(task: Task, rows: NDArray[np.int64]) -> Task:
    """Return the task of some rows, with their share of the time."""
    seconds = None if task.seconds is None else task.seconds * len(rows) / len(task.coded)
    return replace(task.part(rows), progress=silent, seconds=seconds)


def _of_part(task: Task, rows: NDArray[np.int64], problem: NotAchievable) -> NotAchievable:
    """Say which rows that are kept apart cannot keep what is required."""
    strata = task.coded.strata
    if not strata.given:
        return problem
    where = ", ".join(
        f"{column.name} = {column.spellings[int(column.codes[rows[0]])]}"
        for column in task.coded.quasi
        if np.array_equal(*strata.ends(column.codes))  # one value in each
    )
    return NotAchievable(
        f"Of the {task.coded.whom} that are kept apart, the {len(rows):,} with "
        f"{where or 'equal counts'} cannot meet the requirement by themselves: "
        f"{problem.sentence} Keep fewer columns apart, require less, or let Shoal remove these "
        f"rows with {option('suppress')}.",
        problem.limit,
    )


def _joined(
    task: Task, solved: list[tuple[NDArray[np.int64], Solved]]
) -> tuple[Task, Found, Suppression]:
    """Put what was found in shards together, over the rows that are left."""
    places = np.concatenate([rows[one.kept] for rows, one in solved])
    order = np.argsort(places)
    gone = len(task.coded) - len(places)
    whole = task if not gone else replace(task, coded=task.coded.subset(places[order]))
    found = [one.found for _, one in solved]
    suppression = Suppression(in_the_way=gone)
    if all(isinstance(one, Groups) for one in found):
        starts = np.cumsum([0, *(len(one) for one in found[:-1])])
        labels = np.concatenate(
            [one.labels + start for one, start in zip(found, starts, strict=True)]  # type: ignore[union-attr]
        )
        return whole, Groups(labels[order]), suppression
    from shoal.release.graph import GeneralizationGraph

    rank = np.empty(len(places), np.int64)
    rank[order] = np.arange(len(places))
    starts = np.cumsum([0, *(len(one) for one in found[:-1])])
    matches = np.concatenate(
        [rank[one.matches + start] for one, start in zip(found, starts, strict=True)]
    )
    return whole, GeneralizationGraph(whole.coded.space, matches[order]), suppression


def choose_engine(engine: Engine | str | None) -> Local:
    """Return the engine asked for, which has to work on a table in memory."""
    chosen = engine_of(engine)
    if not isinstance(chosen, Local):
        msg = f"{chosen!r} is not an engine that works on a table in memory."
        raise UsageError(msg)
    return chosen
