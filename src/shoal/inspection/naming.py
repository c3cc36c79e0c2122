"""Whether the cells of a column name or reach people, or are free text, and by what evidence.

One judgement for proposals and for refusals. A cell counts by itself: it is a name, a sentence, a
street with a number, a way to reach somebody. A column is judged by the share of its rows and of
its different cells that count, beside cells that say nothing (`n/a`, `-`). A header is a hint: it
moves how large a share has to be. SaidCells are looked at, never repeated.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from shoal.exact import percent
from shoal.inspection.lexicon import fold, lexicon, quasi_name, sensitive_name, spelled, words_of
from shoal.table.missing import MISSING_LABEL

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl
    from numpy.typing import NDArray

OF_PEOPLE = "names of people"
LABELS = 2_000  # different cells that are looked at: the most frequent ones, and some others
READ = 300  # characters of a cell that are read: patterns take long over endless ones
NAMES = 5  # different cells that are names
TITLED = 2  # different cells that are titles with names
TITLES = frozenset(["dr", "dra", "prof", "professor", "dott", "mr", "mrs", "herr", "frau", "mme"])
INITIALS = 10  # different cells that are initials alone
SENTENCES = 12  # different sentences: fewer are the answers to one question
HINTED, USUAL, ELSE_MEANT = 0.1, 0.25, 0.4  # shares of names by what a header says
MOSTLY = 0.6  # the share of cells that are rather codes than names, were they few
ONLY = 0.75  # the share of cells that are initials alone: N.Y. and N.J. are none
AMONG = 0.02  # the share of texts that name somebody among other words
AFTER_PEOPLE = 0.1  # the share of institutions and streets from which names may be theirs
LEAST = 0.2  # of the share that is asked, what both rows and different cells must have
WORDS, LONG = 4, 20  # words and letters that a sentence has at least
LONGEST = 60  # letters of a name
MOST_WORDS = 4  # of a name, without particles
TEXT_WORDS, TEXT_LENGTH, TEXT_DISTINCT, TEXT_CELLS = 4, 25, 0.3, 10  # of texts that hardly repeat
ONE_CASE = 0.8  # of the cells that are written in small letters, or in capitals, alone

CHARACTERS = r"[\u3040-\u30ff\u3400-\u9fff]"  # of Chinese and Japanese, which has no spaces
SPOKEN = re.compile("[，。的了是我他她不在说没这]|です|ます|した|ない|から")
ENDED = re.compile(r"[.!。！]\s*(\([^)]*\))?\s*$")
FIGURE = re.compile(r"^[-+]?[\d.,]{1,9}$")  # a number that is nobody's
PARTS = re.compile(r"[\s,;|/()\u00b7]+")
BRACKETS = re.compile(r"(?<=\S)\s*[(\[][^)\]]*[)\]]")
JOINED = re.compile(r"(?<=[^\W\d_]{2})[._](?=[^\W\d_]{2})|(?<=[a-z]{2})(?=[A-Z][a-z]{2})")
ACCOUNT = re.compile(r"^[a-z]([a-z]{5,20})\d{0,3}$")
INITIAL = re.compile(r"^[^\W\d_]\.?$|^([^\W\d_]\.-?)+[^\W\d_]?$")
ABBREVIATED = re.compile(
    r"^(?=(?P<first>[^\W\d_]))([^\W\d_]\.[ -]?)+\s?[^\W\d_]{2}"
    r"|[^\W\d_]{2},?\s(?=(?P<last>[^\W\d_]))([^\W\d_]\.[ -]?)+$"
)
KIN = re.compile(  # who somebody is to the person that is named
    r"(?i)(sons?|daughters?|child(ren)?|baby|mother|father|parents?|wife|husband|widow|guardian|"
    r"care|estate|friend|sohn|tochter|kind(er)?|mutter|vater|eltern|frau|mann|hij[oa]|madre|padre|"
    r"fils|fille|enfants?|mère|père|épouse?)\s+(of|von|de|du|d['’])\s*(?=\w)"
)
LINKING = frozenset(["of", "for", "with", "and", "und", "&", "et", "the"])  # between any words
LEAST_LETTERS = 2  # of a surname behind a title, and one more
BEFORE = frozenset(["van", "von", "vom", "mac", "bin", "bint", "ibn", "abu"])  # surnames
AFTER = ("strasse", "gasse", "allee", "platz", "straat", "gatan", "vagen", "weg")  # of streets
ONLY_INITIALS = re.compile(r"^([^\W\d_]\.[ -]?){2,4}$")
HAN = re.compile(r"^[\u3400-\u9fff々][\u3040-\u30ff\u3400-\u9fff々\s·]{1,5}$")
HANGUL = re.compile(r"^[\uac00-\ud7a3]{3}$")


@dataclass(frozen=True)
class Named:
    """What a column looks like, and the evidence for it."""

    what: str
    why: str


@dataclass(frozen=True)
class Names:
    """The words of names that ship; names.toml and cells.toml say what each is for."""

    names: frozenset[str]
    either: frozenset[str]
    endings: tuple[str, ...]
    titles: frozenset[str]
    posts: frozenset[str]
    kin: frozenset[str]
    particles: frozenset[str]
    nobody: frozenset[str]
    junk: frozenset[str]
    told: frozenset[str]
    han: tuple[str, ...]
    hangul: tuple[str, ...]
    ends: tuple[str, ...]


@cache
def _names() -> Names:
    """Read the lists."""
    place = resources.files("shoal.inspection") / "words"
    said: dict[str, str] = {}
    for file in ("names.toml", "cells.toml"):
        said |= tomllib.loads((place / file).read_text("utf-8"))

    def folded(key: str) -> frozenset[str]:
        return frozenset(spelled(said[key]))

    return Names(
        folded("names"),
        folded("either"),
        tuple(folded("endings")),
        folded("titles"),
        folded("posts"),
        folded("kin"),
        folded("particles"),
        folded("nobody"),
        frozenset(said["junk"].split()),
        frozenset(said["told"].split()),
        tuple(said["han"].split()),
        tuple(said["hangul"].split()),
        tuple(said["ends"].split()),
    )


# One cell


def is_junk(cell: str) -> bool:
    """Whether a cell says nothing, for example `n/a`, `-` or `unknown`."""
    text = cell.strip()
    if text == MISSING_LABEL or not any(map(str.isalnum, text)):
        return True
    return "_".join(text.strip(".-()<>[]*?!").lower().split()) in _names().junk


def is_name(cell: str, *, any_case: bool = False) -> bool:
    """Whether a cell names a person: a title, an initial, or a known name, alone or among others.

    Beside a known name, words that no list has count as names. Words of places and institutions
    rule a name out: Saint Paul, Martin Luther King School.
    """
    text = KIN.sub("", cell.strip(), count=1)
    if HAN.match(text) or HANGUL.match(text):
        return _is_name_of_characters(text)
    titles, words = _parted(_words(text))
    if account := ACCOUNT.match(text):  # as of John Smith: jsmith2
        return _known(account[0].rstrip("0123456789")) or account[1] in _names().names
    if len(text) > LONGEST or not words or not all(map(_of_letters, words)):
        return False
    known, folded = _names(), [fold(word) for word in words]
    main = [
        (word, low)
        for word, low in zip(words, folded, strict=True)
        if low not in known.particles and not INITIAL.match(word)
    ]
    small = not any_case and any(word[:1].islower() for word, _ in main)
    if not 1 <= len(main) <= MOST_WORDS or small or _of_a_place(folded):
        return False
    if len(words) == 1 and not titles:
        return _known(folded[0])
    if titles or folded[0] in BEFORE or (len(main) <= 2 and _abbreviated(text, any_case)):
        return True
    beside = sum(low in known.either for _, low in main) + (len(words[0]) == 1)
    return beside > 1 or any(_known(low) for _, low in main)


def is_titled(cell: str) -> bool:
    """Whether a cell names a person behind a title that nothing else has: PD Dr. Klein."""
    titles, _ = _parted(_words(cell))
    return not TITLES.isdisjoint(titles) and is_name(cell, any_case=True)


def _parted(words: Sequence[str]) -> tuple[frozenset[str], Sequence[str]]:
    """Return the titles that words begin with, and the words behind them.

    What stands beside titles, as `PD`, `med.` and `OÄ`, is none by itself.
    """
    known, low = _names(), [fold(word) for word in words]
    count = 0
    while count < len(low) and low[count] in known.titles | known.posts:
        count += 1
    titles = known.titles.intersection(low[:count])
    return titles, words[count:] if titles else words


def names_someone(cell: str) -> bool:
    """Whether a text names a person among other words: given name and surname, title, or kinship.

    Places and institutions that are called after somebody are none: `at Mary Smith School`.
    """
    known, words = _names(), [word.strip("'\".,;:*()!?") for word in cell.split()]
    if not any(word.islower() and len(word) > 1 for word in words):
        return False
    low = [fold(word) for word in words]
    called = [one in known.nobody - LINKING or one.endswith(AFTER) for one in low]
    for place, word in enumerate(words[1:], 1):
        if not word.istitle() or any(called[max(place - 2, 0) : place + 3]):
            continue
        before, said = words[place - 1], low[place - 1]
        if _known(low[place]) and (
            said in known.kin or (before.istitle() and said in known.either)
        ):
            return True
        if before.istitle() and said in known.titles and len(word) > LEAST_LETTERS:
            return True
        listed = low[place] in known.either or _known(low[place])
        if before.istitle() and listed and _known(said):
            return True
    return False


def _words(text: str) -> list[str]:
    """Return the words of a cell, without numbers by themselves and what is in brackets.

    Names of accounts are parted, too: john.smith, smith_john, JohnSmith.
    """
    plain = JOINED.sub(" ", BRACKETS.sub(" ", text))
    parts = (part.strip("'\".:*’`") for part in PARTS.split(plain))
    return [word for word in parts if any(map(str.isalpha, word))]


def _of_letters(word: str) -> bool:
    return not any(map(str.isdigit, word))


def _abbreviated(text: str, any_case: bool) -> bool:  # noqa: FBT001 - as in `is_name`
    """Whether a given name stands there as an initial: J. Smith; Smith, J."""
    short = ABBREVIATED.search(text)
    return short is not None and (any_case or not (short["first"] or short["last"]).islower())


def _of_a_place(folded: Sequence[str]) -> bool:
    """Whether a word is called after somebody: Saint-Denis, Goethestraße."""
    known = _names()
    return any(
        part in known.nobody or (part.endswith(AFTER) and len(part) > len("strasse"))
        for low in folded
        for part in low.split("-")
    )


def _known(low: str) -> bool:
    """Whether a word is a name and hardly anything else; of a double one, one half is enough."""
    known = _names()
    parts = [part for part in re.split(r"['’-]", low) if len(part) > 2] or [low]
    if re.match(r"(o['’]|mc)[^\W\d_]{3}", low):
        return True
    return any(
        part in known.names
        or (
            part not in known.either
            and any(part.endswith(one) and len(part) >= len(one) + 3 for one in known.endings)
        )
        for part in parts
    )


def _is_name_of_characters(text: str) -> bool:
    known, plain = _names(), re.sub(r"[\s·]", "", text)
    begins = known.hangul if HANGUL.match(text) else known.han
    longest = 3 if plain[:2] not in begins else 6
    return plain.startswith(begins) and not plain.endswith(known.ends) and len(plain) <= longest


def is_sentence(cell: str) -> bool:
    """Whether a cell is said in whole sentences, as remarks are and labels are not."""
    text = cell.strip()
    if text.endswith("?"):
        return False
    characters = len(re.findall(CHARACTERS, text))
    if 2 * characters > len(text):
        return characters >= LONG // 2 and len(SPOKEN.findall(text)) > 1
    words = re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", text.lower())
    if len(words) < WORDS or len(text) < LONG:
        return False
    told = sum(word in _names().told for word in words)
    return told > 1 or (told == 1 and bool(ENDED.search(text))) or len(words) >= LONG


# A column


class SaidCells:
    """Some different cells of a column that say something, and how many rows each stands for."""

    def __init__(self, labels: pl.Series, counts: NDArray[np.int64]) -> None:
        chosen, weights = _some(labels.str.head(READ), counts)
        kept = [(one, n) for one, n in zip(chosen, weights, strict=True) if not is_junk(one)]
        self.distinct = len(labels)
        self.texts = [text for text, _ in kept]
        self.rows = np.array([rows for _, rows in kept], np.float64)
        self.plain = [FIGURE.match(text) is not None for text in self.texts]

    def share(self, which: Callable[[str], object], least: int, asked: float) -> float:
        """Return the share of the rows, or of the different cells, that are something.

        The larger one, or 0 where it is below what is asked, the other far below, or too few
        different cells are.
        """
        found = np.array(
            [
                not plain and bool(which(text))
                for text, plain in zip(self.texts, self.plain, strict=True)
            ],
            bool,
        )
        if int(found.sum()) < least:
            return 0.0
        shares = float(self.rows[found].sum() / self.rows.sum()), float(found.mean())
        return max(shares) if max(shares) >= asked and min(shares) >= LEAST * asked else 0.0


def _some(labels: pl.Series, counts: NDArray[np.int64]) -> tuple[list[str], NDArray[np.float64]]:
    """Return some labels and the rows that each stands for.

    Of many, half are the most frequent ones. The others, which their own letters pick, stand for
    all that are left.
    """
    weights = counts.astype(np.float64)
    if len(labels) <= LABELS:
        return labels.to_list(), weights
    mixed = labels.hash(seed=1).to_numpy()
    order = np.lexsort((mixed, -counts))
    often, rest = order[: LABELS // 2], order[LABELS // 2 :]
    picked = rest[np.argsort(mixed[rest])[: LABELS // 2]]
    weights[picked] *= weights[rest].sum() / weights[picked].sum()
    both = np.concatenate([often, picked])
    return labels.gather(both).to_list(), weights[both]


def what_cells_show(name: str, labels: pl.Series, counts: NDArray[np.int64]) -> Named | None:
    """Return why cells name or reach people, or are free text; None where nothing says so."""
    cells = SaidCells(labels, counts)
    if not cells.texts:
        return None
    from shoal.inspection.reaching import REACHES

    for what, which, least, asked in REACHES:
        if share := cells.share(which, least, asked):
            return Named(what, f"{percent(share)} of its cells have one")
    if share := _names_among(name, cells):
        return Named(OF_PEOPLE, f"{percent(share)} of its cells have one")
    if share := cells.share(names_someone, NAMES, AMONG):
        return Named("texts with names of people", f"{percent(share)} of its cells have one")
    if share := cells.share(is_sentence, SENTENCES, USUAL):
        return Named("free text", f"{percent(share)} of its cells are sentences")
    if _hardly_repeats(cells):
        return Named("free text", "its cells are long and hardly repeat")
    return None


def _names_among(name: str, cells: SaidCells) -> float:
    """Return the share of cells that are names, 0 where too few are for what the header says."""
    small, large = (
        sum(kind(text) for text in cells.texts) >= ONE_CASE * len(cells.texts)
        for kind in (str.islower, str.isupper)
    )
    asked = _asked(name)
    characters = sum(bool(HAN.match(text) or HANGUL.match(text)) for text in cells.texts)
    called = cells.share(lambda text: _of_a_place([*map(fold, _words(text))]), 1, AFTER_PEOPLE)
    if called or 2 * characters > len(cells.texts):  # characters of names begin other words, too
        asked = MOSTLY

    def which(text: str) -> bool:
        return is_name(text, any_case=small or large)

    if cells.share(is_titled, TITLED, USUAL):  # few names are enough where titles say what they are
        return cells.share(lambda text: is_titled(text) or which(text), TITLED, asked)
    return cells.share(which, NAMES, asked) or cells.share(ONLY_INITIALS.match, INITIALS, ONLY)


def _asked(name: str) -> float:
    """Return which share of cells have to be names, by what the header says they are."""
    known, said = lexicon(), {*words_of(name)}
    if quasi_name(name) or sensitive_name(name):
        return ELSE_MEANT
    return HINTED if said & (known.people | known.identifying | known.persons) else USUAL


def _hardly_repeats(cells: SaidCells) -> bool:
    """Whether cells are long texts of several words, of which many are different."""
    if cells.distinct < max(TEXT_CELLS, TEXT_DISTINCT * float(cells.rows.sum())):
        return False
    lengths = float(np.mean([len(text) for text in cells.texts]))
    words = float(np.mean([len(text.split()) for text in cells.texts]))
    return lengths >= TEXT_LENGTH and words >= TEXT_WORDS
