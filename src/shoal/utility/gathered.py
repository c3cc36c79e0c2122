"""Where the rows of a stretched cell lie: near its ends, by what cells of the usual width tell.

A search for close groups fills some with a member from afar, who has the sensitive value that is
lacking. The cell then reaches from that one to the others, who are near one another, and hardly
anybody lies between. So half of the rows say what width is usual in a column, and a cell several
times as wide is taken to hold its rows within the usual width of one end or the other, in
proportion to the rows that narrow cells, spread evenly, have there; one row is known to be at
either end. Where widths are alike, as those of regions are, no cell is stretched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.kernels.queries import interval_shares

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
