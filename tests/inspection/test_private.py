"""Columns about what is private are proposed to be protected, by their names and by their cells."""

from __future__ import annotations

import random

import polars as pl
import pytest

import shoal
from shoal.inspection.lexicon import (
    LANGUAGES,
    TOPICS,
    lexicon,
    quasi_name,
    sensitive_name,
    without_beginning,
    words_of,
)

TOPIC_OF = {  # in four languages, in words, compounds, abbreviations and every spelling of names
    "health": """
        diagnosis primary_dx DxGroup icd10 ICDCode icdcode dzgroup hivStatus medication_list
        num_medications insulin sysBP hba1c disability Hauptdiagnose Krankheitstage Medikation
        Schwerbehinderung Pflegegrad arrêt_maladie diagnostic_principal handicap grossesse
        enfermedad discapacidad embarazo diagnóstico tratamiento_cronico patient_disposition""",
    "death": """
        hospdead death causeOfDeath vital_status survived mortality_30d expire_flag verstorben
        Todesursache décédé cause_deces fallecido fecha_defuncion dod""",
    "money": """
        charges income salaryUSD hourly_wage debt_ratio net_worth tax_paid FEDTAX PEARNVAL
        loan_amnt Bruttolohn Nettoeinkommen Schulden revenu_annuel salaire_brut dette_totale
        ingresos_mensuales sueldo deuda_total hipoteca bankruptcies cost total_costs
        Kosten Fallkosten coût frais_totaux coste_total costos""",
    "religion": "religion religiousAffiliation Konfession religion_fr creencia",
    "origin": "ethnicity ethnic_group Migrationshintergrund origine_ethnique etnia refugee_status",
    "sexuality": "sexual_orientation sexuelle_Orientierung orientation_sexuelle orientacion_sexual",
    "politics": "politicalParty voted_2020 parti_politique partido_politico Wahlabsicht",
    "union": "union_member Gewerkschaftsmitglied syndicat sindicato",
    "crime": "criminal_record convictions arrest_count is_recid Vorstrafen condamnation delito",
    "genetics": "genetic_marker BRCA1_status genotype génotype",
    "marks": "gpa exam_grades Abschlussnote Zeugnis calificación licenciement",
}
KNOWN = """
    age sex zip zipCode dob birthYear marital_status occupation job_title city education_level
    Geburtsdatum PLZ Geschlecht Familienstand Beruf date_naissance code_postal sexe commune
    profession fecha_nacimiento edad sexo municipio ocupacion discharge_date admission_type statenum
"""
NEITHER = "mileage page zinc salon taxon deadline color size weightless sewage wave remarkable x q7"


@pytest.mark.parametrize("topic", TOPIC_OF)
def test_names_suggest_what_is_private(topic):
    for name in TOPIC_OF[topic].split():
        found = sensitive_name(name)
        assert found is not None, name
        assert (found.topic, found.sure) == (topic, True), name


def test_every_topic_has_names_and_words_in_every_language():
    assert set(TOPIC_OF) == set(TOPICS) == set(lexicon().topics)
    for topic in lexicon().topics.values():
        assert len(topic.words) > len(LANGUAGES)


def test_names_that_others_know_people_by_are_not_private():
    for name in KNOWN.split():
        found = sensitive_name(name)
        assert found is None or not found.sure, name
        assert quasi_name(name), name


def test_letters_by_chance_suggest_nothing():
    for name in NEITHER.split():
        assert sensitive_name(name) is None, name
        assert quasi_name(name) is None or name == "page", name  # p, age


def test_words_are_found_however_they_are_spelled():
    for name in ("Größe", "groesse", "GROESSE", "körper_größe"):
        assert quasi_name(name), name
    for name in ("Décès", "DECES", "date_du_décès", "dateDeces"):
        found = sensitive_name(name)
        assert found is not None, name
        assert found.topic == "death", name
    assert words_of("HTTPStatusCode") == ["http", "status", "code"]
    assert without_beginning(["pat_x", "pat_y", "pat_z", "pat_w"])[0] == "pat_x"  # too long


def column(cells, name="x"):
    (found,) = [one for one in inspect({name: cells}).columns if one.name == name]
    return found


def inspect(columns):
    rows = len(next(iter(columns.values())))
    ages = [20 + i * 7 % 50 for i in range(rows)]
    return shoal.inspect(pl.DataFrame({"age": ages, **columns}))


CHANCE = random.Random(4)
DOCTORS = ["Maria", "Peter", "Anna", "Hans", "Julia", "Klaus"]
ICD10 = [
    f"{CHANCE.choice('ABCEFIJKMZ')}{CHANCE.randint(10, 99)}.{CHANCE.randint(0, 9)}"
    for _ in range(300)
]
ICD9 = [
    CHANCE.choice(["250.1", "401", "V45.8", "E812", *map(str, range(410, 440))]) for _ in range(300)
]


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("cells", "about"),
    [
        (["dead", "alive", "alive"] * 50, "death"),
        (["verstorben", "lebend"] * 75, "death"),
        (["HIV positive", "HIV negative"] * 75, "health"),
        (["asthma", "type 2 diabetes", "none", "flu"] * 40, "health"),
        (["Catholic", "Muslim", "Jewish", "none"] * 40, "religion"),
        (["katholisch", "evangelisch", "keine"] * 50, "religion"),
        (["heterosexual", "gay", "bisexual"] * 50, "sexual life"),
        (["Democrat", "Republican", "Independent"] * 50, "political"),
        (["felony", "misdemeanor"] * 75, "crime"),
        (ICD10, "codes of diseases"),
        (ICD9, "codes of diseases"),
    ],
)
def test_cells_suggest_what_is_private_whatever_the_name(cells, about):
    for name in ("x", "state"):  # also under a name that others know people by
        found = column(cells, name)
        assert found.role == "sensitive", found
        assert about in found.why


