"""Whom rows are about: a column that says so is recognised, and its loss is told."""

from __future__ import annotations

import random
import tomllib
from typing import TYPE_CHECKING

import polars as pl
import pytest

import shoal
from shoal.inspection.whom import whom_rows_are_about
from shoal.runs.consider import consider
from shoal.runs.proposal import requirements_for
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
    assert "Of the others, at most 3 are published" in " ".join(text.replace("#", " ").split())
    assert usual_rows(pl.Series(["a"])) == 1


def test_anonymize_warns_where_a_likely_person_column_is_dropped(tmp_path: Path) -> None:
    table = visits()
    table.write_csv(tmp_path / "v.csv")
    asked = [tmp_path / "v.csv", "--quasi", "age,town", "--require", "KAnonymity(k=3)"]
    done = shell.shoal("anonymize", *asked, "--output", tmp_path / "a")
    assert "several rows seem to be about one person" in " ".join(done.said.split())
    assert "--person patient_id" in done.said
    named = shell.shoal("anonymize", *asked, "--output", tmp_path / "b", "--person", "patient_id")
    assert "counts rows" not in named.said
    (tmp_path / "key").write_text("0123456789abcdef" * 2)
    keyed = [*asked, "--pseudonymize", "patient_id", "--key-file", tmp_path / "key"]
    tied = shell.shoal("anonymize", *keyed, "--output", tmp_path / "c")
    lines = pl.read_csv(tmp_path / "c/release.csv")
    groups = lines.group_by("patient_id").agg(pl.col("group").sort())["group"].to_list()
    alone = sum(groups.count(one) == 1 for one in groups)
    assert alone
    assert f"to 150 people. {alone} of these people have" in " ".join(tied.said.split())
    both = shell.shoal("anonymize", *keyed, "--person", "patient_id", "--output", tmp_path / "d")
    assert both.code == 2


@pytest.mark.parametrize(
    "name",
    [
        "Versichertennr",
        "Patientennr",
        "Patienten-Nr.",
        "PersonalNr",
        "Mitgliedsnummer",
        "Kundennr",
        "matrikelnr",
        "numero_patient",
        "num_assure",
        "Numero_Afiliado",
        "num_paciente",
        "patient_no",
        "member_number",
    ],
)
def test_a_number_that_says_whose_it_is_is_proposed_as_person(name: str) -> None:
    table = visits().rename({"patient_id": name})
    found = shoal.inspect(table)
    assert found.schema.person == name
    assert whom_rows_are_about(name, 900, 900) is None


@pytest.mark.parametrize("name", ["Fallnr", "Fall_ID", "encounter_id", "no_sejour_id"])
def test_a_number_of_cases_is_asked_about_and_not_proposed(name: str) -> None:
    table = visits().rename({"patient_id": name})
    (asked, *_) = shoal.inspect(table).columns
    assert (asked.role, asked.offer) == ("identifying", "person")
    assert "150 values in 336 rows: can one person have several rows?" in str(asked.question)


FIRSTS = ("Anna", "Peter", "Maria", "Thomas", "Laura", "Jonas", "Eva", "Paul", "Lena", "Karl")
LASTS = ("Smith", "Garcia", "Jones", "Weber", "Klein", "Braun", "Koch", "Wolf", "Maier", "Roth")
FULL = [f"{last}, {first}" for first in FIRSTS for last in LASTS]


@pytest.mark.parametrize("name", ["Kontaktname", "nom_complet", "Nombre", "contact_name"])
def test_names_in_full_that_repeat_are_a_question_alone(name: str) -> None:
    table = pl.DataFrame({name: FULL * 3, "age": [row % 60 for row in range(300)]})
    (asked, _) = shoal.inspect(table).columns
    assert (asked.role, asked.offer) == ("identifying", "person")
    assert "Two people may share a name" in str(asked.question)
    once = shoal.inspect(table.head(100)).columns[0]
    assert (once.question, once.offer) == (None, None)
    parts = shoal.inspect(table.with_columns(pl.col(name).str.split(",").list.first())).columns[0]
    assert parts.offer is None  # surnames alone say nothing of whom rows are about


def test_the_question_is_about_a_number_rather_than_names() -> None:
    table = pl.DataFrame({"contact_name": FULL * 3, "age": [row % 60 for row in range(300)]})
    codes = [f"K{7919 * place % 10_007}" for place in range(150)]
    both = table.with_columns(pl.Series("Fallnummer", codes * 2))
    offers = {one.name: one.offer for one in shoal.inspect(both).columns}
    assert offers == {"contact_name": None, "age": None, "Fallnummer": "person"}
    sure = both.with_columns(pl.Series("Kundennr", codes * 2))
    offers = {one.name: one.offer for one in shoal.inspect(sure).columns}
    assert shoal.inspect(sure).schema.person == "Kundennr"
    assert not any(offers.values())


@pytest.mark.parametrize(
    ("number", "asked"), [("Personalnr", False), ("patient_id", False), ("Belegnr", True)]
)
def test_names_that_repeat_are_no_question_where_every_row_has_a_number_of_a_person(
    number: str, asked: bool, tmp_path: Path
) -> None:
    table = pl.DataFrame({"contact_name": FULL * 3, "age": [row % 60 for row in range(300)]})
    both = table.with_columns(pl.Series(number, range(300)))
    assert any(one.question for one in shoal.inspect(both).columns) == asked
    both.write_csv(tmp_path / "v.csv")
    said = ["--quasi", "age", "--identifying", "contact_name", "--require", "KAnonymity(k=3)"]
    done = shell.shoal("anonymize", tmp_path / "v.csv", *said, "--output", tmp_path / "a")
    assert done.code == 0
    assert (
        "The guarantee counts rows. Column 'contact_name'" in " ".join(done.said.split())
    ) == asked


def test_anonymize_asks_about_what_the_owner_calls_identifying(tmp_path: Path) -> None:
    table = visits().rename({"patient_id": "Fallnr"})
    table.write_csv(tmp_path / "v.csv")
    asked = [tmp_path / "v.csv", "--quasi", "age,town", "--require", "KAnonymity(k=3)"]
    done = shell.shoal("anonymize", *asked, "--identifying", "Fallnr", "--output", tmp_path / "a")
    said = " ".join(done.said.split())
    assert "The guarantee counts rows. Column 'Fallnr' has 150 values in 336 rows." in said
    assert "--person Fallnr" in said
    named = shell.shoal("anonymize", *asked, "--person", "Fallnr", "--output", tmp_path / "b")
    assert "counts rows" not in named.said


def test_what_is_proposed_of_codes_of_people_can_be_required() -> None:
    """Each requirement that is proposed is one that people with several values can keep."""
    chance = random.Random(3)
    codes = ["I10.0", "E11.9", "J44.1", "C50.9", "B24.1", "F32.1", "K35.8", "S72.0"]
    table = visits().select("patient_id", "age", "town")
    table = table.with_columns(
        pl.Series("diagnosis", [chance.choice(codes) for _ in range(table.height)])
    )
    found = shoal.inspect(table)
    assert found.schema.person == "patient_id"
    texts = requirements_for(table, found, "diagnosis")
    assert texts[0].startswith("diagnosis: FrequencyL(")
    for text in texts:
        schema = found.schema_of(("diagnosis",))
        assert consider(table, schema, text, "error", {})["achievable"] is not False
        assert shoal.anonymize(table, schema, require=text, seed=1).audit().holds
