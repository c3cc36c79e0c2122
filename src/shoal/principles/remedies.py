"""Why a requirement cannot hold on a table, and what would help: in a sentence, and as data.

What is in the way is a crowd: rows that carry one value, such as the third of a table whose wages
are 0, or values near to one another, of which there are more than a group may have. What helps is a
requirement with one number changed, one that limits equal values alone, or leaving out rows. All of
it is tried before it is said, and none of it promises nothing: no m, l or k is 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.distances.relation import Band, Unsure
from shoal.errors import ShoalError, option
from shoal.exact import percent, tidy
from shoal.principles.base import Pairwise
from shoal.principles.foresight import counts_of
from shoal.principles.frequency import AlphaK
from shoal.principles.ordered import Ordered
from shoal.table.sensitive import Sensitive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shoal.principles.base import Principle
    from shoal.principles.requirement import Requirement

STEPS = 100  # of a width
NARROWER = (0.9, 0.75, 0.5, 0.25)  # of the largest width, where a search does not reach that
PARTS = 20  # of a group, in which shares are told
MOST_SHARE = 0.95  # of a group, above which a limit promises nothing
ENOUGH = 20  # members of a group in which shares are told; a remedy asks for no more
MOST_LEFT_OUT = Fraction(1, 5)  # of the rows, above which leaving out is no remedy
COUNTED = {"k", "l", "m"}  # parameters that promise nothing at 1


@dataclass(frozen=True)
class Crowd:
    """Rows, or people, with one value or with values near to one another.

    `count` takes in the `missing` ones, which may have the same.
    """

    column: str
    low: str
    high: str
    count: int
    whole: int
    whom: str
    numeric: bool
    missing: int = 0

    @property
    def alone(self) -> bool:
        """Whether all have one value: a heap."""
        return self.low == self.high

    @property
    def text(self) -> str:
        """The sentence, without its full stop."""
        if self.missing == self.count:
            gone = percent(self.missing / self.whole, 1)
            return f"{gone} of the {self.whom} have no {self.column}, which counts as one value"
        share = percent((self.count - self.missing) / self.whole, 1)
        low, high = (one if self.numeric else f"“{one}”" for one in (self.low, self.high))
        which = low if self.alone else f"from {low} to {high}"
        said = f"{share} of the {self.whom} have {self.column} {which}"
        if not self.missing:
            return said
        return (
            f"{said}, {percent(self.missing / self.whole, 1)} have none, which counts as the same"
        )


def crowd_of(principle: Principle, value: Sensitive | None, whom: str = "rows") -> Crowd | None:
    """Return the largest crowd where it is more than a group may have, None where there is none.

    One value, where it is too many by itself; else all values of the longest run of near ones. Of
    a principle that says no share, the most frequent value.
    """
    if value is None or value.several:
        return None
    counts = counts_of(value)
    rows, missing = int(counts.sum()), 0
    if value.gap is not None:
        missing, counts[value.gap] = int(counts[value.gap]), 0
    run = np.array([int(np.argmax(counts))])
    if isinstance(principle, Pairwise | Ordered):
        band = (
            principle.band(value) if isinstance(principle, Ordered) else principle.relation(value)
        )
        band = band.values if isinstance(band, Unsure) else band
        allowed = share_allowed(principle, rows) * rows - missing
        if counts[run].sum() <= allowed:
            if not isinstance(band, Band):
                return None
            before = np.concatenate([[0], np.cumsum(counts)])
            first = int(np.argmax(before[band.reach + 1] - before[:-1]))
            run = np.arange(first, int(band.reach[first]) + 1)
            run = run[counts[run] > 0]
        if counts[run].sum() <= allowed:
            return None
    elif not principle.must_go(value).any():
        return None
    spelled = value.labels()
    low, high = (", ".join(spelled[int(run[end])]) for end in (0, -1))
    numeric = all(column.numeric for column in value.columns)
    count = int(counts[run].sum()) + missing
    return Crowd(value.name, low, high, count, rows, whom, numeric, missing)


def share_allowed(principle: Pairwise | Ordered, rows: int) -> Fraction:
    """Return the largest share of a group that may be near to one another."""
    return principle.bound if isinstance(principle, Ordered) else principle.largest_share(rows)


@dataclass(frozen=True)
class Remedy:
    """A requirement that is achievable, which differs in one parameter or limits equal values."""

    requirement: Requirement
    parameter: str
    number: float
    why: str

    def narrower(self) -> Iterator[Remedy]:
        """Yield it with ever smaller widths, which a search reaches where others ask for more."""
        principle: Any = self.requirement.principle
        if principle.widths is None or self.parameter != principle.width_name:
            return
        for share in NARROWER:
            number = under(share * self.number)
            number = int(number) if isinstance(self.number, int) else number
            if number > 0:
                other = replace(principle, **{self.parameter: number})
                asked = replace(self.requirement, principle=other)
                yield replace(self, requirement=asked, number=number)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "text": repr(self.requirement),
            "parameter": self.parameter,
            "value": self.number,
            "why": self.why,
        }


def remedies(asked: Requirement, value: Sensitive | None, rows: int) -> list[Remedy]:
    """Return what could be required instead, each achievable on its own."""
    principle: Any = asked.principle
    found: list[Remedy] = []
    if value is not None and value.columns[0].times is not None:
        return found  # principles look at rows, and here they are only counted
    for one in principle.outlook(value, rows).limits:
        name, limit = one.parameter, one.limit
        number = None if limit is None else _within(limit, one.must, value)
        if number is None or name not in vars(principle) or _says_nothing(name, number):
            continue
        why = {
            "under": f"{name} must stay under {limit:,}",
            "at most": f"the largest {name}",
            "at least": f"the smallest {name}",
        }[one.must]
        found += _tried(asked, replace(principle, **{name: number}), value, rows, name, number, why)
    crowd = crowd_of(principle, value)
    if not found and principle.widths is not None and value is not None:
        found += _narrower(asked, principle, value)
    if crowd is not None and crowd.alone and not isinstance(principle, AlphaK):
        size = min(max(principle.least, 2), ENOUGH, rows)
        equal = share_limit(crowd.count, crowd.whole, size)
        if equal is not None:
            why = "limits equal values alone"
            found += _tried(asked, equal, value, rows, "alpha", equal.alpha, why)
    return found


def beside_heap(asked: Requirement, value: Sensitive | None, whom: str = "rows") -> str | None:
    """Say how the other values can be protected by themselves where a heap of one is in the way."""
    crowd = crowd_of(asked.principle, value, whom)
    if value is None or crowd is None or not (crowd.alone and crowd.numeric) or crowd.missing:
        return None
    if value.columns[0].times is not None or len(value.columns) > 1:
        return None
    heap = int(np.argmax(counts_of(value)))
    others = Sensitive.of((value.columns[0].only(np.flatnonzero(value.codes != heap)),))
    many = len(others.codes)
    try:
        if many < asked.principle.least or not asked.principle.outlook(others, many).achievable:
            return None
    except ShoalError:
        return None
    which = f"above {crowd.low}" if heap == 0 else f"other than {crowd.low}"
    return (
        f"protect {crowd.column} {which} apart, if it is not secret who has {crowd.low}: the "
        f"{many:,} other {whom} can keep {asked!r} in a table of their own"
    )


def instead(asked: Requirement, value: Sensitive | None, rows: int) -> Requirement | None:
    """Return the first of what could be required instead, None where nothing is known."""
    if value is None or (not value.several and value.columns[0].times is None):
        for one in remedies(asked, value, rows):
            return one.requirement
    found = asked.principle.instead(rows, value)
    return None if found is None else replace(asked, principle=found)


def _narrower(asked: Requirement, principle: Any, value: Sensitive) -> list[Remedy]:
    """Return the largest m that any width can have, with a width for it."""
    rows, name = len(value.codes), principle.share_name
    counts = counts_of(value)
    missing = 0 if value.gap is None else int(counts[value.gap])
    most = rows // (int(counts[: value.gap].max(initial=0)) + missing)
    wide = replace(principle, **{name: max(most, 1)})
    limits = {one.parameter: one.limit for one in wide.outlook(value, rows).limits}
    limit = limits[principle.width_name]
    number = None if limit is None or _says_nothing(name, most) else _within(limit, "under", value)
    if number is None or principle.width_name not in vars(principle):
        return []
    other = replace(wide, **{principle.width_name: number})
    why = f"{principle.width_name} must stay under {limit:,} for this {name}"
    return _tried(asked, other, value, rows, name, most, why)


def _tried(
    asked: Requirement,
    other: Principle,
    value: Sensitive | None,
    rows: int,
    name: str,
    number: float,
    why: str,
) -> list[Remedy]:
    """Return a remedy where it is achievable, and nothing where it is not."""
    try:
        known = other.outlook(value, rows)
    except ShoalError:  # such a number makes no sense for the principle
        return []
    if not known.achievable:
        return []
    return [Remedy(replace(asked, principle=other), name, number, why)]


def share_limit(most: int, rows: int, k: int) -> AlphaK | None:
    """Return a limit on equal values that the most frequent one keeps with room to spare."""
    alpha = math.ceil(PARTS * most / rows + 1) / PARTS
    return AlphaK(alpha=alpha, k=k) if alpha <= MOST_SHARE else None


def _within(limit: float, must: str, value: Sensitive | None) -> float | None:
    """Return a number with few digits that keeps a limit, None where there is none above 0."""
    if must == "under":
        number = under(limit)
        whole = value is not None and value.columns[0].numbers.dtype.kind == "i"
        number = int(number) if whole and number > 1 else number  # a share stays one
        return number or None
    if isinstance(limit, int):
        return limit
    hundredths = 100 * Decimal(str(limit))
    rounding = "ROUND_CEILING" if must == "at least" else "ROUND_FLOOR"
    number = float(hundredths.to_integral_value(rounding=rounding) / 100)
    return int(number) if number.is_integer() else number


def _says_nothing(name: str, number: float) -> bool:
    """Whether a requirement with this number promises nothing."""
    return number <= 1 if name in COUNTED else name == "alpha" and number > MOST_SHARE


def under(bound: float) -> int | float:
    """Return a number with few digits that is strictly under a bound, by a hundredth or less.

    >>> under(10000), under(2.5), under(1)
    (9900, 2.48, 0.99)
    """
    if bound <= 0:
        return 0
    limit = Decimal(str(bound))
    step = Decimal(str(tidy(bound / STEPS)))
    value = (limit / step).to_integral_value(rounding="ROUND_CEILING") * step - step
    return int(value) if value == value.to_integral_value() else float(value)


def left_out(principle: Principle, value: Sensitive | None, rows: int) -> tuple[int, str] | None:
    """Return how few rows have to go, and the share of all that allows it, None for too many."""
    if value is None or value.several:
        return None
    few = int(principle.must_go(value).sum())
    if not 0 < few <= MOST_LEFT_OUT * rows:
        return None
    return few, f"{math.ceil(Fraction(1000 * few, rows)) / 10:g}%"


def refusal(
    asked: Requirement, value: Sensitive | None, rows: int, whom: str, *, whole: bool
) -> str:
    """Say why a requirement cannot hold on so many rows, or people, and what would help.

    Only of the `whole` table some rows may be proposed to be left out, or to stand apart.
    """
    principle = asked.principle
    why = _reason(asked, value, rows, whom)
    said = f"{asked!r} is not achievable on these {rows:,} {whom}: {why}."
    helps = [
        f"{option('require', repr(one.requirement))} ({one.why})"
        for one in remedies(asked, value, rows)
    ]
    if gone := left_out(principle, value, rows):
        few, share = gone
        named = option("suppress", share) if whole else option("suppress")
        helps.append(f"{named} (leaves out at least {few:,} {whom})")
    if whole and (own := beside_heap(asked, value, whom)):
        helps.append(own)
    if not helps:
        return f"{said} Too many values are equal or close for any limit: leave the column out."
    return f"{said} What would help: {'; or '.join(helps)}."


def _reason(asked: Requirement, value: Sensitive | None, rows: int, whom: str) -> str:
    crowd = crowd_of(asked.principle, value, whom)
    if crowd is None:
        name = "" if value is None else f" {value.name}"
        return f"too many of them have the same{name} or close values"
    if not isinstance(asked.principle, Pairwise | Ordered):
        return crowd.text
    bound = share_allowed(asked.principle, rows)
    may = "may" if crowd.alone else "may be so near to one another"
    return f"{crowd.text}, and at most {percent(float(bound))} of a group {may}"
