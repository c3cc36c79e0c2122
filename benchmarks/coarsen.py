"""Loss of a coarser release made from a finer one, beside a fresh search for groups of that size.

`python benchmarks/coarsen.py`: 20,000 incomes, groups of five joined to groups of ten.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from common import load

import shoal

ROWS, M = 20_000, 5


def main() -> None:
    """Print both losses, their ratio, and the time."""
    table, source = load("sal_acs2024_500k.csv.gz", ROWS)
    print(f"{table.height:,} rows, {source}")
    schema = shoal.Schema(quasi=["age", "puma", "occupation"], sensitive="income")
    for epsilon in (2000, 4500):
        require = shoal.EpsilonM(epsilon=epsilon, m=M)
        fresh = shoal.anonymize(table, schema, require=require, method=shoal.Exchange(size=2 * M))
        with tempfile.TemporaryDirectory() as place:
            finer = Path(place) / "finer"
            shoal.anonymize(table, schema, require=require).write(finer)
            start = time.perf_counter()
            joined = shoal.coarsen(finer, require=shoal.KAnonymity(k=2 * M))
            seconds = time.perf_counter() - start
        print(
            f"epsilon {epsilon}: fresh {fresh.loss:.4f}, joined {joined.loss:.4f}, "
            f"{joined.loss / fresh.loss:.3f} times, {joined.manifest['groups']} groups of at least "
            f"{2 * M}, {seconds:.1f} s"
        )


if __name__ == "__main__":
    main()
