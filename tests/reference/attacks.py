"""Attacks straight from their definitions, in exact rationals and over plain lists."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Box = tuple[int, int]


def breaches(groups: Sequence[Sequence[int]], epsilon: str, delta: str) -> int:
    """Count the groups with a member near to more than 1 - delta of the others (XC, section VI)."""
    return sum(_broken(group, Fraction(epsilon), Fraction(delta)) for group in groups)


def _broken(group: Sequence[int], epsilon: Fraction, delta: Fraction) -> bool:
    if len(group) == 1:
        return delta > 0
    near = max(sum(abs(u - v) <= epsilon for u in group) - 1 for v in group)
    return Fraction(near, len(group) - 1) > 1 - delta


def most_within(values: Sequence[int], epsilon: str) -> int:
    """Return how many values the best guess has within epsilon.

    Moved up until it leaves a value behind, it lies epsilon above that value.
    """
    reach = Fraction(epsilon)
    return max(sum(abs(u - (v + reach)) <= reach for u in values) for v in values)


def bayes(
    release: Sequence[tuple[Box, str]], domain: Sequence[int], value: int, classes: Sequence[str]
) -> list[Fraction]:
    """Return P(s) P(x | s) of each class s, up to a factor, for one quasi value x.

    A published row of the class is spread evenly over the values of the domain in its box; every
    value counts one row more than it has.
    """
    return [prod(_factors(release, domain, value, s), start=Fraction(1)) for s in classes]


def _factors(
    release: Sequence[tuple[Box, str]], domain: Sequence[int], value: int, s: str
) -> list[Fraction]:
    rows = [box for box, label in release if label == s]
    inside = [sum(low <= v <= high for v in domain) for low, high in rows]
    mass = sum(
        (
            Fraction(1, count)
            for (low, high), count in zip(rows, inside, strict=True)
            if low <= value <= high
        ),
        Fraction(0),
    )
    return [Fraction(len(rows), len(release)), (1 + mass) / (len(rows) + len(domain))]


def matching(release: Sequence[tuple[Box, int]], value: int) -> list[int]:
    """Return the sensitive values of the published rows whose box holds a person's quasi value."""
    return [s for (low, high), s in release if low <= value <= high]


def vulnerable(
    release: Sequence[tuple[Box, int]], people: Sequence[int], epsilon: str, delta: str
) -> int:
    """Count the people whose matching rows, taken for a group, are in breach."""
    return breaches([g for x in people if (g := matching(release, x))], epsilon, delta)


def given_away(
    releases: Sequence[Sequence[tuple[Box, int]]], people: Sequence[tuple[int, int]]
) -> tuple[int, list[int], list[int]]:
    """Return how many people rows of all releases match, whom they give away and whom they mislead.

    Counted for each release alone and at last for all of them together: somebody is given away
    when one value is left and it is the person's own, and misled when it is another's.
    """
    matched, right, wrong = 0, [0] * (len(releases) + 1), [0] * (len(releases) + 1)
    for x, own in people:
        left = [set(matching(release, x)) for release in releases]
        if all(left):
            matched += 1
            for which, values in enumerate([*left, set.intersection(*left)]):
                right[which] += values == {own}
                wrong[which] += len(values) == 1 and values != {own}
    return matched, right, wrong


def told(
    rows: Sequence[Sequence[frozenset[str]]], people: Sequence[Sequence[str | None]], column: int
) -> tuple[int, int]:
    """Count the people whose value of a column rows show with certainty, and with more than half.

    A reader knows a person's other values, None standing for what nobody knows, and considers every
    row equally likely whose other cells hold them. A row shows a value that is alone in its cell.
    """
    certain = likely = 0
    for person in people:
        fitting = [
            row
            for row in rows
            if all(
                person[place] is None or person[place] in cell
                for place, cell in enumerate(row)
                if place != column
            )
        ]
        showing = [row for row in fitting if row[column] == {person[column]}]
        certain += bool(showing) and len(showing) == len(fitting)
        likely += 2 * len(showing) > len(fitting)
    return certain, likely
