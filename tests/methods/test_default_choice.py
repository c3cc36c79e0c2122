"""The method that is taken where nobody names one loses least of those that serve in its time."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from amount import examples
from shoal.datasets.census import census
from shoal.errors import UsageError
from shoal.methods import choice
from shoal.methods.splitting import Split

SCHEMA = shoal.Schema(quasi=["age", "birthplace", "occupation"], sensitive="income")
OTHERS = ("Exchange()", "Split()", "Mondrian()", "Mondrian(split='least-loss')")
ASKED = [
    ["KAnonymity(k=5)"],
    ["EpsilonM(epsilon=3000, m=3)"],
    ["FrequencyL(l=6)"],
    ["AlphaK(alpha=0.25, k=6)"],
    *([f"Window(width={width}, m={m})"] for width in (0, 2000, 8000) for m in (2, 4)),
    ["Window(width=15000, m=3)"],
    ["Window(width=4000, m=3)", "KAnonymity(k=8)"],
    ["Window(width=4000, m=3)", "FrequencyL(l=5)"],
    ["Window(width=2000, m=2)", "EpsilonM(epsilon=1500, m=3)"],
]


@pytest.mark.few(4)
@pytest.mark.parametrize("require", ASKED, ids=" ".join)
def test_no_other_method_loses_less(require):
    rows = np.random.default_rng(3).permutation(60_000)[:900]
    table = census()[rows.tolist()]

    def loss(method: str | None) -> float:
        try:
            release = shoal.anonymize(table, SCHEMA, require=require, method=method)
        except UsageError:
            return np.inf
        return float(release.manifest.loss.gcp)

    least = min(map(loss, OTHERS))
    assert np.isfinite(least)
    assert loss(None) <= least


def small_table(seed: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return a table of 8 to 200 rows, of one of several kinds, and what else is asked of it."""
    chance = random.Random(seed)
    rows = chance.choice([8, 12, 20, 40, 80, 200])
    numbers = [chance.randint(18, 90) for _ in range(rows)]
    spread = [round(chance.lognormvariate(0, 2), 2) for _ in range(rows)]
    labels = [chance.choice("abcdef") for _ in range(rows)]
    kinds: list[tuple[dict[str, list[Any]], dict[str, Any]]] = [
        ({"age": numbers}, {}),
        ({"age": [row % 70 for row in range(rows)], "z": [row // 7 for row in range(rows)]}, {}),
        ({"town": labels, "age": numbers}, {"weights": {"town": 3}}),
        ({"x": spread, "age": numbers}, {}),
        ({"age": numbers, "sex": ["fm"[row % 2] for row in range(rows)]}, {"never_mix": "sex"}),
        ({"age": numbers, "who": [row // 2 for row in range(rows)]}, {"person": "who"}),
        ({"age": numbers, "x": spread}, {"hierarchies": {"age": "Bins(width=10)"}}),
        ({"age": [chance.choice([1, 1, 1, 2, 9]) for _ in range(rows)], "town": labels}, {}),
    ]
    columns, more = kinds[seed % len(kinds)]
    pay = [100 * chance.randint(0, 90) for _ in range(rows)]
    return pl.DataFrame(columns | {"pay": pay}), more


def settled(seed: int, method: str | None, **asked: Any) -> shoal.Release | None:
    """Publish a small table; return None where that cannot be done."""
    table, more = small_table(seed)
    quasi = [name for name in table.columns if name not in {"pay", "who"}]
    schema = shoal.Schema(quasi=quasi, sensitive="pay", **more)
    require = ("KAnonymity(k=5)", "EpsilonM(epsilon=500, m=3)", "FrequencyL(l=3)")[seed % 3]
    how = {"suppress": "20%"} if seed % 5 == 0 else {}
    try:
        return shoal.anonymize(
            table, schema, require=require, method=method, seed=seed, **how | asked
        )
    except shoal.NotAchievable:
        return None


def weighed(release: shoal.Release) -> float:
    lost = release.manifest.loss.ncp
    weights = [release.schema.weights.get(name, 1) for name in lost]
    return float(np.average(list(lost.values()), weights=weights))


@pytest.mark.more
def test_the_default_never_loses_more_than_split_on_small_tables():
    better, step = 0, 40 // examples(40)
    for seed in range(step - 1, 40, step):
        usual, split = settled(seed, None), settled(seed, "Split()")
        if split is None:
            continue
        assert usual is not None
        assert weighed(usual) <= weighed(split) + 1e-12, seed
        assert usual.audit().holds
        better += usual.manifest.method == "Split()"
        assert usual.manifest.asked.method is None
    assert better >= examples(3)


def found_by(seed: int, method: str | None, **asked: Any) -> tuple[str, list[str]]:
    release = settled(seed, method, **asked)
    assert release is not None
    told = release.remarks(named=method is not None, escaped=False, seed=None)
    return release.manifest.method, list(map(str, told))


SPLITS = 17  # a table on which Split() loses less than Exchange()


def test_the_manifest_names_it_the_owner_is_told_and_a_seed_repeats_it():
    method, said = found_by(SPLITS, None)
    assert method == "Split()"
    assert "By Split(), because it loses least on this table." in said
    first, second = (settled(SPLITS, None) for _ in range(2))
    assert first is not None
    assert second is not None
    assert first.table.equals(second.table)


def test_nothing_else_is_tried_where_a_method_is_named_means_are_asked_for_or_rows_are_many(
    monkeypatch,
):
    def fail(*_: object) -> None:
        pytest.fail("Split() was tried")

    monkeypatch.setattr(Split, "search", fail)
    for method in ("Exchange()", "Oblivious()"):
        assert found_by(SPLITS, method)[0] == method
    assert found_by(SPLITS, None, form="means")[0].startswith("Exchange(")
    monkeypatch.setattr(choice, "SAMPLE", 5)
    assert found_by(SPLITS, None)[0] == "Exchange()"
