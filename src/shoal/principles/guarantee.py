"""What is known beforehand about (ε,δ)^k-dissimilarity on a table.

Whether it can hold at all is NP-hard (XC Theorem 2). Two results say that it can: XC Theorem 3,
Θ <= m (t + 1) / 2 with Θ the largest degree, m = floor(n / k) classes and
t = floor((1 - δ)(k - 1)) neighbours allowed, and, where t = 0, the theorem of Hajnal and
Szemerédi (Θ <= m - 1). Both are
sufficient and far from necessary. A set of values that are all near to one another says how large
the risk of every grouping must be.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.distances.relation import (
    Band,
    Points,
    Unsure,
    counting_work,
    neighbourhood_sizes,
)
from shoal.exact import downward, upward
from shoal.kernels.metrics import SMALLEST

if TYPE_CHECKING:
    from shoal.distances.relation import Relation
    from shoal.principles.dissimilarity import Dissimilarity
    from shoal.table.coded import Sensitive

DIGITS = 4  # of the largest epsilon
DECADES = 20  # powers of ten, either way, between which it is searched for
PATIENCE = 2 * 10**9  # steps that are spent on a bound nobody asked for
SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100)


@dataclass(frozen=True)
class Reach:
    """For groups of k, the largest δ that is certain to be achievable; None where none is."""

    k: int
    neighbours: int | None
    delta: float | None


@dataclass(frozen=True)
class Guarantee:
    """What is known about one `Dissimilarity` on one table.

    Attributes
    ----------
    degree : Θ, the most other rows that are near to one row.
    guaranteed : whether a theorem says that it is achievable, and `by` which.
    least_risk : no grouping into groups of at least k can have a smaller risk.
    achievable : True or False where that is known, None where it is not.
    reaches : the δ that is certain to be achievable, by k.
    size : the least size of a group, k or 2.
    largest_delta : the largest δ that is certain for this ε and k; None where none is.
    largest_epsilon : the largest ε, in a few digits, that is certain for this δ and k; None where
        none is, or where it was not searched for.
    """

    rows: int
    sensitive: tuple[str, ...]
    principle: str
    degree: int
    classes: int
    neighbours: int
    degree_limit: float
    guaranteed: bool
    by: str | None
    least_risk: float
    achievable: bool | None
    reaches: tuple[Reach, ...]
    size: int
    largest_delta: float | None
    largest_epsilon: float | None = None
    odds: dict[str, Any] | None = None  # where they were asked for

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, as the command prints it in JSON."""
        found = asdict(self)
        return found if self.odds else {k: v for k, v in found.items() if k != "odds"}


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
