"""HK: time by the size of the table: python benchmarks/papers/hk_time.py."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from drawing import Panel, by_name, grid, series, values
from figures import Claim, Figure, Size, judged, run, span
from hk import METHODS, NAMES, SHARES, K, measured

if TYPE_CHECKING:
    import polars as pl


def measure(size: Size) -> list[dict[str, Any]]:
    return [one for share in SHARES for one in measured(int(size.rows * share), K)]


def draw(frame: pl.DataFrame) -> dict[str, Any]:
    return grid(
        [
            [
                Panel(
                    frame=series(frame, "seconds", "size"),
                    title=f"k = {K}, both scales logarithmic",
                    x="rows (n)",
                    y="seconds of the processor",
                    share=False,
                    log=True,
                    steps="log",
                )
            ]
        ]
    )


def claims(frame: pl.DataFrame) -> list[Claim]:
    powers = {}
    for name in METHODS:
        line = by_name(frame, "size", "seconds", method=name)
        first, last = min(line), max(line)
        grown = math.log(max(line[last], 1e-9) / max(line[first], 1e-9))
        powers[name] = grown / math.log(last / first)
    largest = frame.filter(size=frame["size"].max())
    seconds = {row["method"]: row["seconds"] for row in largest.to_dicts()}
    exact = values(frame, "seconds", method="Freeform, exact")
    return [
        *judged(
            "Greedy takes O(kn²) steps and SortGreedy O(kn² log n):",
            {
                name: (f"time of {NAMES[name]} grows as n^{powers[name]:.1f}", powers[name] > 1.8)
                for name in ("Freeform, greedy", "Freeform, sort")
            },
            after=" here; Shoal searches the cheapest partner in space and sorts no list of all "
            "pairs",
        ),
        Claim(
            "",
            f"At {largest['size'][0]:,} rows: "
            + ", ".join(f"{name} {spent:.3g} s" for name, spent in seconds.items())
            + f". The time of optimal assignments goes {span(exact, '{:.1f} s'.format)}; it "
            "includes the improvement after the last round, which the paper does not have.",
            None,
        ),
    ]


FIGURE = Figure(
    name="hk-time",
    heading="HK: time by n",
    shows=(
        "Seconds of the processor for the search at k = 10 against the number of rows, both on "
        "logarithmic scales."
    ),
    rows=8_000,
    large=50_000,
    measure=measure,
    draw=draw,
    claims=claims,
)

if __name__ == "__main__":
    run([FIGURE])
