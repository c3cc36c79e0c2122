"""What `Exchange` loses beside what it has to, and what time adds: python benchmarks/limit.py.

Pass the names of the cases to run, as in `python benchmarks/limit.py D d`; all by default. Five
tables beside the census are searched far from the limit of what they can keep and near it.
`--seconds N` spends so many more on each, counted as half of what the processor works, as on two
cores that are free, so that a busy machine does not matter. `--beside SOURCE` has the sources of
another checkout (its `src`) search each case right before, and prints the ratios.

`--rows 1000000 10000000` searches so many synthetic rows in shards instead, each size in a process
of its own, and prints how time grows beyond the number of rows.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from fractions import Fraction

from common import gcp, load, peak_gigabytes, show, yardstick
from split import synthetic

import shoal
from shoal.kernels import load_all
from shoal.methods import annealing, exchange
from shoal.methods.base import Task
from shoal.principles.groups import Groups
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table
from shoal.utility.least import least_loss

QUASI = ["age", "puma", "occupation"]
CENSUS = ("sal_acs2024_500k.csv.gz", QUASI, "income")
HOUSES = ("kc_house_sales.csv.gz", ["lat", "long", "sqft_living"], "price")
LABELS = ("census_acs2024_50k.csv.gz", ["age", "marital", "education", "workclass"], "income")
WORKERS = ("acs2024_workers.parquet", ["age", "state", "occupation"], "income")
DONORS = ("cup_arx.csv.gz", ["AGE", "STATE", "NGIFTALL"], "RAMNTALL")
PATIENTS = (
    "diabetes130_patients.csv.gz",
    ["age", "gender", "num_medications", "time_in_hospital"],
    "num_lab_procedures",
)
CASES = {
    "A": (CENSUS, 500_000, "EpsilonM(epsilon=2000, m=5)"),
    "B": (CENSUS, 100_000, "EpsilonM(epsilon=4500, m=10)"),
    "C": (CENSUS, 100_000, "KAnonymity(k=10)"),
    "D": (CENSUS, 100_000, "EpsilonM(epsilon=4500, m=7)"),
    "d": (CENSUS, 20_000, "EpsilonM(epsilon=2000, m=5)"),
    "houses": (HOUSES, None, "EpsilonM(epsilon=20000, m=5)"),
    "houses-near": (HOUSES, None, "EpsilonM(epsilon=20000, m=16)"),
    "labels": (LABELS, None, "EpsilonM(epsilon=2000, m=5)"),
    "labels-near": (LABELS, None, "EpsilonM(epsilon=2000, m=18)"),
    "workers": (WORKERS, 100_000, "EpsilonM(epsilon=2000, m=5)"),
    "workers-near": (WORKERS, 100_000, "EpsilonM(epsilon=3500, m=8)"),
    "donors": (DONORS, None, "EpsilonM(epsilon=5, m=4)"),
    "donors-near": (DONORS, None, "EpsilonM(epsilon=5, m=9)"),
    "patients": (PATIENTS, None, "EpsilonM(epsilon=1, m=5)"),
    "patients-near": (PATIENTS, None, "EpsilonM(epsilon=1, m=15)"),
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


def case_of(name: str) -> tuple[Task, float]:
    """Return a case, coded, and the seconds that `numpy.lexsort` takes for its rows."""
    (file, quasi, sensitive), count, require = CASES[name]
    frame, _ = load(file, count)
    unit = yardstick(frame, quasi, now=time.process_time)
    coded = code_table(frame, shoal.Schema(quasi=quasi, sensitive=sensitive))
    assert coded.space.ranks.size  # laid out once, before anything is measured
    return Task(coded, tuple(requirements(require, [sensitive]))), unit


def measured(task: Task) -> tuple[Groups, float, float, float, float]:
    """Return groups that hold, what they lose, processor and wall seconds, and those of one core.

    The last are those that this thread worked while no other did; with the rest spread over free
    cores, they say how long it takes at least.
    """
    begun, wall, own = spent(), time.perf_counter(), time.thread_time()
    found = shoal.methods.Exchange().search(task)
    took, wall, own = spent() - begun, time.perf_counter() - wall, time.thread_time() - own
    assert isinstance(found, Groups)
    assert task.holds(found)
    return found, gcp(task.coded, found), took, wall, own


def in_shards(rows: int) -> None:
    """Print processor and wall seconds and megabytes of a search in shards, as numbers."""
    coded = code_table(synthetic(rows), shoal.Schema(quasi=QUASI, sensitive="income"))
    task = Task(coded, tuple(requirements(CASES["A"][2], ["income"])))
    before, begun, wall = peak_gigabytes(), spent(), time.perf_counter()
    _, found, _ = shoal.Local().solve(task, shoal.methods.Exchange(), Fraction(0))
    took, wall = spent() - begun, time.perf_counter() - wall
    assert isinstance(found, Groups)
    assert task.holds(found)
    print(gcp(coded, found), took, wall, before, peak_gigabytes())


def growth(sizes: list[int]) -> None:
    """Print how time and memory grow with the rows."""
    rows, unit = [], 0.0
    for size in sizes:
        loss, took, wall, before, peak = child("--one", str(size))
        unit = unit or took / size
        rows.append(
            {
                "rows": f"{size:,}",
                "GCP": f"{loss:.5f}",
                "CPU s": f"{took:.0f}",
                "wall s": f"{wall:.0f}",
                "CPU by row ×": f"{took / size / unit:.2f}",
                "GB before": f"{before:.2f}",
                "GB at most": f"{peak:.2f}",
            }
        )
    show(f"Exchange in shards of {shoal.methods.Exchange.at_once:,} rows, {CASES['A'][2]}", rows)


def child(*arguments: str, source: str | None = None) -> list[float]:
    """Return the numbers that this program prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, *arguments],
        env=os.environ | ({"PYTHONPATH": source} if source else {}),
        check=True,
        capture_output=True,
        text=True,
    )
    return [float(number) for number in done.stdout.split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--beside")
    parser.add_argument("--plain", action="store_true", help="print loss and processor seconds")
    parser.add_argument("--rows", type=int, nargs="*")
    parser.add_argument("--one", type=int, help="search so many rows and print plain numbers")
    asked = parser.parse_args()
    load_all()
    if asked.one:
        in_shards(asked.one)
        return
    if asked.rows:
        growth(asked.rows)
        return
    rows = []
    for name in asked.cases:
        before = child(name, "--plain", source=asked.beside) if asked.beside else []
        task, unit = case_of(name)
        found, loss, took, wall, own = measured(task)
        if asked.plain:
            print(loss, took)
            continue
        row = {
            "case": name,
            "rows": f"{len(task.coded):,}",
            "require": CASES[name][2],
            "GCP": f"{loss:.5f}",
            "CPU s": f"{took:.1f}",
            "lexsorts": f"{took / unit:.0f}",
            "CPU / wall": f"{took / wall:.2f}",
            "on free cores": f"{took / (own + (took - own) / CORES):.2f}",
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
            longer = shoal.methods.Exchange().refine(task, found, asked.seconds)
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
