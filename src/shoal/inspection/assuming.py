"""Opening a file as it is: how its table lies in it, and what its cells are written with.

Everything that is assumed is returned with its reason, for the owner to see; what the owner has
said is taken. Nothing is guessed where nobody looks: `anonymize` reads a table as it is said.
"""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Unpack, cast

import polars as pl

from shoal.errors import InputError
from shoal.inspection import marks
from shoal.inspection.assumed import Assumption, Found
from shoal.inspection.found_lines import NUMBERS, TOTAL, in_sheets, in_text
from shoal.inspection.shown_lines import Preview, previewed
from shoal.inspection.suspect import TEXTS
from shoal.progress import Brief, Progress, silent
from shoal.table.columns import FileLayout, Reads
from shoal.table.dates import iso_column
from shoal.table.decimals import plain_numbers
from shoal.table.files import EXCEL, EXCEL_97, GZIP, HEAD, is_delimited
from shoal.table.reading import Source, one_file, read_lean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import BinaryIO

NAMED_TOTALS = 5  # rows that look like totals and are named, of as many as there are


@dataclass(frozen=True, eq=False, repr=False)
class Opened(Brief):
    """A table as it was read, and what was assumed to read it so."""

    _brief = ("table", "assumed")

    table: pl.DataFrame
    found: Found
    decimal: str | None = None
    days: Mapping[str, str] = field(
        default_factory=dict
    )  # how the owner says that dates are written

    @property
    def layout(self) -> FileLayout:
        """How it was read."""
        return self.found.layout

    @property
    def assumed(self) -> tuple[Assumption, ...]:
        """What was assumed, what is doubtful first."""
        return tuple(sorted(self.found.assumed, key=lambda one: one.sure))

    @property
    def needed(self) -> dict[str, object]:
        """What has to be said for the table to be read so, by option."""
        plain = {one.key: one.value for one in self.found.assumed if one.needed and not one.column}
        codes = {name: list(some) for name, some in self.layout.missing_codes.items() if some}
        return {key: one for key, one in plain.items() if one is not None} | (
            {"missing_codes": codes} if codes else {}
        )

    @property
    def preview(self) -> Preview:
        """Its first and last lines, as they stand in the file and as they were read."""
        return previewed(self.found, self.plain)

    @property
    def plain(self) -> pl.DataFrame:
        """The table with its numbers spelled plainly, and dates as the owner says they are."""
        table = plain_numbers(self.table, self.table.columns, self.decimal)
        return table.with_columns(iso_column(table[name], way) for name, way in self.days.items())


def open_table(
    source: Source,
    *,
    query: str | None = None,
    decimal: str | None = None,
    days: Mapping[str, str] | None = None,
    progress: Progress = silent,
    **said: Unpack[Reads],
) -> Opened:
    """Read a table, and say what was assumed of it.

    Parameters
    ----------
    source, query : where the table is, as for `read_table`.
    decimal : the decimal sign, where the owner has said it.
    days : how some columns write dates, where the owner has said it.
    progress : told which share of the file has been looked at and read.
    said : the fields of a `FileLayout` that the owner has said.
    """
    told = FileLayout(**said)
    found = find_layout(source, told, progress) if query is None else Found(told)
    how = cast("Reads", vars(found.layout) | {"missing_codes": {}})
    table = read_lean(source, query=query, progress=progress, **how)
    names = _unnamed(table, found)
    signs = [*marks.signs(table)]
    codes = {**{one.column: one.codes for one in signs}, **told.missing_codes}
    table = replace(found.layout, missing_codes=codes).emptied(table)
    sign = marks.decimal_sign(table) if decimal is None else None
    chosen = decimal if sign is None else sign.text
    more = [*marks.outlying(plain_numbers(table, table.columns, chosen))]
    for one in more:
        if one.column not in told.missing_codes:
            codes[one.column] = (*codes.get(one.column, ()), *one.codes)
    layout = found.layout.but(missing_codes=codes)
    if decimal is not None:
        sign = Assumption("decimal", decimal, "You chose it.", choices=(",", "."))
    written = () if sign is None else (sign,)
    table, days = layout.emptied(table), days or {}
    dates = marks.date_ways(table, days)
    coded = _codes([*signs, *more], told)
    assumed = (*found.assumed, *names, *_totals(table), *coded, *written, *dates)
    return Opened(table, replace(found, layout=layout, assumed=assumed), chosen, days)


