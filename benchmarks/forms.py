"""Errors of count queries by form, and of Exchange beside round-robin: python benchmarks/forms.py.

The same groups answer the same queries in every form. In two tables they are counted a second time
as if values went with nothing: a of the people and b of the values of a group of n have a · b / n.
`--rows`: of the table (100,000); `--queries`: of each number of columns (300); `--levels`: values
of m (5 and 7).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent / "papers"))
from subjects import PAPER, salaries

import shoal
from shoal.utility.pairing import SharedOut

FORMS = ("intervals", "means", "two-tables")
COLUMNS = (2, 3, 4)
METHODS = {"Exchange": shoal.methods.Exchange(), "round-robin": PAPER}
APART = "a · b / n"


def measured(
    method: str, m: int, rows: int = 100_000, queries: int = 300
) -> dict[str, list[float]]:
    """Return the mean errors over 2, 3 and 4 columns by form; none where it is not achievable."""
    subject = salaries(rows)
    release = subject.release(shoal.principles.EpsilonM(epsilon=4500, m=m), METHODS[method])
    if release is None:
        return {}
    asked = [
        shoal.measures.Workload(quasi=w - 1, selectivity=0.1, queries=queries).draw(
            subject.frame, subject.schema, seed=1
        )
        for w in COLUMNS
    ]
    found = {form: [one.error(release.as_form(form)).mean for one in asked] for form in FORMS}
    with mock.patch.object(SharedOut, "of", return_value=None):
        found[APART] = [one.error(release.as_form("two-tables")).mean for one in asked]
    return found


def share(found: list[float], other: list[float]) -> float:
    """Return the mean of errors as shares of others."""
    return sum(one / two for one, two in zip(found, other, strict=True)) / len(found)


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--rows", type=int, default=100_000)
    reader.add_argument("--queries", type=int, default=300)
    reader.add_argument("--levels", type=int, nargs="+", default=[5, 7])
    given = reader.parse_args()
    print(f"{given.rows:,} rows, EpsilonM(epsilon=4500, m), s = 0.1")
    print(
        f"{'m':>2} {'method':<12} {'form':<11}"
        + "".join(f"{w:>6} col" for w in COLUMNS)
        + "  of intervals"
    )
    for m in given.levels:
        for name in METHODS:
            every = measured(name, m, given.rows, given.queries)
            for form, found in every.items():
                errors = "".join(f"{error:>9.2%} " for error in found)
                of = share(found, every["intervals"])
                print(f"{m:>2} {name:<12} {form:<11}{errors} {of:>8.2f}", flush=True)


if __name__ == "__main__":
    main()
