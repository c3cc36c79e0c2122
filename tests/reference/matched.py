"""Releases without groups under proximity, with a reader who knows all but the true matching.

Matching c says whom row j is about: matchings[c][j]. One of k is the true one, chosen evenly; no
person has the same row in two of them. Published are the rows' values.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    Matching = Sequence[int]


def accepted(matchings: Sequence[Matching], values: Sequence[int], epsilon: int) -> bool:
    """Whether, whichever matching is true, no two candidate rows of a person have near values."""
    for true in matchings:
        published = [values[person] for person in true]
        for person in range(len(values)):
            seen = [published[one.index(person)] for one in matchings]
            if any(abs(u - v) <= epsilon for u, v in combinations(seen, 2)):
                return False
    return True


def posterior(matchings: Sequence[Matching], published: Sequence[int], epsilon: int) -> Fraction:
    """Return the largest chance that somebody's value is near a guess.

    The reader knows the rule: a world that would not have been accepted is none.
    """
    worlds = []
    for true in matchings:
        values = [0] * len(published)
        for row, person in enumerate(true):
            values[person] = published[row]
        if accepted(matchings, values, epsilon):
            worlds.append(values)
    return max(
        Fraction(sum(abs(world[person] - guess) <= epsilon for world in worlds), len(worlds))
        for person in range(len(published))
        for guess in {world[person] for world in worlds}
    )
