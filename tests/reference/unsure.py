"""Sensitive values some of which are missing, by definition: every way to fill them in is tried.

A group is a list of values, None where one is missing. Whoever lacks a value may have any: one that
the group has, one that the table has, or one that nobody has.

- Near values: of the values that a group lists, the one to which most members are near, or may be
  near, whatever the missing values are. A group that lists nothing is near to itself.
- Distributions: the worst of all ways to fill in what is missing.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from reference import distribution, proximity
from reference.least import partitions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Value = int | str | None


def filled(group: Sequence[Value], others: Sequence[Value] = ()) -> Iterator[list[Value]]:
    """Yield the group with its missing values filled in, in every way."""
    known = sorted({value for value in (*group, *others) if value is not None}, key=str)
    choices = [[value] if value is not None else [*known, "new"] for value in group]
    yield from map(list, product(*choices))


def most_near(group: Sequence[Value], near: Callable[[Value, Value], bool]) -> int:
    """Return how many members may be near to the most exposed value that a group lists."""
    listed = {value for value in group if value is not None}
    if not listed:
        return len(group)
    return max(sum(u is None or near(u, v) for u in group) for v in listed)


def proximity_risk(group: Sequence[Value], kind: str, **params: float) -> Fraction:
    """Return the share of a group that may be near to the most exposed value that it lists."""
    count = most_near(group, lambda u, v: proximity.proximate(kind, u, v, **params))  # type: ignore[arg-type]
    return Fraction(count, len(group))


def window_risk(group: Sequence[Value], width: int) -> Fraction:
    """Return the largest share that any interval of a width may hold; values are whole numbers."""
    known = [int(value) for value in group if value is not None]
    inside = max((sum(v <= u <= v + width for u in known) for v in known), default=0)
    return Fraction(inside + group.count(None), len(group))


def frequency_risk(group: Sequence[Value]) -> Fraction:
    """Return the largest share of one value, whatever is filled in."""
    return max(Fraction(max(map(one.count, one)), len(one)) for one in filled(group))


def fewest_distinct(group: Sequence[Value]) -> int:
    """Return the fewest different values, whatever is filled in."""
    return min(distribution.distinct(one) for one in filled(group))


def entropy_at_least(group: Sequence[Value], l: Fraction) -> bool:
    """Say whether the entropy is enough, whatever is filled in."""
    return all(distribution.entropy_at_least(one, l) for one in filled(group))


def recursive(group: Sequence[Value], c: Fraction, l: int) -> bool:
    """Say whether recursive (c,l)-diversity holds, whatever is filled in."""
    return all(distribution.recursive(one, c, l) for one in filled(group))


def least_variance(group: Sequence[Value]) -> Fraction:
    """Return the least variance: it is that where what is missing is the mean of the others."""
    known = [Fraction(value) for value in group if value is not None]
    if not known:
        return Fraction(0)
    mean = sum(known, Fraction(0)) / len(known)
    return sum(((value - mean) ** 2 for value in known), Fraction(0)) / len(group)


def variance(group: Sequence[Fraction]) -> Fraction:
    """Return the variance of a group of which nothing is missing."""
    mean = sum(group, Fraction(0)) / len(group)
    return sum(((value - mean) ** 2 for value in group), Fraction(0)) / len(group)


def people_near(people: Sequence[Sequence[Value]], near: Callable[[Value, Value], bool]) -> int:
    """Return how many people have a value, or lack one, that may be near to the most exposed."""
    listed = {value for some in people for value in some if value is not None}
    if not listed:
        return sum(bool(some) for some in people)
    return max(sum(any(u is None or near(u, v) for u in some) for some in people) for v in listed)


def achievable(values: Sequence[Value], holds: Callable[[list[Value]], bool]) -> bool:
    """Say whether the rows of a small table can be parted into groups that all hold."""
    return any(
        all(holds([values[place] for place in part]) for part in parts)
        for parts in partitions(list(range(len(values))))
    )
