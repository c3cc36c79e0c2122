"""Rounding, cutting off and reading dates by their definitions, a cell at a time."""

from __future__ import annotations

import datetime as dt
import math
import re
from fractions import Fraction


def trimmed(cell: str, *, step: str | None, bottom: str | None, top: str | None) -> Fraction:
    """The number of a cell, rounded to a multiple of the step, halves up, then cut off."""
    value = Fraction(cell)
    if step is not None:
        value = math.floor(value / Fraction(step) + Fraction(1, 2)) * Fraction(step)
    if bottom is not None:
        value = max(value, Fraction(bottom))
    if top is not None:
        value = min(value, Fraction(top))
    return value


def percentile(cells: list[str], share: Fraction) -> Fraction:
    """The least value that at least this share of the cells do not exceed."""
    numbers = sorted(map(Fraction, cells))
    return next(
        number
        for place, number in enumerate(numbers, 1)
        if Fraction(sum(other <= number for other in numbers), len(numbers)) >= share and place
    )


def date(cell: str, order: str) -> dt.date | None:
    """The date of a cell with three numbers, of which `order` says which is what."""
    found = re.fullmatch(r"(\d+)[/.-](\d+)[/.-](\d+)", cell)
    if not found:
        return None
    parts = dict(zip(order, map(int, found.groups()), strict=True))
    try:
        return dt.date(parts["y"], parts["m"], parts["d"])
    except ValueError:
        return None
