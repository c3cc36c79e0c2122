"""EM, Figure 7: computation time by m and by ε: python benchmarks/papers/em_fig7.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drawing import Panel, by_name, grid, series, values
from figures import Claim, Figure, Size, rises, run
from subjects import EM_METHODS, salaries

import shoal

if TYPE_CHECKING:
    import polars as pl

LEVELS = [2, 3, 4, 5, 6, 7]
RELATIVE = [0.02, 0.05, 0.1, 0.15, 0.2, 0.25]
OURS = "Split, round-robin"


def measure(size: Size) -> list[dict[str, Any]]:
    subject = salaries(size.rows)
    asked: list[tuple[str, float, shoal.EpsilonM]] = [
        *(("m", float(m), shoal.EpsilonM(epsilon=4500, m=m)) for m in LEVELS),
        *(("epsilon", e, shoal.EpsilonM(epsilon=e, m=5, relative=True)) for e in RELATIVE),
    ]
    return [
        {
            "table": subject.source,
            "along": along,
            "value": value,
            "method": name,
            **subject.timed(require, method),
        }
        for along, value, require in asked
        for name, method in EM_METHODS.items()
    ]


def draw(frame: pl.DataFrame) -> dict[str, Any]:
    return grid(
        [
            [
                Panel(
                    frame=series(frame, "seconds", "value", along=along),
                    title=title,
                    x=x,
                    y="seconds of the processor" if along == "m" else "",
                    share=False,
                    log=True,
                )
                for along, title, x in (
                    ("m", "absolute (4500, m)", "m"),
                    ("epsilon", "relative (ε, 5)", "ε as a share of the income"),
                )
            ]
        ]
    )


def claims(frame: pl.DataFrame) -> list[Claim]:
    by_m = by_name(frame, "value", "seconds", along="m", method=OURS)
    by_e = by_name(frame, "value", "seconds", along="epsilon", method=OURS)
    best = by_name(frame, "value", "seconds", along="m", method="Exchange")
    multiples = values(frame, "lexsorts", method=OURS)
    peak = max(by_e, key=lambda epsilon: by_e[epsilon])
    inner = peak not in {min(by_e), max(by_e)}
    slowest = max([*by_m.values(), *by_e.values()])
    return [
        Claim(
            "The cost drops as m grows from 2 to 7:",
            f"round-robin takes {by_m[2]:.3f} s at m = 2 and {by_m[7]:.3f} s at m = 7.",
            rises(list(by_m.values())[::-1]),
        ),
        Claim(
            "With ε the cost rises at first and then falls:",
            f"here it is largest at ε = {peak:g} ({by_e[peak]:.3f} s) and "
            f"{list(by_e.values())[-1]:.3f} s at ε = {max(by_e):g}"
            + ("." if inner else ", without a rise at first."),
            inner,
        ),
        Claim(
            "Everything ends within a minute:",
            f"round-robin within {slowest:.3f} s, {min(multiples):.1f} to "
            f"{max(multiples):.1f} times `numpy.lexsort` of the same rows.",
            slowest < 60,
        ),
        Claim(
            "",
            "`Exchange()` pays for its lower loss with time: "
            f"{best[min(best)]:.1f} s at m = 2, {best[max(best)]:.1f} s at "
            f"m = {max(best):g}.",
            None,
        ),
    ]


FIGURE = Figure(
    name="em-fig7",
    heading="EM, Figure 7: computation time",
    shows=(
        "Seconds of the processor for the search, on a logarithmic scale, against m for absolute "
        "(4500, m)-anonymity and against ε for relative (ε, 5)-anonymity."
    ),
    rows=100_000,
    large=500_000,
    measure=measure,
    draw=draw,
    claims=claims,
)

if __name__ == "__main__":
    run([FIGURE])
