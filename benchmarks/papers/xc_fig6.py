"""XC, Figure 6: execution time by the size of the table: python benchmarks/papers/xc_fig6.py."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import polars as pl
from drawing import Panel, by_name, grid, values
from figures import Claim, Figure, Size, judged, run
from subjects import XC_METHODS, lives

import shoal
from shoal.principles.dissimilarity import guarantee
from shoal.table.coded import code_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from subjects import Subject

DEFAULTS = {"epsilon": 0.08, "delta": 0.8, "k": 10}
ALONG: dict[str, list[float]] = {
    "epsilon": [0.04, 0.08, 0.1],
    "delta": [0.7, 0.8, 0.9],
    "k": [10, 15, 20],
}
POINTS = [(along, value) for along in ALONG for value in ALONG[along]]
SIGNS = {"epsilon": "ε", "delta": "δ", "k": "k"}
SHARES = (0.25, 0.5, 0.75, 1.0)  # of the rows
PAPER: dict[str, Any] = {"epsilon": 0.15, "delta": 0.9, "k": 20}


def least_risk(subject: Subject, principle: shoal.principles.Dissimilarity) -> float:
    """Return the risk that no grouping of a table can stay under."""
    value = code_table(subject.frame, subject.schema).value(subject.schema.sensitive)
    return guarantee(principle, value).least_risk


def measure(size: Size) -> list[dict[str, Any]]:
    records = []
    for share in SHARES:
        rows = int(size.rows * share)
        subject, weights = lives(rows)
        distance = shoal.distances.Lp(p=1, weights=weights)
        least = least_risk(subject, shoal.principles.Dissimilarity(distance=distance, **PAPER))
        known: dict[str, dict[str, float | None]] = {}  # settings occur along several parameters
        for along, value in POINTS:
            now = DEFAULTS | {along: value}
            require = shoal.principles.Dissimilarity(
                epsilon=now["epsilon"], delta=now["delta"], k=int(now["k"]), distance=distance
            )
            for name, method in XC_METHODS.items():
                key = f"{name} {require!r}"
                if key not in known:
                    known[key] = subject.timed(require, method)
                records.append(
                    {
                        "table": subject.source,
                        "size": rows,
                        "along": along,
                        "value": value,
                        "method": name,
                        **known[key],
                        "least_risk": least,
                    }
                )
    return records


def draw(frame: pl.DataFrame) -> dict[str, Any]:
    def panel(method: str, along: str) -> Panel:
        chosen = frame.filter(method=method, along=along)
        label = pl.format(f"{SIGNS[along]} = {{}}", pl.col("value").cast(pl.Float64).round(2))
        return Panel(
            frame=chosen.select(
                x="size", y="seconds", series=label.str.strip_suffix(".0").alias("series")
            ),
            title=f"{method}, by {SIGNS[along]}",
            x="rows",
            y="seconds of the processor" if along == "epsilon" else "",
            share=False,
            alone=True,
        )

    return grid([[panel(method, along) for along in ALONG] for method in XC_METHODS])


def claims(frame: pl.DataFrame) -> list[Claim]:
    growth = {}
    for name in XC_METHODS:
        line = by_name(
            frame.sort("size"), "size", "seconds",
            along="epsilon", value=DEFAULTS["epsilon"], method=name,
        )  # fmt: skip
        if len(line) > 1:
            rows = max(line) / min(line)
            times = line[max(line)] / max(line[min(line)], 1e-9)
            growth[name] = (
                f"{rows:.0f} times the rows take {name} {times:.1f} times as long",
                rows / 1.5 < times < 1.5 * rows,
            )
    usual = ", ".join(f"{SIGNS[name]} = {value:g}" for name, value in DEFAULTS.items())
    found = judged("Time grows about linearly with the rows:", growth, after=f" ({usual})")
    largest = frame.filter(size=frame["size"].max())
    for along, sign in SIGNS.items():
        upward = along != "k"
        found += judged(
            f"Time {'grows' if upward else 'falls'} with {sign}:",
            {
                name: _along(name, by_name(largest, "value", "seconds", along=along, method=name),
                             along, upward=upward)
                for name in XC_METHODS
            },
        )  # fmt: skip
    found += judged(
        "All runs end within minutes (ten at most):",
        {
            name: (
                f"{name} within {max(took):.1f} s, "
                f"{max(values(frame, 'lexsorts', method=name)):,.0f} times `numpy.lexsort`",
                max(took) < 600,
            )
            for name in XC_METHODS
            if (took := values(frame, "seconds", method=name))
        },
    )
    least, rows = largest["least_risk"][0], largest["size"][0]
    allowed = float(1 - Fraction(str(PAPER["delta"])))
    found.append(
        Claim(
            "The paper's setting is ε = 0.15, δ = 0.9, k = 20:",
            f"here it is {usual}. On these {rows:,} rows every grouping has a risk of at least "
            f"{least:.3g} under the paper's, which allows {allowed:g}"
            + ("." if least > allowed else ", so it may be within reach."),
            least <= allowed,
        )
    )
    return found


def _along(name: str, took: Mapping[float, float], along: str, *, upward: bool) -> tuple[str, bool]:
    """Judge whether the time at the last value of a parameter is above or below the first."""
    missed = [f"{value:g}" for value in ALONG[along] if value not in took]
    aside = f" ({SIGNS[along]} = {', '.join(missed)} is not reached)" if missed else ""
    if len(took) < 2:
        return f"{name} reaches too few{aside}", False
    first, last = min(took), max(took)
    told = (
        f"{name} {took[first]:.2f} s to {took[last]:.2f} s for {SIGNS[along]} = {first:g} to "
        f"{last:g}{aside}"
    )
    return told, took[last] > 1.05 * took[first] if upward else took[last] < 0.95 * took[first]


FIGURE = Figure(
    name="xc-fig6",
    heading="XC, Figure 6: execution time",
    shows=(
        "Seconds of the processor for the search against the number of rows, for three values of "
        "one parameter at a time; the others are ε = 0.08, δ = 0.8, k = 10. Above XColor, the "
        "paper's algorithm to the letter, below Exchange, Shoal's."
    ),
    rows=20_000,
    large=50_000,
    measure=measure,
    draw=draw,
    claims=claims,
)

if __name__ == "__main__":
    run([FIGURE])
