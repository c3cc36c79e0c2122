"""Which role a column should have, and why: by its name first, by its values where that is silent.

No column is ever suggested to be published unchanged: only its owner can know that nobody else
knows it. What has no role is left out. Where a name or the cells leave a doubt, there is a question
for the owner beside the role; until it is answered, the role is the safer one.
"""

from __future__ import annotations

import re
from dataclasses import replace
from math import isinf
from typing import TYPE_CHECKING

import numpy as np

from shoal.inspection.lexicon import (
    lexicon,
    parts_of,
    quasi_name,
    sensitive_name,
    without_beginning,
    words_of,
)
from shoal.inspection.naming import OF_PEOPLE, what_cells_show
from shoal.inspection.private import FEW, identity, is_money, sensitive_cells, unique
from shoal.inspection.whom import IDENTITY, Advice, ask_whom, one_person, whom_rows_are_about
from shoal.table.schema import PERSON, RESERVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.inspection.infer import Inferred
    from shoal.inspection.lexicon import Meaning
    from shoal.inspection.profile import Kinship, Profile


MOST_GUESSED = 8  # quasi columns with which those that are only guessed to be known are added
MOST_PROTECTED = 3  # sensitive columns that are suggested to be published, each with a requirement
SPARSE = 0.5  # share of missing cells above which a column is left out
GUESSES = 4  # quasi columns that are guessed where nothing tells
QUANTITY = 20  # values from which a number is a quantity
MEDICAL = 2  # columns about health or death from which a table is about patients
QUASI_ROLE, PROTECTED = "quasi", "sensitive"
WHEN = {"date", "day", "days", "mon", "month", "year", "yr", "dt", "datum", "fecha", "tag", "jour"}
SHARED = (
    "Two people may share a name. If another column has a number for each person, choose that one."
)
UNEXPLAINED = (
    "Nothing explains this column. May others know it (quasi), is it private (sensitive), or can "
    "it be left out?"
)


def advise(
    profiles: Sequence[Profile], types: Sequence[Inferred], kinship: Sequence[Kinship]
) -> list[Advice]:
    """Return a role for every column."""
    names = without_beginning([profile.name for profile in profiles])
    found = [_alone(*one) for one in zip(profiles, types, names, strict=True)]
    one_person(found, profiles)
    ask_whom(found, profiles)
    ask_weight(found, profiles)
    _mind_patients(found)
    _guess_sensitive(found, profiles, types)
    _guess_quasi(found, profiles)
    _heed_kinship(found, [profile.name for profile in profiles], kinship)
    _leave_unknown(found)
    return found


def _alone(profile: Profile, kind: Inferred, name: str) -> Advice:
    """Return the role of a column by itself, which is called `name` but for how all names begin."""
    if why := _useless(profile):
        return Advice(None, why)
    if kind.ways and kind.kind != "date":
        return Advice(None, f"{kind.reason}; say which (date_format), and it can have a role")
    if advice := _of_somebody(profile, kind, name):
        return advice
    if why := _unfit(profile):
        return Advice(None, why)
    if is_money(profile):
        why = "its cells are amounts of money written as text"
        return Advice(None, why, question="Remove the currency signs to protect it as a number.")
    meaning = sensitive_name(name) or sensitive_name(profile.name)
    if advice := _surely(profile, kind, name, meaning):
        return advice
    if advice := _known_to_others(name, kind, meaning):
        return advice
    if meaning is not None:
        question = (
            f"Is it private, for example about {meaning.said}? If not: may others know it (quasi)?"
        )
        return replace(_suggested(meaning, 1), question=question)
    return _unexplained(profile, kind)


def _surely(profile: Profile, kind: Inferred, name: str, meaning: Meaning | None) -> Advice | None:
    """Return that a column is private, by its name or its cells, or points at people; or None."""
    cells = sensitive_cells(profile, kind)
    sure = meaning is not None and meaning.sure
    if cells is None and not (sure and profile.numbers is not None):
        why = unique(profile, kind)
        if why is not None:
            return Advice(IDENTITY, why)
    if meaning is not None and sure:
        return _private(meaning, profile, kind, name)
    if cells is not None:
        why = f"its cells suggest information about {cells.said} ({cells.word})"
        return Advice(PROTECTED, why, 2, topic=cells.topic)
    return None


def _suggested(meaning: Meaning, strength: float) -> Advice:
    why = f"the name suggests information about {meaning.said} ({meaning.word})"
    return Advice(PROTECTED, why, strength, topic=meaning.topic)


