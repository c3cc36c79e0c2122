"""Several releases of one table, straight from the definitions; nothing here imports Shoal.

A coarser release nests when its groups are unions of the finer one's: all ways to give every finer
group to a coarser one are tried, until one has equal rows and, in every column, the cell that
covers the cells of its groups and nothing more.

What a reader learns from a series is found by going through all assignments of values to people:
those that would have led to the same published files are equally likely.
"""

import csv
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

Row = dict[str, str]


def read(directory: Path) -> tuple[dict[str, Any], dict[str, list[Row]]]:
    """Return the manifest of a release and its rows by group."""
    manifest = json.loads((directory / "manifest.json").read_text("utf-8"))
    groups: dict[str, list[Row]] = {}
    with (directory / "release.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            groups.setdefault(row["group"], []).append(row)
    return manifest, groups


def nests(finer: Path, coarser: Path) -> bool:
    """Return whether a coarser release can be made by joining groups of a finer one."""
    manifest, small = read(finer)
    _, large = read(coarser)
    columns = manifest["columns"]
    plain = [c["name"] for c in columns if c["role"] != "quasi"]

    def carried(rows: list[Row]) -> Counter[tuple[str, ...]]:
        return Counter(tuple(row[name] for name in plain) for row in rows)

    left = {name: carried(rows) for name, rows in large.items()}
    chosen: dict[str, list[list[Row]]] = {name: [] for name in large}
    order = list(small.values())

    def place(at: int) -> bool:
        if at == len(order):
            return not any(left.values()) and all(
                _covers_exactly(columns, chosen[name], rows[0]) for name, rows in large.items()
            )
        values = carried(order[at])
        for name in large:
            if values <= left[name]:
                left[name] = left[name] - values
                chosen[name].append(order[at])
                if place(at + 1):
                    return True
                chosen[name].pop()
                left[name] = left[name] + values
        return False

    return place(0)


def _covers_exactly(columns: list[dict[str, Any]], parts: list[list[Row]], whole: Row) -> bool:
    if not parts:
        return False
    for column in columns:
        if column["role"] != "quasi":
            continue
        cells = [rows[0][column["name"]] for rows in parts]
        if _together(cells, column) != _meaning(whole[column["name"]], column):
            return False
    return True


def _meaning(cell: str, column: dict[str, Any]) -> Any:
    """Return what a cell covers, so that equal meanings are equal."""
    if column["kind"] == "node":
        return cell
    if column["kind"] == "set":
        return frozenset(json.loads(cell) if cell.startswith("[") else [cell])
    ends = json.loads(cell) if cell.startswith("[") else [cell, cell]
    return tuple(end if column.get("type") == "date" else Fraction(str(end)) for end in ends)


def _together(cells: list[str], column: dict[str, Any]) -> Any:
    """Return what covers some cells and nothing more."""
    meanings = [_meaning(cell, column) for cell in cells]
    if column["kind"] == "set":
        return frozenset().union(*meanings)
    if column["kind"] == "interval":
        return min(low for low, _ in meanings), max(high for _, high in meanings)
    parents = {node["name"]: node["parent"] for node in column["domain"]["nodes"]}

    def above(node: str | None) -> Iterator[str]:
        while node is not None:
            yield node
            node = parents[node]

    shared = set.intersection(*(set(above(node)) for node in meanings))
    return next(node for node in above(meanings[0]) if node in shared)


def worst_posterior(
    members: Sequence[str],
    values: dict[str, int],
    rounds: Sequence[tuple[set[str], list[int]]],
    epsilon: int,
) -> Fraction:
    """Return how sure a reader can be of a value of somebody in a group, to within epsilon.

    The reader knows who was in the group when it was born, who was there in each round, and the
    rows that were published of it. Every assignment of the values to the members that agrees with
    all rounds is equally likely. Rows are those of all members where there are as many, and of
    those who were there where there are so many.
    """
    born = [values[one] for one in members]
    agreeing = []
    for some in set(permutations(born)):
        has = dict(zip(members, some, strict=True))
        if all(
            sorted(rows) == sorted(has[one] for one in _meant(members, here, rows))
            for here, rows in rounds
        ):
            agreeing.append(has)
    return max(
        Fraction(sum(abs(has[one] - value) <= epsilon for has in agreeing), len(agreeing))
        for one in members
        for value in set(born)
    )


def _meant(members: Sequence[str], here: set[str], rows: list[int]) -> list[str]:
    return list(members) if len(rows) == len(members) else [one for one in members if one in here]
