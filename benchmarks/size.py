"""What a large table costs: python benchmarks/size.py [--rows 10000000] [--method 'Split()'].

Makes a table of eight quasi columns and one sensitive one, publishes it with the command as a
person would, from CSV to CSV and from Parquet to Parquet, and prints seconds by phase and the
peak of memory as a ratio to the coded arrays (4 bytes a quasi cell, 8 a sensitive one). The limit
is 6, interpreter and libraries included.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from common import clock, show

LIMIT = 6
BATCH = 500_000
QUASI = ("age", "sex", "zip", "education", "marital", "occupation", "birthplace", "hours")
REQUIRE = "EpsilonM(epsilon=2000, m=5)"


def batch(rows: int, seed: int) -> pl.DataFrame:
    random = np.random.default_rng((1, seed))

    def labels(stem: str, count: int) -> pl.Series:
        names = pl.Series([f"{stem} {number}" for number in range(count)])
        return names.gather(np.minimum(random.geometric(min(0.5, 6 / count), rows) - 1, count - 1))

    return pl.DataFrame(
        {
            "age": random.integers(16, 94, rows),
            "sex": labels("sex", 2),
            "zip": random.integers(1, 2000, rows) * 5,
            "education": labels("education", 24),
            "marital": labels("marital", 6),
            "occupation": random.integers(1, 530, rows) * 10,
            "birthplace": labels("birthplace", 120),
            "hours": random.integers(1, 99, rows),
            "income": random.lognormal(10.4, 0.6, rows).astype(np.int64),
        }
    )


def generate(path: Path, rows: int) -> None:
    """Write a table as CSV in batches, and the same as Parquet."""
    with path.open("wb") as file:
        for begin in range(0, rows, BATCH):
            part = batch(min(BATCH, rows - begin), begin)
            part.write_csv(file, include_header=not begin)
    pl.scan_csv(path).sink_parquet(path.with_suffix(".parquet"))


def measured(call: list[str]) -> tuple[int, str]:
    """Run a command and return its peak memory in bytes and what it printed."""
    with tempfile.TemporaryFile() as said:
        child = os.posix_spawn(
            call[0], call, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, said.fileno(), 1)]
        )
        _, status, used = os.wait4(child, 0)
        if status:
            sys.exit(f"{' '.join(call)} ended with {os.waitstatus_to_exitcode(status)}")
        said.seek(0)
        return used.ru_maxrss * 1024, said.read().decode()


def publish(table: Path, method: str, rows: int) -> dict[str, str]:
    kind = table.suffix[1:]
    target = table.with_name(f"release-{kind}")
    call = [str(Path(sys.executable).with_name("shoal")), "anonymize", str(table)]
    call += ["--quasi", ",".join(QUASI), "--sensitive", "income", "--require", REQUIRE]
    call += ["--method", method, "--output", str(target), "--format", kind, "--quiet", "--json"]
    seconds, (peak, said) = clock(lambda: measured(call))
    manifest = json.loads(said)
    return {
        "format": kind,
        "rows": f"{rows:,}",
        "groups": f"{manifest['groups']:,}",
        **{phase: f"{taken:.1f}" for phase, taken in manifest["seconds"].items()},
        "all s": f"{seconds:.1f}",
        "peak GB": f"{peak / 1e9:.2f}",
        "times coded": f"{peak / (rows * (4 * len(QUASI) + 8)):.2f}",
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--method", default="Split()")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="shoal-size-") as place:
        table = Path(place, "table.csv")
        generate(table, chosen.rows)
        found = [
            publish(one, chosen.method, chosen.rows)
            for one in (table, table.with_suffix(".parquet"))
        ]
    show(f"{chosen.method}, {REQUIRE}; the limit is {LIMIT} times the coded arrays", found)


if __name__ == "__main__":
    main()
