"""The values of the riskiest groups, one a line: for the owner alone, so apart."""

from __future__ import annotations

from typing import Any

from shoal.views.pages import BLUE, GREY, draw

MILLISECONDS = 86_400_000  # in a day, as charts count time


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
