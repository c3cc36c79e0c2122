"""HK: loss by k and by the size of the table: python benchmarks/papers/hk_gcp.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drawing import Panel, grid, series
from figures import Claim, Figure, Size, percent, run, span
from hk import METHODS, SHARES, K, measured

if TYPE_CHECKING:
    import polars as pl

LEVELS = [2, 5, 10, 20]


def measure(size: Size) -> list[dict[str, Any]]:
    middle = int(size.rows * SHARES[-2])
    return [
        *({"along": "k"} | one for k in LEVELS for one in measured(middle, k)),
        *({"along": "n"} | one for share in SHARES for one in measured(int(size.rows * share), K)),
    ]


def draw(frame: pl.DataFrame) -> dict[str, Any]:
    middle = frame.filter(along="k")["size"][0]
    return grid(
        [
            [
                Panel(
                    frame=series(frame, "gcp", "k", along="k"),
                    title=f"{middle:,} rows",
                    x="k",
                    y="information lost (GCP)",
                ),
                Panel(
                    frame=series(frame, "gcp", "size", along="n"),
                    title=f"k = {K}",
                    x="rows (n), logarithmic",
                    y="",
                    steps="log",
                ),
            ]
        ]
    )


def claims(frame: pl.DataFrame) -> list[Claim]:
    ratios = {
        name: [
            frame.filter(along=row["along"], size=row["size"], k=row["k"], method=name)[
                "gcp"
            ].item()
            / row["gcp"]
            for row in frame.filter(method="Split").to_dicts()
        ]
        for name in METHODS
    }
    told = {
        name: f"{percent(min(shares))} to {percent(max(shares))}" for name, shares in ratios.items()
    }
    exact = frame.filter(method="Freeform, exact")
    by_k = exact.filter(along="k").sort("k")["gcp"].to_list()
    by_n = exact.filter(along="n").sort("size")["gcp"].to_list()
    number = "{:.4f}".format
    return [
        Claim(
            "Graphs built by their values lose far less than the groups of conventional methods:",
            f"of the loss of groups by `Split()`, SortGreedy has {told['Freeform, sort']} here and "
            f"exact assignments {told['Freeform, exact']}; groups by Mondrian have "
            f"{told['Mondrian']}.",
            max(ratios["Freeform, sort"]) < 1,
        ),
        Claim(
            "They lose less than rings of a fixed form:",
            f"the ring has {told['Ring']} of the loss of `Split()`.",
            all(
                ours < ring
                for ours, ring in zip(ratios["Freeform, sort"], ratios["Ring"], strict=True)
            ),
        ),
        Claim(
            "SortGreedy improves on Greedy:",
            f"Greedy alone has {told['Freeform, greedy']} of the loss of `Split()`"
            + (
                ", so it can lose more than groups do."
                if max(ratios["Freeform, greedy"]) > 1
                else "."
            ),
            all(
                ours < plain
                for ours, plain in zip(
                    ratios["Freeform, sort"], ratios["Freeform, greedy"], strict=True
                )
            ),
        ),
        Claim(
            "",
            f"With exact assignments the loss goes {span(by_k, number)} for k = {LEVELS[0]} to "
            f"{LEVELS[-1]} and {span(by_n, number)} as the table grows. The conference paper says "
            "this in words only, its curves are in a longer version that could not be had. It "
            "has Greedy and SortGreedy; exact assignments are Shoal's default.",
            None,
        ),
    ]


FIGURE = Figure(
    name="hk-gcp",
    heading="HK: loss by k and by n",
    shows=(
        "Information lost (GCP) by k-anonymity against k and against the number of rows: relaxed "
        "Mondrian and Split as methods with groups, the ring of fixed form, and graphs from "
        "greedy, sorted greedy and exact assignments."
    ),
    rows=8_000,
    large=50_000,
    measure=measure,
    draw=draw,
    claims=claims,
)

if __name__ == "__main__":
    run([FIGURE])
