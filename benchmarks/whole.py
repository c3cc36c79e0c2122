"""The whole command, from a CSV file to an audited release with its report, beside peers.

    python benchmarks/whole.py [--rows 1000 10000 100000 500000 10000000] [--peers DIR]

Synthetic census, `KAnonymity(k=10)`, each method as far as `--limit` seconds of the processor go
(600), in tables by several seeds (`--seeds`, 3). Printed are processor seconds, as ratios to
`import numba, polars` in the same run (median, least and most), megabytes at the peak, and which
share of the processor's time each phase had. With `--peers`, anonypy, anjana and, for the audit,
pycanon read the same file in the environment in that directory, which is made where it is not
there.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent))
from common import show
from peers.environment import peer_python
from peers.measure import measure

from shoal.datasets.census import census
from shoal.kernels import load_all

if TYPE_CHECKING:
    from peers.measure import Taken

K = 10
PATIENCE = 60  # seconds, at most, for each that the processor may work: a machine may be busy
QUASI, SENSITIVE = ["age", "birthplace", "occupation"], "income"
ROLES = ["--quasi", ",".join(QUASI), "--sensitive", SENSITIVE]
SIZES = [1_000, 10_000, 100_000, 500_000, 10_000_000]
METHODS = ["Mondrian()", "Split()", "Exchange()", "Freeform()"]
SHOAL = [sys.executable, "-c", "from shoal.cli.main import main; main()"]
HERE = Path(__file__).parent / "peers"


@dataclass
class Runs:
    """What one command took, by seeds."""

    taken: list[Taken] = field(default_factory=list)
    units: list[float] = field(default_factory=list)

    def line(self) -> dict[str, str]:
        """Return the figures of a line."""
        ratios = [one.cpu / unit for one, unit in zip(self.taken, self.units, strict=True)]
        found = {
            "CPU s": f"{statistics.median(one.cpu for one in self.taken):.2f}",
            "×": f"{statistics.median(ratios):.2f}",
            "least to most": f"{min(ratios):.2f} to {max(ratios):.2f}",
            "MB": f"{max(one.megabytes for one in self.taken):.0f}",
        }
        phases = [told["seconds"] for told in map(_told, self.taken) if "seconds" in told]
        if phases:
            whole = sum(sum(one.values()) for one in phases)
            found["phases"] = ", ".join(
                f"{name} {sum(one[name] for one in phases) / whole:.0%}" for name in phases[0]
            )
            found["GCP"] = f"{statistics.mean(_told(one)['loss']['gcp'] for one in self.taken):.4f}"
        return found


def _told(taken: Taken) -> dict[str, Any]:
    """Return what a command printed as JSON."""
    lines = taken.out.strip().splitlines()
    found = json.loads(lines[-1]) if lines else {}
    return found if isinstance(found, dict) else {}


def commands(place: Path, peers: Path | None) -> dict[str, list[str | Path]]:
    """Return every command by its name; all read the same file."""
    table, out = place / "table.csv", place / "out"
    require: list[str | Path] = [
        "--require",
        f"KAnonymity(k={K})",
        "--output",
        out,
        "--force",
        "--quiet",
        "--json",
    ]
    found: dict[str, list[str | Path]] = {
        f"shoal anonymize, {method}": [
            *SHOAL, "anonymize", table, *ROLES, "--method", method, *require,
        ]
        for method in METHODS
    }  # fmt: skip
    if peers is not None:
        asked = {"quasi": QUASI, "sensitive": SENSITIVE, "k": K, "suppress": 0.0}
        asked |= {"hierarchies": str(place / "hierarchies.json")}
        for name in ("anonypy", "anjana"):
            script = [peers, HERE / f"{name}_release.py", table, place / "peer.csv"]
            found[name] = [*script, json.dumps(asked)]
    audited = place / "audited.csv"
    found["shoal audit"] = [*SHOAL, "audit", audited, *ROLES, "--json"]
    if peers is not None:
        found["pycanon"] = [peers, HERE / "pycanon_levels.py", audited, SENSITIVE, *QUASI]
    return found


def prepare(place: Path, rows: int, seed: int) -> None:
    """Write the table, a hierarchy for whoever needs one, and a release to be audited."""
    import shoal

    table = census(rows).sample(fraction=1, with_replacement=True, seed=seed)
    table.write_csv(place / "table.csv")
    values = {name: table[name].unique().sort().to_list() for name in QUASI}
    levels = {name: [some, ["*"] * len(some)] for name, some in values.items()}
    (place / "hierarchies.json").write_text(json.dumps(levels), "utf-8")
    schema = shoal.Schema(quasi=QUASI, sensitive=SENSITIVE)
    release = shoal.anonymize(table, schema, require=f"KAnonymity(k={K})", method="Mondrian()")
    release.table.drop("group").write_csv(place / "audited.csv")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=SIZES)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", type=int, default=600)
    parser.add_argument("--peers", type=Path)
    chosen = parser.parse_args()
    load_all()
    peers = None if chosen.peers is None else peer_python(chosen.peers)
    unit = [sys.executable, "-c", "import numba, polars"]
    late: set[str] = set()
    for rows in chosen.rows:
        runs: dict[str, Runs] = {}
        with tempfile.TemporaryDirectory(prefix="shoal-whole-") as folder:
            for seed in range(chosen.seeds):
                prepare(Path(folder), rows, seed)
                for name, command in commands(Path(folder), peers).items():
                    if name in late:
                        continue
                    yardstick = min(measure(unit, limit=60).cpu for _ in range(3))
                    taken = measure(command, limit=PATIENCE * chosen.limit, work=chosen.limit)
                    if taken.code is None:
                        late.add(name)
                    if taken.code != 0:
                        why = f"over {chosen.limit} s" if name in late else taken.reason
                        print(f"{name}, {rows:,} rows: {why}", file=sys.stderr)
                        runs.pop(name, None)
                        continue
                    one = runs.setdefault(name, Runs())
                    one.taken.append(taken)
                    one.units.append(yardstick)
        lines = [{"command": name} | one.line() for name, one in runs.items()]
        heads = dict.fromkeys(head for line in lines for head in line)
        show(f"{rows:,} rows", [{head: line.get(head, "") for head in heads} for line in lines])


if __name__ == "__main__":
    main()
