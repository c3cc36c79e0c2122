"""One scale for all: python benchmarks/scale.py --environments DIR [--tables A,B] [--only NAME].

What systems make of the same tables, on one scale: the error of counts, of a regression and of a
classifier against what attackers gain from people being in it, that is, success on members less
success on controls. Systems lie in benchmarks/systems, whose README says how to add one. Each
package has an environment of its own in DIR, made where it is not there; rows are kept in DIR too,
so a run that was stopped goes on where it was. Figures go to docs/results/scale.csv, those of
the package anonymeter to docs/results/scale-anonymeter.csv. The page docs/scale.md and its charts
are made from both (--show makes them alone).
"""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

sys.path.insert(0, str(Path(__file__).parent / "systems"))
os.environ.setdefault("OMP_NUM_THREADS", "1")  # a table of 1,000 rows is slower on more
import meter
from common import load
from measuring import Case, attacks, auc, errors
from scaling import FIGURES, FILE, KEY, METER_FIGURES, METER_FILE, read, show

from shoal.datasets.census import census

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SYSTEMS = Path(__file__).parent / "systems"
ROWS, SEEDS, BINS = 1000, 3, 12
OUTSIDE = ("salaries", "shipped")  # the tables that anonymeter attacks, with the first seed


def salaries() -> Case:
    """Take a sample of American workers, 2024."""
    table, _ = load("sal_acs2024_500k.csv.gz", 60_000)
    bounds = {"age": [16, 95], "education": [1, 24], "occupation": [0, 9999]}
    return case("salaries", table, bounds)


def health() -> Case:
    """Take people with an income of a health survey, 2005."""
    table, _ = load("informs_demographics.csv.gz")
    bounds = {"birth_year": [1920, 1987], "education_years": [0, 17], "n_conditions": [0, 40]}
    ends = {**bounds, "income": [1000, 100_000]}
    kept = [pl.col(name).is_between(low, high) for name, (low, high) in ends.items()]
    return case("health", table.filter(*kept), bounds)


def shipped() -> Case:
    """Take the table that ships with Shoal, birthplaces as numbers."""
    ranks = pl.col("birthplace").rank("dense").cast(pl.Int64)
    bounds = {"age": [16, 95], "birthplace": [1, 24], "occupation": [0, 1209]}
    return case("shipped", census(30_000).with_columns(ranks), bounds)


def case(name: str, table: pl.DataFrame, quasi: dict[str, list[int]]) -> Case:
    bounds = {**quasi, "income": [0, 100_999]}
    table = table.select(*bounds)
    for column, (low, high) in bounds.items():
        assert table[column].is_between(low, high).all(), column
    return Case(name, table, [*quasi], "income", 2000, bounds, dict.fromkeys(bounds, BINS))


TABLES = {one.__name__: one for one in (salaries, health, shipped)}


def python_of(requirements: Sequence[str], folder: Path, name: str) -> Path:
    """Return the interpreter of a package's environment, made where it is not there yet."""
    if not requirements:
        return Path(sys.executable)
    python = folder / name / "bin" / "python"
    if not python.exists():
        print(f"Making the environment {python.parents[1]} …", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *requirements], check=True)
    return python


def jobs_of(cases: dict[str, Case], names: Iterable[str], folder: Path, rows: int) -> list[dict]:
    """Return what is to be made: every setting of every system, of every table, with every seed."""
    found: list[dict[str, Any]] = []
    for seed in range(1, SEEDS + 1):
        for table, one in cases.items():
            place = folder / "rows" / f"{table}-{rows}-{seed}"
            place.mkdir(parents=True, exist_ok=True)
            members, controls = one.drawn(seed, rows)
            members.write_csv(place / "members.csv")
            controls.write_csv(place / "controls.csv")
            for name in names:
                for at, setting in enumerate(importlib.import_module(name).SETTINGS):
                    found.append({
                        "table": table, "system": name[3:], "setting": setting, "seed": seed,
                        "case": one.said(), "source": str(place / "members.csv"),
                        "controls": str(place / "controls.csv"),
                        "target": str(place / f"{name}-{at}.csv"),
                    })  # fmt: skip
    return found


