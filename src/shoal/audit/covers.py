"""Which known people a published cell covers, however the cell is spelled.

Closed, open and half-open intervals (`[17, 24]`, `(17, 24]`, `17-24`, `17..24`), one-sided ones
(`<=24`, `>24`), numbers with hidden digits (`11***`), sets (`["a", "b"]`, `{a, b}`, `a|b`), plain
values, names of nodes where a hierarchy is given, and `*`. A cell that is none of these rules
nobody out and is counted as unread.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.cells import interval_ends, read_set
from shoal.schema.coding import MISSING_LABEL, Column, code_column
from shoal.schema.coding import NUMBER as NUMBER_TEXT
from shoal.schema.dates import not_dates
from shoal.schema.ends import ranks_within
from shoal.schema.grouping import Distinct
from shoal.schema.missing import is_missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.audit.published import Published
    from shoal.schema.grouping import Hierarchy

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
    where it is missing, which every cell covers. A cell covers the values lows … highs, or those
    that its row of `listed` marks (row 0: none).
    """

    cells: NDArray[np.int64]
    values: NDArray[np.int64]
    lows: NDArray[np.int64]
    highs: NDArray[np.int64]
    listed: NDArray[np.bool_]
    slots: NDArray[np.int64]
    unread: int

    def covering(self, value: int) -> NDArray[np.bool_]:
        """Return which distinct cells cover a value."""
        if value == UNKNOWN:
            return np.ones(len(self.lows), bool)
        within = (self.lows <= value) & (value <= self.highs)
        return within | self.listed[self.slots, value]

    def covered(self, cell: int) -> NDArray[np.bool_]:
        """Return which values a distinct cell covers, and at last that it covers UNKNOWN."""
        marks = np.append(self.listed[self.slots[cell]], [True])
        marks[self.lows[cell] : self.highs[cell] + 1] = True
        return marks


def cover_column(
    cells: pl.Series, known: pl.Series, hierarchy: Hierarchy | None = None
) -> ColumnCover:
    """Compare the published cells of a column with the values that people are known to have.

    With a hierarchy, the name of a node stands for the labels under it.
    """
    column, values = _known(known)
    under = {} if hierarchy is None else _labels_under(column, hierarchy)
    cells = cells.cast(pl.String).fill_null(MISSING_LABEL)
    texts = cells.unique().sort()
    which = cells.cast(pl.Enum(texts)).to_physical().to_numpy().astype(np.int64)
    lows, highs = np.ones(len(texts), np.int64), np.zeros(len(texts), np.int64)
    slots = np.zeros(len(texts), np.int64)
    listed = [np.zeros(column.distinct, bool)]
    unread = 0
    place = {label: rank for rank, label in enumerate(column.spellings)}
    spelled = _ranks(texts, column)
    for cell, text in enumerate(texts):
        if text in under:
            slots[cell] = len(listed)
            listed.append(under[text])
            continue
        if spelled is not None and spelled[2][cell]:
            lows[cell], highs[cell] = spelled[0][cell], spelled[1][cell]
            continue
        ends = read_interval(text) if column.numeric and not column.dates else None
        if ends is not None:
            lows[cell] = np.searchsorted(column.numbers, ends[0], "left")
            highs[cell] = np.searchsorted(column.numbers, ends[1], "right") - 1
            continue
        marks = _labels(text, column, place)
        if marks is not None and marks.sum() == 1:
            lows[cell] = highs[cell] = int(np.argmax(marks))
            continue
        unread += marks is None
        slots[cell] = len(listed)
        listed.append(np.ones(column.distinct, bool) if marks is None else marks)
    return ColumnCover(which, values, lows, highs, np.array(listed), slots, unread)


def _ranks(
    texts: pl.Series, column: Column
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]] | None:
    """Return the ranks that intervals as Shoal writes them cover, and which cells are such ones."""
    if not column.numeric:
        return None
    low, high = interval_ends(texts)
    bad = [not_dates(e) if column.dates else ~e.str.contains(NUMBER_TEXT) for e in (low, high)]
    return *ranks_within(column, low, high), ~(bad[0] | bad[1]).to_numpy()


