"""Exposed columns: those published unchanged that no requirement is about, counted from the files.

A reader who knows a person's quasi cells takes the person for one of its candidates. One who knows
exposed cells as well takes it for those candidates whose cells are the same: spelling for spelling,
a missing cell being a value; numbers also within what the schema says is `near`. People with
several rows are compared by all of them, in whatever order they stand. One who knows the quasi
cells alone learns of them what all candidates have in some row, or more than half of them.

In a series some rows of a group stand for nobody, and nobody can tell which. Candidates are then
those of one group, and counts are of real people, for the worst choice of these rows.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.cells import cell_codes
from shoal.audit.people import KnownCells, descriptions, most_shared
from shoal.distances.counting import absolute_band
from shoal.notation import exact
from shoal.principles.groups import Groups
from shoal.table.coding import NUMBER, code_column
from shoal.table.decimals import plain_numbers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from shoal.distances.relation import Band
    from shoal.table.partition import PersonOf
    from shoal.table.schema import Schema

MANY = 50  # values; a column with more of them may be refused
PAIRS = 2_000_000  # of people whose numbers are compared at a time


@dataclass(frozen=True, eq=False)
class ShownRows:
    """The rows of a published table and whom each is about."""

    table: pl.DataFrame
    schema: Schema
    whom: PersonOf

    def cells(self, name: str, *, near: bool) -> KnownCells:
        """Return what a reader compares of a column; with `near`, numbers by their difference."""
        column = self.table[name]
        codes, distinct = cell_codes(column)
        if not near or name not in self.schema.near:
            return KnownCells(codes, distinct)
        sign = self.schema.decimal if name in self.schema.other else None  # others are plain
        texts = column.cast(pl.String).to_frame()
        plain = plain_numbers(texts, [name], sign, numeric=[name])[name]
        known = plain.str.contains(NUMBER).fill_null(value=False)
        if not known.any():
            return KnownCells(codes, distinct)
        coded = code_column(plain.filter(known), kind="numeric")
        assert coded.values is not None
        reach = exact(self.schema.near[name])
        numbers = np.zeros(len(column), np.int32)
        numbers[known.to_numpy()] = coded.codes
        alike = np.where(known.to_numpy(), distinct, codes)
        return KnownCells(alike, distinct + 1, numbers, absolute_band(coded.values, reach, reach))


@dataclass(frozen=True, eq=False)
class Line:
    """Numbers of people, compared one by one: those of u are `codes[starts[u] :][: counts[u]]`."""

    starts: NDArray[np.int64]
    counts: NDArray[np.int64]
    codes: NDArray[np.int32]
    near: Band

    @property
    def first(self) -> NDArray[np.int32]:
        """The first number of each person, 0 where there is none."""
        places = np.minimum(self.starts, len(self.codes) - 1)
        return np.where(self.counts > 0, self.codes[places], 0).astype(np.int32)

    def alike(self, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which pairs of people, with equally many numbers each, have all of them near."""
        found = np.ones(len(one), np.bool_)
        for place in range(int(self.counts[one].max(initial=0))):
            some = np.flatnonzero(found & (self.counts[one] > place))
            code = self.codes[self.starts[one[some]] + place]
            theirs = self.codes[self.starts[other[some]] + place]
            found[some] = (self.near.first[code] <= theirs) & (theirs <= self.near.last[code])
        return found


