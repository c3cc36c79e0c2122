"""How the table of a file lies in it: encoding, separator, titles above, totals and notes below.

All of it is read from the file's first and last lines, but for the encoding, which the whole file
decides. What is said already is not looked for.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.inspection.assumed import Assumption, FileLine, Found
from shoal.inspection.encodings import ENCODINGS, PART, Scanned, tell_encoding
from shoal.table.columns import FileLayout
from shoal.table.delimited import BOM, SEPARATORS, utf8_lines
from shoal.table.files import HEAD, choose_separator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO

    from shoal.table.sheets import Book

TITLES = 40  # records among which the names of columns stand
SHOWN, SHOWN_LAST = 6, 2  # rows of the table, and lines of its end, that are shown
QUOTED = 20  # lines that one record has at most
MOSTLY = 0.6  # share of the cells of names that are text
BAR = "|"
CHOICES = (",", ";", "tab", BAR)
POSSIBLE = {sign: f"a {name}" for sign, name in SEPARATORS.items()} | {
    ":": "a colon",
    "~": "a tilde",
    "^": "a caret",
}
NUMBERS = re.compile(r"^[-+]?[0-9][0-9.,' \u00a0\u202f]*([eE][-+]?[0-9]+)?\s?[%€$£]?$")
DATES = re.compile(r"^[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}([ T][0-9:.]+)?$")
TOTAL = re.compile(
    r"^(gesamt(summe|betrag)?|insgesamt|(zwischen|teil|end)?summen?|(grand |sub-?|sous-)?totals?|"
    r"sums?|somme|totale?|mittelwert|durchschnitt|average|mean|Σ)\b",
    re.IGNORECASE,
)


def typed(cell: str) -> bool:
    """Return whether a cell is a number or a date, which no name of a column is."""
    plain = cell.strip()
    return bool(NUMBERS.match(plain) or DATES.match(plain))


@dataclass(frozen=True)
class FileRecord:
    """The cells of one record: the line that it begins in, from 1, and how many lines it has."""

    number: int
    lines: int
    cells: tuple[str, ...]

    @property
    def filled(self) -> int:
        """How many cells have something in them."""
        return sum(1 for cell in self.cells if cell.strip())

    @property
    def texts(self) -> float:
        """The share of these that are neither numbers nor dates."""
        said = [cell for cell in self.cells if cell.strip()]
        return sum(1 for cell in said if not typed(cell)) / max(len(said), 1)


def records(text: str, separator: str, first: int = 1) -> list[FileRecord]:
    """Return the records of some lines; a quote that no other closes is one character."""
    lines = text.splitlines(keepends=True)
    found, at = [], 0
    while at < len(lines):
        count, quotes = 1, lines[at].count('"')
        while quotes % 2 and count <= QUOTED and at + count < len(lines):
            quotes += lines[at + count].count('"')
            count += 1
        count = 1 if quotes % 2 else count
        own = "".join(lines[at : at + count])
        cells = next(csv.reader(io.StringIO(own, newline=""), delimiter=separator), [])
        found.append(FileRecord(first + at, count, tuple(cells)))
        at += count
    return found


# Lines


def likely_separator(text: str, name: str) -> str:
    """Return what separates the cells of most lines.

    A vertical bar often separates what one cell lists: then the line of names has none.
    """
    best = choose_separator(text.encode(), name, None), 0, 0
    for sign in SEPARATORS:
        found = records(text, sign)[: 5 * TITLES]
        widths = Counter(len(one.cells) for one in found if len(one.cells) > 1)
        width, count = max(widths.items(), key=lambda one: (one[1], one[0]), default=(0, 0))
        if width * count > best[1] and (sign != BAR or count >= best[2]):
            best = sign, width * count, count
    return best[0]


def names_at(found: Sequence[FileRecord]) -> tuple[int, int, bool]:
    """Return which record names the columns, in how many they are named, and whether it is sure."""
    head = list(found[:TITLES])
    widest = max((one.filled for one in head), default=0)
    wide = [at for at, one in enumerate(head) if 2 * one.filled >= max(widest, 1)]
    if not wide:
        return 0, 1, False
    at = next((one for one in wide if head[one].texts > MOSTLY), wide[0])
    below = head[at + 1 : at + 2]
    if below and _both(head[at], below[0], found[at + 2 : at + 12]):
        return at, 2, True
    if at and head[at - 1].filled > 1 and head[at - 1].texts == 1 and _lacks(head[at]):
        return at - 1, 2, True
    return at, 1, head[at].texts > MOSTLY


def _lacks(names: FileRecord) -> bool:
    """Return whether a line of names leaves a column without one of its own."""
    said = [cell.strip() for cell in names.cells]
    return len(set(said)) < len(said)


def _both(upper: FileRecord, lower: FileRecord, rows: Sequence[FileRecord]) -> bool:
    """Return whether two lines name the columns together."""
    if lower.texts < 1 or not _lacks(upper) or 3 * lower.filled < upper.filled:
        return False
    width = max(len(upper.cells), len(lower.cells))
    above, below = (
        [cell.strip() for cell in (*one.cells, *[""] * (width - len(one.cells)))]
        for one in (upper, lower)
    )
    helped = [one for one, other in zip(above, below, strict=True) if not one and other]
    differs = any(
        other and any(len(row.cells) > at and typed(row.cells[at]) for row in rows)
        for at, other in enumerate(below)
    )
    return bool(helped) and (differs or "" in below)


def rows_end(found: Sequence[FileRecord], usual: int, width: int) -> tuple[int, list[str], bool]:
    """Return how many records at the end are no rows, what they are, and whether that is sure."""
    kinds: list[str] = []
    sure = True
    left = list(found)
    while left and not left[-1].cells:
        left.pop()
    first = [one.cells[0].strip() if one.cells else "" for one in left]
    while left:
        one = left[-1]
        said = [cell.strip() for cell in one.cells if cell.strip()]
        if not said:
            kinds.append("empty")
        elif any(TOTAL.match(cell) for cell in said[:2]):
            kinds.append("total")
        elif len(one.cells) < width or (usual > 2 and len(said) == 1 and not typed(said[0])):
            kinds.append("note")
        elif (
            usual > 2
            and not first[len(left) - 1]
            and all(first[: len(left) - 1])
            and (5 * len(said) < 3 * usual and all(map(typed, said)))
        ):
            kinds.append("total")
            sure = False
        else:
            break
        left.pop()
    return len(kinds), kinds[::-1], sure


# All of it


def in_text(
    opened: Callable[[], BinaryIO],
    name: str,
    said: FileLayout,
    watch: Callable[[], None] = lambda: None,
) -> Found:
    """Return how the table of a text lies in it; `opened` opens it from its beginning."""
    if said.encoding is not None:
        scanned = Scanned(said.encoding, "You chose it.")
    else:
        scanned = tell_encoding(opened(), watch)
    encoding = FileLayout(encoding=scanned.encoding)
    head = utf8_lines(opened(), name, encoding).read(HEAD).removeprefix(BOM)
    tail, count = _tail(utf8_lines(opened(), name, encoding))
    text = head.decode("utf-8", "ignore")
    if len(head) >= HEAD:
        text = text[: text.rfind("\n") + 1]
    if said.delimiter is None:
        separator = likely_separator(text, name)
    else:
        separator = choose_separator(b"", name, said.delimiter)
    first = records(text, separator)
    last = records(tail.decode("utf-8", "ignore"), separator, count - tail.count(b"\n"))
    found = _found(first, last, said)
    layout = found.layout.but(encoding=scanned.encoding)
    above = text.splitlines(keepends=True)[layout.above :]
    needed = said.delimiter or choose_separator("".join(above).encode(), name, None) != separator
    spelled = "tab" if separator == "\t" else separator
    why, sure = f"It divides most lines into {_widest(first)} cells.", True
    if said.delimiter is not None:
        why = "You chose it."
    elif (held := _held(first)) is not None:
        sure, needed = False, True
        why = f"The table has one column, and most of its cells have {held}."
    assumed = (
        Assumption(
            *("encoding", scanned.encoding or "utf-8", scanned.why, scanned.sure),
            needed=scanned.encoding is not None,
            choices=ENCODINGS,
        ),
        Assumption("delimiter", spelled, why, sure, needed=bool(needed), choices=CHOICES),
    )
    if needed:
        layout = layout.but(delimiter=spelled)
    return Found(layout, (*assumed, *found.assumed), found.first, found.last)


def _widest(found: Sequence[FileRecord]) -> int:
    return Counter(len(one.cells) for one in found).most_common(1)[0][0] if found else 0


def _held(found: Sequence[FileRecord]) -> str | None:
    """Return which possible separator the cells of a table of one column have, if most have it."""
    filled = [one.cells[0] for one in found if one.filled]
    if not filled or any(len(one.cells) > 1 for one in found):
        return None
    common = max(POSSIBLE, key=lambda sign: sum(sign in cell for cell in filled))
    if 2 * sum(common in cell for cell in filled) <= len(filled):
        return None
    return POSSIBLE[common]


def _tail(source: BinaryIO) -> tuple[bytes, int]:
    """Return the last whole lines of a text, and the number of the line after them."""
    kept, lines, cut = b"", 1, False
    while more := source.read(PART):
        lines += more.count(b"\n")
        cut |= len(kept) + len(more) > HEAD
        kept = (kept + more)[-HEAD:]
    kept = kept[kept.find(b"\n") + 1 :] if cut else kept.removeprefix(BOM)
    if kept and not kept.endswith(b"\n"):
        return kept + b"\n", lines + 1
    return kept, lines


def in_sheets(book: Book, said: FileLayout) -> Found:
    """Return which sheet of a file has a table, and how it lies in it."""
    tables: dict[str, list[FileRecord]] = {}
    for name in book.sheets if said.sheet is None else [said.sheet]:
        lines = book.lines(book.chosen(name))
        while lines and not any(lines[-1]):
            lines.pop()
        tables[name] = [
            FileRecord(at, 1, tuple(one) if any(one) else ()) for at, one in enumerate(lines, 1)
        ]
    good = [name for name, some in tables.items() if sum(one.filled > 1 for one in some) > 1]
    chosen = good[0] if good else next(iter(tables))
    found = _found(tables[chosen], tables[chosen], said)
    if said.sheet is not None:
        why = "You chose it."
    elif len(good) > 1:
        why = f"It is the first of {len(good)} sheets that have a table."
    else:
        why = "It is the only sheet that has a table."
    needed = chosen != book.sheets[0] or said.sheet is not None
    names = tuple(book.sheets)
    sheet = Assumption("sheet", chosen, why, len(good) < 2 or said.sheet is not None, needed=needed)
    assumed = (sheet,) if len(names) > 1 else ()
    spans = len(book.merged(chosen))
    if spans:
        why = (
            f"{spans:,} cells span several lines. Shoal gives its value to every row that it spans."
        )
        assumed = (*assumed, Assumption("merged", spans, why, needed=False))
    layout = found.layout.but(sheet=chosen if needed else None)
    return Found(layout, (*assumed, *found.assumed), found.first, found.last, names)


def _found(first: Sequence[FileRecord], last: Sequence[FileRecord], said: FileLayout) -> Found:
    """Return where names and rows stand, given the first and the last records."""
    at, lines, sure = names_at(first)
    if said.header_row is not None:
        at = next((place for place, one in enumerate(first) if one.number >= said.header_row), 0)
        lines, sure = said.header_lines or 1, True
    lines = said.header_lines or lines
    names, body = first[at : at + lines], [one for one in first[at + lines :] if one.filled]
    number = names[0].number if names else 1
    filled = sorted(one.filled for one in body)
    usual = filled[len(filled) // 2] if filled else 0
    after = names[-1].number if names else 0
    ends = [one for one in last if one.number > after]
    count, kinds, certain = rows_end(ends, usual, max((len(one.cells) for one in names), default=0))
    while ends and not ends[-1].cells:
        ends.pop()
    below = sum(one.lines for one in ends[len(ends) - count :]) if count else 0
    if said.skip_last is not None:
        below, kinds, certain = said.skip_last, ["line"] * said.skip_last, True
    mended = any(_lacks(one) or one.filled < len(one.cells) for one in names[-1:]) or any(
        len(one.cells) > len(names[-1].cells) for one in body[:1] if names
    )
    needed = number > 1 or lines > 1 or mended or said.header_row is not None
    assumed = [
        Assumption("header_row", number, _why_names(number, sure=sure), sure, needed=needed),
        Assumption("header_lines", lines, _why_lines(lines), needed=lines > 1),
        Assumption("skip_last", below, _why_below(kinds), certain, needed=below > 0),
    ]
    layout = said.but(
        header_row=number if needed else said.header_row,
        header_lines=lines if lines > 1 else said.header_lines,
        skip_last=below or said.skip_last,
    )
    end = ends[-1].number + ends[-1].lines if ends else 0
    shown = [_line(one, number, names) for one in first[: at + lines + SHOWN]]
    final = [
        _line(one, number, names, below=one.number >= end - below)
        for one in ends[-(count + SHOWN_LAST) :]
        if one.number > (shown[-1].number if shown else 0)
    ]
    shown = [
        one
        if one.number < end - below or one.number <= after
        else FileLine(one.number, "below", one.cells)
        for one in shown
    ]
    return Found(layout, tuple(assumed), tuple(shown), tuple(final))


def _line(
    one: FileRecord, number: int, names: Sequence[FileRecord], *, below: bool = False
) -> FileLine:
    if one in names:
        return FileLine(one.number, "names", one.cells)
    if not one.filled:
        return FileLine(one.number, "empty", one.cells)
    kind = "above" if one.number < number else "below" if below else "row"
    return FileLine(one.number, kind, one.cells)  # type: ignore[arg-type]


def _why_names(number: int, *, sure: bool) -> str:
    if not sure:
        return f"Line {number} looks like a row: check that it names the columns."
    if number == 1:
        return "Line 1 names the columns."
    return f"Line {number} names the columns. The lines above it are titles, notes or empty."


def _why_lines(lines: int) -> str:
    return "Two lines name the columns together." if lines > 1 else "One line names the columns."


def _why_below(kinds: Sequence[str]) -> str:
    if not kinds:
        return "The last line is a row."
    words = {"total": "a total", "note": "a note", "empty": "empty", "line": "no row"}
    said = [words[one] for one in dict.fromkeys(kinds)]
    count = "The last line is" if len(kinds) == 1 else f"The last {len(kinds)} lines are"
    listed = said[0] if len(kinds) == 1 else "no rows (" + ", ".join(said) + ")"
    return f"{count} {listed}."