def find_layout(source: Source, said: FileLayout, progress: Progress = silent) -> Found:
    """Return how the table of a file lies in it; of what is no such file, what is said."""
    path = one_file(source)
    if path is None or not path.is_file():
        return Found(said)
    with path.open("rb") as raw:
        head = raw.read(len(EXCEL))
        if head.startswith((EXCEL, EXCEL_97)):
            from shoal.table.sheets import Book

            return in_sheets(Book(path.read_bytes(), path.name), said)
        size = max(path.stat().st_size, 1)

        def opened() -> BinaryIO:
            raw.seek(0)
            packed = head.startswith(GZIP)
            return cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if packed else raw

        name = path.name.removesuffix(".gz")
        try:
            if not is_delimited(opened().read(HEAD)):
                return Found(said)
            return in_text(opened, name, said, lambda: progress("scan", raw.tell() / size))
        except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
            msg = f"{path.name!r} is not a whole gzip file ({problem}). Fetch it again."
            raise InputError(msg) from None


def _codes(found: Sequence[Assumption], told: FileLayout) -> list[Assumption]:
    """Return which codes are taken for missing; where the owner has said it, what else could be."""
    own = [one for one in found if one.column not in told.missing_codes]
    for name, said in told.missing_codes.items():
        every = [*said, *(code for one in found if one.column == name for code in one.codes)]
        choices = tuple(dict.fromkeys(every))
        codes = Assumption("missing_codes", tuple(said), "You chose it.", column=name)
        own.append(replace(codes, choices=choices))
    return own


def _unnamed(table: pl.DataFrame, found: Found) -> list[Assumption]:
    """Return what is assumed of columns that the file gives no name."""
    if not found.layout.named:
        return []
    names = [line.cells for line in found.first if line.kind == "names"]
    said = {" ".join(cell.split()) for cells in names for cell in cells}
    made = []
    for place, name in enumerate(table.columns, 1):
        if name != f"column {place}" or name in said:
            continue
        count = int(table[name].is_not_null().sum())
        if count:
            why = (
                f"The column has no name. {count:,} cells have text. Free text often names people."
            )
        else:
            why = "The column has no name and no cells."
        made.append(Assumption("name", name, why, not count, needed=False, column=name))
    return made


def _totals(table: pl.DataFrame) -> list[Assumption]:
    """Return a doubt about rows that look like totals; nothing but the file leaves them out.

    One of the first two cells says so, all other cells are numbers or missing, and more of them
    are missing than is usual.
    """
    plain, says = f"(?i){TOTAL.pattern}", []
    for column in [one for one in table[:, :2] if isinstance(one.dtype, TEXTS)]:
        cells = column.unique().cast(pl.String).str.strip_chars()
        if cells.str.contains(plain).any():
            cell = pl.col(column.name).cast(pl.String).str.strip_chars()
            says.append(cell.str.contains(plain).fill_null(value=False))
    if not says:
        return []
    filled = table.select(pl.sum_horizontal(pl.all().is_not_null())).to_series()
    fewer = table.select(pl.any_horizontal(says)).to_series() & (filled < filled.median())
    found: list[tuple[str, str]] = []
    for place in fewer.arg_true():
        row = table.row(place)
        said = next(at for at, cell in enumerate(row[:2]) if TOTAL.match(str(cell).strip()))
        if all(cell is None or NUMBERS.match(str(cell).strip()) for cell in row[said + 1 :]):
            found.append((f"{place + 1:,}", str(row[said]).strip()))
    if not found:
        return []
    which = ", ".join(f"row {number} (“{said}”)" for number, said in found[:NAMED_TOTALS])
    more = f" and {len(found) - NAMED_TOTALS:,} more" if len(found) > NAMED_TOTALS else ""
    why = (
        f"Some rows look like totals: {which}{more}, counted from the first row. Shoal reads each "
        "as a row like any other. If it is a total, delete it in the file and open the file again."
    )
    return [Assumption("totals", len(found), why, sure=False, needed=False)]
