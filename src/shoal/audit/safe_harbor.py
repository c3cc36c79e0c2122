"""HIPAA Safe Harbor by rule: which published columns show one of the 18 kinds of identifiers.

The kinds are those of 45 CFR 164.514(b)(2)(i), (A) to (R). A column is found by its name or by its
published cells. A rule sees names and cells and not what people know, so a kind without a finding
still needs a person's eye; the second condition, that the entity has no actual knowledge, is for
people alone.

ZIP codes: only the first three digits, and 000 where 20,000 people or fewer live in all ZIP codes
that begin with them. The 17 prefixes are those of the guidance of the Department of Health and
Human Services (26 November 2012), from the census of 2000. The guidance asks to use more current
data where they were published.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.audit.harbor_dates import MOSTLY, SHOWN, date_or_age, listed_parts
from shoal.inspection.lexicon import said_by
from shoal.inspection.reaching import MAIL, WEB, has_phone, is_phone
from shoal.table.coding import NUMBER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
    "D": lambda cell: is_phone(cell) or UNSPACED.fullmatch(cell.strip()),
    "O": re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){3}").fullmatch,
}
WITHIN: dict[str, Callable[[str], object]] = {  # what no cell may have, alone or among words
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
