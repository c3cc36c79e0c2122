"""What is scaled by the table has one scale in all parts of it, and holds by that of what appears.

The oracle reads the published table and works distances out by its own ranges, in fractions.
"""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction
from typing import Any

import polars as pl
import pytest

import shoal
from amount import examples
from shoal.errors import NotAchievable
from shoal.table.column import Column

EPSILON, BOUND = Fraction(1, 5), Fraction(3, 5)
REQUIRE = "Dissimilarity(epsilon=0.2, delta=0.4, k=3"
WAYS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"never_mix": ["sex"]}, {}),
    ({"never_mix": ["sex"]}, {"suppress": "40%"}),
    ({"person": "who"}, {}),
    ({"person": "who", "most_rows": 2}, {"suppress": "40%"}),
    ({}, {"engine": "Local(shard=6)"}),
    ({}, {"engine": "Local(shard=6)", "suppress": "40%"}),
    ({}, {"suppress": "40%"}),
]


def people(seed: int) -> pl.DataFrame:
    """Return rows with ties, of whom some have far larger values than others."""
    chance = random.Random(seed)
    rows, far = chance.randint(12, 36), chance.choice([20, 100, 1000])

    def pay() -> int:
        return chance.choice([chance.randint(0, 20), chance.randint(0, far)])

    return pl.DataFrame(
        {
            "who": [f"p{chance.randrange(rows)}" for _ in range(rows)],
            "age": [chance.randint(0, 60) for _ in range(rows)],
            "sex": [chance.choice("fm") for _ in range(rows)],
            "pay": [pay() for _ in range(rows)],
            "hours": [chance.randint(0, 40) for _ in range(rows)],
            "code": [
                chance.choice(["11", "12", "13", "21", "22", "31"] * 3 + ["3111"])
                for _ in range(rows)
            ],
        }
    )


def risk(table: pl.DataFrame, names: list[str]) -> Fraction:
    """Return the largest share of a group's other people within epsilon of somebody's value."""
    cells = {name: table[name].to_list() for name in names}
    spans = {name: max(held) - min(held) or 1 for name, held in cells.items()}
    groups: dict[Any, dict[Any, list[list[Fraction]]]] = defaultdict(lambda: defaultdict(list))
    for row, one in enumerate(table.iter_rows(named=True)):
        point = [Fraction(one[name], spans[name]) for name in names]
        groups[one["group"]][one.get("person", row)].append(point)

    def near(u: list[Fraction], v: list[Fraction]) -> bool:
        return sum(abs(x - y) for x, y in zip(u, v, strict=True)) <= EPSILON

    worst = Fraction(0)
    for members in groups.values():
        for person, own in members.items():
            others = [one for name, one in members.items() if name != person]
            if not others:
                return Fraction(1)
            for value in own:
                close = sum(any(near(value, one) for one in other) for other in others)
                worst = max(worst, Fraction(close, len(others)))
    return worst


def published(seed: int, way: int, names: list[str], distance: str = "") -> Any:
    """Return a release, None where nothing can be published."""
    said, how = WAYS[way]
    quasi = ["age", "sex"]
    schema = shoal.Schema(
        quasi=quasi, sensitive=["pay", "hours", "code"], types={"code": "categorical"}, **said
    )
    require = f"{'+'.join(names)}: {REQUIRE}{distance})"
    try:
        return shoal.anonymize(people(seed), schema, require=require, **how)
    except NotAchievable:
        return None


@pytest.mark.few(1)
@pytest.mark.parametrize("way", range(len(WAYS)))
@pytest.mark.parametrize("names", [["pay"], ["pay", "hours"]])
def test_scaled_distances_hold_by_the_ranges_that_are_published(way, names):
    made = [published(seed, way, names) for seed in range(12)]
    found = [risk(one.table, names) for one in made if one is not None]
    assert found
    assert max(found) <= BOUND


DISTANCES = ("Hierarchical(Prefix())", "Hierarchical(Grouped(size=2))")


@pytest.mark.more
@pytest.mark.few(1)
@pytest.mark.parametrize("way", range(len(WAYS)))
@pytest.mark.parametrize("distance", DISTANCES)
def test_hierarchies_that_follow_from_the_table_do_too(way, distance):
    found = [
        published(seed, way, ["code"], f", distance={distance}") for seed in range(examples(12))
    ]
    assert all(one.audit().holds for one in found if one is not None)
    assert any(found)


@pytest.mark.long
def test_a_scale_for_each_part_would_be_seen(monkeypatch):
    """The checks can fail: where a part is its own scale, groups come out that are all near."""

    def own(column: Column) -> float:
        assert column.values is not None
        return float(column.values[column.codes.max()] - column.values[column.codes.min()])

    monkeypatch.setattr(Column, "width", property(own))
    for way in (0, 2, 4):
        with pytest.raises(shoal.AuditFailed):
            _publish_many(way)


def _publish_many(way):
    for seed in range(60):
        published(seed, way, ["pay", "hours"])
