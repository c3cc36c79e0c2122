"""What nodes of hierarchies and intervals of dates cover and lose, by their definitions.

A hierarchy is a list of paths, each from a label up to the root.
"""

import datetime as dt
import json
from collections.abc import Sequence
from fractions import Fraction

Paths = Sequence[Sequence[str]]


def leaves(paths: Paths, node: str) -> set[str]:
    """Return the labels under a node."""
    return {path[0] for path in paths if node in path}


def node_ncp(paths: Paths, node: str) -> Fraction:
    """Return (labels under the node - 1) / (labels - 1), 0 for a hierarchy of one label."""
    whole = len({path[0] for path in paths}) - 1
    return Fraction(len(leaves(paths, node)) - 1, whole) if whole else Fraction(0)


def lowest_ncp(paths: Paths, labels: set[str]) -> Fraction:
    """Return the least NCP of any node that covers the labels."""
    nodes = {node for path in paths for node in path}
    return min(node_ncp(paths, node) for node in nodes if labels <= leaves(paths, node))


def date_ends(cell: str) -> tuple[dt.datetime, dt.datetime]:
    """Return the ends of a published date cell: a JSON array of two dates, or a bare date."""
    low, high = json.loads(cell) if cell.startswith("[") else (cell, cell)
    return moment(low), moment(high)


def moment(text: str) -> dt.datetime:
    """Return a date or timestamp as a moment in UTC."""
    found = dt.datetime.fromisoformat(text)
    if found.tzinfo is not None:
        found = found.astimezone(dt.UTC).replace(tzinfo=None)
    return found


def date_ncp(cell: str, every: Sequence[str]) -> Fraction:
    """Return the length of a date cell over that of the whole column, 0 where all are equal."""
    low, high = date_ends(cell)
    least, most = min(map(moment, every)), max(map(moment, every))
    if least == most:
        return Fraction(0)
    tick = dt.timedelta(microseconds=1)
    return Fraction((high - low) // tick, (most - least) // tick)


def rule_covers(rule: str, node: str, value: str, *, text: bool = False) -> bool:
    """Say whether a published node of a hierarchy built by a rule covers a value.

    Numbers are compared as numbers, dates (ISO, days) and what is `text` as texts.
    """
    if node in {"*", value}:
        return True
    if rule == "Prefix()":
        code = node.rstrip("*")
        return code != node and value.startswith(code) and len(code) <= len(value) <= len(node)
    if rule == "Calendar()":
        quarter = f"{value[:4]}-Q{(int(value[5:7]) + 2) // 3}"
        return node in {value[:10], value[:7], quarter, value[:4]}
    if rule.startswith("Bins"):
        if not node.startswith("["):
            return Fraction(node) == Fraction(value)
        low, high = node[1:-1].split(", ")
        return Fraction(low) <= Fraction(value) < Fraction(high)
    ends = node.split("..")
    if len(ends) < 2:
        return False
    size = str if text else Fraction
    return size(ends[0]) <= size(value) <= size(ends[1])  # type: ignore[operator]
