"""What `Exchange` loses beside what it has to, and what time adds: python benchmarks/limit.py.

Pass the names of the cases to run, as in `python benchmarks/limit.py D d`; all by default.
`--seconds N` spends so many more on each, counted as half of what the processor works, as on two
cores that are free, so that a busy machine does not matter. `--beside SOURCE` has the sources of
another checkout (its `src`) search each case right before, and prints the ratios.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time

from common import gcp, load, show

import shoal
from shoal.kernels import load_all
from shoal.methods import annealing, exchange
from shoal.methods.base import Task
from shoal.principles.groups import Groups
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table
from shoal.utility.least import least_loss

QUASI = ["age", "puma", "occupation"]
CASES = {
    "A": (500_000, "EpsilonM(epsilon=2000, m=5)"),
    "B": (100_000, "EpsilonM(epsilon=4500, m=10)"),
    "C": (100_000, "KAnonymity(k=10)"),
    "D": (100_000, "EpsilonM(epsilon=4500, m=7)"),
    "d": (20_000, "EpsilonM(epsilon=2000, m=5)"),
}
CORES = 2


class Clock:
    """Half of the seconds that the processor has worked: those of two cores side by side."""

    @staticmethod
    def monotonic() -> float:
        """Return them."""
        return spent() / CORES


def spent() -> float:
    """Return the seconds that the processor has worked for this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def case_of(name: str) -> Task:
    """Return a case, coded."""
    count, require = CASES[name]
    frame, _ = load("sal_acs2024_500k.csv.gz", count)
    coded = code_table(frame, shoal.Schema(quasi=QUASI, sensitive="income"))
    assert coded.space.ranks.size  # laid out once, before anything is measured
    return Task(coded, tuple(requirements(require, ["income"])))


def measured(task: Task) -> tuple[Groups, float, float, float]:
    """Return groups that hold, what they lose, and processor and wall seconds."""
    begun, wall = spent(), time.perf_counter()
    found = shoal.Exchange().search(task)
    took, wall = spent() - begun, time.perf_counter() - wall
    assert isinstance(found, Groups)
    assert task.holds(found)
    return found, gcp(task.coded, found), took, wall


def elsewhere(name: str, source: str) -> list[float]:
    """Return loss and processor seconds of a case, as the sources of another checkout have it."""
    child = subprocess.run(
        [sys.executable, __file__, name, "--plain"],
        env=os.environ | {"PYTHONPATH": source},
        check=True,
        capture_output=True,
        text=True,
    )
    return [float(number) for number in child.stdout.split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--beside")
    parser.add_argument("--plain", action="store_true", help="print loss and processor seconds")
    asked = parser.parse_args()
    load_all()
    rows = []
    for name in asked.cases:
        before = elsewhere(name, asked.beside) if asked.beside else []
        task = case_of(name)
        found, loss, took, wall = measured(task)
        if asked.plain:
            print(loss, took)
            continue
        row = {
            "case": name,
            "rows": f"{len(task.coded):,}",
            "require": CASES[name][1],
            "GCP": f"{loss:.5f}",
            "CPU s": f"{took:.1f}",
            "CPU / wall": f"{took / wall:.2f}",
        }
        if before:
            row |= {"GCP before": f"{before[0]:.5f}", "CPU before": f"{before[1]:.1f}"}
            row |= {"loss ×": f"{loss / before[0]:.3f}", "CPU ×": f"{took / before[1]:.2f}"}
        else:
            begun = spent()
            least = least_loss(task.coded, task.requirements)
            row |= {"least": f"{least:.5f}", "its CPU s": f"{spent() - begun:.1f}"}
            row |= {"at most ×": f"{loss / least:.2f}"}
        if asked.seconds:
            for module in (annealing, exchange):
                vars(module)["time"] = Clock
            longer = shoal.Exchange().refine(task, found, asked.seconds)
            assert isinstance(longer, Groups)
            assert task.holds(longer)
            row |= {"annealed": f"{gcp(task.coded, longer):.5f}"}
            row |= {"ratio": f"{gcp(task.coded, longer) / loss:.3f}"}
        rows.append(row)
    if rows:
        show(
            "Exchange, the least possible loss, and annealing; every result measured to hold", rows
        )


if __name__ == "__main__":
    main()
