"""Large tables: memory by row, and ends that come at the wrong moment."""

import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from system.shell import PATIENCE, names_in, shoal, start

QUASI = ("age", "sex", "zip", "education", "marital", "occupation", "birthplace", "hours")
BYTES = 4 * len(QUASI) + 8  # of the coded arrays, a row
REQUIRE = "EpsilonM(epsilon=2000, m=5)"
ROLES = (
    *("--quasi", ",".join(QUASI), "--sensitive", "income"),
    *("--require", REQUIRE, "--method", "Split()"),
)
KILLS = 10


def make(path: Path, rows: int) -> Path:
    chance = np.random.default_rng(1)
    sizes = {"age": 78, "zip": 2000, "occupation": 530, "hours": 98}
    table = pl.DataFrame(
        {
            name: chance.integers(sizes[name], size=rows)
            if name in sizes
            else pl.Series([f"{name} {label}" for label in range(12)])[
                chance.integers(12, size=rows)
            ]
            for name in QUASI
        }
    ).with_columns(
        income=chance.lognormal(10.4, 0.6, rows).astype(np.int64), unused=pl.lit("x" * 50)
    )
    table.write_csv(path) if path.suffix == ".csv" else table.write_parquet(path)
    return path


# Memory

AT_ONCE = {
    "MALLOC_MMAP_THRESHOLD_": str(2**17),
    "_RJEM_MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0",
}
# The peak that `getrusage` tells begins with that of whoever started the process.
PEAK = """
import sys
import shoal.release.recoding, shoal.table.delimited, shoal.table.reading, shoal.utility.queries
shoal.utility.queries.KEPT = 2**22
shoal.table.reading.ROWS = shoal.table.reading.BATCH = 2**13
for one in (shoal.release.recoding.Recoding.text, shoal.release.recoding.Recoding.typed):
    one.__defaults__ = (2**13,)
shoal.table.delimited.read_csv.__kwdefaults__["part"] = 2**19
from shoal.cli import main
def leave(message, code):
    with open("/proc/self/status") as status:
        (peak,) = (line for line in status if line.startswith("VmHWM"))
    print(1024 * int(peak.split()[1]))
    sys.exit(message or code)
main.finish = leave
main.main()
"""


def peak(table: Path, *options: object) -> int:
    """Return the peak memory of a run whose batches are so small that only rows count.

    What is let go of is given back at once, as it is of arrays with ten million rows, which are too
    large for allocators to keep.
    """
    target = table.with_suffix(".out")
    call = ["anonymize", table, *ROLES, "--output", target, "--quiet", "--json", *options]
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *map(str, call)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | AT_ONCE,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout.splitlines()[-1])


@pytest.mark.long
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_memory_grows_by_little_more_than_the_coded_arrays(place: Path, format: str) -> None:
    """Ten million rows may take six times the coded arrays, 240 bytes a row; the interpreter with a
    batch, some 0.35 GB, is 35 of them. That leaves 205 bytes, and published cells, which repeat
    less in a small table, are given those 35 here: a row may add six times its coded arrays.
    """
    few, many = 100_000, 400_000
    tables = [make(place / f"{rows}.{format}", rows) for rows in (few, many)]
    # What threads have not given back yet differs from run to run, so the least of four counts.
    peaks = [min(peak(table, "--format", format, "--force") for _ in range(4)) for table in tables]
    assert peaks[1] > peaks[0]
    assert (peaks[1] - peaks[0]) / (many - few) < 6 * BYTES


# Ends at the wrong moment


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("table") / "table.csv", 10_000)


def begin(table: Path, place: Path, *options: object) -> subprocess.Popen[str]:
    return start("anonymize", table, *ROLES, "--output", place / "out", *options, "--quiet")


def complete(table: Path, place: Path, *options: object) -> float:
    """Run to the end and return how long that takes."""
    begun = time.monotonic()
    process = begin(table, place, *options)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said
    return time.monotonic() - begun


