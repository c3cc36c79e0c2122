"""Runs of one numeric value: windows and chains.

The window principle asks that no short interval, wherever it lies, holds many of a group, the
chain principle that no run of values with short steps does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.distances.counting import band_of_column, beside_missing
from shoal.distances.relation import Band, unsure
from shoal.exact import wide
from shoal.notation import exact
from shoal.principles.base import Pairwise, Principle
from shoal.principles.groups import GuessBound, Measurement
from shoal.principles.ordered import OneDimensional
from shoal.principles.proximity import CHANCE, Proximity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.distances.relation import Relation
    from shoal.principles.groups import Groups
    from shoal.table.sensitive import Sensitive


@dataclass(frozen=True, repr=False)
class Chain(Proximity):
    """No chain of values, in steps of ε at most, holds more than 1/m of a group.

    It does not survive the union of groups: the values of one may fill the gaps of the other
    (ε = 1, m = 2, groups {0, 2} and {1, 3}). It implies `EpsilonM`, and is achievable exactly where
    that is: a group whose values are pairwise not near has chains of one.

    Parameters
    ----------
    epsilon : the longest step between two neighbours of a chain, in units of the column.
    m : at most one in m members of a group may lie in one chain.

    References
    ----------
    Wang, Liu: XColor: Protecting General Proximity Privacy. ICDE 2010: which other shapes than
    stars a breach may have is left open there.
    """

    epsilon: float
    m: int

    counted = False
    source = "components of near values, left open by Wang, Liu, ICDE 2010, as a principle"
    aim = "Limit the chance of guessing in which run of values {column} lies"
    knobs = (
        ("epsilon", "Start a new run of {column} at every gap wider than", ""),
        ("m", "Highest acceptable chance of guessing the run", "1 in "),
    )

    @property
    def near(self) -> float:
        """A step on either side."""
        return self.epsilon

    def band(self, sensitive: Sensitive) -> Band:
        """Return the values that are one step away."""
        epsilon = exact(self.epsilon)
        return band_of_column(sensitive.column, epsilon, epsilon)

    def searched(self, size: int) -> int:
        """Return how many a search lets be near to one of them, itself included.

        Where nobody is near to more than one other, chains end there. More than two of them near
        to one may be a chain of the whole group, whatever its size, so no more are let.
        """
        return min(2, self.allowed(size))

    unjudged = "one missing value may join all values of a group into one chain"

    def measure(self, groups: Groups, sensitive: Sensitive | None) -> Measurement:
        """Measure the largest share of each group that lies in one chain."""
        assert sensitive is not None
        self.check_missing(sensitive)
        codes = groups.sorted_codes(sensitive)
        begins = np.ones(len(codes), np.bool_)
        begins[1:] = codes[1:] > self.band(sensitive).reach[codes[:-1]]
        begins[groups.starts[:-1]] = True
        first = np.flatnonzero(begins)
        lengths = np.diff(np.append(first, len(codes)))
        counts = np.maximum.reduceat(lengths, np.searchsorted(first, groups.starts[:-1]))
        return Measurement(counts, groups.sizes, groups.sizes, self.bound, self.least)

    def crowd(self, sensitive: Sensitive) -> int:
        """Raise: with several values a person, chains of values are none of people."""
        return Principle.crowd(self, sensitive)

    def promise_in(self, column: str, unit: str) -> str:
        """Say it in plain words."""
        return (
            f"Sort the values of {column} of a group, and start a new run at every gap larger than "
            f"{wide(self.epsilon, unit)}: a reader who guesses the run of a person's value is "
            f"right with a chance of at most 1 in {self.m}."
        )


@dataclass(frozen=True, repr=False)
class Window(OneDimensional, Pairwise):
    """No interval of the given width holds more than 1/m of a group.

    What (δ,l)-diversity set out to be, with width = 2δ. It survives the union and any mixture of
    groups, so it also withstands a reader who cannot tell two groups apart. A group keeps it
    exactly when maxsize(G) for e_max = width is at most |G| / m. Every window begins at its lowest
    member, so it is also a pairwise principle, in which u is near v when v <= u <= v + width.
    """

    width: float
    m: int

    monotone = True
    width_name = "width"
    source = "maxsize of Li, Tao, Xiao, SIGMOD 2008, Definition 11, as a principle"
    aim = "Limit the chance of a close guess of {column}, whatever the guess"
    knobs = (
        ("width", "Treat {column} as disclosed if a reader knows it to a range this wide", ""),
        ("m", *CHANCE),
    )

    @property
    def guess(self) -> GuessBound:
        """A guess covers half of the width on either side, wherever it lies."""
        return GuessBound(self.width / 2, self.bound, self.bound)

    def band(self, sensitive: Sensitive) -> Band:
        """Return the windows that start or end at each value."""
        width = exact(self.width)
        return band_of_column(sensitive.column, width, width)

    @property
    def symmetric(self) -> bool:
        """Whether being near is mutual: only who is above a member counts."""
        return False

    def relation(self, sensitive: Sensitive) -> Relation:
        """Return the windows that start at each value, missing values being in all of them."""
        band = self.band(sensitive)
        starting = Band(np.arange(len(band.first), dtype=np.int32), band.last)
        return unsure(starting, sensitive)

    def measure(self, groups: Groups, sensitive: Sensitive | None) -> Measurement:
        """Measure the largest share of each group that any window of the width holds."""
        from shoal.kernels.windows import longest_runs

        assert sensitive is not None
        if sensitive.several:
            return super().measure(groups, sensitive)
        reach = self.band(sensitive).reach

        def longest(codes: NDArray, starts: NDArray[np.int64]) -> NDArray[np.int64]:
            runs = np.empty(len(starts) - 1, np.int64)
            longest_runs(codes, starts, reach, runs)
            return runs

        counts = beside_missing(groups, sensitive, longest)
        return Measurement(counts, groups.sizes, groups.sizes, self.bound, self.least)

    def promise_in(self, column: str, unit: str) -> str:
        """Say it in plain words."""
        half = self.width / 2
        within = wide(int(half) if half == int(half) else half, unit)
        return (
            f"Whatever value of {column} a reader guesses for a person, it is within {within} of "
            f"that person's value with a chance of at most 1 in {self.m}. This holds even if the "
            "reader knows only that the person is in one of several groups."
        )
