"""What a query asks of one column: a set of numbers, or a set of labels.

The values of a column are counted in steps: numbers in steps of the finest decimal that occurs,
whole numbers in steps of 1; dates in days, and in microseconds or nanoseconds where there is a time
of day.

Under published nodes stand labels, or places for those nobody names. Whoever made a release knows
which labels lie under a node. Its manifest says only how many: a label that a reader asks for takes
one of their places, if the node covers it at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, inf, isinf, log10
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.cells import NOBODY
from shoal.errors import BadCells, InputError
from shoal.release.cover import Cover
from shoal.table.column import INTEGER, Column
from shoal.table.dates import LARGEST, date_units, parse_dates

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from shoal.release.stated import StatedColumn
    from shoal.table.hierarchy import Tree


class Leaves:
    """Labels in tree order, and the first and the last of them under every named node."""

    def __init__(self, tree: Tree, domain: Column, low: NDArray, high: NDArray) -> None:
        self.tree, self.domain, self.low, self.high = tree, domain, low, high
        self.rank_of = {label: rank for rank, label in enumerate(domain.spellings)}
        self.node = {name: node for node, name in enumerate(tree.names)}

    @classmethod
    def of(cls, column: Column) -> Leaves:
        """Take the labels of a column with a tree, in the order of its ranks."""
        assert column.tree is not None
        assert column.places is not None
        low = column.places.searchsorted(column.tree.first, "left")
        high = column.places.searchsorted(column.tree.last, "right") - 1
        return cls(column.tree, column, low, high)

    def rank(self, label: str) -> int | None:
        """Return the place of a label, None where it has none."""
        return self.rank_of.get(label)

    def run(self, name: str) -> tuple[int, int]:
        """Return where the labels under a node begin, and where they end; nowhere for no node."""
        node = self.node.get(name)
        return (0, 0) if node is None else (int(self.low[node]), int(self.high[node]) + 1)

    def under(self, cover: Cover) -> Cover:
        """Return the labels that are under nodes of this tree, or of what a manifest says of it."""
        assert cover.domain.tree is not None
        named = np.array([self.node.get(name, -1) for name in cover.domain.tree.names])
        nodes = named[cover.nodes]
        return Cover.of_runs(self.domain, self.low[nodes], self.high[nodes])

    def lowest(self) -> NDArray[np.int64]:
        """Return the lowest node over each label; of nodes with the same labels the highest."""
        found = np.zeros(len(self.domain.spellings), np.int64)
        for node in np.lexsort((-np.arange(len(self.low)), self.low - self.high)).tolist():
            found[self.low[node] : self.high[node] + 1] = node
        return found


class StatedLeaves(Leaves):
    """The leaves that a manifest counts; those without a name wait to be asked for."""

    def __init__(self, cover: Cover, said: StatedColumn) -> None:
        from shoal.audit.reading import Stated

        tree = cover.domain.tree
        assert tree is not None
        self.stated, self.type = Stated.of_manifest(said), said.type
        count = int(tree.leaves[tree.up[-1, 0]])
        if (tree.first < 0).any() or (tree.last >= count).any():
            raise unreadable(said.name)
        owner = np.zeros(count, np.int64)
        for node in np.argsort(tree.first - tree.last, kind="stable").tolist():
            owner[tree.first[node] : tree.last[node] + 1] = node
        self.free: dict[str, list[int]] = {}
        labels = []
        for place, node in enumerate(owner.tolist()):
            name = tree.names[node]
            if tree.leaves[node] > 1:
                free = self.free.setdefault(name, [])
                name = f"{name} #{len(free)}"
                free.append(place)
            labels.append(name)
        spellings = pl.Series(labels, dtype=pl.String)
        super().__init__(tree, Column(said.name, None, spellings, NOBODY), tree.first, tree.last)

    def rank(self, label: str) -> int | None:
        """Return the place of a label; the first time, a free one under the lowest node above it.

        Where all places are taken, there is no such label.
        """
        if label not in self.rank_of and label not in self.node:
            names = self._above(label)
            depths = [len(self.stated.path(name)) for name in names]
            free = self.free.get(names[depths.index(max(depths))]) if names else None
            if free:
                self.rank_of[label] = free.pop(0)
        return self.rank_of.get(label)

    def _above(self, label: str) -> list[str]:
        from shoal.audit.reading import code_by_kind
        from shoal.table.placing import distinct_of

        try:
            column = code_by_kind(pl.Series(self.stated.column, [label]), "node", self.type)
        except BadCells:  # no number, so it is under no node
            return []
        return self.stated.covering(self.stated.parents, distinct_of(column))[0]


def unreadable(name: str) -> InputError:
    """Return what to say of cells that are not what the manifest says."""
    msg = f"Column {name!r} has cells outside its stated domain. shoal audit says more."
    return InputError(msg)


Cut = tuple[Any, int]  # a rational (or an infinity), and 0 just before it or 1 just after it


@dataclass(frozen=True)
class Numbers:
    """Numbers as the places, ascending, where one steps into the set and out of it again.

    >>> low, high = Numbers.from_to(1, 5), Numbers.from_to(3, 9)
    >>> low & high == Numbers.from_to(3, 5), low | high == Numbers.from_to(1, 9)
    (True, True)
    """

    cuts: tuple[Cut, ...]

    @classmethod
    def from_to(cls, low: Fraction | int, high: Fraction | int) -> Numbers:
        """Return an interval with both its ends."""
        return cls(((low, 0), (high, 1)) if low <= high else ())

    @classmethod
    def shared(cls, sets: Collection[Numbers], least: int) -> Numbers:
        """Return the numbers that at least so many of some sets have, in one sweep over all."""
        steps: dict[Cut, int] = {}
        for one in sets:
            for place, cut in enumerate(one.cuts):
                steps[cut] = steps.get(cut, 0) + (-1 if place % 2 else 1)
        inside = 0
        cuts: list[Cut] = []
        for cut in sorted(steps):
            inside += steps[cut]
            if (inside >= least) != len(cuts) % 2:
                cuts.append(cut)
        return cls(tuple(cuts))

    def __and__(self, other: Numbers) -> Numbers:
        return Numbers.shared((self, other), 2)

    def apart(self, other: Numbers) -> bool:
        """Return whether one set ends before the other begins, which is quickly told."""
        return max(self.cuts[0], other.cuts[0]) >= min(self.cuts[-1], other.cuts[-1])

    def __or__(self, other: Numbers) -> Numbers:
        return Numbers.shared((self, other), 1)

    def __invert__(self) -> Numbers:
        return Numbers(tuple(sorted({*self.cuts} ^ {*ALL_NUMBERS.cuts})))

    def __contains__(self, value: Fraction) -> bool:
        return sum(cut <= (value, 0) for cut in self.cuts) % 2 == 1

    def __bool__(self) -> bool:
        return bool(self.cuts)

    def units(
        self, scale: Fraction, origin: int = 0
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the first and last whole unit in each interval, `scale` of them to a number.

        Units are counted from an origin.
        """
        firsts, lasts = [], []
        for begin, end in zip(self.cuts[::2], self.cuts[1::2], strict=True):
            first, last = _at_or_after(begin, scale), _at_or_after(end, scale) - 1
            if first <= last:
                firsts.append(first - origin)
                lasts.append(last - origin)
        return np.array(firsts, np.float64), np.array(lasts, np.float64)

    def ranges(self, values: NDArray, scale: int = 1) -> list[tuple[int, int]]:
        """Return which of some ascending numbers are in the set, as ranges of places.

        `scale` of the values' units make one of the set's numbers.
        """
        cuts = [(value * scale, after) for value, after in self.cuts]
        pairs = zip(cuts[::2], cuts[1::2], strict=True)
        found = [(_place(values, begin), _place(values, end) - 1) for begin, end in pairs]
        return [(first, last) for first, last in found if first <= last]


