"""What a reader learns who knows the method: all assignments of the values, gone through."""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Outcomes = Callable[[tuple[Any, ...]], Iterable[tuple[Sequence[int], Fraction]]]
    Published = Callable[[Any], Iterable[tuple[Any, list[dict[int, Any]], Fraction]]]


def posteriors(
    values: Sequence[Any],
    outcomes: Outcomes,
    prior: Callable[[tuple[Any, ...]], Fraction] = lambda _: Fraction(1),
) -> list[tuple[Any, list, Fraction]]:
    """Return for each output its groups, everybody's posterior, and its probability.

    `outcomes(assignment)` yields the labels that a method gives the people, with probabilities.
    The prior is uniform over the distinct assignments of the values, unless another is given, up to
    a factor; the output shows who is in which group, and the values of each group.
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
            seen[shown][world] += Fraction(chance) / len(worlds) * prior(world)
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


def pairings_alike(world: tuple[Any, ...], outcomes: Callable[..., Iterable[Any]]) -> bool:
    """Return whether an output is as likely for all assignments that differ in groups alone.

    `outcomes(assignment)` yields the group of everybody, the node of everybody, and a probability;
    the output shows groups with their values, and which groups are of one node. One probability for
    all pairings inside groups makes the pairing ignorable for statistics.
    """
    made: dict[tuple[Any, ...], dict[Any, Fraction]] = {}

    def shown_of(one: tuple[Any, ...]) -> dict[Any, Fraction]:
        if one not in made:
            found: dict[Any, Fraction] = defaultdict(Fraction)
            for groups, nodes, chance in outcomes(one):
                found[_shown(one, groups, nodes)] += Fraction(chance)
            made[one] = found
        return made[one]

    for shown, chance in list(shown_of(world).items()):
        groups = [group for of_node in shown for group in of_node]
        for way in itertools.product(*(set(itertools.permutations(v)) for _, v in groups)):
            other = list(world)
            for (people, _), dealt in zip(groups, way, strict=True):
                for person, value in zip(people, dealt, strict=True):
                    other[person] = value
            if shown_of(tuple(other)).get(shown, Fraction(0)) != chance:
                return False
    return True


def _shown(world: Sequence[Any], groups: Sequence[int], nodes: Sequence[int]) -> Any:
    within: dict[Any, dict[Any, list[int]]] = defaultdict(lambda: defaultdict(list))
    for person, (group, node) in enumerate(zip(groups, nodes, strict=True)):
        within[node][group].append(person)
    return frozenset(
        frozenset((tuple(p), tuple(sorted(world[one] for one in p))) for p in of_node.values())
        for of_node in within.values()
    )


def distance_from_shown(worlds: Iterable[Any], publish: Published) -> Fraction:
    """Return how far beliefs about people are from what their groups show, at most.

    `publish(world)` yields, for every way that chance may go, what is published and how likely that
    is: of each group its people and what each of them is published with. Who is who in a group is
    not shown; `told` is whatever else a reader is granted. All worlds are equally likely before.
    """
    seen: dict[Any, list[tuple[dict[int, Any], Fraction]]] = defaultdict(list)
    for world in worlds:
        for told, groups, chance in publish(world):
            shown = frozenset(
                (tuple(sorted(group)), tuple(sorted(group.values()))) for group in groups
            )
            held = {person: value for group in groups for person, value in group.items()}
            seen[told, shown].append((held, chance))
    worst = Fraction(0)
    for (_, shown), ways in seen.items():
        whole = sum((chance for _, chance in ways), Fraction(0))
        for people, values in shown:
            for person in people:
                belief: dict[Any, Fraction] = defaultdict(Fraction)
                for held, chance in ways:
                    belief[held[person]] += chance / whole
                gaps = (
                    abs(belief[value] - Fraction(values.count(value), len(values)))
                    for value in {*values, *belief}
                )
                worst = max(worst, sum(gaps, Fraction(0)) / 2)
    return worst
