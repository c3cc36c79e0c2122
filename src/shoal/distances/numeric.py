"""Distances between numbers: one column, or several as a point."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from shoal.distances.base import Distance
from shoal.distances.counting import TOLERANCE, band_of_column
from shoal.distances.relation import Band, Points, Relation
from shoal.errors import BadParameter, InputError, UsageError
from shoal.kernels.metrics import EUCLID, LARGEST, MANHATTAN, SMALLEST
from shoal.notation import is_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.table.sensitive import Sensitive

FARTHEST = 1e150  # coordinates beyond this are not compared
FARTHEST_APART = 10**200  # no two others are
EXACT = 2**53  # integers up to this are doubles
ROUNDING = 1e-12  # of a distance, by scaling and adding doubles
SCALES = ("domain", "none")


@dataclass(frozen=True, repr=False)
class Absolute(Distance):
    """The absolute difference of one numeric column, |u - v|, in its own units."""

    metric = True
    needs_numbers = True

    def sides(self, count: int) -> int:  # noqa: ARG002 - it takes one column
        """Return 2: numbers lie on a line."""
        return 2

    def between(
        self, sensitive: Sensitive, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return |u - v|."""
        with np.errstate(over="ignore"):  # farther apart than any double is infinitely far
            apart = np.abs(sensitive.numbers[left] - sensitive.numbers[right])
        return apart.astype(np.float64)

    def relation(self, sensitive: Sensitive, epsilon: Fraction) -> Band:
        """Return the band of values within epsilon."""
        self.check(sensitive)
        return band_of_column(sensitive.column, epsilon, epsilon)


