"""Whom published cells point at: python benchmarks/pointed.py [--rows N] [--groups N].

The first table has what regions lose beside tight cells of the same groups, and for methods that
deal their parts beside the hulls of these. The second has the attack by predicates: "in this cell,
and a column at its published end" or "at the next step inside", or in the cell and in a random
share of 1/size of everybody. Weights come from people of the same population who are not in the
table. Of each cell the least likely predicate of a family is chosen by one half of them and weighed
by the other; how often it holds of exactly one row is compared with what one of this weight does by
chance, n w (1 - w)^(n - 1). "Least likely" takes the least likely of all; "likeliest to isolate"
the one at an end or beside it whose weight is nearest to 1/n, as a reader would who knows that ends
are not attained. A hash isolates (1 - 1/k)^(k - 1) in any group of k, whatever is published.

The third has what a reader refines who knows how cells were made, and nobody
(`shoal.runs.downcoding`): which share of the values in cells is known to be there, how much
narrower cells would exclude as much, and which share of pairings with sensitive values is excluded.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from common import load, show

import shoal
from shoal.audit.published import as_read
from shoal.methods.base import Task
from shoal.methods.cutting import Cutting
from shoal.methods.splitting import Rule, split, standing
from shoal.runs.downcoding import downcoded

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray

QUASI = ["age", "puma", "occupation"]
FAMILIES = ("end", "next step", "hash", "least likely", "likeliest to isolate")
CASES = [
    ("KAnonymity(k=5)", "Mondrian()"),
    ("KAnonymity(k=10)", "Mondrian()"),
    ("EpsilonM(epsilon=2000, m=5)", "Split()"),
    ("EpsilonM(epsilon=2000, m=5)", "Oblivious()"),
    ("KAnonymity(k=10)", "Exchange()"),
    ("FrequencyL(l=5)", "Mondrian()"),
]


def cells(release: shoal.Release, rows: pl.DataFrame) -> tuple[NDArray, NDArray, NDArray]:
    """Return the low and the high ends of every row's cell, and its group, in the table's order."""
    link = np.argsort(release.linkage)  # the published row of each
    table = release.table_as("bounds")[link]
    assert table.height == rows.height
    low, high = (
        table.select(f"{name}_{end}" for name in QUASI).to_numpy() for end in ("low", "high")
    )
    return low, high, table["group"].to_numpy()


def loss(low: NDArray, high: NDArray, span: NDArray) -> float:
    return float(((high - low) / span).mean())


def hulls(values: NDArray, marks: NDArray) -> tuple[NDArray, NDArray]:
    """Return the hull of the rows that share a mark, for every row."""
    _, where = np.unique(marks, return_inverse=True, axis=0)
    where = where.ravel()
    low = np.full((where.max() + 1, values.shape[1]), np.iinfo(np.int64).max)
    high = np.full_like(low, np.iinfo(np.int64).min)
    np.minimum.at(low, where, values)
    np.maximum.at(high, where, values)
    return low[where], high[where]


def parts_of(release: shoal.Release, low: NDArray, high: NDArray) -> NDArray:
    """Return the part of its cuts that each row was in before groups were dealt."""
    table = release.table[np.argsort(release.linkage)]
    if "node" in table.columns:
        return table["node"].to_numpy()[:, None]
    if release.manifest.method != "Split()":
        return np.column_stack([low, high])
    task = Task(release.coded, release.requirements)
    rule = Rule.of(task, "Split()")
    if task.draws_regions:
        part = Cutting(task, standing(rule), widest=False).parts()
    else:
        buckets = split(task, rule, widest=False, ties="either")
        part = buckets.unsort(buckets.labels()).astype(np.int64)
    return part[np.argsort(release.coded.rows)][:, None]


def inside(values: NDArray, low: NDArray, high: NDArray) -> NDArray:
    return values[((values >= low) & (values <= high)).all(axis=1)]


def attack(  # noqa: C901
    values: NDArray, controls: NDArray, low: NDArray, high: NDArray, group: NDArray, tried: int
) -> dict[str, tuple[float, float]]:
    """Return for each family of predicates how often it isolates, and how often by chance."""
    random = np.random.default_rng(3)
    rows, half = len(values), len(controls) // 2
    first, second = controls[:half], controls[half:]
    found: dict[str, list[tuple[bool, float]]] = {name: [] for name in FAMILIES}
    ids, firsts, sizes = np.unique(group, return_index=True, return_counts=True)
    for at in random.choice(len(ids), min(tried, len(ids)), replace=False):
        ends = low[firsts[at]], high[firsts[at]]
        own, one, other = (inside(some, *ends) for some in (values, first, second))
        best: dict[str, tuple[float, float, bool]] = {}

        def take(family: str, chosen: float, weight: float, alone: bool) -> None:  # noqa: FBT001
            scores = {family: chosen, FAMILIES[3]: chosen}
            if family != "hash":
                scores[FAMILIES[4]] = abs(chosen * rows - 1)
            for name, score in scores.items():
                if name not in best or score < best[name][0]:  # noqa: B023
                    best[name] = score, weight, alone  # noqa: B023

        for column in range(len(QUASI)):
            begin, end = ends[0][column], ends[1][column]
            if begin == end:
                continue
            for family, places in (("end", {begin, end}), ("next step", {begin + 1, end - 1})):
                for value in places:
                    hit, by_one, by_other = (
                        int((some[:, column] == value).sum()) for some in (own, one, other)
                    )
                    take(family, by_one / half, by_other / len(second), hit == 1)
        size = int(sizes[at])
        drawn = random.random(len(own)) < 1 / size
        weights = len(one) / half / size, len(other) / len(second) / size
        take("hash", *weights, int(drawn.sum()) == 1)
        for name, (_, weight, alone) in best.items():
            found[name].append((alone, rows * weight * (1 - weight) ** (rows - 1)))
    return {
        name: (float(np.mean([a for a, _ in some])), float(np.mean([c for _, c in some])))
        for name, some in found.items()
        if some
    }


Rows = list[dict[str, Any]]


def measured(
    rows: int = 20_000, tried: int = 1000, cases: Sequence[tuple[str, str]] = tuple(CASES)
) -> tuple[Rows, Rows, Rows]:
    """Return what regions lose, how often predicates isolate, and what readers refine."""
    everybody, _ = load("sal_acs2024_500k.csv.gz", None)
    order = np.random.default_rng(3).permutation(everybody.height)
    table = everybody[order[:rows]].select(*QUASI, "income")
    values = table.select(QUASI).to_numpy().astype(np.int64)
    controls = everybody[order[rows:]].select(QUASI).to_numpy().astype(np.int64)
    least, most = (end(everybody.select(QUASI).to_numpy(), axis=0) for end in (np.min, np.max))
    span = (most - least).astype(np.float64)
    bounds = {
        name: [int(a), int(b)] for name, a, b in zip(QUASI, least, most, strict=True)
    }  # of the population
    schema = shoal.Schema(quasi=QUASI, sensitive="income", bounds=bounds)
    losses, attacks, refined = [], [], []
    for require, method in cases:
        for kind in ("tight", "regions"):
            if kind == "regions" and method == "Exchange()":
                continue
            release = shoal.anonymize(
                table, schema, require=require, method=method, cells=kind, seed=1
            )
            low, high, group = cells(release, table)
            found = attack(values, controls, low, high, group, tried) if tried else {}
            for name, (share, chance) in found.items():
                attacks.append({
                    "require": require, "method": method, "cells": kind, "predicate": name,
                    "isolates": share, "by chance": chance,
                })  # fmt: skip
            line: dict[str, Any] = {"require": require, "method": method, "cells": kind}
            known = downcoded(as_read(release))
            assert known is not None
            refined.append(line | {
                "named": known.named, "narrower": known.narrower,
                "sensitive": "" if known.sensitive is None else known.sensitive,
            })  # fmt: skip
            lost = loss(low, high, span)
            own = loss(*hulls(values, group[:, None]), span)
            parts = loss(*hulls(values, parts_of(release, low, high)), span)
            losses.append(line | {
                "loss": lost, "tight cells of the groups": own, "ratio": lost / own,
                "hulls of the parts": parts, "ratio to hulls": lost / parts,
            })  # fmt: skip
    return losses, attacks, refined


def spelled(rows: Rows, form: str) -> list[dict[str, str]]:
    """Return rows with their numbers as text."""
    return [
        {name: f"{one:{form}}" if isinstance(one, float) else one for name, one in row.items()}
        for row in rows
    ]


def main(rows: int, tried: int) -> None:
    losses, attacks, refined = measured(rows, tried)
    show("What regions lose", spelled(losses, ".4f"))
    show("Whom predicates isolate", spelled(attacks, ".1%"))
    show("What a reader refines who knows the method", spelled(refined, ".2%"))


if __name__ == "__main__":
    said = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
    main(int(said.get("--rows", "20000")), int(said.get("--groups", "1000")))
