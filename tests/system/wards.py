"""Tables of wards, each of which has as many rows as a group needs, so that groups are the wards.

Wards are never mixed. Two tables that differ inside the cells of wards are published alike,
whatever is searched for.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

import shoal

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

    Hidden = Callable[[list[Any], random.Random], list[Any]]

WARDS, SIZE = 6, 5
TOWNS = {"south": ["Aix", "Bari", "Catania"], "north": ["Delft", "Essen", "Falun", "Gent"]}
POOLS: dict[str, list[Any]] = {
    "zip": [f"1{a}{b}{c}" for a in range(3) for b in range(3) for c in range(3)] + ["20", "1001x"],
    "town": [town for some in TOWNS.values() for town in some],
    "born": [f"{year}-0{month}-1{month}" for year in (1960, 1961, 1975) for month in range(1, 10)],
    "age": list(range(18, 90)),
    "height": list(range(150, 200)),
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
    pay = [one * 1000 for one in chance.sample(range(1, 91), len(rows))]
    return some.with_columns(pay=pl.Series(pay), ill=pl.Series([str(one % 7) for one in pay]))


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


UNORDERED = {"two tables", "no groups"}  # where who has what says in which random place it stands


def without_order(out: Path) -> dict[str, bytes]:
    """Return what public files say but for the order of rows, of which a report shows the first."""
    files = {one.name: one.read_bytes() for one in out.iterdir() if one.name != "report.html"}
    for name in [name for name in files if name.endswith(".csv")]:
        files[name] = b"\n".join(sorted(files[name].splitlines()))
    said = json.loads(files["manifest.json"])
    return files | {"manifest.json": json.dumps(said | {"digests": [*said["digests"]]}).encode()}


def inner(cells: list[Any], chance: random.Random) -> list[Any]:
    """Return numbers between the same ends, which somebody else has."""
    low, high = min(cells), max(cells)
    drawn = [low, high, *(chance.randint(low, high) for _ in cells[2:])]
    chance.shuffle(drawn)
    return drawn


def shared(cells: list[Any], chance: random.Random) -> list[Any]:
    """Return the same values, which others have, and others more of them have."""
    kinds = sorted({*cells})
    drawn = [*kinds, *(chance.choice(kinds) for _ in cells[len(kinds) :])]
    chance.shuffle(drawn)
    return drawn


def balanced(cells: list[Any], chance: random.Random) -> list[Any]:
    """Return numbers with the same ends and the same sum."""
    first, *inside, last = sorted(cells)
    low, high = min(inside), max(inside)
    step = chance.randint(0, min(low - first, last - high))
    inside[0] -= step
    inside[-1] += step
    drawn = [first, last, *inside]
    chance.shuffle(drawn)
    return drawn


def summed(cells: list[Any], chance: random.Random) -> list[Any]:
    """Return other numbers with the same sum."""
    step = chance.randint(1, 9)
    return [cells[0] + step, cells[1] - step, *cells[2:]]


def shuffled(cells: list[Any], chance: random.Random) -> list[Any]:
    """Return the same cells, of which somebody else has each."""
    return chance.sample(cells, len(cells))


def twin(
    table: pl.DataFrame, chance: random.Random, hidden: dict[str, Hidden], by: str = "ward"
) -> pl.DataFrame:
    """Return a table that differs inside the cells of its groups, which are those of a column."""
    numbered = table.with_row_index("row")
    groups = [rows["row"].to_list() for _, rows in numbered.group_by(by, maintain_order=True)]
    found = table
    for name, way in hidden.items():
        cells = table[name].to_list()
        for rows in groups:
            for row, cell in zip(rows, way([cells[row] for row in rows], chance), strict=True):
                cells[row] = cell
        found = found.with_columns(pl.Series(name, cells))
    assert all(found[name].to_list() != table[name].to_list() for name in hidden)
    return found


KEPT: dict[str, Hidden] = {"age": inner, "height": inner, "town": shared}
PLAIN: dict[str, Any] = {"quasi": ["age", "height", "town"], "sensitive": ["pay", "ill"]}
NODES = {"zip": "Prefix()", "town": TOWNS, "born": "Calendar()"}
EVERY = f"KAnonymity(k={SIZE})"  # row of a ward is needed
KINDS: dict[str, tuple[dict[str, Hidden], dict[str, Any], dict[str, Any]]] = {
    # what is hidden and how, roles, and what is asked; `population` is filled in
    "intervals": (KEPT, PLAIN, {}),
    "bounds in Parquet": (KEPT, PLAIN, {"form": "bounds", "format": "parquet"}),
    "nodes": (
        {"zip": shared, "town": shared, "born": shared},
        {"quasi": [*NODES], "sensitive": "pay", "hierarchies": NODES, "types": {"zip": "code"}},
        {"method": "Mondrian()", "format": "tsv"},  # several would be tried
    ),
    "means": (
        {"age": balanced, "town": shared},
        PLAIN | {"quasi": ["age", "town"]},
        {"form": "means"},
    ),
    "two tables": (
        {"pay": shuffled},
        {"quasi": ["age", "town"], "sensitive": "pay"},
        {"form": "two-tables", "require": f"pay: DistinctL(l={SIZE})"},
    ),
    "survey weights": (KEPT | {"weight": summed}, PLAIN | {"survey_weight": "weight"}, {}),
    "no groups": (KEPT, PLAIN, {"method": "Freeform()"}),
    "readers who know the method": (
        KEPT,
        PLAIN,
        {"method": "Oblivious()", "require": [EVERY, "pay: FrequencyL(l=5)"]},
    ),
    "exposed columns": (KEPT, PLAIN | {"sensitive": "pay", "other": "ill"}, {}),
    "rounded": (KEPT, PLAIN | {"round": {"pay": 5000}, "top": {"pay": 80000}}, {}),
    "presence": (KEPT, PLAIN, {"require": [EVERY, "DeltaPresence(high=1)"], "population": True}),
}
