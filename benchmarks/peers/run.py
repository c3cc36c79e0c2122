"""Shoal against its peers: same table, same k, same machine, same run.

    python benchmarks/peers/run.py --environment DIR [--limit 300] [--rows 10000] [--tables adult]
    python benchmarks/peers/run.py --ours [--busy]   # Shoal's lines alone; the peers' stay

anonypy, anjana and pycanon live in an environment of their own in DIR, which is made where it is
not there. Every library works in a fresh process that reads a CSV file and writes another, stopped
at the limit; what it wrote is judged by one formula (judge.py). Shoal gets the rows in three
orders, a run each. Figures go to docs/results, each line with the version and the date that it is
from; the page about them (docs/peers.md) is written anew by show.py.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import json
import os
import sys
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))
from peers.cases import Case, adult, salaries
from peers.environment import peer_python, versions
from peers.judge import judge
from peers.measure import Taken, measure
from peers.show import AUDITS, FACTS, RELEASES, RESULTS, read, show

import shoal
from shoal.kernels import load_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

HERE = Path(__file__).parent
K = 10
SIZES = [10_000, 30_000, 100_000, 500_000]
LIMIT = 300.0
RELEASE = ["table", "source", "rows", "library", "method", "require"]
TAKEN = ["seconds", "cpu", "megabytes", "status"]
JUDGED = ["call", "gcp", "left_out", "smallest", "risk", "likely"]
STAMP = ["order", "version", "date"]
ORDERS = 3  # of the rows, in which Shoal gets them: the first is that of the table


@dataclass(frozen=True)
class Entrant:
    """A library, how it is asked, and how its cells are spelled."""

    library: str
    method: str
    style: str = "shoal"
    suppress: float = 0.0
    proximity: bool = False  # whether the risk is bounded beside k
    hierarchies: bool = False
    most: int | None = None  # rows

    def title(self) -> str:
        """Return what the method is called in tables."""
        return f"{self.method} with hierarchies" if self.hierarchies else self.method


PEERS = (
    Entrant("anonypy", "Mondrian", "anonypy"),
    Entrant("anjana", "full-domain", "nodes"),
    Entrant("anjana", "full-domain, 5 % may go", "nodes", suppress=5.0),
)
SALARIES = (
    *PEERS,
    Entrant("Shoal", "Mondrian()"),
    Entrant("Shoal", "Split()"),
    Entrant("Shoal", "Exchange()"),
    Entrant("Shoal", "Freeform()", "without groups", most=100_000),
    Entrant("Shoal", "Exchange()", proximity=True),
)
ADULT = (
    *PEERS,
    Entrant("Shoal", "Mondrian()"),
    Entrant("Shoal", "Split()"),
    Entrant("Shoal", "Exchange()"),
    Entrant("Shoal", "Exchange()", "nodes", hierarchies=True),
    Entrant("Shoal", "Freeform()", "without groups"),
    Entrant("Shoal", "Exchange()", proximity=True),
)


@dataclass
class Bench:
    """Where peers live, how long anybody may take, and who was stopped already."""

    python: Path | None  # none where Shoal alone is measured
    limit: float
    folder: Path
    stopped: dict[tuple[str, ...], int] = field(default_factory=dict)

    def release(self, case: Case, entrant: Entrant, order: int = 0) -> dict[str, Any]:
        """Have one library publish the table, its rows in some order, and judge the result."""
        require = [f"KAnonymity(k={K})"] + [case.proximity] * entrant.proximity
        line: dict[str, Any] = {
            "table": case.name,
            "source": case.source,
            "rows": case.table.height,
            "library": entrant.library,
            "method": entrant.title(),
            "require": " and ".join(require),
            "order": order,
        }
        if entrant.most is not None and case.table.height > entrant.most:
            return line | {"status": "not tried"}
        target = self.folder / "published.csv"
        ours = entrant.library == "Shoal"
        ordered(case.table, order).write_csv(self.folder / "table.csv")
        asked = {
            "quasi": case.quasi,
            "sensitive": case.sensitive,
            "k": K,
            "require": require,
            "method": entrant.method,
            "suppress": entrant.suppress,
            "hierarchies": str(self.folder / "hierarchies.json")
            if entrant.hierarchies or not ours
            else None,
        }
        script = HERE / f"{entrant.library.lower()}_release.py"
        python = sys.executable if ours else str(self.python)
        command: list[str | Path] = [
            python,
            script,
            self.folder / "table.csv",
            target,
            json.dumps(asked),
        ]
        taken, found = self._measure(command, case, entrant.library, line["method"], require[-1])
        line |= found
        if taken is None or taken.code != 0:
            return line
        published = pl.read_csv(target, schema_overrides=dict.fromkeys(case.quasi, pl.String))
        judged = dataclasses.asdict(judge(published, case, entrant.style))
        return line | judged | {"call": json.loads(taken.out.splitlines()[-1])["call"]}

    def audits(self, case: Case) -> Iterator[dict[str, Any]]:
        """Have pycanon and Shoal measure one published table, a Mondrian release."""
        schema = shoal.Schema(quasi=case.quasi, sensitive=case.sensitive)
        release = shoal.anonymize(
            case.table, schema, require=f"KAnonymity(k={K})", method="Mondrian()"
        )
        path = self.folder / "audited.csv"
        release.table.drop("group").write_csv(path)
        line = {"table": case.name, "source": case.source, "rows": case.table.height}
        if self.python is not None:
            command: list[str | Path] = [self.python, HERE / "pycanon_levels.py", path]
            command += [case.sensitive, *case.quasi]
            taken, found = self._measure(command, case, "pycanon")
            known = [] if taken is None else [json.loads(text) for text in taken.out.splitlines()]
            levels = ", ".join(name for one in known for name in one)
            yield line | {"library": "pycanon", "levels": levels} | found
        program = Path(sys.executable).with_name("shoal")
        roles = ["--quasi", ",".join(case.quasi), "--sensitive", case.sensitive]
        taken, found = self._measure(
            [program, "audit", path, *roles, "--json"], case, "shoal audit"
        )
        assert taken is not None
        column = json.loads(taken.out)["columns"][0]
        levels = ", ".join(dict.fromkeys(level["principle"] for level in column["levels"]))
        yield line | {"library": "Shoal", "levels": f"k, {levels}, proximity"} | found

    def _measure(
        self, command: Sequence[str | Path], case: Case, *who: str
    ) -> tuple[Taken | None, dict[str, Any]]:
        """Run a command; whoever was stopped at fewer rows is not tried again."""
        mark = (case.name, *who)
        if mark in self.stopped:
            return None, {"status": f"not tried: stopped at {self.stopped[mark]:,} rows"}
        taken = measure(command, limit=self.limit)
        status = "" if taken.code == 0 else f"failed: {taken.reason}"
        if taken.code is None:
            self.stopped[mark] = case.table.height
            status = f"stopped after {self.limit:.0f} s"
        figures = {name: getattr(taken, name) for name in ("seconds", "cpu", "megabytes")}
        return taken, figures | {"status": status}

    def prepare(self, case: Case) -> None:
        """Write the hierarchies that libraries read."""
        (self.folder / "hierarchies.json").write_text(json.dumps(case.hierarchies), "utf-8")


def ordered(table: pl.DataFrame, order: int) -> pl.DataFrame:
    """Return a table with its rows in the order of a number: 0 leaves them as they are."""
    return table.sample(fraction=1, shuffle=True, seed=order) if order else table


def write(path: Path, names: list[str], lines: list[dict[str, Any]]) -> None:
    """Write lines as CSV, numbers in six digits; those of a table and a library stay together."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        for line in lines:
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in line.items()})


