"""Proximity for any data: (ε,δ)^k-dissimilarity with any distance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np

from shoal.distances.base import Distance
from shoal.distances.numeric import Absolute, Lp
from shoal.distances.relation import Relation, most_near, unsure
from shoal.errors import BadParameter
from shoal.exact import at_least, at_most, downward
from shoal.notation import exact, number, whole_number
from shoal.principles.base import Pairwise
from shoal.principles.groups import Groups, Measurement

if TYPE_CHECKING:
    from shoal.table.coded import Sensitive


DEFAULT = Lp()


@dataclass(frozen=True, repr=False)
class Dissimilarity(Pairwise):
    """Every member is within ε of at most (1 - δ)(|G| - 1) others, in groups of at least k.

    It does not survive the union of groups: a member may be near to others that it has not met.

    Parameters
    ----------
    epsilon : the distance up to which two values are near.
    delta : the share of the others that must not be near, from 0 to 1.
    k : the least size of a group.
    distance : how far apart two values are; `Lp()` by default.

    References
    ----------
    Wang, Liu: XColor: Protecting General Proximity Privacy. ICDE 2010. Definitions 6, 7, 11 and
    Theorem 1 ("at most").
    """

    epsilon: float
    delta: float
    k: int
    distance: Distance = DEFAULT

    monotone = False
    graded = ("delta",)
    by_distance = True
    source = "XColor, Definition 7 and Theorem 1"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", number(self, "epsilon", self.epsilon))
        object.__setattr__(self, "delta", number(self, "delta", self.delta, most=1))
        object.__setattr__(self, "k", whole_number(self, "k", self.k, least=1))
        if not isinstance(self.distance, Distance):
            allowed = "a distance such as Lp(p=1) or Equality()"
            raise BadParameter("Dissimilarity", "distance", allowed, self.distance)

    @property
    def least(self) -> int:
        """The least size of a group; one member alone never passes where δ asks for anything."""
        return max(self.k, 2 if self.delta > 0 else 1)

    @property
    def scaled(self) -> bool:  # type: ignore[override]
        """Whether the distance is."""
        return self.distance.scaled

    def numbers_of(self, count: int) -> tuple[bool, ...]:
        """Return which of so many columns the distance compares as numbers."""
        return self.distance.numbers_of(count)

    @property
    def bound(self) -> Fraction:
        """The largest risk allowed, 1 - δ as it was written."""
        return 1 - exact(self.delta)

    def allowed(self, size: int) -> int:
        """Return 1 + floor((1 - δ)(|G| - 1)): a member is near itself."""
        return 1 + (size - 1) * self.bound.numerator // self.bound.denominator

    def used(self, size: int) -> Fraction:
        """Return how much of the bound whole neighbours use in a group of this size."""
        if self.bound == 0 or size == 1:
            return Fraction(1)
        return Fraction(1, size) + Fraction(self.allowed(size) - 1, size - 1) / self.bound

    def largest_share(self, rows: int) -> Fraction:
        """Return the largest share of a group, of so many rows at most, that may be near.

        It is at most bound + (1 - bound) / s, which falls with the size s and is reached where the
        bound allows a whole number of others: larger groups than the first such one cannot do
        more.
        """
        whole = self.bound.denominator
        first = 1 + -(-(self.least - 1) // whole) * whole
        return self.share_by_size(min(rows, first))

    def relation(self, sensitive: Sensitive) -> Relation:
        """Return who is within ε of whom; missing values are within it of all."""
        found = self.distance.relation(sensitive.known, exact(self.epsilon))
        return unsure(found, sensitive)

    def measure(self, groups: Groups, sensitive: Sensitive | None) -> Measurement:
        """Measure risk(G, ε) = max (|Φ(v, ε)| - 1) / (|G| - 1), and 1 for a group of one."""
        assert sensitive is not None
        return self.measure_by(self.relation(sensitive), groups, sensitive)

    def measure_by(self, relation: Relation, groups: Groups, sensitive: Sensitive) -> Measurement:
        """Measure with a relation that was made before, as for many groups in turn."""
        counts = most_near(relation, groups, sensitive)
        alone = groups.sizes == 1
        others = np.where(alone, 1, counts - 1)
        wholes = np.where(alone, 1, groups.sizes - 1)
        return Measurement(others, wholes, groups.sizes, self.bound, self.k)

    def strongest(self, groups: Groups, sensitive: Sensitive | None) -> Self | None:
        """Return it with the largest δ that holds for its ε, in groups of at least k."""
        if groups.sizes.min() < self.k:
            return None
        return replace(self, delta=downward(1 - self.measure(groups, sensitive).risk))

    def reached(self, measured: Measurement) -> str:
        """Say which δ a measurement keeps, rounded down."""
        return f"delta={at_least(1 - measured.risk)} at k={int(measured.sizes.min())}"

    @property
    def listed(self) -> Fraction:
        """The largest share of a group that may be near to a value it lists, its own included."""
        return self.bound + (1 - self.bound) / self.k

    def promise(self, column: str) -> str:
        """Say it in plain words."""
        return self.promise_in(column, "")

    def promise_in(self, column: str, unit: str) -> str:
        """Say it in plain words; what is scaled has no unit."""
        unit = f" {unit}" if unit and isinstance(self.distance, Absolute) else ""
        return (
            f"Every group has at least {self.k} people, and for each of them at most "
            f"{at_most(100 * self.bound)}% of the others have values of {column} within a distance "
            f"of {self.epsilon:g}{unit}. A guess of listed values is therefore within that "
            f"distance of a person's with a chance of at most {at_most(100 * self.listed)}%."
        )
