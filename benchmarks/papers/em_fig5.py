"""EM, Figure 5: query error by m: python benchmarks/papers/em_fig5.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drawing import by_name, error_grid, values
from figures import Claim, Figure, Size, percent, rises, run, span
from subjects import EM_METHODS, errors, salaries

import shoal

if TYPE_CHECKING:
    import polars as pl

LEVELS = [2, 3, 4, 5, 6, 7]
KINDS = {"absolute": 4500.0, "relative": 0.125}
BOUNDS = {"absolute": 0.20, "relative": 0.08}  # what the paper's errors stay below
OURS = "Split, round-robin"
ESTIMATORS = {"Shoal's estimator": "mean", "the papers' even spread": "even"}


def measure(size: Size) -> list[dict[str, Any]]:
    subject = salaries(size.rows)
    asked = {
        w: shoal.measures.Workload(quasi=w - 1, selectivity=0.1, queries=size.queries).draw(
            subject.frame, subject.schema, seed=1
        )
        for w in (2, 3, 4)
    }
    records = []
    for kind, epsilon in KINDS.items():
        for m in LEVELS:
            require = shoal.principles.EpsilonM(epsilon=epsilon, m=m, relative=kind == "relative")
            for name, method in EM_METHODS.items():
                release = subject.release(require, method)
                records += [
                    {
                        "table": subject.source,
                        "neighbourhood": kind,
                        "epsilon": epsilon,
                        "m": m,
                        "w": w,
                        "method": name,
                        **errors(questions, release),
                        "gcp": release.loss if release else None,
                    }
                    for w, questions in asked.items()
                ]
    return records


def draw(frame: pl.DataFrame) -> dict[str, Any]:
    titles = {kind: f"{kind} ({epsilon:g}, m)" for kind, epsilon in KINDS.items()}
    return error_grid(frame, "m", "m", titles)


def claims(frame: pl.DataFrame) -> list[Claim]:
    found = []
    for kind, bound in BOUNDS.items():
        lines = [values(frame, "mean", neighbourhood=kind, w=w, method=OURS) for w in (2, 3, 4)]
        spans = ", ".join(f"{w}D {span(line)}" for w, line in zip((2, 3, 4), lines, strict=True))
        worst = max(max(line) for line in lines)
        found += [
            Claim(
                f"The error of {kind} anonymity grows with m:",
                f"{spans} with round-robin for m = {LEVELS[0]} to {LEVELS[-1]}.",
                all(rises(line) for line in lines),
            ),
            Claim(
                f"Even for the largest m it is at most {percent(bound)} ({kind}):",
                f"here {percent(worst)}.",
                worst <= bound,
            ),
        ]
        losses = _shares(frame, kind, "gcp")
        if losses:
            told = "; ".join(
                f"with {estimator} it has {percent(min(wrong))} to {percent(max(wrong))} of the "
                f"error of round-robin and is {_behind(wrong)}"
                for estimator, of in ESTIMATORS.items()
                if of in frame.columns and (wrong := _shares(frame, kind, of))
            )
            found.append(
                Claim(
                    "",
                    f"`Exchange()` keeps the same {kind} guarantee at {percent(min(losses))} to "
                    f"{percent(max(losses))} of the loss (GCP) of round-robin: {told}.",
                    None,
                )
            )
    return found


def _behind(shares: list[float]) -> str:
    """Say how often Exchange errs by more than round-robin."""
    often = sum(share > 1 for share in shares)
    if not often:
        return "behind at no m and no number of columns"
    return f"behind in {often} of {len(shares)} cases"


def _shares(frame: pl.DataFrame, kind: str, of: str) -> list[float]:
    """Return what Exchange has of a measure of round-robin, where both were reached."""
    found = []
    for w in (2, 3, 4):
        ours = by_name(frame, "m", of, neighbourhood=kind, w=w, method=OURS)
        best = by_name(frame, "m", of, neighbourhood=kind, w=w, method="Exchange")
        found += [best[m] / ours[m] for m in best if m in ours]
    return found


FIGURE = Figure(
    name="em-fig5",
    heading="EM, Figure 5: query error by m",
    shows=(
        "Mean relative error of count queries over 2, 3 and 4 columns (s = 0.1) against m, for "
        "absolute (4500, m)-anonymity above and relative (0.125, m)-anonymity below."
    ),
    rows=100_000,
    large=500_000,
    measure=measure,
    draw=draw,
    claims=claims,
)

if __name__ == "__main__":
    run([FIGURE])
