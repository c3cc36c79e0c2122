"""Perturbation and anatomy from their definitions, in plain Python and exact fractions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations


def near(value, other, epsilon, *, relative):
    return abs(value - other) <= epsilon * (abs(value) if relative else 1)


def certainty(values, value, domain, epsilon, p, *, relative=False):
    """P(truth near the value | published near the value), by adding up every case.

    The truth is any of the values, equally likely; what is published is the truth with
    probability p, and any value of the domain otherwise.
    """
    both = seen = Fraction(0)
    for truth in values:
        for shown in domain:
            chance = (1 - p) / len(domain) + (p if shown == truth else 0)
            if near(value, shown, epsilon, relative=relative):
                seen += chance
                if near(value, truth, epsilon, relative=relative):
                    both += chance
    return both / seen


def can_be_taken_apart(values, l):
    """Whether rows can be divided into groups in which no value has more than a share of 1/l."""
    if not values:
        return True
    first, *rest = range(len(values))
    for size in range(l, len(values) + 1):
        for others in combinations(rest, size - 1):
            group = (first, *others)
            if l * max(Counter(values[row] for row in group).values()) <= size:
                left = [values[row] for row in rest if row not in others]
                if can_be_taken_apart(left, l):
                    return True
    return False
