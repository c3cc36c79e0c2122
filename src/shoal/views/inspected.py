"""What an inspection prints: a column after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.text import Text

from shoal.views.terminal import plain

if TYPE_CHECKING:
    from rich.console import Console

    from shoal.views.commands import Command
from shoal.views.console import terminal_console

INDENT = 4


LONGEST = 32  # characters of a name or a label


KIN = 12  # pairs of columns that are told


ROLES = ("person", "identifying", "quasi", "sensitive")


def print_inspection(facts: dict[str, Any], following: Command) -> None:
    """Print what a table is, column by column, then what is suggested."""
    console = terminal_console()
    console.print(f"{facts['rows']:,} rows, {len(facts['columns']):,} columns\n", style="bold")
    for column in facts["columns"]:
        _print_column(console, column)
    _print_kinship(console, facts["kinship"])
    _print_suggestion(console, facts, following)


def _print_column(console: Console, column: dict[str, Any]) -> None:
    role = column["role"] or "leave out"
    head = Text(_short_cell(column["name"]), style="bold")
    head.append(f"  {column['type'] or 'unusable'}", style="not bold")
    head.append(f", {_values(column)}", style="not bold")
    room = console.width - len(role) - 2
    head.truncate(room, overflow="ellipsis", pad=True)
    head.append(f"  {role}", style="bold" if column["role"] else "dim")
    console.print(head)
    kind = column["type"] or "unusable"
    reasons = f"{kind}: {column['reason']}; {role}: {column['why']}"
    _print_indented(console, reasons, "dim")
    for one in column["suspicions"]:
        _print_indented(console, f"! {one['text']}", "yellow")


def _print_indented(console: Console, text: str, style: str) -> None:
    console.print(Padding(Text(plain(text), style=style), (0, 0, 0, INDENT), expand=False))


def _values(column: dict[str, Any]) -> str:
    """Say how many values there are, and which, as far as they may be shown."""
    count = column["distinct"]
    said = "1 value" if count == 1 else f"{count:,} values"
    shown = column["values"]
    if "low" in shown:
        said += f" from {_short_cell(shown['low'])} to {_short_cell(shown['high'])}"
    elif "pattern" in shown:
        said += f" like {plain(shown['pattern'])}"
    elif "most_frequent" in shown:
        labels = [_short_cell(label) for label, _ in shown["most_frequent"]]
        said += f": {', '.join(labels)}" + (", …" if count > len(labels) else "")
    if column["missing"]:
        said += f"; {column['missing']:,} missing"
    return said


def _short_cell(text: str) -> str:
    shown = plain(" ".join(text.split()))
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"


def _print_kinship(console: Console, kinship: list[dict[str, str]]) -> None:
    if not kinship:
        return
    console.print("\nColumns that tell one another", style="bold")
    for one in kinship[:KIN]:
        console.print(plain(one["text"]))
    if len(kinship) > KIN:
        console.print(f"… and {len(kinship) - KIN:,} more pairs (JSON lists all)")


def _print_suggestion(console: Console, facts: dict[str, Any], following: Command) -> None:
    console.print("\nSuggested", style="bold")
    for role in ROLES:
        names = [column["name"] for column in facts["columns"] if column["role"] == role]
        if names or role != "person":
            console.print(f"{role}: {', '.join(map(plain, names)) or 'none'}")
    if facts["unique"] is not None:
        share = facts["unique"]
        shown = "Over 99.9%" if 0.999 < share < 1 else f"{share:.1%}"
        console.print(
            f"{shown} of the rows are unique in the quasi columns: whoever knows "
            "these finds the person."
        )
    console.print("Roles are a guess from names and values; you know better. Next:")
    console.print(Text(following.line), soft_wrap=True)
