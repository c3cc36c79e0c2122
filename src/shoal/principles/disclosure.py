"""How far one value's share of a group is from its share of the table: δ-disclosure, β-likeness."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import BadParameter
from shoal.kernels.kinds import DISCLOSURE, LIKENESS
from shoal.notation import exact, number
from shoal.principles.base import Searchable
from shoal.principles.demand import Demand, counted
from shoal.principles.groups import Groups, Measurement
from shoal.principles.histogram import Histogram

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.schema.sensitive import Sensitive

SCALE = 2**40  # a gain against -ln q is rounded up to a multiple of one in this many
TINY = 1e-300  # instead of -ln 1, where there is no gain either


@dataclass(frozen=True, kw_only=True, repr=False)
class DeltaDisclosure(Searchable):
    """δ-disclosure privacy: |ln(p / q)| < δ for every value.

    Here p is the value's share of a group and q its share of the table. A value of the table that
    a group lacks has p = 0 and is a breach, whatever δ is. The risk is 1 - min(p/q, q/p), exact;
    the bound is 1 - exp(-δ), rounded down. It bounds p from two sides, so it survives the union
    of groups.

    References
    ----------
    Brickell, Shmatikov: The Cost of Privacy. KDD 2008. Definition 3.
    """

    delta: float

    monotone = True
    looser = ("delta",)
    source = "Brickell, Shmatikov, KDD 2008"

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", number(self, "delta", self.delta, positive=True))

    @property
    def bound(self) -> Fraction:
        """The largest risk allowed, 1 - exp(-δ), rounded down by a few units in the last place."""
        return Fraction(-math.expm1(-self.delta) * (1 - 2**-50))

    def measure(self, groups: Groups, sensitive: Sensitive | None) -> Measurement:
        """Measure 1 - min(p/q, q/p), the largest over all values."""
        assert sensitive is not None
        histogram = Histogram.of(groups, sensitive.codes)
        lacking = histogram.distinct < len(histogram.totals)
        parts, wholes = np.ones(len(groups), object), np.ones(len(groups), object)
        low, high = histogram.rarest, histogram.richest
        for group in np.flatnonzero(~lacking):
            factor = min(histogram.factor(low[group]), 1 / histogram.factor(high[group]))
            parts[group], wholes[group] = (1 - factor).as_integer_ratio()
        return Measurement(parts, wholes, groups.sizes, self.bound, self.least)

    def demand(self, sensitive: Sensitive) -> Demand:
        """Return that p/q and q/p are above exp(-δ) for every value in a bucket."""
        codes, totals = counted(sensitive.codes)
        level = float(1 - self.bound)
        return Demand(DISCLOSURE, codes, len(totals), totals.astype(np.float64), level=level)

    def promise(self, column: str) -> str:
        """Say it in plain words."""
        return (
            f"In every group, every {column} is as frequent as in the whole table up to a factor "
            f"of {math.exp(self.delta):.4g}."
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class BetaLikeness(Searchable):
    """β-likeness: no value is more frequent in a group than in the table by more than a gain of β.

    The gain of a value is (p - q) / q, where its share p of the group is above its share q of the
    table. Basic β-likeness bounds it by β, the enhanced one by min(β, -ln q), which also keeps
    frequent values from becoming certain. The risk is the largest gain, the bound β; where the
    enhanced bound is -ln q, the gain is scaled by β / -ln q, rounded up. Either bounds p from
    above, so it survives the union of groups.

    References
    ----------
    Cao, Karras: Publishing Microdata with a Robust Privacy Guarantee. VLDB 2012.
    Definitions 2 and 3.
    """

    beta: float
    enhanced: bool = False

    monotone = True
    looser = ("beta",)
    source = "Cao, Karras, VLDB 2012"

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", number(self, "beta", self.beta, positive=True))
        if not isinstance(self.enhanced, bool):
            raise BadParameter("BetaLikeness", "enhanced", "True or False", self.enhanced)

    @property
    def bound(self) -> Fraction:
        """The largest gain allowed."""
        return exact(self.beta)

    def measure(self, groups: Groups, sensitive: Sensitive | None) -> Measurement:
        """Measure the largest gain."""
        assert sensitive is not None
        histogram = Histogram.of(groups, sensitive.codes)
        gain = histogram.counts / histogram.totals[histogram.codes]
        gain = gain * histogram.rows / histogram.sizes[histogram.groups] - 1
        allowed = self.allowed(histogram.totals)[histogram.codes]
        scaled = np.where(allowed < self.beta, gain * self.beta / np.maximum(allowed, TINY), 0)
        worst = np.ceil(histogram.most(np.maximum(scaled, 0)) * (SCALE + 2)).astype(np.int64)
        parts, wholes = worst.astype(object), np.full(len(groups), SCALE, object)
        plain = np.where(allowed < self.beta, 0, gain)
        for group, entry in enumerate(histogram.last(plain)):
            if plain[entry] > 0 and plain[entry] > worst[group] / SCALE:
                exact_gain = histogram.factor(entry) - 1
                parts[group], wholes[group] = exact_gain.as_integer_ratio()
        return Measurement(parts, wholes, groups.sizes, self.bound, self.least)

    def allowed(self, totals: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the gain that each value may have: β, or min(β, -ln q) where enhanced."""
        if not self.enhanced:
            return np.full(len(totals), float(self.beta))
        return np.minimum(self.beta, -np.log(totals / totals.sum()))

    def demand(self, sensitive: Sensitive) -> Demand:
        """Return that no value gains more in a bucket than it may."""
        codes, totals = counted(sensitive.codes)
        allowed = self.allowed(totals)
        table = np.concatenate([totals, np.where(allowed < self.beta, allowed, -1)])
        return Demand(LIKENESS, codes, len(totals), table, self.bound)

    def promise(self, column: str) -> str:
        """Say it in plain words."""
        more = " or, for frequent values, less" if self.enhanced else ""
        return (
            f"In no group is any {column} more frequent than in the whole table by more than "
            f"{self.beta:g} times its share there{more}."
        )
