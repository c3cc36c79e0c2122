"""People: whom rows are about, and a table of people made from a table of rows.

A search moves people. One person is one point in quasi space, in the middle of what its rows cover,
and has one sensitive value, or where its rows differ a set of values. How many rows a person has is
taken for known, so people with equally many rows are searched, and measured, by themselves.

A population is everybody who could be in a table, coded to be compared with the table's values.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.errors import BadCells, InputError, UnknownColumn, UsageError, option
from shoal.table.coded import Coded, coordinates, persons_of
from shoal.table.coding import check_type, code_lenient
from shoal.table.ends import ranks_within
from shoal.table.missing import first_rows, is_missing
from shoal.table.partition import Everyone
from shoal.table.schema import PERSON
from shoal.table.sensitive import Sensitive, ValueSets

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl
    from numpy.typing import NDArray

    from shoal.table.column import Column
    from shoal.table.partition import PersonOf


@dataclass(frozen=True, eq=False)
class Population:
    """The quasi columns of a population, coded by their own values, and whom rows are about."""

    columns: tuple[Column, ...]
    person_of: PersonOf

    def __len__(self) -> int:
        return len(self.columns[0].codes)

    def having(self, count: int) -> Population:
        """Return those who have exactly so many rows."""
        rows = np.flatnonzero(self.person_of.of_row(self.person_of.sizes == count))
        columns = tuple(replace(own, codes=own.codes[rows]) for own in self.columns)
        return Population(columns, self.person_of.only(rows))

    def places(self, coded: Coded) -> NDArray[np.int64]:
        """Return where each person stands among the values of a table, a column each.

        A person with the value of rank r stands at 2 r + 1, one between ranks r - 1 and r at 2 r;
        in a column with a hierarchy, at the place in the tree that it has among these people
        (`Coded.among`). A label that the table does not have stands at -1.
        """
        found = np.empty((len(self), len(self.columns)), np.int64)
        for j, (own, theirs) in enumerate(zip(self.columns, coded.quasi, strict=True)):
            if theirs.numeric:
                first, last = ranks_within(theirs, own.spellings, own.spellings)
                places = first + last + 1
                if own.gap is not None:
                    assert theirs.gap is not None, "see code_people"
                    places[own.gap] = 2 * theirs.gap + 1
            elif theirs.grown is not None:
                assert theirs.grown.standing is not None, "see Coded.among"
                places = theirs.grown.standing
            else:
                ranks = _placed(own.spellings, theirs.spellings)
                places = np.where(ranks < 0, -1, 2 * ranks + 1)
            found[:, j] = places[own.codes]
        return found


def middles(places: NDArray[np.int64], people: PersonOf, coded: Coded) -> NDArray[np.int64]:
    """Return one place for each person, where a search puts those of the table with these rows.

    `places` are those of the rows. It serves to choose a half; whom that fits, all rows decide.
    """
    low, high = people.ends(places)
    if low is high:
        return low
    for j, column in enumerate(coded.quasi):
        if not column.numeric and column.tree is None:
            continue  # of labels the first, and nobody fits who has one that the table lacks
        where, known = coordinates(column), column.places
        if known is None:
            known = 2 * np.arange(column.distinct) + 1
        ends = (
            where[np.minimum(np.searchsorted(known, end[:, j]), column.distinct - 1)]
            for end in (low, high)
        )
        middle = np.searchsorted(where, sum(ends) / 2)
        low[:, j] = np.where(low[:, j] == high[:, j], low[:, j], known[middle])
    return low


def _placed(texts: Iterable[str], labels: Iterable[str]) -> NDArray[np.int64]:
    """Return the place of each text among labels, -1 where it is none of them."""
    place = {label: position for position, label in enumerate(labels)}
    return np.array([place.get(text, -1) for text in texts], np.int64)


def whose_rows(population: pl.DataFrame, person: str | None) -> pl.DataFrame:
    """Return a population whose column `person` says whom each row is about.

    Every row being somebody by itself would be a guess, and would count people with many rows many
    times.
    """
    name = PERSON if person is None else person
    if name not in population.columns:
        msg = (
            "The population table needs the person column too, as the table has. "
            f"{UnknownColumn(name, population.columns)}"
        )
        if person is None:
            msg = f"{msg} Name the column of the population with {option('person')}."
        raise UsageError(msg)
    cells = population[name]
    missing = is_missing(cells)
    if missing.any():
        advice = "Remove those rows from the population, or fill in the cells."
        what = f"{name} (population)"
        raise BadCells(what, "missing", first_rows(missing), int(missing.sum()), advice)
    others = [other for other in population.columns if other not in {name, PERSON}]
    return population.select(*others, cells.alias(PERSON))


def check_people(population: pl.DataFrame, quasi: tuple[str, ...]) -> None:
    """Raise where a population lacks a column or people."""
    for name in quasi:
        if name not in population.columns:
            msg = f"The population: {UnknownColumn(name, population.columns)}"
            raise UsageError(msg)
        check_type(population[name])
    if not population.height:
        msg = "The population has a header but no rows."
        raise InputError(msg)


def refuse_missing(cells: pl.Series) -> None:
    """Raise where a number of somebody is missing: it has no place in an interval."""
    missing = is_missing(cells)
    if missing.any():
        advice = "Remove those people from the population, or fill in the cells."
        what = f"{cells.name} (population)"
        raise BadCells(what, "missing", first_rows(missing), int(missing.sum()), advice)


def code_people(population: pl.DataFrame, coded: Coded) -> Population:
    """Code a population by the kinds that the columns of the table have."""
    check_people(population, tuple(column.name for column in coded.quasi))
    columns = []
    for column in coded.quasi:
        cells = population[column.name]
        source = column if column.grown is None else column.grown.source
        kind = "date" if source.dates else "numeric" if source.numeric else "categorical"
        if column.numeric and column.gap is None:
            refuse_missing(cells)
        columns.append(code_lenient(cells, kind=kind))
    whose = persons_of(population, PERSON if coded.person_of.given else None)
    return Population(tuple(columns), whose)


def code_both(population: pl.DataFrame, coded: Coded) -> tuple[Coded, Population]:
    """Code a population, and give its values a place in the table's trees."""
    people = code_people(population, coded)
    return coded.among(people.columns), people


