"""Groups against the table: δ-disclosure, β-likeness, and t-closeness.

The first two bound how far one value's share of a group is from its share of the table; the last
how far all values of a group together are distributed otherwise than those of the table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np

from shoal.distances.hierarchical import Hierarchical
from shoal.errors import BadParameter, UsageError
from shoal.exact import LEAST, at_least, at_most, exponential, logarithm, upward
from shoal.kernels.compiling import APART, DISCLOSURE, LIKENESS, ORDERED
from shoal.notation import exact, number
from shoal.principles.base import Searchable
from shoal.principles.groups import LARGEST, Demand, Groups, Measurement
from shoal.principles.histogram import Histogram, counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.table.sensitive import Sensitive


THIRD, HALF = Fraction(1, 3), Fraction(1, 2)  # shares of values that a promise speaks of
GROUNDS = ("equal", "ordered")
COMPARED = "it compares groups with the whole table, and how that is distributed is not known then"


@dataclass(frozen=True, repr=False)
class TCloseness(Searchable):
    """The earth mover's distance between each group and the table is at most t.

    With shares p in the group, q in the table, and m values in the table:

    - `ground="equal"`: any two values are 1 apart; the distance is ½ Σ |p - q|.
    - `ground="ordered"`: the i-th and j-th value are |i - j| / (m - 1) apart; the distance is
      Σ |P - Q| / (m - 1) over the cumulated shares. A column with one value has distance 0.
    - `ground=Hierarchical(levels=…)`: two values are as far apart as the level at which they meet,
      over the height H; the distance is the mean of ½ Σ |p - q| over the levels below the root,
      since H levels of edges of 1/(2H) each make up the ground distance.

    The risk is the distance, exact, and the bound is t. The distance is convex, so the principle
    survives the union of groups.

    References
    ----------
    Li, Li, Venkatasubramanian: t-Closeness. ICDE 2007.
    """

    t: float
    ground: str | Hierarchical = "equal"

    monotone = True
    by_itself = False
    unjudged = COMPARED
    scale = "distance from the whole table"
    graded = ("t",)
    looser = ("t",)
    source = "Li, Li, Venkatasubramanian, ICDE 2007"
    aim = "Keep {column} in every group close to the whole table"
    knobs = (("t", "Largest distance between a group and the whole table", ""),)
    start = "t=0.2"

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", number(self, "t", self.t, most=1))
        if self.ground not in GROUNDS and not isinstance(self.ground, Hierarchical):
            allowed = "'equal', 'ordered' or Hierarchical(levels=…)"
            raise BadParameter("TCloseness", "ground", allowed, self.ground)

    @property
    def bound(self) -> Fraction:
        """The largest distance allowed."""
        return exact(self.t)

    def nodes(self, sensitive: Sensitive) -> list[NDArray]:
        """Return for each level whose shares are compared the node of every distinct value."""
        if isinstance(self.ground, Hierarchical):
            return self.ground.nodes(sensitive)[:-1]
        return [np.arange(sensitive.distinct)]

    def measure(self, groups: Groups, sensitive: Sensitive | None) -> Measurement:
        """Measure the earth mover's distance to the whole table."""
        assert sensitive is not None
        self.check_missing(sensitive)
        if self.ground == "ordered":
            self.check_order(sensitive)
            parts, wholes = _ordered(Histogram.of(groups, sensitive.codes, sensitive.table))
        else:
            levels = self.nodes(sensitive)
            table = sensitive.table
            each = [
                _equal(
                    Histogram.of(
                        groups, level[sensitive.codes], None if table is None else level[table]
                    )
                )
                for level in levels
            ]
            parts = np.sum(each, axis=0) if each else np.zeros(len(groups), np.int64)
            rows = len(sensitive.codes if table is None else table)
            wholes = 2 * rows * max(len(levels), 1) * groups.sizes
        return Measurement(parts, wholes, groups.sizes, self.bound, self.least)

    def strongest(self, groups: Groups, sensitive: Sensitive | None) -> Self:
        """Return it with the least t that holds."""
        return replace(self, t=upward(self.measure(groups, sensitive).risk))

    def demand(self, sensitive: Sensitive) -> Demand:
        """Return that a bucket is at most t from the table."""
        if self.ground == "ordered":
            self.check_order(sensitive)
            codes, totals = counted(sensitive.codes)
            cumulated = np.cumsum(totals)
            table = np.concatenate([cumulated, [0], np.cumsum(cumulated)]).astype(np.float64)
            return Demand(ORDERED, codes, len(totals), table, self.bound)
        levels = self.nodes(sensitive)
        order = np.lexsort(levels) if levels else np.arange(sensitive.distinct)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))  # equal nodes stand side by side on every level
        lines = []
        for level in levels:
            totals = np.bincount(level[sensitive.codes], minlength=int(level.max()) + 1)
            lines += [level[order], totals[level[order]]]
        table = np.concatenate(lines or [np.empty(0)]).astype(np.float64)
        codes = place[sensitive.codes].astype(np.int32)
        return Demand(APART, codes, sensitive.distinct, table, self.bound)

    def check_order(self, sensitive: Sensitive) -> None:
        """Raise where several columns together have no order."""
        if len(sensitive.columns) > 1:
            msg = f"{self!r} is about one ordered column, not {sensitive.name}."
            raise UsageError(msg)

    def promise(self, column: str) -> str:
        """Say it in plain words."""
        points = f"{at_most(100 * exact(self.t))} percentage points"
        if self.ground == "ordered":
            return (
                f"Take every listed value of {column} except the highest as a cut: the share of "
                f"rows at or below it differs between a group and the whole table by {points} or "
                "less on average over all cuts. A single cut may differ by more."
            )
        if isinstance(self.ground, Hierarchical):
            return (
                f"On every level of the hierarchy, take the set of categories of {column} whose "
                "share differs most between a group and the whole table. It differs by "
                f"{points} or less on average over all levels. A single level may differ by more."
            )
        return (
            f"For any set of values of {column}, its share in a group differs from its share in "
            f"the whole table by at most {points}."
        )


