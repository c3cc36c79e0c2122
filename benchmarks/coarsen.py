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
NEAR = 100  # partners of each group that the bound looks at, those of the narrowest unions
SCALE = 2**24  # costs are whole numbers there
QUASI = ["age", "puma", "occupation"]


def main() -> None:
    """Print both losses, their ratio, the bound of the ratio, and the time."""
    table, source = load("sal_acs2024_500k.csv.gz", ROWS)
    print(f"{table.height:,} rows, {source}")
    schema = shoal.Schema(quasi=QUASI, sensitive="income")
    for epsilon in (2000, 4500):
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
        print(
            f"epsilon {epsilon}: fresh {fresh.loss:.4f}, joined {joined.loss:.4f}, "
            f"{joined.loss / fresh.loss:.3f} times, at least {least / fresh.loss:.3f} times, "
            f"{joined.manifest.groups} groups of at least {2 * M}, {seconds:.1f} s"
        )


def bound(finer: pl.DataFrame, epsilon: int) -> float:
    """Return the loss of the cheapest assignment of each group to another with which it holds."""
    finer = finer.sort("group", "income")
    values = finer["income"].to_numpy().reshape(-1, M)
    low, high = (np.column_stack(ends) for ends in zip(*map(_ends, finer[QUASI]), strict=True))
    low, high = low[::M], high[::M]
    span = high.max(axis=0) - low.min(axis=0)
    low, high = low / span, high / span
    count = len(values)
    one, other, width = [], [], []
    for here in range(count):
        wide = (np.maximum(high, high[here]) - np.minimum(low, low[here])).sum(axis=1)
        wide[here] = np.inf
        near = np.argpartition(wide, NEAR)[:NEAR]
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
    cost = np.tile(np.floor(np.concatenate(width) * SCALE).astype(np.int64), 2)[both]
    solver.add_arcs_with_cost(pairs[:, 0], pairs[:, 1], cost)
    assert solver.solve() == solver.OPTIMAL
    return solver.optimal_cost() / SCALE / count / len(QUASI)


def _ends(cells: pl.Series) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    read = [json.loads(cell) for cell in cells.cast(pl.String)]
    both = np.array([one if isinstance(one, list) else [one, one] for one in read], float)
    return both[:, 0], both[:, 1]


def _holds(mine: NDArray[np.int64], theirs: NDArray[np.int64], epsilon: int) -> NDArray[np.bool_]:
    """Return with which groups the values of one keep the requirement."""
    every = np.concatenate([np.broadcast_to(mine, theirs.shape), theirs], axis=1)
    near = (np.abs(every[:, :, None] - every[:, None, :]) <= epsilon).sum(axis=2).max(axis=1)
    held: NDArray[np.bool_] = near * M <= every.shape[1]
    return held


if __name__ == "__main__":
    main()
