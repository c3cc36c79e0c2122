"""Whom rows are about: a column that says so is recognised, and its loss is told."""

from __future__ import annotations

import random
import tomllib
from typing import TYPE_CHECKING

import polars as pl
import pytest

import shoal
from shoal.inspection.advise import whom_rows_are_about
from shoal.runs.schema_file import proposed_schema, usual_rows
from system import shell

if TYPE_CHECKING:
    from pathlib import Path


def visits(people: int = 150) -> pl.DataFrame:
    chance = random.Random(1)
    rows = []
    for person in range(people):
        age, town = chance.randint(20, 60), chance.choice("abcd")
        rows += [
            (f"p{person}", age, town, chance.randint(0, 9000))
            for _ in range(40 if person == 0 else chance.choice([1, 2, 3]))
        ]
    return pl.DataFrame(rows, schema=["patient_id", "age", "town", "cost"], orient="row")


def test_several_rows_of_one_person_are_recognised_and_counted() -> None:
    table = visits()
    column = next(one for one in shoal.inspect(table).columns if one.name == "patient_id")
    assert column.role == "person"
    people, rows = table["patient_id"].n_unique(), table.height
    assert column.why == f"{people} values in {rows} rows: several rows are about one person"
    assert "most_frequent" not in column.values
    assert shoal.inspect(table).schema.person == "patient_id"


@pytest.mark.parametrize(
    ("name", "distinct", "filled", "found"),
    [
        ("patient", 1500, 3375, True),
        ("dupersid", 900, 1000, True),
        ("ori_hid", 1000, 4580, True),
        ("id", 1000, 2000, True),
        ("id", 1000, 1000, False),  # one row each
        ("patient", 5, 1000, False),  # few values are something else
        ("zip", 500, 1000, False),
        ("covid", 500, 1000, False),
        ("patient_name", 500, 1000, False),  # two people may share a name
        ("Nachname", 500, 1000, False),
        ("nom_du_patient", 500, 1000, False),
    ],
)
def test_names_and_repetition_tell_whom_rows_are_about(
    name: str, distinct: int, filled: int, *, found: bool
) -> None:
    assert (whom_rows_are_about(name, distinct, filled) is not None) == found


def test_one_column_alone_is_whom_rows_are_about() -> None:
    table = visits().with_columns(household=pl.col("patient_id").str.slice(0, 3))
    found = {one.name: one for one in shoal.inspect(table).columns}
    assert (found["patient_id"].role, found["household"].role) == ("person", "identifying")
    assert "would protect these whole" in found["household"].why


def test_init_proposes_the_95th_percentile_of_rows() -> None:
    table = visits()
    text, _ = proposed_schema(table, "visits.csv")
    said = tomllib.loads(text)
    counts = sorted(table["patient_id"].value_counts()["count"])
    assert said["person"] == "patient_id"
    assert said["most_rows"] == counts[int(0.95 * (len(counts) - 1))] == 3
    assert usual_rows(pl.Series(["a"])) == 1


def test_anonymize_warns_where_a_likely_person_column_is_dropped(tmp_path: Path) -> None:
    table = visits()
    table.write_csv(tmp_path / "v.csv")
    asked = [tmp_path / "v.csv", "--quasi", "age,town", "--require", "KAnonymity(k=3)"]
    done = shell.shoal("anonymize", *asked, "--output", tmp_path / "a")
    assert "several rows are about one person" in done.said
    assert "--person patient_id" in done.said
    named = shell.shoal("anonymize", *asked, "--output", tmp_path / "b", "--person", "patient_id")
    assert "what is promised counts rows" not in named.said
    (tmp_path / "key").write_text("0123456789abcdef" * 2)
    keyed = [*asked, "--pseudonymize", "patient_id", "--key-file", tmp_path / "key"]
    tied = shell.shoal("anonymize", *keyed, "--output", tmp_path / "c")
    lines = pl.read_csv(tmp_path / "c/release.csv")
    groups = lines.group_by("patient_id").agg(pl.col("group").sort())["group"].to_list()
    alone = sum(groups.count(one) == 1 for one in groups)
    assert alone
    assert f"to 150 people, and {alone} of them are the only one" in tied.said
    both = shell.shoal("anonymize", *keyed, "--person", "patient_id", "--output", tmp_path / "d")
    assert both.code == 2
