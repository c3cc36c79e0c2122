"""Columns as files give them: which lines name them, what is missing, and held in little memory.

A column of text that repeats its cells is held as a dictionary (Categorical, 4 bytes a row); one
whose cells are nearly all different stays text, because a dictionary would only add to it.

A file is read as it is said here and never as it looks: what a file looks like is proposed by
`shoal.inspection.assuming`, for its owner to see. Where a line of names is said, columns without
a name get one, and names that stand twice are told apart; where none is said, such a file is
refused.
"""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self, TypedDict, Unpack

import numpy as np
import polars as pl

from shoal.errors import UnknownColumn, UsageError, option

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import BinaryIO

    from numpy.typing import NDArray

HELD_AS = "held as "  # before the name of a type that Polars does not have
BEYOND = "times before the year 1 or after the year 9999"
MOST_LINES = 1_000_000  # lines that may be skipped
HEAD = 2**16  # bytes that are read at a time while lines are skipped
UNIQUE = 0.9  # of the rows have a cell of their own: a dictionary no longer pays
ENOUGH = 2**20  # rows after which that is judged; cells that repeat seldom seem unique before


class Gathered:
    """A table in the making: batches come in, columns go out."""

    def __init__(self, *, lean: bool) -> None:
        self.lean = lean
        self.parts: dict[str, list[pl.Series]] = {}
        self.kinds: dict[str, pl.DataType] = {}

    def add(self, batch: pl.DataFrame) -> None:
        """Take the next rows."""
        if self.lean:
            for name, kind in batch.schema.items():
                if kind == pl.String and name not in self.kinds:
                    self.kinds[name] = pl.Categorical(pl.Categories.random())
            # In one call, so that columns are cast side by side.
            batch = batch.with_columns(pl.col(name).cast(kind) for name, kind in self.kinds.items())
        for column in batch:
            parts = self.parts.setdefault(column.name, [])
            parts.append(column)
            if is_dictionary(column) and not self._pays(parts):
                self.kinds[column.name] = pl.String()
                parts[:] = [part.cast(pl.String) for part in parts]

    @staticmethod
    def _pays(parts: list[pl.Series]) -> bool:
        rows = sum(map(len, parts))
        return rows < ENOUGH or top_code(parts[-1]) < UNIQUE * rows

    def table(self, header: Sequence[str], rows: int) -> pl.DataFrame:
        """Return all rows; a column of the header that never came has its name and no cells."""
        columns, nothing = [], pl.repeat(None, rows, dtype=pl.Null, eager=True)
        for name in header:
            parts = self.parts.pop(name, None)
            if parts is None:
                columns.append(nothing.alias(name))
            else:
                columns.append(pl.concat(parts, rechunk=False))  # no second copy
        return pl.DataFrame(columns)


def is_dictionary(column: pl.Series) -> bool:
    """Return whether the cells of a column are held once each."""
    return isinstance(column.dtype, pl.Categorical)


def top_code(column: pl.Series) -> int:
    """Return the largest code of a column that is held as codes; -1 where all cells are missing."""
    top = column.to_physical().max()
    assert top is None or isinstance(top, int)
    return -1 if top is None else top


def distinct(column: pl.Series) -> tuple[pl.Series, NDArray[np.int32]]:
    """Return the distinct cells of a dictionary, missing as one, and each row's place there."""
    cells = column.unique()
    missing = top_code(cells) + 1
    places = np.empty(missing + 1, np.int32)
    known, rows = (one.to_physical().cast(pl.UInt32).fill_null(missing) for one in (cells, column))
    places[known.to_numpy()] = np.arange(len(cells), dtype=np.int32)
    return cells, places[rows.to_numpy()]