def subject(line: dict[str, Any]) -> tuple[str, float, str]:
    """Return what a line is about: a table, its rows and who published or audited it."""
    return line["table"], float(line["rows"]), line["library"]


class Book:
    """The lines of a file: those that are measured anew take the place of those of before."""

    def __init__(
        self, path: Path, names: list[str], stamps: dict[str, dict[str, str]], *, busy: bool = False
    ) -> None:
        self.path, self.names, self.stamps, self.busy = path, names, stamps, busy
        self.lines = [*read(path)] if path.exists() else []
        self.anew: set[tuple[str, float, str]] = set()

    def add(self, line: dict[str, Any]) -> None:
        """Put a line where those of its table and library stand, and write the file."""
        made = line | self.stamps[line["library"]]
        if self.busy:
            made |= {name: None for name in ("seconds", "call") if name in made}
        about = subject(line)
        places = [at for at, one in enumerate(self.lines) if subject(one) == about]
        if about not in self.anew:
            self.anew.add(about)
            self.lines = [one for one in self.lines if subject(one) != about]
            self.lines.insert(min(places, default=len(self.lines)), made)
        else:
            self.lines.insert(max(places) + 1, made)
        print(json.dumps(made), flush=True)
        write(self.path, self.names, self.lines)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--environment", type=Path, help="where the peers live")
    options.add_argument("--ours", action="store_true", help="measure Shoal's lines alone")
    options.add_argument(
        "--busy", action="store_true", help="beside other work: keep no seconds on the clock"
    )
    options.add_argument("--limit", type=float, default=LIMIT, help="seconds for each run")
    options.add_argument("--rows", default=",".join(map(str, SIZES)), help="sizes, as 10000,30000")
    options.add_argument("--tables", default="salaries,adult", help="which of the two to use")
    chosen = options.parse_args()
    if chosen.ours == bool(chosen.environment):
        options.error("Name --environment DIR for the peers, or --ours for Shoal alone.")
    python = None if chosen.ours else peer_python(chosen.environment)
    sizes = [int(size) for size in chosen.rows.split(",")]
    tables = chosen.tables.split(",")
    makers: list[tuple[Callable[[], Case], tuple[Entrant, ...]]] = [
        *((lambda n=n: salaries(n), SALARIES) for n in sizes if "salaries" in tables),
        *([(adult, ADULT)] if "adult" in tables else []),
    ]
    load_all()  # compiled once, as at installation
    RESULTS.mkdir(exist_ok=True)
    facts = json.loads(FACTS.read_text("utf-8")) if FACTS.exists() else {}
    known = {"shoal": shoal.__version__} | (versions(python) if python else {})
    today = datetime.now(UTC).date().isoformat()
    stamps = {
        name: {"version": known.get(name.lower(), ""), "date": today}
        for name in ("Shoal", "anonypy", "anjana", "pycanon")
    }
    names = ["table", "source", "rows", "library", *TAKEN, "levels", "version", "date"]
    releases = Book(RELEASES, [*RELEASE, *TAKEN, *JUDGED, *STAMP], stamps, busy=chosen.busy)
    audits = Book(AUDITS, names, stamps, busy=chosen.busy)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(python, chosen.limit, Path(folder))
        for make, entrants in makers:
            case = make()
            bench.prepare(case)
            for entrant in entrants:
                ours = entrant.library == "Shoal"
                for order in range(ORDERS if ours else 1) if ours or python else ():
                    releases.add(bench.release(case, entrant, order))
            for audit in bench.audits(case):
                audits.add(audit)
    facts |= {"cores": os.cpu_count(), "limit": chosen.limit, "k": K}
    facts["versions"] = {**facts.get("versions", {}), **known}
    FACTS.write_text(json.dumps(facts, indent=2) + "\n", "utf-8")
    show()


if __name__ == "__main__":
    main()
