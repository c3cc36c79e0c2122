"""Attacks on members and controls, and intervals of shares, straight from their definitions."""

from __future__ import annotations

from fractions import Fraction
from math import comb, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Z = NormalDist().inv_cdf(0.975)


def score_interval(successes: int, count: int) -> tuple[float, float]:
    """Return the shares p that a test by the normal approximation at p does not refuse.

    |successes/count - p| <= z sqrt(p (1 - p) / count), found by halving intervals.
    """
    seen = successes / count

    def refused(p: float) -> bool:
        return abs(seen - p) > Z * sqrt(p * (1 - p) / count)

    def border(outside: float) -> float:
        inside = seen
        for _ in range(200):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if refused(middle) else (middle, outside)
        return inside

    return (border(0.0) if successes else 0.0), (border(1.0) if successes < count else 1.0)


def difference_interval(one: int, ones: int, other: int, others: int) -> tuple[float, float]:
    """Return Newcombe's interval (his method 10) from the two score intervals."""
    p, q = one / ones, other / others
    (l1, u1), (l2, u2) = score_interval(one, ones), score_interval(other, others)
    low = p - q - sqrt((p - l1) ** 2 + (u2 - q) ** 2)
    return low, p - q + sqrt((u1 - p) ** 2 + (q - l2) ** 2)


def one_of_drawn(fitting: int, whole: int, drawn: int) -> Fraction:
    """Return the chance that exactly one of some people drawn from a whole is a fitting one."""
    return Fraction(fitting * comb(whole - fitting, drawn - 1), comb(whole, drawn))


def guessed(
    release: Sequence[tuple[Sequence[tuple[int, int]], int]],
    people: Sequence[tuple[Sequence[int], int]],
    epsilon: int,
) -> list[bool]:
    """Say for each person whether the fullest window of the rows that match holds the own value.

    A window is 2 epsilon wide and begins at a value, the lowest of equally full ones; of a person
    whom no row matches, the rows of the whole release are taken.
    """
    found = []
    for quasi, own in people:
        values = [
            value
            for box, value in release
            if all(low <= x <= high for x, (low, high) in zip(quasi, box, strict=True))
        ] or [value for _, value in release]
        begin = max(
            sorted(set(values)), key=lambda v: sum(v <= u <= v + 2 * epsilon for u in values)
        )
        found.append(begin <= own <= begin + 2 * epsilon)
    return found


MEMBER, CHOOSING, WEIGHING = range(3)
Counts = tuple[int, int, int]  # of members, choosing controls and weighing ones that a thing fits


def least_likely(
    box: Sequence[tuple[int, int]],
    size: int,
    people: Sequence[Sequence[int]],
    part: Sequence[int],
    drawn: Callable[[int], Sequence[float]],
) -> Counts:
    """Return whom the least likely predicate of a cell fits, of three parts of people.

    In the cell, and: a column at either end; or a step inside either end; or in a random share of
    1/size. The least likely one fits the fewest choosing controls; of several the ends come first,
    then the steps; of either the one whose value fewer choosing controls have; then the first.
    """

    def counts(some: Iterable[int]) -> Counts:
        found = [part[one] for one in some]
        return found.count(MEMBER), found.count(CHOOSING), found.count(WEIGHING)

    inside = [
        one
        for one, values in enumerate(people)
        if all(low <= x <= high for x, (low, high) in zip(values, box, strict=True))
    ]
    tried: list[tuple[tuple[Fraction, int, int], Counts]] = []
    for kind in (0, 1):
        for column, (low, high) in enumerate(box):
            for value in (low + kind, high - kind) if low < high else ():
                fits = counts(one for one in inside if people[one][column] == value)
                have = counts(one for one, row in enumerate(people) if row[column] == value)
                tried.append(((Fraction(fits[CHOOSING]), kind, have[CHOOSING]), fits))
    share = Fraction(counts(inside)[CHOOSING], size)
    chances = drawn(len(inside))
    lucky = [one for one, chance in zip(inside, chances, strict=True) if chance < 1 / size]
    tried.append(((share, 2, 0), counts(lucky)))
    return min(tried, key=lambda one: one[0])[1]
