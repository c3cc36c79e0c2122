"""Charts of methods beside one another, and of a parameter tuned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.views.pages import BLUE, GREY, LABELS, ORANGE, draw

if TYPE_CHECKING:
    from shoal.views.tables import Measure


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
        "axis": {"labelLimit": LABELS, "ticks": False, "domain": False},
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
        "title": "detail lost (GCP)",
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
