"""Principles about the distribution of values in a group, straight from their definitions.

A group is a list of values, a table is a list of groups. Shares are exact rationals; where a
definition has a logarithm, fifty decimals stand in for it.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate
from math import prod

Values = Sequence[Hashable]
Numbers = Sequence[int | float | str]
DIGITS = 50


def shares(values: Values, domain: Values) -> list[Fraction]:
    """Return the share of each value of the domain."""
    return [Fraction(list(values).count(value), len(values)) for value in domain]


def distinct(group: Values) -> int:
    """Return the number of different values."""
    return len(set(group))


def entropy_at_least(group: Values, l: Fraction) -> bool:
    """Say whether -Σ p ln p >= ln l, as integers: n^n >= l^n Π c^c."""
    n = len(group)
    return Fraction(n) ** n >= l**n * prod(c**c for c in Counter(group).values())


def recursive(group: Values, c: Fraction, l: int) -> bool:
    """Say whether r1 < c (r_l + … + r_d), the counts falling."""
    r = sorted(Counter(group).values(), reverse=True)
    return r[0] < c * sum(r[l - 1 :])


def equal_distance(p: Sequence[Fraction], q: Sequence[Fraction]) -> Fraction:
    """Return the earth mover's distance where any two values are 1 apart."""
    return sum((abs(a - b) for a, b in zip(p, q, strict=True)), Fraction(0)) / 2


def ordered_distance(p: Sequence[Fraction], q: Sequence[Fraction]) -> Fraction:
    """Return the earth mover's distance where neighbours are 1/(m - 1) apart."""
    if len(p) == 1:
        return Fraction(0)
    moved = accumulate(a - b for a, b in zip(p, q, strict=True))
    return sum(map(abs, moved), Fraction(0)) / (len(p) - 1)


def tree_distance(
    p: Sequence[Fraction], q: Sequence[Fraction], paths: Sequence[Sequence[str]]
) -> Fraction:
    """Return the earth mover's distance in a hierarchy (Li et al., section 4.3).

    The cost of a node at height h is h/H times the lesser of what its children have too much and
    too little; what is left over goes up.
    """
    height = len(paths[0]) - 1
    total = Fraction(0)
    extra = {path[0]: a - b for path, a, b in zip(paths, p, q, strict=True)}
    for level in range(1, height + 1):
        parents = {path[level - 1]: path[level] for path in paths}
        surplus: dict[str, list[Fraction]] = {}
        for node, amount in extra.items():
            surplus.setdefault(parents[node], []).append(amount)
        for amounts in surplus.values():
            much = sum((a for a in amounts if a > 0), Fraction(0))
            little = -sum((a for a in amounts if a < 0), Fraction(0))
            total += Fraction(level, height) * min(much, little)
        extra = {node: sum(amounts, Fraction(0)) for node, amounts in surplus.items()}
    return total


def range_of(group: Numbers) -> Fraction:
    """Return the highest less the lowest value."""
    numbers = [Fraction(str(value)) for value in group]
    return max(numbers) - min(numbers)


def variance(group: Numbers) -> Fraction:
    """Return the mean squared distance to the mean."""
    numbers = [Fraction(str(value)) for value in group]
    mean = sum(numbers, Fraction(0)) / len(numbers)
    return sum(((value - mean) ** 2 for value in numbers), Fraction(0)) / len(numbers)


def logarithm(share: Fraction) -> Decimal:
    """Return the natural logarithm to fifty decimals."""
    with localcontext(prec=DIGITS):
        return (Decimal(share.numerator) / Decimal(share.denominator)).ln()


def delta_disclosure(p: Sequence[Fraction], q: Sequence[Fraction], delta: str) -> bool:
    """Say whether |ln(p / q)| < delta for every value."""
    return all(a > 0 and abs(logarithm(a / b)) < Decimal(delta) for a, b in zip(p, q, strict=True))


def beta_likeness(
    p: Sequence[Fraction], q: Sequence[Fraction], beta: str, *, enhanced: bool
) -> bool:
    """Say whether (p - q) / q is at most beta, or min(beta, -ln q), wherever p > q."""
    for a, b in zip(p, q, strict=True):
        if a <= b:
            continue
        gain = (a - b) / b
        if gain > Fraction(beta):
            return False
        if enhanced and Decimal(gain.numerator) / Decimal(gain.denominator) > -logarithm(b):
            return False
    return True
