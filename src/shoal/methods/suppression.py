"""Leaving out few rows, within a limit: those in the way of a requirement, and costly ones."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import NotAchievable, TooCrowded, UsageError, option
from shoal.exact import percent
from shoal.methods.base import Task
from shoal.principles.groups import Groups
from shoal.progress import untold
from shoal.release.layout import Suppression

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import NDArray

    from shoal.methods.base import Method
    from shoal.methods.leaving_out import Found

STEPS = (8, 2, 1)  # an eighth, a half and all of what may still go of a crowd are tried
WORTH = 0.01  # of the loss that a search could spare, at least
PART = 64  # rows, at least, of the parts of quasi space in which a crowd is looked at


def check_share(method: Method, share: Fraction) -> None:
    """Raise where rows may be left out, by a method that leaves out none."""
    if share and not method.chooses_rows:
        msg = (
            f"{method!r} does not remove rows, because the choice of rows could reveal "
            f"sensitive values. Drop {option('suppress')}."
        )
        raise UsageError(msg)


@dataclass(frozen=True, eq=False)
class Solved:
    """A table without the rows left out, and what was found on it."""

    whole: Task
    task: Task
    found: Found
    kept: NDArray[np.int64]  # of the whole table

    @property
    def extents(self) -> list[float]:
        """How much of the domain of the whole table is published."""
        from shoal.methods.leaving_out import extents

        return extents(self.whole.coded.quasi, self.kept)

    def loss(self, covered: list[float]) -> float:
        """Return the GCP, rows left out included, where so much of the domain is published."""
        from shoal.methods.leaving_out import of_rows, total_loss

        quasi = self.whole.coded.quasi
        rows = len(self.whole.coded)
        total = total_loss(of_rows(quasi, self.kept), self.found, covered)
        return (total + (rows - len(self.kept)) * len(quasi)) / (rows * len(quasi))

    def ratio(self, other: Solved) -> float:
        """Return the loss as a share of another's, by what is published here; 1 where both are 0.

        The other leaves out none but rows that are left out here.
        """
        covered = self.extents
        before = other.loss(covered)
        return self.loss(covered) / before if before > 0 else 1.0


def search_part(method: Method, task: Task, check: Callable[[Task], None], limit: int) -> Solved:
    """Search a part of a table, leaving out the fewest rows that stand in the way, if any may."""
    begun = time.monotonic()
    if limit:
        solved = _achieve(method.search, task, check, limit, in_the_way(task)[0])
    else:
        check(task)
        solved = Solved(task, task, method.search(task), np.arange(len(task.coded)))
    return replace(solved, found=refined(method, solved.task, solved.found, begun))


def unsearched_part(task: Task, check: Callable[[Task], None], limit: int) -> Solved:
    """Look at a part as `search_part` does, without a search; raise where none would do."""

    def unsearched(part: Task) -> Groups:
        return Groups(np.zeros(len(part.coded), np.int64))

    if limit:
        return _achieve(unsearched, task, check, limit, in_the_way(task)[0])
    check(task)
    return Solved(task, task, unsearched(task), np.arange(len(task.coded)))


def refined(method: Method, task: Task, found: Found, begun: float) -> Found:
    """Spend what is left of the task's time, if it has any, on losing less."""
    left = 0.0 if task.seconds is None else task.seconds - (time.monotonic() - begun)
    return method.refine(task, found, left) if left > 0 and not task.enough() else found


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
    check_share(method, share)
    limit = int(len(task.coded) * share)
    if not limit:
        check(task)
        return task, refined(method, task, method.search(task), begun), Suppression()
    gone, crowd = in_the_way(task)
    solved = _achieve(method.search, task, check, limit, gone)
    fewest = len(task.coded) - len(solved.kept)
    if any(one.principle.population for one in task.requirements):
        # Groups alone do not tell whether such a requirement still holds once somebody has left.
        found = refined(method, replace(solved.task, seconds=task.seconds), solved.found, begun)
        return solved.task, found, Suppression(fewest)
    search = Again(method, replace(task, typical=_typical(solved.found)), begun)
    loose = _loosen(search, solved, crowd, limit - fewest)
    best = _relieve(search, loose, limit - (len(task.coded) - len(loose.kept)))
    if best.ratio(solved) >= 1:
        best = loose
    covered = best.extents
    costly = len(solved.kept) - len(best.kept)
    suppression = Suppression(fewest, costly, solved.loss(covered), best.loss(covered))
    last = replace(best.task, seconds=task.seconds)
    return best.task, refined(method, last, best.found, begun), suppression


