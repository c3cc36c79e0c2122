"""A series in every form, of rounded and cut-off numbers and of dates as people write them.

What is published of a living group is compared byte by byte, in every file, by a reader of CSV that
knows nothing of Shoal; what was rounded and cut off is computed again from the tables.
"""

import csv
import hashlib
import json
import random
from decimal import ROUND_FLOOR, Decimal
from pathlib import Path

import polars as pl
import pytest

import shoal
from reference import proximity
from system.shell import shoal as command
from system.shell import write_csv

FORMS = ("intervals", "bounds", "means", "two-tables")
TABLES = {"two-tables": ("people.csv", "values.csv")}
REQUIRE = "EpsilonM(epsilon=3, m=2)"
Person = dict[str, str]


def somebody(draw: random.Random, number: int) -> Person:
    day, month = draw.randint(1, 28), draw.randint(1, 12)
    return {
        "who": f"p{number}",
        "age": draw.choice(["20", "20.0", "31", "44", "5e1", "63.5", str(draw.randint(18, 99))]),
        "town": draw.choice("abc"),
        "born": f"{day:02}/{month:02}/19{draw.randint(30, 79)}",
        "pay": str(draw.choice([0, 10, 25, 40, 99, draw.randint(0, 400)])),
    }


def schema(**more) -> shoal.Schema:
    return shoal.Schema(quasi=["age", "town", "born"], sensitive="pay", person="who", **more)


def turns(draw: random.Random) -> list[list[Person]]:
    """Return who is in the table in four rounds: people leave, come back, and join."""
    people = [somebody(draw, number) for number in range(20)]
    people[0]["born"] = "28/02/1950"  # so that the first table decides how dates are written
    rounds, count = [list(people)], 20
    away: list[Person] = []
    for _ in range(3):
        gone = draw.sample(people, 5)
        back = [one for one in away if draw.random() < 0.4]
        fresh = [somebody(draw, count + place) for place in range(10)]
        for one in fresh:  # days that could be months: only the ledger knows
            one["born"] = f"{draw.randint(1, 12):02}{one['born'][2:]}"
        count += 10
        people = [one for one in people if one not in gone] + back + fresh
        away = [one for one in away if one not in back] + gone
        draw.shuffle(people)
        rounds.append(list(people))
    return rounds


def files(directory: Path) -> dict[str, dict[str, list[tuple[str, ...]]]]:
    """Return for every table of a release the rows of each group but for drawn numbers."""
    found: dict[str, dict[str, list[tuple[str, ...]]]] = {}
    for path in directory.glob("*.csv"):
        if path.name == "codebook.csv":
            continue
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                kept = tuple(v for k, v in row.items() if k not in {"group", "real", "person"})
                found.setdefault(path.name, {}).setdefault(row["group"], []).append(kept)
    return {
        name: {group: sorted(rows) for group, rows in groups.items()}
        for name, groups in found.items()
    }