class _Vector(Distance):
    """A distance of points, evaluated inside the kernels."""

    needs_numbers = True
    most = None

    def points(self, sensitive: Sensitive) -> NDArray[np.float64]:
        """Return the coordinates that the distance compares."""
        raise NotImplementedError

    def norm(self) -> int:
        """Return which of the kernels' metrics compares them."""
        raise NotImplementedError

    def _comparable(self, sensitive: Sensitive) -> NDArray[np.float64]:
        """Return the coordinates, or raise where doubles cannot hold the squares of differences."""
        with np.errstate(all="ignore"):
            points = self.points(sensitive)
        if not (np.abs(points) <= FARTHEST).all():
            msg = (
                f"{self!r} cannot compare the values of {sensitive.name}: some of them are too "
                "large, or too close to 0, for its weights and scale. Change the column's unit."
            )
            raise InputError(msg)
        return points

    def between(
        self, sensitive: Sensitive, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the distance of each pair of points."""
        points = self._comparable(sensitive)
        gaps = np.abs(points[left] - points[right])
        match self.norm():
            case 1:
                return gaps.sum(axis=1)
            case 2:
                return np.sqrt((gaps**2).sum(axis=1))
            case 3:
                return gaps.max(axis=1)
        return gaps.min(axis=1)

    def factors(self, sensitive: Sensitive) -> NDArray[np.float64]:
        """Return by how much each column is multiplied to become a coordinate."""
        return np.ones(len(sensitive.columns))

    def slacks(self, sensitive: Sensitive, epsilon: float) -> NDArray[np.float64]:
        """Return for each coordinate how far beyond epsilon a difference still ties.

        1e-9 of the size of the values where they are decimals, in their own units and then scaled;
        for integers only what scaling itself rounds, and what no double holds of a wide range.
        """
        sizes, steps = np.zeros(len(sensitive.columns)), np.zeros(len(sensitive.columns))
        for place, column in enumerate(sensitive.columns):
            if column.numbers.dtype == np.float64:
                sizes[place] = np.abs(column.numbers).max()
            elif (span := int(column.numbers[-1]) - int(column.numbers[0])) > EXACT:
                steps[place] = np.spacing(float(span))
        rounding = ROUNDING * max(1.0, epsilon)
        with np.errstate(over="ignore"):  # of a constant column that weighs much
            scaled = np.minimum(sizes * self.factors(sensitive), FARTHEST)
            coarse = np.minimum(steps * self.factors(sensitive), FARTHEST)
        return TOLERANCE * np.maximum(scaled, epsilon) + rounding + coarse

    def slack(self, sensitive: Sensitive, epsilon: float) -> float:
        """Return the sum over the coordinates, which bounds what a norm of them may be off."""
        return float(self.slacks(sensitive, epsilon).sum())

    def relation(self, sensitive: Sensitive, epsilon: Fraction) -> Relation:
        """Return the points and the threshold within which they are near.

        Where the norm looks at one coordinate at a time, each has a threshold of its own:
        coordinates are stretched so that one serves all.
        """
        self.check(sensitive)
        points = self._comparable(sensitive)
        limit = float(min(epsilon, Fraction(FARTHEST_APART)))  # nothing is farther
        if self.norm() in {LARGEST, SMALLEST}:
            limits = limit + self.slacks(sensitive, limit)
            points = points * (limits.max() / limits)
            return Points(np.ascontiguousarray(points), self.norm(), float(limits.max()))
        whole = limit + self.slack(sensitive, limit)
        return Points(np.ascontiguousarray(points), self.norm(), whole)


@dataclass(frozen=True, repr=False)
class Lp(_Vector):
    """The weighted Lp distance, (Σ w |u - v|^p)^(1/p), over one or several numeric columns.

    Parameters
    ----------
    p : a number of at least 1, or "max" for the largest weighted difference.
    weights : one number for each column; 1 by default.
    scale : "domain" divides each column by its range in the table, "none" leaves it as it is. A
        search takes the range of all rows that were offered, an audit that of the published ones;
        that is no wider, so what is near there is near here.
    """

    p: float | str = 1
    weights: tuple[float, ...] | None = None
    scale: str = "domain"

    metric = True

    def __post_init__(self) -> None:
        if self.p != "max" and not (is_number(self.p) and self.p >= 1):
            raise BadParameter("Lp", "p", "a number of at least 1 or 'max'", self.p)
        if self.scale not in SCALES:
            raise BadParameter("Lp", "scale", " or ".join(map(repr, SCALES)), self.scale)
        if self.weights is not None:
            weights = self.weights if isinstance(self.weights, tuple | list) else ()
            if not weights or not all(is_number(w) and w >= 0 for w in weights):
                raise BadParameter("Lp", "weights", "a list of numbers of at least 0", self.weights)
            object.__setattr__(self, "weights", tuple(weights))

    @property
    def scaled(self) -> bool:  # type: ignore[override]
        """Whether columns are divided by their range."""
        return self.scale == "domain"

    @property
    def needs(self) -> int:
        """How many columns it takes at least: as many as it has weights."""
        return len(self.weights or (1.0,))

    @property
    def takes_more(self) -> bool:
        """Whether it can take more columns than it needs."""
        return self.weights is None

    def check(self, sensitive: Sensitive) -> None:
        """Raise where there is not one weight for each column."""
        if self.weights is not None and len(self.weights) != len(sensitive.columns):
            msg = (
                f"{self!r} has {len(self.weights)} weights for {len(sensitive.columns)} sensitive "
                f"columns: {sensitive.name}. Give one weight for each column."
            )
            raise UsageError(msg)

    def sides(self, count: int) -> int | None:
        """Return 2 for one column, whose numbers lie on a line."""
        return 2 if count == 1 else None

    def points(self, sensitive: Sensitive) -> NDArray[np.float64]:
        """Return scaled coordinates, weighted so that the plain norm gives the distance."""
        points = _points(sensitive)
        return (points - points.min(axis=0)) * self.factors(sensitive)

    def factors(self, sensitive: Sensitive) -> NDArray[np.float64]:
        """Return the weights, to the power that the norm undoes, over the ranges."""
        weights = np.array(self.weights or [1.0] * len(sensitive.columns))
        powers = weights if self.p == "max" else weights ** (1 / float(self.p))
        if self.scale == "none":
            return powers
        span = np.array([column.width for column in sensitive.columns])
        return powers / np.where(span > 0, span, 1.0)

    def norm(self) -> int:
        """Return which of the kernels' metrics compares them."""
        return LARGEST if self.p == "max" else MANHATTAN if self.p == 1 else EUCLID

    def between(
        self, sensitive: Sensitive, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the distance of each pair."""
        if self.p in {1, 2, "max"}:
            return super().between(sensitive, left, right)
        points = self._comparable(sensitive)
        gaps = np.abs(points[left] - points[right])
        largest = gaps.max(axis=1, keepdims=True)
        shares = gaps / np.where(largest > 0, largest, 1)  # powers of more would be beyond doubles
        with np.errstate(under="ignore"):
            sums = (shares ** float(self.p)).sum(axis=1)
        return largest[:, 0] * sums ** (1 / float(self.p))

    def relation(self, sensitive: Sensitive, epsilon: Fraction) -> Relation:
        """Return points for the norms that kernels know, a bit matrix for any other p."""
        if self.p in {1, 2, "max"}:
            return super().relation(sensitive, epsilon)
        return Distance.relation(self, sensitive, epsilon)


@dataclass(frozen=True, repr=False)
class SmallestDifference(_Vector):
    """The smallest component difference, min |u_i - v_i|: near in any one component is near.

    No metric: the triangle inequality fails. The running example of the XColor paper uses it.
    """

    metric = False

    def points(self, sensitive: Sensitive) -> NDArray[np.float64]:
        """Return the columns in their own units."""
        return _points(sensitive)

    def norm(self) -> int:
        """Return which of the kernels' metrics compares them."""
        return SMALLEST


@dataclass(frozen=True, repr=False)
class TotalVariation(_Vector):
    """Half the sum of |p_i - q_i| between two discrete distributions held in several columns."""

    metric = True
    fewest = 2

    def check(self, sensitive: Sensitive) -> None:
        """Raise where a row is no distribution."""
        super().check(sensitive)
        points = sensitive.points()
        bad = (points < 0).any(axis=1) | (np.abs(points.sum(axis=1) - 1) > 1e-6)
        if bad.any():
            shown = ", ".join(sensitive.labels()[int(np.flatnonzero(bad)[0])])
            msg = (
                f"{self!r} needs distributions: {bad.sum()} distinct values of {sensitive.name} "
                f"are negative or do not add up to 1, the first of them ({shown})."
            )
            raise InputError(msg)

    def points(self, sensitive: Sensitive) -> NDArray[np.float64]:
        """Return half of each probability, so that the L1 norm is the total variation."""
        return sensitive.points() / 2

    def factors(self, sensitive: Sensitive) -> NDArray[np.float64]:
        """Return one half for each column."""
        return np.full(len(sensitive.columns), 0.5)

    def norm(self) -> int:
        """Return which of the kernels' metrics compares them."""
        return MANHATTAN


def _points(sensitive: Sensitive) -> NDArray[np.float64]:
    """Return the distinct values as points whose differences are those of the values.

    Integers count from the least of their column: doubles do not hold all beyond 2^53.
    """
    coordinates = []
    for place, column in enumerate(sensitive.columns):
        numbers = column.numbers
        least = numbers[0] if numbers.dtype == np.int64 else 0
        coordinates.append((numbers - least).astype(np.float64)[sensitive.places[:, place]])
    return np.column_stack(coordinates)
