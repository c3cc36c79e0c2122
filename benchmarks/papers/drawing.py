"""Lines in panels, labelled where they end, in colours that colour-blind readers tell apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.views.pages import CONFIG, GREY, PALETTE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
HEIGHT = 190
GAP = 15  # pixels between two labels
SKY, GREEN, YELLOW, ORANGE, PINK, BLUE = PALETTE
COLOURS = {
    "Perturb": YELLOW,
    "Split, round-robin": ORANGE,
    "Split": SKY,
    "Exchange": BLUE,
    "XColor": ORANGE,
    "Mondrian": ORANGE,
    "Ring": PINK,
    "Freeform, greedy": YELLOW,
    "Freeform, sort": GREEN,
    "Freeform, exact": BLUE,
}


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One plot: its records (x, y, series), what its axes say, and whether its lines are named."""

    frame: pl.DataFrame
    title: str
    x: str
    y: str
    share: bool = True  # whether y is a share, written as per cent
    log: bool = False
    steps: str = "linear"  # the scale of x
    alone: bool = False  # whether its lines are not those of the next panel in the row

    def spec(self, domain: tuple[float, float], *, width: int, named: bool) -> dict[str, Any]:
        """Return the layers of the panel."""
        known = self.frame.filter(pl.col("y").is_not_null())
        names = self.frame["series"].unique(maintain_order=True).to_list()
        places = sorted(self.frame["x"].unique().to_list())
        x = {
            "field": "x",
            "type": "quantitative",
            "title": self.x,
            "scale": {"type": self.steps, "zero": False, "nice": False},
            "axis": {
                "values": places,
                "labelOverlap": "greedy",
                "grid": False,
                "format": "~s" if max(places) >= 1000 else "~r",
            },
        }
        y = {
            "field": "y",
            "type": "quantitative",
            "title": self.y,
            "scale": {"domain": list(domain), "type": "log" if self.log else "linear"},
            "axis": {"format": "~%" if self.share else "~r"}
            | ({"values": _ticks(*domain)} if self.log else {"tickCount": 5}),
        }
        colour = {
            "field": "series",
            "scale": {"domain": names, "range": [_colour(name, names) for name in names]},
            "legend": None,
        }
        shape = {
            "field": "series",
            "scale": {"domain": names, "range": list(SHAPES[: len(names)])},
            "legend": None,
        }
        both = {"x": x, "y": y, "color": colour}
        layers = [
            {"mark": {"type": "line", "strokeWidth": 2}, "encoding": both},
            {
                "mark": {"type": "point", "filled": True, "size": 45, "opacity": 1},
                "encoding": both | {"shape": shape},
            },
        ]
        if named:
            layers.append(
                {
                    "data": {"values": self._labels(known, domain)},
                    "mark": {"type": "text", "align": "left", "dx": 9, "fontSize": 12},
                    "encoding": both | {"text": {"field": "text"}},
                }
            )
        return {
            "title": {"text": self.title, "color": GREY, "fontSize": 12, "anchor": "start"},
            "width": width,
            "height": HEIGHT,
            "data": {"values": known.select("x", "y", "series").to_dicts()},
            "layer": layers,
        }

    def _labels(self, known: pl.DataFrame, domain: tuple[float, float]) -> list[dict[str, Any]]:
        """Name each line beside its end, and push names apart that would cover one another."""
        low, high = map(self._scaled, domain)
        pixel = (high - low) / HEIGHT
        ends = known.sort("x").group_by("series", maintain_order=True).last()
        wanted = sorted(
            [
                {
                    "series": row["series"],
                    "text": row["series"],
                    "x": row["x"],
                    "y": self._scaled(row["y"]),
                }
                for row in ends.to_dicts()
            ],
            key=lambda label: label["y"],
        )
        for below, above in pairwise(wanted):
            above["y"] = max(above["y"], below["y"] + GAP * pixel)
        over = max(0.0, wanted[-1]["y"] - high) if wanted else 0.0
        for label in wanted:
            label["y"] = self._unscaled(label["y"] - over)
        return wanted

    def _scaled(self, value: float) -> float:
        return math.log(value) if self.log else value

    def _unscaled(self, value: float) -> float:
        return math.exp(value) if self.log else value


def _colour(name: str, names: Sequence[str]) -> str:
    return COLOURS.get(name) or [SKY, BLUE, ORANGE, GREEN, YELLOW, PINK][names.index(name)]


def _ticks(low: float, high: float) -> list[float]:
    """Return powers of ten between two values, and where they are few, twice and 5 times them."""
    powers = [10.0**power for power in range(math.floor(math.log10(low)), 7)]
    steps = (1, 2, 5) if high < 500 * low else (1,)
    return [step * power for power in powers for step in steps if low <= step * power <= high]


def grid(rows: Sequence[Sequence[Panel]]) -> dict[str, Any]:
    """Lay panels out in rows; the panels of a row share the scale of y, the last one has names."""
    widest = max(len(row) for row in rows)
    width = {1: 460, 2: 245, 3: 165}[widest]
    return {
        "config": CONFIG,
        "spacing": 22,
        "vconcat": [
            {
                "spacing": 18,
                "hconcat": [
                    panel.spec(
                        _domain(row), width=width, named=panel.alone or place == len(row) - 1
                    )
                    for place, panel in enumerate(row)
                ],
            }
            for row in rows
        ],
    }


def _domain(row: Sequence[Panel]) -> tuple[float, float]:
    """Return where y begins and ends: at 0, or on a logarithmic scale around the values."""
    values = [value for panel in row for value in panel.frame["y"].drop_nulls().to_list()]
    if not values:
        return (0.1, 1.0)
    if row[0].log:
        return (min(values) / 1.3, max(values) * 1.3)
    return (0.0, max(values) * 1.08 or 1.0)


def series(frame: pl.DataFrame, y: str, x: str, **chosen: Any) -> pl.DataFrame:
    """Return the records with chosen values as (x, y, series)."""
    wanted = frame.filter(*(pl.col(name) == value for name, value in chosen.items()))
    return wanted.select(pl.col(x).alias("x"), pl.col(y).alias("y"), series="method")


def values(frame: pl.DataFrame, y: str, **chosen: Any) -> list[float]:
    """Return one column of the records with chosen values, those that were not reached left out."""
    wanted = frame.filter(*(pl.col(name) == value for name, value in chosen.items()))
    return wanted[y].drop_nulls().to_list()


def by_name(frame: pl.DataFrame, x: str, y: str, **chosen: Any) -> Mapping[float, float]:
    """Return one column of the records with chosen values, by another one."""
    wanted = frame.filter(*(pl.col(name) == value for name, value in chosen.items()))
    return dict(wanted.drop_nulls(y).select(x, y).iter_rows())


def error_grid(
    frame: pl.DataFrame, along: str, axis: str, titles: dict[str, str]
) -> dict[str, Any]:
    """Return the error of queries over 2, 3 and 4 columns, a row for each kind of neighbourhood."""
    return grid(
        [
            [
                Panel(
                    frame=series(frame, "mean", along, neighbourhood=kind, w=w),
                    title=f"{title}, {w}D queries",
                    x=axis,
                    y="mean relative error" if w == 2 else "",
                )
                for w in (2, 3, 4)
            ]
            for kind, title in titles.items()
        ]
    )