def reals(directory: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in directory.glob("*.csv"):
        if path.name != "codebook.csv":
            with path.open(newline="") as file:
                for row in csv.DictReader(file):
                    found.setdefault(row["group"], set()).add(row["real"])
    return found


def rounded(cell: str) -> str:
    """Round to 5, halves up, below 10 given as 10 and above 300 as 300."""
    steps = (Decimal(cell) / 5 + Decimal("0.5")).to_integral_value(ROUND_FLOOR)
    return str(min(max(int(steps) * 5, 10), 300))


@pytest.mark.few(1)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("trimmed", [False, True])
def test_living_groups_are_the_same_bytes_in_every_round(form, trimmed, tmp_path):
    draw = random.Random(f"{form} {trimmed}")
    more = {"round": {"pay": 5}, "bottom": {"pay": 10}, "top": {"pay": 300, "age": "90%"}}
    rounds = turns(draw)
    names = [f"r{place}" for place in range(len(rounds))]
    shown: dict[str, dict[str, list[tuple[str, ...]]]] = {}
    last: set[str] = set()
    gone: set[str] = set()
    for name, people in zip(names, rounds, strict=True):
        shoal.results.Run(
            table=pl.DataFrame(people),
            schema=schema(**more if trimmed else {}),
            require=REQUIRE,
            form=form,
            ledger=tmp_path / "ledger",
            output=tmp_path / name,
            linkage=tmp_path / f"{name}.links",
        ).publish()
        now = files(tmp_path / name)
        assert set(now) == set(TABLES.get(form, ("release.csv",)))
        for table, groups in now.items():
            for group, rows in groups.items():
                assert shown.setdefault(table, {}).setdefault(group, rows) == rows
            assert not set(groups) & gone  # numbers are never used again
            assert set(groups) == set(next(iter(now.values())))
        gone |= last - set(groups)
        last = set(groups)
        with (tmp_path / f"{name}.links").open() as file:
            links = {int(one["row"]): int(one["release_row"]) for one in csv.DictReader(file)}
        path = tmp_path / name / ("values.csv" if form == "two-tables" else "release.csv")
        with path.open(newline="") as file:
            published = list(csv.DictReader(file))
        counts: dict[str, int] = {}
        for row, at in links.items():
            pay = people[row]["pay"]
            assert published[at]["pay"] == (rounded(pay) if trimmed else pay)
            group = published[at]["group"]
            counts[group] = counts.get(group, 0) + 1
        assert {group: {str(count)} for group, count in counts.items()} == reals(tmp_path / name)
        for group in last:
            pays = [row["pay"] for row in published if row["group"] == group]
            assert proximity.holds(pays, "absolute", 2, epsilon=3)
        if form == "two-tables":
            with (tmp_path / name / "people.csv").open(newline="") as file:
                lines = list(csv.DictReader(file))
            assert len(lines) == len(published)
            exact = {(one["town"], one["born"]) for people in rounds for one in people}
            iso = {(town, "-".join(reversed(born.split("/")))) for town, born in exact}
            assert {(line["town"], line["born"]) for line in lines} <= exact | iso
    found = shoal.audit_series([tmp_path / name for name in names], ledger=tmp_path / "ledger")
    assert found.holds, found.complaints()
    assert not found.warnings
    said = [json.loads((tmp_path / name / "manifest.json").read_text()) for name in names]
    for key in ("top", "bottom", "round", "date_format"):
        stated = [[column.get(key) for column in one["columns"]] for one in said]
        assert all(one == stated[0] for one in stated)
    assert any("date_format" in column for column in said[0]["columns"])
    if trimmed:  # a percentile of the first table is a threshold for good
        (age,) = (column for column in said[-1]["columns"] if column["name"] == "age")
        assert isinstance(age["top"], int)


@pytest.fixture
def apart(tmp_path):
    draw = random.Random(3)
    rounds = turns(draw)
    for place, people in enumerate(rounds[:2]):
        shoal.results.Run(
            table=pl.DataFrame(people),
            schema=schema(),
            require=REQUIRE,
            form="two-tables",
            ledger=tmp_path / "ledger",
            output=tmp_path / f"r{place}",
        ).publish()
    return tmp_path, rounds


@pytest.mark.few(1)
@pytest.mark.parametrize("column", ["age", "town", "born", "real"])
def test_a_person_who_is_somebody_else_in_the_second_of_two_tables_is_found(column, apart):
    where, _ = apart
    given = [where / "r0", where / "r1"]
    assert shoal.audit_series(given).holds
    with (where / "r0" / "people.csv").open(newline="") as file:
        old = {row["group"] for row in csv.DictReader(file)}
    path = where / "r1" / "people.csv"
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    mine = next(line for line in lines if line["group"] in old)
    alike = [line for line in lines if line["group"] == mine["group"]]
    inside = [line[column] for line in alike]
    if column == "real":
        mine["real"] = str(int(mine["real"]) + 1)
    elif len(set(inside)) > 1:  # another value of the group's own: the box stays
        mine[column] = next(cell for cell in inside if cell != mine[column])
    else:
        mine[column] = next(line[column] for line in lines if line[column] != mine[column])
    with path.open("w", newline="") as file:
        written = csv.DictWriter(file, lines[0], lineterminator="\n")
        written.writeheader()
        written.writerows(lines)
    manifest = json.loads((where / "r1" / "manifest.json").read_text())
    manifest["digests"]["people.csv"] = f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    (where / "r1" / "manifest.json").write_text(json.dumps(manifest))
    found = shoal.audit_series(given)
    if column == "real":  # which one release tells by itself
        assert "different numbers of real people" in " ".join(shoal.audit(where / "r1").problems)
        assert not found.holds
    else:
        assert any("groups have changed since" in said for said in found.problems), (
            found.complaints()
        )


def test_what_the_first_table_decided_cannot_be_said_otherwise(apart, tmp_path):
    where, rounds = apart
    table = write_csv(tmp_path / "now.csv", rounds[2])
    said = [
        "anonymize", table, "--person", "who", "--quasi", "age,town,born", "--sensitive", "pay",
        "--require", REQUIRE, "--form", "two-tables", "--ledger", where / "ledger",
        "--output", where / "r2",
    ]  # fmt: skip
    for more, why in (
        (
            ("--date-format", "born=mm/dd/yyyy"),
            "has 'date formats' = born=dd/mm/yyyy",
        ),
        (("--round", "pay=5"), "The ledger has 'rounding and thresholds' = nothing"),
        (("--top", "pay=99%"), "The ledger has 'rounding and thresholds' = nothing"),
        (("--form", "bounds"), "The ledger has 'form' = two-tables"),
    ):
        refused = command(*said, *more)
        assert refused.code == 2, refused
        assert why in refused.said
    assert command(*said, "--dry-run").code == 0
    assert command(*said, "--date-format", "born=dd/mm/yyyy").code == 0
    checked = command("audit", *(where / f"r{n}" for n in range(3)), "--ledger", where / "ledger")
    assert checked.code == 0, checked.out
