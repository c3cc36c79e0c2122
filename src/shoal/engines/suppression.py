"""Leaving out few rows, within a limit: those in the way of a requirement, and costly ones."""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from shoal.engines.relief import costly_rows, leave_groups, of_rows, total_loss
from shoal.errors import NotAchievable, TooCrowded, UsageError
from shoal.principles.groups import Groups
from shoal.release.suppression import Suppression
from shoal.schema.table import coordinates

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shoal.engines.relief import Found
    from shoal.methods.base import Method, Task
    from shoal.schema.coding import Column
    from shoal.schema.table import Coded

SHARE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")


def read_share(text: str | float | None) -> Fraction:
    """Read how much of a table may be left out: "1%" or a number from 0 to 1."""
    if text is None:
        return Fraction(0)
    found = SHARE.fullmatch(text) if isinstance(text, str) else None
    if found:
        share = Fraction(found[1]) / 100
    else:
        try:
            share = Fraction(str(text))
        except (ValueError, ZeroDivisionError):
            share = Fraction(-1)
    if not 0 <= share <= 1:
        msg = f"What may be suppressed is a share such as 1% or 0.01. Got {text!r}."
        raise UsageError(msg)
    return share


@dataclass(frozen=True, eq=False)
class Solved:
    """A table without the rows left out, and what was found on it."""

    task: Task
    found: Found
    kept: NDArray[np.int64]  # of the whole table
    loss: float  # over the domain of the whole table, rows left out included


def search_within(
    method: Method, task: Task, check: Callable[[Task], None], share: Fraction
) -> tuple[Task, Found, Suppression]:
    """Search, leaving out rows as far as the limit allows.

    First go the fewest rows without which every requirement can hold. Where a search still does not
    reach them, those that it names go, and the rest is searched anew. Then, if that lowers the
    loss, rows go that stretch what is published of the others. Returns the task that was solved,
    whose table is without those rows.
    """
    begun = time.monotonic()
    limit = int(len(task.coded) * share)
    if not limit:
        check(task)
        return task, method.search(task), Suppression()
    solved = _achieve(method, task, check, limit)
    in_the_way = len(task.coded) - len(solved.kept)
    best = _relieve(method, task, solved, limit - in_the_way, begun)
    cells = len(task.coded) * len(task.coded.quasi)
    return (
        best.task,
        best.found,
        Suppression(
            in_the_way,
            len(solved.kept) - len(best.kept),
            solved.loss / cells,
            best.loss / cells,
        ),
    )


def _solved(whole: Task, part: Task, found: Found, kept: NDArray[np.int64]) -> Solved:
    quasi = whole.coded.quasi
    gone = len(whole.coded) - len(kept)
    loss = total_loss(of_rows(quasi, kept), found) + gone * len(quasi)
    return Solved(part, found, kept, loss)


def _achieve(method: Method, task: Task, check: Callable[[Task], None], limit: int) -> Solved:
    """Search, after leaving out the rows in the way, and more where the search does not get by."""
    rows = len(task.coded)
    kept = np.delete(np.arange(rows), in_the_way(task))
    reason = ""
    while rows - len(kept) <= limit and len(kept):
        current = task if len(kept) == rows else replace(task, coded=task.coded.subset(kept))
        try:
            check(current)
            return _solved(task, current, method.search(current), kept)
        except TooCrowded as problem:
            reason = str(problem)
            if not len(problem.rows):
                raise
            kept = np.delete(kept, problem.rows)
    if not reason:
        try:
            check(task)
        except NotAchievable as problem:
            reason = str(problem)
    dropped = rows - len(kept)
    msg = (
        f"{reason} Leaving out {dropped} rows ({dropped / rows:.2%}) or more would be needed, and "
        f"--suppress allows {limit}."
    )
    raise NotAchievable(msg)


def in_the_way(task: Task) -> NDArray[np.int64]:
    """Return the fewest rows without which each requirement can hold.

    For one requirement it is exact where its condition is (`Principle.surplus`). For several it is
    a choice: of equal values, those rows go first that other requirements have too many of as well,
    then those that lie remote in quasi space.
    """
    kept = np.arange(len(task.coded))
    current = task
    while len(kept):
        sensitive = [value for value in current.values if value is not None]
        principles = [one.principle for one in task.requirements if one.columns]
        each = [
            (principle.surplus(value), value.codes)
            for principle, value in zip(principles, sensitive, strict=True)
        ]
        each = [(taken, codes) for taken, codes in each if taken.any()]
        if not each:
            break
        wanted = np.sum([taken[codes] > 0 for taken, codes in each], axis=0)
        taken, codes = max(each, key=lambda one: int(one[0].sum()))
        order = np.lexsort((-remoteness(current.coded), -wanted, codes))
        starts = np.searchsorted(codes[order], np.arange(len(taken)))
        place = np.arange(len(order)) - starts[codes[order]]
        kept = np.delete(kept, order[place < taken[codes[order]]])
        current = replace(task, coded=task.coded.subset(kept))
    return np.setdiff1d(np.arange(len(task.coded)), kept)


def remoteness(coded: Coded) -> NDArray[np.float64]:
    """Return how far each row lies from where most rows do: from medians, or in rare labels."""

    def of(column: Column) -> NDArray[np.float64]:
        if column.numeric:
            where = coordinates(column)[column.codes]
            return np.abs(where - np.median(where))
        shares = np.bincount(column.codes) / len(column.codes)
        return 1 - shares[column.codes]

    return np.sum([of(column) for column in coded.quasi], axis=0)


def _relieve(method: Method, task: Task, solved: Solved, most: int, begun: float) -> Solved:
    """Leave out rows that cost the others more, where the total loss gets lower.

    They leave their groups where these still hold; and, since groups are often as small as they
    may be, the table without them is searched anew. The least total loss wins.
    """
    if most <= 0:
        return solved
    costly = costly_rows(of_rows(task.coded.quasi, solved.kept), solved.found, most)
    if not len(costly):
        return solved
    best = solved
    if isinstance(solved.found, Groups):
        leaving = leave_groups(solved.task, solved.found, costly)
        best = min(best, _without(task, solved, leaving), key=lambda one: one.loss)
    kept = np.delete(solved.kept, costly)
    left = math.inf if task.seconds is None else task.seconds - (time.monotonic() - begun)
    if left > 0 and len(kept) >= task.least:
        seconds = None if task.seconds is None else left
        rest = replace(task, coded=task.coded.subset(kept), seconds=seconds)
        try:
            again = _solved(task, rest, method.search(rest), kept)
        except NotAchievable:
            return best  # without those rows it is harder; with them it was found
        best = min(best, again, key=lambda one: one.loss)
    return best


def _without(task: Task, solved: Solved, leaving: NDArray[np.int64]) -> Solved:
    """Return what is left of groups after rows left them."""
    assert isinstance(solved.found, Groups)
    if not len(leaving):
        return solved
    stays = np.delete(np.arange(len(solved.kept)), leaving)
    kept = solved.kept[stays]
    part = replace(task, coded=task.coded.subset(kept))
    return _solved(task, part, Groups.of(solved.found.labels[stays]), kept)
