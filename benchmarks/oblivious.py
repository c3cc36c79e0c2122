"""What `Oblivious` loses, and what each method tells its readers: python benchmarks/oblivious.py.

The first table has the loss on 100,000 census rows, the search's CPU time beside that of `Split`.
The second goes through all assignments of the values of small random tables, as a reader who knows
the method would: 6 rows; `--large` adds 7 and 8, which takes many minutes.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import polars as pl
from common import clock, gcp, load, show

import shoal
from shoal.methods.base import Task
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table

QUASI = ["age", "puma", "occupation"]
ROWS = 100_000
CASES = [(2000, (0.5, 1, 1), 0.076), (4500, (0.25, 1, 0.5), 0.172)]
KNOWN = shoal.Schema(quasi=["age", "zip"], sensitive="salary")
METHODS = {
    "Oblivious()": "EpsilonM(epsilon=1, m=2)",
    "Oblivious(block=3)": "EpsilonM(epsilon=1, m=2)",
    "Exchange()": "EpsilonM(epsilon=1, m=2)",
    "Split()": "EpsilonM(epsilon=1, m=2)",
    "Split(partition='round-robin')": "EpsilonM(epsilon=1, m=2)",
    "XColor()": "EpsilonM(epsilon=1, m=2)",
    "Mondrian()": "Window(width=1, m=2)",
}


def losses() -> list[dict[str, str]]:
    frame, _ = load("sal_acs2024_500k.csv.gz", ROWS)
    rows = []
    for epsilon, weights, target in CASES:
        schema = shoal.Schema(
            quasi=QUASI, sensitive="income", weights=dict(zip(QUASI, weights, strict=True))
        )
        coded = code_table(frame, schema)
        asked = tuple(requirements(f"EpsilonM(epsilon={epsilon}, m=5)", ["income"]))
        task = Task(coded, asked)
        _ = coded.space, coded.line
        for method in (shoal.methods.Oblivious(), shoal.methods.Split()):
            runs = [clock(lambda: method.search(task), now=time.process_time) for _ in range(5)]  # noqa: B023
            found = [gcp(coded, groups) for _, groups in runs]
            assert all(task.holds(groups) for _, groups in runs)
            rows.append(
                {
                    "search": repr(method),
                    "epsilon": f"{epsilon:,}",
                    "weights": ", ".join(map(str, weights)),
                    "CPU s": f"{min(seconds for seconds, _ in runs):.2f}",
                    "GCP": f"{min(found):.4f} to {max(found):.4f}",
                    "target": f"{target}" if method == shoal.methods.Oblivious() else "",
                }
            )
    return rows


def small(rows: int, seed: int) -> pl.DataFrame:
    """Return a table of a few people, some of whom may share a salary."""
    random = np.random.default_rng((rows, seed))
    return pl.DataFrame(
        {
            "age": random.permutation(rows) * 3,
            "zip": random.permutation(rows) ** 2,
            "salary": random.integers(0, 2 * rows, rows),
        }
    )


def readers(rows: int, tables: int) -> list[dict[str, str]]:
    """Measure every method on the first tables on which the requirements are achievable."""
    found = []
    for method, require in METHODS.items():
        measured: list[shoal.results.Minimality] = []
        seed = 0
        while len(measured) < tables:
            seed += 1
            try:
                measured.append(
                    shoal.measures.minimality(
                        small(rows, seed), KNOWN, require=require, method=method
                    )
                )
            except shoal.NotAchievable:
                continue
        exceeded = [one.exceeded or 0.0 for one in measured]
        found.append(
            {
                "method": method,
                "rows": str(rows),
                "tables": str(tables),
                "assignments": f"{sum(one.assignments for one in measured):,}",
                "distance from uniform": f"{max(one.distance for one in measured):.3f}",
                "largest posterior": f"{max(one.worst or 0.0 for one in measured):.3f}",
                "assignments above 1/m": f"{min(exceeded):.0%} to {max(exceeded):.0%}",
            }
        )
    return found


def main() -> None:
    show(f"m = 5 on {ROWS:,} rows", losses())
    for rows, tables in ((6, 10), (7, 3), (8, 1)) if "--large" in sys.argv else ((6, 10),):
        show(f"All assignments of tables of {rows} rows", readers(rows, tables))


if __name__ == "__main__":
    main()