@dataclass(frozen=True, eq=False)
class Again:
    """Searches on fewer and fewer rows of one table, within the time of one."""

    method: Method
    task: Task
    begun: float

    def on(self, kept: NDArray[np.int64]) -> Solved | None:
        """Search on some rows; None where nothing is found, or no time is left."""
        task = self.task
        if task.enough():
            return None
        left = math.inf if task.seconds is None else task.seconds - (time.monotonic() - self.begun)
        if left <= 0 or len(kept) < task.least:
            return None
        seconds = None if task.seconds is None else left
        part = replace(task, coded=task.coded.subset(kept), seconds=seconds, better=untold)
        try:
            return Solved(task, part, self.method.search(part), kept)
        except NotAchievable:
            return None  # without those rows it is harder


def _achieve(
    search: Callable[[Task], Found],
    task: Task,
    check: Callable[[Task], None],
    limit: int,
    gone: NDArray[np.int64],
) -> Solved:
    """Search without the rows in the way, and without more where the search does not get by."""
    rows = len(task.coded)
    kept = np.delete(np.arange(rows), gone)
    reason = ""
    while rows - len(kept) <= limit and len(kept):
        current = task if len(kept) == rows else replace(task, coded=task.coded.subset(kept))
        try:
            check(current)
            return Solved(task, current, search(current), kept)
        except TooCrowded as problem:
            reason = problem.sentence
            if not len(problem.rows):
                raise
            kept = np.delete(kept, problem.rows)
    if not reason:
        try:
            check(task)
        except NotAchievable as problem:
            reason = problem.sentence
    dropped = rows - len(kept)
    msg = (
        f"{reason} Shoal would have to remove at least {dropped:,} {task.coded.whom} "
        f"({percent(dropped / rows, 2)}), but {option('suppress')} allows {limit:,}."
    )
    raise NotAchievable(msg, limit)


def in_the_way(task: Task) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the fewest rows without which each requirement can hold, and who is like them.

    The second are all rows that carry values of which there are too many.

    For one requirement it is exact where its condition is (`Principle.must_go`). For several it is
    a choice: of equal values, those rows go first that other requirements have too many of as well,
    then those where such values are most crowded in quasi space.
    """
    kept = np.arange(len(task.coded))
    crowd = np.zeros(len(kept), np.bool_)
    current = task
    while True:
        each = [
            (one.principle.must_go(value), value.codes)
            for one, value in zip(task.requirements, current.values, strict=True)
            if value is not None and not value.several
        ]
        each = [(taken, codes) for taken, codes in each if taken.any()]
        if not each:
            break
        wanted = np.sum([taken[codes] > 0 for taken, codes in each], axis=0)
        crowd[kept[wanted > 0]] = True
        taken, codes = max(each, key=lambda one: int(one[0].sum()))
        pressed = pressure(current, taken[codes] > 0)
        order = np.lexsort((-pressed, -wanted, codes))
        starts = np.searchsorted(codes[order], np.arange(len(taken)))
        place = np.arange(len(order)) - starts[codes[order]]
        kept = np.delete(kept, order[place < taken[codes[order]]])
        if not len(kept):
            break  # a table without rows has neither domains nor trees
        current = replace(task, coded=task.coded.subset(kept))
    return np.setdiff1d(np.arange(len(task.coded)), kept), crowd


def pressure(task: Task, crowd: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return for each row of a crowd how much its part of quasi space would be relieved by leaving.

    In a part with o others, the i-th of the crowd stands at i / (o + 1): whoever leaves in falling
    order leaves the crowd everywhere about the same share, so that every part can be divided.
    """
    from shoal.methods.mondrian import Mondrian
    from shoal.principles.unasked import of_size

    least = of_size(min(PART, len(task.coded)))
    parts = Mondrian(relaxed=True).search(Task(task.coded, (least,)))
    rows = np.flatnonzero(crowd)
    rows = rows[np.argsort(parts.labels[rows], kind="stable")]
    owners = parts.labels[rows]
    inside = np.bincount(owners, minlength=len(parts))
    first = np.cumsum(inside) - inside
    found = np.zeros(len(task.coded))
    others = (parts.sizes - inside)[owners]
    found[rows] = (np.arange(len(rows)) - first[owners] + 1) / (others + 1)
    return found


