"""The terminal view of an attack."""

from __future__ import annotations

from typing import Any

from shoal.report.text import _console, _heading, _number, _table

SHOWN = (0.2, 0.5, 0.8, 0.9)  # the δ that the terminal has room for, as near as the grid has them


def print_attack(facts: dict[str, Any]) -> None:
    """Print every attack: its sentence, and its numbers as a table."""
    console = _console()
    for one in facts["vulnerability"]:
        _heading(console, f"Vulnerability of {one['release']}: {one['column']}, {one['distance']}")
        _print_grid(one["grid"])
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


def _print_grid(grid: list[dict[str, float]]) -> None:
    """Print the share of groups in breach, a line for each ε."""
    deltas = sorted({one["delta"] for one in grid})
    shown = sorted({min((abs(delta - near), delta) for delta in deltas)[1] for near in SHOWN})
    table = _table("epsilon", *(f"delta {delta:g}" for delta in shown))
    for epsilon in sorted({one["epsilon"] for one in grid}):
        shares = {one["delta"]: one["share"] for one in grid if one["epsilon"] == epsilon}
        table.add_row(_number(epsilon), *(f"{shares[delta]:.1%}" for delta in shown))
    _console().print(table)
