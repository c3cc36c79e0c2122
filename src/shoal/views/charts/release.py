"""Charts of a release: risk, sizes, and what is achievable."""

from __future__ import annotations

from typing import Any

from shoal.exact import at_most
from shoal.views.charts.base import BLUE, GREY, ORANGE, WIDTH, draw

MILLISECONDS = 86_400_000  # in a day, as charts count time
SHADES = ["#fde725", "#5ec962", "#21918c", "#5b4fa8"]  # like viridis, its end seen by night


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
    width = min(40.0, 0.8 * WIDTH / len(marks))
    return draw(
        {
            "data": {"values": marks},
            "mark": {"type": "bar", "color": BLUE, "width": width},
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
                            "title": f"allowed: {at_most(bound, 3)}",
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
    unit = "relative width" if frontier["relative"] else f"width, in units of {frontier['column']}"
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


def map_chart(found: dict[str, Any]) -> str:
    """Draw group boxes gathered on a grid: large squares have many rows, dark ones lost much."""
    x, y = found["x"], found["y"]
    most = max(square["rows"] for square in found["squares"])
    values = [
        {
            "x": _middle(x, square["x"]),
            "y": _middle(y, square["y"]),
            "rows": (square["rows"] / most) ** 0.5,
            "loss": square["loss"],
        }
        for square in found["squares"]
    ]
    width, height = 430, 330
    side = min(width / _squares(x), height / _squares(y))
    return draw(
        {
            "width": width,
            "data": {"values": values},
            "mark": {"type": "square", "opacity": 1},
            "encoding": {
                "x": _map_axis(x, "x"),
                "y": _map_axis(y, "y"),
                "size": {
                    "field": "rows",
                    "type": "quantitative",
                    "scale": {"domain": [0, 1], "range": [6, side * side]},
                    "legend": None,
                },
                "color": {
                    "field": "loss",
                    "type": "quantitative",
                    "title": "information lost, mean of both columns",
                    "scale": {"range": SHADES},
                    "legend": {"format": "~%", "gradientLength": 260, "titleLimit": 300},
                },
            },
        },
        height=height,
        says=f"Map of the loss over {x['name']} and {y['name']}.",
    )


def _squares(axis: dict[str, Any]) -> int:
    return len(axis["names"]) - (axis["edges"] is not None)


def _middle(axis: dict[str, Any], place: int) -> Any:
    """Return where a square stands: the middle of its numbers, or its name."""
    if axis["edges"] is None:
        return axis["names"][place]
    middle = (axis["edges"][place] + axis["edges"][place + 1]) / 2
    return middle * MILLISECONDS if axis["dates"] else middle


def _map_axis(axis: dict[str, Any], field: str) -> dict[str, Any]:
    base = {"field": field, "title": axis["name"]}
    if axis["edges"] is None:
        limit = {"labelLimit": 110, "labelOverlap": True, "grid": False}
        return base | {"type": "ordinal", "sort": axis["names"], "axis": limit}
    ends = [_middle(axis, 0), _middle(axis, _squares(axis) - 1)]
    half = (ends[1] - ends[0]) / (_squares(axis) - 1) / 2
    scale = {"domain": [ends[0] - half, ends[1] + half], "nice": False}
    kind = "temporal" if axis["dates"] else "quantitative"
    return base | {"type": kind, "scale": scale, "axis": {"grid": False, "tickCount": 6}}


def histogram_chart(found: dict[str, Any]) -> str:
    """Draw how the numbers (or dates) of a sensitive column are distributed."""
    scale = MILLISECONDS if found["dates"] else 1
    edges = [edge * scale for edge in found["edges"]]
    values = [
        {"from": edges[place], "to": edges[place + 1], "share": share}
        for place, share in enumerate(found["shares"])
    ]
    return draw(
        {
            "data": {"values": values},
            "mark": {
                "type": "rect",
                "color": BLUE,
                "stroke": None,
                "xOffset": 0.5,
                "x2Offset": -0.5,
            },
            "encoding": {
                "x": {
                    "field": "from",
                    "type": "temporal" if found["dates"] else "quantitative",
                    "title": found["column"],
                    "scale": {"domain": [edges[0], edges[-1]], "nice": False, "zero": False},
                    "axis": {"grid": False, "tickCount": 6},
                },
                "x2": {"field": "to"},
                "y": {
                    "field": "share",
                    "type": "quantitative",
                    "title": "share of the rows",
                    "axis": {"format": "~%", "tickCount": 5},
                    "scale": {"zero": True},
                },
                "y2": {"datum": 0},
            },
        },
        height=180,
        says=f"Distribution of {found['column']}.",
    )


def strip_chart(column: str, strips: list[dict[str, Any]], *, dates: bool) -> str:
    """Draw the values of some groups, one group a line, above one another.

    The whole table comes first, as the range from its 5th to its 95th percentile and the median.
    """
    scale = MILLISECONDS if dates else 1
    ticks = [
        {"group": strip["name"], "value": value * scale}
        for strip in strips
        for value in strip.get("values", ())
    ]
    spans = [
        {"group": one["name"], "value": one["low"] * scale, "high": one["high"] * scale}
        for one in strips
        if "low" in one
    ]
    middles = [
        {"group": one["name"], "value": one["median"] * scale} for one in strips if "low" in one
    ]
    x = {
        "field": "value",
        "type": "temporal" if dates else "quantitative",
        "title": column,
        "scale": {"zero": False},
        "axis": {"tickCount": 6},
    }
    y = {
        "field": "group",
        "type": "nominal",
        "title": None,
        "sort": [one["name"] for one in strips],
        "axis": {"labelLimit": 180, "ticks": False},
    }
    return draw(
        {
            "layer": [
                {
                    "data": {"values": spans},
                    "mark": {"type": "bar", "color": GREY, "opacity": 0.4, "height": 8},
                    "encoding": {"x": x, "x2": {"field": "high"}, "y": y},
                },
                {
                    "data": {"values": middles},
                    "mark": {"type": "tick", "color": GREY, "thickness": 3},
                    "encoding": {"x": x, "y": y},
                },
                {
                    "data": {"values": ticks},
                    "mark": {"type": "tick", "color": BLUE, "thickness": 2, "opacity": 1},
                    "encoding": {"x": x, "y": y},
                },
            ]
        },
        height=26 * len(strips),
        says=f"Values of {column} in the riskiest groups.",
    )
