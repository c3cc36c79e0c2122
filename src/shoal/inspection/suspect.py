"""What may be wrong with the cells of a column, each as a sentence with how many and where.

Cells themselves are repeated only where they mark something missing or are labels that several
people share.

A reader takes some labels for one another and a program does not: `flu`, `Flu` and `flu `. Each
counts as a value of its own, so a group that holds both seems to have two.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.inspection.infer import CONFUSABLE, DAY_MONTH, MISSING_WORDS
from shoal.table.coding import NUMBER
from shoal.table.dates import not_dates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from shoal.inspection.infer import Inferred
    from shoal.inspection.profile import Profile


LABELS = 50_000  # distinct cells up to which they are compared with one another
SHOWN = 3


@dataclass(frozen=True, eq=False)
class LookAlikes:
    """How many labels have several spellings, which these are, and those that may be shown."""

    labels: int
    which: NDArray[np.bool_]  # of the distinct cells
    shown: tuple[str, ...]

    @property
    def text(self) -> str:
        """Say how many there are; only labels that several people share are repeated."""
        shown = ", as " + ", ".join(map(repr, self.shown)) if len(self.shown) > 1 else ""
        noun = "label has" if self.labels == 1 else "labels have"
        return f"{self.labels:,} {noun} several spellings that look alike{shown}"


def look_alikes(cells: pl.Series, counts: NDArray[np.int64]) -> LookAlikes | None:
    """Look among distinct labels, that so many rows carry each, for several spellings of one."""
    if len(cells) > LABELS:
        return None
    alike = (
        pl.DataFrame({"label": cells, "folded": folded(cells), "count": counts})
        .filter(pl.col("folded").is_duplicated())
        .sort("folded", "label")
    )
    if not alike.height:
        return None
    which = cells.is_in(alike["label"].implode()).to_numpy()
    shared = alike.filter(pl.col("count") > 1)["label"][:SHOWN]
    return LookAlikes(alike["folded"].n_unique(), which, tuple(shared))


def folded(labels: pl.Series) -> pl.Series:
    """Return labels without what a reader overlooks: case, white space, letters that look alike."""
    plain = (
        labels.str.normalize("NFKC")
        .str.to_lowercase()
        .str.strip_chars()
        .str.replace_all(r"[\s_\x{200b}\x{00ad}]+", " ")
    )
    if labels.str.len_bytes().eq(labels.str.len_chars()).all():
        return plain
    return plain.str.replace_many(CONFUSABLE)


MOSTLY = 0.5  # share of cells from which a column is taken to be meant as numbers
TEXTS = (pl.String, pl.Categorical, pl.Enum)
EXACT = 2**53  # whole numbers up to here survive in every program
NINES = re.compile(r"^9{2,6}(\.0)?$")  # a sheet keeps whole numbers among others as 999.0
VARIED = 5  # distinct cells at least that have something in common which nines do not have
SHORTEST = 4  # characters of cells that all have one length
BESIDE, HEAP = (
    10,
    10,
)  # numbers on either side, and how many times as frequent a code is as they are
MARKS = {-1.0, -7.0, -8.0, -9.0, -77.0, -88.0, -99.0, -999.0, -9999.0}
ISO_LIKE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
COMPACT = r"^(19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])(T[0-9]{4,6}Z?)?$"
SLASHED = r"^[0-9]{4}[/.][0-9]{1,2}[/.][0-9]{1,2}\b"
NAMED_MONTH = (
    r"(?i)^([0-9]{1,2}[ .-]+)?(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[ .,-]+[0-9]"
)
THOUSANDS = r"^-?[0-9]{1,3}([,' \x{00a0}\x{202f}][0-9]{3})+(\.[0-9]+)?$"
PUNCTUATED = r"^-?[0-9][0-9.,' \x{00a0}\x{202f}]*$"
DECIMAL_COMMA = r"^-?[0-9]+(\.[0-9]{3})*,[0-9]+$"


@dataclass(frozen=True)
class Suspicion:
    """One thing that may be wrong: a word for programs and a sentence for people."""

    kind: str
    text: str


def suspect(profile: Profile, inferred: Inferred) -> tuple[Suspicion, ...]:
    """Return what may be wrong with a column."""
    if not profile.distinct:
        return ()
    found = [*_codes(profile, inferred), *_sentinels(profile), *_sizes(profile)]
    if isinstance(profile.column.dtype, TEXTS):
        found += [*_spaces(profile), *_dates(profile, inferred)]
        if profile.numbers is None:
            found += [*_punctuation(profile), *_mixed(profile, inferred)]
            if inferred.kind != "date":
                found += _look_alikes(profile)
    return tuple(found)


def _codes(profile: Profile, inferred: Inferred) -> Iterator[Suspicion]:
    if inferred.kind == "code" and profile.numbers is not None:
        yield Suspicion(
            "code", f"{profile.name!r} looks like a code but would be read as a number."
        )


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count:,} cells"


def _told(profile: Profile, which: NDArray[np.bool_]) -> str:
    return f"{_cells(profile.count(which))}, first in data row {profile.first_row(which):,}"


def _sentinels(profile: Profile) -> Iterator[Suspicion]:
    which = sentinels(profile)
    if which.any():
        words = profile.numbers is None
        listed = profile.cells.filter(pl.Series(which))
        shown = map(repr, listed[:3]) if words else listed.sort()[:4]
        yield Suspicion(
            "sentinel",
            f"{', '.join(shown)} may mean missing ({_told(profile, which)}). Shoal treats them as "
            "values unless missing_codes in the schema file declares them.",
        )


def sentinels(profile: Profile) -> NDArray[np.bool_]:
    """Return which cells may mean missing: words, numbers apart, nines that are unlike all."""
    which = unlike(profile)
    if profile.numbers is None:
        words = profile.cells.str.strip_chars().str.to_lowercase()
        return which | words.is_in(list(MISSING_WORDS)).to_numpy() | (words == "").to_numpy()
    numbers = profile.numbers
    if (numbers >= 0).any() and ((numbers >= 0) | np.isin(numbers, list(MARKS))).all():
        which |= numbers < 0
    top = int(numbers.argmax())
    rest = numbers[np.arange(len(numbers)) != top]
    if NINES.match(profile.cells[top]) and len(rest) and rest.max() < 0.7 * numbers[top]:
        which[top] = True
    return which | _heaped(profile, numbers)


def unlike(profile: Profile) -> NDArray[np.bool_]:
    """Return which nines are written like no other cell: all others have one length, or letters.

    So `999` among codes of five digits, among days, and among diagnoses such as `I50.1`; beside
    `m` and `w` too, as words without digits are few in many columns.
    """
    nines = profile.matching(NINES.pattern)
    rest = profile.cells.filter(pl.Series(~nines))
    words = len(rest) > 1 and not rest.str.contains(r"\d").any()
    if not nines.any() or (len(rest) < VARIED and not words):
        return np.zeros(profile.distinct, bool)
    if rest.str.contains(r"\p{L}").all():
        return nines
    lengths = rest.str.len_chars()
    if lengths.n_unique() > 1 or lengths[0] < SHORTEST:
        return np.zeros(profile.distinct, bool)
    return nines & (profile.cells.str.len_chars() != lengths[0]).to_numpy()


def _heaped(profile: Profile, numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which nines stand there far more often than any of the numbers next to them."""
    which = np.zeros(profile.distinct, bool)
    order = np.argsort(numbers, kind="stable")
    for place in np.flatnonzero(profile.matching(NINES.pattern)[order]):
        around = np.r_[order[max(place - BESIDE, 0) : place], order[place + 1 :][:BESIDE]]
        most = profile.counts[around].max(initial=0)
        which[order[place]] = len(around) > BESIDE and profile.counts[order[place]] >= HEAP * most
    return which


