"""Two tables whose published cells are equal have equal public files, whatever the cells hide.

Every ward has as many rows as a group needs, and wards are never mixed: so groups are the wards,
and two tables that differ inside their cells are published alike, whatever is searched for.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import shoal
from shoal.table.coding import code_lenient
from shoal.table.groupings import Hierarchy
from shoal.table.placing import distinct_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WARDS, SIZE = 6, 5
TOWNS = {"south": ["Aix", "Bari", "Catania"], "north": ["Delft", "Essen", "Falun", "Gent"]}
POOLS: dict[str, list[Any]] = {
    "zip": [f"1{a}{b}{c}" for a in range(3) for b in range(3) for c in range(3)] + ["20", "1001x"],
    "town": [town for some in TOWNS.values() for town in some],
    "born": [f"{year}-0{month}-1{month}" for year in (1960, 1961, 1975) for month in range(1, 10)],
    "age": list(range(18, 90)),
    "height": list(range(150, 200)),
}
RULES: dict[str, list[Any]] = {
    "zip": ["Prefix()"],
    "town": [TOWNS],
    "born": ["Calendar()", "Bins(width=100)", "Grouped(size=2)"],
    "age": ["Bins(width=5)", "Quantiles(parts=7)"],
    "height": ["Grouped(size=3)"],
}


def everybody(chance: random.Random, people: int = 400) -> pl.DataFrame:
    """Return people of every ward, who have every value of every pool."""
    drawn = {
        name: [*pool, *(chance.choice(pool) for _ in range(people - len(pool)))]
        for name, pool in POOLS.items()
    }
    for cells in drawn.values():
        chance.shuffle(cells)
    return pl.DataFrame({"ward": [f"w{place % WARDS}" for place in range(people)], **drawn})


def table_of(people: pl.DataFrame, chance: random.Random) -> pl.DataFrame:
    """Return some people of every ward, with what is protected of them."""
    rows = [
        row
        for ward in range(WARDS)
        for row in chance.sample(range(ward, people.height, WARDS), SIZE)
    ]
    some = people[rows]
    pay = [chance.randint(1, 90) * 1000 for _ in rows]
    return some.with_columns(pay=pl.Series(pay), ill=pl.Series([str(one % 7) for one in pay]))


def paths_of(people: pl.DataFrame, name: str, rule: Any) -> dict[Any, tuple[str, ...]]:
    """Return the nodes above every value of a population."""
    column = code_lenient(people[name])
    levels = Hierarchy.of(rule).levels(distinct_of(column))
    known = {path[0]: path for path in levels}
    return {value: known[str(value)] for value in POOLS[name]}


def redrawn(
    cells: Sequence[Any], paths: dict[Any, tuple[str, ...]], chance: random.Random
) -> list[Any]:
    """Return other values whose lowest common node is the same."""

    def lowest(values: Sequence[Any]) -> str:
        found = [paths[value] for value in values]
        return next(one[0] for one in zip(*found, strict=True) if len(set(one)) == 1)

    node = lowest(cells)
    under = [value for value in paths if node in paths[value]]
    for _ in range(1000):
        drawn = [chance.choice(under) for _ in cells]
        if lowest(drawn) == node:
            return drawn
    return [*cells]


def public_files(out: Path, population: pl.DataFrame | None = None) -> dict[str, bytes]:
    """Return all public files of a release, and its certificate."""
    files = {str(one.relative_to(out)): one.read_bytes() for one in out.rglob("*") if one.is_file()}
    sheet = out.with_suffix(".html")
    shoal.certificate(out, sheet, population=population)
    return files | {"certificate": sheet.read_bytes()}


def assert_equal(first: dict[str, bytes], second: dict[str, bytes]) -> None:
    assert first.keys() == second.keys()
    for name, content in sorted(first.items(), reverse=True):  # tables before what is said of them
        assert content == second[name], name


@pytest.fixture(autouse=True)
def same_id(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give all releases one id."""
    monkeypatch.setattr("shoal.release.statement.secrets.token_hex", lambda _: "0" * 32)


@pytest.mark.parametrize("require", ["KMap(k=5)", "DeltaPresence(low=0, high=1)"])
@pytest.mark.parametrize(
    ("name", "rule"), [(name, rule) for name, some in RULES.items() for rule in some], ids=repr
)
def test_nodes_do_not_say_who_of_a_population_is_in_the_table(
    name: str, rule: Any, require: str, tmp_path: Path
) -> None:
    """Neither by their names, nor by how many values they count, nor by those above them."""
    chance = random.Random(f"{name}{rule}{require}")
    people = everybody(chance)
    table, paths = table_of(people, chance), paths_of(people, name, rule)
    cells = [
        value
        for (_,), ward in table.group_by("ward", maintain_order=True)
        for value in redrawn(ward[name].to_list(), paths, chance)
    ]
    other = table.with_columns(pl.Series(name, cells))
    assert set(other[name]) != set(table[name])
    types: dict[str, Any] = {"types": {name: "code"}} if name == "zip" else {}
    schema = shoal.Schema(
        quasi=name, never_mix="ward", sensitive="pay", hierarchies={name: rule}, **types
    )
    asked: Any = {"require": [require, f"KAnonymity(k={SIZE})"], "population": people, "seed": 1}
    releases = [shoal.anonymize(one, schema, **asked) for one in (table, other)]
    files = []
    for turn, release in enumerate(releases):
        release.write(tmp_path / str(turn))
        if rule is TOWNS:  # which a certificate would have to be told
            found = shoal.audit(tmp_path / str(turn), population=people, hierarchies={name: rule})
            assert found.holds
            files.append({one.name: one.read_bytes() for one in (tmp_path / str(turn)).iterdir()})
        else:
            files.append(public_files(tmp_path / str(turn), people))
    assert_equal(*files)
