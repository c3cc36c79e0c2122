"""What the files of each form of a release have to say, from its definition; plain Python."""

from __future__ import annotations

import csv
from collections import defaultdict
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

Rows = list[dict[str, str]]


def read(path: Path) -> tuple[list[str], Rows]:
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        rows = list(reader)
        return list(reader.fieldnames or []), rows


def by_group(rows: Rows) -> dict[str, Rows]:
    groups: dict[str, Rows] = defaultdict(list)
    for row in rows:
        groups[row["group"]].append(row)
    return dict(groups)


def number(text: str) -> Fraction:
    """A number, or a date in days."""
    if text.count("-") == 2 and text[:1].isdigit():
        return Fraction(date.fromisoformat(text).toordinal())
    return Fraction(text)


def decimals(texts: list[str]) -> int:
    """The decimals of a column; zeros at the end are none."""
    return max(max(-int(Decimal(text).normalize().as_tuple().exponent), 0) for text in texts)


def mean(texts: list[str], column: list[str]) -> str:
    """The mean of a group as it is published: two decimals more than the column, or a date."""
    exact = sum(map(number, texts), Fraction(0)) / len(texts)
    if texts[0].count("-") == 2 and texts[0][:1].isdigit():
        return date.fromordinal(ceil(exact - Fraction(1, 2))).isoformat()  # a tie is the earlier
    digits = decimals(column) + 2
    units = round(exact * 10**digits)  # of a Fraction: to the nearest, a tie to the even one
    sign = "-" if units < 0 else ""
    whole, rest = divmod(abs(units), 10**digits)
    return f"{sign}{whole}.{rest:0{digits}d}"


def ends(texts: list[str]) -> tuple[Fraction, Fraction]:
    values = [number(text) for text in texts]
    return min(values), max(values)


def multiset(rows: Rows, names: list[str]) -> list[tuple[Any, ...]]:
    return sorted(tuple(row[name] for name in names) for row in rows)
