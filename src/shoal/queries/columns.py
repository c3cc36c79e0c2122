"""Columns as a query sees them: published cells that spread, and values that are exact.

A number in [low, high] is taken to be any of the numbers between, all alike, in steps of the
column's finest published decimal: whole numbers in steps of 1 ([20, 29] holds ten of them), 2.5 and
3 in steps of 0.1. A label in a set is any of its labels, all alike. Within a row columns are taken
to be independent (LeFevre, DeWitt, Ramakrishnan: Mondrian. ICDE 2006; EM Section 6).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import floor, log10
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.cells import ENDS, read_set
from shoal.errors import InputError
from shoal.kernels.queries import interval_shares, label_shares
from shoal.queries.sets import Numbers, Set
from shoal.schema.coding import MISSING_LABEL, NUMBER, code_column
from shoal.schema.missing import is_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

DIGITS = 15  # whole numbers of so many digits are exact as doubles
FINEST = 300  # decimals; more would overflow


@dataclass(frozen=True, eq=False)
class Exact:
    """A column whose values are known: ranks, one more than there are values where one is missing.

    A missing label is a label like any other; a missing number satisfies no comparison.
    """

    name: str
    codes: NDArray[np.int32]
    values: NDArray[np.int64] | NDArray[np.float64] | None
    labels: pl.Series

    @classmethod
    def of(
        cls, cells: pl.Series, *, kind: str | None = None, order: Sequence[str] | None = None
    ) -> Exact:
        """Code a column."""
        known = ~is_missing(cells)
        column = code_column(cells.filter(known), kind=kind, order=order)
        if not column.numeric or not column.distinct:
            column = code_column(cells, kind="categorical", order=order)
            return cls(cells.name, column.codes, None, column.spellings)
        codes = np.full(len(cells), column.distinct, np.int32)
        codes[known.to_numpy()] = column.codes
        return cls(cells.name, codes, column.numbers, column.spellings)

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers."""
        return self.values is not None

    @cached_property
    def rank_of(self) -> dict[str, int]:
        """The rank of each label."""
        return {label: rank for rank, label in enumerate(self.labels)}

    def ranges(self, wanted: Set) -> list[tuple[int, int]]:
        """Return the values that a query asks for as ranges of ranks, both ends included."""
        if isinstance(wanted, Numbers):
            assert self.values is not None
            return wanted.ranges(self.values)
        ranks = np.sort([self.rank_of[label] for label in wanted if label in self.rank_of])
        runs = np.split(ranks, np.flatnonzero(np.diff(ranks) > 1) + 1)
        return [(int(run[0]), int(run[-1])) for run in runs if len(run)]


@dataclass(frozen=True, eq=False)
class Intervals:
    """The distinct cells of a numeric quasi column, in whole units of 10^-decimals."""

    name: str
    lows: NDArray[np.float64]
    highs: NDArray[np.float64]
    decimals: int
    extent: float  # units in the whole domain

    numeric = True
    labels = pl.Series([], dtype=pl.String)

    @classmethod
    def of(cls, name: str, texts: pl.Series, domain: Sequence[Any]) -> Intervals:
        """Read intervals as release.csv spells them."""
        ends = texts.str.extract_groups(ENDS).struct.unnest()
        low, high = ends["low"].fill_null(texts), ends["high"].fill_null(texts)
        if not (low.str.contains(NUMBER) & high.str.contains(NUMBER)).fill_null(value=False).all():
            raise unreadable(name)
        whole = pl.Series(map(repr, domain), dtype=pl.String)
        decimals = decimals_of(pl.concat([low.unique(), high.unique(), whole]))
        lows, highs, (least, most) = (units_of(part, decimals) for part in (low, high, whole))
        if (lows > highs).any() or (lows < least).any() or (highs > most).any():
            raise unreadable(name)
        return cls(name, lows, highs, decimals, float(most - least + 1))

    @property
    def sizes(self) -> NDArray[np.float64]:
        """How many units each cell holds."""
        return self.highs - self.lows + 1

    def shares(self, wanted: Set) -> NDArray[np.float64]:
        """Return which part of each cell a query asks for."""
        assert isinstance(wanted, Numbers)
        shares = np.empty(len(self.lows))
        interval_shares(self.lows, self.highs, *wanted.units(self.decimals), shares)
        return shares


