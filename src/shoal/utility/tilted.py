"""Where the rows of a group lie between the two ends of its cell.

With a mean, one row lies at either end, because ends are values of rows. The other n - 2 rows have
a mean that follows from that of the group; a single one is known from it, and several are spread by
the distribution that says nothing else: that of the largest entropy on the units from low to high
with this mean, whose weights are e^(λk) for unit k (Jaynes: Information Theory and Statistical
Mechanics. Physical Review 1957). Where the mean lies in the middle, these are all alike.

Without one, cells of the usual width tell. A search for close groups fills some with a member from
afar, who has the sensitive value that is lacking. The cell then reaches from that one to the
others, who are near one another, and hardly anybody lies between. So half of the rows say what
width is usual in a column, and a cell several times as wide is taken to hold its rows within the
usual width of one end or the other, in proportion to the rows that narrow cells, spread evenly,
have there; one row is known to be at either end.

Nobody has to lie at the ends of a region. With a mean, all of its rows are spread by it, and
without one evenly: a region is as wide as its cuts are apart, and not because of somebody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]


STRETCHED = 4  # times the usual width, beyond which a cell is taken to be stretched


@dataclass(frozen=True, eq=False)
class Stretched:
    """The stretched ones among some cells: how wide their ends are, and what lies at the low one.

    `which` are the numbers of those cells, `lower` the share of their rows at the low end.
    """

    which: NDArray[np.int64]
    usual: float
    lower: Reals

    @classmethod
    def of(cls, lows: Reals, highs: Reals, rows: Reals) -> Stretched | None:
        """Take cells in units, and how many rows bear each; None where no cell is stretched."""
        sizes = highs - lows + 1
        order = np.argsort(sizes, kind="stable")
        half = np.searchsorted(np.cumsum(rows[order]), rows.sum() / 2)
        usual = float(sizes[order[half]])
        which = np.flatnonzero(sizes > STRETCHED * usual)
        if not which.size:
            return None
        narrow = (sizes <= usual) & (rows > 0)
        told = RowsBefore.of(lows[narrow], highs[narrow], rows[narrow])
        first = told.between(lows[which], lows[which] + usual) + 1
        last = told.between(highs[which] - usual + 1, highs[which] + 1) + 1
        return cls(which, usual, first / (first + last))

    def correct(
        self, lows: Reals, highs: Reals, firsts: Reals, lasts: Reals, shares: Reals
    ) -> None:
        """Put in (OUT: shares) which part of each stretched cell some runs of units ask for."""
        from shoal.kernels.queries import interval_shares

        low, high = lows[self.which], highs[self.which]
        at_low, at_high = np.empty(len(low)), np.empty(len(low))
        interval_shares(low, low + (self.usual - 1), firsts, lasts, at_low)
        interval_shares(high - (self.usual - 1), high, firsts, lasts, at_high)
        shares[self.which] = self.lower * at_low + (1 - self.lower) * at_high


@dataclass(frozen=True, eq=False)
class RowsBefore:
    """How many rows lie before each place, where cells spread theirs evenly."""

    places: Reals
    before: Reals

    @classmethod
    def of(cls, lows: Reals, highs: Reals, rows: Reals) -> RowsBefore:
        """Take cells in units, and how many rows bear each."""
        thick = rows / (highs - lows + 1)
        ends = np.concatenate([lows, highs + 1])
        order = np.argsort(ends, kind="stable")
        places = ends[order]
        density = np.cumsum(np.concatenate([thick, -thick])[order])[:-1]
        return cls(places, np.concatenate([[0.0], np.cumsum(density * np.diff(places))]))

    def between(self, begins: Reals, ends: Reals) -> Reals:
        """Return how many rows lie from each place to another, the latter excluded."""
        begun, ended = (np.interp(at, self.places, self.before) for at in (begins, ends))
        return np.maximum(ended - begun, 0.0)


STEEPEST = 50.0  # of λ: from here on all weight is on the end
HALVINGS = 80


@dataclass(frozen=True, eq=False)
class Tilted:
    """Cells with the number of rows that bear each, and where those between the ends lie.

    `centres` are places of the units from the low end; `rates` are λ, by cell. At the ends of a
    cell lie `held` rows, two of a tight one and none of a region.
    """

    lows: Reals
    highs: Reals
    rows: Reals
    centres: Reals
    rates: Reals
    held: int = 2

    @classmethod
    def of(cls, lows: Reals, highs: Reals, means: Reals, rows: Reals, *, held: int = 2) -> Tilted:
        """Take ends and means in units, and how many rows there are in each group."""
        between = np.maximum(rows - held, 1)
        at_ends = lows + highs if held else 0.0
        centres = np.clip((rows * means - at_ends) / between, lows, highs) - lows
        return cls(lows, highs, rows, centres, tilt_rates(highs - lows + 1, centres), held)

    def shares(self, firsts: Reals, lasts: Reals) -> Reals:
        """Return which part of each cell's rows lies in any of some disjoint runs of units."""
        found = np.zeros(len(self.lows))
        for first, last in zip(firsts, lasts, strict=True):
            found += self._share(first, last)
        return found

    def _share(self, first: float, last: float) -> Reals:
        lows, highs, rows = self.lows, self.highs, self.rows
        sizes = highs - lows + 1
        begin = np.clip(first - lows, 0, sizes)
        end = np.maximum(np.clip(last - lows + 1, 0, sizes), begin)
        spread = tilt_below(sizes, self.rates, end) - tilt_below(sizes, self.rates, begin)
        middle = np.rint(self.centres)
        alone = rows == self.held + 1
        inner = np.where(alone, (begin <= middle) & (middle < end), spread)
        if not self.held:
            return inner
        at_ends = ((first <= lows) & (lows <= last)).astype(np.float64)
        at_ends += (first <= highs) & (highs <= last)
        several = np.maximum(rows, 2)
        return np.where(sizes == 1, spread, (at_ends + (several - 2) * inner) / several)


