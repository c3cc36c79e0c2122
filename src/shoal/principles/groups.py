"""Groups of rows, what a principle measured in each, how well readers guess, what buckets need."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.exact import as_odds, at_most
from shoal.table.partition import Partition, renumber

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from shoal.table.sensitive import Sensitive


LARGEST = 2**62  # what integers of 64 bits are trusted with
DOUBLE = 1e-12  # beyond what rounding to a double can change


NOTHING = "{!r} limits nothing: every guess may be right."
UNLIMITED = (
    "Any other guess, for example of a value between two listed ones, may be right every time."
)


@dataclass(frozen=True, eq=False)
class Groups(Partition):
    """A partition of rows into groups.

    `matches[g]` says how many persons of a population the description of a group matches, where
    there is one; `nodes[g]` from which part of a method's cuts a group comes, where that is
    published.
    """

    matches: NDArray[np.int64] | None = None
    nodes: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, marks: NDArray) -> Groups:
        """Return the groups of rows that carry equal marks."""
        return cls(renumber(marks))

    @classmethod
    def alike(cls, rows: int, columns: Iterable[tuple[NDArray, int]]) -> Groups:
        """Return the groups of rows with equal codes; each column says how many codes it has."""
        labels = np.zeros(rows, np.int64)
        most = 1  # more than any label
        for codes, distinct in columns:
            if most * distinct > LARGEST:
                labels = renumber(labels)
                most = int(labels.max(initial=0)) + 1
            labels *= distinct
            labels += codes
            most *= distinct
        return cls(renumber(labels))

    def sorted_codes(self, column: Sensitive) -> NDArray[np.int32]:
        """Return the codes of a column, group by group, ascending in each."""
        keys = self.labels * column.distinct + column.codes
        keys.sort()
        return (keys % column.distinct).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Measurement:
    """The risk of each group, `parts[g] / wholes[g]`, against one bound and one least size.

    Judging is done here and nowhere else, in exact integers: int64, or Python's own in an array
    of objects where those are too small. The risk may be the bound, unless `strict` says that it
    has to stay under it. A principle that asks for a level of at least so much says how it turns
    the level into a risk: as its reciprocal, or as the share of it that is lacking.
    """

    parts: NDArray[np.int64]
    wholes: NDArray[np.int64]
    sizes: NDArray[np.int64]
    bound: Fraction
    least: int
    strict: bool = False

    @cached_property
    def breaches(self) -> NDArray[np.bool_]:
        """Which groups do not keep the requirement."""
        top, bottom = self.bound.as_integer_ratio()
        parts, wholes = _times(self.parts, bottom), _times(self.wholes, top)
        over = parts >= wholes if self.strict else parts > wholes
        return over.astype(bool) | (self.sizes < self.least)

    @cached_property
    def risk(self) -> Fraction:
        """The largest risk of any group."""
        near = np.flatnonzero(self.risks >= self.risks.max() * (1 - DOUBLE))
        pairs = set(zip(self.parts[near].tolist(), self.wholes[near].tolist(), strict=True))
        return max(Fraction(part, whole) for part, whole in pairs)

    @property
    def holds(self) -> bool:
        """Whether every group keeps the requirement."""
        return not self.breaches.any()

    @cached_property
    def risks(self) -> NDArray[np.float64]:
        """The risk of each group, for pictures and averages."""
        return (self.parts / self.wholes).astype(np.float64)

    def judged(self, scale: str, *, strict: bool) -> str:
        """Say what was measured at worst, on a scale or as a chance, and what is allowed."""
        side = "less than" if strict else "at most"
        if not scale:
            return f"measured {as_odds(self.risk)}, allowed {side} {as_odds(self.bound)}"
        return f"measured {at_most(self.risk)} ({scale}), allowed {side} {at_most(self.bound)}"

    @property
    def summary(self) -> Summary:
        """What is told of all groups together."""
        return Summary(self.risk, int(self.breaches.sum()), len(self.sizes), int(self.sizes.min()))


@dataclass(frozen=True)
class Summary:
    """What a principle measured in many groups, wherever they were measured: summaries add up."""

    risk: Fraction
    breaches: int
    groups: int
    smallest: int

    def __add__(self, other: Summary) -> Summary:
        return Summary(
            max(self.risk, other.risk),
            self.breaches + other.breaches,
            self.groups + other.groups,
            min(self.smallest, other.smallest),
        )


@dataclass(frozen=True, eq=False)
class Totals(Measurement):
    """A measurement whose groups are elsewhere: the worst of them stands for all."""

    total: Summary = field(kw_only=True)

    @classmethod
    def of(cls, total: Summary, bound: Fraction) -> Totals:
        """Return what summaries of groups add up to, against a bound."""
        part, whole = (np.array([end], object) for end in total.risk.as_integer_ratio())
        return cls(part, whole, np.array([total.smallest]), bound, 0, total=total)

    @cached_property
    def breaches(self) -> NDArray[np.bool_]:
        """Whether any group does not keep the requirement."""
        return np.array([self.total.breaches > 0])

    @property
    def summary(self) -> Summary:
        """What is told of all groups together."""
        return self.total


def joined(parts: Sequence[Measurement]) -> Measurement:
    """Return measurements of one requirement on several tables as one.

    Where their bounds differ, risks are scaled to the largest one; who is in breach stays so.
    """
    if len(parts) == 1:
        return parts[0]
    bound = max(part.bound for part in parts)
    numbers, wholes = [], []
    for part in parts:
        top, bottom = (bound / part.bound).as_integer_ratio() if part.bound else (1, 1)
        numbers.append(_times(part.parts, top))
        wholes.append(_times(part.wholes, bottom))
    return Measurement(
        np.concatenate(numbers),
        np.concatenate(wholes),
        np.concatenate([part.sizes for part in parts]),
        bound,
        parts[0].least,
        parts[0].strict,
    )


def _times(numbers: NDArray, factor: int) -> NDArray:
    """Multiply integers, as Python's own where 64 bits may be too few."""
    if factor > LARGEST or (factor and int(numbers.max()) > LARGEST // factor):
        return numbers.astype(object) * factor
    return numbers * factor


FINEST = 2**31  # a bound with a larger denominator is rounded to one of these, down


@dataclass(frozen=True, eq=False)
class Demand:
    """A principle on one value of one table, ready for `kernels/demands.py`.

    `kind` chooses the check; `bound`, `count` and `level` are its parameters and `table` its
    numbers, one or several for each of the codes 0 … values - 1.
    """

    kind: int
    codes: NDArray[np.int32]
    values: int
    table: NDArray[np.float64]
    bound: Fraction = Fraction(1)
    count: int = 0
    level: float = 0.0

    @property
    def ratio(self) -> tuple[int, int]:
        """The bound in numbers of few bits, never above it; no share or gain is above FINEST."""
        if self.bound > FINEST:
            return FINEST, 1
        if self.bound.denominator <= FINEST:
            return self.bound.as_integer_ratio()
        return int(self.bound * FINEST), FINEST


@dataclass(frozen=True)
class GuessBound:
    """How often at most a reader who knows a person's group guesses a value to within a width.

    `listed` is for guesses of values that the group lists, `any` for all guesses. The reader
    considers every row of the group equally likely. A `relative` width is a share of the guess.
    """

    width: float
    listed: Fraction
    any: Fraction
    relative: bool = False
