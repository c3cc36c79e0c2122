"""Charts of a release, apart from its owner's: columns, sizes, and what is achievable."""

from __future__ import annotations

from typing import Any

from shoal.views.charts.drawing import band_widths, columns, histogram, squares, staircase

TOP = 40  # sizes from which on groups share a bar


def size_chart(sizes: list[dict[str, int]], *, grouped: bool = True) -> str:
    """Draw how many groups there are of each size, or people of each number of matches."""
    what, whom = ("rows", "groups") if grouped else ("matching rows", "people")
    values = [(f"{one['size']}", float(one["groups"])) for one in sizes if one["size"] < TOP]
    rest = sum(one["groups"] for one in sizes if one["size"] >= TOP)
    if rest:
        values.append((f"{TOP}+", float(rest)))
    told = ", ".join(f"{value:,.0f} {whom} of {name} {what}" for name, value in values[:6])
    return columns(values, says=told)


def column_chart(found: dict[str, Any]) -> str:
    """Draw a column before (bars) and after (a line)."""
    widths = band_widths(found["edges"], len(found["names"]))
    says = f"{found['column']} before and after: {100 * found['apart']:.3g} % of the rows move."
    return histogram(found["before"], found["after"], widths, says=says)


def values_chart(found: dict[str, Any]) -> str:
    """Draw how the values of a column that is published as it was are distributed."""
    widths = band_widths(found["edges"], len(found["names"]))
    return histogram(found["before"], None, widths, says=f"How {found['column']} is spread.")


def frontier_chart(frontier: dict[str, Any]) -> str:
    """Draw what is achievable, m against the width that must not be reached, and the choice."""
    points = [(p["m"], p["bound"]) for p in frontier["points"] if p["bound"] > 0]
    chosen = frontier["chosen"]
    says = f"What is achievable for {frontier['column']}: the width must stay under the steps."
    asked = (chosen["m"], chosen["width"])
    return staircase(points or [asked], asked, says=says)


def reach_chart(reach: dict[str, Any]) -> str:
    """Draw the largest delta that is certain to be achievable, by k."""
    values = [(f"{p['k']}", p["delta"]) for p in reach["points"]]
    says = "The largest delta that is certain to be achievable, by the least size of a group."
    return columns(values, says=says)


def map_chart(found: dict[str, Any]) -> str:
    """Draw group boxes gathered on a grid."""
    return squares(
        found, says=f"Map of the loss over {found['x']['name']} and {found['y']['name']}."
    )
