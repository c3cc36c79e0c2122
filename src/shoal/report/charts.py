"""Charts as inline SVG: Vega-Lite specifications drawn without a browser or a network."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.report.compared import Measure

from shoal.report.contours import contour

BLUE, ORANGE = "#0072B2", "#D55E00"  # Okabe and Ito: told apart by colour-blind readers
GREY = "#808080"  # readable on white and on black
PALETTE = ["#56B4E9", "#009E73", "#E69F00", "#D55E00", "#CC79A7", "#0072B2"]  # the same source
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)  # shares of groups in breach that a line is drawn for
CONFIG = {
    "background": None,
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": GREY,
        "titleColor": GREY,
        "gridColor": "#80808033",
        "domainColor": GREY,
        "tickColor": GREY,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
    "legend": {"labelColor": GREY, "titleColor": GREY, "labelFontSize": 12, "orient": "top"},
}


def warm_up() -> None:
    """Start the drawing engine in the background: its first picture takes most of a second."""
    Thread(target=draw, args=({"data": {"values": []}, "mark": "bar"},), daemon=True).start()


def draw(spec: dict[str, Any], *, height: int = 220) -> str:
    """Return a specification as SVG text; a facet's parts have sizes of their own."""
    import vl_convert

    size = {} if "facet" in spec else {"width": 560, "height": height}
    whole = size | {"config": CONFIG} | spec
    svg = vl_convert.vegalite_to_svg(whole)
    return svg.replace("<svg ", '<svg role="img" ', 1)


def loss_chart(ncp: dict[str, float]) -> str:
    """Draw the loss of each quasi column."""
    values = [{"column": name, "loss": value} for name, value in ncp.items()]
    base = {
        "y": {"field": "column", "type": "nominal", "title": None, "sort": None},
        "x": {
            "field": "loss",
            "type": "quantitative",
            "title": "share of the column's range that a cell covers (NCP)",
            "axis": {"format": "~%", "tickCount": 6},
        },
    }
    return draw(
        {
            "data": {"values": values},
            "encoding": base,
            "layer": [
                {"mark": {"type": "bar", "color": BLUE, "height": {"band": 0.7}}},
                {
                    "mark": {"type": "text", "align": "left", "dx": 4, "color": GREY},
                    "encoding": {"text": {"field": "loss", "format": ".2%"}},
                },
            ],
        },
        height=max(48, 28 * len(values)),
    )


def size_chart(sizes: list[dict[str, int]], *, grouped: bool = True) -> str:
    """Draw how many groups there are of each size, or people of each number of matches.

    The largest share a bar.
    """
    what, whom = ("rows in the group", "groups") if grouped else ("matching rows", "people")
    top = 40
    values = [entry for entry in sizes if entry["size"] < top]
    rest = sum(entry["groups"] for entry in sizes if entry["size"] >= top)
    marks = [{"size": str(v["size"]), "groups": v["groups"]} for v in values]
    if rest:
        marks.append({"size": f"{top}+", "groups": rest})
    return draw(
        {
            "data": {"values": marks},
            "mark": {"type": "bar", "color": BLUE},
            "encoding": {
                "x": {
                    "field": "size",
                    "type": "ordinal",
                    "sort": None,
                    "title": what,
                    "axis": {"labelAngle": 0, "labelOverlap": True},
                },
                "y": {"field": "groups", "type": "quantitative", "title": whom},
            },
        }
    )


def risk_chart(risks: list[dict[str, Any]], bound: float) -> str:
    """Draw the share of rows by risk, before and after, and the bound that was asked for."""
    return draw(
        {
            "layer": [
                {
                    "data": {"values": risks},
                    "mark": "bar",
                    "encoding": {
                        "x": {
                            "field": "risk",
                            "type": "ordinal",
                            "title": "risk of the row's group, up to",
                            "axis": {"format": "~%", "labelAngle": 0},
                        },
                        "xOffset": {"field": "when", "sort": ["before", "after"]},
                        "y": {
                            "field": "share",
                            "type": "quantitative",
                            "title": "share of the rows",
                            "axis": {"format": "~%"},
                        },
                        "color": {
                            "field": "when",
                            "title": f"allowed: {bound:.3g}",
                            "sort": ["before", "after"],
                            "scale": {"domain": ["before", "after"], "range": [ORANGE, BLUE]},
                        },
                    },
                }
            ]
        }
    )