def _sizes(profile: Profile) -> Iterator[Suspicion]:
    if profile.numbers is None:
        return
    infinite = ~np.isfinite(profile.numbers)
    if infinite.any():
        yield Suspicion("infinite", f"{_told(profile, infinite)}: infinite, and refused.")
    large = np.isfinite(profile.numbers) & (np.abs(profile.numbers) >= EXACT)
    if profile.whole and large.any():
        yield Suspicion(
            "large",
            f"Whole numbers beyond 2^53 ({_told(profile, large)}): other programs round them. "
            "If they are codes, say so.",
        )


def _spaces(profile: Profile) -> Iterator[Suspicion]:
    stray = (profile.cells != profile.cells.str.strip_chars()).to_numpy()
    if stray.any():
        yield Suspicion("spaces", f"Stray spaces around {_told(profile, stray)}.")


def _punctuation(profile: Profile) -> Iterator[Suspicion]:
    """Look for numbers in the manner of other countries."""
    if not profile.mostly(PUNCTUATED):
        return
    plain = profile.is_number
    grouped = profile.matching(THOUSANDS) & ~plain
    comma = profile.matching(DECIMAL_COMMA) & ~plain & ~grouped
    if profile.count(grouped | comma | plain) < MOSTLY * profile.filled:
        return
    if comma.any():
        both = comma | (grouped & profile.matching(r"^-?[0-9]{1,3},[0-9]{3}$"))
        yield Suspicion(
            "decimal",
            f"Decimal commas ({_told(profile, both)}): text, unless decimal = ',' in the schema "
            "file says that they are numbers.",
        )
    elif grouped.any():
        yield Suspicion(
            "thousands",
            f"Thousands separators ({_told(profile, grouped)}): text, unless decimal = '.' in the "
            "schema file says that they are numbers.",
        )


