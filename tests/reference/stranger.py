"""What a stranger learns about one person, straight from the published CSV files, in rationals."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def lines_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def covers(line: Mapping[str, str], name: str, value: Any, nodes: Mapping[str, Any]) -> bool:
    """Return whether the published cells of a line cover a value; None is a missing one."""
    if f"{name}_low" in line:
        low, high = line[f"{name}_low"], line[f"{name}_high"]
        gap = line.get(f"{name}_missing") == "1"
        if value is None:
            return gap
        return low != "" and Fraction(low) <= Fraction(str(value)) <= Fraction(high)
    cell = line[name]
    if name in nodes:
        return str(value) in nodes[name].get(cell, {cell})
    if cell == "":
        return value is None
    if not cell.startswith("["):
        return value is not None and same(cell, value)
    inside = json.loads(cell)
    if all(isinstance(one, str) for one in inside):
        return ("" if value is None else str(value)) in inside
    if value is None:
        return None in inside
    known = [Fraction(str(one)) for one in inside if one is not None]
    return known[0] <= Fraction(str(value)) <= known[-1]


def same(cell: str, value: Any) -> bool:
    try:
        return Fraction(cell) == Fraction(str(value))
    except ValueError:
        return cell == str(value)


def candidates(
    directory: Path,
    own: Sequence[Mapping[str, Any]],
    quasi: Sequence[str],
    nodes: Mapping[str, Any],
    *,
    several: bool,
    known: bool = True,
) -> tuple[int, list[tuple[Fraction, list[dict[str, str]]]]]:
    """Return how many lines fit, and every candidate: a weight and published rows."""
    if (directory / "people.csv").exists():
        return looked_up(directory, own, quasi, nodes, several=several, known=known)
    members = defaultdict(list)
    for place, line in enumerate(lines_of(directory / "release.csv")):
        members[line["person"] if several else str(place)].append(line)

    def times(line: Mapping[str, str]) -> int:
        return sum(all(covers(line, name, one[name], nodes) for name in quasi) for one in own)

    fitting = [rows for rows in members.values() if times(rows[0]) >= (len(rows) if known else 1)]
    if several and known:
        most = max(map(len, fitting), default=0)
        fitting = [rows for rows in fitting if len(rows) == most]
    sizes: dict[str, int] = defaultdict(int)
    for rows in members.values():
        sizes[rows[0].get("group", "")] += 1
    weighed = [
        (Fraction(int(rows[0].get("real", 1)), sizes[rows[0].get("group", "")]), rows)
        if "real" in rows[0]
        else (Fraction(1), rows)
        for rows in fitting
    ]
    return sum(map(len, fitting)), weighed


def looked_up(
    directory: Path,
    own: Sequence[Mapping[str, Any]],
    quasi: Sequence[str],
    nodes: Mapping[str, Any],
    *,
    several: bool,
    known: bool,
) -> tuple[int, list[tuple[Fraction, list[dict[str, str]]]]]:
    """Look a person up in `people.csv`: each line that fits counts alike, and so in its group."""
    fitting: dict[str, int] = defaultdict(int)
    for line in lines_of(directory / "people.csv"):
        if all(covers(line, name, own[0][name], nodes) for name in quasi):
            fitting[line["group"]] += 1
    members = defaultdict(list)
    for place, line in enumerate(lines_of(directory / "values.csv")):
        if line["group"] in fitting:
            members[line["person"] if several else str(place)].append(line)
    found = list(members.values())
    if several and known:
        found = [rows for rows in found if len(rows) <= len(own)]
        most = max(map(len, found), default=0)
        found = [rows for rows in found if len(rows) == most]
    sizes: dict[str, int] = defaultdict(int)
    for rows in found:
        sizes[rows[0]["group"]] += 1
    return sum(fitting.values()), [
        (Fraction(fitting[rows[0]["group"]], sizes[rows[0]["group"]]), rows) for rows in found
    ]


def chance(
    found: Sequence[tuple[Fraction, list[dict[str, str]]]], column: str, width: Fraction, guess: Any
) -> Fraction:
    """Return the share of candidates with a value within a width of a guess; missing is near."""
    return Fraction(
        sum(
            weight
            for weight, rows in found
            if any(
                row[column] == ""
                or (
                    abs(Fraction(row[column]) - guess) <= width
                    if isinstance(guess, Fraction)
                    else row[column] == guess
                )
                for row in rows
            )
        )
    ) / sum(weight for weight, _ in found)


def best(
    found: Sequence[tuple[Fraction, list[dict[str, str]]]], column: str, width: Fraction
) -> tuple[Fraction, Fraction]:
    """Return the chance of the best listed value, and that of the best number of all.

    A window of twice the width can be moved up until it begins at a value, so guesses that lie a
    width above a value are enough.
    """
    values = {Fraction(row[column]) for _, rows in found for row in rows if row[column]}
    if not values:
        return Fraction(1), Fraction(1)
    return (
        max(chance(found, column, width, value) for value in values),
        max(chance(found, column, width, value + width) for value in values),
    )


def shares(
    found: Sequence[tuple[Fraction, list[dict[str, str]]]], column: str
) -> dict[str, Fraction]:
    """Return the share of candidates who have each value."""
    total = sum(weight for weight, _ in found)
    counted: dict[str, Fraction] = defaultdict(Fraction)
    for weight, rows in found:
        for value in {row[column] for row in rows}:
            counted[value] += weight / total
    return dict(counted)
