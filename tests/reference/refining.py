"""Downcoding straight from its definition: what groups are, over all tables that may have been."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Group = tuple[tuple[str, ...], tuple[str, ...]]  # labels that the cell stands for, and true ones


def told_and_usual(tables: Sequence[Sequence[Group]]) -> tuple[Fraction, Fraction]:
    """Return how often all labels of a group are named, in any order, over equally likely tables.

    Once by whoever knows what every table would have led to, once from the cell alone. A reader of
    several groups with one cell and size takes them for one another.
    """
    seen: dict = defaultdict(Counter)
    groups, usual = 0, Fraction(0)
    for table in tables:
        shown = tuple(sorted((cell, len(labels)) for cell, labels in table))
        for cell, labels in table:
            seen[shown, cell, len(labels)][tuple(sorted(labels))] += 1
            groups += 1
            ways = Counter(tuple(sorted(one)) for one in product(cell, repeat=len(labels)))
            usual += Fraction(max(ways.values()), len(cell) ** len(labels))
    told = sum(max(counts.values()) for counts in seen.values())
    return Fraction(told, groups), usual / groups
