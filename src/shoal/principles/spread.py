"""How far the numbers of a group lie apart: (k,e)-anonymity and variance control."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np

from shoal.exact import LARGEST as LARGEST_NUMBER
from shoal.exact import LEAST, downward, wide
from shoal.kernels.compiling import SPREAD, VARIANCE
from shoal.notation import exact, number, whole_number
from shoal.principles.base import Searchable
from shoal.principles.foresight import Limit
from shoal.principles.groups import LARGEST, Demand, Groups, Measurement
from shoal.principles.histogram import Histogram, as_worst, whole_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.table.sensitive import Sensitive


FARTHEST = 10**140  # how large numbers may be whose squares are added as doubles
ROUNDED = 1e-14  # more than what rounding changes of a number, as a share of the largest


class _Spread(Searchable):
    """A level that has to be at least so much.

    The risk is the share of it that is lacking, max(0, 1 - level / asked), and the bound is 0.
    """

    monotone = True
    numeric = True

    def _lacking(self, levels: NDArray, asked: NDArray | int, groups: Groups) -> Measurement:
        """Measure max(0, asked - level) / asked, in integers; nothing lacks where 0 is asked."""
        wanted = levels * 0 + asked  # integers of any size, one for each group
        lacking, wholes = np.maximum(wanted - levels, 0), np.maximum(wanted, 1)
        return Measurement(lacking, wholes, groups.sizes, Fraction(0), self.least)

    def promise(self, column: str) -> str:
        """Say it in plain words."""
        return self.promise_in(column, "")


@dataclass(frozen=True, repr=False)
class KE(_Spread):
    """(k,e)-anonymity: every group has at least k different values, over a range of at least e.

    The risk is the larger share that is lacking, of k different values or of a range of e; the
    bound is 0. It survives the union of groups, in which neither becomes less.

    References
    ----------
    Zhang, Koudas, Srivastava, Yu: Aggregate Query Answering on Anonymized Tables. ICDE 2007.
    """

    k: int
    e: float

    scale = "share of what is required that is lacking"
    graded = ("e",)
    source = "Zhang, Koudas, Srivastava, Yu, ICDE 2007"
    aim = "Spread {column} over a range in every group"
    knobs = (
        ("k", "Least number of different values of {column} in a group", ""),
        ("e", "Narrowest range that the values of a group may span", ""),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole_number(self, "k", self.k, least=1))
        object.__setattr__(self, "e", number(self, "e", self.e))

    @property
    def least(self) -> int:
        """A group with k different values has k members."""
        return max(self.k, 2 if self.e > 0 else 1)

    def measure(self, groups: Groups, sensitive: Sensitive | None) -> Measurement:
        """Measure the lesser of the two levels, each as a share of what is asked."""
        assert sensitive is not None
        histogram = Histogram.of(groups, as_worst(groups, sensitive))
        asked = exact(self.e)
        length, scale = _ranges(histogram, sensitive, asked.denominator)
        levels = histogram.distinct.astype(object) * int(asked * scale or 1)
        if asked:
            levels = np.minimum(levels, length * self.k)
        return self._lacking(levels, self.k * int(asked * scale or 1), groups)

    def strongest(self, groups: Groups, sensitive: Sensitive | None) -> Self | None:
        """Return it with the largest e that holds, None where a group has fewer than k values."""
        assert sensitive is not None
        histogram = Histogram.of(groups, as_worst(groups, sensitive))
        if histogram.distinct.min() < self.k:
            return None
        length, scale = _ranges(histogram, sensitive)
        return replace(self, e=_most(Fraction(min(length.tolist()), scale)))

    def limits(self, value: Sensitive | None, rows: int) -> tuple[Limit, ...]:
        """Return how many different values there are, and the largest e."""
        assert value is not None
        worst = as_worst(Groups(np.zeros(rows, np.int64)), value)
        return (Limit("k", "at most", len(np.unique(worst))), *super().limits(value, rows))

    def demand(self, sensitive: Sensitive) -> Demand:
        """Return that a bucket has k different values and a range of e."""
        asked = exact(self.e)
        numbers, scale = whole_numbers(sensitive, asked.denominator)
        table, unit = _shifted(numbers)
        level = _asked(asked * scale / unit, float(table[-1]) if unit > 1 else 0)
        return Demand(SPREAD, sensitive.codes, len(numbers), table, count=self.k, level=level)

    def promise_in(self, column: str, unit: str) -> str:
        """Say it in plain words."""
        return (
            f"Every group lists at least {self.k} different values of {column}, and the highest is "
            f"at least {wide(self.e, unit)} above the lowest. It does not limit how close a "
            "guess is: all but one of the values may lie close together."
        )


@dataclass(frozen=True, repr=False)
class Variance(_Spread):
    """Variance control: in every group Σ (v - mean)² / n is at least so much.

    The risk is the share of it that is lacking; the bound is 0. Variance is concave in the
    distribution, so it survives the union of groups.

    References
    ----------
    LeFevre, DeWitt, Ramakrishnan: Workload-Aware Anonymization. KDD 2006.
    """

    at_least: float

    scale = "share of what is required that is lacking"
    graded = ("at_least",)
    source = "LeFevre, DeWitt, Ramakrishnan, KDD 2006"
    aim = "Spread {column} in every group"
    knobs = (("at_least", "Least variance of {column} in a group", ""),)

    def __post_init__(self) -> None:
        object.__setattr__(self, "at_least", number(self, "at_least", self.at_least))

    @property
    def least(self) -> int:
        """One member alone has no variance."""
        return 2 if self.at_least > 0 else 1

    def measure(self, groups: Groups, sensitive: Sensitive | None) -> Measurement:
        """Measure the variance, (n Σ v² - (Σ v)²) / n².

        A missing value is least where it is the mean of the r others: (r Σ v² - (Σ v)²) / (r n).
        """
        assert sensitive is not None
        asked = exact(self.at_least)
        levels, wholes, scale = self._levels(groups, sensitive, asked.denominator)
        return self._lacking(levels, wholes * int(asked * scale**2), groups)

    def strongest(self, groups: Groups, sensitive: Sensitive | None) -> Self:
        """Return it with the largest variance that every group has."""
        assert sensitive is not None
        levels, wholes, scale = self._levels(groups, sensitive)
        pairs = set(zip(levels.tolist(), wholes.tolist(), strict=True))
        least = min(Fraction(level, whole) for level, whole in pairs)
        return replace(self, at_least=_most(least / scale**2))

    @staticmethod
    def _levels(
        groups: Groups, sensitive: Sensitive, unit: int = 1
    ) -> tuple[NDArray, NDArray, int]:
        """Return r n times the variance of each group, and r n, in squares of one over a scale."""
        missing = sensitive.codes == sensitive.gap  # taken for the least, which adds to no sum
        known = groups.sizes - np.bincount(groups.labels, missing, len(groups)).astype(np.int64)
        histogram = Histogram.of(groups, np.where(missing, 0, sensitive.codes))
        numbers, scale = whole_numbers(sensitive, unit)
        span = numbers[-1] - numbers[0]
        wide = object if (int(groups.sizes.max()) * span) ** 2 >= LARGEST else np.int64
        shifted = np.array([value - numbers[0] for value in numbers], wide)
        values = shifted[histogram.named[histogram.codes]]
        first = histogram.sum(values * histogram.counts)
        second = histogram.sum(values * values * histogram.counts)
        wholes = np.maximum(known, 1).astype(object) * groups.sizes
        return (known * second - first * first).astype(object), wholes, scale

    def demand(self, sensitive: Sensitive) -> Demand:
        """Return that a bucket has the variance."""
        asked = exact(self.at_least)
        numbers, scale = whole_numbers(sensitive, asked.denominator)
        table, unit = _shifted(numbers)
        level = _asked(asked * scale**2 / unit**2, float(table[-1]) ** 2 if unit > 1 else 0)
        return Demand(VARIANCE, sensitive.codes, len(numbers), table, level=level)

    def promise_in(self, column: str, unit: str) -> str:
        """Say it in plain words."""
        error = math.floor(100 * math.sqrt(self.at_least)) / 100
        return (
            f"In every group the variance of {column} is at least {self.at_least:,}, so the root "
            f"mean square error of any guess is at least {error:,.10g}{unit and ' '}{unit}. A "
            "single extreme value can produce this: the other values may lie close together."
        )


def _ranges(histogram: Histogram, sensitive: Sensitive, unit: int = 1) -> tuple[NDArray, int]:
    """Return the range of each group as whole numbers, of one over a scale."""
    numbers, scale = whole_numbers(sensitive, unit)
    values = np.array(numbers, object)[histogram.named[histogram.codes]]
    return values[histogram.ends - 1] - values[histogram.starts], scale


def _most(level: Fraction) -> float:
    """Return the largest parameter of at most a level."""
    return downward(min(level, LARGEST_NUMBER))


def _shifted(numbers: list[int]) -> tuple[NDArray[np.float64], int]:
    """Return ascending numbers less the first, which keeps ranges and variances, over a unit.

    The unit is 1 unless the squares of the numbers are beyond all doubles.
    """
    unit = max(1, (numbers[-1] - numbers[0]) // FARTHEST)
    return np.array([float(Fraction(value - numbers[0], unit)) for value in numbers]), unit


def _asked(level: Fraction, whole: float) -> float:
    """Return a level as a double; it is raised by what rounding to a unit may change of a whole."""
    least = min(level, LARGEST_NUMBER)
    return max(float(least), LEAST if level else 0.0) + whole * ROUNDED
