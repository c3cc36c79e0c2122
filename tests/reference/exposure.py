"""What a report measures of people's exposure, by definition, in plain Python.

Sources: opinion 05/2014 of the Article 29 Working Party for the questions; El Emam, Dankar (JAMIA
2008) for the prosecutor's risk (the largest) and the marketer's (the average).
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from fractions import Fraction


def risks(descriptions: Sequence[Hashable]) -> list[Fraction]:
    """Return for each row the chance to pick it among the rows with its description."""
    sizes = Counter(descriptions)
    return [Fraction(1, sizes[one]) for one in descriptions]


def identification(descriptions: Sequence[Hashable], threshold: str) -> dict[str, Fraction]:
    """Return the share of unique rows, the largest and mean risk, and the share of rows above."""
    found, limit = risks(descriptions), Fraction(threshold)
    rows = len(found)
    return {
        "unique": Fraction(sum(risk == 1 for risk in found), rows),
        "largest": max(found),
        "average": sum(found, Fraction(0)) / rows,
        "above": Fraction(sum(risk > limit for risk in found), rows),
    }


def guessed(groups: Sequence[Hashable], values: Sequence[Hashable]) -> Fraction:
    """Return how often the most frequent value of the own group is right."""
    members: dict[Hashable, list[Hashable]] = defaultdict(list)
    for group, value in zip(groups, values, strict=True):
        members[group].append(value)
    right = sum(Counter(own).most_common(1)[0][1] for own in members.values())
    return Fraction(right, len(values))


def squares(
    boxes: Sequence[tuple[Sequence[int], Sequence[int]]], losses: Sequence[float]
) -> dict[tuple[int, int], tuple[float, float]]:
    """Return the share of rows on each square of a map and their mean loss.

    A box is what a row covers of both axes, as lists of squares, all alike.
    """
    rows: dict[tuple[int, int], float] = defaultdict(float)
    lost: dict[tuple[int, int], float] = defaultdict(float)
    for (across, along), loss in zip(boxes, losses, strict=True):
        part = 1 / (len(across) * len(along))
        for x in across:
            for y in along:
                rows[x, y] += part / len(boxes)
                lost[x, y] += part / len(boxes) * loss
    return {place: (share, lost[place] / share) for place, share in rows.items()}
