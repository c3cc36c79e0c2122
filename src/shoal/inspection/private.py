"""Whether a column names people, and what its cells tell about them, whatever its name is.

Labels such as dead and alive, diseases, codes of diseases, and what names or reaches a person:
addresses of mail, telephone numbers, given names, free text. Cells are looked at, never repeated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.inspection.lexicon import (
    TOPICS,
    Meaning,
    lexicon,
    quasi_name,
    sensitive_name,
    word_among,
    words_in,
    words_of,
)
from shoal.inspection.naming import Named, what_cells_show
from shoal.inspection.profile import Profile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.inspection.infer import Inferred

NEAR_UNIQUE = 0.95  # distinct values per filled cell
ENOUGH = 10  # rows from which uniqueness tells anything
PER_PERSON = 0.05  # distinct values per row from which an id is of people, not of categories
FEW = 100  # values
LABELS = 2_000  # distinct cells of which the words are looked up, the most frequent
SHARE = {"health": 0.3, "death": 0.8}  # of the rows whose cells have words of a topic; else:
USUAL = 0.5
LEAST = 2  # different cells with words of a topic
CODES = 10  # different codes from which they tell what they are codes of
LETTERS = 3  # with which codes of diseases begin
MOSTLY = 0.9
WHOLE = frozenset(["first", "last", "full", "middle", "given", "family", "birth", "number", "nr"])
ICD10 = r"^[A-TV-Z][0-9][0-9AB](\.?[0-9A-Z]{1,4})?$"
ICD9 = r"^([0-9]{3}(\.[0-9]{1,2})?|[VE][0-9]{2,3}(\.[0-9]{1,2})?)$"
LETTERED = r"^[VE]"
CURRENCY = r"^[-+]?\s*[€$£¥]\s?[0-9]|^[-+]?[0-9][0-9.,' ]*\s?(€|\$|£|¥|EUR|USD|GBP|CHF|SEK|PLN)$"
LONG_NUMBER = r"^[0-9]{6,}$"  # as of telephones and of files
SEVERAL_WORDS = r"\S\s+\S+\s+\S"


def sensitive_cells(profile: Profile, kind: Inferred) -> Meaning | None:
    """Return what sensitive the cells of a column are about."""
    if profile.numbers is not None or kind.kind in {"date", "boolean"} or not profile.distinct:
        return None
    if _diseases(profile):
        return Meaning("health", "codes of diseases")
    shown = profile.most_frequent(LABELS)
    words, counts = words_in([cell for cell, _ in shown]), np.array([one for _, one in shown])
    for topic in TOPICS:
        listed = lexicon().topics[topic].values
        which = np.array([bool(some & listed) for some in words])
        share = float(counts[which].sum()) / profile.filled
        if which.sum() >= LEAST and share >= SHARE.get(topic, USUAL):
            return Meaning(topic, "labels")
    return None


def _diseases(profile: Profile) -> bool:
    """Whether cells are codes of diseases, as ICD-10 and ICD-9 write them."""
    if profile.distinct < CODES:
        return False
    tenth = profile.matching(ICD10)
    if profile.count(tenth) >= MOSTLY * profile.filled:
        return profile.cells.filter(pl.Series(tenth)).str.slice(0, 1).n_unique() >= LETTERS
    ninth = profile.matching(ICD9)
    lettered = profile.matching(LETTERED) & ninth
    return bool(lettered.any()) and profile.count(ninth) >= MOSTLY * profile.filled


def is_money(profile: Profile) -> bool:
    """Whether cells are amounts with the sign of a currency, which are text to a program."""
    return profile.numbers is None and bool(profile.distinct) and profile.mostly(CURRENCY)


def says_names(name: str, labels: pl.Series, counts: NDArray[np.int64]) -> Named | None:
    """Return why labels would give people away: by the header, or by what they are; None else.

    A header says it where all its words do: `hospital_name` is none of a person. It has to be
    borne out by cells that are no categories, and of free text by cells of several words.
    """
    profile = Profile(labels.alias(name), labels, counts)
    return _headed(profile, name) or what_cells_show(name, labels, counts)


def _headed(profile: Profile, name: str) -> Named | None:
    """Return what a header says of people that the cells bear out."""
    known, said = lexicon(), words_of(name)
    word = word_among(name, known.people | known.identifying | known.text)
    if word is None or profile.distinct < ENOUGH:
        return None
    if word != "".join(said) and not {*said} <= {word, *known.persons, *WHOLE}:
        return None
    if profile.numbers is not None and not profile.all_match(LONG_NUMBER):
        return None
    often = profile.distinct > min(PER_PERSON * profile.filled, FEW)
    if word in known.text:
        several = profile.count(profile.matching(SEVERAL_WORDS)) >= USUAL * profile.filled
        return Named("free text", "its header says so") if often and several else None
    if word in known.people or often:
        return Named("names or addresses of people", "its header says so")
    return None


def identity(profile: Profile, kind: Inferred, name: str) -> str | None:
    """Return why a column names people by its name or by what its cells are, None otherwise."""
    if kind.kind in {"date", "latitude", "longitude", "boolean"}:
        return None
    why = _named_after(profile, name)
    if why is not None or profile.filled < ENOUGH:
        return why
    shown = what_cells_show(name, profile.cells, profile.counts)
    return None if shown is None else f"its cells look like {shown.what} ({shown.why})"


def unique(profile: Profile, kind: Inferred) -> str | None:
    """Return why a column points at people though nothing says what it is: cells hardly repeat."""
    if kind.kind in {"date", "latitude", "longitude", "boolean"} or profile.filled < ENOUGH:
        return None
    share = profile.distinct / profile.filled
    if share < NEAR_UNIQUE:
        return None
    if profile.numbers is None:
        return "nearly every cell is unique"
    if profile.whole and share == 1 and _serial(profile):
        return "whole numbers in a row, one for every row: a serial number"
    return None


def _named_after(profile: Profile, name: str) -> str | None:
    """Return why a name says that a column names people, given how many values it has."""
    known, said = lexicon(), words_of(name)
    share = profile.distinct / max(profile.filled, 1)
    often = share > PER_PERSON or profile.distinct > FEW
    if profile.distinct > 2 and (word := word_among(name, known.people)):
        return f"the name suggests that it identifies people ({word})"
    ends = next((word for word in said if word.endswith("name")), None)
    word = word_among(name, known.identifying) or ends
    if word and often and not _of_something_else(name, word):
        return f"the name suggests that it identifies people ({word})"
    word = word_among(name, known.text)
    if word and often and profile.numbers is None:
        return f"the name suggests free text ({word}), which may name anyone"
    ids = [one for one in said if one.endswith("id") and len(one) > 3]
    word = word_among(name, known.identifiers) or next(
        (one for one in ids if one not in known.not_identifiers), None
    )
    if word and share > PER_PERSON and (profile.whole or profile.numbers is None):
        return f"the name suggests an identifier ({word}), and it has many values"
    return None


def _of_something_else(name: str, word: str) -> bool:
    """Whether another word of a name says what is named: `drug_name`, `country_name`."""
    others = "_".join(one for one in words_of(name) if one != word)
    return bool(others) and bool(sensitive_name(others) or quasi_name(others))


def _serial(profile: Profile) -> bool:
    numbers = profile.numbers
    assert numbers is not None
    return bool(numbers.max() - numbers.min() <= 1.5 * profile.distinct)
