"""People with rows in several tables, straight from the definitions, slowly and without shoal.

A release is read from its files: one table that has everybody, and tables linked with it. Whoever
has equally many rows as somebody else of the group, in every table, is a candidate for that person.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

Line = dict[str, str]
Near = Callable[[str, str], bool]


def read(path: Path) -> list[Line]:
    """Read a published table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def candidates(tables: list[list[Line]], *, known: bool) -> list[set[str]]:
    """Return the sets of people who cannot be told apart; the first table has everybody."""
    group: dict[str, str] = {}
    for table in tables:
        for line in table:
            assert group.setdefault(line["person"], line["group"]) == line["group"], "two groups"
    everybody = {line["person"] for line in tables[0]}
    assert set(group) == everybody, "somebody is not in the first table"
    counts = [Counter(line["person"] for line in table) for table in tables]
    found: dict[object, set[str]] = {}
    for person in everybody:
        rows = tuple(count[person] for count in counts) if known else None
        found.setdefault((group[person], rows), set()).add(person)
    return list(found.values())


def risk(sets: Iterable[set[str]], table: list[Line], column: str, near: Near) -> Fraction:
    """Return the largest share of candidates who have a value near to one value of theirs."""
    values: dict[str, set[str]] = {}
    for line in table:
        values.setdefault(line["person"], set()).add(line[column])
    worst = Fraction(0)
    for people in sets:
        theirs = [values.get(person, set()) for person in people]
        for v in set().union(*theirs):
            close = sum(any(near(u, v) for u in own) for own in theirs)
            worst = max(worst, Fraction(close, len(people)))
    return worst
