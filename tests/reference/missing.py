"""Numbers some of which are missing: what a cell says of a group, and what it loses.

A value is a text, or None where it is missing. A cell is read into the ends of the known values and
whether values are missing; where none is known there are no ends.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference.forms import Rows

from reference.forms import number

Said = tuple[tuple[Fraction, Fraction] | None, bool]


def told(values: Sequence[str | None]) -> Said:
    """Return what a cell has to say of the values of a group."""
    known = [number(value) for value in values if value is not None]
    return (min(known), max(known)) if known else None, len(known) < len(values)


def read_interval(cell: str) -> Said:
    """Read a cell of the form `intervals`, as release.csv has it."""
    if not cell:
        return None, True
    if not cell.startswith("["):
        return (number(cell), number(cell)), False
    low, high, *rest = json.loads(cell, parse_int=str, parse_float=str)
    assert rest in ([], [None]), cell
    assert rest or low != high, "a single known value stands bare"
    return (number(low), number(high)), bool(rest)


def read_bounds(row: dict[str, str], name: str) -> Said:
    """Read the columns of the forms `bounds` and `means`."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    assert (low == "") == (high == "")
    mark = row.get(f"{name}_missing", "0")
    assert mark in {"0", "1"}
    return None if not low else (number(low), number(high)), mark == "1"


def ncp(values: Sequence[str | None], column: Sequence[str | None]) -> Fraction:
    """Return what a group loses of a column: everything where known and missing ones are mixed."""
    ends, missing = told(values)
    if ends is None:
        return Fraction(0)
    if missing:
        return Fraction(1)
    whole, _ = told(column)
    assert whole is not None
    span = whole[1] - whole[0]
    return (ends[1] - ends[0]) / span if span else Fraction(0)


def covers(said: Said, value: str | None) -> bool:
    """Say whether a cell covers a value."""
    ends, missing = said
    if value is None:
        return missing
    return ends is not None and ends[0] <= number(value) <= ends[1]


def share_between(said: Said, low: int, high: int) -> Fraction:
    """Return which part of a cell of whole numbers lies from low to high, missing being one more.

    Where no cell is stretched, the numbers of a cell are all alike.
    """
    ends, missing = said
    if ends is None:
        return Fraction(0)
    numbers = range(int(ends[0]), int(ends[1]) + 1)
    return Fraction(sum(low <= one <= high for one in numbers), len(numbers) + missing)


def groups_of(rows: Rows, linkage: Sequence[int]) -> dict[str, list[int]]:
    """Return the input rows of each group."""
    found: dict[str, list[int]] = {}
    for row, source in zip(rows, linkage, strict=True):
        found.setdefault(row["group"], []).append(source)
    return found
