"""A console and its tables, on which no text is taken for orders."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from shoal.views.terminal import plain, plain_lines

if TYPE_CHECKING:
    from rich.text import Text


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
