"""How much perturbation may retain: formula (3) of (ε,m)-anonymity, and its solution for p.

Perturbation keeps a sensitive value with probability p and otherwise replaces it by a value drawn
uniformly from the domain. A reader who sees a tuple's published value in the private neighbourhood
I of its true value, and looks at nothing but that, believes that the true value lies there with
certainty

    P_brh = P[I] (p + (1-p)|I|) / (P[I] p + (1-p)|I|),

where P[I] is the share of the tuples with values in I and |I| the share of the domain that I
covers (Li, Tao, Xiao, SIGMOD 2008, Section 3.2). An absolute neighbourhood [v-ε, v+ε] has length
2ε, one of a relative ε depends on its tuple. What of I lies outside the domain cannot be drawn and
is cut off; that only raises the risk.

P_brh <= 1/m means p P[I] (m-1) <= (1-p) |I| (1 - m P[I]). So the best p of a tuple is

    |I| (1 - m P[I]) / (|I| (1 - m P[I]) + P[I] (m-1)),

which is 0 where P[I] = 1/m. At p = 0 the risk is P[I], so where P[I] > 1/m no p is low enough.

The domain of a numeric column is evenly spaced values, counted in exact whole units. A column of
whole numbers has steps of 1; one with at most d decimals has steps of 10^-d. Noise is drawn from
these values, so that a reader cannot tell it from a true value by its digits, and the length of an
interval is the number of values in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.errors import InputError, UsageError
from shoal.exact import at_least, downward
from shoal.notation import exact
from shoal.table.sensitive import Sensitive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.principles.proximity import EpsilonM
    from shoal.table.column import Column


ROUNDING = 1e-12  # beyond what rounding to doubles can change
FAR = 2**61  # past every value of a grid


def breach_risk(inside: Fraction, length: Fraction, p: Fraction) -> Fraction:
    """Return P_brh, formula (3); with p = 0 nothing is learnt and it is P[I].

    >>> breach_risk(Fraction(1, 5), Fraction(1, 5), Fraction(1, 16))
    Fraction(1, 4)
    """
    if p == 0:
        return inside
    noise = (1 - p) * length
    return inside * (p + noise) / (inside * p + noise)


def best_p(inside: Fraction, length: Fraction, m: int) -> Fraction | None:
    """Return the largest p with P_brh <= 1/m, None where there is none.

    Values spread evenly over [0, 1] and ε = 0.1: one sixteenth for m = 4, and 0 for m = 5.

    >>> [best_p(Fraction(1, 5), Fraction(1, 5), m) for m in (4, 5, 6)]
    [Fraction(1, 16), Fraction(0, 1), None]
    """
    spare = 1 - m * inside
    if spare < 0:
        return None
    if m == 1:
        return Fraction(1)
    return length * spare / (length * spare + inside * (m - 1))


@dataclass(frozen=True, eq=False)
class Retention:
    """What perturbation may retain of one column under an (ε,m) requirement.

    Attributes
    ----------
    inside : for each distinct value, ascending, how many rows its neighbourhood holds.
    covered : for each distinct value, how many values of the domain its neighbourhood holds.
    """

    column: Column
    require: EpsilonM
    grid: ValueGrid
    inside: NDArray[np.int64]
    covered: NDArray[np.int64]

    @classmethod
    def of(cls, column: Column, require: EpsilonM, grid: ValueGrid) -> Retention:
        """Count what the neighbourhood of every value holds."""
        band = require.band(Sensitive.of((column,)))
        until = np.concatenate([[0], np.cumsum(np.bincount(column.codes))])
        units = column_units(column, grid)
        reach = _reach(units, require, grid)
        covered = np.minimum(units + reach, grid.last) - np.maximum(units - reach, grid.first) + 1
        return cls(column, require, grid, until[band.last + 1] - until[band.first], covered)

    @cached_property
    def best(self) -> tuple[Fraction | None, ...]:
        """The best p of the tuples with each distinct value, exact; None where there is none."""
        pairs = list(zip(self.inside.tolist(), self.covered.tolist(), strict=True))
        known = {pair: self._best(*pair) for pair in set(pairs)}
        return tuple(known[pair] for pair in pairs)

    def _best(self, inside: int, covered: int) -> Fraction | None:
        share = Fraction(inside, len(self.column.codes))
        return best_p(share, Fraction(covered, self.grid.size), self.require.m)

    @property
    def rows(self) -> NDArray[np.float64]:
        """The best p of every row, never rounded up; NaN where there is none."""
        best = [np.nan if p is None else downward(p) for p in self.best]
        return np.array(best)[self.column.codes]

    @cached_property
    def p(self) -> Fraction | None:
        """The largest p that serves all tuples, exact; None where no p does."""
        rows, m = len(self.column.codes), self.require.m
        spare = rows - m * self.inside
        if spare.min() < 0:
            return None
        if m == 1:
            return Fraction(1)
        odds = self.covered * (spare / self.inside)  # p / (1-p), up to a factor and rounding
        least = np.flatnonzero(odds <= odds.min() * (1 + ROUNDING))
        pairs = set(zip(self.inside[least].tolist(), self.covered[least].tolist(), strict=True))
        return min(p for p in (self._best(*pair) for pair in pairs) if p is not None)

    @property
    def sentence(self) -> str:
        """What can be retained, in words."""
        what = f"{self.require!r} on {self.column.name}"
        if self.p is None:
            place = int(np.argmax(self.inside))
            rows = len(self.column.codes)
            return (
                f"No perturbation keeps {what}: even with p = 0, where all values are noise, the "
                f"risk is {self.inside[place] / rows:.4g}, the share of the rows near "
                f"{self.column.spellings[place]}, and {1 / self.require.m:.4g} is allowed."
            )
        if self.p == 0:
            return f"Perturbation keeps {what} only with p = 0, where all values are noise."
        return f"Perturbation keeps {what} with p up to {at_least(self.p)}."


def _reach(units: NDArray[np.int64], require: EpsilonM, grid: ValueGrid) -> NDArray[np.int64]:
    """Return how many steps a neighbourhood reaches either way, for each value."""
    epsilon = exact(require.epsilon)
    if not require.relative:
        return np.full(len(units), min(int(grid.units(epsilon)), FAR), np.int64)
    top, bottom = epsilon.as_integer_ratio()
    return np.array([abs(unit) * top // bottom for unit in units.tolist()], np.int64)


LARGEST = 2**61  # so that the number of values fits 64 bits


@dataclass(frozen=True)
class ValueGrid:
    """The values from `first` to `last`, in units of 10^-`decimals`."""

    first: int
    last: int
    decimals: int

    @classmethod
    def of(cls, column: Column, domain: tuple[float, float] | None = None) -> ValueGrid:
        """Return the domain of a column: the range of its values, or one that holds them all."""
        least, most = Fraction(column.spellings[0]), Fraction(column.spellings[-1])
        low, high = (least, most) if domain is None else map(exact, domain)
        if not low <= least <= most <= high:
            msg = (
                f"The domain [{float(low):g}, {float(high):g}] does not hold all values of "
                f"{column.name}, which go from {float(least):g} to {float(most):g}."
            )
            raise UsageError(msg)
        decimals = max(map(_decimals, (*column.spellings, *map(str, domain or ()))))
        first, last = (-(-low * 10**decimals // 1), high * 10**decimals // 1)
        if max(-first, last) > LARGEST:
            msg = f"The values of {column.name} are too large or too fine to count. Round them."
            raise InputError(msg)
        return cls(int(first), int(last), decimals)

    @property
    def size(self) -> int:
        """How many values there are."""
        return self.last - self.first + 1

    def units(self, value: Fraction) -> Fraction:
        """Return a number in units."""
        return value * 10**self.decimals

    def inside(self, low: Fraction, high: Fraction) -> int:
        """Return how many values of the domain lie in an interval given in units, ends included."""
        first, last = max(self.first, -(-low // 1)), min(self.last, high // 1)
        return max(0, int(last - first) + 1)

    def values(self, units: NDArray[np.int64]) -> pl.Series:
        """Return units as numbers: whole ones, or the doubles nearest to the decimals."""
        if not self.decimals:
            return pl.Series(units)
        scale = 10**self.decimals
        return pl.Series([unit / scale for unit in units.tolist()], dtype=pl.Float64)


def column_units(column: Column, grid: ValueGrid) -> NDArray[np.int64]:
    """Return the distinct values of a column in units, ascending."""
    units = (int(Decimal(text).scaleb(grid.decimals)) for text in column.spellings)
    return np.fromiter(units, np.int64, column.distinct)


def _decimals(text: str) -> int:
    exponent = Decimal(text).normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    return max(0, -exponent)
