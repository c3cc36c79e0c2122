"""Errors of count queries by form, and of Exchange beside round-robin: python benchmarks/forms.py.

The same groups answer the same queries in every form. `--rows`: of the table (100,000);
`--queries`: of each number of columns (300); `--levels`: values of m (5 and 7).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "papers"))
from subjects import PAPER, salaries

import shoal

FORMS = ("intervals", "means", "two-tables")
COLUMNS = (2, 3, 4)
METHODS = {"Exchange": shoal.methods.Exchange(), "round-robin": PAPER}


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--rows", type=int, default=100_000)
    reader.add_argument("--queries", type=int, default=300)
    reader.add_argument("--levels", type=int, nargs="+", default=[5, 7])
    given = reader.parse_args()
    subject = salaries(given.rows)
    asked = {
        w: shoal.measures.Workload(quasi=w - 1, selectivity=0.1, queries=given.queries).draw(
            subject.frame, subject.schema, seed=1
        )
        for w in COLUMNS
    }
    print(f"{subject.source}, {given.rows:,} rows, EpsilonM(epsilon=4500, m), s = 0.1")
    print(
        f"{'m':>2} {'method':<12} {'form':<11}"
        + "".join(f"{w:>6} col" for w in COLUMNS)
        + "  of intervals"
    )
    for m in given.levels:
        for name, method in METHODS.items():
            release = subject.release(shoal.principles.EpsilonM(epsilon=4500, m=m), method)
            if release is None:
                continue
            plain: list[float] = []
            for form in FORMS:
                found = [asked[w].error(release.as_form(form)).mean for w in COLUMNS]
                plain = plain or found
                share = sum(one / other for one, other in zip(found, plain, strict=True)) / len(
                    found
                )
                errors = "".join(f"{error:>9.2%} " for error in found)
                print(f"{m:>2} {name:<12} {form:<11}{errors} {share:>8.2f}", flush=True)


if __name__ == "__main__":
    main()