def kill(process: subprocess.Popen[str], place: Path, moment: float, *, staged: bool) -> None:
    """Kill a run some seconds after its start, or after it has staged something."""
    left = set(place.glob(".*.partial"))
    while staged and process.poll() is None and set(place.glob(".*.partial")) <= left:
        time.sleep(0.002)
    time.sleep(moment)
    process.kill()
    process.communicate()


def check_whole_or_none(place: Path) -> bool:
    """Return whether a release stands, which must be whole; what is beside it only owners read."""
    for name in names_in(place):
        path = place / name
        if name not in {"out", "linkage.csv"}:
            assert name.endswith(".partial")
            mode = stat.S_IMODE(path.stat().st_mode)
            old = path.is_dir() and (path / "manifest.json").exists()
            assert mode == (0o700 if path.is_dir() else 0o600) or old
    if not (place / "out").exists():
        return False
    assert shoal("audit", place / "out").code == 0
    return True


@pytest.mark.long
def test_killing_at_any_moment_leaves_a_whole_release_or_none(table: Path, place: Path) -> None:
    taken = complete(table, place)
    chance = random.Random(1)
    shutil.rmtree(place / "out")
    for number in range(KILLS):
        process = begin(table, place, "--linkage", place / "linkage.csv", "--force")
        staged = number % 2 == 0
        kill(process, place, chance.uniform(0, 0.3 if staged else 1.1) * taken, staged=staged)
        if check_whole_or_none(place):
            shutil.rmtree(place / "out")
    complete(table, place, "--linkage", place / "linkage.csv", "--force")
    assert names_in(place) == ["linkage.csv", "out"]  # what killed runs had left is cleared away


@pytest.mark.long
def test_killing_while_replacing_leaves_the_old_release_or_the_new_one(
    table: Path, place: Path
) -> None:
    taken = complete(table, place)
    chance = random.Random(2)
    for _ in range(KILLS // 2):
        process = begin(table, place, "--force")
        kill(process, place, chance.uniform(0, 0.3) * taken, staged=True)
        assert check_whole_or_none(place)
    complete(table, place, "--force")
    assert names_in(place) == ["out"]


@pytest.mark.long
def test_interrupting_at_any_moment_leaves_a_whole_release_or_nothing(
    table: Path, place: Path
) -> None:
    taken = complete(table, place)
    shutil.rmtree(place / "out")
    for share in (0.35, 0.5, 0.6, 0.7, 0.8, 0.9):
        process = begin(table, place)
        time.sleep(share * taken)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
        if process.returncode == 0:  # it was faster this time
            shutil.rmtree(place / "out")
            continue
        assert process.returncode in {130, -signal.SIGINT}
        assert process.returncode != 130 or "interrupted. No half-written file is left" in said
        assert "Traceback" not in said or process.returncode != 130
        assert names_in(place) in ([], ["out"])  # it may have come a moment after the last step
        if check_whole_or_none(place):
            shutil.rmtree(place / "out")


# Progress


def test_every_phase_reports_a_rising_share(place: Path) -> None:
    import shoal as library
    from shoal.table.reading import read_lean

    told: dict[str, list[float]] = {}

    def progress(phase: str, share: float) -> None:
        told.setdefault(phase, []).append(share)

    for kind in ("csv", "parquet"):
        told.clear()
        table = make(place / f"table.{kind}", 30_000)
        frame = read_lean(table, progress=progress)
        schema = library.Schema(quasi=QUASI, sensitive="income")
        release = library.anonymize(
            frame,
            schema,
            require=REQUIRE,
            method="Split()",
            progress=progress,
        )
        release.write(place / f"out-{kind}", format=kind, progress=progress)
        for phase in ("read", "code", "search", "recode", "write", "audit", "report"):
            shares = told[phase]
            assert shares == sorted(shares), phase
            assert 0.0 <= shares[0] <= shares[-1] <= 1.0
        for phase in ("code", "recode", "audit"):
            assert any(0.0 < share < 1.0 for share in told[phase]), phase
