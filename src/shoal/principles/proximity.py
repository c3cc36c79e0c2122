"""Proximity of one numeric value: (ε,m)-anonymity and its kin, and (δ,l)-diversity.

For every member of a group, at most |G| / m members, itself included, may lie in its private
neighbourhood.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from shoal.distances.counting import band_of_column, relative_band_of_column
from shoal.distances.relation import Band, unsure
from shoal.errors import BadParameter, UsageError
from shoal.exact import at_least, wide
from shoal.notation import exact
from shoal.principles.base import Pairwise
from shoal.principles.groups import UNLIMITED, GuessBound
from shoal.principles.ordered import OneDimensional

if TYPE_CHECKING:
    from shoal.distances.relation import Relation
    from shoal.principles.base import Principle
    from shoal.principles.groups import Measurement
    from shoal.table.sensitive import Sensitive


CLOSE_GUESS = "Limit the chance of a close guess of {column}"
CLOSE = "Treat a guess of {column} as a disclosure if it is within"
CHANCE = ("Highest acceptable chance of such a guess", "1 in ")


class Proximity(OneDimensional, Pairwise):
    """A bound of 1/m on the share of a group near to any of its members."""

    monotone = False

    @property
    def near(self) -> float:
        """How near a value has to be to count on either side of another."""
        raise NotImplementedError

    @property
    def guess(self) -> GuessBound:
        """Two neighbourhoods cover what is near to a guess between two values that are listed.

        Where only equal values are near, no guess but that of a listed value is ever right.
        """
        sides = 2 if self.named_width > 0 else 1
        return GuessBound(self.near, self.bound, min(sides * self.bound, Fraction(1)))

    def relation(self, sensitive: Sensitive) -> Relation:
        """Return the private neighbourhoods, missing values being in all of them."""
        return unsure(self.band(sensitive), sensitive)

    def reached(self, measured: Measurement) -> str:
        """Say which m (or l) a measurement keeps."""
        return f"{self.share_name}={int(1 / measured.risk)}"


@dataclass(frozen=True, repr=False)
class EpsilonM(Proximity):
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
    aim = CLOSE_GUESS
    knobs = (("epsilon", CLOSE, ""), ("m", *CHANCE))

    def __post_init__(self) -> None:
        if not isinstance(self.relative, bool):
            raise BadParameter("EpsilonM", "relative", "True or False", self.relative)
        super().__post_init__()

    @classmethod
    def judging(cls, what: str, principle: Principle) -> Self:
        """Return a principle that is one of these, or raise: no other can judge it."""
        if not isinstance(principle, cls):
            msg = f"{what} is judged by EpsilonM(epsilon=…, m=…), not by {principle!r}."
            raise UsageError(msg)
        return principle

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
            f"{at_least(100 * exact(self.epsilon), 8)}%"
            if self.relative
            else wide(self.epsilon, unit)
        )
        said = (
            f"that person's value is within {how} of the guess"
            if self.relative
            else f"the guess is within {how} of that person's value"
        )
        return _listed(column, said, self.guess)


@dataclass(frozen=True, repr=False)
class Neighbourhood(Proximity):
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
    aim = CLOSE_GUESS
    knobs = (
        ("below", "Treat a guess as a disclosure if {column} is this far below it", ""),
        ("above", "Or if {column} is this far above it", ""),
        ("m", *CHANCE),
    )
    width_name = "the larger of below and above"

    @property
    def near(self) -> float:
        """What is near on both sides."""
        return min(self.below, self.above)

    @property
    def named_width(self) -> float:
        """The larger of both sides."""
        return max(self.below, self.above)

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
        return _listed(column, said, self.guess)


@dataclass(frozen=True, repr=False)
class DeltaL(Proximity):
    """(δ,l)-diversity: two values are similar when their δ-intervals overlap, |u - v| <= 2δ.

    So it is absolute (2δ, l)-anonymity. Its paper claims that it survives the union of groups; it
    does not (δ = 7.5, l = 2, groups {40, 60} and {50, 80}). `Window` does.

    References
    ----------
    Zare-Mirakabad: (δ,l)-diversity: Privacy Preservation for Publication Numerical Sensitive Data.
    CS & IT 06, 2012; Definitions 3 to 5.
    """

    delta: float
    l: int

    source = "Zare-Mirakabad, CS & IT 2012, Definition 5"
    aim = CLOSE_GUESS
    knobs = (("delta", CLOSE, ""), ("l", *CHANCE))
    share_name = "l"
    graded = ("l",)
    width_name = "delta"
    width_scale = 2

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


def _listed(column: str, said: str, guess: GuessBound) -> str:
    """Say how likely something is of a guess of a listed value, and of any other guess."""
    m = guess.listed.denominator
    first = (
        f"If a reader guesses one of the values of {column} listed for a person's group, {said} "
        f"with a chance of at most 1 in {m}"
    )
    if guess.any == guess.listed:
        return f"{first}."
    return (
        f"{first}. {UNLIMITED}"
        if guess.any >= 1
        else f"{first} (any other guess: at most 2 in {m})."
    )
