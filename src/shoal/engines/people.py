"""Searching people: those with equally many published rows by themselves.

How many rows a person has counts as known, so nobody can be among people with another number of
rows: each number is searched alone. Where one cannot keep what is required, its people are
published with fewer rows, as many as those of the next lower number have; which rows stay is left
to chance.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import NotAchievable, UsageError
from shoal.methods.achievable import check_task
from shoal.principles.groups import Groups
from shoal.release.layout import Suppression
from shoal.table.people import CodedPeople
from shoal.wording import option

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shoal.methods.base import Method, Task
    from shoal.release.layout import Found
    from shoal.table.coded import Coded

    Solve = Callable[[Task, Method, Fraction], tuple[Task, Found, Suppression]]

WITHOUT_GROUPS = (
    "{!r} publishes no groups, and what it promises is not defined where several rows may be about "
    "one person. Use Exchange()."
)


def check_method(method: Method, task: Task) -> None:
    """Raise where a method cannot search for what is required, of rows or of people."""
    if task.coded.people is not None:
        if not method.grouped:
            raise UsageError(WITHOUT_GROUPS.format(method))
        task = as_people(task)
    method.check(task)


def as_people(task: Task) -> Task:
    """Return what is searched in the end: people, where rows are about them."""
    if task.coded.people is None:
        return task
    return replace(task, coded=CodedPeople.of(task.coded))


def search_people(
    solve: Solve, task: Task, method: Method, share: Fraction
) -> tuple[Task, Groups, Suppression]:
    """Search a table whose rows are about people; at most a share of these is left out.

    `solve` searches a table of people who may be taken for one another.
    """
    check_method(method, task)
    if any(one.principle.population for one in task.requirements):
        msg = "What is about a population is not yet defined where rows are about people."
        raise UsageError(msg)
    assert task.coded.people is not None
    counts = np.bincount(task.coded.people)
    most = task.coded.most_rows
    published = counts if most is None else np.minimum(counts, most)
    (order,) = task.orders(len(task.coded))
    search = _Search(solve, method, task, share, _places(task.coded.people, order))
    if task.coded.rows_known:
        parts = search.by_count(published)
    else:
        parts = [search.on(np.arange(len(counts)), published)]
    return search.joined(parts)


def check_people(task: Task, method: Method) -> Task:
    """Return the task of people, or raise where it is known before a search that none will do."""

    def look(part: Task, _method: Method, _share: Fraction) -> tuple[Task, Found, Suppression]:
        check_task(part)
        return part, Groups(np.zeros(len(part.coded), np.int64)), Suppression()

    search_people(look, task, method, Fraction(0))
    return as_people(task)


@dataclass(frozen=True, eq=False)
class _Part:
    """People searched by themselves: the table of those published, and their groups."""

    coded: CodedPeople
    groups: Groups
    suppression: Suppression


@dataclass(frozen=True, eq=False)
class _Search:
    solve: Solve
    method: Method
    task: Task
    share: Fraction
    places: NDArray[np.int64]  # of each row among those of its person, in an order of chance
    left_out: list[NDArray[np.int64]] = field(default_factory=list)  # people who fit nowhere

    def on(
        self, people: NDArray[np.int64], most: NDArray[np.int64], share: Fraction | None = None
    ) -> _Part:
        """Search some people by themselves, with at most so many rows of each."""
        rows = self.rows(people, most)
        everybody = len(most)
        seconds = self.task.seconds
        part = replace(
            self.task,
            coded=CodedPeople.of(self.task.coded.part(rows)),
            seconds=None if seconds is None else seconds * len(people) / everybody,
        )
        limit = self.share if share is None else share
        solved, found, suppression = self.solve(part, self.method, limit)
        assert isinstance(found, Groups)
        assert isinstance(solved.coded, CodedPeople)
        return _Part(solved.coded, found, suppression)

    def rows(self, people: NDArray[np.int64], most: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of some people, at most so many of each."""
        of = self.task.coded.people
        assert of is not None
        wanted = np.zeros(len(most), np.int64)
        wanted[people] = most[people]
        return np.flatnonzero(self.places < wanted[of])

    def by_count(self, published: NDArray[np.int64]) -> list[_Part]:
        """Search people by how many rows they have, the most first."""
        limit = int(len(published) * self.share)
        parts, waiting, reason = self.descend(published, self.share)
        gone = sum(part.suppression.people for part in parts)
        if gone and len(waiting) > limit - gone:  # all that may go is needed for those who wait
            parts, waiting, reason = self.descend(published, self.share * 0)
            gone = 0
        if len(waiting) > limit - gone:
            raise self.refusal(published, waiting, reason, limit)
        if not parts:
            raise reason
        self.left_out.append(waiting)
        return parts

    def descend(
        self, published: NDArray[np.int64], share: Fraction
    ) -> tuple[list[_Part], NDArray[np.int64], NotAchievable]:
        """Search from the largest number of rows down; whoever cannot stay joins the next.

        Returns also those with the fewest rows, where these cannot stay, and why the last search
        failed.
        """
        rows = published.copy()
        parts: list[_Part] = []
        waiting = np.empty(0, np.int64)
        reason = NotAchievable("")
        for count in np.unique(published)[::-1]:
            people = np.concatenate([waiting, np.flatnonzero(published == count)])
            rows[people] = count
            try:
                if len(people) < self.task.least:
                    raise self.too_few(len(people), int(count))
                parts.append(self.on(people, rows, share))
            except NotAchievable as problem:
                waiting, reason = people, problem
            else:
                waiting = np.empty(0, np.int64)
        return parts, waiting, reason

    def too_few(self, people: int, count: int) -> NotAchievable:
        """Say that nobody can hide among so few."""
        who = "1 person has" if people == 1 else f"{people:,} people have"
        each = "1 row" if count == 1 else f"{count} rows"
        return NotAchievable(
            f"{who} {each}, and groups need at least {self.task.least} people with equally many."
        )

    def refusal(
        self,
        published: NDArray[np.int64],
        waiting: NDArray[np.int64],
        reason: NotAchievable,
        limit: int,
    ) -> NotAchievable:
        """Say what would help those with the fewest rows: fewer rows of all others."""
        fewest = int(published.min())
        advice = []
        if published.max() > fewest:
            everybody = np.arange(len(published))
            try:
                self.on(everybody, np.minimum(published, fewest), self.share * 0)
            except NotAchievable:
                pass  # then fewer rows do not help either
            else:
                advice.append(
                    f"Publish fewer rows of everybody: {option('most_rows', fewest)} works."
                )
        need = f"{len(waiting):,} of {len(published):,} people, {len(waiting) / len(published):.2%}"
        advice.append(f"{option('suppress')} allows {limit:,}; {need}, would have to be left out.")
        return NotAchievable(" ".join([reason.sentence, *advice]))

    def joined(self, parts: list[_Part]) -> tuple[Task, Groups, Suppression]:
        """Return the rows of all parts as one table, with groups that are never mixed."""
        whole: Coded = self.task.coded
        places, labels, base = [], [], 0
        for part in parts:
            table = part.coded.table
            assert table is not None
            assert table.people is not None
            places.append(np.searchsorted(whole.rows, table.rows))
            labels.append(part.groups.labels[table.people] + base)
            base += len(part.groups)
        kept, groups = np.concatenate(places), np.concatenate(labels)
        order = np.argsort(kept)
        coded = whole.subset(kept[order])
        gone, capped = self.missing(kept)
        return (
            replace(self.task, coded=coded),
            Groups(groups[order]),
            Suppression(
                in_the_way=sum(part.suppression.in_the_way for part in parts)
                + sum(map(len, self.left_out)),
                costly=sum(part.suppression.costly for part in parts),
                of_people=gone,
                capped=capped,
            ),
        )

    def missing(self, kept: NDArray[np.int64]) -> tuple[int, int]:
        """Return how many rows are left out of people who are gone, and of people who are there."""
        of = self.task.coded.people
        assert of is not None
        there = np.zeros(int(of.max()) + 1, np.bool_)
        there[of[kept]] = True
        gone = int((~there[of]).sum())
        return gone, len(of) - len(kept) - gone


def _places(people: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each row among the rows of its person, taken in the given order."""
    by = order[np.argsort(people[order], kind="stable")]
    counts = np.bincount(people)
    starts = np.cumsum(counts) - counts
    found = np.empty(len(people), np.int64)
    found[by] = np.arange(len(people)) - starts[people[by]]
    return found
