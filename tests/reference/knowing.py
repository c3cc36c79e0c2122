"""What a reader learns who knows the method: all assignments of the values, gone through."""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Outcomes = Callable[[tuple[Any, ...]], Iterable[tuple[Sequence[int], Fraction]]]


def posteriors(values: Sequence[Any], outcomes: Outcomes) -> list[tuple[Any, list, Fraction]]:
    """Return for each output its groups, everybody's posterior, and its probability.

    `outcomes(assignment)` yields the labels that a method gives the people, with probabilities.
    The prior is uniform over the distinct assignments of the values; the output shows who is in
    which group, and the values of each group.
    """
    worlds = sorted(set(itertools.permutations(values)))
    seen: dict[Any, dict[tuple[Any, ...], Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for world in worlds:
        for labels, chance in outcomes(world):
            members = defaultdict(list)
            for person, label in enumerate(labels):
                members[label].append(person)
            shown = frozenset(
                (tuple(people), tuple(sorted(world[p] for p in people)))
                for people in members.values()
            )
            seen[shown][world] += Fraction(chance) / len(worlds)
    found = []
    for shown, weights in seen.items():
        whole = sum(weights.values(), Fraction(0))
        beliefs: list[dict[Any, Fraction]] = [defaultdict(Fraction) for _ in values]
        for world, weight in weights.items():
            for person, value in enumerate(world):
                beliefs[person][value] += weight / whole
        found.append((shown, beliefs, whole))
    return found


def distance_from_uniform(values: Sequence[Any], outcomes: Outcomes) -> Fraction:
    """Return the largest total variation between a posterior and the values of the group."""
    worst = Fraction(0)
    for shown, beliefs, _ in posteriors(values, outcomes):
        for people, group in shown:
            for person in people:
                belief = beliefs[person]
                gaps = [
                    abs(belief[value] - Fraction(group.count(value), len(group)))
                    for value in set(group) | set(belief)
                ]
                worst = max(worst, sum(gaps, Fraction(0)) / 2)
    return worst


def exceeded(
    values: Sequence[Any], outcomes: Outcomes, near: Callable[[Any, Any], bool], bound: Fraction
) -> tuple[Fraction, Fraction]:
    """Return the largest posterior near a value somebody may have, and how often it exceeds."""
    worst = often = Fraction(0)
    for _, beliefs, whole in posteriors(values, outcomes):
        most = max(
            sum((b for u, b in belief.items() if near(u, v)), Fraction(0))
            for belief in beliefs
            for v in belief
        )
        worst = max(worst, most)
        often += whole if most > bound else 0
    return worst, often
