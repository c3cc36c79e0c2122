"""How honest the bar and the estimate before are: python benchmarks/bar.py [NAME …].

For each table the share that the bar shows is compared with the share of the time that has passed,
from the first fifth on; it is to be within a fifth. The seconds that a dry run names are to be
within a factor of two. `--rows`: of each table (20,000).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from common import load

import shoal
from shoal.views.whole import Whole

FROM, WITHIN = 0.2, 0.2
TABLES: dict[str, tuple[str, dict[str, object], str]] = {
    "income": (
        "sal_acs2024_500k.csv.gz",
        {"quasi": ["age", "puma", "occupation"], "sensitive": "income"},
        "EpsilonM(epsilon=4500, m=5)",
    ),
    "adult": (
        "adult_uci.csv.gz",
        {"quasi": ["age", "education", "sex", "race"], "sensitive": "occupation"},
        "FrequencyL(l=4)",
    ),
    "houses": (
        "kc_house_sales.csv.gz",
        {"quasi": ["lat", "long", "yr_built"], "sensitive": "price"},
        "EpsilonM(epsilon=20000, m=5)",
    ),
}


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("names", nargs="*", default=list(TABLES))
    reader.add_argument("--rows", type=int, default=20_000)
    given = reader.parse_args()
    print(f"{'table':<8} {'seconds':>8} {'dry run':>8} {'furthest off':>13}  by phase")
    for name in given.names:
        file, roles, require = TABLES[name]
        frame, _ = load(file, given.rows)
        with tempfile.TemporaryDirectory() as home:
            path = Path(home) / "table.csv"
            frame.write_csv(path)
            run = shoal.results.Run(
                table=[path],
                schema=shoal.Schema(**roles),  # type: ignore[arg-type]
                require=require,
                missing="drop",
                output=Path(home) / "out",
            )
            said = run.rehearse()["seconds"]
            told = watch(run)
        line(name, said, told)


def watch(run: shoal.results.Run) -> list[tuple[float, str, float]]:
    """Publish; return when the bar was told what, and what it showed."""
    now = time.monotonic
    whole, told = Whole(now), []
    begun = now()

    def progress(phase: str, share: float) -> None:
        told.append((now() - begun, phase, whole.share(phase, share)))

    run.publish(progress)
    told.append((now() - begun, "end", 1.0))
    return told


def line(name: str, said: object, told: list[tuple[float, str, float]]) -> None:
    """Print one line of the table."""
    took = told[-1][0]
    worst: dict[str, float] = {}
    for when, phase, shown in told:
        off = shown - when / took
        if when / took >= FROM and abs(off) >= abs(worst.get(phase, 0.0)):
            worst[phase] = off
    off = max(worst.values(), key=abs)
    shares = ", ".join(f"{phase} {value:+.0%}" for phase, value in worst.items())
    good = "" if abs(off) <= WITHIN else "  too far"
    print(f"{name:<8} {took:>8.1f} {said!s:>8} {off:>+12.0%}{good}  {shares}", flush=True)


if __name__ == "__main__":
    main()
