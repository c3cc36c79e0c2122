"""Ten files as institutions have them, each with the table that a person would see in it.

All people are made up. `write` makes a file; `age`, `zip`, `admitted`, `ward` and `charges` are its
columns, and `PEOPLE` what they hold, whatever a file calls and writes them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 60
WARDS = ("Innere", "Chirurgie", "Pädiatrie", "Gynäkologie")


@dataclass(frozen=True)
class Person:
    """One made-up row."""

    case: int
    age: int
    zip: str
    admitted: date
    ward: str
    charges: float


def _person(at: int) -> Person:
    return Person(
        case=41000 + 7 * at,
        age=19 + 2 * ((at * 7) % 30),
        zip=f"{10115 + 83 * (at % 9)}",
        admitted=date(2025, 1, 1) + timedelta(days=(at * 53) % 360),
        ward=WARDS[at * len(WARDS) // ROWS],
        charges=round(812.4 + 1234.56 * ((at * 29) % 41) + 0.07 * at, 2),
    )


PEOPLE = tuple(_person(at) for at in range(ROWS))
NAMES = ("case", "age", "zip", "admitted", "ward", "charges")


def german(number: float) -> str:
    """Return a number as German programs write it, with points between thousands."""
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


def plain(one: Person, **how: Any) -> list[str]:
    """Return the cells of a row, with dates and numbers written as asked."""
    day = one.admitted.strftime(how.get("day", "%Y-%m-%d"))
    cost = german(one.charges) if how.get("comma") else f"{one.charges:.2f}"
    return [str(one.case), str(one.age), one.zip, day, one.ward, cost]


def lines(*, sign: str = ";", names: Any = NAMES, **how: Any) -> list[str]:
    """Return the lines of a file of text, names first."""
    return [sign.join(names), *(sign.join(plain(one, **how)) for one in PEOPLE)]


def semicolons(folder: Path) -> Path:
    """Semicolons, and commas in the words of a title."""
    return _text(folder, "semicolons.csv", lines())


def latin(folder: Path) -> Path:
    """The encoding of old Windows programs."""
    return _text(folder, "latin.csv", lines(), encoding="cp1252")


def commas(folder: Path) -> Path:
    """Decimal commas, and points between thousands."""
    return _text(folder, "commas.csv", lines(comma=True))


def dates(folder: Path) -> Path:
    """German dates."""
    return _text(folder, "dates.tsv", lines(sign="\t", day="%d.%m.%Y"))


def titles(folder: Path) -> Path:
    """A title, a note and an empty line above the names; a column without one."""
    own = ["Klinikum Nordufer, Patientenliste 2025", "Stand: 14.01.2026; vorläufig", ""]
    table = [f"{line};" for line in lines()]
    return _text(folder, "titles.csv", own + table)


def totals(folder: Path) -> Path:
    """A total, and cells that mean missing: 999, a dash and words."""
    table = lines(comma=True)
    table[3] = _changed(table[3], age="999")
    table[9] = _changed(table[9], age="999")
    table[5] = _changed(table[5], zip="-")
    table[7] = _changed(table[7], charges="k. A.")
    whole = german(sum(one.charges for one in PEOPLE))
    return _text(folder, "totals.csv", [*table, f"Summe;;;;;{whole}"])


def two_lines(folder: Path) -> Path:
    """Two lines of names, of which the upper one reaches over several columns."""
    upper = "Fall;Patient;;Aufenthalt;;"
    lower = ";age;zip;admitted;ward;charges"
    return _text(folder, "two_lines.csv", [upper, lower, *lines()[1:]])


def merged(folder: Path) -> Path:
    """A second sheet with merged titles, and wards that are merged over their rows."""
    import xlsxwriter

    path = folder / "merged.xlsx"
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("Hinweise").write(0, 0, "Bitte vertraulich behandeln")
        sheet = book.add_worksheet("Daten")
        day = book.add_format({"num_format": "dd.mm.yyyy"})
        sheet.merge_range(1, 0, 1, 5, "Klinikum Nordufer")
        sheet.write_row(3, 0, ("ward", "case", "age", "zip", "admitted", "charges"))
        for at, one in enumerate(PEOPLE, 4):
            sheet.write_row(at, 1, (one.case, one.age, one.zip))
            sheet.write_datetime(at, 4, datetime.combine(one.admitted, datetime.min.time()), day)
            sheet.write(at, 5, one.charges)
        size = ROWS // len(WARDS)
        for at, ward in enumerate(WARDS):
            sheet.merge_range(4 + at * size, 0, 3 + (at + 1) * size, 0, ward)
    return path


def notes(folder: Path) -> Path:
    """Notes below the table, after an empty line."""
    own = ["", "Quelle: Controlling, Abt. 3", "* ohne Privatpatienten"]
    return _text(folder, "notes.csv", lines(sign=",") + own)


def mixed(folder: Path) -> Path:
    """Lines that two programs wrote, each in its own encoding."""
    path = folder / "mixed.csv"
    parts = [line.encode("cp1252" if at % 3 else "utf-8") for at, line in enumerate(lines())]
    path.write_bytes(b"\r\n".join(parts) + b"\r\n")
    return path


def _changed(line: str, **cells: str) -> str:
    own = line.split(";")
    for name, cell in cells.items():
        own[NAMES.index(name)] = cell
    return ";".join(own)


def _text(folder: Path, name: str, own: list[str], encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(("\n".join(own) + "\n").encode(encoding))
    return path


@dataclass(frozen=True)
class Messy:
    """A file, and what of it has to be said for it to be read."""

    write: Any
    needed: dict[str, Any] = field(default_factory=dict)
    case: str = "case"
    lost: dict[str, set[int]] = field(default_factory=dict)  # rows whose cells are missing

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self.write.__name__)


MESSY = (
    Messy(semicolons),
    Messy(latin, {"encoding": "cp1252"}),
    Messy(commas, {"decimal": ","}),
    Messy(dates),
    Messy(titles, {"header_row": 4}),
    Messy(
        totals,
        {
            "decimal": ",",
            "skip_last": 1,
            "missing_codes": {"age": ["999"], "zip": ["-"], "charges": ["k. A."]},
        },
        lost={"age": {2, 8}, "zip": {4}, "charges": {6}},
    ),
    Messy(two_lines, {"header_row": 1, "header_lines": 2}, case="Fall"),
    Messy(merged, {"sheet": "Daten", "header_row": 4}),
    Messy(notes, {"skip_last": 3}),
    Messy(mixed, {"encoding": "mixed"}),
)
