"""Thresholds and dominance of groups straight from their definitions, in rationals."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def too_few(groups: Sequence[Sequence[int]], least: int) -> int:
    """Count the groups with fewer members than asked for."""
    return sum(len(group) < least for group in groups)


def dominated(groups: Sequence[Sequence[int]], n: int, k: int) -> int:
    """Count the groups whose n largest values make up k % of the total or more."""
    return sum(
        sum(group) > 0
        and Fraction(sum(sorted(group, reverse=True)[:n]), sum(group)) >= Fraction(k, 100)
        for group in groups
    )


def nearly_known(groups: Sequence[Sequence[int]], p: int) -> int:
    """Count the groups whose second largest member knows the largest value to within p %."""
    found = 0
    for group in groups:
        ordered = sorted(group, reverse=True)
        rest = sum(ordered[2:])
        found += sum(group) > 0 and rest <= Fraction(p, 100) * ordered[0]
    return found
