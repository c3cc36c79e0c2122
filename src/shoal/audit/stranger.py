"""What a stranger learns about one person: from what the stranger knows, and the published files.

The stranger knows a person's quasi values, and how many rows the person has where people have
several. Everything published that fits is a candidate, whichever group it stands in, and all
candidates are equally likely. Nothing is taken from the search's groups or from the linkage: the
stranger has neither. A requirement bounds guesses in one group. Where several groups fit, the best
guess over all of them may be right more often, so the number that comes out is what is said.

In two tables the stranger looks the person up in `people` and reads the values of the groups of all
lines that fit. In a series some rows of a group stand for nobody, and a group with r real people in
n rows counts r / n for each of them. A candidate whose value is missing counts as near to every
guess, as it does for requirements.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.among import among_published, doubt, in_release
from shoal.audit.covers import CellCover
from shoal.audit.fullest import fullest, whole_weights
from shoal.audit.guessing import bounded
from shoal.audit.linking import Candidates
from shoal.audit.seen import Guess, Learned, PersonView
from shoal.audit.today import Today
from shoal.distances.counting import band_of_column, relative_band_of_column
from shoal.errors import InputError, UnknownColumn, UsageError, option
from shoal.notation import exact
from shoal.principles.groups import GuessBound
from shoal.sampling import draw
from shoal.table.coded import persons_of
from shoal.table.schema import PERSON, REAL, RESERVED
from shoal.table.settling import as_settled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from shoal.audit.published import Published
    from shoal.principles.requirement import Requirement
    from shoal.sampling import Sample
    from shoal.table.column import Column
    from shoal.table.partition import PersonOf
    from shoal.table.schema import Schema

EXACT = GuessBound(0, Fraction(1), Fraction(1))  # of a column that no requirement bounds
LINKED = "Tables that are published beside it are not part of this picture."
PLACEHOLDERS = "Some of these rows are placeholders. A reader does not know which."
FEWER = (
    "The release publishes at most some of a person's rows, so people with fewer rows than this "
    "person has are candidates too if no person has more."
)


@dataclass(frozen=True, eq=False)
class Fitting:
    """What fits a person: published rows, the candidate that each is about, and their weights."""

    lines: int  # rows, or lines of `people`, that fit
    rows: NDArray[np.int64]
    members: NDArray[np.int64]  # of each row, under `candidates`
    weights: NDArray[np.int64]  # of each candidate
    groups: int | None


@dataclass(frozen=True, eq=False)
class Stranger:
    """A reader who has the published tables, and knows of people what the original has of them.

    `original` has the rows as they are, of which `whom` says whom each is about.
    """

    published: Published
    original: pl.DataFrame
    whom: PersonOf
    rows_known: bool = True
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        published: Published,
        original: pl.DataFrame,
        *,
        person: str | None = None,
        hierarchies: Mapping[str, object] | None = None,
    ) -> Stranger:
        """Make one of published tables and of the original table, whose owner alone has it.

        `person` names the column that says whom rows of the original are about, where people have
        several; `hierarchies` are those that the owner listed.
        """
        manifest, rows = published.stated, published.table
        kinds = manifest.kinds
        owned = {n: said for n, said in (hierarchies or {}).items() if kinds.get(n) == "node"}
        several = PERSON in rows.columns and rows[PERSON].n_unique() < rows.height
        about = PERSON if several else None
        published = replace(published, name="release", person=about, hierarchies=owned)
        schema = published.schema
        if several and person is None:
            msg = (
                "People have several rows in this release. Name the column that says whom the rows "
                f"of the original are about: {option('person')}."
            )
            raise UsageError(msg)
        for name in (*schema.quasi, *schema.sensitive, *((person,) if several and person else ())):
            if name not in original.columns:
                raise UnknownColumn(name, original.columns)
        known = manifest.rows_known is not False
        remarks = [LINKED] * bool(manifest.tables)
        remarks += [PLACEHOLDERS] * (REAL in rows.columns)
        whom = persons_of(original, person if several else None)
        return cls(published, original, whom, known, tuple(remarks))

    @property
    def schema(self) -> Schema:
        """The roles of the published columns."""
        return self.published.schema

    @cached_property
    def _known(self) -> pl.DataFrame:
        """What is known of people, read and rounded as the release has it."""
        found = as_settled(self.original, self.schema)
        assert found is not None
        return found

    @cached_property
    def _cover(self) -> CellCover:
        seen, people = self.published, self.published.people
        whole = seen if people is None else replace(seen, table=people)
        return CellCover(whole, self._known)

    @cached_property
    def _candidates(self) -> Candidates:
        return Candidates(self._cover, self.whom, self._about)

    @cached_property
    def _about(self) -> PersonOf:
        """Whom each published row is about."""
        return persons_of(self.published.table, self.published.person)

    @cached_property
    def _today(self) -> Today:
        """The original table, in which the stranger would look today."""
        kinds = self.published.kinds
        numbers = {name for name in self.schema.quasi if kinds.get(name) == "interval"}
        return Today(self.original, self.schema, self.whom, numbers)

    @cached_property
    def among(self) -> NDArray[np.int64]:
        """Who of the original may be published: people, or rows."""
        return np.flatnonzero(
            among_published(self.published, self._cover, self.original, self.whom)
        )

    def alike_today(self) -> NDArray[np.int64]:
        """Count who shared each description before, among those who may be published."""
        kinds = self._today.kinds_of_people[self.among]
        return np.unique(kinds, return_counts=True)[1]

    def own(self, row: int) -> tuple[int, NDArray[np.int64]]:
        """Return whom a row of the original is about, and all rows of that person."""
        return self._today.own(row)

    def view(self, row: int) -> PersonView:
        """Return what is learned about the person of a row of the original, counted from 0."""
        height = self.original.height
        if not 0 <= row < height:
            msg = f"Rows of the original are counted from 0 to {height - 1:,}. Got {row}."
            raise InputError(msg)
        table, (_, mine) = self._today, self.own(row)
        alike, today = table.alike(row)
        found = self.fitting(row)
        capped = self.whom.given and len(found.rows) > 0
        capped = capped and self.rows_known and len(found.rows) < len(mine) * len(found.weights)
        there = in_release(self.published, self.original, mine, found.rows)
        doubts = [doubt(self.published.stated)] * (there is None)
        return PersonView(
            row=row,
            known={name: table.cells(name, mine) for name in self.schema.quasi},
            own_rows=len(mine),
            several=self.whom.given,
            today_rows=len(today),
            today_people=alike,
            rows=found.lines,
            people=len(found.weights) if self.whom.given else found.lines,
            groups=found.groups,
            two_tables=self.published.people is not None,
            columns=tuple(
                self._learned(name, table.cells(name, today), table.cells(name, mine), found)
                for name in self.schema.sensitive
            ),
            remarks=(*self.remarks, *doubts, *[FEWER] * capped),
            published=there,
        )

    def fitting(self, row: int) -> Fitting:
        """Return what fits the person of a row of the original."""
        if self.published.people is not None:
            return self._looked_up(row)
        if not self.whom.given:
            matching = self._cover.matching(row)
            rows = np.flatnonzero(matching[self.published.by_cells.labels])
            return self._weighed(len(rows), rows, np.arange(len(rows)))
        person, mine = self.own(row)
        if self.rows_known:
            some = self._candidates.find(person)
        else:
            fits = np.any([self._cover.matching(int(one)) for one in mine], axis=0)
            some = np.flatnonzero(fits[self._candidates.description])
        rows, members = self._about.rows_of(some)
        return self._weighed(len(rows), rows, members)

    def _weighed(self, lines: int, rows: NDArray[np.int64], members: NDArray[np.int64]) -> Fitting:
        table, count = self.published.table, int(members.max(initial=-1)) + 1
        weights = np.ones(count, np.int64)
        groups = None
        if not self.published.heterogeneous:
            groups = len(np.unique(self.published.groups.labels[rows]))
        if REAL in table.columns and len(rows):
            first = np.unique(members, return_index=True)[1]
            of_group = self.published.groups.labels[rows[first]]
            sizes = self._people_of_groups[of_group].tolist()
            real = table[REAL].gather(rows[first]).cast(pl.Int64).to_list()
            weights = whole_weights([Fraction(r, n) for r, n in zip(real, sizes, strict=True)])
        return Fitting(lines, rows, members, weights, groups)

    @cached_property
    def _people_of_groups(self) -> NDArray[np.int64]:
        """How many people each group has."""
        return np.bincount(self._about.of_part(self.published.groups.labels))

    def _looked_up(self, row: int) -> Fitting:
        """Look a person up in `people`, and return the values of all groups that fit."""
        people = self.published.people
        assert people is not None
        _, mine = self.own(row)
        lines = self._cover.candidates(int(mine[0]))
        counted = people[RESERVED].cast(pl.String).filter(lines).value_counts()
        groups = dict(counted.iter_rows())
        if not groups:
            return Fitting(0, np.zeros(0, np.int64), np.zeros(0, np.int64), np.ones(0, np.int64), 0)
        firsts, counts = self._about.first, self._about.sizes
        names = self.published.table[RESERVED].cast(pl.String).gather(firsts)
        inside = names.is_in(list(groups)).to_numpy()
        if self.whom.given and self.rows_known:
            inside &= counts <= len(mine)
            inside &= counts == counts[inside].max(initial=0)
        some = np.flatnonzero(inside)
        theirs = names.gather(some).to_list()
        each = {name: theirs.count(name) for name in set(theirs)}
        rows, members = self._about.rows_of(some)
        weights = whole_weights([Fraction(groups[name], each[name]) for name in theirs])
        return Fitting(int(lines.sum()), rows, members, weights, len(each))

    @cached_property
    def _columns(self) -> dict[str, Column]:
        return {name: self.published.sensitive(name) for name in self.schema.sensitive}

    def _learned(
        self, name: str, today: tuple[str | None, ...], own: tuple[str | None, ...], found: Fitting
    ) -> Learned:
        """Return what is learned about one protected column."""
        column = self._columns[name]
        codes = _as_read(column)[found.rows]
        total = int(found.weights.sum())
        held = np.unique(np.stack([codes, found.members], axis=1), axis=0)
        kinds, which = np.unique(held[:, 0], return_inverse=True)
        sums = np.zeros(len(kinds), np.int64)
        np.add.at(sums, which, found.weights[held[:, 1]])
        spellings = column.spellings.gather(kinds).to_list()
        missing = column.missing
        values = [
            (None if code == missing else text, Fraction(int(weight), total))
            for code, text, weight in zip(kinds.tolist(), spellings, sums.tolist(), strict=True)
        ]
        numbers: list[float | None] = [None] * len(values)
        if column.numeric:
            numbers = [
                None if code == missing else float(column.numbers[code]) for code in kinds.tolist()
            ]
        bounds = {
            (one.principle.guess.width, one.principle.guess.relative): one
            for one in bounded(self.published, name)
            if one.principle.guess is not None
        }
        return Learned(
            name,
            column.numeric,
            column.dates,
            own,
            today,
            tuple(values),
            tuple(numbers),
            tuple(
                self._guess(column, one, found, codes)
                for one in (bounds.values() if bounds else [None])
            )
            if total
            else (),
        )

    def _guess(
        self, column: Column, one: Requirement | None, found: Fitting, codes: NDArray[np.int64]
    ) -> Guess:
        """Return the best guess over everything that fits."""
        bound = EXACT if one is None else one.principle.guess
        assert bound is not None
        every: NDArray[Any] = np.arange(column.distinct)
        first = last = ends = every
        if column.numeric and bound.width:
            width = exact(bound.width)
            band = (
                relative_band_of_column(column, width)
                if bound.relative
                else band_of_column(column, width, width)
            )
            first, last = band.first, band.last
            ends = band_of_column(column, exact(0), 2 * width).last
        gone = np.unique(found.members[codes == column.missing])  # near to every guess
        rest = ~np.isin(found.members, gone)
        some, whose = codes[rest], found.members[rest]
        total, sure = int(found.weights.sum()), int(found.weights[gone].sum())
        listed, value = fullest(some, whose, found.weights, first, last)
        begins = np.arange(column.distinct)
        wherever, _ = fullest(some, whose, found.weights, begins, ends)
        return Guess(
            bound.width,
            bound.relative,
            None if one is None else repr(one),
            Fraction(sure + listed, total),
            column.spellings[value] if len(some) else None,
            None if bound.relative else Fraction(sure + wherever, total),
            None if one is None else bound.listed,
            None if one is None else bound.any,
        )

    def most_exposed(self, most: int, seed: int | None = None) -> tuple[int, Sample]:
        """Return the row of the person about whom most is learned, among some drawn at random.

        That is whose value is guessed with the largest chance; of several, who has the fewest
        candidates; of several still, who comes first. People who are not in the release, or have
        no protected value to guess, are left aside where anybody else is there.
        """
        people = self.among
        sample = draw(len(people), most, seed)
        worst: tuple[bool, bool, Fraction, int] | None = None
        chosen = 0
        for person in people[sample.places].tolist():
            row = int(self.whom.first[person])
            found = self.fitting(row)
            mine = self.whom.rows(person)
            names = self.schema.sensitive
            valued = [name for name in names if any(self._today.cells(name, mine))]
            chance = max(
                (self._chance(name, found) for name in valued or names if found.weights.sum()),
                default=Fraction(0),
            )
            out = in_release(self.published, self.original, mine, found.rows) is False
            there = len(found.weights) > 0 and not out
            key = (there, bool(valued), chance, -len(found.weights))
            if worst is None or key > worst:
                worst, chosen = key, row
        return chosen, sample

    def _chance(self, name: str, found: Fitting) -> Fraction:
        column = self._columns[name]
        codes = _as_read(column)[found.rows]
        asked: list[Requirement | None] = [*bounded(self.published, name)] or [None]
        guesses = [self._guess(column, one, found, codes) for one in asked]
        return max(one.chance for one in guesses)


def _as_read(column: Column) -> NDArray[np.int64]:
    """Return the codes of a column; labels that write one number are one to a reader."""
    codes = column.codes if column.alike is None else column.alike[column.codes]
    return codes.astype(np.int64)
