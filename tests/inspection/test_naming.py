"""Columns that name or reach people, or are free text, are known by their cells; others are not."""

from __future__ import annotations

import random
import time
from collections import Counter

import numpy as np
import polars as pl
import pytest

from inspection.made_up import DE_LAST, EN, EN_LAST, NAMING, ORDINARY, crossed, sentences, with_junk
from shoal.inspection.infer import Inferred
from shoal.inspection.naming import (
    LABELS,
    SENTENCES,
    is_junk,
    is_name,
    is_sentence,
    names_someone,
    what_cells_show,
)
from shoal.inspection.private import identity, says_names
from shoal.inspection.profile import Profile
from shoal.inspection.reaching import has_phone, is_account, is_card, is_phone


def judged(header, cells, times=1):
    counted = Counter(cells)
    rows = np.array(list(counted.values()), np.int64) * times
    return says_names(header, pl.Series([*counted]), rows)


def test_every_column_that_names_people_is_known_and_no_ordinary_one_is_taken_for_one():
    assert [key for key, column in NAMING.items() if judged(*column) is None] == []
    assert {key: judged(*column) for key, column in ORDINARY.items() if judged(*column)} == {}


def test_what_is_refused_is_proposed_to_be_left_out():
    for key, (header, cells) in NAMING.items():
        profile = Profile.of(pl.Series(header, cells))
        assert identity(profile, Inferred("categorical", "text"), header), key


@pytest.mark.parametrize("junk", [0.5, 0.9, 0.97])
def test_cells_that_say_nothing_hide_nothing(junk):
    for header in ("x", "city"):
        for cells in (crossed(EN, EN_LAST), sentences("en", 40), EN * 60):
            found = with_junk(
                cells * 3, junk, ("n/a", "-", "UNKNOWN", "", "k.A.", "--", "None", "?")
            )
            assert judged(header, found), (header, cells[0])


def test_how_often_cells_stand_there_and_in_which_order_changes_nothing():
    for header, cells in (*list(NAMING.values())[::5], *list(ORDINARY.values())[::5]):
        once = judged(header, cells)
        mixed = random.Random(1).sample(cells, len(cells))
        assert judged(header, mixed) == once
        if once is None or "hardly" not in once.why:
            assert judged(header, cells, 1000) == once


def test_a_label_that_most_rows_have_hides_no_names():
    names = crossed(EN, EN_LAST, rows=200)
    assert judged("x", ["the same ward"] * 1800 + names)
    assert judged("x", ["the same ward", "another ward"] * 900 + EN[:4]) is None


def test_names_are_found_among_more_labels_than_are_looked_at():
    codes = [f"K{n:05d}" for n in range(LABELS)] * 3
    people = [f"{EN[n % 16]} {EN_LAST[n // 16 % 16]}{'abcdefghij'[n // 256]}" for n in range(2560)]
    assert judged("x", codes) is None
    assert judged("x", codes + people)


def test_what_somebody_says_of_people_is_a_sentence():
    for said in (
        "They have left the house now",
        "I am afraid of my brother",
        "We have told him so twice",
    ):
        assert is_sentence(said), said
    for label in ("People who have never worked", "Households without children under ten"):
        assert not is_sentence(label), label


def test_few_sentences_are_the_answers_to_a_question():
    told = [f"I was there with my {word} and we did not stay" for word in "abcdefghijklmnop"]
    assert judged("x", told[: SENTENCES - 1] * 90) is None
    assert judged("x", told[:SENTENCES] * 90).what == "free text"


@pytest.mark.parametrize("word", ["San", "Saint", "Santa", "St.", "Sankt"])
def test_what_is_called_after_people_is_no_person(word):
    for name in EN:
        assert not is_name(f"{word} {name}")
        assert not is_name(f"{name} Hospital")
        assert is_name(f"{name} Quux")
        assert is_name(f"Quux, {name}")


@pytest.mark.parametrize(
    "shape", ["{0} {1}", "{1}, {0}", "{1} {0}", "{0}.{1}", "{1}_{0}", "{0}{1}", "{0} {1} (R2)",
              "{1} {0} 1950-01-02", "Dr. {0} {1}", "{0} {1} 7", "{0}-{1}", "{0[0]}. {1}",
              "{1}, {0[0]}.", "{0} van der {1}", "{1}|{0}", "{0} - {1}", "child of {0} {1}",
              "Tochter von {0} {1}", "4711 {0} {1}"],
)  # fmt: skip
def test_names_are_known_in_every_shape(shape):
    found = [shape.format(first, last) for first in EN for last in EN_LAST]
    assert sum(map(is_name, found)) > 0.9 * len(found)
    assert judged("x", found)
    if shape != "{0}{1}":  # capitals alone do not part it
        found = [one.upper() for one in found]
    assert judged("ward", with_junk(found, 0.5))


def test_accounts_made_of_an_initial_and_a_surname_are_names():
    found = [
        f"{first[0]}{last}{n % 3 or ''}".lower() for n, first in enumerate(EN) for last in DE_LAST
    ]
    assert judged("login_of", found)
    assert (
        judged("x", ["planning", "training", "grading", "scanning", "painting", "clearing"] * 20)
        is None
    )


