"""The terminal view of estimates, of its own so that no other command loads it."""

from __future__ import annotations

from typing import Any

from shoal.exact import percent
from shoal.release.manifest import WORDS
from shoal.views.console import heading, table_of, terminal_console
from shoal.views.terminal import plain


def print_estimates(facts: dict[str, Any]) -> None:
    """Print quantities, a line each, and what may be concluded."""
    console = terminal_console()
    heading(console, facts["formula"])
    if facts["quantities"]:
        headers = ("quantity", "estimate", "std. error", "95% interval", "naive", "missing", "R̂")
        table = table_of(*headers)
        for one in facts["quantities"]:
            between = f"{_spelled(one['low'])} to {_spelled(one['high'])}"
            table.add_row(
                one["name"],
                _spelled(one["estimate"]),
                _spelled(one["se"]),
                between,
                _spelled(one["naive"]),
                percent(one["missing"], 0),
                "–" if one["rhat"] is None else f"{one['rhat']:.2f}",
            )
        console.print(table)
    console.print(f"{WORDS[facts['status']].capitalize()}: {plain(facts['reason'])}")
    if facts["quantities"]:
        console.print(
            "“naive” pairs people and values of a group at random. “missing” is the share of the "
            "information that is lost because pairings are not published.",
            style="dim",
        )


def _spelled(number: float | None) -> str:
    return "–" if number is None else f"{number:,.4g}" if abs(number) < 1e4 else f"{number:,.0f}"