def fed(python: Path, script: str, words: Sequence[str], jobs: list[dict], **more: Any) -> Any:
    """Give jobs to a script, a line each."""
    lines = "".join(json.dumps(one) + "\n" for one in jobs)
    command = [str(python), str(SYSTEMS / script), *words]
    return subprocess.run(command, input=lines, text=True, check=True, **more)


@cache
def _best(one: Case, source: str) -> float:
    """Return how well a classifier does that learns from the people of a draw themselves."""
    members, controls = (
        pl.read_csv(Path(source).with_stem(name)) for name in ("members", "controls")
    )
    return auc(one, members, controls, members)


def measured(job: dict, one: Case) -> dict:
    """Measure what a system made."""
    members, controls = (pl.read_csv(job[name]) for name in ("source", "controls"))
    target = Path(job["target"])
    line = {name: job[name] for name in KEY} | json.loads(target.with_suffix(".json").read_text())
    if line["status"]:
        return line
    line |= errors(one, members, pl.read_csv(target), controls, _best(one, job["source"]))
    for attack, shares in attacks(one, members, controls, target, job["seed"]).items():
        line |= {f"{attack} {side}": share for side, share in shares.items()}
    return line


def write(path: Path, names: Sequence[str], line: dict) -> None:
    """Add a line of figures, in five digits."""
    new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow({k: f"{v:.5g}" if isinstance(v, float) else v for k, v in line.items()})


def undone(jobs: list[dict], path: Path) -> list[dict]:
    """Return the jobs that a file has no figures of."""
    done = {tuple(line[name] for name in KEY) for line in read(path)}
    return [one for one in jobs if tuple(str(one[name]) for name in KEY) not in done]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--environments", type=Path, help="folder of environments and of rows")
    options.add_argument("--tables", default=",".join(TABLES))
    options.add_argument("--only", default="", help="one system, for example aim")
    options.add_argument("--rows", type=int, default=ROWS)
    options.add_argument("--show", action="store_true", help="write the page from what is known")
    chosen = options.parse_args()
    if not chosen.show:
        if chosen.environments is None:
            options.error("--environments says where packages are installed")
        measure_all(chosen)
    show()


def measure_all(chosen: argparse.Namespace) -> None:
    """Make and measure what is not known yet: all with the first seed, then with the next."""
    folder: Path = chosen.environments
    cases = {name: TABLES[name]() for name in chosen.tables.split(",")}
    names = sorted(path.stem for path in SYSTEMS.glob("by_*.py"))
    names = [name for name in names if chosen.only in {"", name[3:]}]
    jobs = jobs_of(cases, names, folder, chosen.rows)
    for seed in range(1, SEEDS + 1):
        for name in names:
            _measure(
                [one for one in jobs if (one["seed"], one["system"]) == (seed, name[3:])],
                name, cases, folder,
            )  # fmt: skip
        if seed == 1 and not chosen.only:
            _attack_from_outside(jobs, folder)


def _measure(jobs: list[dict], name: str, cases: dict[str, Case], folder: Path) -> None:
    """Have one system make what it did not yet, and measure that."""
    own = undone(jobs, FILE)
    to_make = [one for one in own if not Path(one["target"]).with_suffix(".json").exists()]
    if to_make:
        python = python_of(importlib.import_module(name).REQUIREMENTS, folder, name[3:])
        fed(python, "run.py", [name], to_make)
    for one in own:
        line = measured(one, cases[one["table"]])
        print(json.dumps(line), flush=True)
        write(FILE, FIGURES, line)


def _attack_from_outside(jobs: list[dict], folder: Path) -> None:
    """Have the package anonymeter attack two of the tables, as the first seed drew them."""
    outside = [one for one in undone(jobs, METER_FILE) if one["table"] in OUTSIDE]
    outside = [one for one in outside if one["seed"] == 1 and Path(one["target"]).exists()]
    for one in outside:
        python = python_of(meter.REQUIREMENTS, folder, "meter")
        told = fed(python, "meter.py", [], [one], stdout=subprocess.PIPE)
        write(METER_FILE, METER_FIGURES, json.loads(told.stdout))


if __name__ == "__main__":
    main()