def _mixed(profile: Profile, inferred: Inferred) -> Iterator[Suspicion]:
    if inferred.kind == "categorical" and profile.mostly(NUMBER):
        plain = profile.is_number
        yield Suspicion(
            "mixed",
            f"{_told(profile, ~plain)}, not a number while the others are: so the column is text.",
        )


def _dates(profile: Profile, inferred: Inferred) -> Iterator[Suspicion]:
    cells = profile.cells
    if inferred.kind == "date":
        return
    if inferred.ways:
        ways = " or ".join(inferred.ways)
        yield Suspicion(
            "date", f"{profile.name!r} {inferred.reason.removeprefix('it ')}: say {ways}."
        )
        return
    if profile.mostly(ISO_LIKE):
        bad = not_dates(cells).to_numpy()
        yield Suspicion(
            "date", f"{_told(profile, bad)}, not a date while the others are: so it is text."
        )
        return
    if profile.mostly(DAY_MONTH):
        fields = cells.filter(pl.Series(profile.matching(DAY_MONTH))).str.extract_all(r"[0-9]+")
        first, second = (fields.list.get(place).cast(pl.Int64) for place in (0, 1))
        order = (
            "the day comes first"
            if (first > 12).any()
            else "the month comes first"
            if (second > 12).any()
            else "day and month cannot be distinguished"
        )
        yield _unlike(f" ({order})", "text")
    elif profile.all_match(COMPACT):
        taken = "numbers" if profile.numbers is not None else "text"
        yield _unlike("", taken)
    elif profile.mostly(SLASHED) or profile.mostly(NAMED_MONTH):
        yield _unlike("", "text")


def _unlike(order: str, taken: str) -> Suspicion:
    return Suspicion(
        "date",
        f"Dates not written as 2024-01-31{order}, so Shoal reads them as {taken}. If you write "
        "them in this way, Shoal publishes intervals of dates.",
    )


def _look_alikes(profile: Profile) -> Iterator[Suspicion]:
    found = look_alikes(profile.cells, profile.counts)
    if found is not None:
        yield Suspicion("alike", f"{found.text} ({_told(profile, found.which)}).")