def frontier_chart(frontier: dict[str, Any]) -> str:
    """Draw what is achievable, m against the width that must not be reached, and the choice."""
    chosen = frontier["chosen"]
    unit = (
        "relative width"
        if frontier["relative"]
        else f"width of the neighbourhood, in units of {frontier['column']}"
    )
    points = [p for p in frontier["points"] if p["bound"] > 0]
    x = {
        "field": "m",
        "type": "quantitative",
        "title": "m: at most one in m may be near",
        "scale": {"zero": False},
        "axis": {"tickMinStep": 1},
    }
    y = {"field": "bound", "type": "quantitative", "title": unit}
    return draw(
        {
            "layer": [
                {
                    "data": {"values": points},
                    "mark": {
                        "type": "area",
                        "color": BLUE,
                        "opacity": 0.2,
                        "line": {"color": BLUE},
                        "interpolate": "step-before",
                    },
                    "encoding": {"x": x, "y": y},
                },
                {
                    "data": {"values": [{"m": chosen["m"], "bound": chosen["width"]}]},
                    "mark": {"type": "point", "color": ORANGE, "filled": True, "size": 110},
                    "encoding": {"x": x, "y": y},
                },
                {
                    "data": {
                        "values": [
                            {"m": chosen["m"], "bound": chosen["width"], "text": "asked for"}
                        ]
                    },
                    "mark": {"type": "text", "color": ORANGE, "align": "left", "dx": 9, "dy": -8},
                    "encoding": {"x": x, "y": y, "text": {"field": "text"}},
                },
            ]
        }
    )


def reach_chart(reach: dict[str, Any]) -> str:
    """Draw the largest delta that is certain to be achievable, by k, and the choice."""
    chosen = reach["chosen"]
    x = {
        "field": "k",
        "type": "quantitative",
        "title": "k: least size of a group",
        "scale": {"type": "log", "nice": False},
    }
    y = {"field": "delta", "type": "quantitative", "title": "delta", "scale": {"domain": [0, 1]}}
    asked = [{"k": chosen["k"], "delta": chosen["delta"], "text": "asked for"}]
    return draw(
        {
            "layer": [
                {
                    "data": {"values": reach["points"]},
                    "mark": {"type": "line", "color": BLUE, "point": {"color": BLUE}},
                    "encoding": {"x": x, "y": y},
                },
                {
                    "data": {"values": asked},
                    "mark": {"type": "point", "color": ORANGE, "filled": True, "size": 110},
                    "encoding": {"x": x, "y": y},
                },
                {
                    "data": {"values": asked},
                    "mark": {"type": "text", "color": ORANGE, "align": "left", "dx": 9, "dy": -8},
                    "encoding": {"x": x, "y": y, "text": {"field": "text"}},
                },
            ]
        }
    )