def test_digits_that_do_not_check_are_no_accounts_and_no_cards():
    chance = random.Random(2)
    account, card = "DE89370400440532013000", "4111 1111 1111 1111"
    assert is_account(account)
    assert is_card("4012 8888 8888 1881")
    for text, which in ((account, is_account), (card.replace("1", "3", 2), is_card)):
        at = chance.choice([place for place, letter in enumerate(text) if letter.isdigit()][4:])
        wrong = text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :]
        assert not which(wrong)


def test_codes_and_dates_are_no_telephones():
    for text in ("02139-4307", "2024-01-31", "31.01.2024", "020-1234", "12345678", "1.2.3.4"):
        assert not is_phone(text), text
    for text in ("+49 30 123456", "(212) 555-0147", "06 12 34 56 78", "tel. 030 1234567"):
        assert is_phone(text), text


REMARKS = ["stable", "seen today", "to be seen again", "no complaints today"]


@pytest.mark.parametrize(
    "remark",
    [
        "call 0151 23456{0}",
        "ask for bed 3, tel. 030-1234{0}",
        "(212) 555-01{0} is her number",
        "write to a{0}@example.org",
        "came with {1} Weber today",
        "the wife {1} was told",
        "sent by Dr. {2}ker",
    ],
)
@pytest.mark.parametrize("header", ["ward_info", "city", "x"])
def test_few_texts_that_reach_or_name_someone_are_found_among_labels(remark, header):
    people = ["Anna", "Peter", "Maria", "Julia", "Otto", "Eva"]
    some = [remark.format(10 + n, name, name[:2]) for n, name in enumerate(people)]
    assert judged(header, REMARKS * 40 + some) is not None
    assert judged(header, REMARKS * 40) is None


def test_texts_with_dates_times_numbers_and_places_reach_no_one():
    for text in (
        "seen 01.02.2023 08:30",
        "from 2023-02-01 until 2023-03-01",
        "open 0800-1600",
        "12345678 units left",
        "dose 0.5 mg 3 times",
    ):
        assert not has_phone(text), text
    for text in (
        "with Parkinson disease",
        "lives in San Antonio",
        "at Mary Smith School",
        "in the Paul Weber Clinic",
        "with Down syndrome",
        "Rose reported pain",
    ):
        assert not names_someone(text), text


def test_what_says_nothing_is_junk_and_labels_are_not():
    assert all(map(is_junk, ("", " ", "-", "?", "N/A", "(unknown)", "keine Angabe", "..")))
    assert not any(map(is_junk, ("A", "1", "Anna", "no smoker", "K")))
    assert not is_sentence("Is she here with her children?")


@pytest.mark.parametrize("header", ["Note", "note", "Notes", "Kommentar", "remarks"])
def test_a_header_alone_makes_no_free_text(header):
    grades = ["1", "1-", "2+", "2", "2-", "3+", "3", "3-", "4", "5", "6", "gut", "sehr gut"]
    assert judged(header, grades * 50) is None
    terse = [f"knee pain side {n}, review in {n % 7} weeks" for n in range(60)]
    assert judged(header, terse * 4).what == "free text"
    assert judged("x", terse * 40) is None


@pytest.mark.parametrize(
    "cell", ["x" * 90_000, "a1 " * 30_000, "Anna " * 20_000, "0" * 90_000 + "!"]
)
def test_endless_cells_are_judged_at_once(cell: str) -> None:
    cells = pl.Series([f"{place}{cell}" for place in range(40)])
    begun = time.process_time()
    what_cells_show("x", cells, np.ones(40, np.int64))
    assert time.process_time() - begun < 2


@pytest.mark.parametrize("header", ["Behandler", "Arzt", "Operateur", "Kürzel", "Feld1", "surgeon"])
@pytest.mark.parametrize(
    "cells",
    [
        ["Dr. Huber", "Dr. Öz", "PD Dr. Klein", "OA Maier"],
        ["Dr. Huber", "Prof. Weiß", "Fr. Dr. Bauer"],
        ["OÄ Dr. Kurz", "CA Prof. Wolf", "Prof. Dr. med. Lang", "Dr. med. univ. Kern"],
        ["Dr Brown", "Dr Patel"],
        ["DR. HUBER", "DR. BAUER", "n/a"],
    ],
)
def test_few_names_behind_titles_are_names(header, cells):
    """Who treated, four doctors in 1,200 rows, was proposed as something to publish."""
    assert judged(header, cells, 300)
    profile = Profile.of(pl.Series(header, cells * 300))
    assert identity(profile, Inferred("categorical", "text"), header)


@pytest.mark.parametrize(
    "cells",
    [
        ["Herr", "Frau"],
        ["Dr.", "Prof.", "kein Titel"],
        ["Dr. phil.", "Dr. med."],
        ["Dr.-Huber-Str.", "Dr.-Klein-Str."],
        ["Praxis Dr. Huber Klinik", "Dr. Smith Hospital"],
        ["CA 125", "CA 19-9", "MS Schub"],
    ],
)
def test_titles_without_names_name_nobody(cells):
    assert judged("x", cells, 300) is None