def _loosen(search: Again, solved: Solved, crowd: NDArray[np.bool_], most: int) -> Solved:
    """Leave out more of the values of which there are too many, where the total loss gets lower.

    With the fewest rows gone, a requirement holds only just, and groups have to be large.
    """
    rows = np.flatnonzero(crowd[solved.kept])
    if most <= 0 or not len(rows):
        return solved
    pressed = pressure(solved.task, crowd[solved.kept])[rows]
    rows = rows[np.argsort(-pressed, kind="stable")]
    counts = sorted({min(most // part, len(rows)) for part in STEPS} - {0})
    tried = [search.on(np.delete(solved.kept, rows[:count])) for count in counts]
    return _best(solved, tried)


def _relieve(search: Again, solved: Solved, most: int) -> Solved:
    """Leave out rows that cost the others more, where the total loss gets lower.

    They leave their groups where these still hold; and, since groups are often as small as they
    may be, the table without them is searched anew, unless all that their groups could lose less,
    cells of the rows that are left out included, is little of the whole. The least total loss wins.
    """
    if most <= 0:
        return solved
    from shoal.methods.leaving_out import costly_rows, extents, leave_groups, loss_of_each, of_rows

    task = search.task
    quasi = of_rows(task.coded.quasi, solved.kept)
    costly = costly_rows(quasi, solved.found, most)
    if not len(costly):
        return solved
    left = np.delete(solved.kept, costly)
    tried: list[Solved | None] = []
    if isinstance(solved.found, Groups):
        each = loss_of_each(quasi, solved.found, extents(task.coded.quasi, left))
        spared = each[np.unique(solved.found.labels[costly])].sum() - len(costly) * len(quasi)
        if spared >= WORTH * each.sum():
            tried.append(search.on(left))
        leaving = leave_groups(solved.task, solved.found, costly)
        tried.append(_without(task, solved, leaving))
    else:
        tried.append(search.on(left))
    return _best(solved, tried)


def _typical(found: Found) -> int:
    return len(found.labels) // len(found) if isinstance(found, Groups) else 0


def _best(solved: Solved, tried: list[Solved | None]) -> Solved:
    """Return whichever lowers the loss most, each by the ranges that it publishes itself."""
    found = [solved, *(one for one in tried if one is not None)]
    return min(found, key=lambda one: one.ratio(solved))


def _without(task: Task, solved: Solved, leaving: NDArray[np.int64]) -> Solved:
    """Return what is left of groups after rows left them."""
    assert isinstance(solved.found, Groups)
    if not len(leaving):
        return solved
    stays = np.delete(np.arange(len(solved.kept)), leaving)
    kept = solved.kept[stays]
    part = replace(task, coded=task.coded.subset(kept))
    return Solved(task, part, Groups.of(solved.found.labels[stays]), kept)
