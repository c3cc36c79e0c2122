"""Distances by their definitions, one pair of values at a time, in plain Python."""

from __future__ import annotations

from fractions import Fraction


def prefix(one: str, two: str, codes: list[str]) -> Fraction:
    """How many levels up two codes meet, masked from the right to the length of the longest."""
    longest = max(map(len, codes))
    if one == two:
        return Fraction(0)
    for kept in range(longest - 1, 0, -1):
        if len(one) >= kept and len(two) >= kept and one[:kept] == two[:kept]:
            return Fraction(longest - kept, longest)
    return Fraction(1)


def composed(one: tuple, two: tuple, rows: list[tuple], weights: list[Fraction]) -> Fraction:
    """The weighted sum over a number by its range, a label, and a code by its beginning."""
    numbers = [row[0] for row in rows]
    span = max(numbers) - min(numbers)
    apart = Fraction(abs(one[0] - two[0]), span) if span else Fraction(0)
    lengths = (apart, Fraction(int(one[1] != two[1])), prefix(one[2], two[2], [r[2] for r in rows]))
    return sum((w * length for w, length in zip(weights, lengths, strict=True)), Fraction(0))


def risk(group: list[tuple], near: object) -> Fraction:
    """The largest share of the others of a group that is near to one of its members."""
    if len(group) == 1:
        return Fraction(1)
    most = max(
        sum(bool(near(one, two)) for place, two in enumerate(group) if place != own)  # type: ignore[operator]
        for own, one in enumerate(group)
    )
    return Fraction(most, len(group) - 1)
