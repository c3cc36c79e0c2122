"""Whom rows are about: the column that says so, or the question whether one person has several.

Where people have several rows, a promise that counts rows is weaker than it sounds. So what
identifies people and repeats is proposed as the person column, or its owner is asked about it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shoal.inspection.lexicon import lexicon, parts_of, word_among, words_of
from shoal.inspection.naming import OF_PEOPLE, what_cells_show
from shoal.inspection.private import FEW, PER_PERSON
from shoal.table.schema import PERSON

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from shoal.inspection.profile import Profile

REPEATED = 1.02  # rows per value from which several rows are about one person
ENOUGH = 10  # values from which those that repeat are people
NAMESAKES = 1.1  # rows per name from which some of them may be about one person
IDENTITY = "identifying"


@dataclass(frozen=True)
class Advice:
    """A role (None: leave the column out) and why; `strength` orders rivals for the same role.

    `question` is what only the owner can answer, `topic` what a sensitive column is about, and
    `offer` the role that answers the question.
    """

    role: str | None
    why: str
    strength: float = 0.0
    question: str | None = None
    topic: str | None = None
    offer: str | None = None


def whom_rows_are_about(name: str, distinct: int, filled: int) -> Advice | None:
    """Return that a column says whom rows are about, where several are about one, None else.

    By its name, and by how often its values repeat: an id of which every value is in one row is
    about rows, and one of few values is about something else.
    """
    person, household, word = _speaks_of(name)
    if word is None or distinct < ENOUGH or filled < REPEATED * distinct:
        return None
    if not lexicon().names.isdisjoint(words_of(name)):
        return None  # two people may share a name, so it does not tell them apart
    if distinct < PER_PERSON * filled and (distinct <= FEW or not person):
        return None
    why = f"{distinct:,} values in {filled:,} rows: several rows are about one "
    if not person and not lexicon().cases.isdisjoint(_parted_at_numbers(name)):
        return None  # a person may have several cases
    if household and not person:
        # To protect households as a unit is a choice, and a dear one: it is named, not proposed.
        return Advice(IDENTITY, f"{why}household; as person column it would protect these whole", 1)
    return Advice(PERSON, f"{why}person", 3 if person else 2)


def may_say_whom(name: str) -> bool:
    """Return whether a name speaks of people, or of anything that is numbered."""
    return _speaks_of(name)[2] is not None


def names_people(name: str) -> bool:
    """Return whether a name speaks of people, as `patient_id` does, and not of their names."""
    return _speaks_of(name)[0] is not None and lexicon().names.isdisjoint(words_of(name))


def numbers_each(name: str) -> bool:
    """Return whether a name speaks of people by number, as `Personalnr` and `patient_id` do."""
    insured = not lexicon().insured.isdisjoint(_parted_at_numbers(name))
    return names_people(name) or (insured and lexicon().names.isdisjoint(words_of(name)))


def _speaks_of(name: str) -> tuple[str | None, str | None, str | None]:
    """Return the words of a name that speak of people, of households, and of either or any id."""
    words = [one for part in words_of(name) for one in (part, part.removesuffix("id"))]
    known, parts = lexicon(), {*parts_of(name), *_parted_at_numbers(name)}
    person = next((word for word in words if word in known.persons), None)
    household = next((word for word in words_of(name) if word in known.households), None)
    numbered = next(iter(parts & known.numbered), None) if parts & known.insured else None
    return person, household, person or household or word_among(name, known.identifiers) or numbered


def _parted_at_numbers(name: str) -> list[str]:
    """Return the words of a name, each parted where it ends as a number does: `kundennr`."""
    ends = sorted({*lexicon().numbered, "id"}, key=len, reverse=True)
    found = []
    for word in words_of(name):
        end = next((one for one in ends if word.endswith(one) and word != one), "")
        found += [word.removesuffix(end), end] if end else [word]
    return found


def asks_whom(name: str, cells: pl.Series, counts: NDArray[np.int64]) -> Advice | None:
    """Return the question whether one person has several rows, of what identifies people; or None.

    Strength 1 where its values are names, which two people may share. No question arises of texts,
    of households, and of few values, which are categories.
    """
    distinct, filled = len(cells), int(counts.sum())
    if distinct < ENOUGH or filled < REPEATED * distinct or _speaks_of(name)[1]:
        return None
    shown = what_cells_show(name, cells, counts)
    named = (shown is not None and shown.what == OF_PEOPLE) or says_name(name)
    if distinct < PER_PERSON * filled and (distinct <= FEW or not named):
        return None
    if word_among(name, lexicon().text) or (shown is not None and not named):
        return None
    if named and (filled < NAMESAKES * distinct or not _in_full(cells)):
        return None
    doubt = " Two people may share a name, so a number for each person is better." * named
    question = (
        f"{distinct:,} values in {filled:,} rows: can one person have several rows? Then choose "
        f"the role person. Otherwise Shoal counts every row as another person.{doubt}"
    )
    return Advice(IDENTITY, "", 1 if named else 2, question, offer=PERSON)


def says_name(name: str) -> bool:
    """Return whether a header speaks of names, as `patient_name` and `Patientenname` do."""
    names = lexicon().names
    return any(word in names or word.endswith(("name", "namen")) for word in words_of(name))


def _in_full(cells: pl.Series) -> bool:
    """Whether most cells have several words, as a given name with a surname has."""
    return bool(cells.str.contains(r"\w\W+\w").sum() * 2 > len(cells))


def ask_whom(found: list[Advice], profiles: Sequence[Profile]) -> None:
    """Ask whether one person has several rows, of the column that tells people apart best.

    Not where a column says whom rows are about, unless it has names and another has numbers. Names
    that repeat are namesakes where every row has a number of a person of its own.
    """
    whom = next((place for place, one in enumerate(found) if one.role == PERSON), None)
    if whom is not None and found[whom].strength > 1:
        return
    numbered = whom is not None or any(
        numbers_each(one.name) and one.distinct == len(one.column) for one in profiles
    )
    asked = {
        place: advice
        for place, one in enumerate(found)
        if one.role == IDENTITY
        and (profile := profiles[place])
        and (advice := asks_whom(profile.name, profile.cells, profile.counts))
        and (not numbered or advice.strength > 1)
    }
    if not asked:
        return
    best = max(asked, key=lambda place: (asked[place].strength, profiles[place].distinct))
    found[best] = replace(found[best], question=asked[best].question, offer=PERSON)
    if whom is not None:
        found[whom] = Advice(IDENTITY, found[whom].why)


def one_person(found: list[Advice], profiles: Sequence[Profile]) -> None:
    """Leave one column that says whom rows are about: the likeliest, of the most values."""
    places = [place for place, advice in enumerate(found) if advice.role == PERSON]
    if len(places) < 2:
        return
    best = max(places, key=lambda place: (found[place].strength, profiles[place].distinct))
    for place in places:
        if place != best:
            found[place] = Advice(IDENTITY, found[place].why)
