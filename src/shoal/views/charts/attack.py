"""Charts of what an attacker reaches.

Lines of equal height over a grid come from marching squares with linear interpolation. Each cell of
the grid is cut where its edges cross the height; pieces that meet on an edge are joined into lines.
A value at the height counts as above it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.exact import percent
from shoal.views.pages import BLUE, ORANGE, PALETTE, draw

if TYPE_CHECKING:
    from collections.abc import Sequence


Point = tuple[float, float]
Edge = tuple[int, int, int, int]  # from the grid point (i, j) to the grid point (k, l)


def contour(
    xs: Sequence[float], ys: Sequence[float], heights: Sequence[Sequence[float]], level: float
) -> list[list[Point]]:
    """Return the lines along which the heights, heights[i][j] at xs[i], ys[j], cross a level.

    Examples
    --------
    >>> [sorted(line) for line in contour([0, 1], [0, 1], [[0, 0], [1, 1]], 0.5)]
    [[(0.5, 0.0), (0.5, 1.0)]]
    """
    pieces: dict[Edge, list[Edge]] = {}
    for i in range(len(xs) - 1):
        for j in range(len(ys) - 1):
            for one, other in _crossings(i, j, heights, level):
                pieces.setdefault(one, []).append(other)
                pieces.setdefault(other, []).append(one)
    ends = [edge for edge, others in pieces.items() if len(others) == 1]
    lines = (_follow(start, pieces) for start in [*ends, *pieces] if pieces[start])
    return [[_place(edge, xs, ys, heights, level) for edge in line] for line in lines]


def _crossings(
    i: int, j: int, heights: Sequence[Sequence[float]], level: float
) -> list[tuple[Edge, Edge]]:
    """Return the pieces that cross one cell, as pairs of its edges.

    Where opposite corners are above and the others are not, the mean says which of them join.
    """
    corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
    above = [heights[a][b] >= level for a, b in corners]
    edges = [
        _edge(corners[side], corners[(side + 1) % 4])
        for side in range(4)
        if above[side] != above[(side + 1) % 4]
    ]
    if len(edges) < 4:
        return [(edges[0], edges[1])] if edges else []
    joined = sum(heights[a][b] for a, b in corners) / 4 >= level
    first = 0 if joined == above[0] else 1  # the corners that stay apart are cut off, one by one
    return [(edges[first], edges[first + 1]), (edges[first + 2], edges[(first + 3) % 4])]


def _edge(one: tuple[int, int], other: tuple[int, int]) -> Edge:
    return (*min(one, other), *max(one, other))


def _place(
    edge: Edge,
    xs: Sequence[float],
    ys: Sequence[float],
    heights: Sequence[Sequence[float]],
    level: float,
) -> Point:
    """Return where the level lies on an edge."""
    i, j, k, l = edge
    low, high = heights[i][j], heights[k][l]
    share = (level - low) / (high - low)
    return xs[i] + share * (xs[k] - xs[i]), ys[j] + share * (ys[l] - ys[j])


def _follow(start: Edge, pieces: dict[Edge, list[Edge]]) -> list[Edge]:
    """Take pieces away one after the other, from edge to edge, as far as they go."""
    line = [start]
    while pieces[line[-1]]:
        following = pieces[line[-1]].pop()
        pieces[following].remove(line[-1])
        line.append(following)
    return line


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
        lines += _contour(grid, level, percent(level, 0))
    for level in LEVELS:
        longest = max((one for one in _by_line(lines, percent(level, 0))), key=len, default=[])
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
    labels = [percent(level, 0) for level in LEVELS]
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
        "title": f"{percent(level, 0)} in breach",
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


def controlled_chart(entries: list[dict[str, Any]]) -> str:
    """Draw how often each attack succeeds on members and on controls, with their intervals."""
    names = {"members": "people in the table", "controls": "people who are not in it"}
    points = [
        one[side] | {"attack": one["title"], "who": name}
        for one in entries
        for side, name in names.items()
        if one[side] is not None
    ]
    x = {"type": "quantitative", "title": "success, and its 95% interval", "axis": {"format": "~%"}}
    titles = list(dict.fromkeys(one["title"] for one in entries))
    return draw(
        {
            "data": {"values": points},
            "encoding": {
                "y": {
                    "field": "attack",
                    "type": "nominal",
                    "title": None,
                    "sort": titles,
                    "axis": {"labelLimit": 200},
                },
                "yOffset": {"field": "who", "type": "nominal", "sort": list(names.values())},
                "color": {
                    "field": "who",
                    "type": "nominal",
                    "title": None,
                    "sort": list(names.values()),
                    "scale": {"domain": list(names.values()), "range": [ORANGE, BLUE]},
                },
            },
            "layer": [
                {
                    "mark": {"type": "rule", "strokeWidth": 2.5},
                    "encoding": {"x": x | {"field": "low"}, "x2": {"field": "high"}},
                },
                {
                    "mark": {"type": "point", "filled": True, "size": 70},
                    "encoding": {"x": x | {"field": "share"}},
                },
            ],
        },
        height=60 * max(len(titles), 2),
    )


def _axes(epsilons: list[float], deltas: list[float]) -> dict[str, Any]:
    """Return the axes of a vulnerability chart: delta to the right, epsilon upward."""
    return {
        "x": {
            "field": "delta",
            "type": "quantitative",
            "title": "delta: share of the other rows that must not be near",
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
