"""What heterogeneous generalization loses and how long it takes: python benchmarks/freeform.py.

`--large` adds 500,000 and a million rows, `--growth` the time of each assignment by the number of
rows. `--candidates` asks something else: what 100,000 rows take with all candidates and exact
costs, and as they are searched, three times in turn. Searches are timed on coded tables. Mondrian
on the same table is the yardstick of loss.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from common import clock, load, peak_gigabytes, show

import shoal
from shoal.audit.regularity import MatchGraph
from shoal.kernels import load_all
from shoal.kernels.chacha import fresh_stream
from shoal.methods.base import Method, Task
from shoal.methods.freeform import exact
from shoal.principles.requirement import requirements
from shoal.release.cover import Cover, mean_over_rows
from shoal.table.coded import code_table

if TYPE_CHECKING:
    from shoal.principles.groups import Groups

PAPER = pl.DataFrame(
    {"age": [59, 57, 39, 28, 41, 37, 40, 53], "salary": [25, 27, 47, 41, 20, 59, 35, 34]}
)
ADULT = [
    "age",
    "education",
    "marital-status",
    "native-country",
    "occupation",
    "race",
    "sex",
    "workclass",
]
CENSUS = ["age", "puma", "occupation"]
EXACT = shoal.methods.Freeform()
GREEDY = shoal.methods.Freeform(assignment="greedy")
SORT = shoal.methods.Freeform(assignment="sort")
# Split() also tries the other side of a tied median, which Mondrian() does not: the stronger rival
# where columns are skewed.
RIVALS: list[Method] = [shoal.methods.Mondrian(), shoal.methods.Split(), shoal.methods.Ring()]


def task_of(frame: pl.DataFrame, quasi: list[str], k: int, seconds: float | None = None) -> Task:
    coded = code_table(frame, shoal.Schema(quasi=quasi))
    _ = coded.space
    return Task(coded, tuple(requirements(shoal.principles.KAnonymity(k=k), [])), seconds=seconds)


def gcp(task: Task, found: Groups | shoal.results.GeneralizationGraph) -> float:
    if isinstance(found, shoal.results.GeneralizationGraph):
        return found.gcp
    losses = [Cover.of(column, found).loss() for column in task.coded.quasi]
    return float(np.mean([mean_over_rows(loss, found.sizes, suppressed=0) for loss in losses]))


def compare(title: str, task: Task, methods: list[Method], *, audit: bool = False) -> None:
    rows = []
    yardstick = 0.0
    for method in [*RIVALS, *methods]:
        seconds, found = clock(lambda: method.search(task))  # noqa: B023
        loss = gcp(task, found)
        yardstick = yardstick or loss
        rows.append(
            {
                title: repr(method),
                "GCP": f"{loss:.5f}",
                "of Mondrian": f"{loss / yardstick:.4f}",
                "seconds": f"{seconds:.2f}",
                "peak GB": f"{peak_gigabytes():.2f}",
            }
        )
    rows.append({title: "Freeform() by round", **by_round(task, yardstick)})
    show("", rows)
    if audit:
        check(task, found)


def by_round(task: Task, yardstick: float) -> dict[str, str]:
    """Return what exact rounds lose before anything is improved."""
    bare = Task(task.coded, task.requirements, seconds=0.0)
    seconds, found = clock(lambda: EXACT.search(bare))
    return {
        "GCP": f"{found.gcp:.5f}",
        "of Mondrian": f"{found.gcp / yardstick:.4f}",
        "seconds": f"{seconds:.2f}",
        "peak GB": f"{peak_gigabytes():.2f}",
    }


def check(task: Task, graph: shoal.results.GeneralizationGraph) -> None:
    drawing, _ = clock(lambda: graph.true_matches(fresh_stream()))
    counting, known = clock(lambda: MatchGraph(graph.space, graph.recast()))
    matching, matches = clock(lambda: known.matches)
    flow, regular = clock(lambda: known.regular(graph.k))
    print(f"  true matches drawn in {drawing:.2f} s; audit: {matches.min()} to {matches.max()}")
    print(f"  matches counted in {counting + matching:.2f} s, {graph.k} disjoint assignments")
    print(f"  {'proved' if regular else 'REFUTED'} by flow in {flow:.2f} s\n")
    assert regular
    assert len(task.coded) == len(graph)


def growth(frame: pl.DataFrame) -> None:
    rows = []
    for size in (12_500, 25_000, 50_000, 100_000):
        task = task_of(frame.head(size), CENSUS, 10, seconds=0.0)
        row = {"rows": f"{size:,}"}
        for method in (EXACT, GREEDY, SORT):
            seconds, _ = clock(lambda: method.search(task))  # noqa: B023
            row[repr(method)] = f"{seconds:.2f} s, {1e6 * seconds / size:.0f} µs a row"
        rows.append(row)
    show("Growth of the time (k = 10, exact without improvement)", rows)


def large(frame: pl.DataFrame, source: str) -> None:
    task = task_of(frame, CENSUS, 10)
    began = time.process_time()
    seconds, found = clock(lambda: EXACT.search(task))
    spent = time.process_time() - began
    ratio = found.gcp / gcp(task, shoal.methods.Mondrian().search(task))
    print(f"{source}, {frame.height:,} rows, k = 10: GCP {found.gcp:.5f}, {ratio:.4f} of Mondrian,")
    print(f"{seconds:.0f} s ({spent:.0f} s of processors), peak {peak_gigabytes():.2f} GB\n")


def candidates(frame: pl.DataFrame) -> None:
    task, usual = task_of(frame.head(100_000), CENSUS, 10), (exact.FEW, exact.FINE)
    rows = []
    for _ in range(3):
        found = []
        for few, fine in ((exact.NEAR, 64), usual):
            exact.FEW, exact.FINE = few, fine
            began = time.process_time()
            loss = EXACT.search(task).gcp
            found.append((time.process_time() - began, loss))
        (before, most), (after, least) = found
        rows.append(
            {
                "all, exactly": f"{before:.1f} s, {most:.6f}",
                "as searched": f"{after:.1f} s, {least:.6f}",
                "time": f"{after / before:.3f}",
                "loss": f"{least / most:.4f}",
            }
        )
    show("Candidates and bits of costs (100,000 rows, k = 10, processor seconds)", rows)


def main() -> None:
    seconds, _ = clock(load_all)
    print(f"Loading or compiling all kernels: {seconds:.1f} s\n")
    for method in (EXACT, GREEDY, SORT):  # solvers load on first use
        method.search(task_of(PAPER, ["age", "salary"], 2))
    if "--candidates" in sys.argv:
        candidates(load("sal_acs2024_500k.csv.gz")[0])
        return
    adult, adult_source = load("adult_arx.csv.gz")
    census, source = load("sal_acs2024_500k.csv.gz")
    every: list[Method] = [GREEDY, SORT, EXACT]
    compare("8 tuples, k = 3", task_of(PAPER, ["age", "salary"], 3), every)
    if adult_source.startswith("adult"):
        for k in (5, 10):
            compare(f"{adult_source}, k = {k}", task_of(adult, ADULT, k), every, audit=True)
    for size in (5_000, 100_000):
        task = task_of(census.head(size), CENSUS, 10)
        compare(f"{source}, {size:,} rows, k = 10", task, every, audit=True)
    if "--large" in sys.argv:
        large(census, source)
        workers, source = load("acs2024_workers.parquet")
        large(workers.head(1_000_000), source)
    if "--growth" in sys.argv:
        growth(census)


if __name__ == "__main__":
    main()