ALL_NUMBERS = Numbers(((-inf, 0), (inf, 1)))


def below(value: Fraction, *, equal: bool) -> Numbers:
    """Return all numbers below a value, or up to it."""
    return Numbers(((-inf, 0), (value, int(equal))))


def _at_or_after(cut: Cut, scale: Fraction) -> float:
    """Return the first whole unit at or after a cut."""
    value, after = cut
    if isinf(value):
        return value
    if scale == 1 and isinstance(value, int):
        return value + after
    return floor(value * scale) + 1 if after else ceil(value * scale)


def _place(values: NDArray, cut: Cut) -> int:
    """Return how many of some ascending numbers lie before a cut; integers are compared exactly."""
    value, after = cut
    if isinf(value):
        return 0 if value < 0 else len(values)
    if values.dtype == np.float64:
        return int(values.searchsorted(float(value), "right" if after else "left"))
    first = floor(value) + 1 if after else ceil(value)
    if values.dtype == np.int64 and abs(first) >= 2**63:
        return 0 if first < 0 else len(values)
    return int(values.searchsorted(np.array(first, values.dtype)))


Labels = frozenset[str]
Set = Numbers | Labels


DIGITS = 15  # whole numbers of so many digits are exact as doubles
FINEST = 300  # decimals; more would overflow


