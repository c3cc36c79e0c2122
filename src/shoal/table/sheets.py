"""Tables in spreadsheets: one sheet of an Excel or OpenDocument file.

Lines are those of the sheet, empty ones included, which are no rows. A cell that is merged over
several lines is one cell of all of them, as it is shown; other merged cells stand where they begin.
"""

from __future__ import annotations

import io
import logging
import re
import zipfile
from datetime import time
from xml.etree import ElementTree as ET

import polars as pl

from shoal.errors import InputError, UsageError
from shoal.table.columns import FileLayout, column_names
from shoal.table.files import load
from shoal.table.forms import check_header

EXACT = 2**53  # up to here every integer is a double
MERGED = re.compile(rb'<mergeCell ref="([A-Z]+)([0-9]+):([A-Z]+)([0-9]+)"')
FILLED = re.compile(rb'<c r="([A-Z]+)[0-9]+"[^>]*[^/]>')
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


class Book:
    """The sheets of a file."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data, self.name = data, name
        self.library = load("fastexcel", extra="excel", what="Reading Excel")
        logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it warns of columns without cells
        try:
            self.book = self.library.read_excel(data)
        except self.library.FastExcelError:
            msg = f"{name!r} is not a whole Excel file. Fetch it again, or save it anew."
            raise InputError(msg) from None

    @property
    def sheets(self) -> list[str]:
        """The names of all sheets."""
        return list(self.book.sheet_names)

    def chosen(self, sheet: str | None) -> str:
        """Return the name of a sheet, of the first one where none is named, or raise."""
        if sheet is not None and sheet not in self.sheets:
            known = ", ".join(map(repr, self.sheets))
            msg = f"{self.name!r} has no sheet {sheet!r}. It has {known}."
            raise UsageError(msg)
        return self.sheets[0] if sheet is None else sheet

    def lines(self, sheet: str, first: int = 0, count: int | None = None) -> list[list[str]]:
        """Return lines of a sheet as text, its first one by default; empty cells are empty."""
        grid = self._load(sheet, skip_rows=first, n_rows=count, dtypes="string")
        return [[cell or "" for cell in row] for row in grid.rows()]

    def table(self, layout: FileLayout) -> pl.DataFrame:
        """Read a sheet; numbers that are all whole are integers."""
        sheet = self.chosen(layout.sheet)
        if layout.named or layout.below:
            table = self._within(sheet, layout)
        else:
            header = self._load(sheet, n_rows=1, dtypes="string")
            if not header.height:
                msg = f"Sheet {sheet!r} of {self.name!r} is empty: it has no header."
                raise InputError(msg)
            names = [cell or "" for cell in header.row(0)]
            check_header(names, self.name)
            table = self._load(sheet, header_row=0)
            first = self._first_line(sheet) if self.merged(sheet) else 0
            table = self._filled(table, sheet, first + 1)
        filled = pl.any_horizontal(pl.all().cast(pl.String).str.strip_chars().str.len_bytes() > 0)
        table = table.filter(filled) if table.width > 1 else table
        return layout.emptied(table.with_columns(_plainest(column) for column in table))

    def _within(self, sheet: str, layout: FileLayout) -> pl.DataFrame:
        named = self.lines(sheet, layout.above, layout.lines)
        if not any(map(any, named)):
            msg = f"Line {layout.above + 1} of sheet {sheet!r} of {self.name!r} is empty."
            raise InputError(msg)
        begin = layout.above + layout.lines
        count = None
        if layout.below:
            rows = self.lines(sheet, begin)
            while rows and not any(rows[-1]):
                rows.pop()
            count = max(len(rows) - layout.below, 0)
        table = self._load(sheet, skip_rows=begin, n_rows=count)
        header = (
            column_names(named, table.width) if layout.named else [one or "" for one in named[0]]
        )
        check_header(header, self.name)
        return self._filled(
            table.rename(dict(zip(table.columns, header, strict=True))), sheet, begin
        )

    def _load(self, sheet: str, **how: int | str | None) -> pl.DataFrame:
        known = {"header_row": None, "schema_sample_rows": None}
        try:
            table: pl.DataFrame = self.book.load_sheet(sheet, **known | how).to_polars()
        except self.library.FastExcelError:
            msg = f"Sheet {sheet!r} of {self.name!r} cannot be read as a table with a header."
            raise InputError(msg) from None
        return table

    def _first_line(self, sheet: str) -> int:
        """Return how many empty lines stand before everything else."""
        return next((at for at, line in enumerate(self.lines(sheet)) if any(line)), 0)

    def _filled(self, table: pl.DataFrame, sheet: str, begin: int) -> pl.DataFrame:
        """Repeat merged cells in all lines that they span; `begin` is the line of the first row."""
        columns: dict[str, pl.Series] = {}
        for column, top, bottom in self.merged(sheet):
            first, last = max(top - begin, 0), min(bottom - begin, table.height - 1)
            if top >= begin and first <= last and column < table.width:
                name = table.columns[column]
                cells = columns.get(name, table[name])
                said = cells.slice(first, 1).new_from_index(0, last - first + 1)
                columns[name] = pl.concat([cells[:first], said, cells[last + 1 :]])
        return table.with_columns(columns.values())

    def merged(self, sheet: str) -> list[tuple[int, int, int]]:
        """Return which cells span several lines: column, first and last line, all from 0."""
        text = self._xml(sheet)
        found = [one.groups() for one in MERGED.finditer(text)]
        tall = [one for one in found if one[0] == one[2] and int(one[3]) > int(one[1])]
        if not tall:
            return []
        left = min((_place(one[1]) for one in FILLED.finditer(text)), default=0)
        return [(_place(one[0]) - left, int(one[1]) - 1, int(one[3]) - 1) for one in tall]

    def _xml(self, sheet: str) -> bytes:
        """Return the text of a sheet of Excel's own format, nothing for other formats."""
        try:
            with zipfile.ZipFile(io.BytesIO(self.data)) as packed:
                book = ET.fromstring(packed.read("xl/workbook.xml"))  # noqa: S314 - expat bounds entities
                related = ET.fromstring(packed.read("xl/_rels/workbook.xml.rels"))  # noqa: S314
                known = {one.get("name"): one.get(RELATION) for one in book.iter(f"{MAIN}sheet")}
                places = {one.get("Id"): one.get("Target", "") for one in related}
                place = places[known[sheet]].removeprefix("/xl/")
                return packed.read(f"xl/{place}")
        except (KeyError, zipfile.BadZipFile, ET.ParseError, NotImplementedError):
            return b""


def _place(letters: bytes) -> int:
    """Return the place of a column from 0.

    >>> _place(b"A"), _place(b"AB")
    (0, 27)
    """
    place = 0
    for letter in letters:
        place = 26 * place + letter - 64
    return place - 1


def _plainest(column: pl.Series) -> pl.Series:
    """Return integers where all numbers are, and days where all times are midnight.

    A sheet knows doubles and times only.
    """
    if column.dtype.is_float():
        whole = (column == column.floor()) & (column.abs() <= EXACT)
        return column.cast(pl.Int64) if whole.all() else column
    if column.dtype == pl.Datetime and column.count():
        midnight = column.dt.time() == time()
        return column.cast(pl.Date) if midnight.all() else column
    return column