@dataclass(frozen=True, eq=False)
class Sets:
    """The distinct cells of a categorical quasi column, as lists of ranks over its domain."""

    name: str
    labels: pl.Series
    starts: NDArray[np.int64]
    listed: NDArray[np.int32]

    numeric = False

    @classmethod
    def of(cls, name: str, texts: pl.Series, domain: Sequence[Any]) -> Sets:
        """Read labels and sets of labels as release.csv spells them."""
        labels = pl.Series(domain, dtype=pl.String)
        rank_of = {label: rank for rank, label in enumerate(labels)}
        ranks: list[int] = []
        starts = [0]
        for text in texts:
            found = read_set(text)
            if found is None or not rank_of.keys() >= set(found):
                raise unreadable(name)
            ranks += sorted({rank_of[label] for label in found})
            starts.append(len(ranks))
        return cls(name, labels, np.array(starts, np.int64), np.array(ranks, np.int32))

    @property
    def extent(self) -> float:
        """The labels in the whole domain."""
        return float(len(self.labels))

    @property
    def sizes(self) -> NDArray[np.float64]:
        """How many labels each cell holds."""
        return np.diff(self.starts).astype(np.float64)

    @cached_property
    def rank_of(self) -> dict[str, int]:
        """The rank of each label."""
        return {label: rank for rank, label in enumerate(self.labels)}

    def shares(self, wanted: Set) -> NDArray[np.float64]:
        """Return which part of each cell a query asks for."""
        assert not isinstance(wanted, Numbers)
        marks = np.zeros(len(self.labels), np.uint8)
        marks[[self.rank_of[label] for label in wanted if label in self.rank_of]] = 1
        shares = np.empty(len(self.starts) - 1)
        label_shares(self.starts, self.listed, marks, shares)
        return shares


Spread = Intervals | Sets


def read_cells(cells: pl.Series, stated: dict[str, Any]) -> tuple[Spread, NDArray[np.int64]]:
    """Return the distinct cells of a quasi column and which of them each row bears."""
    cells = cells.cast(pl.String).fill_null(MISSING_LABEL)
    texts = cells.unique().sort()
    which = cells.cast(pl.Enum(texts)).to_physical().to_numpy().astype(np.int64)
    kind = Intervals if stated["kind"] == "interval" else Sets
    return kind.of(cells.name, texts, stated["domain"]), which


def unreadable(name: str) -> InputError:
    """Return what to say of cells that are not what the manifest says."""
    msg = f"Column {name!r} has cells outside its stated domain. shoal audit says more."
    return InputError(msg)


def decimals_of(texts: pl.Series) -> int:
    """Return the most decimals of some numbers, as many as doubles can tell apart."""
    digits = texts.str.extract(r"\.([0-9]*?)0*(?:[eE]|$)").str.len_chars().fill_null(0)
    shifts = texts.str.extract(r"[eE]\+?(-?[0-9]+)$").cast(pl.Int64).fill_null(0)
    needed = int((digits.cast(pl.Int64) - shifts).max())  # type: ignore[arg-type]
    largest = float(texts.cast(pl.Float64).abs().max())  # type: ignore[arg-type]
    room = DIGITS - 1 - floor(log10(largest)) if largest > 0 else FINEST
    return min(max(needed, 0), room, FINEST)


def units_of(texts: pl.Series, decimals: int) -> NDArray[np.float64]:
    """Return numbers in whole units of 10^-decimals."""
    return np.rint(texts.cast(pl.Float64).to_numpy() * 10.0**decimals)
