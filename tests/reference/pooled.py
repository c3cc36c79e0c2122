"""How likely groups are of which only numbers of cases are known, by all ways to deal them out."""

from __future__ import annotations

import math


def log_likelihood(slopes: list[float], groups: list[tuple[list[list[float]], int]]) -> float:
    """Return the log-likelihood of a logistic model of groups: members, and how many are cases.

    A member has the logit Σ slope · column. The chance of a number of cases in a group is the sum
    over all members who may be the cases, added up one member at a time.
    """
    total = 0.0
    for members, cases in groups:
        chances = [1.0]
        for columns in members:
            logit = sum(slope * column for slope, column in zip(slopes, columns, strict=True))
            p = 1 / (1 + math.exp(-logit))
            chances = [
                a * (1 - p) + b * p for a, b in zip([*chances, 0.0], [0.0, *chances], strict=True)
            ]
        total += math.log(chances[cases])
    return total