def _equal(histogram: Histogram) -> NDArray[np.int64]:
    """Return 2 n N times ½ Σ |p - q|: Σ |c N - C n|, what the group lacks included."""
    sizes = histogram.sizes
    shared = histogram.totals[histogram.codes]
    apart = np.abs(histogram.counts * histogram.rows - shared * sizes[histogram.groups])
    lacking = histogram.rows - histogram.sum(shared)
    found: NDArray[np.int64] = histogram.sum(apart) + lacking * sizes
    return found


def _ordered(histogram: Histogram) -> tuple[NDArray, NDArray]:
    """Return Σ |a N - n A| over the cumulated counts a of each group and A of the table.

    With it comes what it is a share of, n N (m - 1).

    Between two values of a group a stands still while A grows, so one search finds where the
    difference changes its sign, and sums of A do the rest.
    """
    sizes, rows, values = histogram.sizes, histogram.rows, len(histogram.totals)
    wide = object if rows * rows * values >= LARGEST else np.int64
    cumulated = np.cumsum(histogram.totals)
    sums = np.concatenate([[0], np.cumsum(cumulated)]).astype(wide)
    size = sizes[histogram.groups]
    running = np.cumsum(histogram.counts)
    mass = running - (running - histogram.counts)[histogram.starts][histogram.groups]
    low = histogram.codes
    high = np.append(low[1:], 0)
    high[histogram.ends - 1] = values - 1
    high = np.maximum(high, low)  # nothing is left to move past the last value
    turn = np.clip(np.searchsorted(cumulated, mass * rows // size, side="right"), low, high)
    level = mass.astype(wide) * rows
    above = (turn - low) * level - size * (sums[turn] - sums[low])
    below = size * (sums[high] - sums[turn]) - (high - turn) * level
    parts = histogram.sum(above + below) + sizes * sums[low[histogram.starts]]
    return parts, sizes.astype(wide) * rows * max(values - 1, 1)


SCALE = 2**40  # a gain against -ln q is rounded up to a multiple of one in this many
SPELLED = 600  # exp of less is a double
TINY = 1e-300  # instead of -ln 1, where there is no gain either


@dataclass(frozen=True, repr=False)
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
    unjudged = COMPARED
    scale = "difference of both shares of a value, relative to the larger one"
    graded = ("delta",)
    looser = ("delta",)
    source = "Brickell, Shmatikov, KDD 2008"
    aim = "Limit how much likelier, or rarer, a value of {column} becomes in a group"
    knobs = (("delta", "Largest change of a value’s share in a group, as a logarithm", ""),)

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", number(self, "delta", self.delta, positive=True))

    @property
    def bound(self) -> Fraction:
        """The largest risk allowed, 1 - exp(-δ), rounded down and always under 1."""
        return max(1 - exponential(-exact(self.delta)), Fraction(0))

    def measure(self, groups: Groups, sensitive: Sensitive | None) -> Measurement:
        """Measure 1 - min(p/q, q/p), the largest over all values."""
        assert sensitive is not None
        self.check_missing(sensitive)
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

    def promise(self, column: str) -> str:
        """Say it in plain words, exp(δ) rounded up and exp(-δ) down."""
        more, less = f"e^{self.delta}", f"e^-{self.delta}"
        if self.delta < SPELLED:
            more, less = at_most(1 / (1 - self.bound)), at_least(1 - self.bound)
        return (
            f"Every value of {column} in the table occurs in every group. Its share there is less "
            f"than {more} times, and more than {less} times, its share in the whole table."
        )


@dataclass(frozen=True, repr=False)
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
    unjudged = COMPARED
    scale = "relative gain of a value"
    graded = ("beta",)
    looser = ("beta",)
    source = "Cao, Karras, VLDB 2012"
    aim = "Limit how much likelier a value of {column} becomes in a group"
    knobs = (
        (
            "beta",
            "Highest relative increase of a value’s share in a group (2 means: up to 3 times its "
            "share in the table)",
            "",
        ),
    )

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
        self.check_missing(sensitive)
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
        times = 1 + exact(self.beta)
        said = (
            f"No value of {column} is more than {at_most(times)} times as frequent in a group as "
            "in the whole table"
        )
        if not self.enhanced:
            return f"{said}. One with a share of {at_most(100 / times)}% there may fill a group."
        third, half = (
            at_most(100 * share * min(times, 1 - logarithm(share))) for share in (THIRD, HALF)
        )
        return (
            f"{said}, and frequent ones gain less: one with a share of a third in the table has at "
            f"most {third}% of a group, one with a half at most {half}%."
        )
