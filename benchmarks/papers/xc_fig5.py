"""XC, Figure 5: query error by ε, δ, k and s: python benchmarks/papers/xc_fig5.py."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from drawing import Panel, by_name, grid, series, values
from figures import Claim, Figure, Size, falls, judged, percent, rises, run, span, turns
from subjects import XC_METHODS, errors, lives

import shoal

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

DEFAULTS = {"epsilon": 0.1, "delta": 0.8, "k": 10, "s": 0.1}
ALONG: dict[str, list[float]] = {
    "epsilon": [0.02, 0.04, 0.06, 0.08, 0.1],
    "delta": [0.5, 0.6, 0.7, 0.8, 0.9],
    "k": [5, 10, 15, 20, 25],
    "s": [0.05, 0.1, 0.15, 0.2, 0.25],
}
SIGNS = {"epsilon": "ε", "delta": "δ", "k": "k", "s": "s, selectivity of a query"}
DRAWN = 2  # qd of the picture; the file has all


def measure(size: Size) -> list[dict[str, Any]]:
    subject, weights = lives(size.rows)
    distance = shoal.distances.Lp(p=1, weights=weights)
    most = min(3, len(subject.schema.quasi))
    asked = {
        (qd, s): shoal.measures.Workload(
            quasi=qd, sensitive=2, selectivity=s, queries=size.queries
        ).draw(subject.frame, subject.schema, seed=1)
        for qd in range(1, most + 1)
        for s in ALONG["s"]
    }
    made: dict[tuple[str, float, float, float], shoal.Release | None] = {}
    records = []
    for along, points in ALONG.items():
        for value in points:
            now = DEFAULTS | {along: value}
            require = shoal.principles.Dissimilarity(
                epsilon=now["epsilon"], delta=now["delta"], k=int(now["k"]), distance=distance
            )
            for name, method in XC_METHODS.items():
                key = (name, now["epsilon"], now["delta"], now["k"])
                if key not in made:
                    made[key] = subject.release(require, method)
                release = made[key]
                records += [
                    {
                        "table": subject.source,
                        "along": along,
                        "value": value,
                        "qd": qd,
                        "method": name,
                        **errors(asked[qd, now["s"]], release),
                        "gcp": release.loss if release else None,
                    }
                    for qd in range(1, most + 1)
                ]
    return records


def draw(frame: pl.DataFrame) -> dict[str, Any]:
    panels = [
        Panel(
            frame=series(frame, "mean", "value", along=along, qd=DRAWN),
            title=", ".join(
                f"{SIGNS[name][:1]} = {value:g}"
                for name, value in DEFAULTS.items()
                if name != along
            ),
            x=SIGNS[along],
            y="mean relative error" if along in {"epsilon", "k"} else "",
            log=True,
        )
        for along in ALONG
    ]
    return grid([panels[:2], panels[2:]])


def claims(frame: pl.DataFrame) -> list[Claim]:
    found = []
    for along, sign in (("epsilon", "ε"), ("delta", "δ")):
        lines = _lines(frame, along)
        lost = {name: values(frame, "gcp", along=along, qd=DRAWN, method=name) for name in lines}
        found += judged(
            f"The error grows with {sign}:",
            {
                name: (
                    f"with {name} it goes {span(list(line.values()))} here and the loss (GCP) "
                    f"{span(lost[name], '{:.3f}'.format)}{_missed(along, line)}",
                    rises(list(line.values())),
                )
                for name, line in lines.items()
            },
        )
    found += judged(
        "It grows sharply from δ = 0.8 to 0.9 (more than at any step before):",
        {name: _sharply(name, line) for name, line in _lines(frame, "delta").items()},
    )
    most = max(values(frame, "qd"))
    strict = frame.filter(frame["along"].is_in(["epsilon", "delta"]))
    worst = {name: max(values(strict, "mean", qd=most, method=name)) for name in XC_METHODS}
    found += judged(
        f"The error stays below 15 % along ε and δ, even with qd = {most}:",
        {name: (f"with {name} up to {percent(top)}", top < 0.15) for name, top in worst.items()},
        after=" here",
    )
    found += judged(
        "The error falls as k grows from 5, is least at k = 15 and then grows slightly:",
        {name: _least(name, line) for name, line in _lines(frame, "k").items()},
    )
    by_s = {name: list(line.values()) for name, line in _lines(frame, "s").items()}
    found += judged(
        "The error falls as s grows:",
        {name: (f"{span(line)} with {name}", falls(line)) for name, line in by_s.items()},
    )
    medians = {name: values(frame, "median", along="s", qd=DRAWN, method=name)[0] for name in by_s}
    found += judged(
        "At s = 0.05 it is below 5 %:",
        {
            name: (
                f"{percent(line[0])} with {name}, the median {percent(medians[name])}",
                line[0] < 0.05,
            )
            for name, line in by_s.items()
        },
    )
    at = frame.filter(along="epsilon", value=DEFAULTS["epsilon"], qd=1)
    losses = {row["method"]: row["gcp"] for row in at.to_dicts()}
    if all(losses.values()):
        found.append(
            Claim(
                "INITIALIZE of the paper balances degrees and does not look at the quasi columns, "
                "so the groups that XColor starts from are wide; Exchange starts from close ones.",
                "At ε = 0.1, δ = 0.8, k = 10 Exchange loses a GCP of "
                f"{losses['Exchange']:.3f}, XColor {losses['XColor']:.3f}.",
                None,
            )
        )
    return found


def _lines(frame: pl.DataFrame, along: str) -> dict[str, Mapping[float, float]]:
    """Return the error of each method by a parameter, where it was reached."""
    return {
        name: by_name(frame, "value", "mean", along=along, qd=DRAWN, method=name)
        for name in XC_METHODS
    }


def _missed(along: str, line: Mapping[float, float]) -> str:
    """Name the values of a parameter that were not reached."""
    missed = [f"{value:g}" for value in ALONG[along] if value not in line]
    return f" ({SIGNS[along][:1]} = {', '.join(missed)} is not reached)" if missed else ""


def _sharply(name: str, line: Mapping[float, float]) -> tuple[str, bool]:
    """Judge whether the last step of δ adds more error than each one before."""
    *before, last, strictest = ALONG["delta"]
    if last not in line or strictest not in line:
        return f"{name} does not reach δ = {strictest:g}", False
    steps = [line[b] - line[a] for a, b in pairwise([*before, last]) if a in line and b in line]
    step = line[strictest] - line[last]
    told = f"{name} goes from {percent(line[last])} to {percent(line[strictest])}"
    return told, step > max([0.0, *steps])


def _least(name: str, line: Mapping[float, float]) -> tuple[str, bool]:
    """Judge whether the error is least at k = 15, falling before and rising after."""
    if not line:
        return f"{name} reaches none", False
    best = min(line, key=lambda k: line[k])
    down = list(line.values())
    turned = best == 15 and turns([-error for error in down], list(line).index(best))
    return f"with {name} it is least at k = {best:g} and goes {span(down)}", turned


FIGURE = Figure(
    name="xc-fig5",
    heading="XC, Figure 5: query error by ε, δ, k and s",
    shows=(
        "Mean relative error of count queries (qd = 2 quasi columns, qs = 2 sensitive ones) on a "
        "logarithmic scale, against one parameter at a time; the others are ε = 0.1, δ = 0.8, "
        "k = 10, s = 0.1. XColor is the paper's algorithm to the letter, Exchange is Shoal's."
    ),
    rows=20_000,
    large=50_000,
    measure=measure,
    draw=draw,
    claims=claims,
)

if __name__ == "__main__":
    run([FIGURE])
