"""How far one value's share of a group is from its share of the table: δ-disclosure, β-likeness."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np

from shoal.errors import BadParameter
from shoal.exact import LEAST, exponential, logarithm, upward
from shoal.kernels.compiling import DISCLOSURE, LIKENESS
from shoal.notation import exact, number
from shoal.principles.base import Demand, Searchable, counted
from shoal.principles.groups import Groups, Measurement
from shoal.principles.histogram import Histogram

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.table.coded import Sensitive

SCALE = 2**40  # a gain against -ln q is rounded up to a multiple of one in this many
TINY = 1e-300  # instead of -ln 1, where there is no gain either


@dataclass(frozen=True, kw_only=True, repr=False)
class DeltaDisclosure(Searchable):
    """δ-disclosure privacy: |ln(p / q)| < δ for every value.

    Here p is the value's share of a group and q its share of the table. A value of the table that
    a group lacks has p = 0 and is a breach, whatever δ is. The risk is 1 - min(p/q, q/p), exact;
    the bound is 1 - exp(-δ), rounded down
    by less than 1e-50. It bounds p from two sides, so it survives the union
    of groups.

    References
    ----------
    Brickell, Shmatikov: The Cost of Privacy. KDD 2008. Definition 3.
    """

    delta: float

    monotone = True
    by_itself = False
    graded = ("delta",)
    looser = ("delta",)
    source = "Brickell, Shmatikov, KDD 2008"

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", number(self, "delta", self.delta, positive=True))

    @property
    def bound(self) -> Fraction:
        """The largest risk allowed, 1 - exp(-δ), rounded down and always under 1."""
        return max(1 - exponential(-exact(self.delta)), Fraction(0))

    def measure(self, groups: Groups, sensitive: Sensitive | None) -> Measurement:
        """Measure 1 - min(p/q, q/p), the largest over all values."""
        assert sensitive is not None
        histogram = Histogram.of(groups, sensitive.codes, sensitive.table)
        lacking = histogram.distinct < len(histogram.totals)
        parts, wholes = np.ones(len(groups), object), np.ones(len(groups), object)
        low, high = histogram.rarest, histogram.richest
        for group in np.flatnonzero(~lacking):
            factor = min(histogram.factor(low[group]), 1 / histogram.factor(high[group]))
            parts[group], wholes[group] = (1 - factor).as_integer_ratio()
        return Measurement(parts, wholes, groups.sizes, self.bound, self.least)

    def strongest(self, groups: Groups, sensitive: Sensitive | None) -> Self | None:
        """Return it with the least δ that holds, None where a group lacks a value of the table."""
        risk = self.measure(groups, sensitive).risk
        if risk == 1:
            return None
        found = replace(self, delta=upward(-logarithm(1 - risk)) or LEAST)
        while found.bound < risk:
            found = replace(found, delta=math.nextafter(found.delta, math.inf))
        return found

    def demand(self, sensitive: Sensitive) -> Demand:
        """Return that p/q and q/p are above exp(-δ) for every value in a bucket."""
        codes, totals = counted(sensitive.codes)
        level = float(1 - self.bound)
        return Demand(DISCLOSURE, codes, len(totals), totals.astype(np.float64), level=level)

    def _factor(self) -> str:
        """Spell exp(δ), which may be beyond all doubles."""
        try:
            return f"{math.exp(self.delta):.4g}"
        except OverflowError:
            return f"e^{self.delta:g}"

    def promise(self, column: str) -> str:
        """Say it in plain words."""
        return (
            f"In every group, every {column} is as frequent as in the whole table up to a factor "
            f"of {self._factor()}."
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
    by_itself = False
    graded = ("beta",)
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
        histogram = Histogram.of(groups, sensitive.codes, sensitive.table)
        gain = histogram.counts / histogram.totals[histogram.codes]
        gain = gain * histogram.rows / histogram.sizes[histogram.groups] - 1
        allowed = self.allowed(histogram.totals)[histogram.codes]
        scaled = np.where(allowed < self.beta, gain / np.maximum(allowed, TINY), 0)
        shares = np.ceil(histogram.most(np.maximum(scaled, 0)) * (SCALE + 2))
        bound = min(self.bound, Fraction(histogram.rows))  # no gain is so large
        parts = np.array([int(share) for share in shares.tolist()], object) * bound.numerator
        wholes = np.full(len(groups), SCALE * bound.denominator, object)
        plain = np.where(allowed < self.beta, 0, gain)
        for group, entry in enumerate(histogram.last(plain)):
            exact_gain = histogram.factor(entry) - 1 if plain[entry] > 0 else Fraction(0)
            if exact_gain * wholes[group] > parts[group]:
                parts[group], wholes[group] = exact_gain.as_integer_ratio()
        return Measurement(parts, wholes, groups.sizes, bound, self.least)

    def strongest(self, groups: Groups, sensitive: Sensitive | None) -> Self | None:
        """Return it with the least β that holds; enhanced, None where a gain is above -ln q."""
        gain = replace(self, enhanced=False).measure(groups, sensitive).risk
        found = replace(self, beta=upward(gain) or LEAST)
        return found if found.measure(groups, sensitive).holds else None

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