@dataclass(frozen=True)
class Steps:
    """How many units there are to a number, or to a day, and at which of them counting begins.

    Places are counted from the least number, so that large numbers close together stay apart.
    """

    units: Fraction
    origin: int = 0
    dates: bool = False

    @classmethod
    def of(cls, texts: pl.Series, *, dates: bool = False) -> Steps:
        """Return the steps on which all of some numbers or dates have a place.

        >>> Steps.of(pl.Series(["20", "2.50", "1e3"])).units
        Fraction(10, 1)
        """
        if dates:
            read = parse_dates(texts)
            assert read is not None
            return cls(Fraction(read[1]), int(read[0].min()), dates=True)
        if texts.str.contains(INTEGER).all():
            return cls(Fraction(1), int(integers(texts).min()))
        return cls(Fraction(10) ** _decimals(texts))

    def places(self, texts: pl.Series) -> NDArray[np.float64]:
        """Return numbers or dates in whole units from the origin."""
        if self.dates:
            moments, _, _ = date_units(texts, int(self.units))
            return (moments - self.origin).astype(np.float64)
        if self.units == 1 and texts.str.contains(INTEGER).all():
            return (integers(texts) - self.origin).astype(np.float64)
        return np.rint(texts.cast(pl.Float64).to_numpy() * float(self.units)) - self.origin

    def exact_places(self, texts: pl.Series) -> NDArray[np.float64]:
        """Return numbers or dates in units from the origin, not only whole ones."""
        if self.dates:
            return self.places(texts)
        return texts.cast(pl.Float64).to_numpy() * float(self.units) - self.origin

    def shift(self, finer: Steps) -> tuple[float, float]:
        """Return by what a place has to be multiplied, and what added, for finer steps."""
        factor = finer.units / self.units
        return float(factor), float(self.origin * factor - finer.origin)


def integers(texts: pl.Series) -> NDArray:
    """Return integers exactly, as 64 bits where their differences fit, as Python's otherwise."""
    known = texts.cast(pl.Int64, strict=False)
    if not known.has_nulls() and bool(known.is_between(-LARGEST, LARGEST).all()):
        return known.to_numpy()
    return np.array([int(Decimal(text)) for text in texts], object)


def _decimals(texts: pl.Series) -> int:
    """Return the most decimals of some numbers, as many as doubles can tell apart."""
    digits = texts.str.extract(r"\.([0-9]*?)0*(?:[eE]|$)").str.len_chars().fill_null(0)
    shifts = texts.str.extract(r"[eE]\+?(-?[0-9]+)$").cast(pl.Int64).fill_null(0)
    needed = int((digits.cast(pl.Int64) - shifts).max())  # type: ignore[arg-type]
    largest = float(texts.cast(pl.Float64).abs().max())  # type: ignore[arg-type]
    room = DIGITS - 1 - floor(log10(largest)) if largest > 0 else FINEST
    return min(max(needed, 0), room, FINEST)
