"""The level that every principle reaches on published groups, without asking for any.

A principle asks for a level; here the level is what is measured: the strictest parameter with
which the principle still holds in every group. Levels come from the same measures that judge a
requirement, and are rounded to the safe side only in the last place of a double.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.principles.frequency import FrequencyL
from shoal.principles.groups import Groups, upward
from shoal.principles.histogram import Histogram
from shoal.principles.l_diversity import DistinctL, EntropyL, RecursiveCL
from shoal.principles.t_closeness import TCloseness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from shoal.schema.sensitive import Sensitive

RECURSIVE = (2, 3)  # the l at which the least c of recursive (c,l)-diversity is measured
NEARLY = 1e-9  # groups this near to the worst one are compared as rationals


@dataclass(frozen=True, eq=False)
class Level:
    """The level of one principle: of each group, and of the table, which is that of the worst.

    None where no parameter makes the principle hold. `most` says that a larger level is a worse
    one, as for a distance; otherwise a smaller one is, as for a number of different values.
    """

    principle: str
    parameter: str
    level: float | None
    groups: NDArray[np.float64]
    most: bool = False
    fixed: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the level of the table as plain values."""
        whole = self.level is not None and float(self.level).is_integer()
        return {
            "principle": self.principle,
            "fixed": self.fixed,
            "parameter": self.parameter,
            "level": int(self.level or 0) if whole else self.level,
        }


def measure_levels(groups: Groups, value: Sensitive) -> Iterator[Level]:
    """Yield the level of every principle that applies to a sensitive column."""
    histogram = Histogram.of(groups, value.codes)
    yield from _diversity(groups, value)
    yield from _closeness(groups, value)
    yield _likeness(histogram, enhanced=False)
    yield _likeness(histogram, enhanced=True)
    yield _disclosure(histogram)
    yield _uniqueness(histogram)
    if value.columns[0].numeric:
        yield from _spread(histogram, value)


def downward(ratio: Fraction) -> float:
    """Return the largest double that is not above a rational: a level is never overstated."""
    return 0.0 - upward(-ratio)


def _diversity(groups: Groups, value: Sensitive) -> Iterator[Level]:
    """Distinct, entropy and frequency l, one over the risk; recursive c, odds of the risk.

    r1 < c (r_l + … + r_d) holds exactly for c above r1 / (r_l + … + r_d), so that quotient is a
    level that c has to exceed.
    """
    for principle in (DistinctL(l=1), EntropyL(l=1), FrequencyL(l=1)):
        found = principle.measure(groups, value)
        level = downward(1 / found.risk)
        yield Level(type(principle).__name__, "l", level, 1 / found.risks)
    share = found.risk
    yield Level("AlphaK", "alpha", upward(share), found.risks, most=True, fixed={"k": 1})
    for l in RECURSIVE:
        found = RecursiveCL(c=1, l=l).measure(groups, value)
        odds = None if found.risk == 1 else upward(found.risk / (1 - found.risk))
        with np.errstate(divide="ignore"):
            of_groups = found.risks / (1 - found.risks)
        yield Level("RecursiveCL", "c", odds, of_groups, most=True, fixed={"l": l})


def _closeness(groups: Groups, value: Sensitive) -> Iterator[Level]:
    """Measure the distance to the table, by equal and, for numbers, ordered ground."""
    grounds = ("equal", "ordered") if value.columns[0].numeric else ("equal",)
    for ground in grounds:
        found = TCloseness(t=1, ground=ground).measure(groups, value)
        fixed = {"ground": ground}
        yield Level("TCloseness", "t", upward(found.risk), found.risks, most=True, fixed=fixed)


def _likeness(histogram: Histogram, *, enhanced: bool) -> Level:
    """Measure the largest gain (p - q) / q; enhanced, none where some gain is above -ln q."""
    factors = histogram.counts / histogram.totals[histogram.codes]
    gains = factors * histogram.rows / histogram.sizes[histogram.groups] - 1
    of_groups = np.maximum(histogram.most(gains), 0)
    fixed = {"enhanced": enhanced}
    if enhanced:
        allowed = -np.log(histogram.totals / histogram.rows)[histogram.codes]
        if (gains > allowed * (1 + NEARLY) + NEARLY).any():
            return Level("BetaLikeness", "beta", None, of_groups, most=True, fixed=fixed)
    near = np.flatnonzero(gains >= gains.max() * (1 - NEARLY) - NEARLY)[:1000]
    worst = max(histogram.factor(entry) for entry in near.tolist()) - 1
    level = upward(max(worst, Fraction(0)))
    return Level("BetaLikeness", "beta", level, of_groups, most=True, fixed=fixed)


def _disclosure(histogram: Histogram) -> Level:
    """Measure the largest |ln(p / q)|, none where a group lacks a value of the table."""
    shares = histogram.counts / histogram.sizes[histogram.groups]
    apart = np.abs(np.log(shares / (histogram.totals / histogram.rows)[histogram.codes]))
    lacking = histogram.distinct < len(histogram.totals)
    of_groups = np.where(lacking, math.inf, histogram.most(apart))
    worst = None if lacking.any() else float(of_groups.max())
    return Level("DeltaDisclosure", "delta", worst, of_groups, most=True)


def _uniqueness(histogram: Histogram) -> Level:
    """Measure the least size of a group, none where two members of a group share their value."""
    alone = histogram.most(histogram.counts) == 1
    of_groups = np.where(alone, histogram.sizes, 0).astype(np.float64)
    worst = int(histogram.sizes.min()) if alone.all() else None
    return Level("MUniqueness", "m", worst, of_groups)


def _spread(histogram: Histogram, value: Sensitive) -> Iterator[Level]:
    """Measure the e of (k,e)-anonymity, the least range, and the least variance.

    The variance is Σ (v - mean)² / n, from differences to the group's own mean.
    """
    numbers = value.numbers[histogram.named]
    values = numbers[histogram.codes]
    ranges = values[histogram.ends - 1] - values[histogram.starts]
    least = int(histogram.distinct.min())
    worst = ranges.min().item()
    yield Level("KE", "e", worst, ranges.astype(np.float64), fixed={"k": least})
    real = values.astype(np.float64) - float(numbers[0])
    means = histogram.sum(real * histogram.counts) / histogram.sizes
    squares = (real - means[histogram.groups]) ** 2
    variances = histogram.sum(squares * histogram.counts) / histogram.sizes
    yield Level("Variance", "at_least", float(variances.min()), variances)