def _labels_under(column: Column, hierarchy: Hierarchy) -> dict[str, NDArray[np.bool_]]:
    """Return for the name of every node which of the known values are under it."""
    counts = np.bincount(column.codes, minlength=column.distinct)
    labels = column.spellings.to_list()
    levels = hierarchy.levels(
        Distinct(column.name, labels, column.numbers if column.numeric else None, counts)
    )
    rank = {label: place for place, label in enumerate(labels)}
    under: dict[str, NDArray[np.bool_]] = {}
    for path in levels:
        if path[0] in rank:
            for node in path:
                marks = under.setdefault(node, np.zeros(column.distinct, bool))
                marks[rank[path[0]]] = True
    return under


def _known(known: pl.Series) -> tuple[Column, NDArray[np.int64]]:
    """Code what people are known to have; numbers may be missing, labels have a label for it."""
    present = ~is_missing(known)
    column = code_column(known.filter(present))
    if not column.numeric:
        column = code_column(known, kind="categorical")
        return column, column.codes.astype(np.int64)
    values = np.full(len(known), UNKNOWN, np.int64)
    values[present.to_numpy()] = column.codes
    return column, values


def _labels(text: str, column: Column, place: dict[str, int]) -> NDArray[np.bool_] | None:
    """Return which values a cell names, None where it cannot be read."""
    marks = np.zeros(column.distinct, bool)
    ranks = [place[label] for label in read_labels(text) if label in place]
    marks[ranks] = True
    if text in EVERYTHING and not ranks:
        return ~marks
    hidden = HIDDEN.fullmatch(text)
    if hidden:
        whole = column.spellings.str.len_chars() == len(text)
        marks |= (whole & column.spellings.str.starts_with(hidden[1])).to_numpy()
    return marks if marks.any() else None


class Cover:
    """Which people match which groups of a published table, by all quasi columns."""

    def __init__(self, published: Published, people: pl.DataFrame) -> None:
        self.published = published
        first = published.by_cells
        self.rows = first.order[first.starts[:-1]]  # one row of every description
        table = published.table
        trees = published.schema.hierarchies
        self.columns = [
            cover_column(table[name], people[name], trees.get(name))
            for name in published.schema.quasi
        ]
        self.cells = [column.cells[self.rows] for column in self.columns]
        self.unread = sum(column.unread for column in self.columns)

    def matching(self, person: int) -> NDArray[np.bool_]:
        """Return which descriptions (groups of equal cells) match a person."""
        found = np.ones(len(self.rows), bool)
        for column, cells in zip(self.columns, self.cells, strict=True):
            found &= column.covering(int(column.values[person]))[cells]
        return found

    def candidates(self, person: int) -> NDArray[np.bool_]:
        """Return which published rows match a person."""
        return self.matching(person)[self.published.by_cells.labels]

    def counts(self) -> NDArray[np.int64]:
        """Count the people whom each description matches."""
        return self.tally()[0]

    def tally(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count the people whom each description matches, and the descriptions of each person.

        People stand in the order of one column, the one in which intervals are narrowest, so that
        a description is compared with a run of them only.
        """
        lead = min(range(len(self.columns)), key=self._mean_run)
        whole = bool((self.columns[lead].values == UNKNOWN).any())
        order = np.argsort(self.columns[lead].values, kind="stable")
        sorted_lead = self.columns[lead].values[order]
        values = [column.values[order] for column in self.columns]
        found = np.empty(len(self.rows), np.int64)
        times = np.zeros(len(order), np.int64)
        for group in range(len(self.rows)):
            cell = self.cells[lead][group]
            run = slice(0, len(order))
            if self.columns[lead].slots[cell] == 0 and not whole:
                ends = self.columns[lead].lows[cell], self.columns[lead].highs[cell] + 1
                run = slice(*np.searchsorted(sorted_lead, ends).tolist())
            inside = np.ones(run.stop - run.start, bool)
            for column, cells, own in zip(self.columns, self.cells, values, strict=True):
                inside &= column.covered(int(cells[group]))[own[run]]
            found[group] = inside.sum()
            times[run] += inside
        return found, times[np.argsort(order, kind="stable")]

    def _mean_run(self, place: int) -> float:
        """Return which share of the values of a column a cell covers, on average."""
        column = self.columns[place]
        spans = np.where(column.slots > 0, column.listed.shape[1], column.highs - column.lows + 1)
        return float(spans[self.cells[place]].mean() / column.listed.shape[1])
