"""Ways to reach or identify a person that a cell may hold: mail, telephones, accounts, streets.

Numbers with digits that check are checked, so that codes of products are none of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS = (  # of streets, before or after their names, and beside a number
    r"street|st|road|rd|avenue|ave|lane|ln|drive|dr|court|ct|way|blvd|boulevard|close|crescent"
    r"|terrace|parkway|pkwy|highway|hwy|circle|cir|trail|loop|mews|gardens"
)
STREET = re.compile(
    rf"(?i)^\W*(apt|flat|unit|no\.?|nr\.?)?\s*\d+[a-z]?,?\s+([\w.'-]+\s+){{1,4}}({KINDS})\b\.?"
    r"|[\w.-](stra(ß|ss)e|str\.?|weg|gasse|allee|platz|damm|ufer|straat|laan|plein|gracht|gatan"
    r"|vägen|vej|gade|veien|gata|katu|tie|utca|utja)[.,]?\s+\d+\s?[a-z]?\b"
    r"|\b(stra(ß|ss)e|str\.|weg|allee|platz|utca|út|sokak|sk\.|cadde(si)?|cd\.)\s*(no:?\s*)?\d+\b"
    r"|\b(rue|avenue|av\.?|bd|boulevard|chemin|impasse|allée|quai|calle|c/|avda\.?|avenida|paseo"
    r"|carrer|via|viale|piazza|corso|vicolo|rua|travessa|praça|ulica|ul\.|aleja|ул\.|улица|пр\."
    r"|проспект|пер\.|вул\.|вулиця|οδός|jalan|jl\.)\s*\D{2,40}[\s,]\s*(no\.?|n[°º.]|nº|д\.)?\s*\d+"
    r"|^\d+\s?(bis|ter)?,?\s+(rue|avenue|av\.?|bd|boulevard|chemin|impasse|allée|place|quai|route)\s"
    r"|\d+丁目|\d+(号|號|番地?)|(로|길)\s?\d+"
)
POSTED = re.compile(  # a number, words, and a code of a place after them, or before the last ones
    r"^\D{0,12}\d{1,5}\s?[a-z]?\b[ ,].*[^\W\d_]{3}.*[,\n].*"
    r"\b(\d{4,6}(-\d{3,4})?|[A-Z]{1,2}\d[\dA-Z]?\s?\d[A-Z]{2}|[A-Z]\d[A-Z]\s?\d[A-Z]\d)\b"
    r"|^[^\W\d_]{3}.*\b\d{1,4}\s?[a-z]?,\s*.*\b\d{4,6}\b.*[^\W\d_]{3}",
    re.IGNORECASE | re.DOTALL,
)
IDENTITY = re.compile(
    r"^(\d{3}-\d{2}-\d{4}|[A-CEGHJ-PR-TW-Z]{2} ?\d\d ?\d\d ?\d\d ?[A-D]|\d{3}\.\d{3}\.\d{3}-\d{2}"
    r"|756\.?\d{4}\.?\d{4}\.?\d{2}|[A-Z]{6}\d{2}[A-EHLMPR-T]\d{2}[A-Z]\d{3}[A-Z]|\d{8}-?[A-HJ-NP-TV-Z]"
    r"|[XYZ]-?\d{7}-?[A-Z]|(\d{2})?\d{2}[01]\d[0-3]\d[-+A]\d{3}[0-9A-Y]|\d{2}[0-3]\d[01]\d{3}[A-Z]\d{3}"
    r"|[12] ?\d\d ?[01]\d ?\d[0-9AB] ?\d{3} ?\d{3}( ?\d\d)?|[0-3]\d[01]\d\d\d-\d{4}"
    r"|\d{4} \d{4} \d{4}|\d{3} \d{3} \d{4}|\d{6}-[1-4]\d{6}|[A-Z]{4}\d{6}[HM][A-Z]{5}[0-9A-Z]\d)$"
)
PHONE = re.compile(
    r"(?i)(^|\b(tel|telefon|phone|ph|mob|mobile|handy|fax|cell|tlf)\.?:?\s*)"
    r"(\+\s?\(?\d[\d\s()/.-]{6,}\d|00\d{2}[\s\d/.-]{7,}|\(0?\d{2,5}\)[\s/.-]?\d[\d\s/.-]{3,}\d"
    r"|0\d{1,5}[\s/.-]\d[\d\s/.-]{3,}\d|1?[\s.-]?\(?\d{3}\)?[\s.-]\d{3}[\s.-]\d{4}"
    r"|0\d([\s.-]\d\d){4}|[6-9]\d{2}([\s.-]\d{3}){2}|[6-9]\d{2}([\s.-]\d{2}){3})(\s?(x|ext\.?)\s?\d+)?$"
)
DAYS = re.compile(r"\b\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b")
WITHIN = re.compile(  # a number of a telephone among words, of nine digits at least, or called so
    r"(?i)(?<![\w.,/-])(\+\s?\(?\d[\d\s()/.-]{7,}\d|\(0?\d{2,5}\)[\s/.-]?\d[\d\s/.-]{4,}\d"
    r"|0[1-9](?:[\s/-]?\d){7,13}|\d{3}([.-])\d{3}\2\d{4}"
    r"|\b(tel|telefon|telephone|phone|mob|mobile|handy|fax|cell|tlf|call|ring|anruf)"
    r"\b[.:]?\s*(\w{1,9}\s)?(?:[(]?\d[\s()/.-]?){6,14}\d)(?![\w-])"
)
ZIP = re.compile(r"^\d{5}-\d{3,4}$|^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$")  # codes of places, dates
WORD = re.compile(r"[^\W\d_]{2}")
INSIDE = 0.005  # the share of cells that have something where no cell has it by chance
NETWORK = re.compile(
    r"^(?=.*\d{2,}.*\.\d{2,})((25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(25[0-5]|2[0-4]\d|1?\d?\d)(:\d+)?$"
    r"|^([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$|^([0-9A-Fa-f]{1,4}:){4,7}[0-9A-Fa-f:]+$"
)
RANDOM = re.compile(r"^\{?[0-9A-Fa-f]{8}(-?[0-9A-Fa-f]{4}){3}-?[0-9A-Fa-f]{12}\}?$")
MAIL = re.compile(r"[\w.+%-]+\s?(@|\(at\)|\[at\])\s?[\w-]+(\.[\w-]+)*\.[a-z]{2,}", re.IGNORECASE)
WEB = re.compile(
    r"(?i)\bhttps?://\S|\bwww\.\w|\b[\w-]+\.(com|org|net|de|fr|es|uk|me)/\S|^@[a-z0-9_.]{3,}$"
)
ACCOUNT = re.compile(r"\b([A-Z]{2}\d{2})((?:[ -]?[A-Z0-9]){11,30})\b")
CARD = re.compile(r"(?<![\d.])(\d[ -]?){12,18}\d(?![\d.])")


def is_account(cell: str) -> bool:
    """Whether a cell has the number of a bank account whose digits check."""
    for found in ACCOUNT.finditer(cell.strip().upper()):
        body = re.sub(r"[ -]", "", found[2]) + found[1]
        if int("".join(str(int(letter, 36)) for letter in body)) % 97 == 1:
            return True
    return False


def is_card(cell: str) -> bool:
    """Whether a cell has the number of a payment card whose digits check."""
    for found in CARD.finditer(cell):
        digits = [int(digit) for digit in found[0] if digit.isdigit()]
        doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
        if (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and len({*digits}) > 2:
            return True
    return False


def is_address(cell: str) -> bool:
    """Whether a cell is a street with a number, or such a line and the code of a place."""
    return bool(STREET.search(cell) or POSTED.search(cell))


def is_phone(cell: str) -> bool:
    """Whether a cell is a telephone number, of eight digits at least."""
    text = cell.strip()
    enough = 8 <= sum(letter.isdigit() for letter in text) <= 16
    return enough and PHONE.search(text) is not None and not ZIP.match(text)


def has_phone(cell: str) -> bool:
    """Whether a text has the number of a telephone somewhere among its words."""
    text = DAYS.sub(" ", cell)
    return WORD.search(text) is not None and WITHIN.search(text) is not None


REACHES: tuple[tuple[str, Callable[[str], object], int, float], ...] = (
    # what, whether a cell is one, how many different ones, and which share of the cells
    ("e-mail addresses", MAIL.search, 3, INSIDE),
    ("texts with telephone numbers", has_phone, 3, INSIDE),
    ("numbers of bank accounts", is_account, 3, 0.05),
    ("telephone numbers", is_phone, 5, 0.4),
    ("numbers of payment cards", is_card, 5, 0.5),
    ("numbers that identify people, such as social security numbers", IDENTITY.match, 5, 0.6),
    ("street addresses", is_address, 5, 0.25),
    ("web addresses", WEB.search, 5, 0.25),
    ("network addresses", NETWORK.match, 5, 0.5),
    ("random identifiers", RANDOM.match, 5, 0.5),
)
