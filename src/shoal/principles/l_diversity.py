"""Distinct, entropy and recursive l-diversity: how well the values of a group are represented."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np

from shoal.errors import BadParameter
from shoal.exact import LOST, above, at_most, exponential, logarithm, upward, wide
from shoal.kernels.compiling import DISTINCT, ENTROPY, RECURSIVE
from shoal.notation import exact, number, whole_number
from shoal.principles.base import Searchable
from shoal.principles.foresight import (
    counts_of,
    highest_level,
    holds_with,
    levelled,
    missing_first,
)
from shoal.principles.groups import Demand, Groups, Measurement
from shoal.principles.histogram import Histogram, as_worst, counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.table.sensitive import Sensitive

SOURCE = "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, TKDD 2007"
SCALE = 2**44  # an entropy that is not that of equal shares is a multiple of one in this many
ROUNDING = 1e-11  # more than what sums of logarithms lose
DOUBT = 1e-9  # how near to the bound an entropy is settled in integers


@dataclass(frozen=True, repr=False)
class DistinctL(Searchable):
    """Distinct l-diversity: every group has at least l different values.

    The risk is one over the number of different values, the bound 1/l. It survives the union of
    groups, which has every value that one of them has.

    References
    ----------
    Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam: l-Diversity. TKDD 2007. Section 4.
    """

    l: int

    monotone = True
    scale = "1 divided by the number of different values"
    graded = ("l",)
    source = SOURCE
    aim = "List several values of {column} in every group"
    knobs = (("l", "Least number of different values of {column} in a group", ""),)

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", whole_number(self, "l", self.l, least=1))

    @property
    def least(self) -> int:
        """A group with l different values has l members."""
        return self.l

    def measure(self, groups: Groups, sensitive: Sensitive | None) -> Measurement:
        """Measure one over the number of different values."""
        assert sensitive is not None
        distinct = Histogram.of(groups, as_worst(groups, sensitive)).distinct
        return Measurement(
            np.ones_like(distinct), distinct, groups.sizes, Fraction(1, self.l), self.least
        )

    def strongest(self, groups: Groups, sensitive: Sensitive | None) -> Self:
        """Return it for the fewest different values that a group has."""
        return replace(self, l=int(1 / self.measure(groups, sensitive).risk))

    def demand(self, sensitive: Sensitive) -> Demand:
        """Return that a bucket has l different values."""
        codes, totals = counted(sensitive.codes)
        return Demand(DISTINCT, codes, len(totals), np.empty(0), count=self.l)

    def promise(self, column: str) -> str:
        """Say it in plain words."""
        return (
            f"Every group lists at least {self.l} different values of {column}. It does not limit "
            "how likely a guess is to be right: one value may fill nearly all rows."
        )


@dataclass(frozen=True, repr=False)
class EntropyL(Searchable):
    """Entropy l-diversity: the entropy of every group, -Σ p ln p, is at least ln l.

    The level of a group is exp(entropy): with l equally likely values it is l. The risk is one
    over it, the bound 1/l. A risk is rounded up, by less than 1e-10, unless all values are equally
    likely; whether it is within the bound is settled in integers: n^n >= l^n Π c^c.

    Entropy is concave, so it survives the union of groups.

    References
    ----------
    Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam: l-Diversity. TKDD 2007. Definition 4.1.
    """

    l: float

    monotone = True
    scale = "1 divided by the entropy as a number of values"
    graded = ("l",)
    source = SOURCE
    aim = "Mix the values of {column} in every group"
    knobs = (("l", "Mix the values of {column} at least as well as this many equal shares", ""),)

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", level(self, "l", self.l))

    @property
    def least(self) -> int:
        """The entropy of n members is at most ln n."""
        return math.ceil(exact(self.l))

    @property
    def bound(self) -> Fraction:
        """The largest risk allowed, 1/l."""
        return 1 / exact(self.l)

    def measure(self, groups: Groups, sensitive: Sensitive | None) -> Measurement:
        """Measure exp(-entropy)."""
        assert sensitive is not None
        histogram = Histogram.of(groups, as_worst(groups, sensitive))
        counts, sizes, distinct = histogram.counts, histogram.sizes, histogram.distinct
        entropy = np.log(sizes) - histogram.sum(counts * np.log(counts)) / sizes
        risks = np.exp(-entropy)
        even = histogram.most(counts) * distinct == sizes
        parts = np.where(even, 1, np.ceil(risks * (1 + ROUNDING) * SCALE).astype(np.int64))
        wholes = np.where(even, distinct, SCALE)
        doubtful = ~even & (np.abs(risks - float(self.bound)) < DOUBT)
        if doubtful.any():
            parts, wholes = parts.astype(object), wholes.astype(object)
        known: dict[Shape, bool] = {}
        near = np.flatnonzero(doubtful)
        for group, shape in zip(near.tolist(), _shapes(histogram, near), strict=True):
            if shape not in known:
                known[shape] = _reaches(shape, exact(self.l))
            rounded = Fraction(int(parts[group]), SCALE)
            if known[shape]:
                settled = min(rounded, self.bound)
            else:
                settled = max(rounded, Fraction(math.floor(self.bound * SCALE) + 1, SCALE))
            parts[group], wholes[group] = settled.as_integer_ratio()
        return Measurement(parts, wholes, groups.sizes, self.bound, self.least)

    def strongest(self, groups: Groups, sensitive: Sensitive | None) -> Self:
        """Return it with the largest l that holds; a tie is settled in integers."""
        assert sensitive is not None
        histogram = Histogram.of(groups, as_worst(groups, sensitive))
        risks = self.measure(groups, sensitive).risks
        near = np.flatnonzero(risks >= risks.max() - DOUBT)
        worst = min(set(_shapes(histogram, near)), key=_entropy)
        found = upward((1 + LOST) / exponential(-_entropy(worst)))
        while not _reaches(worst, exact(found)):
            found = max(math.nextafter(found, 0), 1.0)
        return replace(self, l=found)

    def must_go(self, sensitive: Sensitive) -> NDArray[np.int64]:
        """Return what is too much of the most frequent values for the entropy of the table.

        Of all ways to take away some rows, taking one by one from the largest count leaves most
        entropy. Counts cut down to a lower level have more of it, so the highest level that is
        enough is searched for; between it and the next one up, each step is tried.
        """
        if sensitive.gap is not None:
            return missing_first(self, sensitive)
        counts = counts_of(sensitive)

        def enough(left: NDArray[np.int64]) -> bool:
            return holds_with(self, sensitive, left)

        level = highest_level(counts, enough)
        if level == 0 or level == counts.max():
            return np.zeros_like(counts)
        above = np.minimum(counts, level + 1)
        steps = int((above == level + 1).sum())
        taken = np.arange(1, steps + 1)
        parts = above[above > 0]
        one = (level + 1) * math.log(level + 1) - level * math.log(level)
        sizes = parts.sum() - taken
        entropy = np.log(sizes) - ((parts * np.log(parts)).sum() - taken * one) / sizes
        base = int(counts.sum() - above.sum())
        for step in taken[entropy >= math.log(self.l) - DOUBT]:
            left = levelled(counts, base + int(step))
            if enough(left):
                return counts - left
        return counts - np.minimum(counts, level)

    def demand(self, sensitive: Sensitive) -> Demand:
        """Return that a bucket has an entropy of ln l; a tie counts where shares are equal."""
        codes, totals = counted(sensitive.codes)
        level = math.log(self.l)
        return Demand(ENTROPY, codes, len(totals), np.empty(0), self.bound, level=level)

    def promise(self, column: str) -> str:
        """Say it in plain words."""
        return (
            f"In every group the values of {column} are, measured by entropy, at least as mixed as "
            f"{wide(self.l)} equally frequent ones. It does not limit a single guess to 1 in "
            f"{wide(self.l)}."
        )


Shape = tuple[int, ...]  # the counts of a group, ascending


def _shapes(histogram: Histogram, groups: NDArray) -> list[Shape]:
    """Return the shapes of some groups."""
    starts, ends = histogram.starts[groups].tolist(), histogram.ends[groups].tolist()
    counts = histogram.counts
    return [
        tuple(sorted(counts[start:end].tolist())) for start, end in zip(starts, ends, strict=True)
    ]


def _entropy(shape: Shape) -> Fraction:
    """Return ln n - Σ c ln c / n, but for a few times LOST."""
    inner = sum(
        (count * times * logarithm(Fraction(count)) for count, times in Counter(shape).items()),
        Fraction(0),
    )
    return max(logarithm(Fraction(sum(shape))) - inner / sum(shape), Fraction(0))


def _reaches(shape: Shape, l: Fraction) -> bool:
    """Return whether n^n >= l^n Π c^c, by logarithms where those leave no doubt."""
    spare = _entropy(shape) - logarithm(l)
    if abs(spare) > LOST * 10**6:
        return spare > 0
    size = sum(shape)
    top, bottom = l.as_integer_ratio()
    asked = top**size * math.prod(count**count for count in shape)
    return asked <= (size * bottom) ** size


@dataclass(frozen=True, repr=False)
class RecursiveCL(Searchable):
    """Recursive (c,l)-diversity: r1 < c (r_l + … + r_d), with counts r1 >= r2 >= … >= r_d.

    The most frequent value is not too frequent even when the l - 2 next ones are ruled out. The
    risk is r1 / (r1 + r_l + … + r_d), 1 where there are fewer than l values; it has to stay under
    the bound c / (1 + c). It survives the union of groups: r1 and the sum of the l - 1 largest
    counts are convex in the counts.

    References
    ----------
    Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam: l-Diversity. TKDD 2007. Definition 4.2.
    """

    c: float
    l: int

    monotone = True
    strict = True
    scale = "share of the most frequent value beside the rarer ones"
    graded = ("c",)
    looser = ("c",)
    source = SOURCE
    aim = "Limit how frequent the most frequent {column} of a group is"
    knobs = (
        ("l", "Rank from which on values of {column} count as rarer ones", ""),
        ("c", "Most times that the most frequent value may outnumber the rarer ones", ""),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", number(self, "c", self.c, positive=True))
        object.__setattr__(self, "l", whole_number(self, "l", self.l, least=1))

    @property
    def least(self) -> int:
        """A group that holds has l different values."""
        return self.l

    @property
    def bound(self) -> Fraction:
        """What the risk has to stay under, c / (1 + c)."""
        return exact(self.c) / (1 + exact(self.c))

    def measure(self, groups: Groups, sensitive: Sensitive | None) -> Measurement:
        """Measure r1 / (r1 + r_l + … + r_d)."""
        assert sensitive is not None
        histogram = Histogram.of(groups, as_worst(groups, sensitive))
        falling = histogram.counts[np.lexsort((-histogram.counts, histogram.groups))]
        place = np.arange(len(falling)) - histogram.starts[histogram.groups]
        tail = histogram.sum(np.where(place >= self.l - 1, falling, 0))
        first = falling[histogram.starts]
        return Measurement(first, first + tail, groups.sizes, self.bound, self.least, self.strict)

    def must_go(self, sensitive: Sensitive) -> NDArray[np.int64]:
        """Return what the most frequent values have above the highest level that holds.

        The level r1 less c times what is left of the tail is convex in the level and 0 at 0, so
        that all levels below one that holds do.
        """
        if sensitive.gap is not None:
            return missing_first(self, sensitive)
        counts = counts_of(sensitive)
        level = highest_level(counts, lambda left: holds_with(self, sensitive, left))
        return counts - np.minimum(counts, level) if level else np.zeros_like(counts)

    def strongest(self, groups: Groups, sensitive: Sensitive | None) -> Self | None:
        """Return it with the least c that holds, None where a group has fewer than l values."""
        risk = self.measure(groups, sensitive).risk
        return None if risk == 1 else replace(self, c=above(risk / (1 - risk)))

    def demand(self, sensitive: Sensitive) -> Demand:
        """Return that r1 < c (r_l + … + r_d) in a bucket."""
        codes, totals = counted(sensitive.codes)
        return Demand(RECURSIVE, codes, len(totals), np.empty(0), exact(self.c), count=self.l)

    def promise(self, column: str) -> str:
        """Say it in plain words."""
        c, gone = exact(self.c), self.l - 2
        others = {
            1: "all values together",
            2: "all others together",
            3: "the third most frequent and all rarer ones together",
        }.get(self.l, f"the value at rank {self.l:,} by frequency and all rarer ones together")
        said = (
            f"In every group the most frequent value of {column} fills fewer than {wide(self.c)} "
            f"times as many rows as {others}"
        )
        most = c / (c + 1) if self.l > 1 else c
        if most > 1:
            return f"{said}."
        right = "any guess is right"
        if gone > 0:
            values = "one value" if gone == 1 else f"{gone:,} values"
            right = f"even a reader who can exclude {values} guesses right"
        return f"{said}, so {right} with a chance below {at_most(100 * most)}%."


def level(owner: object, name: str, value: object) -> float | int:
    """Check a parameter that has to be a number of at least 1."""
    checked = number(owner, name, value)
    if checked < 1:
        raise BadParameter(type(owner).__name__, name, "a number of at least 1", value)
    return checked
