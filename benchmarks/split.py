"""How fast `Split` is and what it loses: python benchmarks/split.py [--large].

Searches are timed on coded tables; the whole command is timed as a person starts it, reading,
writing and auditing included. `--large` adds 1.5 and 10 million rows.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from common import DATA, clock, gcp, load, peak_gigabytes, show, yardstick

import shoal
from shoal.kernels import load_all
from shoal.methods.base import Method, Task
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table

QUASI = ["age", "puma", "occupation"]
REQUIRE = "EpsilonM(epsilon=2000, m=5)"
METHODS = [shoal.methods.Split(partition="round-robin"), shoal.methods.Split()]


def search(frame: pl.DataFrame, method: Method, unit: float) -> dict[str, str]:
    schema = shoal.Schema(quasi=QUASI, sensitive="income")
    coded = code_table(frame, schema)
    task = Task(coded, tuple(requirements(REQUIRE, ["income"])))
    _ = coded.space
    runs = [clock(lambda: method.search(task)) for _ in range(3 if len(coded) < 2e6 else 1)]
    seconds = min(run[0] for run in runs)
    groups = runs[0][1]
    assert task.holds(groups)
    size = frame.height * np.log2(frame.height)
    return {
        "search": repr(method),
        "rows": f"{frame.height:,}",
        "lexsort s": f"{unit:.3f}",
        "seconds": f"{seconds:.2f}",
        "times lexsort": f"{seconds / unit:.1f}",
        "ns / (n log n)": f"{1e9 * seconds / size:.1f}",
        "GCP": f"{gcp(coded, groups):.4f}",
        "peak GB": f"{peak_gigabytes():.2f}",
    }


def synthetic(rows: int) -> pl.DataFrame:
    random = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "age": random.integers(16, 94, rows),
            "puma": random.integers(1, 2000, rows),
            "occupation": random.integers(1, 530, rows),
            "income": np.round(random.lognormal(10.4, 0.6, rows), -2).astype(np.int64),
        }
    )


def command(unit: float) -> list[dict[str, str]]:
    rows = []
    table = DATA / "sal_acs2024_500k.csv.gz"
    shoal_command = Path(sys.executable).with_name("shoal")
    for method in METHODS:
        with tempfile.TemporaryDirectory() as place:
            call: list[str | Path] = [
                *(shoal_command, "anonymize", table, "--quasi", ",".join(QUASI)),
                *("--sensitive", "income", "--require", REQUIRE, "--method", repr(method)),
                *("--output", f"{place}/release", "--quiet", "--json", "--force"),
            ]
            seconds = min(
                clock(lambda: subprocess.run(call, check=True, capture_output=True))[0]  # noqa: B023
                for _ in range(3)
            )
        rows.append(
            {
                "whole command, 500,000 rows": repr(method),
                "seconds": f"{seconds:.2f}",
                "times lexsort": f"{seconds / unit:.1f}",
            }
        )
    return rows


def main() -> None:
    seconds, _ = clock(load_all)
    print(f"Loading or compiling all kernels: {seconds:.1f} s\n")
    frame, source = load("sal_acs2024_500k.csv.gz")
    unit = yardstick(frame, QUASI)
    show(f"{REQUIRE} on {source}", [search(frame, method, unit) for method in METHODS])
    if (DATA / "sal_acs2024_500k.csv.gz").exists():
        show("From file to audited release", command(unit))
    if "--large" in sys.argv:
        rows = []
        for large in (load("acs2024_workers.parquet")[0], synthetic(10_000_000)):
            unit = yardstick(large, QUASI)
            rows += [search(large, method, unit) for method in METHODS]
        show("Growth", rows)


if __name__ == "__main__":
    main()