def _private(meaning: Meaning, profile: Profile, kind: Inferred, name: str) -> Advice:
    """Return that a column is to be protected; of the day of a death others may know."""
    advice = _suggested(meaning, 2 + meaning.leading)
    dated = kind.kind == "date" or not WHEN.isdisjoint(parts_of(name))
    if meaning.topic == "death" and dated and not profile.missing:
        question = "Is the date of death private? Then protect it (sensitive)."
        why = "the name suggests a date of death, which others may know"
        return Advice(QUASI_ROLE, why, 1, question)
    if meaning.topic == "origin":
        question = "May others know it? Then it is a quasi-identifier, too: choose one role."
        return replace(advice, question=question)
    return advice


def _known_to_others(name: str, kind: Inferred, meaning: Meaning | None) -> Advice | None:
    if word := quasi_name(name):
        question = None
        if meaning is not None and meaning.topic == "origin":
            question = "Is it private (sensitive) rather than known to others (quasi)?"
        why = f"the name suggests that others know it ({word})"
        return Advice(QUASI_ROLE, why, 2 + (word in lexicon().core), question)
    if kind.kind in {"date", "latitude", "longitude"}:
        return Advice(QUASI_ROLE, "others may know times and places", 1)
    return None


def _unexplained(profile: Profile, kind: Inferred) -> Advice:
    """Return what to do with a column that neither name nor cells explain."""
    if kind.kind == "boolean":
        why = "a yes or no that nothing explains"
        return Advice(None, why, question=UNEXPLAINED)
    if profile.distinct <= FEW and profile.distinct < profile.rows:
        strength = 1 - profile.mode_share  # what is nearly always the same singles nobody out
        why = f"a guess: it has few values ({profile.distinct:,}), so others may know it"
        return Advice(QUASI_ROLE, why, strength, UNEXPLAINED)
    return Advice(None, "many values, and nothing explains them", question=UNEXPLAINED)


def _mind_patients(found: list[Advice]) -> None:
    """Leave out what nothing explains where a table is about patients: it may be a finding."""
    if sum(one.topic in {"health", "death"} for one in found) < MEDICAL:
        return
    for place, advice in enumerate(found):
        if advice.role == QUASI_ROLE and advice.strength < 1:
            why = "nothing explains it, and the table is about health: it may be a finding"
            found[place] = Advice(None, why, question=UNEXPLAINED)


def _of_somebody(profile: Profile, kind: Inferred, name: str) -> Advice | None:
    """Return that a column says whom a row is about, one or several of them, None where not."""
    whom = whom_rows_are_about(profile.name, profile.distinct, profile.filled)
    why = identity(profile, kind, name)
    if whom is not None and kind.kind != "date" and (profile.whole or profile.numbers is None):
        named = whom.role == PERSON and what_cells_show(name, profile.cells, profile.counts)
        if named and named.what == OF_PEOPLE:
            return replace(whom, strength=1, question=SHARED)
        return whom
    return Advice(IDENTITY, why) if why else None


def _useless(profile: Profile) -> str | None:
    """Return why nothing is lost without a column, None where something would be."""
    if profile.distinct <= 1:
        what = "every cell is the same" if profile.distinct else "no cell has a value"
        return f"{what}: nothing is lost without it"
    if word := weighing(profile.name):
        return f"the name suggests a survey weight ({word}), and a weight can reveal other columns"
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
        and not advice.offer
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
        why = "a guess: a quantity with many values, and the name does not say more"
        found[best] = Advice(PROTECTED, why, question=UNEXPLAINED)
        return
    labels = [place for place in open_ones if profiles[place].distinct > 2]
    if labels and sum(advice.role == QUASI_ROLE for advice in found) > 1:
        why = "a guess: the last column that no name explains"
        found[labels[-1]] = Advice(PROTECTED, why, question=UNEXPLAINED)


def _guess_quasi(found: list[Advice], profiles: Sequence[Profile]) -> None:
    """Guess what people may be known by where nothing tells, as every release needs it.

    What a name says is private is guessed last, and what is to be protected first never.
    """
    if any(advice.role == QUASI_ROLE for advice in found):
        return
    first = primary(found, profiles)
    able = [
        place
        for place, advice in enumerate(found)
        if advice.role not in {IDENTITY, PERSON}
        and place != first
        and not advice.offer
        and not (_useless(profiles[place]) or _unfit(profiles[place]))
    ]
    open_ones = [place for place in able if found[place].role != PROTECTED]
    for place in (open_ones or able)[:GUESSES]:
        why = "a guess: nothing shows what others may know"
        found[place] = Advice(QUASI_ROLE, why, 0.5, UNEXPLAINED)


def _heed_kinship(found: list[Advice], names: Sequence[str], kinship: Sequence[Kinship]) -> None:
    """Leave out a quasi column that says what another says; prefer others to what one tells."""
    for one in kinship:
        left, right = names.index(one.left), names.index(one.right)
        if found[left].role != QUASI_ROLE or found[right].role != QUASI_ROLE:
            continue
        advice = found[right]
        if one.kind == "function":
            found[right] = replace(advice, strength=advice.strength - 1)
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
        why = f"{found[place].why}; left out because {MOST_GUESSED} others are there"
        found[place] = replace(found[place], role=None, why=why)