def change_text(column: pl.Series, change: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Change the cells of a column of text, each by itself; a dictionary stays one."""
    if not is_dictionary(column):
        return change(column)
    cells, places = distinct(column)
    changed = change(cells.cast(pl.String))
    return changed.cast(pl.Categorical(pl.Categories.random())).gather(places)


def without_cells(table: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return a table whose named columns keep their place and have no cells."""
    nothing = pl.repeat(None, table.height, dtype=pl.Null, eager=True)
    return table.with_columns(nothing.alias(name) for name in names)


class Handed:
    """A table that is handed over: whoever takes it holds it alone and can let go of its cells."""

    def __init__(self, table: pl.DataFrame) -> None:
        self._held = [table]

    def take(self) -> pl.DataFrame:
        """Return the table, once."""
        return self._held.pop()

    def give(self, table: pl.DataFrame, carried: Collection[str]) -> object:  # noqa: ARG002
        """Return a published table as what was read is given back: as Polars."""
        return table


class Reads(TypedDict, total=False):
    """What can be said of how a file is read: the fields of a `FileLayout`."""

    sheet: str | None
    delimiter: str | None
    encoding: str | None
    header_row: int | None
    header_lines: int | None
    skip_last: int | None
    missing_codes: Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class FileLayout:
    """How a file is read.

    Attributes
    ----------
    sheet : of a file with several; None for its first one.
    delimiter : what separates the cells of text; None for what the line of names has most of.
    encoding : of text; None for UTF-8.
    header_row : the line, from 1, in which columns are named; None for the first one.
    header_lines : in how many lines they are; None for one.
    skip_last : how many lines at the end are not rows, for example totals and notes.
    missing_codes : for some columns the cells that mean missing.
    """

    sheet: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    header_row: int | None = None
    header_lines: int | None = None
    skip_last: int | None = None
    missing_codes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise where a number of lines is none; take codes as they are written."""
        for name, least in (("header_row", 1), ("header_lines", 1), ("skip_last", 0)):
            said = getattr(self, name)
            if said is not None and not least <= said <= MOST_LINES:
                most = f"{MOST_LINES:,}"
                msg = f"{option(name)} takes a whole number from {least} to {most}. Got {said}."
                raise UsageError(msg)
        codes = {name: read_codes(name, said) for name, said in (self.missing_codes or {}).items()}
        object.__setattr__(self, "missing_codes", codes)

    @property
    def named(self) -> bool:
        """Whether somebody has said in which lines columns are named."""
        return self.header_row is not None or self.header_lines is not None

    @property
    def above(self) -> int:
        """How many lines stand above the names."""
        return (self.header_row or 1) - 1

    @property
    def below(self) -> int:
        """How many lines at the end are no rows."""
        return self.skip_last or 0

    @property
    def lines(self) -> int:
        """In how many lines columns are named."""
        return self.header_lines or 1

    def but(self, **changes: Unpack[Reads]) -> Self:
        """Return it with some changes."""
        return replace(self, **changes)

    def refuse_lines(self, what: str) -> None:
        """Raise where lines are spoken of that a table does not have."""
        for name in ("header_row", "header_lines", "skip_last"):
            if getattr(self, name) is not None:
                msg = f"{what}, so it has no title lines or notes to skip. Omit {option(name)}."
                raise UsageError(msg)

    def emptied(self, table: pl.DataFrame, header: Sequence[str] | None = None) -> pl.DataFrame:
        """Return a table in which codes that mean missing are missing cells.

        `header` are the columns that the whole table has, where this is a part of it.
        """
        for name in self.missing_codes:
            if name not in (table.columns if header is None else header):
                raise UnknownColumn(name, table.columns if header is None else header)
        return table.with_columns(
            without_codes(table[name], codes)
            for name, codes in self.missing_codes.items()
            if name in table.columns
        )


def read_codes(column: str, said: object) -> tuple[str, ...]:
    """Return the codes of a column, from a list or from a text with commas between them.

    >>> read_codes("age", "999, n/a"), read_codes("age", ["1,5"])
    (('999', 'n/a'), ('1,5',))
    """
    many = said.split(",") if isinstance(said, str) else said
    if not isinstance(many, list | tuple) or not all(isinstance(one, str) for one in many):
        msg = f"{option('missing_codes')} of column {column!r} takes texts. Got {said!r}."
        raise UsageError(msg)
    return tuple(dict.fromkeys(one.strip() for one in many if one.strip()))


def without_codes(column: pl.Series, codes: Sequence[str]) -> pl.Series:
    """Return a column whose cells that are one of some codes are missing; blanks do not count.

    >>> without_codes(pl.Series(["31", " n/a", "999"]), ("n/a", "999")).to_list()
    ['31', None, None]
    >>> without_codes(pl.Series([31.5, 999.0]), ("999",)).to_list()
    [31.5, None]
    """

    def emptied(cells: pl.Series) -> pl.Series:
        coded = cells.str.strip_chars().is_in(list(codes)).fill_null(value=False)
        return cells.zip_with(~coded, pl.Series([None], dtype=pl.String)).alias(cells.name)

    if column.dtype == pl.String or is_dictionary(column):
        return change_text(column, emptied).alias(column.name)
    if column.dtype.is_numeric():
        numbers = pl.Series(list(codes), dtype=pl.String).cast(pl.Float64, strict=False)
        coded = column.cast(pl.Float64).is_in(numbers.drop_nulls().implode())
        return column.set(coded.fill_null(value=False), None)
    coded = column.cast(pl.String).is_in(list(codes)).fill_null(value=False)
    return pl.DataFrame({"cells": column, "coded": coded}).select(
        pl.when(~pl.col("coded")).then(pl.col("cells")).alias(column.name)
    )[column.name]


def column_names(lines: Sequence[Sequence[str]], width: int = 0) -> list[str]:
    """Return the names of columns from the lines that name them, one for each, no two alike.

    The lowest line names a column. Where two share a name, or it is empty, the line above helps,
    whose cells reach to the right until the next one. What then has no name gets its place, and
    what stands twice a number.

    >>> column_names([["Patient", "", "Stay", ""], ["Id", "Age", "Days", ""]])
    ['Id', 'Age', 'Days', 'column 4']
    >>> column_names([["", "Admitted", "", "Discharged", ""], ["case", "on", "ward", "on", "ward"]])
    ['case', 'Admitted on', 'Admitted ward', 'Discharged on', 'Discharged ward']
    """
    width = max(width, *map(len, lines))
    rows = [
        [" ".join(one.split()) for one in (*line, *[""] * (width - len(line)))] for line in lines
    ]
    names = rows[-1]
    for line in reversed(rows[:-1]):
        reaching, above = "", []
        for own, below in zip(line, names, strict=True):
            reaching = own or (reaching if below else "")
            above.append(reaching)
            reaching = reaching if below else ""  # it stands for a column alone
        counts = Counter(names)
        names = [
            f"{upper} {lower}".strip() if counts[lower] > 1 and upper != lower else lower or upper
            for upper, lower in zip(above, names, strict=True)
        ]
    named = [one or f"column {place}" for place, one in enumerate(names, 1)]
    taken: Counter[str] = Counter()
    for place, one in enumerate(named):
        taken[one] += 1
        made = one
        while taken[one] > 1 and made in named:
            made = f"{one} {taken[one]}"
            taken[one] += made in named
        named[place] = made
    return named


class Within(io.RawIOBase):
    """The lines of a text from one line on, without some at its end; empty ones there are none."""

    def __init__(self, source: BinaryIO, above: int, below: int) -> None:
        self.source, self.above, self.below = source, above, below
        self.held = b""
        self.begun = self.ended = False

    def read(self, size: int = -1) -> bytes:
        """Return more of the text, nothing at its end; about as much as was asked for."""
        if not self.begun:
            self._begin()
        while not self.ended:
            more = self.source.read(size)
            self.ended = not more
            self.held += more
            known = self.held.rstrip(b"\r\n")
            cut = len(self.held) if not self.below else len(known)
            for _ in range(self.below):
                cut = known.rfind(b"\n", 0, cut)
                if cut < 0:
                    break
            given = self.held[: max(cut, 0)]
            self.held = b"" if self.ended else self.held[len(given) :]
            if given:
                return given
        return b""

    def _begin(self) -> None:
        """Leave out the lines above."""
        self.begun, left = True, self.above
        while left and (more := self.source.read(HEAD)):
            found = more.count(b"\n")
            if found < left:
                left -= found
                continue
            at = 0
            while left:
                at = more.index(b"\n", at) + 1
                left -= 1
            self.held = more[at:]


def unheld(kind: pl.DataType) -> str | None:
    """Return the name of a foreign type whose cells are held as text; None for any other type."""
    if isinstance(kind, pl.Struct) and len(kind.fields) == 1:
        name = kind.fields[0].name
        return name.removeprefix(HELD_AS) if name.startswith(HELD_AS) else None
    return None