class SeveralValues(Sensitive):
    """The values of people some of whom have several; nobody has *a* code.

    Whatever is defined for one value per person asks for `codes` and is refused.
    """

    several = True

    def __init__(self, columns: tuple[Column, ...], places: NDArray, sets: ValueSets) -> None:
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "places", places)
        object.__setattr__(self, "sets", sets)

    @property
    def codes(self) -> NDArray[np.int32]:
        """Raise: there is no one value."""
        msg = (
            f"Some people have several values of {self.name}, or none, but this method or "
            "principle needs one value per person. Publish one row per person, "
            f"{option('most_rows', 1)}, or choose another method or principle."
        )
        raise UsageError(msg)

    @property
    def known(self) -> Sensitive:
        """The values that are not missing, as if there were no others; codes stay the same."""
        return self if self.gap is None else SeveralValues(*self.known_columns(), self.sets)

    @property
    def members(self) -> NDArray[np.int32]:
        """The number of each person's set."""
        return np.arange(len(self.sets.ends) - 1, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class CodedPeople(Coded):
    """A table of people: one point each, `rows` their numbers, and the table they are made from."""

    source: Coded = field(kw_only=True)

    whom: ClassVar[str] = "people"

    @property
    def table(self) -> Coded:
        """The table of rows that these people are made from."""
        return self.source

    def value(self, names: tuple[str, ...]) -> Sensitive:
        """Return what people have in sensitive columns, taken together row by row."""
        rows = self.source.table_of(names) or self.source
        return values_of(rows.value(names), rows.person_of)

    def subset(self, kept: NDArray[np.int64]) -> Coded:
        """Return some of the people, with nothing left of the others."""
        return by_people(self.source.subset(self.rows_of(kept)))

    def part(self, rows: NDArray[np.int64]) -> Coded:
        """Return some of the people, over the same domains."""
        assert (np.diff(rows) > 0).all(), "people keep their order"
        return by_people(self.source.part(self.rows_of(rows)))

    def rows_of(self, kept: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of some of the people."""
        stays = np.zeros(len(self), np.bool_)
        stays[kept] = True
        return np.flatnonzero(self.source.person_of.of_row(stays))


def by_people(table: Coded) -> Coded:
    """Return the table with one point a person in place of its rows."""
    person_of = table.person_of
    if not person_of.given:
        return table
    return CodedPeople(
        quasi=tuple(_middle(column, person_of) for column in table.quasi),
        sensitive=table.sensitive,
        rows=np.arange(len(person_of)),
        person_of=Everyone(len(person_of)),
        strata=table.strata.only(person_of.first),
        weights=table.weights,
        cells=table.cells,
        never_mix=table.never_mix,
        source=table,
    )


def values_of(rows: Sensitive, person_of: PersonOf) -> Sensitive:
    """Return the values of people from those of their rows, each value of a person once.

    Where everybody has one, it is the value of a person as of a row. Nobody has to have any.
    """
    if not person_of.given:
        return rows
    keys = np.unique(person_of.labels * rows.distinct + rows.codes)
    owners, codes = np.divmod(keys, max(rows.distinct, 1))
    codes = codes.astype(np.int32)
    each = np.bincount(owners, minlength=len(person_of))
    if (each == 1).all():
        columns = tuple(
            replace(
                column,
                codes=np.ascontiguousarray(rows.places[codes, place]),
                offered=column.whole,
            )
            for place, column in enumerate(rows.columns)
        )
        return Sensitive(columns, codes, rows.places)
    ends = np.concatenate([[0], np.cumsum(each)]).astype(np.int64)
    return SeveralValues(rows.columns, rows.places, ValueSets(ends, codes))


def one_value_each(value: Sensitive) -> Sensitive | None:
    """Return values of which everybody has one, the least; None where somebody has none."""
    if not value.several:
        return value
    begins, ends = value.sets.ends[:-1], value.sets.ends[1:]
    if (begins == ends).any():
        return None
    return Sensitive(value.columns, value.sets.codes[begins], value.places)


def subset_values(value: Sensitive, rows: NDArray[np.int64]) -> Sensitive:
    """Return the values of some rows, over the same distinct ones."""
    return replace(value, codes=value.codes[rows])


def gathered(value: Sensitive, members: NDArray[np.int64]) -> Sensitive:
    """Return the values of some members, in their order; one may stand there several times."""
    if not value.several:
        return subset_values(value, members)
    begins = value.sets.ends[members]
    counts = value.sets.ends[members + 1] - begins
    ends = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    places = np.arange(ends[-1]) + np.repeat(begins - ends[:-1], counts)
    return SeveralValues(value.columns, value.places, ValueSets(ends, value.sets.codes[places]))


def _middle(column: Column, person_of: PersonOf) -> Column:
    """Return the column with one rank a person: the middle of its range, for labels its first.

    The search alone sees it; what is published covers all rows.
    """
    low, high = person_of.ends(column.codes)
    if (low < high).any() and (column.numeric or column.tree is not None):
        where = coordinates(column)
        low = np.searchsorted(where, (where[low] + where[high]) / 2).astype(np.int32)
    return replace(column, codes=np.ascontiguousarray(low, np.int32))