@dataclass(frozen=True, eq=False)
class Everybody:
    """People, whom each may be taken for, and the rows in which exposed cells of theirs stand.

    `by_group` are the candidates of each in its group, `by_cells` those with equal quasi cells.
    `real` says in a series how many people of each group are real, None where all are.
    """

    by_group: Groups
    by_cells: Groups
    tables: tuple[ShownRows, ...]
    real: NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls,
        by_group: Groups,
        by_cells: Groups,
        tables: tuple[ShownRows, ...],
        stated: NDArray[np.int64] | None,
    ) -> Everybody:
        """Return a crowd; a series states for each person how many of its group are real."""
        if stated is None:
            return cls(by_group, by_cells, tables)
        both = ((some.labels, len(some)) for some in (by_group, by_cells))
        real = by_group.of_part(stated)
        return cls(by_group, Groups.alike(len(stated), both), tables, real)

    def __len__(self) -> int:
        return len(self.by_group.labels)

    @property
    def there(self) -> NDArray[np.int64]:
        """How many people of each group are real."""
        return self.by_group.sizes if self.real is None else self.real

    @cached_property
    def hidden(self) -> NDArray[np.int64]:
        """How many rows of each person's group stand for nobody."""
        return (self.by_group.sizes - self.there)[self.by_group.labels]

    def inferred(self, rows: ShownRows, name: str) -> NDArray[np.int64]:
        """Count for each person the candidates by quasi cells who share what most of them share.

        That is all cells of a column, or of people with several rows one cell in some row.
        """
        found = self.alike(self.by_cells, [name])
        if not rows.whom.given:
            return found
        cells = rows.cells(name, near=True)
        return np.maximum(found, most_shared(self.by_cells, rows.whom, cells))

    def known(self, said: Mapping[str, bool]) -> list[str]:
        """Return the exposed columns of these tables that somebody may know."""
        own = {name for rows in self.tables for name in rows.table.columns}
        return [name for name, nobody in said.items() if name in own and not nobody]

    def classes(self, groups: Groups, names: Collection[str], *, near: bool = False) -> Groups:
        """Return those of each group whose cells are spelled alike; with `near`, all but numbers.

        Which numbers are near is left open then.
        """
        if not names:
            return groups

        def marks() -> Iterator[tuple[NDArray[np.int64], int]]:
            yield groups.labels, len(groups)
            for rows in self.tables:
                cells = (rows.cells(one, near=near) for one in _own(rows, names))
                columns = ((one.codes, one.distinct) for one in cells)
                if not rows.whom.given:
                    yield from columns
                elif _own(rows, names):
                    alike = Groups.alike(rows.table.height, columns)
                    found = _by_person(alike, rows.whom)
                    yield found, int(found.max()) + 1

        return Groups.alike(len(self), marks())

    def alike(self, groups: Groups, names: Collection[str]) -> NDArray[np.int64]:
        """Count for each person those of its group, itself among them, whose cells are alike."""
        classes = self.classes(groups, names, near=True)
        lines = [line for rows in self.tables for line in _lines(rows, names)]
        return near_ones(classes, lines) if lines else classes.sizes[classes.labels]

    def candidates(self, groups: Groups, names: Collection[str]) -> NDArray[np.int64]:
        """Count for each person the real people of its group whose cells are alike, at least."""
        return np.maximum(self.alike(groups, names) - self.hidden, 1)

    def count(self, which: NDArray[np.bool_]) -> int:
        """Count people, of each group at most those who are real."""
        groups = self.by_group
        counted = np.bincount(groups.labels[which], minlength=len(groups))
        return int(np.minimum(counted, self.there).sum())


def _own(rows: ShownRows, names: Collection[str]) -> list[str]:
    return [name for name in rows.table.columns if name in names]


def _by_person(alike: Groups, whom: PersonOf) -> NDArray[np.int64]:
    """Return equal numbers for people whose rows are alike, and 0 for those who have none."""
    found = np.zeros(len(whom), np.int64)
    found[whom.sizes > 0] = descriptions(alike.labels, whom).labels + 1
    return found


def _lines(rows: ShownRows, names: Collection[str]) -> list[Line]:
    """Return the numbers of a table that are compared by their difference."""
    own = _own(rows, names)
    cells = [rows.cells(name, near=True) for name in own if name in rows.schema.near]
    numbers = [(one.numbers, one.near) for one in cells]
    known = [(codes, near) for codes, near in numbers if codes is not None and near is not None]
    if not known:
        return []
    every = (rows.cells(name, near=True) for name in own)
    alike = Groups.alike(rows.table.height, ((one.codes, one.distinct) for one in every))
    keys: list[NDArray] = [codes for codes, _ in reversed(known)]
    order = np.lexsort([*keys, alike.labels, rows.whom.labels])
    starts, counts = rows.whom.starts[:-1], rows.whom.sizes
    return [Line(starts, counts, codes[order], near) for codes, near in known]


def near_ones(classes: Groups, lines: Sequence[Line]) -> NDArray[np.int64]:
    """Count for each person those of its class, itself among them, with all numbers near.

    Candidates stand in a window of the first numbers; where there are more, pairs are compared.
    """
    line = lines[0]
    own, distinct = line.first, len(line.near.first)
    base = classes.labels * distinct
    order = np.argsort(base + own, kind="stable")
    ranked = (base + own)[order]
    low = np.searchsorted(ranked, base + line.near.first[own], side="left")
    reach = np.searchsorted(ranked, base + line.near.last[own], side="right") - low
    if len(lines) == 1 and line.counts.max() <= 1:
        return reach.astype(np.int64)
    found = np.empty(len(own), np.int64)
    ends = np.cumsum(reach)
    begin = 0
    while begin < len(own):
        before = ends[begin] - reach[begin]
        end = max(begin + 1, int(np.searchsorted(ends, before + PAIRS, side="right")))
        one = np.repeat(np.arange(begin, end), reach[begin:end])
        steps = np.arange(len(one)) - (ends - reach - before)[one]
        other = order[low[one] + steps]
        near = reduce(np.logical_and, (each.alike(one, other) for each in lines))
        found[begin:end] = np.bincount(one[near] - begin, minlength=end - begin)
        begin = end
    return found


# What is counted adds up over parts of a table that have whole groups


