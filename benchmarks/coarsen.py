"""Loss of a coarser release made from a finer one, beside a fresh search for groups of that size.

`python benchmarks/coarsen.py`: 20,000 incomes, groups of five joined to groups of ten, and what no
way of joining groups whose pairs hold can undercut.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from common import load
from ortools.graph.python.linear_sum_assignment import SimpleLinearSumAssignment

import shoal

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS, M = 20_000, 5
NEAR = 100  # partners of each group that the bound looks at, those of the narrowest unions;
# twice as many, and so on, where they are too few for an assignment
SCALE = 2**24  # costs are whole numbers there
QUASI = ["age", "puma", "occupation"]


def measured(epsilon: int) -> dict[str, float]:
    """Return both losses, their ratio, the bound of the ratio, groups and the time."""
    table, _ = load("sal_acs2024_500k.csv.gz", ROWS)
    schema = shoal.Schema(quasi=QUASI, sensitive="income")
    require = shoal.principles.EpsilonM(epsilon=epsilon, m=M)
    fresh = shoal.anonymize(
        table, schema, require=require, method=shoal.methods.Exchange(size=2 * M)
    )
    with tempfile.TemporaryDirectory() as place:
        finer = Path(place) / "finer"
        shoal.anonymize(table, schema, require=require).write(finer)
        start = time.perf_counter()
        joined = shoal.coarsen(finer, require=shoal.principles.KAnonymity(k=2 * M))
        seconds = time.perf_counter() - start
        least = bound(pl.read_csv(finer / "release.csv"), epsilon)
    return {
        "fresh": fresh.loss,
        "joined": joined.loss,
        "ratio": joined.loss / fresh.loss,
        "bound": least / fresh.loss,
        "groups": joined.manifest.groups or 0,
        "seconds": seconds,
    }


def main() -> None:
    """Print what is measured for both values of epsilon."""
    print(f"{ROWS:,} rows")
    for epsilon in (2000, 4500):
        found = measured(epsilon)
        print(
            f"epsilon {epsilon}: fresh {found['fresh']:.4f}, joined {found['joined']:.4f}, "
            f"{found['ratio']:.3f} times, at least {found['bound']:.3f} times, "
            f"{found['groups']:.0f} groups of at least {2 * M}, {found['seconds']:.1f} s"
        )


def bound(finer: pl.DataFrame, epsilon: int) -> float:
    """Return the loss of the cheapest assignment of each group to another with which it holds.

    A union is at least as wide as that of any two of its groups, so for its rows it loses at least
    what a cycle through its groups does, each weighed by its rows.
    """
    finer = finer.sort("group", "income")
    _, firsts, sizes = np.unique(finer["group"].to_numpy(), return_index=True, return_counts=True)
    values = np.full((len(sizes), sizes.max()), np.nan)  # NaN where a group has fewer rows
    for group, (first, size) in enumerate(zip(firsts, sizes, strict=True)):
        values[group, :size] = finer["income"][int(first) : int(first + size)]
    low, high = (np.column_stack(ends) for ends in zip(*map(_ends, finer[QUASI]), strict=True))
    low, high = low[firsts], high[firsts]
    span = high.max(axis=0) - low.min(axis=0)
    near = NEAR
    while (cost := _assigned(values, low / span, high / span, sizes, epsilon, near)) is None:
        near *= 2
    return cost / len(finer) / len(QUASI)


def _assigned(
    values: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    sizes: NDArray[np.int64],
    epsilon: int,
    most: int,
) -> float | None:
    """Return what the cheapest assignment costs; None where the partners are too few for one."""
    one, other, width = [], [], []
    for here in range(len(values)):
        wide = (np.maximum(high, high[here]) - np.minimum(low, low[here])).sum(axis=1)
        wide[here] = np.inf
        near = np.argpartition(wide, most)[:most]
        near = near[_holds(values[here], values[near], epsilon)]
        one.append(np.full(len(near), here))
        other.append(near)
        width.append(wide[near])
    solver = SimpleLinearSumAssignment()
    pairs, both = np.unique(
        np.concatenate(
            [
                np.column_stack([np.concatenate(one), np.concatenate(other)]),
                np.column_stack([np.concatenate(other), np.concatenate(one)]),
            ]
        ),
        axis=0,
        return_index=True,
    )
    wide = np.tile(np.concatenate(width), 2)[both] * sizes[pairs[:, 0]]
    cost = np.floor(wide * SCALE).astype(np.int64)
    solver.add_arcs_with_cost(pairs[:, 0], pairs[:, 1], cost)
    return solver.optimal_cost() / SCALE if solver.solve() == solver.OPTIMAL else None


def _ends(cells: pl.Series) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    read = [json.loads(cell) for cell in cells.cast(pl.String)]
    both = np.array([one if isinstance(one, list) else [one, one] for one in read], float)
    return both[:, 0], both[:, 1]


def _holds(
    mine: NDArray[np.float64], theirs: NDArray[np.float64], epsilon: int
) -> NDArray[np.bool_]:
    """Return with which groups the values of one keep the requirement."""
    every = np.concatenate([np.broadcast_to(mine, theirs.shape), theirs], axis=1)
    near = (np.abs(every[:, :, None] - every[:, None, :]) <= epsilon).sum(axis=2).max(axis=1)
    held: NDArray[np.bool_] = near * M <= np.isfinite(every).sum(axis=1)
    return held


if __name__ == "__main__":
    main()
