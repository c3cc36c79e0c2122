"""Linked tables: a second table under the same people, against the definitions."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import shoal
from reference import linked as oracle
from shoal.audit.published import as_read

if TYPE_CHECKING:
    from pathlib import Path

Frames = tuple[pl.DataFrame, pl.DataFrame]


def drawn(chance: random.Random, people: int, *, heavy: bool = False) -> Frames:
    """Draw people with one or two rows and visits of theirs, some with none, one with many."""
    first, visits = [], []
    for person in range(people):
        age, town = chance.randint(20, 60), chance.choice("abcd")
        first += [
            (f"p{person}", age, town, chance.randint(0, 900))
            for _ in range(chance.choice([1, 1, 1, 2]))
        ]
        many = 120 if heavy and person == 0 else chance.choice([0, 1, 1, 1, 2, 3])
        visits += [
            (f"p{person}", chance.choice("ABCDEFGHIJKL"), chance.randint(0, 900), "w")
            for _ in range(many)
        ]
    chance.shuffle(first)
    chance.shuffle(visits)
    return (
        pl.DataFrame(first, schema=["patient", "age", "town", "pay"], orient="row"),
        pl.DataFrame(visits, schema=["patient", "diagnosis", "cost", "ward"], orient="row"),
    )


def schema_of(**more: Any) -> shoal.Schema:
    return shoal.Schema(
        quasi=["age", "town"],
        sensitive=["pay", "visits.diagnosis", "visits.cost"],
        other="visits.ward",
        person="patient",
        **more,
    )


def close(width: int) -> oracle.Near:
    return lambda u, v: abs(int(u) - int(v)) <= width


REQUIRED: dict[str, tuple[str, str, oracle.Near, Fraction, int]] = {
    "KAnonymity(k=3)": ("release", "pay", lambda _u, _v: False, Fraction(1), 3),
    "pay: EpsilonM(epsilon=20, m=2)": ("release", "pay", close(20), Fraction(1, 2), 2),
    "visits.diagnosis: FrequencyL(l=2)": (
        "visits",
        "diagnosis",
        lambda u, v: u == v,
        Fraction(1, 2),
        2,
    ),
    "visits.cost: EpsilonM(epsilon=30, m=2)": ("visits", "cost", close(30), Fraction(1, 2), 2),
    "visits.cost: Window(width=40, m=2)": (
        "visits",
        "cost",
        lambda u, v: int(v) <= int(u) <= int(v) + 40,
        Fraction(1, 2),
        2,
    ),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("form", ["intervals", "bounds", "means"])
def test_whatever_is_published_holds_in_every_table(form: str, tmp_path: Path) -> None:
    chance = random.Random(f"linked {form}")
    reached = 0
    for trial in range(12):
        known = trial % 4 != 0
        more: dict[str, Any] = {} if known else {"rows": "unknown"}
        if trial % 3 == 0:
            more["most_rows"] = chance.randint(1, 3)
        table, visits = drawn(chance, chance.randint(20, 60), heavy=trial % 5 == 0)
        asked = chance.sample(list(REQUIRED), chance.randint(1, 3))
        place = tmp_path / str(trial)
        try:
            release = shoal.anonymize(
                table,
                schema_of(**more),
                linked={"visits": visits},
                require=asked,
                method=chance.choice([None, "Exchange()", "Mondrian()"]),
                suppress=chance.choice([None, "20%"]),
                form=form,
            )
        except (shoal.NotAchievable, shoal.UsageError):
            continue
        reached += 1
        release.write(place)
        assert shoal.audit(place).holds
        check(place, table, visits, asked, more, known=known)
    assert reached >= 4


def check(
    place: Path,
    table: pl.DataFrame,
    visits: pl.DataFrame,
    asked: list[str],
    more: dict[str, Any],
    *,
    known: bool,
) -> None:
    """Check published files by the definitions, and what they say of themselves."""
    tables = {stem: oracle.read(place / f"{stem}.csv") for stem in ("release", "visits")}
    sets = oracle.candidates(list(tables.values()), known=known)
    for one in asked:
        stem, column, near, bound, least = REQUIRED[one]
        assert min(map(len, sets)) >= least
        assert oracle.risk(sets, tables[stem], column, near) <= bound
    manifest = json.loads((place / "manifest.json").read_text())
    said = manifest["tables"]["visits"]
    assert said["rows"] == len(tables["visits"])
    assert said["rows_in"] == visits.height
    assert said["rows_in"] == sum(said[k] for k in ("rows", "dropped", "suppressed", "capped"))
    assert list(tables["visits"][0]) == ["group", "person", "diagnosis", "cost", "ward"]
    if most := more.get("most_rows"):
        for lines in tables.values():
            assert max(Counter(line["person"] for line in lines).values()) <= most
    # Every person's published visits are some of one patient's own, and of one only.
    own = {
        patient: Counter(rows.select("diagnosis", "cost").iter_rows())
        for (patient,), rows in visits.group_by("patient")
    }
    theirs: dict[str, Counter[Any]] = {}
    for line in tables["visits"]:
        theirs.setdefault(line["person"], Counter())[line["diagnosis"], int(line["cost"])] += 1
    for rows in theirs.values():
        assert any(rows <= some for some in own.values())
    assert manifest["people"] <= table["patient"].n_unique()


def test_visits_stay_with_their_people(tmp_path: Path) -> None:
    table, visits = drawn(random.Random(2), 50)
    table = table.unique("patient").with_columns(pay=pl.col("patient").str.slice(1).cast(pl.Int64))
    visits = visits.with_columns(cost=pl.col("patient").str.slice(1).cast(pl.Int64))
    release = shoal.anonymize(
        table, schema_of(), linked={"visits": visits}, require="KAnonymity(k=3)", seed=4
    )
    release.write(tmp_path / "out")
    first = {line["person"]: line["pay"] for line in oracle.read(tmp_path / "out/release.csv")}
    lines = oracle.read(tmp_path / "out/visits.csv")
    assert all(first[line["person"]] == line["cost"] for line in lines)
    again = shoal.anonymize(
        table, schema_of(), linked={"visits": visits}, require="KAnonymity(k=3)", seed=4
    )
    assert again.tables["visits"].equals(release.tables["visits"])
    assert release.tables["visits"]["cost"].dtype == pl.Int64
    assert [line["person"] for line in lines] != sorted(line["person"] for line in lines)


def test_the_audit_finds_a_linked_table_that_was_spoiled(tmp_path: Path) -> None:
    table, visits = drawn(random.Random(3), 60)
    require = ["KAnonymity(k=3)", "visits.diagnosis: FrequencyL(l=2)"]
    release = shoal.anonymize(
        table, schema_of(), linked={"visits": visits}, require=require, suppress="30%"
    )
    release.write(tmp_path / "good")
    text = (tmp_path / "good/visits.csv").read_text()
    header, *lines = text.splitlines()
    group, person = lines[0].split(",")[:2]
    other = next(line.split(",")[0] for line in lines if line.split(",")[0] != group)
    spoiled = {
        "a row less": lines[1:],
        "a row more": [*lines, lines[0]],
        "nobody": [*lines[1:], lines[0].replace(f"{group},{person},", f"{group},999999,", 1)],
        "another group": [*lines[1:], lines[0].replace(f"{group},", f"{other},", 1)],
        "one diagnosis": [
            ",".join([*line.split(",")[:2], "A", *line.split(",")[3:]]) for line in lines
        ],
    }
    known = as_read(release)
    for what, some in spoiled.items():
        published = read_back("\n".join([header, *some]))
        assert not release.audit_published(replace(known, linked={"visits": published})).holds, what
    assert release.audit_published(replace(known, linked={"visits": read_back(text)})).holds
    (tmp_path / "good/visits.csv").write_text("\n".join([header, *spoiled["a row less"]]))
    found = shoal.audit(tmp_path / "good")
    assert not found.holds
    assert any("visits" in said for said in found.problems)


def read_back(text: str) -> pl.DataFrame:
    table = pl.read_csv(text.encode(), infer_schema=False)
    return table.rename({name: f"visits.{name}" for name in table.columns})


def test_what_cannot_be_linked_is_refused_with_a_sentence() -> None:
    table, visits = drawn(random.Random(5), 40)
    how: dict[str, Any] = {"require": "KAnonymity(k=2)", "linked": {"visits": visits}}
    unknown = visits.with_columns(
        patient=pl.when(pl.int_range(pl.len()) == 3).then(pl.lit("x")).otherwise("patient")
    )
    with pytest.raises(shoal.InputError, match=r"'visits.patient' has 1 unknown cell.*row 4"):
        shoal.anonymize(table, schema_of(), **how | {"linked": {"visits": unknown}})
    with pytest.raises(shoal.InputError, match="no row of the linked table"):
        shoal.anonymize(table, schema_of(), **how | {"linked": {"visits": visits.clear()}})
    options: dict[str, dict[str, Any]] = {
        "form": {"form": "two-tables", "require": "pay: EpsilonM(epsilon=1, m=2)"},
        "together": {"require": "pay+visits.cost: Dissimilarity(epsilon=0.1, delta=0.5, k=2)"},
        "visits.colour": {"require": "visits.colour: FrequencyL(l=2)"},
        "under its name": {"linked": {"../visits": visits}},
        "not be one of": {"linked": {"release": visits}},
    }
    for wrong, said in options.items():
        with pytest.raises(shoal.UsageError, match=wrong):
            shoal.anonymize(table, schema_of(), **how | said)
    schemas: dict[str, dict[str, Any]] = {
        "sensitive or other": {"quasi": ["age", "visits.cost"], "other": "visits.ward"},
        "visits.colour": {"quasi": "age", "other": "visits.colour"},
        "No column of the table": {"quasi": "age"},
        "Name the column": {"quasi": "age", "other": "visits.ward", "person": None},
    }
    for wrong, schema in schemas.items():
        with pytest.raises(shoal.UsageError, match=wrong):
            shoal.anonymize(table, shoal.Schema(**{"person": "patient"} | schema), **how)
    alike = table.with_columns(pl.lit(1).alias("visits.cost"))
    with pytest.raises(shoal.UsageError, match="another name"):
        shoal.anonymize(alike, schema_of(), **how)


def test_rows_of_people_left_out_are_left_out_too() -> None:
    table, visits = drawn(random.Random(6), 40)
    gone = table["patient"][0]
    table = table.with_columns(pay=pl.when(pl.col("patient") == gone).then(None).otherwise("pay"))
    release = shoal.anonymize(
        table, schema_of(), linked={"visits": visits}, require="KAnonymity(k=2)", missing="drop"
    )
    said = release.manifest.tables["visits"]
    assert said.dropped == (visits["patient"] == gone).sum()
    assert release.audit().holds