def vulnerability_chart(grid: list[dict[str, float]]) -> str:
    """Draw the share of groups in breach: shaded by delta and epsilon, with lines of equal share.

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
        "title": "groups in breach",
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
    """Draw for several releases the line along which one share of their groups is in breach."""
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
        "title": f"{level:.0%} of the groups in breach",
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
    """Return the ε, the δ, and the share of groups in breach at each pair."""
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
    """Draw the share of groups in breach over the one parameter that varies."""
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
                    "title": "groups in breach",
                    "axis": {"format": "~%"},
                    "scale": {"domain": [0, 1]},
                },
            },
        }
    )


def comparison_chart(methods: list[str], measures: list[Measure]) -> str:
    """Draw methods as bars, a small chart for each measure; its own scale, always from 0."""
    values = [
        {
            "method": method,
            "measure": measure.title,
            "value": measure.values[place],
            "text": measure.spelled(place),
        }
        for measure in measures
        for place, method in enumerate(methods)
        if measure.values[place] is not None
    ] + [
        {"measure": measure.title, "beside": value, "name": name}
        for measure in measures
        for name, value in measure.beside.items()
        if value is not None
    ]
    y = {
        "field": "method",
        "type": "nominal",
        "title": None,
        "sort": methods,
        "axis": {"labelLimit": 210, "ticks": False, "domain": False},
    }
    x = {
        "field": "value",
        "type": "quantitative",
        "title": None,
        "axis": {"labels": False, "ticks": False, "grid": False, "domain": False},
    }
    return draw(
        {
            "data": {"values": values},
            "facet": {
                "field": "measure",
                "title": None,
                "sort": [measure.title for measure in measures],
                "header": {"labelColor": GREY, "labelFontSize": 12, "labelAnchor": "start"},
            },
            "columns": 1,
            "spacing": 18,
            "resolve": {"scale": {"x": "independent"}},
            "spec": {
                "width": 270,
                "height": {"step": 22},
                "layer": [
                    {
                        "transform": [{"filter": "isValid(datum.method)"}],
                        "mark": {"type": "bar", "color": BLUE, "height": {"band": 0.65}},
                        "encoding": {"x": x, "y": y},
                    },
                    {
                        "transform": [{"filter": "isValid(datum.method)"}],
                        "mark": {"type": "text", "align": "left", "dx": 4, "color": GREY},
                        "encoding": {"x": x, "y": y, "text": {"field": "text"}},
                    },
                    {
                        "transform": [{"filter": "isValid(datum.beside)"}],
                        "mark": {"type": "rule", "color": ORANGE, "size": 2},
                        "encoding": {"x": x | {"field": "beside"}},
                    },
                ],
            },
        }
    )


def tuning_chart(frontier: dict[str, Any]) -> str:
    """Draw loss against a parameter: the knee and what was asked for named, the rest crossed."""
    name = frontier["parameter"]
    reached = [point for point in frontier["points"] if point["loss"] is not None]
    missed = [{"value": p["value"], "loss": 0} for p in frontier["points"] if p["loss"] is None]
    bend = frontier["knee"] and frontier["knee"]["value"]
    marked = [
        {"value": p["value"], "loss": p["loss"], "text": said}
        for p in reached
        if (said := _mark(p["value"], bend, frontier["asked"]))
    ]
    x = {
        "field": "value",
        "type": "quantitative",
        "title": name,
        "scale": {"zero": False},
        "axis": {"tickCount": 8},
    }
    y = {
        "field": "loss",
        "type": "quantitative",
        "title": "information lost (GCP)",
        "axis": {"format": "~%", "tickCount": 6},
        "scale": {"zero": True},
    }
    both = {"x": x, "y": y}
    point = {"type": "point", "filled": True}
    text = {"type": "text", "color": ORANGE, "align": "right", "dx": -9, "dy": -8}
    cross = {"type": "point", "shape": "cross", "angle": 45, "color": GREY, "filled": True}
    below = {"type": "text", "color": GREY, "dy": -14, "text": "not reached"}
    return draw(
        {
            "layer": [
                {
                    "data": {"values": reached},
                    "mark": {"type": "line", "color": BLUE, "point": {"color": BLUE}},
                    "encoding": both,
                },
                {
                    "data": {"values": marked},
                    "mark": point | {"color": ORANGE, "size": 110},
                    "encoding": both,
                },
                {
                    "data": {"values": marked},
                    "mark": text,
                    "encoding": both | {"text": {"field": "text"}},
                },
                {"data": {"values": missed}, "mark": cross | {"size": 90}, "encoding": both},
                {"data": {"values": missed[:1]}, "mark": below, "encoding": both},
            ]
        },
        height=260,
    )


def _mark(value: float, bend: float | None, asked: float) -> str:
    """Say what a point is, where it is anything."""
    words = [word for word, there in (("knee", bend), ("asked for", asked)) if value == there]
    return ", ".join(words)
