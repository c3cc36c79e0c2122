"""People, not rows: what a table of visits keeps before and after, and the time that people take.

`python benchmarks/people.py`: a made-up table of 1,500 patients, published by rows and by people;
then one row a person with and without a person column, and several rows a person beside as many
people with one row each (`--people`: 20,000; `--large`: 300,000 people with 1,000,000 rows).
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from typing import Any

import numpy as np
import polars as pl

import shoal

QUASI = ["age", "sex", "zip"]
REQUIRE = ["EpsilonM(epsilon=100, m=3)", "KAnonymity(k=5)"]


def visits(people: int, mean: float, seed: int = 1) -> pl.DataFrame:
    """Draw visits; most people have one or two, the first has 500 where people have several."""
    chance = np.random.default_rng(seed)
    counts = 1 + chance.poisson(mean - 1, people)
    if mean > 1:
        counts[0] = 500
    who = np.repeat(np.arange(people), counts)
    return pl.DataFrame(
        {
            "patient": who,
            "age": chance.integers(18, 95, people)[who],
            "sex": chance.integers(0, 2, people)[who],
            "zip": chance.integers(10_000, 10_400, people)[who],
            "charges": np.round(chance.lognormal(8, 1.5, len(who))).astype(np.int64),
        }
    )


def schema(**more: Any) -> shoal.Schema:
    """Return the roles of the columns."""
    return shoal.Schema(quasi=QUASI, sensitive="charges", **more)


def alone(table: pl.DataFrame, release: shoal.Release) -> tuple[int, int]:
    """Count the groups that hold the rows of one patient alone, and all groups."""
    whom = table["patient"].to_numpy()[release.linkage]
    pairs = set(zip(release.published["group"].to_list(), whom.tolist(), strict=True))
    sizes = Counter(group for group, _ in pairs)
    return sum(size == 1 for size in sizes.values()), len(sizes)


def timed(table: pl.DataFrame, roles: shoal.Schema) -> tuple[float, shoal.Release]:
    """Publish in memory, and return the processor seconds that it took."""
    start = time.process_time()
    release = shoal.anonymize(
        table, roles, require=REQUIRE, method="Exchange()", suppress="1%", seed=1
    )
    return time.process_time() - start, release


def main() -> None:
    """Print what is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=20_000)
    parser.add_argument("--large", action="store_true")
    asked = parser.parse_args()
    people = 300_000 if asked.large else asked.people
    table = visits(1500, 2.25)
    rows = shoal.anonymize(table, schema(), require="KAnonymity(k=3)", method="Exchange()")
    held = shoal.anonymize(
        table,
        schema(person="patient", most_rows=5),
        require="KAnonymity(k=3)",
        method="Exchange()",
    )
    print(f"{table.height:,} visits of 1,500 patients under KAnonymity(k=3)")
    for name, release in (("rows", rows), ("people", held)):
        few, groups = alone(table, release)
        print(
            f"  by {name:6}: {few:,} of {groups:,} groups hold one patient, loss {release.loss:.4f}"
        )
    timed(visits(2000, 1), schema())  # compiles
    one = visits(people, 1)
    plain, _ = timed(one, schema())
    named, _ = timed(one, schema(person="patient"))
    print(
        f"{people:,} people with one row: {plain:.1f} s, with a person column {named / plain:.2f} x"
    )
    many = visits(people, 10 / 3)
    several, found = timed(many, schema(person="patient", most_rows=6))
    print(
        f"{many.height:,} rows of {people:,} people: {several / plain:.2f} x the time of one row "
        f"each, {found.manifest.capped:,} rows capped, loss {found.loss:.4f}"
    )


if __name__ == "__main__":
    main()
