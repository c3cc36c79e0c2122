"""EM, Figure 4: query error by ε, against perturbation: python benchmarks/papers/em_fig4.py."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from drawing import Panel, by_name, grid, series, values
from figures import Claim, Figure, Size, percent, rises, run, span
from subjects import EM_METHODS, errors, salaries

import shoal
from shoal.errors import NotAchievable

if TYPE_CHECKING:
    import polars as pl
    from subjects import Subject

ABSOLUTE = [1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000]
RELATIVE = [0.05, 0.1, 0.15, 0.2, 0.25]
KINDS: dict[str, list[float]] = {"absolute": [float(e) for e in ABSOLUTE], "relative": RELATIVE}
LIMITS = {"absolute": 4000.0, "relative": 0.15}  # beyond which the paper has no perturbation
OURS, RIVAL = "Split, round-robin", "Perturb"


def perturbed(subject: Subject, require: shoal.principles.EpsilonM) -> Any:
    """Return the table perturbed as little as the requirement allows, None where nothing does."""
    try:
        rival = shoal.rivals.Perturb.meeting(subject.frame, subject.schema, require=require)
    except NotAchievable:
        return None
    return rival.publish(subject.frame, subject.schema) if rival.p else None


def measure(size: Size) -> list[dict[str, Any]]:
    subject = salaries(size.rows)
    workload = shoal.measures.Workload(quasi=2, selectivity=0.1, queries=size.queries)
    questions = workload.draw(subject.frame, subject.schema, seed=1)
    records = []
    for kind, epsilons in KINDS.items():
        for epsilon in epsilons:
            require = shoal.principles.EpsilonM(epsilon=epsilon, m=5, relative=kind == "relative")
            published = {RIVAL: perturbed(subject, require)} | {
                name: subject.release(require, method) for name, method in EM_METHODS.items()
            }
            records += [
                {
                    "table": subject.source,
                    "neighbourhood": kind,
                    "epsilon": epsilon,
                    "method": name,
                    **errors(questions, source),
                    "gcp": source.loss if isinstance(source, shoal.Release) else None,
                }
                for name, source in published.items()
            ]
    return records


def draw(frame: pl.DataFrame) -> dict[str, Any]:
    units = {"absolute": "ε in dollars", "relative": "ε as a share of the income"}
    return grid(
        [
            [
                Panel(
                    frame=series(frame, "mean", "epsilon", neighbourhood=kind),
                    title=f"{kind} (ε, 5)-anonymity",
                    x=units[kind],
                    y="mean relative error" if kind == "absolute" else "",
                    log=True,
                )
                for kind in KINDS
            ]
        ]
    )


def claims(frame: pl.DataFrame) -> list[Claim]:
    found = []
    for kind in KINDS:
        ours = by_name(frame, "epsilon", "mean", neighbourhood=kind, method=OURS)
        rival = by_name(frame, "epsilon", "mean", neighbourhood=kind, method=RIVAL)
        best = by_name(frame, "epsilon", "mean", neighbourhood=kind, method="Exchange")
        worst = max(ours.values(), default=0)
        found.append(
            Claim(
                f"The error of {kind} (ε, 5)-anonymity rises with ε:",
                f"with round-robin it goes {span(list(ours.values()))} here.",
                rises(list(ours.values())),
            )
        )
        found.append(
            Claim(
                f"It stays below 15 % ({kind}):",
                f"it is at most {percent(worst)} here.",
                worst < 0.15,
            )
        )
        shared = [epsilon for epsilon in rival if epsilon in ours]
        if shared:
            times = [rival[epsilon] / ours[epsilon] for epsilon in shared]
            line = [rival[epsilon] for epsilon in shared]
            found += [
                Claim(
                    f"Perturbation is far worse (at least twice the error; {kind}):",
                    f"{min(times):,.1f} to {max(times):,.1f} times that error here.",
                    min(times) >= 2,
                ),
                Claim(
                    f"The error of perturbation rises with ε too ({kind}):",
                    f"here it goes {span(line)}{_falls(shared, line)}.",
                    line == sorted(line) and rises(line),
                ),
                Claim(
                    f"It is useless near its limit (an error above 50 %; {kind}):",
                    f"{percent(line[-1])} at ε = {shared[-1]:,g}.",
                    line[-1] > 0.5,
                ),
            ]
        last = max(rival, default=0.0)
        found.append(
            Claim(
                f"Perturbation has no result beyond ε = {LIMITS[kind]:,g} ({kind}):",
                f"here the last of the measured ε with one is {last:,g}"
                + (
                    "."
                    if last == LIMITS[kind]
                    else "; it depends on how incomes are spread, and the paper's table is"
                    " not available."
                ),
                last == LIMITS[kind],
            )
        )
        if both := [epsilon for epsilon in best if epsilon in ours]:
            shares = [best[epsilon] / ours[epsilon] for epsilon in both]
            found.append(
                Claim(
                    "",
                    f"Under the same {kind} guarantee `Exchange()` has {percent(min(shares))} to "
                    f"{percent(max(shares))} of the error of round-robin with Shoal's estimator"
                    f"{_even(frame, kind, both)}{_loss(frame, kind)}.",
                    None,
                )
            )
    return found


def _falls(epsilons: list[float], line: list[float]) -> str:
    """Name the steps at which an error falls."""
    steps = zip(pairwise(epsilons), pairwise(line), strict=True)
    back = [f"{e:,g} to {f:,g}" for (e, f), (before, after) in steps if after < before]
    return f" and falls from ε = {', '.join(back)}" if back else ""


def _even(frame: pl.DataFrame, kind: str, epsilons: list[float]) -> str:
    """Say the same with the papers' estimator, where it was measured."""
    if "even" not in frame.columns:
        return ""
    best, ours = (
        by_name(frame, "epsilon", "even", neighbourhood=kind, method=method)
        for method in ("Exchange", OURS)
    )
    shares = [best[epsilon] / ours[epsilon] for epsilon in epsilons]
    return f", {percent(min(shares))} to {percent(max(shares))} with the papers' even spread"


def _loss(frame: pl.DataFrame, kind: str) -> str:
    ours = values(frame, "gcp", neighbourhood=kind, method=OURS)
    best = values(frame, "gcp", neighbourhood=kind, method="Exchange")
    if len(ours) != len(best):
        return ""
    shares = [one / other for one, other in zip(best, ours, strict=True)]
    return f", and {percent(min(shares))} to {percent(max(shares))} of its loss (GCP)"


FIGURE = Figure(
    name="em-fig4",
    heading="EM, Figure 4: query error by ε",
    shows=(
        "Mean relative error of count queries (w = 3, s = 0.1) against ε at m = 5, for absolute "
        "and relative neighbourhoods, on a logarithmic scale: the paper's method (Split, "
        "round-robin), Shoal's own (Split, Exchange), and perturbation with the largest retention "
        "that keeps the same guarantee, which ends where no retention does."
    ),
    rows=100_000,
    large=500_000,
    measure=measure,
    draw=draw,
    claims=claims,
)

if __name__ == "__main__":
    run([FIGURE])
