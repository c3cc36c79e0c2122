"""Two tables whose published cells are equal have equal public files, whatever the cells hide.

`wards.py` has the tables.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import shoal
from shoal.runs.run import Run
from shoal.table.coding import code_lenient
from shoal.table.groupings import Hierarchy
from shoal.table.placing import distinct_of
from system.wards import (
    EVERY,
    KEPT,
    KINDS,
    PLAIN,
    POOLS,
    SIZE,
    TOWNS,
    UNORDERED,
    WARDS,
    assert_equal,
    everybody,
    inner,
    public_files,
    shared,
    table_of,
    twin,
    without_order,
)

pytestmark = pytest.mark.usefixtures("one_id")

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from system.wards import Hidden

RULES: dict[str, list[Any]] = {
    "zip": ["Prefix()"],
    "town": [TOWNS],
    "born": ["Calendar()", "Bins(width=100)", "Grouped(size=2)"],
    "age": ["Bins(width=5)", "Quantiles(parts=7)"],
    "height": ["Grouped(size=3)"],
}


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
    wards = [ward[name].to_list() for _, ward in table.group_by("ward", maintain_order=True)]
    other = table
    while set(other[name]) == set(table[name]):  # those that are drawn may happen to be the same
        cells = [value for ward in wards for value in redrawn(ward, paths, chance)]
        other = table.with_columns(pl.Series(name, cells))
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


# Without a population, of every kind. Nodes count the values of published rows, so these stay.


@pytest.mark.parametrize("kind", KINDS)
def test_equal_cells_have_equal_public_files(kind: str, tmp_path: Path) -> None:
    hidden, roles, asked = KINDS[kind]
    chance = random.Random(kind)
    people = everybody(chance)
    table = table_of(people, chance)
    table = table.with_columns(weight=pl.Series([chance.randint(20, 60) for _ in table["pay"]]))
    how: dict[str, Any] = {"require": EVERY, "seed": 1} | asked
    if "population" in asked:
        how["population"] = people
    written_as = how.pop("format", "csv")
    schema = shoal.Schema(never_mix="ward", **roles)
    files = []
    for turn, one in enumerate((table, twin(table, chance, hidden))):
        out = tmp_path / str(turn)
        shoal.anonymize(one, schema, **how).write(out, format=written_as)
        if kind in UNORDERED:
            files.append(without_order(out))
        else:
            files.append(public_files(out, how.get("population")))
    assert_equal(*files)


@pytest.mark.parametrize("linked", [False, True])
def test_equal_cells_of_people_have_equal_public_files(linked: bool, tmp_path: Path) -> None:
    chance = random.Random(linked)
    once = table_of(everybody(chance), chance)
    who = [f"p{place}" for place in range(once.height)]
    once = once.with_columns(who=pl.Series(who))
    table = pl.concat([once, table_of(everybody(chance), chance).with_columns(who=pl.Series(who))])
    visits = pl.DataFrame({"who": who * 2, "cost": [chance.randint(1, 90) for _ in who * 2]})
    how: dict[str, Any] = {"require": EVERY, "seed": 1}
    roles: dict[str, Any] = {"person": "who", "never_mix": "ward"} | PLAIN
    if linked:
        how["linked"] = {"visits": visits}
        roles["sensitive"] = ["pay", "visits.cost"]
    files = []
    for turn, one in enumerate((table, twin(table, chance, KEPT))):
        shoal.anonymize(one, shoal.Schema(**roles), **how).write(tmp_path / str(turn))
        files.append(public_files(tmp_path / str(turn)))
    assert_equal(*files)


def test_equal_cells_of_a_series_have_equal_public_files(tmp_path: Path) -> None:
    chance = random.Random(5)
    people = everybody(chance)
    first, more = (table_of(people, chance) for _ in range(2))
    more = more.with_columns(pl.col("ward") + "'")
    who = [f"p{place}" for place in range(first.height + more.height)]
    whole = pl.concat([first, more]).with_columns(who=pl.Series(who))
    schema = shoal.Schema(**PLAIN, person="who", never_mix="ward")
    files: list[list[dict[str, bytes]]] = []
    for turn, one in enumerate((whole, twin(whole, chance, KEPT))):
        files.append([])
        (tmp_path / f"{turn}").mkdir()
        for number, table in enumerate((one[: first.height], one[1:])):  # one has gone
            out, ledger = tmp_path / f"{turn}" / f"{number}", tmp_path / f"{turn}" / "ledger"
            Run.over(table, schema, require=EVERY, output=out, ledger=ledger, seed=1).publish()
            files[-1].append(public_files(out))
    for before, after in zip(*files, strict=True):
        assert_equal(before, after)


def halves(chance: random.Random) -> pl.DataFrame:
    """Return wards of twice as many rows, half of whom are much older; `by` says which half."""
    people = everybody(chance)
    young, old = (table_of(people, chance) for _ in range(2))
    old = old.with_columns(pl.col("age") + 200, by=pl.col("ward") + " old")
    return pl.concat([young.with_columns(by=pl.col("ward")), old])


def test_equal_cells_of_coarser_releases_have_equal_public_files(tmp_path: Path) -> None:
    chance = random.Random(6)
    table = halves(chance)
    schema = shoal.Schema(
        quasi=["age", "town"],
        hierarchies={"town": TOWNS},
        weights={"age": 100},  # so that it is cut
        sensitive="pay",
        never_mix="ward",
    )
    hidden: dict[str, Hidden] = {"age": inner, "town": shared}
    files: list[dict[str, bytes]] = []
    for turn, one in enumerate((table, twin(table, chance, hidden, by="by"))):
        finer, out = tmp_path / f"finer{turn}", tmp_path / str(turn)
        shoal.anonymize(one, schema, require=EVERY, method="Mondrian()", seed=1).write(finer)
        shoal.coarsen(finer, require=f"KAnonymity(k={2 * SIZE})", seed=1).write(out)
        files.append(public_files(out))
    assert_equal(*files)


def test_equal_regions_have_equal_public_files(tmp_path: Path) -> None:
    chance = random.Random(8)
    table = halves(chance)
    schema = shoal.Schema(quasi="age", sensitive="pay", never_mix="ward", step={"age": 1})
    files: list[dict[str, bytes]] = []
    for turn, one in enumerate((table, twin(table, chance, {"age": inner}, by="by"))):
        out = tmp_path / str(turn)
        release = shoal.anonymize(one, schema, require=EVERY, cells="regions", seed=1)
        assert release.manifest.groups == 2 * WARDS
        release.write(out)
        files.append(public_files(out))
    assert_equal(*files)


def test_rows_that_are_left_out_or_kept_back_are_in_no_public_file(tmp_path: Path) -> None:
    """But by their numbers."""
    chance = random.Random(7)
    people = everybody(chance)
    table = table_of(people, chance)
    gaps = table_of(people, chance)[:4].with_columns(age=pl.lit(None, pl.Int64))
    spoiled = gaps.with_columns(
        height=pl.lit(999, pl.Int64), town=pl.lit("Rome"), pay=pl.lit(-1, pl.Int64)
    )
    how: dict[str, Any] = {"require": "KAnonymity(k=3)", "missing": "drop", "hold_out": "10%"}
    how["hold_out_file"] = tmp_path / "held.csv"
    schema = shoal.Schema(**PLAIN, never_mix="ward")
    first = Run.over(pl.concat([table, gaps]), schema, seed=2, **how).release()
    assert first.kept is not None
    kept = set(first.kept.tolist())
    held = pl.Series([row not in kept for row in range(table.height + 4)])[:30]
    assert held.sum() > 0
    changed = table.with_columns(
        pl.when(held).then(other).otherwise(pl.col(name)).alias(name)
        for name, other in (("age", 99_999), ("town", pl.lit("Rome")), ("pay", 0))
    )
    second = Run.over(pl.concat([changed, spoiled]), schema, seed=2, **how).release()
    files = []
    for turn, one in enumerate((first, second)):
        one.write(tmp_path / str(turn))
        files.append(public_files(tmp_path / str(turn)))
    assert_equal(*files)
