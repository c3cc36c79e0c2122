"""What benchmarks share: the data, the yardstick, the table they print.

Times are ratios to `numpy.lexsort` over the same quasi columns as int64 in the same process, so
that two machines can be compared. The tables lie in a folder beside the checkout (or in
SHOAL_DATA; sources.py says what they are). Where one is missing, a benchmark says so and ends with
exit code 2. With SHOAL_DATA=synthetic all of them are made up, and the heading says so.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from shoal.datasets.census import census
from shoal.release.cover import Cover, mean_over_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from shoal.principles.groups import Groups
    from shoal.table.coded import Coded

SYNTHETIC = "synthetic"
DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[2] / "shared" / "data"))


def load(name: str, rows: int | None = None) -> tuple[pl.DataFrame, str]:
    """Return a benchmark table and where it is from."""
    path = DATA / name
    if str(DATA) == SYNTHETIC:
        return census(rows or 500_000).rename({"birthplace": "puma"}), "embedded generator"
    if not path.exists():
        print(
            f"{name} is not in {DATA}. Set SHOAL_DATA to the folder that has it; "
            "benchmarks/sources.py says where it is from. SHOAL_DATA=synthetic takes made-up rows.",
            file=sys.stderr,
        )
        raise SystemExit(2)
    if path.suffix == ".parquet":
        frame = pl.read_parquet(path).sample(fraction=1, shuffle=True, seed=1)
    else:
        frame = pl.read_csv(path)
    return frame.head(rows) if rows else frame, name


READABLE = 0.02  # seconds


def yardstick(
    frame: pl.DataFrame, quasi: list[str], *, now: Callable[[], float] = time.perf_counter
) -> float:
    """Return the best of five times of numpy.lexsort over the quasi columns.

    Small tables are sorted until the clock has moved on far enough to be read.
    """
    columns = [
        frame[name].rank("dense").to_numpy().astype(np.int64)
        if frame[name].dtype == pl.String
        else frame[name].to_numpy().astype(np.int64)
        for name in reversed(quasi)
    ]
    times = 1
    while clock(partial(_sort, columns, times), now=now)[0] < READABLE:
        times *= 2
    sort = partial(_sort, columns, times)
    return min(clock(sort, now=now)[0] / times for _ in range(5))


def _sort(columns: list[np.ndarray], times: int) -> None:
    for _ in range(times):
        np.lexsort(columns)


def clock(
    work: Callable[[], Any], *, now: Callable[[], float] = time.perf_counter
) -> tuple[float, Any]:
    """Return how long a piece of work took, and its result."""
    start = now()
    result = work()
    return now() - start, result


def gcp(coded: Coded, groups: Groups) -> float:
    """Return the global certainty penalty of a grouping."""
    losses = [Cover.of(column, groups).loss() for column in coded.quasi]
    return float(np.mean([mean_over_rows(loss, groups.sizes, suppressed=0) for loss in losses]))


def peak_gigabytes() -> float:
    """Return the largest memory this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def show(title: str, rows: list[dict[str, str]]) -> None:
    """Print rows as a table."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for place, name in enumerate(rows[0]):
        table.add_column(name, justify="left" if place == 0 else "right")
    for row in rows:
        table.add_row(*row.values())
    Console(width=150).print(table, "")
