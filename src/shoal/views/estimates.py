"""The terminal view of estimates, of its own so that no other command loads it."""

from __future__ import annotations

from typing import Any

from shoal.exact import percent
from shoal.release.manifest import WORDS
from shoal.views.console import heading, table_of, terminal_console
from shoal.views.terminal import plain

BETWEEN = "95% interval"
ERROR = "std. error"
BROKEN = (BETWEEN, ERROR)  # may take two lines where a terminal has no room for one
HEADERS = ("quantity", "estimate", ERROR, BETWEEN, "naive", "missing", "R̂", "status")


def print_estimates(facts: dict[str, Any]) -> None:
    """Print quantities, each with its status, and why: below, where reasons differ."""
    console = terminal_console()
    heading(console, facts["formula"])
    quantities = facts["quantities"]
    reasons = list(dict.fromkeys(one["reason"] for one in quantities))
    if quantities:
        table = table_of(*HEADERS)
        table.collapse_padding = True
        for name, column in zip(HEADERS[1:], table.columns[1:], strict=True):
            column.no_wrap = name not in BROKEN
        table.columns[-1].justify = "left"
        narrow = {ERROR: len("error"), BETWEEN: len("interval")}
        for one in quantities:
            note = f" {reasons.index(one['reason']) + 1}" if len(reasons) > 1 else ""
            error, low, high = (_spelled(one[name]) for name in ("se", "low", "high"))
            narrow[ERROR] = max(narrow[ERROR], len(error))
            narrow[BETWEEN] = max(narrow[BETWEEN], len(low) + 3, len(high))
            table.add_row(
                one["name"],
                _spelled(one["estimate"]),
                error,
                f"{low} to {high}",
                _spelled(one["naive"]),
                percent(one["missing"], 0),
                "–" if one["rhat"] is None else f"{one['rhat']:.2f}",
                one["status"] + note,
            )
        wide = console.options.update(max_width=10 * console.width)
        if console.measure(table, options=wide).maximum > console.width:
            for name, width in narrow.items():
                column = table.columns[HEADERS.index(name)]
                column.width = column.min_width = width
        console.print(table)
    if len(reasons) > 1:
        for number, reason in enumerate(reasons, 1):
            console.print(f"{number} {plain(reason)}")
        console.print(f"All of it together: {WORDS[facts['status']]}, the worst status above.")
    else:
        console.print(f"{WORDS[facts['status']].capitalize()}: {plain(facts['reason'])}")
    if quantities:
        console.print(
            "“naive” pairs people and values of a group at random. “missing” is the share of the "
            "information that is lost because pairings are not published. The chains agree where "
            "R̂ is near 1.",
            style="dim",
        )


def _spelled(number: float | None) -> str:
    return "–" if number is None else f"{number:,.4g}" if abs(number) < 1e4 else f"{number:,.0f}"