@dataclass(frozen=True)
class ColumnTally:
    """What an exposed column shows of people.

    `alone` are the only ones of their group with their cells. `certain` and `likely` are those
    whose candidates all have their cells, or more than half of them; of people with several rows
    one cell of theirs is enough. `values` are some of the different cells, all where they are few.
    """

    alone: int
    certain: int
    likely: int
    values: frozenset[str | None]

    def names_people(self, people: int, *, secret: bool) -> bool:
        """Return whether over half of so many people are alone by it, by more than MANY values.

        A sensitive column is one that readers do not know, unless it holds names or free text.
        """
        if 2 * self.alone <= people or len(self.values) <= MANY:
            return False
        words = are_words(pl.Series(sorted(self.values, key=str), dtype=pl.String))
        return not secret or 2 * int(words.sum()) > len(words)

    def __add__(self, other: ColumnTally) -> ColumnTally:
        some = self.values | other.values
        return ColumnTally(
            self.alone + other.alone,
            self.certain + other.certain,
            self.likely + other.likely,
            frozenset(sorted(some, key=str)[: MANY + 1]),
        )


@dataclass(frozen=True)
class Tally:
    """People of a release, counted: in all, by column, and by how many candidates they have.

    `fewest` is the least number of candidates by the quasi cells, `candidates` says how many people
    have how many by these and the exposed cells that may be known, and `learned` for each
    requirement about how many a reader who knows those cells learns more than it allows.
    """

    people: int
    fewest: int
    columns: Mapping[str, ColumnTally]
    candidates: Counter[int]
    learned: Mapping[str, int]

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.people + other.people,
            min(self.fewest, other.fewest),
            {name: one + other.columns[name] for name, one in self.columns.items()},
            self.candidates + other.candidates,
            {name: count + other.learned[name] for name, count in self.learned.items()},
        )


def are_words(labels: pl.Series) -> pl.Series:
    """Return which labels are words rather than codes: letters, and more of them than digits.

    With digits among them, three letters have to stand together: `12 Main Street` is words, and
    `SW1A 1AA` and `I21.3` are codes.
    """
    letters, digits = (labels.str.count_matches(kind) for kind in (r"\p{L}", r"\p{N}"))
    together = labels.str.contains(r"\p{L}{3}")
    return ((letters > digits) & ((digits == 0) | together)).fill_null(value=False)


def count_columns(crowd: Everybody, names: Collection[str]) -> dict[str, ColumnTally]:
    """Count what each exposed column shows by itself."""
    groups, cells = crowd.by_group, crowd.by_cells
    least = cells.sizes[cells.labels] - crowd.hidden  # of candidates by quasi cells
    found = {}
    for rows in crowd.tables:
        for name in _own(rows, names):
            alike = crowd.inferred(rows, name)
            values = rows.table[name].unique().cast(pl.String).sort().head(MANY + 1)
            found[name] = ColumnTally(
                crowd.count(crowd.candidates(groups, [name]) == 1),
                crowd.count(alike >= least),
                crowd.count(2 * alike > least),
                frozenset(values),
            )
    return found


def spread_of(
    labels: NDArray[np.int64], candidates: NDArray[np.int64], there: NDArray[np.int64]
) -> Counter[int]:
    """Count people by their candidates: of each group so many as are there, the worst ones."""
    sizes, worst = np.bincount(labels, minlength=len(there)), candidates
    if (sizes > there).any():
        order = np.lexsort((candidates, labels))
        rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        worst = candidates[order][rank < there[labels[order]]]
    counts = np.bincount(worst)
    return Counter({many: int(counts[many]) for many in np.flatnonzero(counts).tolist()})


def tally(crowd: Everybody, said: Mapping[str, bool], learned: Mapping[str, int]) -> Tally:
    """Count what exposed columns show; `said` says of which it is stated that nobody knows them."""
    found = crowd.candidates(crowd.by_cells, crowd.known(said))
    return Tally(
        int(crowd.there.sum()),
        int(crowd.candidates(crowd.by_cells, ()).min()),
        count_columns(crowd, said),
        spread_of(crowd.by_group.labels, found, crowd.there),
        dict(learned),
    )


def tally_apart(
    people: Everybody,
    values: Everybody,
    groups: NDArray[np.int64],
    said: Mapping[str, bool],
    learned: Mapping[str, int],
) -> Tally:
    """Count the same where quasi cells stand in one table and sensitive cells in another.

    Exposed cells beside people narrow these down, those beside values the rows of a group. Who has
    which is not published, so of each group the worst of both are counted. `groups` are those of
    the values, numbered as those of the people are.
    """
    whole = tally(people, said, learned)
    if values.known(said):
        found = [side.candidates(side.by_cells, side.known(said)) for side in (people, values)]
        labels = np.concatenate([people.by_group.labels, groups])
        spread = spread_of(labels, np.concatenate(found), people.there)
    else:
        spread = whole.candidates
    columns = {**whole.columns, **count_columns(values, said)}
    return Tally(whole.people, whole.fewest, columns, spread, whole.learned)
