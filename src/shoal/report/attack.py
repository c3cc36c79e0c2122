"""The terminal view of an attack."""

from __future__ import annotations

from typing import Any

from shoal.report.text import _console, _heading, _number, _table


def print_attack(facts: dict[str, Any]) -> None:
    """Print every attack: its sentence, and its numbers as a table."""
    console = _console()
    for one in facts["vulnerability"]:
        _heading(console, f"Vulnerability of {one['release']}: {one['column']}, {one['distance']}")
        _print_grid(one["grid"], one["shown"])
        console.print(one["sentence"] + "\n")
    for title, key in (
        ("Linking", "linking"),
        ("Learning", "learning"),
        ("Intersection of two releases", "intersection"),
    ):
        if facts[key]:
            _heading(console, title)
        for one in facts[key]:
            console.print(f"- {one['sentence']}")
    for remark in [*facts["remarks"], facts["minimality"]]:
        console.print(remark)


def _print_grid(grid: list[dict[str, float]], shown: list[float]) -> None:
    """Print the share of groups (or people) in breach, a line for each ε."""
    table = _table("epsilon", *(f"delta {delta:g}" for delta in shown))
    for epsilon in sorted({one["epsilon"] for one in grid}):
        shares = {one["delta"]: one["share"] for one in grid if one["epsilon"] == epsilon}
        table.add_row(_number(epsilon), *(f"{shares[delta]:.1%}" for delta in shown))
    _console().print(table)
