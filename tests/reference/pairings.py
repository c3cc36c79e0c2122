"""How likely each pairing of members and values is, by going through all of them."""

from __future__ import annotations

import itertools
import math


def pairings(
    scores: list[list[float]], functions: list[list[float]]
) -> dict[tuple[int, ...], float]:
    """Return the chance of every pairing: the value of each member, in order of the members.

    A pairing is exp(Σ s · a) times as likely as another, over members with scores s and the
    functions a of their values.
    """
    weights = {
        order: math.exp(
            sum(
                s * a
                for member, value in enumerate(order)
                for s, a in zip(scores[member], functions[value], strict=True)
            )
        )
        for order in itertools.permutations(range(len(scores)))
    }
    total = sum(weights.values())
    return {order: weight / total for order, weight in weights.items()}


def band_chances(
    scores: list[float], shares: list[float], centres: list[list[float]]
) -> list[float]:
    """Return how likely each band is for one member: in proportion to share · exp(s · centre)."""
    powers = [
        share + sum(s * c for s, c in zip(scores, centre, strict=True))
        for share, centre in zip(shares, centres, strict=True)
    ]
    weights = [math.exp(power - max(powers)) for power in powers]
    return [weight / sum(weights) for weight in weights]
