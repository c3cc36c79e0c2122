"""Squared error of group means beside MDAV, by squares and by cells: python benchmarks/squares.py.

100 * SSE / SST on the three tables by which microaggregation is measured, columns standardized,
for k = 3, 5 and 10, over rows in several orders (`--seeds`, 3), without a time budget and with one
(`--seconds`, none): what is known of MDAV, of MDAV with relocation and swaps, what Shoal reaches.
One column: the exact least beside that of the package `microagg1d` (by "wilber": what it takes by
itself, "simple", loses up to 0.9 % more in version 0.4.0), where it is installed. What is least
for several columns is not known, but `bound` is below it. `--rows 100000` searches census rows by
squares and by cells instead, and prints the processor time of both.
`--data` is the folder that has casc_census, casc_tarragona and casc_eia (.csv.gz).
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from common import clock, load

import shoal
from shoal.methods.base import Task
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table

EIA = (
    *("RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES", "INDREVENUE", "INDSALES"),
    *("OTHREVENUE", "OTHRSALES", "TOTREVENUE", "TOTSALES"),
)
TABLES = {
    # columns (all where none are named), MDAV, MDAV with relocation and swaps
    "casc_census": (None, (5.69, 9.09, 14.16), (5.28, 8.18, 12.43)),
    "casc_tarragona": (None, (16.93, 22.46, 33.19), (14.99, 20.72, 30.87)),
    "casc_eia": (EIA, (0.59, 1.59, 3.27), (0.48, 1.33, 2.79)),
}
LEVELS = (3, 5, 10)
AT_ONCE = 200  # rows whose distances to all others are measured at once


def lost(values: np.ndarray, labels: np.ndarray) -> float:
    """100 * SSE / SST, by its definition and without Shoal."""
    values = (values - values.mean(0)) / values.std(0)
    squares = sum(
        ((part - part.mean(0)) ** 2).sum()
        for part in (values[labels == one] for one in np.unique(labels))
    )
    return float(100 * squares / (values**2).sum())


def bound(values: np.ndarray, k: int) -> float:
    """100 * SSE / SST below which no groups of k rows or more can be.

    A group of n rows loses the sum of the squared distances of all its pairs, both ways, over 2 n.
    To the other n - 1 a row has at least the distances to the n - 1 nearest of all rows, and their
    sum over n does not fall as n grows: so each row adds at least that of its k - 1 nearest, over
    2 k.
    """
    values = (values - values.mean(0)) / values.std(0)
    nearest = 0.0
    for some in np.array_split(values, -(-len(values) // AT_ONCE)):
        squares = ((some[:, None] - values[None]) ** 2).sum(2)
        squares.partition(k - 1, axis=1)  # of which one is a row's own, 0
        nearest += squares[:, :k].sum()
    return float(100 * nearest / (2 * k) / (values**2).sum())


def labels_of(release: shoal.Release, rows: int) -> np.ndarray:
    """Return the group of every row of the table."""
    labels = np.empty(rows, np.int64)
    labels[release.table["row"].to_numpy()] = release.table["group"].to_numpy()
    return labels


def exact(column: pl.Series) -> None:
    """Compare the exact groups of one column with those of another program."""
    try:
        from microagg1d import univariate_microaggregation
    except ImportError:
        print("microagg1d is not installed: one column is not compared with it.")
        return
    table = pl.DataFrame({"value": column}).with_row_index("row")
    schema = shoal.Schema(quasi=["value"], sensitive="row")
    values = column.to_numpy().astype(float)
    for k in LEVELS:
        release = shoal.anonymize(
            table,
            schema,
            require=shoal.principles.KAnonymity(k=k),
            method=shoal.methods.Exchange(loss="squared"),
        )
        ours = lost(values[:, None], labels_of(release, len(table)))
        theirs = lost(values[:, None], univariate_microaggregation(values, k=k, method="wilber"))
        print(f"one column, k = {k}: {ours:.6f}, by microagg1d {theirs:.6f}")


def reached(table: pl.DataFrame, k: int, seed: int, seconds: float | None = None) -> float:
    """Return the squared error of groups of k rows, from rows in some order."""
    some = table.sample(fraction=1.0, shuffle=True, seed=seed).with_row_index("row")
    release = shoal.anonymize(
        some,
        shoal.Schema(quasi=table.columns, sensitive="row"),
        require=shoal.principles.KAnonymity(k=k),
        method=shoal.methods.Exchange(loss="squared"),
        seconds=seconds,
    )
    return lost(some.drop("row").to_numpy().astype(float), labels_of(release, len(some)))


def beside_cells(rows: int, seeds: int) -> None:
    """Print processor seconds of searches by squares and by cells, in turn, and their ratio."""
    columns = ["age", "puma", "occupation"]
    table = load("sal_acs2024_500k.csv.gz", rows)[0].select(columns).with_row_index("row")
    coded = code_table(table, shoal.Schema(quasi=columns, sensitive="row"))
    task = Task(coded, tuple(requirements("KAnonymity(k=5)", ["row"])))
    methods = (shoal.methods.Exchange(), shoal.methods.Exchange(loss="squared"))
    for method in methods:
        method.search(task)  # loads its kernels
    ratios = []
    for _ in range(seeds):
        cells, squares = (
            clock(partial(one.search, task), now=time.process_time)[0] for one in methods
        )
        ratios.append(squares / cells)
        print(
            f"{rows:,} rows: cells {cells:.1f} s, squares {squares:.1f} s, {ratios[-1]:.2f} times"
        )
    print(f"median: {np.median(ratios):.2f} times")


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--data", type=Path, default=Path("../shared/data"))
    reader.add_argument("--seeds", type=int, default=3)
    reader.add_argument("--seconds", type=float)
    reader.add_argument("--rows", type=int)
    given = reader.parse_args()
    if given.rows:
        beside_cells(given.rows, given.seeds)
        return
    if not (given.data / "casc_census.csv.gz").exists():
        sys.exit(f"There are no tables in {given.data}: say where they are by --data.")
    ratios = []
    print(
        f"{'table':<15} {'k':>2} {'MDAV':>7} {'moved':>7} {'Shoal, by seed':>24} {'ratio':>7} "
        f"{'bound':>8} CPU s"
    )
    for name, (columns, plain, moved) in TABLES.items():
        table = pl.read_csv(given.data / f"{name}.csv.gz")
        table = table.select(columns) if columns else table
        for k, mdav, goal in zip(LEVELS, plain, moved, strict=True):
            begun = time.process_time()
            found = [reached(table, k, seed, given.seconds) for seed in range(given.seeds)]
            ratios.append(np.mean(found) / goal)
            taken = (time.process_time() - begun) / given.seeds
            shown = " ".join(f"{one:.4f}" for one in found)
            print(
                f"{name:<15} {k:>2} {mdav:>7} {goal:>7} {shown:>24} {ratios[-1]:>7.3f} "
                f"{bound(table.to_numpy().astype(float), k):>8.4f} {taken:.1f}"
            )
    print(f"mean ratio to MDAV with relocation and swaps: {np.mean(ratios):.3f}")
    exact(pl.read_csv(given.data / "casc_census.csv.gz").to_series(0))


if __name__ == "__main__":
    main()
