"""HIPAA Safe Harbor by rule: which published columns show one of the 18 kinds of identifiers.

The kinds are those of 45 CFR 164.514(b)(2)(i), (A) to (R). A column is found by its name or by its
published cells. A rule sees names and cells and not what people know, so a kind without a finding
still needs a person's eye; the second condition, that the entity has no actual knowledge, is for
people alone.

ZIP codes: only the first three digits, and 000 where 20,000 people or fewer live in all ZIP codes
that begin with them. The 17 prefixes are those of the guidance of the Department of Health and
Human Services (26 November 2012), from the census of 2000. The guidance asks to use more current
data where they were published.

Dates are found wherever they stand: in labels, in sets and intervals of them, in the middle of a
text. So are months, weeks and quarters of a year, days of a month, and times of day. A year of
birth shows an age: the rule counts up to the year of the release.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.inspection.lexicon import said_by
from shoal.inspection.naming import is_name, is_titled, names_someone
from shoal.inspection.reaching import MAIL, WEB, has_phone, is_phone
from shoal.table.coding import NUMBER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from shoal.release.stated import StatedColumn


SMALL_ZIP3 = (
    *("036", "059", "063", "102", "203", "556", "692", "790", "821", "823", "830", "831", "878"),
    *("879", "884", "890", "893"),
)
SOURCE = (
    "Under 17 three-digit ZIP prefixes of the United States, 20,000 people or fewer live. Shoal "
    "takes them from the HHS guidance on de-identification of 26 November 2012, which counts by "
    "the census of 2000. Check whether a more current list has appeared."
)
KINDS: dict[str, tuple[str, str]] = {  # letter: what it is, and words of column names
    "A": ("Names", "name surname forename firstname lastname fullname maidenname nickname vorname "
          "nachname"),
    "B": ("Geographic subdivisions smaller than a state", "zip zipcode postal postcode plz city "
          "town village municipality county district address street precinct birthplace place lat "
          "lon latitude longitude ort strasse adresse"),
    "C": ("Dates but for the year, and ages over 89", ""),
    "D": ("Telephone numbers", "phone telephone tel mobile cellphone telefon handy"),
    "E": ("Fax numbers", "fax"),
    "F": ("Email addresses", "email mail"),
    "G": ("Social security numbers", "ssn"),
    "H": ("Medical record numbers", "mrn recordnumber"),
    "I": ("Health plan beneficiary numbers", "beneficiary policynumber memberid"),
    "J": ("Account numbers", "account accountnumber iban konto"),
    "K": ("Certificate and license numbers", "licence license certificate driverslicense"),
    "L": ("Vehicle identifiers", "vin plate licenseplate kennzeichen"),
    "M": ("Device identifiers and serial numbers", "serial imei deviceid device"),
    "N": ("Web addresses", "url website homepage"),
    "O": ("IP addresses", "ip ipaddress"),
    "P": ("Biometric identifiers", "fingerprint fingerprints voiceprint iris biometric"),
    "Q": ("Full-face photographs and comparable images", "photo photograph image portrait"),
    "R": ("Any other unique identifying number, characteristic or code", ""),
}  # fmt: skip
UNSPACED = re.compile(r"0[1-9][0-9]{7,12}")  # a telephone number: no number begins so
SSN = re.compile(r"(?<![\w-])[0-9]{3}-[0-9]{2}-[0-9]{4}(?![\w-])")
OF_CELLS: dict[str, Callable[[str], object]] = {  # what most cells of a column have to be
    "A": lambda cell: is_titled(cell) or is_name(cell),
    "D": lambda cell: is_phone(cell) or UNSPACED.fullmatch(cell.strip()),
    "O": re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){3}").fullmatch,
}
WITHIN: dict[str, Callable[[str], object]] = {  # what no cell may have, alone or among words
    "A": lambda cell: is_titled(cell) or names_someone(cell),
    "D": has_phone,
    "F": MAIL.search,
    "G": SSN.search,
    "N": WEB.search,
}
ZIPS = frozenset(["zip", "zipcode", "zipcodes", "postal", "postcode", "postalcode", "plz"])
PSEUDONYM = (
    "It is a pseudonym. A code must not be derived from information about the person (164.514(c)); "
    "people have to check how the key is kept."
)


@dataclass(frozen=True)
class HarborFinding:
    """What a rule found of one kind: columns with a sentence each, or none."""

    letter: str
    kind: str
    found: tuple[tuple[str, str], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "letter": self.letter,
            "kind": self.kind,
            "found": [list(one) for one in self.found],
        }


def safe_harbor(
    cells: Mapping[str, pl.Series], columns: Sequence[StatedColumn], year: int
) -> list[HarborFinding]:
    """Compare the published cells of columns with each of the 18 kinds, and ages as of `year`."""
    found: dict[str, list[tuple[str, str]]] = {letter: [] for letter in KINDS}
    for column in columns:
        for letter, said in _of_column(column, cells[column.name], year):
            found[letter].append((column.name, said))
    return [HarborFinding(letter, KINDS[letter][0], tuple(found[letter])) for letter in KINDS]


def _of_column(column: StatedColumn, every: pl.Series, year: int) -> list[tuple[str, str]]:
    """Return the kinds that a column shows, with a sentence each."""
    cells = every.drop_nulls().cast(pl.String)
    rows, words, different = len(every), set(said_by(column.name)), cells.unique()
    parts = listed_parts(different)["part"]
    # Numbers are measures, however many digits they have, and dates are looked at by themselves.
    numbers = column.has_ends or parts.str.contains(NUMBER).all()
    texts = [] if numbers else parts.filter(~parts.str.contains(SHOWN)).unique().to_list()
    found = []
    for letter, (_, named) in KINDS.items():
        meant = sorted(words & set(named.split()))
        if letter == "B" and words & ZIPS:
            found += [(letter, said) for said in zip_findings(different)]
        elif meant:
            found.append((letter, f"The column name suggests it ({meant[0]}). Check it."))
        elif said := _shows(letter, texts, len(parts)):
            found.append((letter, said))
    found += [("C", said) for said in date_or_age(column, different, words, year)]
    if not column.quasi and rows > 1 and len(different) == rows:
        found.append(("R", "No two published cells are equal, so it may identify rows."))
    if column.role == "pseudonym":
        found.append(("R", PSEUDONYM))
    return found


def _shows(letter: str, texts: Sequence[str], every: int) -> str | None:
    """Return what texts show of a kind, most of all different ones or some."""
    of_cells, within = OF_CELLS.get(letter), WITHIN.get(letter)
    if of_cells and sum(map(bool, map(of_cells, texts))) > MOSTLY * every:
        return "Most published cells look like it."
    many = 0 if within is None else sum(map(bool, map(within, texts)))
    return f"{many:,} different {'cell has' if many == 1 else 'cells have'} one." if many else None


def zip_findings(different: pl.Series) -> list[str]:
    """Say what published ZIP cells show beyond what is allowed.

    >>> zip_findings(pl.Series(["123**", "000**"]))
    []
    >>> len(zip_findings(pl.Series(["036**", "12345"])))
    2
    """
    finer = small = 0
    for cell in different:
        digits = re.fullmatch(r"([0-9]{0,3})\**", cell)
        if digits is None:
            finer += 1
        elif digits[1] in SMALL_ZIP3:
            small += 1
    said = []
    if finer:
        said.append(
            f"{finer:,} different cells show more than the first three digits of a ZIP code, or a "
            "range of codes."
        )
    if small:
        said.append(
            f"{small:,} different cells begin with a prefix under which 20,000 people or fewer "
            "live. It must read 000."
        )
    return said


OLDEST = 89
MOSTLY = 0.5
AGES = frozenset(
    (
        *("age", "ages", "ageband", "agegroup", "agerange", "ageyears", "patientage", "edad"),
        *("alter", "altersgruppe", "altersklasse", "lebensalter", "patientenalter"),
    )
)
BIRTHS = frozenset(
    (
        *("birth", "birthdate", "birthday", "birthyear", "born", "dob", "yob", "geb", "geboren"),
        *("jahrgang", "naissance", "nacimiento"),
    )
)
BIRTH_STEM = "geburt"
DATED = frozenset(["date", "dob", "birthday", "birthdate", "datum", "born"])
FINER = frozenset(  # names of what is finer than a year, in a column of its own
    (
        *("month", "monat", "mois", "mes", "week", "woche", "kw", "semaine", "semana", "weekday"),
        *("wochentag", "quarter", "quartal", "day", "tag", "hour", "uhrzeit"),
    )
)
YEAR = "(?:1[89]|20|21)[0-9]{2}"
DAY = "(?:0?[1-9]|[12][0-9]|3[01])"
MONTH = "(?:0?[1-9]|1[0-2])"
NAMES = (
    "jan|january|januar|jänner|enero|janvier|feb|february|februar|febrero|février|mar|march|märz|mrz|"
    "marzo|mars|apr|april|abril|avril|may|mai|mayo|jun|june|juni|junio|juin|jul|july|juli|julio|"
    "juillet|aug|august|agosto|août|sep|sept|september|septiembre|septembre|oct|okt|october|oktober|"
    "octubre|octobre|nov|november|noviembre|novembre|dec|dez|december|dezember|diciembre|décembre"
)
DATES = "|".join(
    [
        rf"{YEAR}-?W[0-5][0-9](?:-?[1-7])?",
        rf"{YEAR}[ -]?Q[1-4]|Q[1-4][ /-]?{YEAR}",
        rf"{YEAR}[./-]{MONTH}(?:[./-]{DAY})?",
        rf"{YEAR}-[0-3][0-9]{{2}}",
        rf"(?:{DAY}[./-] ?{MONTH}|{MONTH}[./-]{DAY})[./-] ?(?:{YEAR}|[0-9]{{2}})",
        rf"{MONTH}[./-]{YEAR}",
        rf"{DAY}\.{MONTH}\.",
        rf"{DAY}(?:\.|st|nd|rd|th)?[ /-]?(?:of )?(?:{NAMES})\.?(?:[ ,/-]+[0-9]{{2,4}})?",
        rf"(?:{NAMES})\.?[ /-](?:{DAY}(?:st|nd|rd|th)?,? ?)?[0-9]{{2,4}}|(?:{NAMES})\.? {DAY}",
        rf"{YEAR}[ /-](?:{NAMES})(?:[ /-]{DAY})?",
    ]
)
TIMES = (
    r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?(?:\.[0-9]+)?|"
    r"[01]?[0-9](?::[0-5][0-9])? ?[ap]m"
)
BEFORE, AFTER = r"(?i)(?:^|[\s\"'(\[,;T])", r"(?:$|[\s\"')\],;TZ+]|\.$|\.\s)"
SHOWN = f"{BEFORE}(?:{DATES})(?:[–/-](?:{DATES}))?{AFTER}"
DIGITS = rf"^{YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:T.*)?$"


def date_or_age(
    column: StatedColumn, cells: pl.Series, words: set[str], year: int
) -> Iterator[str]:
    """Say what published cells show of dates and ages beyond what is allowed in a year."""
    parts = listed_parts(cells.unique())
    if column.dates or words & DATED:
        yield from date_findings(parts, every=True)
    elif words & FINER:
        yield f"The column name suggests it ({min(words & FINER)}). Check it."
    else:
        yield from date_findings(parts)
    if words & AGES:
        yield from age_findings(parts, r"[0-9]+(?:\.[0-9]+)?")
    if words & BIRTHS or any(word.startswith(BIRTH_STEM) for word in words):
        yield from age_findings(parts, YEAR, year)


def listed_parts(different: pl.Series) -> pl.DataFrame:
    """Return each cell with every label of its set and every end of its interval.

    >>> listed_parts(pl.Series(["[1, 2]", '["a", "b"]', "c"]))["part"].to_list()
    ['c', '1', '2', 'a', 'b']
    """
    listed = different.str.starts_with("[").fill_null(value=False)
    plain = different.filter(~listed).drop_nulls()
    rows = [(cell, part) for cell in different.filter(listed) for part in _inside(cell)]
    lists = pl.DataFrame(rows, {"cell": pl.String, "part": pl.String}, orient="row")
    return pl.concat([pl.DataFrame({"cell": plain, "part": plain}), lists])


def _inside(cell: str) -> list[str]:
    try:
        found = json.loads(cell, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return [cell]
    return [str(one) for one in found if one is not None] if isinstance(found, list) else [cell]


def date_findings(parts: pl.DataFrame, *, every: bool = False) -> Iterator[str]:
    """Say which cells show more of a date than the year; with `every`, all that are no years.

    >>> list(date_findings(listed_parts(pl.Series(["2020", "[1948, 1962]", "Ward 3", "1.25"]))))
    []
    >>> len(list(date_findings(listed_parts(pl.Series(["on 5 Mar 1948 at home", "2020-W07"])))))
    1
    """
    part = pl.col("part")
    if every:
        shown = part.str.contains("[0-9]") & ~part.str.contains("^[0-9]{4}$")
    else:
        compact = part.str.contains(DIGITS)
        mostly = bool(parts.select(compact.mean() > MOSTLY).item())
        shown = part.str.contains(SHOWN) & ~part.str.contains(NUMBER)
        shown |= compact & mostly
    finer = parts.filter(shown)["cell"].n_unique()
    if finer:
        yield f"{finer:,} different cells show more of a date than the year."
        return
    times = parts.filter(part.str.contains(f"{BEFORE}(?:{TIMES}){AFTER}"))["cell"].n_unique()
    if times:
        yield f"{times:,} different cells show a time of day, which is more than the year."


def age_findings(parts: pl.DataFrame, written: str, born_by: int | None = None) -> Iterator[str]:
    """Say whether ages over 89 stand in more than one category of 90 or older.

    Ages are the numbers `written` in cells, or the years from those up to `born_by`.

    >>> list(age_findings(listed_parts(pl.Series(["[20, 89]", "[90, 104]"])), "[0-9]+"))
    []
    >>> len(list(age_findings(listed_parts(pl.Series(["[85, 93]", "95+"])), "[0-9]+")))
    1
    """
    found = parts.select("cell", number=pl.col("part").str.extract_all(written)).explode("number")
    age = pl.col("number").cast(pl.Float64)
    ages = found.drop_nulls().select("cell", age=age if born_by is None else born_by - age)
    ends = ages.group_by("cell").agg(low=pl.col("age").min(), high=pl.col("age").max())
    old = ends.filter(pl.col("high") > OLDEST)
    low, high = pl.col("low"), pl.col("high")
    mixed = old.filter((low <= OLDEST) | ((low == high) & (low > OLDEST + 1)))
    if not old.height or (not mixed.height and old.height == 1):
        return
    shown = (
        f"ages over {OLDEST}"
        if born_by is None
        else (f"years of birth of people who are over {OLDEST} in {born_by}")
    )
    yield (
        f"{old.height:,} different cells show {shown}. Such ages are allowed only in one category "
        "of 90 or older."
    )
