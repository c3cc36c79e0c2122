"""How long count queries take and how far their answers are off: python benchmarks/queries.py.

1,000 queries over 500,000 rows, by the releases of two methods: drawing them with their true
answers, and answering them from a release. Seconds of the processor are given beside those of the
clock, for machines that do other work as well. `--losses` times all losses of a release too.
"""

from __future__ import annotations

import sys
import time

from common import clock, load, peak_gigabytes, show, yardstick

import shoal
from shoal.kernels import load_all

QUASI = ["age", "puma", "occupation"]
SCHEMA = shoal.Schema(quasi=QUASI, sensitive="income")
REQUIRE = "EpsilonM(epsilon=4500, m=5)"
MOST = 5.0  # seconds that 1,000 queries may take


def timed(work):
    """Return what some work returns, and its seconds by the clock and by the processor."""
    busy = time.process_time()
    seconds, found = clock(work)
    return found, seconds, time.process_time() - busy


def main() -> None:
    load_all()
    frame, source = load("sal_acs2024_500k.csv.gz")
    unit = yardstick(frame, QUASI)
    asked = {}
    drawn = []
    for quasi in (1, 2, 3):
        workload = shoal.measures.Workload(quasi=quasi, selectivity=0.1, queries=1000)
        asked[quasi], seconds, busy = timed(lambda w=workload: w.draw(frame, SCHEMA, seed=1))
        drawn.append(
            {
                "queries over": f"{quasi + 1} columns",
                "redrawn": str(asked[quasi].redrawn),
                "seconds": f"{seconds:.2f}",
                "processor": f"{busy:.2f}",
                "lexsorts": f"{seconds / unit:.0f}",
            }
        )
    show(f"Drawing 1,000 queries with true answers, {frame.height:,} rows of {source}", drawn)
    rows = []
    for method in ("Split()", "Exchange()"):
        release = shoal.anonymize(frame, SCHEMA, require=REQUIRE, method=method)
        _, opened, _ = timed(release.answers)
        for quasi, questions in asked.items():
            error, seconds, busy = timed(lambda q=questions, r=release: q.error(r))
            rows.append(
                {
                    "method": method,
                    "GCP": f"{release.loss:.4f}",
                    "queries over": f"{quasi + 1} columns",
                    "opening s": f"{opened:.2f}",
                    "seconds": f"{seconds:.2f}",
                    "processor": f"{busy:.2f}",
                    "lexsorts": f"{seconds / unit:.0f}",
                    "at most": f"{MOST:.0f} s",
                    "mean": f"{error.mean:.4f}",
                    "median": f"{error.median:.4f}",
                    "95 %": f"{error.p95:.4f}",
                }
            )
        if "--losses" in sys.argv:
            found, seconds, busy = timed(release.losses)
            print(f"Losses of {method} in {seconds:.1f} s ({busy:.1f} s of the processor): {found}")
    show(f"Answering them from a release under {REQUIRE}", rows)
    print(f"lexsort of the quasi columns: {unit:.3f} s; memory: {peak_gigabytes():.2f} GB")


if __name__ == "__main__":
    main()