@pytest.mark.parametrize(
    "cells",
    [
        ["red", "green", "blue"] * 50,
        ["active", "expired"] * 75,
        ["A12", "B13", "C99"] * 50,  # seats, not diseases: there are three
        ["north", "south"] * 75,
    ],
)
def test_other_labels_suggest_nothing(cells):
    assert "suggest" not in column(cells).why


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("contact", [f"a{i % 90}@example.org" for i in range(300)]),
        ("contact", [f"+49 30 {1000 + i % 90}" for i in range(300)]),
        ("ref", [f"{i % 90:03d}-12-{i % 97:04d}" for i in range(300)]),
        ("doctor", [f"{DOCTORS[i % 6]} X" for i in range(300)]),
        ("said", [f"she came in on day {i % 120} and went home again" for i in range(300)]),
        ("vorname", ["Uwe", "Ute", "Jan"] * 100),
        ("Telefonnummer", [str(1000 + i) for i in range(300)]),
        ("commentaire", [f"vu {i}" for i in range(300)]),
    ],
)
def test_what_names_or_reaches_people_is_identifying(name, cells):
    assert column(cells, name).role == "identifying"


def test_what_is_named_is_not_a_person():
    drugs = [f"drug {i % 150}" for i in range(300)]
    assert column(drugs, "drug_name").role == "sensitive"
    assert column(drugs, "country_name").role == "quasi"
    assert column(drugs, "name").role == "identifying"


def of(*labels, step):
    """Return 150 cells of some labels, as no other step makes them."""
    return [labels[i // step % len(labels)] for i in range(150)]


def test_doubts_are_asked_and_the_safer_role_is_taken():
    found = inspect(
        {
            "race": of("a", "b", "c", step=1),
            "ethnicity": of("a", "b", "c", step=2),
            "balance": [i * i % 97 for i in range(150)],
            "flag7": of("yes", "no", step=3),
            "kind7": of("p", "q", "r", step=4),
            "date_of_death": of("2024-01-31", "2024-02-01", None, step=5),
            "death_date": of("2024-01-31", "2024-02-01", "2024-03-01", step=6),
        }
    )
    roles = {one.name: (one.role, one.question is not None) for one in found.columns}
    assert roles == {
        "age": ("quasi", False),
        "race": ("quasi", True),
        "ethnicity": ("sensitive", True),
        "balance": ("sensitive", True),
        "flag7": (None, True),
        "kind7": ("quasi", True),
        "date_of_death": ("sensitive", False),  # whether there is one tells who died
        "death_date": ("quasi", True),
    }
    assert found.protect[0] == "date_of_death" or "ethnicity" not in found.protect[1:]


def test_in_a_table_about_health_what_nothing_explains_is_left_out():
    labels = of("p", "q", "r", step=1)
    plain = inspect({"kind7": labels, "pay": [i * i % 97 for i in range(150)]})
    ill = inspect(
        {
            "kind7": labels,
            "diagnosis": of("x", "y", "z", step=2),
            "hospdead": of(0, 1, 0, step=3),
        }
    )
    assert [one.role for one in plain.columns] == ["quasi", "quasi", "sensitive"]
    assert [one.role for one in ill.columns] == ["quasi", None, "sensitive", "sensitive"]
    assert ill.protect == ("diagnosis", "hospdead")


def test_amounts_with_a_currency_are_not_taken_for_labels():
    found = column([f"${i},{100 + i}.50" for i in range(150)], "x")
    assert found.role is None
    assert "currency" in str(found.question)


def test_rows_with_missing_cells_are_counted_in_what_is_suggested():
    found = inspect(
        {"income": [None, 5, 6] * 50, "sex": ["m", None, "f"] * 50, "note9": [None] * 150}
    )
    assert found.incomplete == 100


def test_a_number_says_whom_rows_are_about_rather_than_names() -> None:
    """Whatever the names are under: two people may share one, so it is asked about."""
    firsts = ("Anna", "Peter", "Maria", "Thomas", "Laura", "Jonas", "Eva", "Paul", "Lena", "Karl")
    lasts = ("Smith", "Garcia", "Jones", "Weber", "Klein", "Braun", "Koch", "Wolf")
    names = [f"{first} {last}" for first in firsts for last in lasts]
    codes = [f"K{7919 * place % 10_007}" for place in range(160)]
    alone = pl.DataFrame({"Patient": names * 4, "age": [row % 60 for row in range(320)]})
    (whom, _) = shoal.inspect(alone).columns
    assert whom.role == "person"
    assert "share a name" in str(whom.question)
    both = alone.with_columns(pl.Series("insurance_no", codes * 2))
    roles = {one.name: one.role for one in shoal.inspect(both).columns}
    assert roles == {"Patient": "identifying", "insurance_no": "person", "age": "quasi"}
