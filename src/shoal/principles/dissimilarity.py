"""Proximity for any data: (ε,δ)^k-dissimilarity with any distance, and what is known beforehand.

Whether it can hold at all is NP-hard (XC Theorem 2). Two results say that it can: XC Theorem 3,
Θ <= m (t + 1) / 2 with Θ the largest degree, m = floor(n / k) classes and
t = floor((1 - δ)(k - 1)) neighbours allowed, and, where t = 0, the theorem of Hajnal and
Szemerédi (Θ <= m - 1). Both are
sufficient and far from necessary. A set of values that are all near to one another says how large
the risk of every grouping must be.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from shoal.distances.base import Distance
from shoal.distances.counting import counting_work, most_near, neighbourhood_sizes
from shoal.distances.numeric import Absolute, Lp
from shoal.distances.relation import Band, Points, Relation, Unsure, unsure
from shoal.errors import BadParameter
from shoal.exact import at_least, at_most, downward, upward, wide
from shoal.kernels.metrics import SMALLEST
from shoal.notation import exact, number, whole_number
from shoal.principles.base import Pairwise
from shoal.principles.foresight import RequirementPlan
from shoal.principles.groups import Groups, GuessBound, Measurement

if TYPE_CHECKING:
    from shoal.table.sensitive import Sensitive


DEFAULT = Lp()
DIGITS = 4  # of the largest epsilon
DECADES = 20  # powers of ten, either way, between which it is searched for
PATIENCE = 2 * 10**9  # steps that are spent on a bound nobody asked for
SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100)


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
    scale = "share of the others that is close"
    graded = ("delta",)
    by_distance = True
    source = "XColor, Definition 7 and Theorem 1"
    aim = "Limit the chance of a close guess of {column}"
    knobs = (
        ("epsilon", "Treat values of {column} as close within a distance of", ""),
        ("delta", "Share of the other rows of a group that must not be close", ""),
        ("k", "Minimum group size", ""),
    )

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
        """Return which of `count` columns the distance compares as numbers."""
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
        """Return the largest share of a group of at most `rows` rows that may be near.

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

    def outlook(
        self, value: Sensitive | None, rows: int, *, people: int | None = None
    ) -> RequirementPlan:
        """Say what theorems say of it."""
        if value is None or people is not None:
            return super().outlook(value, rows, people=people)
        return replace(guarantee(self, value), largest_epsilon=largest_epsilon(self, value))

    def pictured(self, value: Sensitive) -> dict[str, Any]:
        """Return the δ that is certain, by k, unless counting near values takes too long."""
        if counting_work(self.relation(value)) > PATIENCE:
            return {}
        known = guarantee(self, value)
        reach = {
            "points": [{"k": one.k, "delta": one.delta or 0.0} for one in known.reaches],
            "chosen": {"k": self.k, "delta": self.delta},
            "guaranteed": known.by,
        }
        return {"reach": reach}

    @property
    def listed(self) -> Fraction:
        """The largest share of a group that may be near to a value it lists, its own included."""
        return self.bound + (1 - self.bound) / self.k

    def guess_of(self, count: int) -> GuessBound:
        """Other guesses have what is near to the listed values on either side of them."""
        sides = self.distance.sides(count)
        other = Fraction(1) if sides is None else min(sides * self.listed, Fraction(1))
        return GuessBound(self.epsilon, self.listed, other)

    def promise(self, column: str) -> str:
        """Say it in plain words."""
        return self.promise_in(column, "")

    def promise_in(self, column: str, unit: str) -> str:
        """Say it in plain words; what is scaled has no unit."""
        unit = f" {unit}" if unit and isinstance(self.distance, Absolute) else ""
        return (
            f"Every group has at least {self.k} people, and for each of them at most "
            f"{at_most(100 * self.bound)}% of the others have values of {column} within a distance "
            f"of {wide(self.epsilon)}{unit}. A guess of listed values is therefore within that "
            f"distance of a person's with a chance of at most {at_most(100 * self.listed)}%."
        )


@dataclass(frozen=True)
class Reach:
    """For groups of k, the largest δ that is certain to be achievable; None where none is."""

    k: int
    neighbours: int | None
    delta: float | None


