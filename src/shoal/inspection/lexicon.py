"""Words of column names and of cells in four languages: what each suggests about a column.

The lists are data beside this module, a file a language. A name is parted into words at spaces,
underscores, capitals and digits, without accents. A word that is in no list may be made of several
that are: `hospdead` of hosp and dead, `icdcode` of icd and code. Every part has to be known then.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

LANGUAGES = ("en", "de", "fr", "es")
TOPICS = {  # of sensitive columns, as a sentence calls them
    "health": "health",
    "death": "death",
    "genetics": "genetic data",
    "sexuality": "sexual life or orientation",
    "religion": "religion or belief",
    "politics": "political opinions",
    "union": "trade-union membership",
    "origin": "ethnic origin",
    "crime": "crime",
    "money": "money",
    "marks": "grades or performance",
}
LETTERS = str.maketrans({"ß": "ss", "ł": "l", "ø": "o", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"})
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
CERTAIN = 4  # letters from which a part of a word is taken for what it is, beside any other
COMPANION = 3  # letters that the other parts of a word must have where it has fewer
LONGEST = 40  # letters of a word that is taken apart
PREFIX = 3  # letters that all names of a table may begin with
FEW = 4  # names from which a common beginning tells anything


@dataclass(frozen=True)
class Topic:
    """The words of one kind of sensitive columns; en.toml says what each list is for."""

    words: frozenset[str] = frozenset()
    stems: frozenset[str] = frozenset()
    short: frozenset[str] = frozenset()
    maybe: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Lexicon:
    """All words of all languages."""

    filler: frozenset[str]
    people: frozenset[str]
    identifying: frozenset[str]
    text: frozenset[str]
    persons: frozenset[str]
    households: frozenset[str]
    names: frozenset[str]
    insured: frozenset[str]
    numbered: frozenset[str]
    cases: frozenset[str]
    identifiers: frozenset[str]
    not_identifiers: frozenset[str]
    codes: frozenset[str]
    labels: frozenset[str]
    quasi: frozenset[str]
    core: frozenset[str]
    quasi_stems: frozenset[str]
    leading: frozenset[str]
    topics: dict[str, Topic]


@dataclass(frozen=True)
class Meaning:
    """What a column may be about, by which word, and whether there is no doubt."""

    topic: str
    word: str
    sure: bool = True
    leading: bool = False  # whether it is rather to be protected than others

    @property
    def said(self) -> str:
        """What it is about, for a sentence."""
        return TOPICS[self.topic]


def fold(text: str) -> str:
    """Return a text in lower case without accents.

    >>> fold("Décédé"), fold("Straße"), fold("Größe")
    ('decede', 'strasse', 'grosse')
    """
    plain = unicodedata.normalize("NFKD", text.lower().translate(LETTERS))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def spelled(text: str) -> Iterator[str]:
    """Yield every word of a list as it may be typed: umlauts also as two letters."""
    for word in text.split():
        if word.isascii():
            yield word.lower()
        else:
            yield fold(word)
            yield fold(word.translate(UMLAUTS))


@cache
def lexicon() -> Lexicon:
    """Read the lists of all languages."""
    place = resources.files("shoal.inspection") / "words"
    said: list[dict[str, Any]] = [
        tomllib.loads((place / f"{language}.toml").read_text("utf-8")) for language in LANGUAGES
    ]

    def listed(*keys: str) -> frozenset[str]:
        found: set[str] = set()
        for one in said:
            entry: Any = one
            for key in keys:
                entry = entry.get(key, {})
            found.update(spelled(entry or ""))
        return frozenset(found)

    lists = ("words", "stems", "short", "maybe", "values")
    return Lexicon(
        filler=listed("filler", "words"),
        people=listed("identifying", "people"),
        identifying=listed("identifying", "words"),
        text=listed("identifying", "text"),
        **{
            one: listed("kinds", one)
            for one in (
                "persons",
                "households",
                "names",
                "insured",
                "numbered",
                "cases",
                "identifiers",
                "not_identifiers",
                "codes",
                "labels",
            )
        },
        quasi=listed("quasi", "words"),
        core=listed("quasi", "core"),
        quasi_stems=listed("quasi", "stems"),
        leading=listed("sensitive", "leading"),
        topics={
            topic: Topic(**{one: listed("sensitive", topic, one) for one in lists})
            for topic in TOPICS
        },
    )


def words_of(name: str) -> list[str]:
    """Return the words of a column's name, folded: `diag_1`, `zipCode`, `hours-per-week`.

    >>> words_of("hoursPer-Week_2"), words_of("ICDCode"), words_of("Décès")
    (['hours', 'per', 'week'], ['icd', 'code'], ['deces'])
    """
    parted = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", re.sub(r"([a-z])([A-Z])", r"\1 \2", name))
    return [word for word in re.split(r"[\W_]+|(?<=\D)\d+$", fold(parted)) if word]


def said_by(name: str) -> list[str]:
    """Return what a name may be looked up by: its words, those without digits, all in one."""
    words = words_of(name)
    bare = [word.rstrip("0123456789") for word in words]
    joined = re.sub(r"[\W_]+", "", fold(name))
    return list(dict.fromkeys(word for word in (*words, *bare, joined) if word))


def word_among(name: str, words: Collection[str], stems: Collection[str] = ()) -> str | None:
    """Return the word of a name that stands among words, or has one of the stems in it."""
    said = said_by(name)
    known = next((word for word in said if word in words), None)
    return known or next((word for word in said for stem in stems if stem in word), None)


def sensitive_name(name: str) -> Meaning | None:
    """Return what sensitive a name suggests: by a word, letters in it, or its parts."""
    known, said = lexicon(), said_by(name)
    for place in ("words", "stems"):
        for word in said:
            for topic, one in known.topics.items():
                named = place == "words" and (word in one.words or word in _diseases(topic))
                if named or (place == "stems" and any(stem in word for stem in one.stems)):
                    return Meaning(topic, word, leading=word in known.leading)
    for word in said:
        for topic, part in _parts(word):
            return Meaning(topic, part, leading=part in known.leading)
    for word in said:
        for topic, one in known.topics.items():
            if word in one.maybe:
                return Meaning(topic, word, sure=False)
    return None


def names_private(name: str) -> bool:
    """Return whether a name says for certain that a column is private.

    >>> names_private("death"), names_private("ward")
    (True, False)
    """
    meaning = sensitive_name(name)
    return meaning is not None and meaning.sure


def _diseases(topic: str) -> frozenset[str]:
    """Return the labels of cells that name a column, too: those of diseases, not `living`."""
    return lexicon().topics[topic].values if topic == "health" else frozenset()


@cache
def _vocabulary() -> tuple[dict[str, str | None], int]:
    """Return every word that a longer one may be made of, with its topic, and the longest."""
    known = lexicon()
    found: dict[str, str | None] = dict.fromkeys((*known.filler, *known.quasi))
    for topic, one in known.topics.items():
        found |= dict.fromkeys((word for word in one.words if len(word) >= CERTAIN), topic)
        found |= dict.fromkeys(one.short, topic)
    found = {word: topic for word, topic in found.items() if len(word) > 1}
    return found, max(map(len, found))


@lru_cache(maxsize=2**14)
def _parted(word: str) -> tuple[str, ...] | None:
    """Return the known words, the longest first, that a word is made of, None where of no such."""
    word = word.lstrip("0123456789")
    if not word:
        return ()
    vocabulary, longest = _vocabulary()
    for length in range(min(longest, len(word)), 1, -1):
        if word[:length] in vocabulary:
            others = _parted(word[length:])
            if others is not None:
                return (word[:length], *others)
    return None


def _parts(word: str) -> Iterator[tuple[str, str]]:
    """Yield topic and part of a word that is wholly made of known ones.

    One letter may stand before them, as in `pearnval`.
    """
    vocabulary, _ = _vocabulary()
    if word in vocabulary or not CERTAIN <= len(word) <= LONGEST:
        return
    for begin in (0, 1):
        parts = _parted(word[begin:]) or ()
        for part in sorted(parts, key=len, reverse=True):
            topic, rest = vocabulary[part], [one for one in parts if one is not part]
            certain = len(part) >= CERTAIN and not begin
            if topic is not None and rest and (certain or min(map(len, rest)) >= COMPANION):
                yield topic, part


def quasi_name(name: str) -> str | None:
    """Return the word of a name, or the part of one, that others know people by."""
    known = lexicon()
    word = word_among(name, known.quasi, known.quasi_stems)
    if word is not None:
        return word
    return next((part for part in parts_of(name) if part in known.quasi), None)


def parts_of(name: str) -> list[str]:
    """Return the words of a name, those that are made of known ones parted.

    >>> parts_of("deathmon_1"), parts_of("statenum")
    (['death', 'mon'], ['state', 'num'])
    """
    return [part for word in words_of(name) for part in _parted(word) or (word,)]


def without_beginning(names: Sequence[str]) -> list[str]:
    """Return names without the few letters that all of them begin with.

    >>> without_beginning(["iage", "isex", "irace", "iinjury"])
    ['age', 'sex', 'race', 'injury']
    """
    if len(names) < FEW:
        return list(names)
    shortest = min(names, key=len)
    common = next(
        (
            place
            for place, letter in enumerate(shortest)
            if any(name[place] != letter for name in names)
        ),
        len(shortest),
    )
    alike = 0 < common <= min(PREFIX, len(shortest) - 2)
    return [name[common:] for name in names] if alike else list(names)


def words_in(cells: Iterable[str]) -> list[set[str]]:
    """Return the words of each cell, folded, and the whole of it."""
    return [{*re.findall(r"[a-z0-9]+", fold(cell)), fold(cell).strip()} for cell in cells]
