"""The first and last lines of a file, each cell as it stands there and as it is read."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import polars as pl

from shoal.inspection.assumed import FileLine, Found
from shoal.inspection.found_lines import NUMBERS, SHOWN
from shoal.table.dates import iso_column

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_COLUMNS = 60  # that are shown of a wide table
NO_TIME = r" 00:00:00(\.0+)?$"  # of a day in a sheet
LONGEST = 60  # characters that are shown of a cell


@dataclass(frozen=True)
class ShownCell:
    """A cell as it stands in the file, and as it is read: None where it is missing."""

    raw: str
    read: str | None


@dataclass(frozen=True)
class ShownLine:
    """A line of the file; what is no row has its text alone."""

    number: int
    kind: str
    cells: tuple[ShownCell, ...]


@dataclass(frozen=True)
class Preview:
    """What is shown of a table: names, lines with a gap of so many rows, columns of numbers."""

    rows: int
    columns: tuple[str, ...]
    numbers: tuple[bool, ...]
    first: tuple[ShownLine, ...]
    last: tuple[ShownLine, ...]
    more_rows: int
    more_columns: int

    def to_dict(self) -> dict[str, object]:
        """Return it as plain values."""
        return asdict(self)


def previewed(found: Found, table: pl.DataFrame) -> Preview:
    """Return the first and last lines of a file, and what was read of them."""
    names = tuple(table.columns[:MOST_COLUMNS])
    first, last = found.first, found.last
    if not first:  # a table by itself, whose lines have no other form
        first = _as_lines(table)
    count = sum(one.kind == "row" for one in first)
    after = sum(one.kind == "row" for one in last)
    spelled = {
        way.column: way.text for way in found.assumed if way.key == "date_format" and way.text
    }
    head = _read(table.select(names).head(count), spelled)
    tail = _read(table.select(names).tail(after), spelled)
    shown = list(zip(*head, strict=True)) or [()] * len(names)
    return Preview(
        rows=table.height,
        columns=names,
        numbers=tuple(
            any(cells) and all(NUMBERS.match(cell) for cell in cells if cell is not None)
            for cells in shown
        ),
        first=_lines(first, head, names),
        last=_lines(last, tail, names),
        more_rows=max(table.height - count - after, 0),
        more_columns=table.width - len(names),
    )


def _as_lines(table: pl.DataFrame) -> tuple[FileLine, ...]:
    some = table.head(SHOWN).select(pl.all().cast(pl.String, strict=False)).rows()
    rows = [
        FileLine(at, "row", tuple("" if cell is None else cell for cell in row))
        for at, row in enumerate(some, 1)
    ]
    return FileLine(0, "names", tuple(table.columns)), *rows


def _read(some: pl.DataFrame, days: dict[str, str]) -> list[tuple[str | None, ...]]:
    """Return rows as they are read: numbers are plain, dates as ISO 8601 writes them."""
    columns = [
        iso_column(column, days[column.name]).cast(pl.String)
        if column.name in days
        else column.cast(pl.String, strict=False).str.replace(NO_TIME, "")
        for column in some
    ]
    return pl.DataFrame(columns).rows() if columns else []


def _lines(
    lines: Sequence[FileLine], rows: Sequence[tuple[str | None, ...]], names: Sequence[str]
) -> tuple[ShownLine, ...]:
    """Return lines with what is read of each; those that are rows stand in the order of `rows`."""
    made, left = [], list(rows)
    for line in lines:
        raw = [_short(cell) for cell in line.cells[: len(names)]]
        raw += [""] * (len(names) - len(raw))
        read: list[str | None] = [*names] if line.kind == "names" else [*raw]
        if line.kind == "row" and left:
            read = [None if cell is None else _short(cell) for cell in left.pop(0)]
        cells = tuple(map(ShownCell, raw, read))
        made.append(ShownLine(line.number, line.kind, cells))
    return tuple(made)


def _short(cell: str) -> str:
    return cell if len(cell) <= LONGEST else cell[: LONGEST - 1] + "…"
