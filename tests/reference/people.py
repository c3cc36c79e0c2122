"""What must hold for people, straight from the definitions, slowly and without shoal.

A table of people is a list of rows (group, person, value). How many rows a person has in the
table is known, or not; the candidates of a person are those of its group with as many rows, or all
of its group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

Row = tuple[object, object, object]
Near = Callable[[object, object], bool]


def candidates(rows: Iterable[Row], *, known: bool) -> list[dict[object, set]]:
    """Return the sets of people who cannot be told apart, each with the values of every one."""
    rows = list(rows)
    counts: dict[tuple, int] = {}
    for group, person, _ in rows:
        counts[group, person] = counts.get((group, person), 0) + 1
    found: dict[tuple, dict[object, set]] = {}
    for group, person, value in rows:
        key = (group, counts[group, person] if known else None)
        found.setdefault(key, {}).setdefault(person, set()).add(value)
    return list(found.values())


def most_near(people: dict[object, set], near: Near) -> int:
    """Return the most people who have a value near to one value v of theirs."""
    return max(
        sum(any(near(u, v) for u in theirs) for theirs in people.values())
        for values in people.values()
        for v in values
    )


def risk(rows: Iterable[Row], near: Near, *, known: bool) -> Fraction:
    """Return the largest share of candidates who have a value near to one value of theirs."""
    return max(
        Fraction(most_near(people, near), len(people)) for people in candidates(rows, known=known)
    )


def smallest(rows: Iterable[Row], *, known: bool) -> int:
    """Return how few people are candidates for one another."""
    return min(map(len, candidates(rows, known=known)))


def scattered(rows: Iterable[Row]) -> bool:
    """Return whether somebody has rows in two groups."""
    groups: dict[object, set] = {}
    for group, person, _ in rows:
        groups.setdefault(person, set()).add(group)
    return any(len(found) > 1 for found in groups.values())
