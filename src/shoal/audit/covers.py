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
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.cells import covers_missing, interval_ends, read_set
from shoal.audit.reading import code_by_kind, labels_in, ranks_between, values_under
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

    `cells[row]` is the cell of a published row, `values[person]` the value of a person, UNKNOWN
    where it is missing. A cell covers the values lows … highs, or those that are `listed` from its
    place in `starts` to the next; values are numbered under `distinct`. Where a column publishes
    missing numbers as such, `gaps` says which cells cover these; elsewhere, where it is None, a
    missing number is one that is not known, and every cell covers it.
    A cell is `alone` where it names one value, and does not merely cover one that people have.
    """

    cells: NDArray[np.int64]
    values: NDArray[np.int64]
    lows: NDArray[np.int64]
    highs: NDArray[np.int64]
    listed: NDArray[np.int64]
    starts: NDArray[np.int64]
    alone: NDArray[np.bool_]
    distinct: int
    unread: int
    gaps: NDArray[np.bool_] | None = None

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many values each distinct cell lists, 0 where it is a run of them."""
        return np.diff(self.starts)

    @cached_property
    def listing(self) -> NDArray[np.int64]:
        """The distinct cell that each place of `listed` belongs to."""
        return np.repeat(np.arange(len(self.lows)), self.counts)

    @cached_property
    def _by_value(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The cells that list each value, one value after the other, and where each begins."""
        order = np.argsort(self.listed, kind="stable")
        each = np.bincount(self.listed, minlength=self.distinct)
        return self.listing[order], np.concatenate([[0], np.cumsum(each)])

    def covering(self, value: int) -> NDArray[np.bool_]:
        """Return which distinct cells cover a value."""
        if value == UNKNOWN:
            return np.ones(len(self.lows), bool) if self.gaps is None else self.gaps
        found = (self.lows <= value) & (value <= self.highs)
        cells, starts = self._by_value
        found[cells[starts[value] : starts[value + 1]]] = True
        return found

    def covers(self, cell: int, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of some values a distinct cell covers."""
        if self.counts[cell] == 0:
            inside = (self.lows[cell] <= values) & (values <= self.highs[cell])
            return inside | ((values == UNKNOWN) & (self.gaps is None or self.gaps[cell]))
        marks = np.zeros(self.distinct + 1, bool)
        marks[self.listed[self.starts[cell] : self.starts[cell + 1]]] = True
        marks[UNKNOWN] = self.gaps is None or self.gaps[cell]
        return marks[values]

    def run(self, cell: int, ordered: NDArray[np.int64]) -> slice:
        """Return among which of some ascending values those are that a distinct cell covers."""
        if self.counts[cell] or (len(ordered) and ordered[0] == UNKNOWN):
            return slice(0, len(ordered))
        ends = self.lows[cell], self.highs[cell] + 1
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
    column, values = _known(known, kind, type)
    cells = cells.cast(pl.String).fill_null(MISSING_LABEL)
    texts = cells.unique().sort()
    which = cells.cast(pl.Enum(texts)).to_physical().to_numpy().astype(np.int64)
    read = _guessed if kind is None else _stated
    lows, highs = np.ones(len(texts), np.int64), np.zeros(len(texts), np.int64)
    listed = [np.zeros(0, np.int64)] * len(texts)
    unread = 0
    gaps = covers_missing(texts).to_numpy() if kind == "interval" else np.zeros(len(texts), bool)
    for cell, found in enumerate(read(texts, column, kind, hierarchy)):
        if isinstance(found, tuple):
            lows[cell], highs[cell] = found
        elif found is None or len(found) == column.distinct:
            unread += found is None
            lows[cell], highs[cell] = 0, column.distinct - 1
        elif len(found) == 1:
            lows[cell] = highs[cell] = found[0]
        else:
            listed[cell] = found
    starts = np.concatenate([[0], np.cumsum([len(some) for some in listed])]).astype(np.int64)
    alone = _named_alone(texts, column, kind) & (lows == highs) & (np.diff(starts) == 0)
    return ColumnCover(
        which,
        values,
        lows,
        highs,
        np.concatenate(listed),
        starts,
        alone,
        column.distinct,
        unread,
        gaps if gaps.any() else None,
    )


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


def _known(
    known: pl.Series, kind: str | None, type: str | None
) -> tuple[Column, NDArray[np.int64]]:
    """Code what people are known to have; numbers may be missing, labels have a label for it."""
    if kind in {"set", "node"}:
        column = code_by_kind(known, kind, type)
        return column, column.codes.astype(np.int64)
    present = ~is_missing(known)
    some = known.filter(present)
    column = code_by_kind(some, kind, type) if kind else code_column(some, kind=type)
    if not column.numeric:
        column = code_column(known, kind="categorical")
        return column, column.codes.astype(np.int64)
    values = np.full(len(known), UNKNOWN, np.int64)
    values[present.to_numpy()] = column.codes
    return column, values


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
        column = self.columns[place]
        spans = np.where(column.counts > 0, column.distinct, column.highs - column.lows + 1)
        return float(spans[self.cells[place]].mean() / column.distinct)
