"""Proximity of one numeric value: (ε,m)-anonymity and its kin, (δ,l)-diversity, chains, windows.

For every member of a group, at most |G| / m members, itself included, may lie in its private
neighbourhood.

The window principle asks that no short interval, wherever it lies, holds many of a group, the
chain principle that no run of values with short steps does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from shoal.distances.bands import band_of_column, relative_band_of_column
from shoal.distances.relation import Band, beside_missing, unsure
from shoal.errors import BadParameter
from shoal.exact import percent, wide
from shoal.notation import exact, number, whole_number
from shoal.principles.base import GuessBound, OneDimensional, Pairwise, Principle
from shoal.principles.groups import Measurement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.distances.relation import Relation
    from shoal.principles.groups import Groups
    from shoal.table.coded import Sensitive


class _Proximity(OneDimensional, Pairwise):
    """A bound of 1/m on the share of a group near to any of its members."""

    monotone = False
    chance = True

    @property
    def near(self) -> float:
        """How near a value has to be to count on either side of another."""
        raise NotImplementedError

    @property
    def guess(self) -> GuessBound:
        """Two neighbourhoods cover what is near to a guess between two values that are listed."""
        return GuessBound(self.near, self.bound, min(2 * self.bound, Fraction(1)))

    def relation(self, sensitive: Sensitive) -> Relation:
        """Return the private neighbourhoods, missing values being in all of them."""
        return unsure(self.band(sensitive), sensitive)

    def promise(self, column: str) -> str:
        """Say it in plain words."""
        return self.promise_in(column, "")

    def reached(self, measured: Measurement) -> str:
        """Say which m (or l) a measurement keeps."""
        return f"{self.share_name}={int(1 / measured.risk)}"


@dataclass(frozen=True, repr=False)
class EpsilonM(_Proximity):
    """(ε,m)-anonymity: at most 1/m of a group lies within ε of any member.

    It does not survive the union of groups: a value of one may be near to many of the other, which
    are not near to one another (ε = 1, m = 2, groups {1, 9} and {0, 2}).

    Parameters
    ----------
    epsilon : half the length of the private neighbourhood, in units of the column; with
        `relative`, a share of the value from 0 to 1.
    m : at most one in m members of a group may be that near.
    relative : whether epsilon is a share of the value: [v - ε|v|, v + ε|v|].

    References
    ----------
    Li, Tao, Xiao: Preservation of Proximity Privacy in Publishing Numerical Sensitive Data.
    SIGMOD 2008. Definitions 6 and 7.
    """

    epsilon: float
    m: int
    relative: bool = False

    source = "Li, Tao, Xiao, SIGMOD 2008, Definition 7"

    def __post_init__(self) -> None:
        if not isinstance(self.relative, bool):
            raise BadParameter("EpsilonM", "relative", "True or False", self.relative)
        most = 1 if self.relative else None
        object.__setattr__(self, "epsilon", number(self, "epsilon", self.epsilon, most=most))
        object.__setattr__(self, "m", whole_number(self, "m", self.m, least=1))

    @property
    def share(self) -> int:
        """The m of the principle."""
        return self.m

    @property
    def near(self) -> float:
        """ε on either side."""
        return self.epsilon

    @property
    def guess(self) -> GuessBound:
        """Where ε is relative, it is a share of the guess."""
        return replace(super().guess, relative=self.relative)

    @property
    def symmetric(self) -> bool:
        """Whether being near is mutual: relative neighbourhoods grow with the value."""
        return not self.relative

    def band(self, sensitive: Sensitive) -> Band:
        """Return the absolute or relative ε-neighbourhoods (EM Definition 6)."""
        epsilon = exact(self.epsilon)
        if self.relative:
            return relative_band_of_column(sensitive.column, epsilon)
        return band_of_column(sensitive.column, epsilon, epsilon)

    def promise_in(self, column: str, unit: str) -> str:
        """Say it in plain words."""
        how = (
            percent(self.epsilon, 6).rstrip("0%").rstrip(".") + "%"
            if self.relative
            else wide(self.epsilon, unit)
        )
        said = (
            f"that person's value is within {how} of the guess"
            if self.relative
            else f"the guess is within {how} of that person's value"
        )
        return _listed(column, said, self.m)


@dataclass(frozen=True, repr=False)
class Neighbourhood(_Proximity):
    """(e1,e2,m)-anonymity: at most 1/m of a group lies in [v - below, v + above] of any member v.

    It does not survive the union of groups, as `EpsilonM` does not.

    References
    ----------
    Li, Tao, Xiao, SIGMOD 2008. Definitions 8 and 9.
    """

    below: float
    above: float
    m: int

    source = "Li, Tao, Xiao, SIGMOD 2008, Definition 9"
    width_name = "the larger of below and above"

    def __post_init__(self) -> None:
        object.__setattr__(self, "below", number(self, "below", self.below))
        object.__setattr__(self, "above", number(self, "above", self.above))
        object.__setattr__(self, "m", whole_number(self, "m", self.m, least=1))

    @property
    def share(self) -> int:
        """The m of the principle."""
        return self.m

    @property
    def near(self) -> float:
        """What is near on both sides."""
        return min(self.below, self.above)

    @property
    def symmetric(self) -> bool:
        """Whether being near is mutual."""
        return self.below == self.above

    def band(self, sensitive: Sensitive) -> Band:
        """Return the (e1, e2)-neighbourhoods."""
        return band_of_column(sensitive.column, exact(self.below), exact(self.above))

    def promise_in(self, column: str, unit: str) -> str:
        """Say it in plain words."""
        said = (
            f"that person's value lies between {wide(self.below, unit)} below and "
            f"{wide(self.above, unit)} above the guess"
        )
        return _listed(column, said, self.m)


@dataclass(frozen=True, repr=False)
class DeltaL(_Proximity):
    """(δ,l)-diversity: two values are similar when their δ-intervals overlap, |u - v| <= 2δ.

    So it is absolute (2δ, l)-anonymity. Its paper claims that it survives the union of groups; it
    does not (δ = 7.5, l = 2, groups {40, 60} and {50, 80}). `Window` does.

    References
    ----------
    A revision of (ε,m)-anonymity with overlapping intervals; Definitions 3 to 5.
    """

    delta: float
    l: int

    source = "(δ,l)-diversity, Definition 5"
    share_name = "l"
    graded = ("l",)
    width_name = "delta"
    width_scale = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", number(self, "delta", self.delta))
        object.__setattr__(self, "l", whole_number(self, "l", self.l, least=1))

    @property
    def share(self) -> int:
        """The l of the principle."""
        return self.l

    @property
    def near(self) -> float:
        """2δ on either side."""
        return 2 * self.delta

    def band(self, sensitive: Sensitive) -> Band:
        """Return the values whose δ-intervals overlap."""
        width = 2 * exact(self.delta)
        return band_of_column(sensitive.column, width, width)

    def promise_in(self, column: str, unit: str) -> str:
        """Say it in plain words."""
        return (
            f"Whatever value of {column} a reader guesses for a person, it is within "
            f"{wide(self.delta, unit)} of that person's value with a chance of at most 1 in "
            f"{self.l}. A guess of a listed value is within {wide(2 * self.delta, unit)} with a "
            f"chance of at most 1 in {self.l}."
        )


@dataclass(frozen=True, repr=False)
class Chain(_Proximity):
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", number(self, "epsilon", self.epsilon))
        object.__setattr__(self, "m", whole_number(self, "m", self.m, least=1))

    @property
    def share(self) -> int:
        """The m of the principle."""
        return self.m

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
    chance = True
    width_name = "width"
    source = "maxsize of Li, Tao, Xiao, SIGMOD 2008, Definition 11, as a principle"

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", number(self, "width", self.width))
        object.__setattr__(self, "m", whole_number(self, "m", self.m, least=1))

    @property
    def share(self) -> int:
        """The m of the principle."""
        return self.m

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

    def promise(self, column: str) -> str:
        """Say it in plain words."""
        return self.promise_in(column, "")

    def promise_in(self, column: str, unit: str) -> str:
        """Say it in plain words."""
        half = self.width / 2
        within = wide(int(half) if half == int(half) else half, unit)
        return (
            f"Whatever value of {column} a reader guesses for a person, it is within {within} of "
            f"that person's value with a chance of at most 1 in {self.m}. This holds even if the "
            "reader knows only that the person is in one of several groups."
        )


def _listed(column: str, said: str, m: int) -> str:
    """Say how likely something is of a guess of a listed value, and what else bounds."""
    other = f"at most 2 in {m}" if m > 2 else "no limit"
    return (
        f"If a reader guesses one of the values of {column} listed for a person's group, {said} "
        f"with a chance of at most 1 in {m} (any other guess: {other})."
    )
