"""What type a column has, and the reason for it.

The cells decide first, as they do in coding; its name decides where numbers may stand for
something that is not a quantity.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.inspection.lexicon import lexicon, word_among
from shoal.table.coding import NUMBER, TRUTHS
from shoal.table.dates import not_dates, tell_apart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.inspection.profile import Profile


JUDGED = 200  # cells from which counts tell anything
CHANCE = 1.5  # by which the roots of two neighbouring counts differ for no reason
COMMON = 0.005  # share of the cells from which a number is no stray
JAGGED = 1.5  # how often counts rise and fall, once being that of a quantity
FEW = 30  # values that numbers standing for categories have at most
ORDERED = 50  # labels that an inferred order has at most
FIRST = 50  # cells that tell whether it is worth reading all as dates
MASKS = 5  # patterns that the cells of a code have at most
LONGEST = 12  # characters of a code
ZEROS = r"^0[0-9]+$"
DIGITS = r"^[0-9]+$"
CODE = r"^[A-Za-z0-9]([A-Za-z0-9. -]*[A-Za-z0-9])?$"
LETTERED = r"^[A-Za-z]{1,2}[0-9]+(\.[0-9]+)?$"  # as in V45.1, among numbers of the same kind
DAY_MONTH = r"^[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{4}|[0-9]{2})\b"
# A comma parts ends within brackets alone: 1,75 is a number in the writing of many countries.
RANGE = re.compile(
    r"^(?=[\[(]|[^,]*$)[\[(]?(-?\d+(?:\.\d+)?)\s*(?:-|–|to|,|\.\.)\s*(-?\d+(?:\.\d+)?)[\])]?$"
)
OPEN = re.compile(
    r"^(<=|>=|<|>|≤|≥|under |over |up to )?\s*(-?\d+(?:\.\d+)?)\s*(\+)?$", re.IGNORECASE
)
LEADING = re.compile(r"^(\d+)[ .:)-]+\D")


@dataclass(frozen=True)
class Inferred:
    """A type with its reason; ordered labels come with their order."""

    kind: str
    reason: str
    order: tuple[str, ...] = ()
    ways: tuple[str, ...] = ()  # in which dates read, if they are not as ISO writes them


def infer(profile: Profile) -> Inferred:
    """Return the type of a column."""
    stored = profile.column.dtype
    if stored == pl.Boolean:
        return Inferred("boolean", "it holds truth values")
    if stored in {pl.Date, pl.Datetime}:
        return Inferred("date", "it holds dates")
    if not profile.distinct:
        return Inferred("categorical", "no cell has a value")
    return _text(profile) if profile.numbers is None else _numbers(profile)


def _text(profile: Profile) -> Inferred:
    if not not_dates(profile.cells.head(FIRST)).any() and not not_dates(profile.cells).any():
        return Inferred("date", "every cell is a date, for example 2024-01-31")
    ways, doubt = tell_apart(profile.cells)
    if doubt is not None:
        return Inferred("categorical", f"it {doubt.removesuffix('.')}", (), tuple(ways))
    if ways:
        return Inferred("date", f"every cell is a date, written as {ways[0]}", (), tuple(ways))
    if profile.all_match(DIGITS) and profile.matching(ZEROS).any():
        return Inferred("code", "digits with leading zeros, which a number would lose")
    if profile.distinct == 2 and tuple(sorted(profile.cells.str.to_lowercase())) in TRUTHS:
        return Inferred("boolean", "its two values are an answer and its opposite")
    order, why = label_order(profile)
    if order:
        return Inferred("ordered", why, order)
    if _coded(profile):
        return Inferred("code", "short codes of letters and digits in a few patterns")
    if numbers := profile.count(profile.is_number):
        cells = f"{profile.filled:,} cells"
        return Inferred("categorical", f"text: {numbers:,} of {cells} are numbers, the rest not")
    return Inferred("categorical", "text")


def _numbers(profile: Profile) -> Inferred:
    numbers = profile.numbers
    assert numbers is not None
    low, high = float(numbers.min()), float(numbers.max())
    name = profile.name
    if (word := word_among(name, lexicon().codes)) and profile.whole and low >= 0:
        return Inferred("code", f"whole numbers; the name suggests a code ({word})")
    if word_among(name, LATITUDE) and low >= -90 and high <= 90:
        return Inferred("latitude", "numbers from -90 to 90; the name suggests a latitude")
    if word_among(name, LONGITUDE) and low >= -180 and high <= 180:
        return Inferred("longitude", "numbers from -180 to 180; the name suggests a longitude")
    if profile.whole and set(profile.cells) == {"0", "1"}:
        return Inferred("boolean", "its two values are 0 and 1")
    word = word_among(name, lexicon().labels)
    if word and profile.whole and profile.distinct <= FEW:
        return Inferred("categorical", f"few whole numbers; the name suggests labels ({word})")
    if why := _jagged(profile):
        return Inferred("code", why)
    if profile.whole:
        return Inferred("numeric", "every cell is a whole number")
    return Inferred("numeric", "every cell is a number")


def _jagged(profile: Profile) -> str | None:
    """Return why few whole numbers stand for categories: how often they occur tells.

    The counts of a quantity rise and fall about once as it grows, those of codes go up and down.
    """
    numbers = profile.numbers
    assert numbers is not None
    if not profile.whole or word_among(profile.name, COUNTED) or profile.filled < JUDGED:
        return None
    low, high = int(numbers.min()), int(numbers.max())
    if low < 0 or high > 99:
        return None
    common = numbers[profile.counts >= COMMON * profile.filled]
    if 2 < len(common) <= FEW and np.ptp(common) + 1 >= 2 * len(common):
        return "few whole numbers with gaps between them: codes have gaps, counts do not"
    if not 4 < profile.distinct <= 2 * FEW:
        return None
    counts = np.zeros(high - low + 3, np.int64)
    counts[numbers.astype(np.int64) - low + 1] = profile.counts
    sizes = np.sqrt(counts)  # chance moves each by about a half, whatever its size
    steps = np.maximum(np.abs(np.diff(sizes)) - CHANCE, 0)
    turns = float(steps.sum()) / (2 * float(sizes.max()))
    if turns < JAGGED:
        return None
    return "few whole numbers whose frequencies go up and down: codes, not quantities"


def _coded(profile: Profile) -> bool:
    """Whether cells are short marks with digits in a few patterns, as `A12` or `V45.1`."""
    if not profile.mostly(CODE):
        return False
    absent = profile.cells.str.to_lowercase().is_in([*MISSING_WORDS, "-1", "-9"])
    cells = profile.cells.filter(~absent)
    if len(cells) < 3 or not (cells.str.len_chars() <= LONGEST).all():
        return False
    if not (cells.str.contains(CODE) & cells.str.contains(r"[0-9]")).all():
        return False
    numbers = cells.str.contains(NUMBER) | cells.str.contains(DIGITS)
    if numbers.any():
        return bool((numbers | cells.str.contains(LETTERED)).all()) and not numbers.all()
    if cells.str.contains(DAY_MONTH).all():
        return False
    masks = cells.str.replace_all(r"[0-9]", "9").str.replace_all(r"[A-Za-z]", "A")
    return masks.n_unique() <= MASKS


def label_order(profile: Profile) -> tuple[tuple[str, ...], str]:
    """Return the labels in the order that they themselves speak of, with the reason."""
    if not 2 < profile.distinct <= ORDERED:
        return (), ""
    labels = profile.cells.to_list()
    folded = {re.sub(r"[\s_]+", "-", label.strip().lower()): label for label in labels}
    for scale in SCALES:
        steps = scale.split()
        if len(folded) == len(labels) and set(folded) <= set(steps):
            known = tuple(folded[step] for step in steps if step in folded)
            return known, "its labels are steps of a known scale"
    places = [_place(label) for label in labels]
    if None not in places:
        if any(RANGE.match(label.strip()) for label in labels):
            return _sorted(labels, places), "its labels are ranges of numbers"
        return (), ""
    leading = [LEADING.match(label) for label in labels]
    numbers = [int(found[1]) for found in leading if found]
    if len(numbers) == len(labels) == len(set(numbers)):
        return _sorted(labels, numbers), "its labels begin with numbers"
    return (), ""


def _place(label: str) -> tuple[float, int] | None:
    """Return where a range or an open end stands: its low end, `<30` before `30-40`."""
    text = label.strip()
    if found := RANGE.match(text):
        return float(found[1]), 1
    if found := OPEN.match(text):
        below = (found[1] or "").lower().strip() in {"<", "<=", "≤", "under", "up to"}
        return float(found[2]), 0 if below else 2
    return None


def _sorted(labels: Sequence[str], places: Sequence[object]) -> tuple[str, ...]:
    return tuple(label for _, label in sorted(zip(places, labels, strict=True)))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


COUNTED = _words("""
age year years month day hour hours minute minutes week weeks number num count children kids persons
rooms bedrooms floors size score points grade income salary pay amount price length duration
""")
WEIGHTS = _words("wgt fnlwgt weights")
LATITUDE = _words("lat latitude")
LONGITUDE = _words("lon lng long longitude")
# Cells that hold no value: signs, which no label is, and words, which a label may be.
MISSING_SIGNS = (
    *_words("""
? ?? - -- – — . .. / n/a #n/a na n.a. nan null (null) <na> k.a. k.a #nv #n/v #wert! #div/0! #bezug!
#value! #ref! #num! #name? #null!
"""),
    "k. a.",
    "n. a.",
)
MISSING_WORDS = (
    *MISSING_SIGNS,
    *_words("none nil missing unknown unk (missing) unbekannt fehlt fehlend entfällt"),
    *("keine angabe", "nicht bekannt", "not known", "no answer", "inconnu"),
)
SCALES = (
    "low medium high",
    "low middle high",
    "small medium large",
    "never rarely sometimes often always",
    "poor fair good very-good excellent",
    "none mild moderate severe",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "january february march april may june july august september october november december",
    "mon tue wed thu fri sat sun",
    "monday tuesday wednesday thursday friday saturday sunday",
    "strongly-disagree disagree neutral agree strongly-agree",
)
# Letters of other alphabets that print like Latin ones; the labels they stand in look alike.
CONFUSABLE = dict(zip("аеорсухіјѕһԁԛԝαοντρικ", "aeopcyxijshdqwaovtpik", strict=True))
