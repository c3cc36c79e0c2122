"""Which role a column should have, and why: by its name first, by its values where that is silent.

No column is ever suggested to be published unchanged: only its owner can know that nobody else
knows it. What has no role is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.inspection.infer import (
    CORE,
    HOUSEHOLDS,
    IDENTIFIERS,
    IDENTIFYING,
    NOT_IDS,
    PERSONS,
    QUASI,
    QUASI_STEMS,
    SENSITIVE,
    SENSITIVE_STEMS,
    STRONG,
    VITAL,
    WEIGHTS,
    word_among,
    words_of,
)
from shoal.table.schema import PERSON, RESERVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.inspection.infer import Inferred
    from shoal.inspection.profile import Kinship, Profile

MOST_GUESSED = 8  # quasi columns with which those that are only guessed to be known are added
NEAR_UNIQUE = 0.95  # distinct values per filled cell
ENOUGH = 10  # rows from which uniqueness tells anything
PER_PERSON = 0.05  # distinct values per row from which an id is of people, not of categories
SPARSE = 0.5  # share of missing cells above which a column is left out
FEW = 100  # values
GUESSES = 4  # quasi columns that are guessed where nothing tells
QUANTITY = 20  # values from which a number is a quantity
LONG_TEXT = 40  # mean characters of free text
REPEATED = 1.02  # rows per value from which several rows are about one person
IDENTITY, QUASI_ROLE, PROTECTED = "identifying", "quasi", "sensitive"


@dataclass(frozen=True)
class Advice:
    """A role (None: leave the column out) and why; `strength` orders rivals for the same role."""

    role: str | None
    why: str
    strength: float = 0.0


def advise(
    profiles: Sequence[Profile], types: Sequence[Inferred], kinship: Sequence[Kinship]
) -> list[Advice]:
    """Return a role for every column."""
    found = [_alone(profile, kind) for profile, kind in zip(profiles, types, strict=True)]
    _one_person(found, profiles)
    _guess_sensitive(found, profiles, types)
    _guess_quasi(found, profiles)
    _heed_kinship(found, [profile.name for profile in profiles], kinship)
    _leave_unknown(found)
    return found


def _alone(profile: Profile, kind: Inferred) -> Advice:
    if why := _useless(profile):
        return Advice(None, why)
    if kind.ways and kind.kind != "date":
        return Advice(None, f"{kind.reason}; say which, as date_format, and it can have a role")
    if advice := _of_somebody(profile, kind):
        return advice
    if why := _unfit(profile):
        return Advice(None, why)
    name = profile.name
    if word := word_among(name, SENSITIVE, SENSITIVE_STEMS):
        why = f"{word!r} in its name speaks of something private"
        return Advice(PROTECTED, why, 2 + (word in STRONG))
    if word := word_among(name, QUASI, QUASI_STEMS):
        why = f"{word!r} in its name speaks of what others know"
        return Advice(QUASI_ROLE, why, 2 + (word in CORE))
    if kind.kind in {"date", "latitude", "longitude"}:
        return Advice(QUASI_ROLE, "when and where are known to others", 1)
    if word := word_among(name, VITAL):
        return Advice(
            None, f"{word!r} in its name speaks of what is measured, and no stranger knows"
        )
    if profile.distinct <= FEW and profile.distinct < profile.rows:
        strength = 1 - profile.mode_share  # what is nearly always the same singles nobody out
        why = f"few values ({profile.distinct:,}), so it may be known"
        return Advice(QUASI_ROLE, why, strength)
    return Advice(None, "many values, and nothing tells whether others know them")


def whom_rows_are_about(name: str, distinct: int, filled: int) -> Advice | None:
    """Return that a column says whom rows are about, where several are about one, None else.

    By its name, and by how often its values repeat: an id of which every value is in one row is
    about rows, and one of few values is about something else.
    """
    person, household, word = _speaks_of(name)
    if word is None or distinct < ENOUGH or filled < REPEATED * distinct:
        return None
    if distinct < PER_PERSON * filled and (distinct <= FEW or not person):
        return None
    why = f"{distinct:,} values in {filled:,} rows: several rows are about one "
    if household and not person:
        # To protect households as a unit is a choice, and a dear one: it is named, not proposed.
        return Advice(IDENTITY, f"{why}household; as person column it would protect these whole", 1)
    return Advice(PERSON, f"{why}person", 3 if person else 2)


def may_say_whom(name: str) -> bool:
    """Return whether a name speaks of people, or of anything that is numbered."""
    return _speaks_of(name)[2] is not None


def _speaks_of(name: str) -> tuple[str | None, str | None, str | None]:
    """Return the words of a name that speak of people, of households, and of either or any id."""
    words = [one for part in words_of(name) for one in (part, part.removesuffix("id"))]
    person = next((word for word in words if word in PERSONS), None)
    household = next((word for word in words_of(name) if word in HOUSEHOLDS), None)
    return person, household, person or household or word_among(name, IDENTIFIERS)


def _one_person(found: list[Advice], profiles: Sequence[Profile]) -> None:
    """Leave one column that says whom rows are about: the likeliest, of the most values."""
    places = [place for place, advice in enumerate(found) if advice.role == PERSON]
    if len(places) < 2:
        return
    best = max(places, key=lambda place: (found[place].strength, profiles[place].distinct))
    for place in places:
        if place != best:
            found[place] = Advice(IDENTITY, found[place].why)


def _of_somebody(profile: Profile, kind: Inferred) -> Advice | None:
    """Return that a column says whom a row is about, one or several of them, None where not."""
    whom = whom_rows_are_about(profile.name, profile.distinct, profile.filled)
    if whom is not None and kind.kind != "date" and (profile.whole or profile.numbers is None):
        return whom
    why = _identity(profile, kind)
    return Advice(IDENTITY, why) if why else None


def _useless(profile: Profile) -> str | None:
    """Return why nothing is lost without a column, None where something would be."""
    if profile.distinct <= 1:
        what = "every cell is the same" if profile.distinct else "no cell has a value"
        return f"{what}: nothing is lost without it"
    if word := weighing(profile.name):
        return f"{word!r} in its name speaks of survey weights, which point at groups"
    return None


def _unfit(profile: Profile) -> str | None:
    """Return why a column can have no role as it is, None where it can."""
    if profile.missing > SPARSE * profile.rows:
        return "more than half of its cells are missing"
    if profile.numbers is not None and not np.isfinite(profile.numbers).all():
        return "it has infinite numbers, which are refused"
    if profile.name == RESERVED:
        return "a release has a column of that name; rename it to give it a role"
    return None


def weighing(name: str) -> str | None:
    """Return the word of a name that speaks of survey weights, if there is one."""
    words = words_of(name)
    if words[-1:] in (["weight"], ["weights"]) and len(words) > 1:
        return words[-1]
    return next((word for word in words if word in WEIGHTS or word.endswith("wgt")), None)


def _identity(profile: Profile, kind: Inferred) -> str | None:
    """Return why a column names people, None where it does not."""
    share = profile.distinct / max(profile.filled, 1)
    name = profile.name
    if kind.kind in {"date", "latitude", "longitude", "boolean"}:
        return None
    word = word_among(name, IDENTIFYING) or next(
        (word for word in words_of(name) if word.endswith("name")), None
    )
    if word and (share > PER_PERSON or profile.distinct > FEW):
        return f"{word!r} in its name speaks of somebody in person"
    word = word_among(name, IDENTIFIERS) or next(
        (w for w in words_of(name) if w.endswith("id") and len(w) > 3 and w not in NOT_IDS), None
    )
    if word and share > PER_PERSON and (profile.whole or profile.numbers is None):
        return f"{word!r} in its name speaks of an identifier, and it has many values"
    if profile.filled < ENOUGH or share < NEAR_UNIQUE:
        return None
    if profile.numbers is None:
        lengths = profile.cells.str.len_chars().mean()
        if isinstance(lengths, float) and lengths > LONG_TEXT:
            return "free text, which may name anybody"
        return "nearly every cell is unique"
    if profile.whole and share == 1 and _serial(profile):
        return "whole numbers in a row, one for every row: a serial number"
    return None


def _serial(profile: Profile) -> bool:
    numbers = profile.numbers
    assert numbers is not None
    return bool(numbers.max() - numbers.min() <= 1.5 * profile.distinct)


def _guess_sensitive(
    found: list[Advice], profiles: Sequence[Profile], types: Sequence[Inferred]
) -> None:
    """Guess a column to protect where no name tells: a quantity that nobody is known by."""
    if any(advice.role == PROTECTED for advice in found):
        return
    open_ones = [
        place
        for place, advice in enumerate(found)
        if not (_useless(profiles[place]) or _unfit(profiles[place]))
        and (advice.role is None or (advice.role == QUASI_ROLE and advice.strength < 1))
    ]
    if len(open_ones) == len([a for a in found if a.role not in {IDENTITY, PERSON}]) == 1:
        return  # one column alone can only be what people are known by
    quantities = [
        place
        for place in open_ones
        if types[place].kind == "numeric" and profiles[place].distinct > QUANTITY
    ]
    if quantities:
        best = min(quantities, key=lambda place: (round(profiles[place].mode_share, 1), -place))
        found[best] = Advice(PROTECTED, "a guess: a quantity with many values; no name tells more")
        return
    labels = [place for place in open_ones if profiles[place].distinct > 2]
    if labels and sum(advice.role == QUASI_ROLE for advice in found) > 1:
        found[labels[-1]] = Advice(PROTECTED, "a guess: the last column that no name explains")


def _guess_quasi(found: list[Advice], profiles: Sequence[Profile]) -> None:
    """Guess what people may be known by where nothing tells, as every release needs it."""
    if any(advice.role == QUASI_ROLE for advice in found):
        return
    kept = primary(found, profiles)
    for place, advice in enumerate(found):
        if advice.role in {IDENTITY, PERSON} or place == kept:
            continue
        if _useless(profiles[place]) or _unfit(profiles[place]):
            continue
        if sum(one.role == QUASI_ROLE for one in found) == GUESSES:
            return
        found[place] = Advice(QUASI_ROLE, "a guess: nothing else tells what others may know", 0.5)


def _heed_kinship(found: list[Advice], names: Sequence[str], kinship: Sequence[Kinship]) -> None:
    """Leave out a quasi column that says what another says; prefer others to what one tells."""
    for one in kinship:
        left, right = names.index(one.left), names.index(one.right)
        if found[left].role != QUASI_ROLE or found[right].role != QUASI_ROLE:
            continue
        advice = found[right]
        if one.kind == "function":
            found[right] = Advice(QUASI_ROLE, advice.why, advice.strength - 1)
        else:
            found[right] = Advice(None, f"{advice.why}; it says the same as {one.left!r}")


def _leave_unknown(found: list[Advice]) -> None:
    """Leave out columns that nothing says others know, where enough are known to be known.

    What others are known to know is never left out, however many columns that is.
    """
    known = [advice for advice in found if advice.role == QUASI_ROLE and advice.strength >= 1]
    places = [place for place, one in enumerate(found) if one.role == QUASI_ROLE]
    guessed = sorted(
        (place for place in places if found[place].strength < 1),
        key=lambda place: (-found[place].strength, place),
    )
    for place in guessed[max(MOST_GUESSED - len(known), 0) :]:
        why = f"{found[place].why}; left out, as nothing tells that others do: add it if they may"
        found[place] = Advice(None, why)


def primary(found: Sequence[Advice], profiles: Sequence[Profile]) -> int | None:
    """Return which of the sensitive columns to protect first.

    Not one that has the same value in most rows; then by its name; then the one whose most
    frequent value is rarest, to a tenth: the more a column varies, the more can be promised.
    """
    places = [place for place, advice in enumerate(found) if advice.role == PROTECTED]
    return min(
        places,
        key=lambda place: (
            profiles[place].mode_share > 0.5,
            -found[place].strength,
            np.floor(10 * profiles[place].mode_share),
            place,
        ),
        default=None,
    )
