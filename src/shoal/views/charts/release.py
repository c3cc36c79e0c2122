"""Charts of a release, apart from its owner's: columns, sizes, and what is achievable.

They need no drawing engine: x is in per cent, y in pixels, so words keep their size. Every picture
is one SVG element that says in words what it shows; colours come from the page.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from markupsafe import escape

from shoal.exact import percent
from shoal.views.words import figure

TALL = 40.0  # units of a histogram that fills whatever room it is given


def draw(parts: list[str], *, height: int, says: str, kind: str = "chart") -> str:
    """Return a picture of so many pixels in height, as wide as the page lets it be."""
    inside = "".join(parts)
    label = escape(says)
    return f'<svg class="{kind}" role="img" aria-label="{label}" height="{height}">{inside}</svg>'


def histogram(
    before: list[float], after: list[float] | None, widths: list[float], *, says: str
) -> str:
    """Draw shares as bars of given widths, and others over them as a line of steps."""
    whole = sum(widths)
    heights = [[share / width for share, width in zip(some, widths, strict=True)]
               for some in (before, after or before)]  # fmt: skip
    most = max(map(max, heights)) or 1.0
    bars: list[str] = []
    line: list[str] = []
    left = 0.0
    for place, width in enumerate(widths):
        step = 100 * width / whole
        gap = min(0.5, step / 8)
        tops = [TALL - (TALL - 1) * some[place] / most for some in heights]
        bars.append(f"M{left + gap / 2:.2f} {TALL:g}V{tops[0]:.2f}h{step - gap:.2f}V{TALL:g}z")
        line.append(f"{'M0' if not line else 'V'}{' ' if not line else ''}{tops[1]:.2f}h{step:.2f}")
        left += step
    over = "" if after is None else f'<path class="over" d="{"".join(line)}"/>'
    kind = "hist" if after is None else "hist was"
    return (
        f'<svg class="{kind}" viewBox="0 0 100 {TALL:g}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(says)}"><path class="bars" d="{"".join(bars)}"/>{over}</svg>'
    )


def band_widths(edges: list[float] | None, bands: int) -> list[float]:
    """Return how wide bands are drawn: by their numbers, the open ones as wide as the usual one."""
    if edges is None or len(edges) < 2:
        return [1.0] * bands
    inner = [two - one for one, two in pairwise(edges)]
    usual = sorted(inner)[len(inner) // 2]
    return [1.0, *(width / usual for width in inner), 1.0]


def columns(values: list[tuple[str, float]], *, says: str) -> str:
    """Draw upright bars, named beneath and with the value above as far as there is room."""
    high, foot, head = 190.0, 24.0, 18.0
    most = max(value for _, value in values) or 1.0
    ground = head + high
    wide = 100 / len(values)
    every = max(1, -(-len(values) // 12))
    parts = []
    for place, (name, value) in enumerate(values):
        tall = high * value / most
        left = wide * place + wide * 0.08
        parts.append(
            f'<rect class="bar" x="{left:.2f}%" width="{wide * 0.84:.2f}%" y="{ground - tall:.1f}" '
            f'height="{tall:.1f}"/>'
        )
        if place % every == 0:
            middle = f'x="{wide * (place + 0.5):.2f}%" text-anchor="middle"'
            parts.append(f'<text {middle} y="{ground + 17:g}">{escape(name)}</text>')
            parts.append(f'<text {middle} y="{ground - tall - 5:.1f}">{figure(value)}</text>')
    parts.append(f'<line class="base" x1="0" x2="100%" y1="{ground:g}" y2="{ground:g}"/>')
    return draw(parts, height=int(ground + foot), says=says)


def staircase(points: list[tuple[float, float]], chosen: tuple[float, float], *, says: str) -> str:
    """Draw what can be had under a falling line of steps, and the choice as a dot."""
    high, head, foot = 200.0, 20.0, 26.0
    ground = head + high
    most = max([value for _, value in points] + [chosen[1]]) or 1.0
    first = min(points[0][0], chosen[0])
    last = max(points[-1][0], chosen[0]) + 1
    parts = []
    for share in (0.25, 0.5, 0.75, 1.0):
        y = ground - high * share
        parts.append(f'<line class="grid" x1="0" x2="100%" y1="{y:g}" y2="{y:g}"/>')

    def across(value: float) -> float:
        return 100 * (value - first) / (last - first)

    for place, (begin, value) in enumerate(points):
        end = points[place + 1][0] if place + 1 < len(points) else last
        tall = high * value / most
        parts.append(
            f'<rect class="can" x="{across(begin):.2f}%" width="{across(end) - across(begin):.2f}%"'
            f' y="{ground - tall:.1f}" height="{tall:.1f}"/>'
        )
    for share in (0.5, 1.0):
        y = ground - high * share - 4
        parts.append(f'<text x="100%" y="{y:g}" text-anchor="end">{figure(most * share)}</text>')
    x, y = across(chosen[0] + 0.5), ground - high * min(chosen[1] / most, 1)
    parts.append(f'<circle class="dot" cx="{x:.2f}%" cy="{y:.1f}" r="7"/>')
    side, shift = ("end", -14) if x > 60 else ("start", 14)
    parts.append(
        f'<text class="strong" x="{x:.2f}%" y="{y - 8:.1f}" dx="{shift}" text-anchor="{side}">'
        "asked for</text>"
    )
    step = max(1, round((last - first) / 10))
    parts += [
        f'<text x="{across(value + 0.5):.2f}%" y="{ground + 18:g}" text-anchor="middle">'
        f"{value}</text>"
        for value in range(int(first), int(last), step)
    ]
    parts.append(f'<line class="base" x1="0" x2="100%" y1="{ground:g}" y2="{ground:g}"/>')
    return draw(parts, height=int(ground + foot), says=says)


LIGHT, DARK = (0xD3, 0xE9, 0xEC), (0x0A, 0x4A, 0x57)  # little lost, much lost


def shade(share: float) -> str:
    """Return the colour for a share of the most that was lost."""
    return "#" + "".join(
        f"{round(one + (two - one) * share):02x}" for one, two in zip(LIGHT, DARK, strict=True)
    )


def squares(found: dict[str, Any], *, says: str) -> str:
    """Draw squares of a grid: large ones have many rows, dark ones lost much."""
    across, along = _squares(found["x"]), _squares(found["y"])
    high = 18.0 * along
    most = max(square["rows"] for square in found["squares"])
    worst = max(square["loss"] for square in found["squares"]) or 1.0
    parts = []
    for square in found["squares"]:
        size = max(0.18, (square["rows"] / most) ** 0.5)
        wide, tall = 100 / across * size * 0.96, high / along * size * 0.94
        x = 100 / across * (square["x"] + 0.5) - wide / 2
        y = high - high / along * (square["y"] + 0.5) - tall / 2
        parts.append(
            f'<rect x="{x:.2f}%" y="{y:.1f}" width="{wide:.2f}%" height="{tall:.1f}" rx="2" '
            f'fill="{shade(square["loss"] / worst)}"/>'
        )
    return draw(parts, height=int(high) + 2, says=says)


def _squares(axis: dict[str, Any]) -> int:
    return len(axis["names"]) - axis["edges"]


TOP = 40  # sizes from which on groups share a bar


def size_chart(sizes: list[dict[str, int]]) -> str:
    """Draw how many descriptions are shared by how many."""
    values = [(f"{one['size']}", float(one["groups"])) for one in sizes if one["size"] < TOP]
    rest = sum(one["groups"] for one in sizes if one["size"] >= TOP)
    if rest:
        values.append((f"{TOP}+", float(rest)))
    told = ", ".join(f"{value:,.0f} shared by {name}" for name, value in values[:6])
    return columns(values, says=told)


def column_chart(found: dict[str, Any]) -> str:
    """Draw a column before (bars) and after (a line)."""
    widths = band_widths(found["edges"], len(found["names"]))
    says = f"{found['column']} before and after: {percent(found['apart'])} of the rows move."
    return histogram(found["before"], found["after"], widths, says=says)


def values_chart(found: dict[str, Any]) -> str:
    """Draw how the values of a column that is published as it was are distributed."""
    widths = band_widths(found["edges"], len(found["shares"]))
    return histogram(found["shares"], None, widths, says=f"How {found['column']} is spread.")


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
