"""Print what Spark costs beside one machine: loss, processor time and memory, by rows.

`python benchmarks/spark.py` publishes the benchmark table (or several copies of it, each with its
own small shift of the values) by both engines, and prints for each run rows, method, engine,
processor seconds of all processes, seconds, the most memory in MB of the driver, of its Java, of
the largest executor (where these are processes of their own) and of the largest worker, and the
loss; then the loss as a ratio, the fixed cost and the processor time of a further row. `--rows`,
`--shard`, `--method` and `--master` choose other sizes, `--runs` repeats all of it with other rows.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

DATA = Path(os.environ.get("SHOAL_DATA", "../shared/data")) / "acs2024_workers.parquet"
QUASI, SENSITIVE = ["age", "puma", "occupation"], "income"
REQUIRE = "EpsilonM(epsilon=2000, m=5)"
TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
KINDS = ("driver", "java", "executor", "worker")


def table(rows: int, path: Path, run: int = 0) -> None:
    """Write so many rows: copies of the table, each shifted a little, in parts; others each run."""
    whole = pl.read_parquet(DATA, columns=[*QUASI, SENSITIVE]).cast(pl.Int64)
    path.mkdir()
    draw = np.random.default_rng(1 + run)
    left, part = rows, 0
    while left:
        some = whole.sample(min(left, whole.height), seed=1000 * run + part, shuffle=True)
        if part:  # nobody twice: neighbours of people in the table
            some = some.with_columns(
                pl.col("puma") + pl.Series(draw.integers(-1, 2, some.height)),
                pl.col(SENSITIVE) + pl.Series(draw.integers(-99, 100, some.height)),
            )
        some.write_parquet(path / f"{part:04d}.parquet", row_group_size=250_000)
        left -= some.height
        part += 1


class Watch(threading.Thread):
    """Adds up the processor time of a process and all under it, and their most memory."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.root = root
        self.cpu: dict[int, float] = {}
        self.peak = dict.fromkeys(KINDS, 0)
        self.ended = threading.Event()

    def run(self) -> None:
        """Look twice a second."""
        while not self.ended.wait(0.5):
            self.look()

    def look(self) -> None:
        """Note what every process has taken so far."""
        parents, known = {}, {}
        for one in Path("/proc").iterdir():
            if not one.name.isdigit():
                continue
            try:
                stat = (one / "stat").read_text()
                pages = int((one / "statm").read_text().split()[1])
                words = (one / "cmdline").read_bytes().decode(errors="replace")
            except (OSError, IndexError):
                continue
            rest = stat.rpartition(")")[2].split()
            pid = int(one.name)
            parents[pid] = int(rest[1])
            known[pid] = ((int(rest[11]) + int(rest[12])) / TICK, pages * PAGE >> 20, words)
        for pid, (cpu, memory, words) in known.items():
            above = pid
            while above not in {self.root, 0} and above in parents:
                above = parents[above]
            if above != self.root:
                continue
            self.cpu[pid] = max(self.cpu.get(pid, 0.0), cpu)
            kind = "driver" if pid == self.root else _kind(words)
            self.peak[kind] = max(self.peak[kind], memory)


def _kind(words: str) -> str:
    """Return what the command of a process makes it."""
    if "CoarseGrainedExecutorBackend" in words:
        return "executor"
    return "java" if "java" in words.partition("\0")[0] else "worker"


def measured(path: Path, method: str, engine: str) -> dict[str, float]:
    """Publish a table by the command line and return what that took."""
    with tempfile.TemporaryDirectory(dir=path.parent) as place:
        target = Path(place) / "out"
        names = ["--quasi", ",".join(QUASI), "--sensitive", SENSITIVE, "--require", REQUIRE]
        begun = time.perf_counter()
        ran = subprocess.Popen(
            [sys.executable, "-c", "from shoal.cli.main import main; main()", "anonymize",
             str(path), *names, "--method", method, "--engine", engine, "--output", str(target),
             "--format", "parquet", "--quiet", "--json"],
            stdout=subprocess.PIPE,
        )  # fmt: skip
        watch = Watch(ran.pid)
        watch.start()
        said, _ = ran.communicate()
        code = ran.returncode
        watch.ended.set()
        assert code == 0, code
        manifest = json.loads(said)
        assert all(one["holds"] for one in manifest["measured"])
        return {
            "cpu": sum(watch.cpu.values()),
            "seconds": time.perf_counter() - begun,
            "loss": manifest["loss"]["gcp"],
            "phases": manifest["seconds"],
            **watch.peak,
        }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[500_000, 1_500_000])
    parser.add_argument("--method", nargs="+", default=["Split()"])
    parser.add_argument("--shard", type=int, default=250_000)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--alone", action="store_true", help="no run on one machine beside it")
    asked = parser.parse_args()
    spark = f'Spark(master="{asked.master}", shard={asked.shard})'
    engines = [spark] if asked.alone else ["Local()", spark]
    print("rows method engine cpu seconds", *KINDS, "loss phases")
    for method, run in product(asked.method, range(asked.runs)):
        found: dict[str, list[tuple[int, float]]] = {}
        for rows in asked.rows:
            with tempfile.TemporaryDirectory() as place:
                path = Path(place) / "table"
                table(rows, path, run)
                losses = {}
                for engine in engines:
                    one = measured(path, method, engine)
                    name = engine.partition("(")[0]
                    found.setdefault(name, []).append((rows, one["cpu"]))
                    losses[name] = one["loss"]
                    print(
                        f"{rows:,} {method} {name} {one['cpu']:.1f} {one['seconds']:.1f} "
                        f"{' '.join(str(one[kind]) for kind in KINDS)} {one['loss']:.6f} "
                        f"{one['phases']}",
                        flush=True,
                    )
                if len(losses) == 2:
                    print(f"  loss, as a ratio: {losses['Spark'] / losses['Local']:.4f}")
        slopes = {}
        for name, runs in found.items():
            if len(runs) > 1:
                (few, less), (many, more) = runs[0], runs[-1]
                slopes[name] = (more - less) / (many - few)
                fixed = less - slopes[name] * few
                print(f"  {name}: {slopes[name] * 1e6:.2f} us a row, {fixed:.1f} s fixed")
        if len(slopes) == 2:
            print(f"  a further row, as a ratio: {slopes['Spark'] / slopes['Local']:.2f}")


if __name__ == "__main__":
    main()
