"""First minutes: what an installation and the first releases take, by part.

`python benchmarks/first.py` prints the processor seconds of `shoal anonymize` on 1,000 rows,
report included, with everything compiled. With `--fresh`, also those of two new environments, for
the wheel that carries compiled kernels and for the plain one: the wheel and what it needs are
installed from files that pip has at hand (`--wheels DIR`: from that directory alone), and 10,000
rows are anonymized there, for the first time and again; seconds by part, megabytes by package.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from common import load
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parents[1]
QUASI = "age,puma,occupation"
REQUIRE = "EpsilonM(epsilon=2000, m=5)"
MEGABYTE = 1e6
WITHOUT = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}  # imports take longer without bytecode
SHOWN = 8  # packages, the largest first
# What is compiled says how long it took: of the time of a kernel, what it calls is not part.
TIMED = """
import atexit, sys, time
from numba.core import event
spent, running = [0.0, 0], []
class Watch(event.Listener):
    def on_start(self, one):
        running.append(time.process_time())
    def on_end(self, one):
        begun = running.pop()
        spent[1] += 1
        if not running:
            spent[0] += time.process_time() - begun
event.register("numba:compile", Watch())
import os
leave = os._exit
def told(code):
    print(spent[0], spent[1], flush=True)
    leave(code)
os._exit = told
from shoal.cli.main import main
main()
"""


def spent(command: Sequence[object], **environment: str) -> tuple[float, str]:
    """Run a command; return its processor seconds, its children's included, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [str(part) for part in command],
        env={name: text for name, text in os.environ.items() if name not in WITHOUT} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr or done.stdout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def anonymize(table: Path, output: Path) -> list[object]:
    """Return the arguments of a release."""
    asked = ("--quasi", QUASI, "--sensitive", "income", "--require", REQUIRE)
    return ["anonymize", table, *asked, "--output", output, "--force", "--quiet"]


def written(place: Path, rows: int) -> Path:
    """Write the first rows of the census table."""
    frame, _ = load("sal_acs2024_500k.csv.gz", rows)
    frame.write_csv(place / f"{rows}.csv")
    return place / f"{rows}.csv"


def warmed(place: Path, tries: int = 5) -> list[tuple[str, str]]:
    """Return what 1,000 rows take once everything is compiled: the least and the most of tries."""
    source = {"PYTHONPATH": str(HERE / "src")}
    command = [
        sys.executable,
        "-m",
        "shoal.cli.main",
        *anonymize(written(place, 1000), place / "a"),
    ]
    spent(command, **source)
    found = sorted(spent(command, **source)[0] for _ in range(tries))
    return [("1,000 rows, compiled before", f"{found[0]:.2f} to {found[-1]:.2f}")]


def fresh(place: Path, table: Path, wheels: Path | None, hook: str) -> list[tuple[str, str]]:
    """Return what a new environment takes, by part: the wheel is made with or without kernels."""
    build = ("hatchling", "build", "--target", "wheel", "--directory", place / "built")
    enabled = {"HATCH_BUILD_HOOK_ENABLE_CUSTOM": hook}
    with contextlib.chdir(HERE):
        built, _ = spent([sys.executable, "-m", *build], **enabled)
    made, _ = spent([sys.executable, "-m", "venv", place / "env"])
    python = place / "env" / "bin" / "python"
    (wheel,) = (place / "built").glob("shoal-*.whl")
    files = ["--no-index", "--find-links", wheels] if wheels else ["--prefer-binary"]
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check", *files]
    copied, _ = spent([*pip, "--no-compile", wheel])
    packages = next((place / "env" / "lib").glob("python*")) / "site-packages"
    bytecode, _ = spent([python, "-m", "compileall", "-q", packages])
    command = [python, "-c", TIMED, *anonymize(table, place / "b")]
    first, told = spent(command)
    seconds, kernels = told.split()[-2:]
    again, _ = spent(command)
    lines = [
        ("the wheel", f"{wheel.stat().st_size / MEGABYTE:.1f} MB"),
        ("making it", f"{built:.1f}"),
        ("an empty environment", f"{made:.1f}"),
        ("pip install", f"{copied:.1f}"),
        ("compiling to bytecode, as pip does", f"{bytecode:.1f}"),
        ("10,000 rows, the first time", f"{first:.1f}"),
        ("of it compiling", f"{float(seconds):.1f}"),
        ("kernels compiled", kernels),
        ("10,000 rows again", f"{again:.2f}"),
        ("pip install and the first release", f"{copied + bytecode + first:.1f}"),
    ]
    return lines + [(name, f"{size:,.1f} MB") for name, size in sizes(packages)]


def sizes(packages: Path) -> list[tuple[str, float]]:
    """Return the largest packages of an environment, and all of it, in megabytes."""
    found = {
        one.name: sum(file.stat().st_size for file in one.rglob("*") if file.is_file()) / MEGABYTE
        for one in packages.iterdir()
        if one.is_dir()
    }
    largest = dict(sorted(found.items(), key=lambda one: -one[1])[:SHOWN])
    largest["shoal"] = found["shoal"]
    return [*largest.items(), ("everything installed", sum(found.values()))]


def run() -> None:
    """Measure and print."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--fresh", action="store_true", help="an environment of its own as well")
    asked.add_argument("--wheels", type=Path, help="where the packages lie; none is fetched")
    given = asked.parse_args()
    table = Table(box=None, pad_edge=False)
    table.add_column("part")
    table.add_column("processor seconds", justify="right")
    if given.fresh:
        table.add_column("without kernels", justify="right")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for line in warmed(place):
            table.add_row(*line)
        if given.fresh:
            rows = written(place, 10_000)
            with_them = fresh(place / "with", rows, given.wheels, "true")
            without = dict(fresh(place / "without", rows, given.wheels, ""))
            for part, one in with_them:
                table.add_row(part, one, without[part])
    Console().print(table)


if __name__ == "__main__":
    run()
