"""How soon the page is there and answers a click: python benchmarks/page.py.

Clicks that need no search are to be answered within 200 ms at 100,000 rows, the first page is to be
there within a second. `--rows`: of the table (100,000); `--times`: how often each is clicked (15).
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import pages
from shoal.datasets.census import census

if TYPE_CHECKING:
    import httpx

FIRST, CLICK, PRICE = 1.0, 0.2, 1.0  # seconds that are promised


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--rows", type=int, default=100_000)
    reader.add_argument("--times", type=int, default=15)
    given = reader.parse_args()
    with tempfile.TemporaryDirectory() as home:
        table = Path(home) / "census.csv"
        census(given.rows).write_csv(table)
        with pages.opened(str(table), home=Path(home)) as page, page.client() as client:
            began = time.perf_counter()
            client.get("/")
            first = page.seconds + time.perf_counter() - began
            print(f"{given.rows:,} rows, median and longest of {given.times}, in milliseconds")
            line("first page", [first], FIRST)
            clicks(client, given.times)


def clicks(client: httpx.Client, times: int) -> None:
    """Click everything that can be clicked."""
    place = client.post("/tables/given/0").headers["location"]
    began = time.perf_counter()
    client.get(f"{place}/body")
    line("table is read", [time.perf_counter() - began], None)
    client.get(f"{place}/price")
    roles = [{"role-1": "drop"}, {"role-1": "quasi"}]
    asked = [{"require": f"EpsilonM(epsilon={width}, m=5)"} for width in (1000, 2000)]
    moved = [{"moved": "0.m", "value": value} for value in ("4", "5")]
    posts: dict[str, tuple[str, list[dict[str, str]]]] = {
        "another role": (f"{place}/columns/1", roles),
        "another requirement": (f"{place}/require", asked),
        "a slider": (f"{place}/require", moved),
        "who will read it": (f"{place}/require", [{"most": "12"}, {"most": "5"}]),
        "a form": (f"{place}/settings", [{"form": "bounds"}, {"form": "intervals"}]),
        "a type": (f"{place}/columns/0", [{"type": "categorical"}, {"type": "numeric"}]),
    }
    for name, (path, said) in posts.items():
        line(name, [timed(client, "POST", path, said[turn % 2]) for turn in range(times)], CLICK)
    for name, path in {"columns and promise": place, "the first page again": "/"}.items():
        line(name, [timed(client, "GET", path) for _ in range(times)], CLICK)
    line("a promise anew", [timed(client, "GET", f"{place}/requirements") for _ in range(5)], CLICK)
    line("price on 4,000 rows", [timed(client, "GET", f"{place}/price") for _ in range(5)], PRICE)


def timed(client: httpx.Client, verb: str, path: str, said: Any = None) -> float:
    """Return how long an answer takes, as a browser asks for it."""
    began = time.perf_counter()
    answer = client.request(verb, path, data=said, headers={"hx-request": "true"})
    answer.raise_for_status()
    return time.perf_counter() - began


def line(name: str, taken: list[float], limit: float | None) -> None:
    """Print one line of the table."""
    usual, longest = statistics.median(taken), max(taken)
    kept = "" if limit is None else f"  within {1000 * limit:g}: {'yes' if usual < limit else 'no'}"
    print(f"{name:<22}{1000 * usual:>8.0f}{1000 * longest:>8.0f}{kept}", flush=True)


if __name__ == "__main__":
    main()
