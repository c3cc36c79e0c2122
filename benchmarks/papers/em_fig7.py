"""EM, Figure 7: computation time by m and by ε: python benchmarks/papers/em_fig7.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drawing import Panel, by_name, grid, series, values
from figures import Claim, Figure, Size, falls, judged, run, turns
from subjects import EM_METHODS, salaries

import shoal

if TYPE_CHECKING:
    import polars as pl

LEVELS = [2, 3, 4, 5, 6, 7]
RELATIVE = [0.02, 0.05, 0.1, 0.15, 0.2, 0.25]
OURS = "Split, round-robin"


def measure(size: Size) -> list[dict[str, Any]]:
    subject = salaries(size.rows)
    asked: list[tuple[str, float, shoal.principles.EpsilonM]] = [
        *(("m", float(m), shoal.principles.EpsilonM(epsilon=4500, m=m)) for m in LEVELS),
        *(
            ("epsilon", e, shoal.principles.EpsilonM(epsilon=e, m=5, relative=True))
            for e in RELATIVE
        ),
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
    costs, levels = list(by_e.values()), sorted(by_m)
    peak = max(range(len(costs)), key=lambda place: costs[place])
    turned = turns(costs, peak)
    slowest = {name: max(values(frame, "seconds", method=name)) for name in EM_METHODS}
    multiples = {name: values(frame, "lexsorts", method=name) for name in EM_METHODS}
    return [
        Claim(
            "The cost drops as m grows from 2 to 7:",
            f"round-robin takes {by_m[levels[0]]:.3f} s at m = {levels[0]:g} and "
            f"{by_m[levels[-1]]:.3f} s at m = {levels[-1]:g}.",
            falls([by_m[m] for m in levels]),
        ),
        Claim(
            "With ε the cost rises at first and then falls:",
            f"here it is largest at ε = {list(by_e)[peak]:g} ({costs[peak]:.3f} s) and "
            f"{costs[-1]:.3f} s at ε = {max(by_e):g}"
            + ("." if turned else ", without a rise at first and a fall at every step after it."),
            turned,
        ),
        *judged(
            "Everything ends within a minute:",
            {
                name: (
                    f"{name} within {slowest[name]:.3g} s, {min(multiples[name]):.1f} to "
                    f"{max(multiples[name]):.1f} times `numpy.lexsort` of the same rows",
                    slowest[name] < 60,
                )
                for name in EM_METHODS
            },
        ),
        Claim(
            "",
            f"`Exchange()` pays for its lower loss with time: {_along(frame, 'm', 'm')} and "
            f"{_along(frame, 'epsilon', 'ε')}.",
            None,
        ),
    ]


def _along(frame: pl.DataFrame, along: str, sign: str) -> str:
    """Tell the least and the largest time of Exchange along a parameter."""
    took = by_name(frame, "value", "seconds", along=along, method="Exchange")
    least, most = (chosen(took, key=lambda value: took[value]) for chosen in (min, max))
    return (
        f"{took[least]:.1f} s ({sign} = {least:g}) to {took[most]:.1f} s ({sign} = {most:g}) "
        f"along {sign}"
    )


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
