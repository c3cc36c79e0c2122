"""How long the audit of anything takes, and its memory: python benchmarks/audit.py.

A release of 500,000 rows with groups of at least 10, all principles, read from its CSV file. The
file is written by one process and audited by another, so that the memory is that of the audit.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from common import clock, load, peak_gigabytes, show

import shoal
from shoal.kernels import load_all

QUASI = ["age", "puma", "occupation"]
SCHEMA = shoal.Schema(quasi=QUASI, sensitive="income")


def write(path: str) -> None:
    frame, source = load("sal_acs2024_500k.csv.gz")
    release = shoal.anonymize(frame, SCHEMA, require="KAnonymity(k=10)", method="Mondrian()")
    release.table.drop("group").write_csv(path)
    print(source)


def audit(path: str) -> None:
    load_all()
    seconds, found = clock(lambda: shoal.measures.levels(path, SCHEMA))
    show(
        "Audit of anything, all principles",
        [
            {
                "rows": f"{found.rows:,}",
                "groups": f"{found.groups:,}",
                "seconds": f"{seconds:.2f}",
                "GB": f"{peak_gigabytes():.2f}",
                "must be at most": "5 s, 1 GB",
            }
        ],
    )


def main() -> None:
    if len(sys.argv) == 3:
        {"write": write, "audit": audit}[sys.argv[1]](sys.argv[2])
        return
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "release.csv")
        for step in ("write", "audit"):
            subprocess.run([sys.executable, __file__, step, path], check=True)


if __name__ == "__main__":
    main()
