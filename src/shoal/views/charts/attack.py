"""Charts of what an attacker reaches."""

from __future__ import annotations

from typing import Any

from shoal.views.charts.base import BLUE, PALETTE, draw
from shoal.views.charts.contours import contour

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)  # shares in breach that a line is drawn for


def vulnerability_chart(grid: list[dict[str, float]]) -> str:
    """Draw the share of groups or people in breach, shaded, with lines of equal share.

    A grid with one epsilon, as labels have it, becomes a curve over delta.
    """
    epsilons, deltas, shares = _grid(grid)
    if min(len(epsilons), len(deltas)) == 1:
        return _curve(grid, "epsilon" if len(deltas) == 1 else "delta")
    lines, names = [], []
    for level in LEVELS:
        lines += _contour(grid, level, f"{level:.0%}")
    for level in LEVELS:
        longest = max((one for one in _by_line(lines, f"{level:.0%}")), key=len, default=[])
        names += longest[len(longest) // 2 : len(longest) // 2 + 1]
    cells = [
        {
            "delta": deltas[j],
            "delta2": deltas[j + 1],
            "epsilon": epsilons[i],
            "epsilon2": epsilons[i + 1],
            "share": (shares[i][j] + shares[i + 1][j] + shares[i][j + 1] + shares[i + 1][j + 1])
            / 4,
        }
        for i in range(len(epsilons) - 1)
        for j in range(len(deltas) - 1)
    ]
    labels = [f"{level:.0%}" for level in LEVELS]
    colour = {
        "field": "name",
        "type": "nominal",
        "title": "in breach",
        "sort": labels,
        "scale": {"domain": labels, "range": PALETTE[: len(labels)]},
        "legend": {"symbolType": "stroke", "symbolStrokeWidth": 3},
    }
    return draw(
        {
            "encoding": _axes(epsilons, deltas),
            "layer": [
                {
                    "data": {"values": cells},
                    "mark": {"type": "rect", "color": BLUE, "stroke": None},
                    "encoding": {
                        "x2": {"field": "delta2"},
                        "y2": {"field": "epsilon2"},
                        "opacity": {
                            "field": "share",
                            "type": "quantitative",
                            "scale": {"domain": [0, 1], "range": [0, 0.45]},
                            "legend": None,
                        },
                    },
                },
                {
                    "data": {"values": lines},
                    "mark": {"type": "line", "strokeWidth": 2.5},
                    "encoding": {
                        "color": colour,
                        "detail": {"field": "line"},
                        "order": {"field": "place"},
                    },
                },
                {
                    "data": {"values": names},
                    "mark": {
                        "type": "text",
                        "dx": 16,
                        "dy": -8,
                        "fontSize": 12,
                        "fontWeight": "bold",
                    },
                    "encoding": {"color": colour, "text": {"field": "name"}},
                },
            ],
        },
        height=300,
    )


def shared_contour_chart(grids: dict[str, list[dict[str, float]]], level: float) -> str:
    """Draw for several releases the line along which one share is in breach."""
    lines, names = [], []
    for release, grid in grids.items():
        found = _contour(grid, level, release)
        lines += found
        longest = max(_by_line(found, release), key=len, default=[])
        names += longest[:1]
    epsilons, deltas, _ = _grid(next(iter(grids.values())))
    releases = list(grids)
    colour = {
        "field": "name",
        "type": "nominal",
        "title": f"{level:.0%} in breach",
        "sort": releases,
        "scale": {
            "domain": releases,
            "range": [PALETTE[place % len(PALETTE)] for place in range(len(releases))],
        },
        "legend": {"symbolType": "stroke", "symbolStrokeWidth": 3, "columns": 3},
    }
    dash = {"field": "name", "type": "nominal", "sort": releases, "legend": None}
    return draw(
        {
            "encoding": _axes(epsilons, deltas),
            "layer": [
                {
                    "data": {"values": lines},
                    "mark": {"type": "line", "strokeWidth": 2.5},
                    "encoding": {
                        "color": colour,
                        "strokeDash": dash,
                        "detail": {"field": "line"},
                        "order": {"field": "place"},
                    },
                },
                {
                    "data": {"values": names},
                    "mark": {"type": "text", "align": "left", "dx": 5, "dy": -5},
                    "encoding": {"color": colour, "text": {"field": "name"}},
                },
            ],
        },
        height=300,
    )


def _axes(epsilons: list[float], deltas: list[float]) -> dict[str, Any]:
    """Return the axes of a vulnerability chart: delta to the right, epsilon upward."""
    return {
        "x": {
            "field": "delta",
            "type": "quantitative",
            "title": "delta: share of the others that must not be near",
            "scale": {"domain": [deltas[0], deltas[-1]], "nice": False},
        },
        "y": {
            "field": "epsilon",
            "type": "quantitative",
            "title": "epsilon: what counts as near",
            "scale": {"domain": [epsilons[0], epsilons[-1]], "nice": False},
        },
    }


def _grid(grid: list[dict[str, float]]) -> tuple[list[float], list[float], list[list[float]]]:
    """Return the ε, the δ, and the share of groups or people in breach at each pair."""
    epsilons = sorted({one["epsilon"] for one in grid})
    deltas = sorted({one["delta"] for one in grid})
    share = {(one["epsilon"], one["delta"]): one["share"] for one in grid}
    return epsilons, deltas, [[share[epsilon, delta] for delta in deltas] for epsilon in epsilons]


def _contour(grid: list[dict[str, float]], level: float, name: str) -> list[dict[str, Any]]:
    """Return the points of the lines of one share, under a name."""
    epsilons, deltas, shares = _grid(grid)
    return [
        {"line": f"{name} {line}", "place": place, "name": name, "epsilon": y, "delta": x}
        for line, points in enumerate(contour(epsilons, deltas, shares, level))
        for place, (y, x) in enumerate(points)
    ]


def _by_line(points: list[dict[str, Any]], name: str) -> list[list[dict[str, Any]]]:
    """Return the points of each line of a name."""
    lines: dict[str, list[dict[str, Any]]] = {}
    for point in points:
        if point["name"] == name:
            lines.setdefault(point["line"], []).append(point)
    return list(lines.values())


def _curve(grid: list[dict[str, float]], along: str) -> str:
    """Draw the share of groups or people in breach over the one parameter that varies."""
    return draw(
        {
            "data": {"values": grid},
            "mark": {"type": "line", "color": BLUE, "point": {"color": BLUE}},
            "encoding": {
                "x": {
                    "field": along,
                    "type": "quantitative",
                    "title": along,
                    "scale": {"zero": False},
                },
                "y": {
                    "field": "share",
                    "type": "quantitative",
                    "title": "in breach",
                    "axis": {"format": "~%"},
                    "scale": {"domain": [0, 1]},
                },
            },
        }
    )