@dataclass(frozen=True, repr=False)
class Guarantee(RequirementPlan):
    """What is known about one `Dissimilarity` on one table: what is certain, and no limits.

    Attributes
    ----------
    degree : Θ, the most other rows that are near to one row.
    guaranteed : whether a theorem says that it is achievable, and `by` which.
    least_risk : no grouping into groups of at least k can have a smaller risk.
    reaches : the δ that is certain to be achievable, by k.
    size : the least size of a group, k or 2.
    largest_delta : the largest δ that is certain for this ε and k; None where none is.
    largest_epsilon : the largest ε, in a few digits, that is certain for this δ and k; None where
        none is, or where it was not searched for.
    """

    degree: int
    classes: int
    neighbours: int
    degree_limit: float
    guaranteed: bool
    by: str | None
    least_risk: float
    reaches: tuple[Reach, ...]
    size: int
    largest_delta: float | None
    largest_epsilon: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, like the JSON of the command."""
        return {name: value for name, value in super().to_dict().items() if name != "limits"}


def guarantee(principle: Dissimilarity, sensitive: Sensitive) -> Guarantee:
    """Work out what is known about a requirement on a table."""
    relation = principle.relation(sensitive)
    rows = len(sensitive.codes)
    degree = largest_degree(relation, sensitive)
    size = max(principle.least, 2)
    classes = rows // size
    neighbours = principle.allowed(size) - 1
    by = theorem(degree, classes, neighbours)
    least = least_risk(relation, sensitive, size)
    impossible = least > principle.bound or rows < principle.least
    return Guarantee(
        rows=rows,
        sensitive=tuple(column.name for column in sensitive.columns),
        principle=repr(principle),
        degree=degree,
        classes=classes,
        neighbours=neighbours,
        degree_limit=classes * (neighbours + 1) / 2,
        guaranteed=by is not None,
        by=by,
        least_risk=upward(least),
        achievable=True if by is not None else False if impossible else None,
        limits=(),
        reaches=tuple(reach(k, rows, degree) for k in SIZES if k <= rows),
        size=size,
        largest_delta=reach(size, rows, degree).delta,
    )


def largest_epsilon(principle: Dissimilarity, sensitive: Sensitive) -> float | None:
    """Return the largest ε, of DIGITS digits, that a theorem makes certain; None for none.

    A larger ε makes more values near, so the largest degree never falls, and what is certain for
    one ε is certain for all below (XC Section V.A). With δ = 0 anything holds.
    """
    size = max(principle.least, 2)
    classes, neighbours = len(sensitive.codes) // size, principle.allowed(size) - 1

    def certain(epsilon: Fraction) -> bool:
        asked = replace(principle, epsilon=downward(epsilon))
        degree = largest_degree(asked.relation(sensitive), sensitive)
        return theorem(degree, classes, neighbours) is not None

    if not certain(Fraction(0)):
        return None
    places = range(-DECADES, DECADES + 1)
    decade = bisect_left(a=places, x=True, key=lambda place: not certain(Fraction(10) ** place))
    if decade == len(places):
        return None
    unit = Fraction(10) ** (places[decade] - DIGITS)
    steps = range(10**DIGITS + 1)
    first = bisect_left(a=steps, x=True, key=lambda step: not certain(step * unit))
    return downward((first - 1) * unit)


def largest_degree(relation: Relation, sensitive: Sensitive) -> int:
    """Return Θ; whoever lacks a value is near to everybody else."""
    if isinstance(relation, Unsure) and (sensitive.codes == relation.gap).any():
        return len(sensitive.codes) - 1
    return int(neighbourhood_sizes(relation, sensitive).max()) - 1


def theorem(degree: int, classes: int, neighbours: int) -> str | None:
    """Return the theorem by which an equitable colouring with so few neighbours exists."""
    if not classes:  # there are too few rows for one group
        return None
    if 2 * degree <= classes * (neighbours + 1):
        return "XColor, Theorem 3"
    if neighbours == 0 and degree <= classes - 1:
        return "Hajnal and Szemerédi"
    return None


def reach(k: int, rows: int, degree: int) -> Reach:
    """Return the fewest neighbours, and the largest δ, that a theorem makes certain for a k."""
    classes = rows // k
    if theorem(degree, classes, 0) is not None:
        fewest = 0
    else:  # the least t with 2 degree <= classes (t + 1); without a class there is none
        fewest = -(-2 * degree // classes) - 1 if classes else k
    if fewest >= k - 1:
        return Reach(k, None, None)
    return Reach(k, fewest, downward(1 - Fraction(fewest, k - 1)))


def least_risk(relation: Relation, sensitive: Sensitive, k: int, *, gone: int = 0) -> Fraction:
    """Return a risk that no grouping into groups of at least k can stay under.

    At best the rows that are `gone` all come from those that are near to one another.

    Where c of n rows are all near to one another, some group of size s has at least ceil(c s / n)
    of them, so its risk is at least (ceil(c s / n) - 1) / (s - 1), whatever s >= k it has.
    """
    rows = len(sensitive.codes)
    k = max(k, 2)
    if rows < k:
        return Fraction(1)
    alike = largest_clique(relation, sensitive) - gone
    if alike <= 1:
        return Fraction(0)
    sizes = np.arange(k, rows + 1, dtype=np.int64)
    inside = -(-alike * sizes // (rows - gone)) - 1
    best = int(np.argmin(inside / (sizes - 1)))
    return Fraction(int(inside[best]), int(sizes[best] - 1))


def largest_clique(relation: Relation, sensitive: Sensitive) -> int:
    """Return how many rows, at least, are all near to one another.

    For ordered values the longest run whose ends are near; for a metric whoever lies within half
    the threshold of one value; for the smallest difference the longest run in one component; and
    always the rows that carry one value. Missing values are near to all of them.
    """
    if isinstance(relation, Unsure):
        known = sensitive.codes[sensitive.codes != relation.gap]
        if not len(known):
            return len(sensitive.codes)
        alike = largest_clique(relation.values, replace(sensitive, codes=known))
        return alike + len(sensitive.codes) - len(known)
    counts = np.bincount(sensitive.codes, minlength=sensitive.distinct)
    most = int(counts.max())
    if isinstance(relation, Band):
        from shoal.kernels.windows import longest_run

        return max(most, longest_run(np.sort(sensitive.codes), relation.reach))
    if not isinstance(relation, Points):
        return most
    if relation.metric != SMALLEST:
        if counting_work(relation) > PATIENCE:
            return most
        half = replace(relation, threshold=relation.threshold / 2)
        return max(most, int(neighbourhood_sizes(half, sensitive).max()))
    for component in relation.points.T:
        values = np.sort(component[sensitive.codes])
        ends = np.searchsorted(values, values + relation.threshold, side="right")
        most = max(most, int((ends - np.arange(len(values))).max()))
    return most
