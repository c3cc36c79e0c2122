"""Searching people: those with equally many published rows by themselves.

How many rows a person has counts as known, so nobody can be among people with another number of
rows: each number is searched alone. Where one cannot keep what is required, its people are
published with fewer rows, as many as those of the next lower number have; which rows stay is left
to chance. With linked tables, it is a number for each table, and a lower one is lower in some table
and higher in none.

A method that may not look at values to choose rows lowers a number only where its people are too
few for a group, whatever their values are.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from shoal.engines.base import check_method
from shoal.engines.levels import check_together, levels_of_rows
from shoal.errors import Hindered, NotAchievable, UsageError, option
from shoal.exact import percent
from shoal.methods.choice import check_least_risk
from shoal.principles.groups import Groups
from shoal.principles.requirement import check_whose
from shoal.progress import untold
from shoal.release.layout import Suppression
from shoal.table.people import by_people

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.methods.base import Method, Task
    from shoal.methods.choice import Solve
    from shoal.release.layout import Found
    from shoal.table.coded import Coded
    from shoal.table.partition import PersonOf


SHARES = (1, 5)  # of people in 100, tried where a few are in the way of all others


def search_people(
    solve: Solve, task: Task, method: Method, share: Fraction
) -> tuple[Task, Found, Suppression]:
    """Search a table; at most a share of the people whom its rows are about is left out.

    `solve` searches a table of people who may be taken for one another.
    """
    check_method(method, task)
    linked, known = bool(task.coded.linked), task.coded.rows_known
    check_whose(task.requirements, linked=linked, known=known)
    whom = task.coded.persons
    counts = np.column_stack([one.sizes for one in whom])
    most = task.coded.most_rows
    published = counts if most is None else np.minimum(counts, most)
    orders = task.orders(*(len(one.labels) for one in whom))
    places = tuple(one.turns(order) for one, order in zip(whom, orders, strict=True))
    search = _Search(solve, method, task, share, whom, places)
    torn = search.torn(published)
    if not len(torn):
        return search.found(published)
    rest = search.without(torn)
    try:
        solved, groups, suppression = rest.found(np.delete(published, torn, axis=0))
    except NotAchievable as problem:
        raise _besides(problem, len(torn)) from None
    both = zip(whom, rest.whom, strict=True)
    rows = [len(before.labels) - len(after.labels) for before, after in both]
    return solved, groups, suppression.beside(len(torn), rows)


@dataclass(frozen=True, eq=False)
class _Part:
    """People searched by themselves: the table of those published, and their groups."""

    coded: Coded
    groups: Groups
    suppression: Suppression


@dataclass(frozen=True, eq=False)
class _Search:
    solve: Solve
    method: Method
    task: Task
    share: Fraction
    whom: tuple[PersonOf, ...]  # of each table, whom its rows are about
    places: tuple[NDArray[np.int64], ...]  # of each row among its person's, in an order of chance
    left_out: list[NDArray[np.int64]] = field(default_factory=list)  # people who fit nowhere

    def found(self, published: NDArray[np.int64]) -> tuple[Task, Groups, Suppression]:
        """Search everybody, with so many rows of each in each table."""
        if not self.task.coded.rows_known:
            return self.joined([self.on(np.arange(len(published)), published)])
        parts = self.by_count(published)
        found, groups, suppression = self.joined(parts)
        if len(parts) > 1:
            check_together(found, groups, int(published[:, 0].min()))
        return found, groups, suppression

    def torn(self, published: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the people whose own rows, of those published, are never mixed."""
        rows = np.flatnonzero(self.places[0] < self.whom[0].of_row(published[:, 0]))
        low, high = self.whom[0].only(rows).ends(self.task.coded.strata.labels[rows])
        return np.flatnonzero(low < high)

    def without(self, torn: NDArray[np.int64]) -> _Search:
        """Return the search of all others, who may be left out as far as these leave it open."""
        everybody = len(self.whom[0])
        limit = int(everybody * self.share)
        if len(torn) > limit or len(torn) == everybody:
            raise self.too_torn(len(torn), everybody, limit)
        stays = np.ones(everybody, np.bool_)
        stays[torn] = False
        coded = self.task.coded.subset(np.flatnonzero(self.whom[0].of_row(stays)))
        return replace(
            self,
            task=replace(self.task, coded=coded),
            share=Fraction(limit - len(torn), everybody - len(torn)),
            whom=coded.persons,
            places=tuple(
                place[of.of_row(stays)] for of, place in zip(self.whom, self.places, strict=True)
            ),
        )

    def on(
        self, people: NDArray[np.int64], most: NDArray[np.int64], share: Fraction | None = None
    ) -> _Part:
        """Search some people by themselves, with at most so many rows of each in each table."""
        rows, *linked = self.rows(people, most)
        population = self.task.population
        if population is not None and self.task.coded.rows_known:
            population = population.having(int(most[people[0], 0]))
            if not len(population):
                raise self.unlike_all(int(most[people[0], 0]))
        everybody = len(most)
        seconds = self.task.seconds
        part = replace(
            self.task,
            coded=by_people(self.task.coded.linking(linked).part(rows)),
            population=population,
            seconds=None if seconds is None else seconds * len(people) / everybody,
            better=self.task.better if len(people) == everybody else untold,
        )
        limit = self.share if share is None else share
        check_least_risk(part, gone=int(len(people) * limit))
        solved, found, suppression = self.solve(part, self.method, limit)
        assert isinstance(found, Groups)
        return _Part(solved.coded, found, suppression)

    def rows(self, people: NDArray[np.int64], most: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return the rows of some people in each table, at most so many of each."""
        wanted = np.zeros_like(most)
        wanted[people] = most[people]
        return [
            np.flatnonzero(place < of.of_row(wanted[:, table]))
            for table, (of, place) in enumerate(zip(self.whom, self.places, strict=True))
        ]

    def by_count(self, published: NDArray[np.int64]) -> list[_Part]:
        """Search people by how many rows they have, the most first."""
        limit = int(len(published) * self.share)
        parts, waiting, reason = self.descend(published, self.share)
        gone = sum(part.suppression.people for part in parts)
        if gone and len(waiting) > limit - gone:  # all that may go is needed for those who wait
            parts, waiting, reason = self.descend(published, self.share * 0)
            gone = 0
        if len(waiting) > limit - gone > 0:  # some of them may be enough
            few = Fraction(limit - gone, len(waiting))
            least = np.minimum(published, published.min(axis=0))
            with suppress(NotAchievable):
                parts.append(self.on(waiting, least, few))
                waiting = waiting[:0]
        if len(waiting) > limit - gone:
            raise Hindered(partial(self.refusal, published, waiting, reason, limit))
        if not parts:
            raise reason
        self.left_out.append(waiting)
        return parts

    def descend(
        self, published: NDArray[np.int64], share: Fraction
    ) -> tuple[list[_Part], NDArray[np.int64], NotAchievable]:
        """Search from the largest numbers of rows down; whoever cannot stay joins the next.

        Returns also those who cannot stay, mostly with the fewest rows, and why the last search
        failed.
        """
        rows = published.copy()
        parts: list[_Part] = []
        reason = NotAchievable("")
        levels, there = levels_of_rows(published)
        for place, level in enumerate(levels):
            people = np.concatenate(there[place])
            if not len(people):
                continue  # nobody has as few as the least of every table
            rows[people] = level
            few = self.fewest(people)
            try:
                if few < self.task.least:
                    raise self.too_few(few, level)
                parts.append(self.on(people, rows, share))
            except NotAchievable as problem:
                reason = problem
                by_values = few >= self.task.least and not self.method.chooses_rows
                if place + 1 == len(levels) or by_values:
                    return parts, people, reason
                lower = (levels[place + 1 :] <= level).all(axis=1)
                there[place + 1 + int(np.argmax(lower))].append(people)
        return parts, np.empty(0, np.int64), reason

    def fewest(self, people: NDArray[np.int64]) -> int:
        """Return how many people there are, or of those who may be mixed where that decides."""
        if self.method.chooses_rows:
            return len(people)
        firsts = self.places[0] == 0  # the row of each person that is published in any case
        own = np.empty(len(self.whom[0]), np.int64)
        own[self.whom[0].labels[firsts]] = self.task.coded.strata.labels[firsts]
        return int(np.unique(own[people], return_counts=True)[1].min())

    def too_few(self, people: int, level: NDArray[np.int64]) -> NotAchievable:
        """Say that nobody can hide among so few."""
        who = "1 person has" if people == 1 else f"{people:,} people have"
        each = _rows(int(level[0]))
        for one, count in zip(self.task.coded.linked, level[1:], strict=True):
            each += f", {count:,} in {one.name}"
        return NotAchievable(
            f"Not achievable: {who} {each}, and each group needs at least {self.task.least} "
            "people with the same number of rows."
        )

    def too_torn(self, torn: int, everybody: int, limit: int) -> NotAchievable:
        """Say that more people are in two parts of the table than may be left out."""
        who = "1 person has" if torn == 1 else f"{torn:,} people have"
        sentences = [
            f"Not achievable: {who} rows that differ in a column that is never mixed, and all "
            "rows of a person must be in one group. Remove that column from "
            f"{option('never_mix')}, or publish one row per person: {option('most_rows', 1)}."
        ]
        if torn < everybody:
            sentences.append(
                f"Or allow Shoal to remove {torn:,} of {everybody:,} people "
                f"({percent(torn / everybody, 2)}): {option('suppress')} allows {limit:,}."
            )
        return NotAchievable(" ".join(sentences))

    def unlike_all(self, count: int) -> NotAchievable:
        """Say that nobody of the population could be one of those with so many rows."""
        required = " and ".join(
            repr(one.principle) for one in self.task.requirements if one.principle.population
        )
        return NotAchievable(
            f"{required} cannot hold: some people in the table have {_rows(count)}, but no "
            "person in the population has. Publish fewer rows per person, "
            f"{option('most_rows')}, or state that no reader knows how many rows a person has: "
            f"{option('rows', 'unknown')}."
        )

    def nothing_left(self, name: str) -> NotAchievable:
        """Say that a linked table would be empty, which nobody can have meant."""
        return NotAchievable(
            f"No row of {name} can be published: a group needs at least {self.task.least} "
            f"people with the same number of rows there. Require less, or leave {name} out."
        )

    def refusal(
        self,
        published: NDArray[np.int64],
        waiting: NDArray[np.int64],
        reason: NotAchievable,
        limit: int,
    ) -> str:
        """Say what would help those with the fewest rows, as far as it was tried."""
        fewest = int(published[:, 0].min())
        advice = []
        if published.max() > fewest:
            _, lost, _ = self.descend(np.minimum(published, fewest), self.share * 0)
            if not len(lost):  # else fewer rows do not help either
                advice.append(
                    f"Publish fewer rows per person: {option('most_rows', fewest)} works."
                )
        few = self.enough_gone(published, waiting) if self.method.chooses_rows else None
        if few is not None:
            advice.append(f"{option('suppress', few)} works.")
        if not advice and self.hides_whole_groups(published):
            advice.append(
                "If no reader can know how many rows a person has, Shoal can judge whole groups: "
                f"{option('rows', 'unknown')} works."
            )
        if not self.method.chooses_rows and self.fewest(waiting) >= self.task.least:
            advice.insert(
                0,
                f"{self.method!r} does not choose by their values which people to publish fewer "
                "rows of: that would reveal something about the values.",
            )
            return " ".join([reason.sentence, *advice])
        if few is not None or reason.limit is not None:
            return " ".join([reason.sentence, *advice])  # it has said so
        share = percent(len(waiting) / len(published), 2)
        need = f"{len(waiting):,} of {len(published):,} people, {share}"
        advice.append(
            f"{option('suppress')} allows {limit:,}, but Shoal would have to remove up to {need}."
        )
        return " ".join([reason.sentence, *advice])

    def enough_gone(self, published: NDArray[np.int64], waiting: NDArray[np.int64]) -> str | None:
        """Return a share of people without whom those with the fewest rows can stay."""
        least = np.minimum(published, published.min(axis=0))
        for share in SHARES:
            if Fraction(share, 100) > self.share:
                try:
                    self.on(waiting, least, Fraction(share, 100))
                except NotAchievable:
                    continue
                return f"{share}%"
        return None

    def hides_whole_groups(self, published: NDArray[np.int64]) -> bool:
        """Return whether everybody could stay if nobody knew how many rows a person has."""
        unknown = replace(self.task, coded=replace(self.task.coded, rows_known=False))
        try:
            replace(self, task=unknown).on(np.arange(len(published)), published)
        except (NotAchievable, UsageError):  # it may not be defined for people of several counts
            return False
        return True

    def joined(self, parts: list[_Part]) -> tuple[Task, Groups, Suppression]:
        """Return the rows of all parts as one table, with groups that are never mixed."""
        whole: Coded = self.task.coded
        places, labels, base = [], [], 0
        linked: list[list[NDArray[np.int64]]] = [[] for _ in whole.linked]
        for part in parts:
            table = part.coded.table
            places.append(np.searchsorted(whole.rows, table.rows))
            labels.append(table.person_of.of_row(part.groups.labels) + base)
            base += len(part.groups)
            for rows, before, after in zip(linked, whole.linked, table.linked, strict=True):
                rows.append(np.searchsorted(before.rows, after.rows))
        kept, groups = np.concatenate(places), np.concatenate(labels)
        order = np.argsort(kept)
        others = [np.sort(np.concatenate(rows)) for rows in linked]
        for one, left in zip(whole.linked, others, strict=True):
            if not len(left):
                raise self.nothing_left(one.name)
        coded = whole.linking(others).subset(kept[order])
        (gone, capped), *more = self.missing([kept, *others])
        return (
            replace(self.task, coded=coded),
            Groups(groups[order]),
            Suppression(
                in_the_way=sum(part.suppression.in_the_way for part in parts)
                + sum(map(len, self.left_out)),
                costly=sum(part.suppression.costly for part in parts),
                of_people=gone,
                capped=capped,
                linked=tuple(more),
            ),
        )

    def missing(self, kept: list[NDArray[np.int64]]) -> list[tuple[int, int]]:
        """Return of each table how many rows are left out of people who are gone, and who stay."""
        there = np.zeros(len(self.whom[0]), np.bool_)
        there[self.whom[0].labels[kept[0]]] = True
        found = []
        for of, rows in zip(self.whom, kept, strict=True):
            gone = int((~of.of_row(there)).sum())
            found.append((gone, len(of.labels) - len(rows) - gone))
        return found


def _besides(problem: NotAchievable, torn: int) -> NotAchievable:
    """Say who was left out before it was found that the others cannot stay."""
    who = "1 person" if torn == 1 else f"{torn:,} people"
    return NotAchievable(
        f"{problem.sentence} In addition, Shoal has already removed {who}, because their own "
        "rows differ in a column that is never mixed."
    )


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"
