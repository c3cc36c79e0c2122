"""Which known people a published cell covers.

A manifest says what the cells of a column are: intervals, sets or nodes. Of a table without one,
cells are taken for what they look like: closed, open and half-open intervals (`[17, 24]`,
`(17, 24]`, `17-24`, `17..24`), one-sided ones (`<=24`, `>24`), numbers with hidden digits
(`11***`), sets (`["a", "b"]`, `{a, b}`, `a|b`), plain values, names of nodes where a hierarchy is
given, and `*`. A cell that is none of these rules nobody out and is counted as unread.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.cells import covers_missing, interval_ends, read_set
from shoal.audit.reading import code_by_kind, labels_in, ranks_between, values_under
from shoal.release.cover import Cover
from shoal.table.coding import code_column
from shoal.table.missing import MISSING_LABEL, is_missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from shoal.audit.published import Published
    from shoal.table.column import Column
    from shoal.table.groupings import Hierarchy

    Found = tuple[int, int] | NDArray[np.int64] | None

NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
BETWEEN = r"\s*(?:[,;:]|-|–|\.\.+|to)\s*"
BOTH_ENDS = re.compile(rf"([\[(\]]?)\s*({NUMBER}){BETWEEN}({NUMBER})\s*([\])\[]?)")
ONE_END = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({NUMBER})")
HIDDEN = re.compile(r"([^*]*)(\*+)")
EVERYTHING = {"*", "any", "Any", "ANY", MISSING_LABEL}  # a cell left out rules nobody out
UNKNOWN = -1  # the number that a person is not known to have


def read_interval(text: str) -> tuple[float, float] | None:
    """Return the ends of an interval as closed doubles, None where a cell is not one.

    An open end becomes the next double inside it.

    Examples
    --------
    >>> read_interval("17-24"), read_interval("<=24"), read_interval("-5..-1")
    ((17.0, 24.0), (-inf, 24.0), (-5.0, -1.0))
    """
    text = text.strip()
    found = BOTH_ENDS.fullmatch(text)
    if found:
        low, high = float(found[2]), float(found[3])
        low = math.nextafter(low, math.inf) if found[1] in {"(", "]"} else low
        high = math.nextafter(high, -math.inf) if found[4] in {")", "["} else high
        return low, high
    found = ONE_END.fullmatch(text)
    if found:
        end = float(found[2])
        return {
            "<=": (-math.inf, end),
            "≤": (-math.inf, end),
            "<": (-math.inf, math.nextafter(end, -math.inf)),
            ">=": (end, math.inf),
            "≥": (end, math.inf),
            ">": (math.nextafter(end, math.inf), math.inf),
        }[found[1]]
    if re.fullmatch(NUMBER, text):
        return float(text), float(text)
    return None


def read_labels(text: str) -> list[str]:
    """Return the labels that a cell may stand for.

    Examples
    --------
    >>> read_labels('["a", "b"]'), read_labels("{a, b}"), read_labels("a|b"), read_labels("a")
    (['a', 'b'], ['a', 'b'], ['a|b', 'a', 'b'], ['a'])
    """
    if text.startswith("{") and text.endswith("}"):
        return [label.strip().strip("'\"") for label in text[1:-1].split(",")]
    listed = read_set(text)
    if listed is None or listed != [text]:
        return listed or [text]
    return [text, *(part.strip() for part in re.split(r"[|;]", text))] if "|" in text else [text]


@dataclass(frozen=True, eq=False)
class ColumnCover:
    """What each distinct cell of one column covers of the values that people have.

    The domain of `cover` has these values, and of each person the code of theirs, UNKNOWN where it
    is missing; each published row bears one of the cells, and a cell may cover nobody's value.
    Where a column publishes missing numbers as such, `gaps` says which cells cover these;
    elsewhere, where it is None, a missing number is one that is not known, and every cell covers
    it. A cell is `alone` where it names one value, and does not merely cover one that people have.
    """

    cover: Cover
    alone: NDArray[np.bool_]
    unread: int
    gaps: NDArray[np.bool_] | None = None

    @property
    def cells(self) -> NDArray[np.int32]:
        """The cell of each published row."""
        return self.cover.borne

    @property
    def values(self) -> NDArray[np.int32]:
        """The value of each person."""
        return self.cover.domain.codes

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many values each cell covers."""
        if self.cover.starts is not None:
            return self.cover.counts
        return np.maximum(self.cover.high - self.cover.low + 1, 0).astype(np.int64)

    @cached_property
    def _by_value(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The cells that list each value, one value after the other, and where each begins."""
        order = np.argsort(self.cover.ranks, kind="stable")
        each = np.bincount(self.cover.ranks, minlength=self.cover.domain.distinct)
        return self.cover.owners[order], np.concatenate([[0], np.cumsum(each)])

    def covering(self, value: int) -> NDArray[np.bool_]:
        """Return which distinct cells cover a value."""
        if value == UNKNOWN:
            return np.ones(len(self.cover), bool) if self.gaps is None else self.gaps
        if self.cover.starts is None:
            return (self.cover.low <= value) & (value <= self.cover.high)
        cells, starts = self._by_value
        found = np.zeros(len(self.cover), bool)
        found[cells[starts[value] : starts[value + 1]]] = True
        return found

    def covers(self, cell: int, values: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which of some values a distinct cell covers."""
        unknown, starts = self.gaps is None or self.gaps[cell], self.cover.starts
        if starts is None:
            inside = (self.cover.low[cell] <= values) & (values <= self.cover.high[cell])
            return inside | ((values == UNKNOWN) & unknown)
        marks = np.zeros(self.cover.domain.distinct + 1, bool)
        marks[self.cover.ranks[starts[cell] : starts[cell + 1]]] = True
        marks[UNKNOWN] = unknown
        return marks[values]

    def run(self, cell: int, ordered: NDArray[np.int32]) -> slice:
        """Return among which of some ascending values those are that a distinct cell covers."""
        if len(ordered) and ordered[0] == UNKNOWN:
            return slice(0, len(ordered))
        ends = self.cover.low[cell], self.cover.high[cell] + 1
        return slice(*np.searchsorted(ordered, ends).tolist())


def cover_column(
    cells: pl.Series,
    known: pl.Series,
    hierarchy: Hierarchy | None = None,
    *,
    kind: str | None = None,
    type: str | None = None,
) -> ColumnCover:
    """Compare the published cells of a column with the values that people are known to have.

    `kind` and `type` come from the manifest and say what cells are; without a kind, how they are
    spelled is guessed. With a hierarchy, the name of a node stands for the values under it.
    """
    column = _known(known, kind, type)
    cells = cells.cast(pl.String).fill_null(MISSING_LABEL)
    texts = cells.unique().sort()
    which = cells.cast(pl.Enum(texts)).to_physical().to_numpy().astype(np.int32)
    read = _guessed if kind is None else _stated
    gaps = covers_missing(texts).to_numpy() if kind == "interval" else np.zeros(len(texts), bool)
    found = list(read(texts, column, kind, hierarchy))
    everything = 0, column.distinct - 1
    ends = [everything if one is None else _ends(one) for one in found]
    low, high = np.array(ends, np.int32).reshape(-1, 2).T
    cover = Cover(column, low, high, which=which)
    if any(one is not None and _has_holes(one) for one in found):
        listed = [
            np.arange(end[0], end[1] + 1, dtype=np.int32)
            if one is None or isinstance(one, tuple)
            else one.astype(np.int32)
            for one, end in zip(found, ends, strict=True)
        ]
        starts = np.cumsum([0, *map(len, listed)], dtype=np.int64)
        cover = replace(cover, listed=np.concatenate(listed), starts=starts)
    alone = _named_alone(texts, column, kind) & (low == high)
    unread = sum(one is None for one in found)
    return ColumnCover(cover, alone, unread, gaps if gaps.any() else None)


def _ends(found: tuple[int, int] | NDArray[np.int64]) -> tuple[int, int]:
    """Return the first and the last value that a cell covers; the last before the first of none."""
    if isinstance(found, tuple):
        return found
    return (int(found[0]), int(found[-1])) if len(found) else (1, 0)


def _has_holes(found: tuple[int, int] | NDArray[np.int64]) -> bool:
    """Return whether there are values between those that a cell covers."""
    return not isinstance(found, tuple) and bool(len(found) and found[-1] - found[0] >= len(found))


def _named_alone(texts: pl.Series, column: Column, kind: str | None) -> NDArray[np.bool_]:
    """Return which cells name one value; a span or a node may cover more than people have."""
    if kind == "set":
        return np.array([len(read_set(text) or ()) == 1 for text in texts])
    if column.numeric and kind != "node":
        low, high = interval_ends(texts)
        same = (low == high).fill_null(value=False) & ~covers_missing(texts)
        return same.to_numpy() & ranks_between(texts, column)[2]
    return texts.is_in(column.spellings.implode()).to_numpy()


def _stated(
    texts: pl.Series, column: Column, kind: str | None, hierarchy: Hierarchy | None
) -> Iterator[Found]:
    """Yield what each cell covers, by the kind of the column."""
    if kind == "interval":
        lows, highs, good = ranks_between(texts, column)
        good |= (texts == MISSING_LABEL).to_numpy()  # which covers no number
        for low, high, fine in zip(lows.tolist(), highs.tolist(), good.tolist(), strict=True):
            yield (low, high) if fine else None
    elif kind == "set":
        yield from labels_in(texts, column)
    else:
        assert hierarchy is not None
        under = values_under(texts, column, hierarchy)
        yield from map(under.get, texts)


def _guessed(
    texts: pl.Series, column: Column, kind: str | None, hierarchy: Hierarchy | None
) -> Iterator[Found]:
    """Yield what each cell covers, by how it is spelled; `kind` is not known."""
    assert kind is None
    under = {} if hierarchy is None else values_under(texts, column, hierarchy)
    place = {label: rank for rank, label in enumerate(column.spellings)}
    spelled = ranks_between(texts, column) if column.numeric else None
    for cell, text in enumerate(texts):
        if text in under:
            yield under[text]
            continue
        if spelled is not None and spelled[2][cell]:
            yield int(spelled[0][cell]), int(spelled[1][cell])
            continue
        ends = read_interval(text) if column.numeric and not column.dates else None
        if ends is None:
            yield _labels(text, column, place)
            continue
        low = np.searchsorted(column.numbers, ends[0], "left")
        yield int(low), int(np.searchsorted(column.numbers, ends[1], "right")) - 1


def _known(known: pl.Series, kind: str | None, type: str | None) -> Column:
    """Code what people are known to have; numbers may be missing, labels have a label for it."""
    if kind in {"set", "node"}:
        return code_by_kind(known, kind, type)
    present = ~is_missing(known)
    some = known.filter(present)
    column = code_by_kind(some, kind, type) if kind else code_column(some, kind=type)
    if not column.numeric:
        return code_column(known, kind="categorical")
    values = np.full(len(known), UNKNOWN, np.int32)
    values[present.to_numpy()] = column.codes
    return replace(column, codes=values)


def _labels(text: str, column: Column, place: dict[str, int]) -> NDArray[np.int64] | None:
    """Return which values a cell names, None where it cannot be read."""
    ranks = np.array([place[label] for label in read_labels(text) if label in place], np.int64)
    if text in EVERYTHING and not len(ranks):
        return np.arange(column.distinct)
    hidden = HIDDEN.fullmatch(text)
    if hidden:
        whole = column.spellings.str.len_chars() == len(text)
        begun = whole & column.spellings.str.starts_with(hidden[1])
        ranks = np.append(ranks, np.flatnonzero(begun.to_numpy()))
    return np.unique(ranks) if len(ranks) else None


class CellCover:
    """Which people match which groups of a published table, by all quasi columns."""

    def __init__(self, published: Published, people: pl.DataFrame) -> None:
        self.published = published
        first = published.by_cells
        self.rows = first.first  # one row of every description
        table = published.table
        trees = published.schema.hierarchies
        self.columns = [
            cover_column(
                table[name],
                people[name],
                trees.get(name),
                kind=published.kinds.get(name),
                type=published.schema.types.get(name),
            )
            for name in published.schema.quasi
        ]
        self.cells = [column.cells[self.rows] for column in self.columns]
        self.unread = sum(column.unread for column in self.columns)

    def matching(self, person: int, places: Sequence[int] | None = None) -> NDArray[np.bool_]:
        """Return which descriptions (groups of equal cells) match a person.

        Looked at are all columns, or those at some places.
        """
        found = np.ones(len(self.rows), bool)
        for place in range(len(self.columns)) if places is None else places:
            column = self.columns[place]
            found &= column.covering(int(column.values[person]))[self.cells[place]]
        return found

    def candidates(self, person: int) -> NDArray[np.bool_]:
        """Return which published rows match a person."""
        return self.matching(person)[self.published.by_cells.labels]

    def counts(self) -> NDArray[np.int64]:
        """Count the people whom each description matches."""
        return self.tally()[0]

    def tally(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count the people whom each description matches, and the descriptions of each person."""
        found = np.empty(len(self.rows), np.int64)
        times = np.zeros(len(self.columns[0].values), np.int64)
        for group, people in self.matched():
            found[group] = len(people)
            times[people] += 1
        return found, times

    def matched(self, some: Iterable[int] | None = None) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield every description, or some of them, and whom it matches.

        People stand in the order of one column, the one in which intervals are narrowest, so that
        a description is compared with a run of them only.
        """
        lead = min(range(len(self.columns)), key=self.mean_run)
        order = np.argsort(self.columns[lead].values, kind="stable")
        values = [column.values[order] for column in self.columns]
        for group in range(len(self.rows)) if some is None else some:
            run = self.columns[lead].run(int(self.cells[lead][group]), values[lead])
            inside = np.ones(run.stop - run.start, bool)
            for column, cells, own in zip(self.columns, self.cells, values, strict=True):
                inside &= column.covers(int(cells[group]), own[run])
            yield group, order[run][inside]

    def fitting(self, owners: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Yield of each description how many rows each person has all of whose rows it matches.

        `owners` says whom each row of the population is about.
        """
        each = np.bincount(owners)
        for _, rows in self.matched():
            whom, inside = np.unique(owners[rows], return_counts=True)
            yield each[whom[inside == each[whom]]]

    def mean_run(self, place: int) -> float:
        """Return which share of the values of a column a cell covers, on average."""
        cover = self.columns[place].cover
        spans = cover.high - cover.low + 1
        return float(spans[self.cells[place]].mean() / cover.domain.distinct)
