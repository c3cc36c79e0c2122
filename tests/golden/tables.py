"""The tables of the golden runs: small, with ties, gaps and several rows of one person."""

from __future__ import annotations

import csv
import json
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

TOWNS = {"Aalen": "south", "Bonn": "west", "Celle": "north", "Düren": "west", "Emden": "north"}
ILLS = ("asthma", "cold", "flu", "gout", "mumps", "polio", "rabies", "scurvy")
HEADER = (
    *("who", "age", "sex", "town", "zip", "born", "score", "visits"),
    *("note", "weight", "pay", "ill"),
)
Row = dict[str, str]


def somebody(draw: random.Random, number: int) -> Row:
    """Return what is always the same of a person, and one row about them."""
    return {
        "who": f"p{number:03d}",
        "age": str(draw.randrange(18, 80)),
        "sex": draw.choice("fm"),
        "town": draw.choice(sorted(TOWNS)),
        "zip": f"{draw.randrange(10, 14)}{draw.randrange(10, 99)}",
        "born": f"19{draw.randrange(40, 99)}-0{draw.randrange(1, 9)}-1{draw.randrange(9)}",
        "score": f"{draw.randrange(-40, 200) / 8:.3f}",
        "visits": str(draw.randrange(4)),
        "note": draw.choice(["plain", "a, b", 'say "hi"', "naïve ☃"]),
        "weight": f"{draw.randrange(10, 40) / 10}",
        "pay": str(draw.choice([draw.randrange(90), 10 * draw.randrange(1, 9)]) * 1000),
        "ill": draw.choice(ILLS),
    }


def people(count: int = 84, seed: int = 1) -> list[Row]:
    """Return one row a person."""
    draw = random.Random(seed)
    return [somebody(draw, number) for number in range(count)]


def several(count: int = 60) -> list[Row]:
    """Return one to three rows a person, who stays of one sex and in one town."""
    draw = random.Random(2)
    rows = []
    for one in people(count, 3):
        for turn in range(draw.choice([1, 1, 2, 2, 3])):
            pay, ill = str(1000 * draw.randrange(90)), draw.choice(ILLS)
            rows.append(one | ({"pay": pay, "ill": ill} if turn else {}))
    draw.shuffle(rows)
    return rows


def gaps(rows: Iterable[Row]) -> list[Row]:
    """Return the rows with some cells missing."""
    found = [dict(row) for row in rows]
    for place, name in ((5, "age"), (17, "town"), (23, "pay"), (31, "ill"), (40, "age")):
        found[place][name] = ""
    return found


def stays(rows: Iterable[Row]) -> list[Row]:
    """Return a second table about the same people, some of whom have no row in it."""
    draw = random.Random(4)
    return [
        {"who": who, "ward": draw.choice("ABCDEFG"), "cost": str(100 * draw.randrange(40))}
        for who in sorted({row["who"] for row in rows})
        for _ in range(draw.choice([0, 1, 1, 2]))
    ]


def rounds() -> list[list[Row]]:
    """Return three states of one table: people come, go, come back and change."""
    draw, all_of_them = random.Random(5), people(70, 6)
    first = all_of_them[:48]
    second = [row for row in all_of_them[:60] if row not in draw.sample(first, 9)]
    third = [row for row in all_of_them if row not in draw.sample(second, 9)]
    for row in (second := [dict(row) for row in second])[:3]:
        row["pay"] = "1000"
    return [first, second, third]


def _csv(path: Path, rows: list[Row], header: Iterable[str] = HEADER) -> None:
    names = list(header)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([row[name] for name in names] for row in rows)


SCHEMA = """
quasi = ["age", "town", "born"]
sensitive = ["pay", "ill"]
require = ["pay: EpsilonM(epsilon=4000, m=3)", "ill: DistinctL(l=2)"]

[columns.age]
weight = 2
bounds = [0, 120]
step = 1
"""
CODES = """
quasi = ["age", "town"]
sensitive = "pay"
other = "note"
nobody_knows = "note"
require = "KAnonymity(k=3)"
suppress = "2%"
"""


def write(where: Path) -> None:
    """Write all of them."""
    one, more = people(), several()
    _csv(where / "one.csv", one)
    _csv(where / "more.csv", more)
    _csv(where / "one-gaps.csv", gaps(one))
    _csv(where / "more-gaps.csv", gaps(more))
    _csv(where / "stays.csv", stays(more), ("who", "ward", "cost"))
    for number, rows in enumerate(rounds(), 1):
        _csv(where / f"round-{number}.csv", rows)
    _csv(where / "everybody.csv", one + people(60, 7), ("age", "sex", "town"))
    _csv(where / "names.csv", [row | {"note": f"note {i}"} for i, row in enumerate(one)])
    tree = [f"{town};{region};all" for town, region in TOWNS.items()]
    (where / "town.csv").write_text("\n".join(tree) + "\n", "utf-8")
    (where / "schema.toml").write_text(SCHEMA, "utf-8")
    (where / "codes.toml").write_text(CODES, "utf-8")
    (where / "broken.toml").write_text('quasi = "age"\nquasy = "town"\n', "utf-8")
    (where / "lines.jsonl").write_text("\n".join(json.dumps(row) for row in one) + "\n", "utf-8")