def primary(found: Sequence[Advice], profiles: Sequence[Profile]) -> int | None:
    """Return which of the sensitive columns to protect first, None where there are none."""
    return next(iter(by_need(found, profiles)), None)


def by_need(found: Sequence[Advice], profiles: Sequence[Profile]) -> list[int]:
    """Return the sensitive columns, the one to protect first before all others.

    Not one that has the same value in most rows; then by its name; then the one whose most
    frequent value is rarest, to a tenth: the more a column varies, the more can be promised.
    """
    places = [place for place, advice in enumerate(found) if advice.role == PROTECTED]
    return sorted(
        places,
        key=lambda place: (
            profiles[place].mode_share > 0.5,
            -found[place].strength,
            np.floor(10 * profiles[place].mode_share),
            place,
        ),
    )


def to_protect(found: Sequence[Advice], profiles: Sequence[Profile]) -> list[int]:
    """Return the sensitive columns that are suggested to be published, the first before all others.

    Beside the first there are only columns of which there is no doubt.
    """
    ordered = by_need(found, profiles)
    sure = [
        place
        for place in ordered[1:]
        if found[place].strength >= 2 and found[place].question is None
    ]
    return [*ordered[:1], *sure][:MOST_PROTECTED]


WEIGHTS = {"wgt", "fnlwgt", "weights", "hochrechnung", "hochrechnungsfaktor", "designgewicht"}
WEIGHTS |= {"hochrechnungsgewicht", "stichprobengewicht", "ponderation", "ponderacion", "pondera"}
WEIGH = {"weight", "weights", "wt", "gewicht", "poids", "peso"}  # of a body, or of a row
OF_SURVEYS = {"survey", "sample", "sampling", "design", "final", "calib", "calibrated", "person"}
OF_SURVEYS |= {"sondage", "redressement", "calage", "muestral", "muestra", "encuesta", "expansion"}
OF_SURVEYS |= {"umfrage", "stichprobe", "befragung", "kalibriert", "enquete"}
BESIDE = {"resp", "respondent", "respid", "interview", "stratum", "strata", "psu", "wave", "survey"}
BESIDE |= {"befragter", "schicht", "strate", "enquete", "repondant", "estrato", "encuestado", "upm"}
OF_UNITS = re.compile(
    r"(hh|hhld|per|pers|pop|ind|rep|base|haushalts|personen)(weights?|wt|gewicht)"
)
SMALL, LARGE = 2.5, 250  # means that weights of people in kilograms or pounds do not have
OF_BODIES = {"body", "birth", "fetal", "infant", "dry", "ideal", "patient"}  # no survey weights
WEIGHS = (
    "Is it a survey weight (how many people a row stands for)? Then choose the role survey weight: "
    "Shoal publishes its mean in every group. If it is a body weight, protect it (sensitive)."
)


def weighing(name: str) -> str | None:
    """Return the word of a name that speaks of survey weights, if there is one."""
    words = words_of(name)
    if words[-1:] in (["weight"], ["weights"]) and len(words) > 1:
        return None if set(words) & OF_BODIES else words[-1]
    if not WEIGH.isdisjoint(words) and not OF_SURVEYS.isdisjoint(words):
        return next(word for word in words if word in WEIGH)
    known = (
        one for one in words if one in WEIGHTS or one.endswith("wgt") or OF_UNITS.fullmatch(one)
    )
    return next(known, None)


def ask_weight(found: list[Advice], profiles: Sequence[Profile]) -> None:
    """Ask whether a weight is that of a body or of a row in a survey, where its numbers may be."""
    surveyed = any(not BESIDE.isdisjoint(words_of(profile.name)) for profile in profiles)
    for place, profile in enumerate(profiles):
        if profile.numbers is not None and not profile.missing and weighing(profile.name):
            found[place] = replace(found[place], question=WEIGHS, offer="survey-weight")
            continue
        if WEIGH.isdisjoint(words_of(profile.name)):
            continue
        if set(words_of(profile.name)) & OF_BODIES or profile.numbers is None or profile.whole:
            continue
        if profile.missing or profile.distinct < 2:  # a weight that can have no mean
            continue
        mean = float(profile.numbers @ profile.counts) / profile.filled
        if profile.numbers.min() <= 0 or (not surveyed and SMALL < mean < LARGE) or isinf(mean):
            continue
        why = "the name suggests a weight, and the numbers are like those of a survey weight"
        found[place] = Advice(None, why, question=WEIGHS, offer="survey-weight")
