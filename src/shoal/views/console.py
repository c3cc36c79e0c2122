"""The console of a terminal and its tables, and an inspection on it, a column after the other.

Rich draws them. A command that prints JSON does without both.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from shoal.exact import percent, unique_share
from shoal.views.terminal import plain, plain_lines

if TYPE_CHECKING:
    from shoal.views.terminal import Command


class _Terminal(Console):
    """A console on which no text, in a table or not, is taken for orders."""

    def render_str(self, text: str, **how: Any) -> Text:
        return super().render_str(plain_lines(text), **how)


class _Table(Table):
    """A table whose cells stay in their lines."""

    def add_row(self, *cells: Any, **how: Any) -> None:
        super().add_row(*map(plain, cells), **how)


def terminal_console() -> Console:
    """Return the console of this terminal."""
    return _Terminal(file=sys.stdout, highlight=False, markup=False)


def table_of(*columns: str) -> Table:
    """Return a table without lines: its first column at the left, numbers at the right."""
    table = _Table(box=None, pad_edge=False, header_style="dim")
    for place, name in enumerate(columns):
        table.add_column(plain(name), justify="left" if place == 0 else "right", overflow="fold")
    return table


def heading(console: Console, text: str) -> None:
    """Print what comes next."""
    console.print(text, style="bold", markup=False)


def grouped(value: float | None) -> str:
    """Return a number with thousands apart, or six digits; None is any."""
    if value is None:
        return "any"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


INDENT = 4


LONGEST = 32  # characters of a name or a label


KIN = 12  # pairs of columns that are told


ROLES = ("person", "identifying", "quasi", "sensitive")


def print_inspection(facts: dict[str, Any], following: Command) -> None:
    """Print what a table is, column by column, then what is suggested."""
    console = terminal_console()
    console.print(f"{facts['rows']:,} rows, {len(facts['columns']):,} columns\n", style="bold")
    _print_reading(console, facts.get("reading", []))
    for column in facts["columns"]:
        _print_column(console, column)
    _print_kinship(console, facts["kinship"])
    _print_suggestion(console, facts, following)


def _print_reading(console: Console, assumed: list[dict[str, str]]) -> None:
    """Print what was assumed of the file, where it is not read without a word."""
    shown = [one for one in assumed if one["needed"] or not one["sure"]]
    if not shown:
        return
    console.print("How Shoal reads the file", style="bold")
    for one in shown:
        value = one["value"]
        listed = ", ".join(value) if isinstance(value, list) else "?" if value is None else value
        of = f" of {_short_cell(one['column'])}" if one["column"] else ""
        console.print(Text(plain(f"{one['key']}{of}: {listed}"), style="bold"))
        style = "dim" if one["sure"] else "cyan"
        _print_indented(console, one["why"] if one["sure"] else f"? {one['why']}", style)
    console.print()


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
    if column["question"]:
        _print_indented(console, f"? {column['question']}", "cyan")
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
    console.print("\nColumns that determine one another", style="bold")
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
        share = unique_share(facts["unique"])
        console.print(
            f"{share} of the rows are unique in the quasi columns: a reader who knows these "
            "columns finds the person."
        )
    if facts["incomplete"]:
        share = percent(facts["incomplete"] / facts["rows"], 1)
        console.print(
            f"{facts['incomplete']:,} rows ({share}) have missing cells in the quasi columns or in "
            f"{', '.join(map(plain, facts['protect']))}."
            if facts["protect"]
            else f"{facts['incomplete']:,} rows ({share}) have missing cells in the quasi columns."
        )
    questions = sum(1 for column in facts["columns"] if column["question"])
    open_ones = "1 question (?) is" if questions == 1 else f"{questions} questions (?) are"
    asked = f" {open_ones} open." if questions else ""
    console.print(f"Shoal guessed the roles from names and values: check them.{asked} Next:")
    console.print(Text(following.line), soft_wrap=True)