def tilt_rates(sizes: Reals, centres: Reals) -> Reals:
    """Return λ for each run of units 0 … size - 1, so that the mean is the centre.

    By halving, for the nearer end: the mean falls from the middle to that end as |λ| grows.
    """
    upper = centres > (sizes - 1) / 2
    distance = np.where(upper, sizes - 1 - centres, centres)
    low, high = np.zeros(len(sizes)), np.full(len(sizes), STEEPEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        above = _falling_mean(sizes, middle) > distance
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    rates = np.where(sizes > 1, (low + high) / 2, 0.0)
    return np.where(upper, rates, -rates)


def _falling_mean(sizes: Reals, steepness: Reals) -> Reals:
    """Return the mean of units whose weights fall as e^(-ak): 1/(e^a - 1) - n/(e^(an) - 1)."""
    flat = steepness * sizes < 1e-4
    a = np.where(flat, 1.0, steepness)
    with np.errstate(over="ignore"):
        mean = 1 / np.expm1(a) - sizes / np.expm1(a * sizes)
    return np.where(flat, (sizes - 1) / 2 - steepness * (sizes**2 - 1) / 12, mean)


def tilt_below(sizes: Reals, rates: Reals, places: Reals) -> Reals:
    """Return the weight of the units before a place in each run."""
    a = np.abs(rates)
    flat = a * sizes < 1e-9
    a = np.where(flat, 1.0, a)
    whole = np.expm1(-a * sizes)
    falling = np.expm1(-a * places) / whole
    rising = 1 - np.expm1(-a * (sizes - places)) / whole
    return np.where(flat, places / sizes, np.where(rates < 0, falling, rising))


def tilt_place(sizes: Reals, rates: Reals, shares: Reals) -> Reals:
    """Return the unit of each run at which a share of its weight is reached: over 0, under 1."""
    a = np.abs(rates)
    flat = a * sizes < 1e-9
    a = np.where(flat, 1.0, a)
    whole = np.expm1(-a * sizes)
    falling = -np.log1p(shares * whole) / a
    rising = sizes + np.log1p((1 - shares) * whole) / a
    found = np.where(flat, shares * sizes, np.where(rates < 0, falling, rising))
    return np.clip(np.floor(found), 0, sizes - 1)
