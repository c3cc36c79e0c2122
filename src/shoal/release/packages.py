"""Files of Stata and SPSS: names, labels and types as those programs take them, read back.

A column of labels becomes codes with value labels, of the labels that occur and no others; where
a program cannot hold them as labels, they stay text. What was written is read again and compared.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.errors import OutputError, UsageError
from shoal.table.files import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MOST_LABELS = 1_000  # labels of a column that become codes; beyond them it is text
DIGITS = 15  # that a double keeps of every decimal number
# Where the heads of both files say when they were written.
DTA_TIME = re.compile(rb"(?<=<timestamp>\x11)[^<]{17}(?=</timestamp>)")
SAV_TIME = slice(92, 109)
WORDS = (
    "all and by eq ge gt le lt ne not or to with byte double float if in int long using strl "
    "_all _b _coef _cons _n _pi _pred _rc _skip"
)
RESERVED = frozenset(WORDS.split(" "))


@dataclass(frozen=True)
class Package:
    """What a program takes: the longest names in characters, and labels and texts in bytes."""

    name: str
    ending: str
    longest_name: int
    longest_label: int
    longest_text: int
    longest_title: int  # of a column, and of the file
    numbered: bool  # whether labels of codes are called by their column's name and their number


PACKAGES = {
    one.ending: one
    for one in (
        Package("Stata", ".dta", 32, 32_000, 2_045, 80, numbered=True),
        Package("SPSS", ".sav", 32, 120, 32_767, 120, numbered=False),
    )
}


@dataclass(frozen=True, eq=False)
class Labelled:
    """A table as a program holds it: cells, the labels of codes, and what columns were called."""

    cells: pl.DataFrame
    labels: dict[str, dict[int, str]]
    titles: dict[str, str]


def package_of(path: Path) -> Package:
    """Return the program whose files a name ends as, or raise."""
    found = PACKAGES.get(path.suffix.lower())
    if found is None:
        msg = f"Files of Stata and SPSS end in {' or '.join(PACKAGES)}. Got {path.name!r}."
        raise UsageError(msg)
    return found


def packaged(table: pl.DataFrame, package: Package, title: str) -> bytes:
    """Return a table as the bytes of a file, which was read again and holds what it has to."""
    library = load("pyreadstat", extra="statistics", what=f"Writing {package.name}")
    coded = code(table, package)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / f"table{package.ending}"
        write, read = (
            getattr(library, f"{verb}_{package.ending[1:]}") for verb in ("write", "read")
        )
        try:
            write(
                coded.cells,
                path,
                file_label=_cut(title, package.longest_title),
                column_labels=coded.titles,
                variable_value_labels=coded.labels,
            )
            path.write_bytes(_timeless(path.read_bytes(), package))
            found, said = read(path, output_format="polars")
        except (library.ReadstatError, library.PyreadstatError) as problem:
            msg = f"The release cannot be written for {package.name} ({problem})."
            raise OutputError(msg) from None
        _compare(coded, found, said, package)
        return path.read_bytes()


def _timeless(written: bytes, package: Package) -> bytes:
    """Return a file whose head does not say when it was written: times are private."""
    if package.ending == ".dta":
        return DTA_TIME.sub(b"01 Jan 2000 00:00", written, count=1)
    own = bytearray(written)
    own[SAV_TIME] = b"01 Jan 0000:00:00"
    return bytes(own)


def code(table: pl.DataFrame, package: Package) -> Labelled:
    """Return a table with the names, types and codes that a program takes."""
    plains = [_plain(column) for column in table]
    texts = [plain.dtype == pl.String for plain in plains]
    room = len(str(sum(texts))) if package.numbered else 0
    names = valid_names(table.columns, [package.longest_name - room * text for text in texts])
    cells, labels = [], {}
    for name, column, old in zip(names, plains, table.columns, strict=True):
        plain = column.alias(name)
        if plain.dtype == pl.String:
            known = plain.unique().drop_nulls().sort()
            longest = max(known.str.len_bytes(), default=0)
            if len(known) <= MOST_LABELS and longest <= package.longest_label:
                codes = {label: place for place, label in enumerate(known, 1)}
                labels[name] = {place: label for label, place in codes.items()}
                plain = plain.replace_strict(codes, default=None, return_dtype=pl.Float64)
            elif longest > package.longest_text:
                msg = (
                    f"Cells of {old!r} are longer than the {package.longest_text:,} bytes "
                    f"that {package.name} takes. Leave the column out, or use the CSV file."
                )
                raise UsageError(msg)
        cells.append(plain)
    shown = {
        name: _cut(old, package.longest_title)
        for name, old in zip(names, table.columns, strict=True)
    }
    return Labelled(pl.DataFrame(cells), labels, shown)


def valid_names(names: Iterable[str], most: Iterable[int]) -> list[str]:
    """Return names as programs take them, of so many characters each, once whatever their case.

    >>> valid_names(["age", "Kosten (EUR)", "AGE", "2024", "by"], [32] * 5)
    ['age', 'Kosten_EUR', 'AGE_2', 'v_2024', 'by_']
    """
    found: list[str] = []
    for name, longest in zip(names, most, strict=True):
        own = re.sub(r"[^0-9A-Za-z\u00c0-\u024f]+", "_", name).strip("_") or "v"
        own = own if own[0].isalpha() else f"v_{own}"
        own = f"{own}_" if own.lower() in RESERVED else own
        known, number, tried = {one.lower() for one in found}, 1, own[:longest]
        while tried.lower() in known:
            number += 1
            tried = f"{own[: longest - 1 - len(str(number))]}_{number}"
        found.append(tried)
    return found


def _plain(column: pl.Series) -> pl.Series:
    """Return a column as numbers, days, times or text."""
    kind = column.dtype
    if isinstance(kind, pl.List):
        return column.list.eval(pl.element().fill_null("missing")).list.join(" or ")
    if kind.is_numeric():
        return column.cast(pl.Float64) if _is_double(column) else column.cast(pl.String)
    if kind == pl.Date or (kind == pl.Datetime and not column.dt.nanosecond().any()):
        return column
    return column.cast(pl.String)


def _is_double(column: pl.Series) -> bool:
    """Return whether a double keeps every number of a column, as it is spelled."""
    if column.dtype.is_float():
        return True
    texts = column.drop_nulls().cast(pl.String).str.replace_all(r"^-?0*|\.", "")
    return max(texts.str.len_chars(), default=0) <= DIGITS


def _cut(text: str, longest: int) -> str:
    return text.encode()[:longest].decode(errors="ignore")


def _compare(coded: Labelled, found: pl.DataFrame, said: Any, package: Package) -> None:
    """Raise where what was read again is not what was written."""
    labels = {
        name: {int(place): label for place, label in own.items()}
        for name, own in said.variable_value_labels.items()
    }
    titles = dict(zip(said.column_names, said.column_labels, strict=True))
    same: list[Callable[[], bool]] = [
        lambda: found.columns == coded.cells.columns and found.height == coded.cells.height,
        lambda: labels == {name: own for name, own in coded.labels.items() if own},
        lambda: titles == coded.titles,
        lambda: all(_same(one, found[one.name]) for one in coded.cells),
    ]
    if not all(one() for one in same):
        msg = (
            f"The file for {package.name} was read again and does not hold what the release does, "
            "so it was not kept. Use the CSV file."
        )
        raise OutputError(msg)


def _same(written: pl.Series, read: pl.Series) -> bool:
    """Return whether two columns hold the same cells; a missing text is read as an empty one."""
    if written.dtype == pl.String:
        return written.fill_null("").equals(read.cast(pl.String).fill_null(""))
    if written.dtype == pl.Datetime:  # seconds as a double, which are whole
        read = read.cast(written.dtype).dt.round("1s")
    return written.equals(read.cast(written.dtype), null_equal=True)
