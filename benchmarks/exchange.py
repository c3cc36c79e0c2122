"""What `Exchange` loses against the papers' methods, and how fast: python benchmarks/exchange.py.

Pass the numbers of the cases to run, as in `python benchmarks/exchange.py 1 4`; all by default.
Case 6 takes the workers of the domain that the other table has (ages 16 to 93, incomes from 1,000
to 100,000): over all incomes, up to 1.9 million, a third of the rows are near to one another, and
`shoal plan` shows that no grouping can keep the requirement.
"""

from __future__ import annotations

import sys

import polars as pl
from common import clock, gcp, load, peak_gigabytes, show

import shoal
from shoal.kernels import load_all
from shoal.methods.base import Method, Task
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table

PLACES = ["age", "puma", "occupation"]
PEOPLE = ["age", "sex", "marital", "race"]
LIFE = ["education", "workclass", "income"]
PAPER = shoal.methods.Split(partition="round-robin")
DISTANCE = "distance=Lp(p=1, weights=[0.4, 0.2, 0.4])"
DISSIMILAR = f"Dissimilarity(epsilon=0.1, delta=0.8, k=10, {DISTANCE})"
SAL, WORKERS = "sal_acs2024_500k.csv.gz", "acs2024_workers.parquet"

CASES: list[tuple[str, int, list[str], list[str], str, Method | None, str, str]] = [
    (SAL, 500_000, PLACES, ["income"], "EpsilonM(epsilon=2000, m=5)", PAPER, "0.38", "40"),
    (SAL, 100_000, PLACES, ["income"], "EpsilonM(epsilon=2000, m=5)", PAPER, "", "6"),
    (SAL, 100_000, PLACES, ["income"], "EpsilonM(epsilon=4500, m=5)", PAPER, "0.41", ""),
    (SAL, 100_000, PLACES, ["income"], "EpsilonM(epsilon=4500, m=10)", PAPER, "0.34", ""),
    (SAL, 50_000, PEOPLE, LIFE, DISSIMILAR, shoal.methods.XColor(), "0.09", "5"),
    (WORKERS, 1_000_000, PEOPLE, LIFE, DISSIMILAR, None, "", "120"),
    (SAL, 100_000, PLACES, [], "KAnonymity(k=10)", shoal.methods.Mondrian(), "0.90", "15"),
]


def search(
    frame: pl.DataFrame, quasi: list[str], sensitive: list[str], require: str, method: Method
) -> tuple[float, float]:
    """Return the seconds and the loss of one search whose result was measured to hold."""
    coded = code_table(frame, shoal.Schema(quasi=quasi, sensitive=sensitive))
    task = Task(coded, tuple(requirements(require, sensitive)))
    seconds, groups = clock(lambda: method.search(task))
    assert task.holds(groups)
    return seconds, gcp(coded, groups)


def main() -> None:
    chosen = [int(text) for text in sys.argv[1:]] or list(range(1, len(CASES) + 1))
    seconds, _ = clock(load_all)
    print(f"Loading or compiling all kernels: {seconds:.1f} s\n")
    rows = []
    for number in chosen:
        name, count, quasi, sensitive, require, rival, most, limit = CASES[number - 1]
        frame, source = load(name)
        if name == WORKERS:
            frame = frame.filter(pl.col("income").is_between(1_000, 100_000), pl.col("age") <= 93)
        frame = frame.head(count)
        seconds, loss = search(frame, quasi, sensitive, require, shoal.methods.Exchange())
        row = {
            "case": str(number),
            "table": source.split(".")[0],
            "rows": f"{frame.height:,}",
            "require": require.replace(f", {DISTANCE}", ", L1"),
            "Exchange s": f"{seconds:.1f}",
            "allowed s": limit,
            "GCP": f"{loss:.4f}",
            "peak GB": f"{peak_gigabytes():.2f}",
        }
        if rival is not None:
            took, paper = search(frame, quasi, sensitive, require, rival)
            row |= {"rival": type(rival).__name__, "its s": f"{took:.1f}"}
            row |= {"its GCP": f"{paper:.4f}", "ratio": f"{loss / paper:.3f}", "allowed": most}
        else:
            row |= {"rival": "", "its s": "", "its GCP": "", "ratio": "", "allowed": ""}
        rows.append(row)
    show("Exchange against the papers' methods; every result measured to hold", rows)


if __name__ == "__main__":
    main()
