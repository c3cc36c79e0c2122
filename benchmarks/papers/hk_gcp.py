"""HK: loss by k and by the size of the table: python benchmarks/papers/hk_gcp.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drawing import Panel, grid, series
from figures import Claim, Figure, Size, judged, percent, run, span
from hk import METHODS, NAMES, SHARES, K, measured

from shoal.methods.freeform.exact import BLOCK, FEW, NEAR, WHOLE

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
        name: f"{NAMES.get(name, name)} {percent(min(shares))} to {percent(max(shares))}"
        for name, shares in ratios.items()
    }
    exact = frame.filter(method="Freeform, exact")
    by_k = exact.filter(along="k").sort("k")["gcp"].to_list()
    by_n = exact.filter(along="n").sort("size")["gcp"].to_list()
    number = "{:.4f}".format
    return [
        *judged(
            "Graphs built by their values lose far less than the groups of conventional methods "
            "(at most four fifths, of the loss of `Split()`):",
            {name: (told[name], max(ratios[name]) <= 0.8) for name in NAMES},
            after=f"; groups by {told['Mondrian']}",
        ),
        *judged(
            "They lose less than rings of a fixed form (shares of the loss of `Split()`):",
            {name: (told[name], _below(ratios[name], ratios["Ring"])) for name in NAMES},
            after=f"; the {told['Ring'].replace('R', 'r', 1)}",
        ),
        Claim(
            "SortGreedy improves on Greedy (shares of the loss of `Split()`):",
            f"{told['Freeform, sort']}, {told['Freeform, greedy']}"
            + (
                ", so Greedy can lose more than groups do."
                if max(ratios["Freeform, greedy"]) > 1
                else "."
            ),
            _below(ratios["Freeform, sort"], ratios["Freeform, greedy"]),
        ),
        Claim(
            "",
            f"With optimal assignments the loss goes {span(by_k, number)} for k = {LEVELS[0]} to "
            f"{LEVELS[-1]} and {span(by_n, number)} as the table grows. The conference paper says "
            "this in words only; its curves are in a longer version, which is not available. It "
            "has Greedy and SortGreedy; optimal assignments are Shoal's default. They are optimal "
            f"over all pairs up to {WHOLE:,} rows, and beyond over the {NEAR} cheapest candidates "
            f"of each record. Beyond {BLOCK:,} rows it is one and a half times as many candidates "
            f"as k, at least {FEW} and at most {NEAR}.",
            None,
        ),
    ]


def _below(ours: list[float], others: list[float]) -> bool:
    return all(one < other for one, other in zip(ours, others, strict=True))


FIGURE = Figure(
    name="hk-gcp",
    heading="HK: loss by k and by n",
    shows=(
        "Information lost (GCP) by k-anonymity against k and against the number of rows: relaxed "
        "Mondrian and Split as methods with groups, the ring of fixed form, and graphs from "
        "greedy, sorted greedy and optimal assignments (Freeform, exact)."
    ),
    rows=8_000,
    large=50_000,
    measure=measure,
    draw=draw,
    claims=claims,
)

if __name__ == "__main__":
    run([FIGURE])
