"""k-map and δ-presence straight from their definitions, on small tables.

A row is a tuple of quasi values; ``kinds`` says "interval" or "set" for each column. The
description of a group spans its numbers and lists its labels. Where several rows may be about one
person, a population is a list of (person, row), and a description fits a person if it covers all
rows of that person; how many rows somebody has in the table is known, or not.
"""

from collections.abc import Sequence
from fractions import Fraction

Row = Sequence[int | float | str]


def matches(group: Sequence[Row], kinds: Sequence[str], person: Row) -> bool:
    """Say whether the description of a group fits a person."""
    for column, kind in enumerate(kinds):
        values = [row[column] for row in group]
        if kind == "set":
            if person[column] not in values:
                return False
        elif not min(values) <= person[column] <= max(values):  # type: ignore[operator]
            return False
    return True


def matched(group: Sequence[Row], kinds: Sequence[str], population: Sequence[Row]) -> int:
    """Count the persons of the population whom the description of a group fits."""
    return sum(matches(group, kinds, person) for person in population)


def k_map(group: Sequence[Row], kinds: Sequence[str], population: Sequence[Row], k: int) -> bool:
    """Say whether the description of a group fits at least k persons."""
    return matched(group, kinds, population) >= k


def presence(
    group: Sequence[Row],
    kinds: Sequence[str],
    population: Sequence[Row],
    low: str,
    high: str,
) -> bool:
    """Say whether the share of those it fits who are in the table is from low to high."""
    people = matched(group, kinds, population)
    return people > 0 and Fraction(low) <= Fraction(len(group), people) <= Fraction(high)


def candidates(
    group: Sequence[Row],
    kinds: Sequence[str],
    population: Sequence[tuple[object, Row]],
    count: int | None,
) -> int:
    """Count the people whom a description fits, those with so many rows where that is known."""
    rows: dict[object, list[Row]] = {}
    for person, row in population:
        rows.setdefault(person, []).append(row)
    return sum(
        all(matches(group, kinds, row) for row in own)
        for own in rows.values()
        if count is None or len(own) == count
    )
