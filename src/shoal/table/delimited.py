"""Delimited text: a CSV file as columns of text. Nothing here interprets a cell.

A file is read in parts that end between two records, so that memory holds its columns and never
the whole of its text.

Text in other encodings becomes UTF-8 first: whoever reads it sees no other.
"""

from __future__ import annotations

import codecs
import csv
import io
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np
import polars as pl

from shoal.errors import InputError, UsageError, option
from shoal.table.columns import FileLayout, Gathered, Within, column_names
from shoal.table.forms import check_header

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from typing_extensions import Buffer


BOM = b"\xef\xbb\xbf"
SEPARATORS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "vertical bar"}
MIXED = "mixed"  # of encodings: line by line UTF-8, or cp1252
PART = 2**23  # bytes that are parsed at a time


def read_csv(
    source: BinaryIO,
    name: str,
    separator: str = ",",
    *,
    wanted: Collection[str] | None = None,
    lean: bool = False,
    watch: Callable[[], None] = lambda: None,
    part: int = PART,
    layout: FileLayout | None = None,
) -> pl.DataFrame:
    """Read delimited text into columns of text; empty cells become null.

    Parameters
    ----------
    wanted : the columns to keep; the others keep their name and place and have no cells.
    lean : whether columns that repeat their cells become dictionaries (Categorical).
    watch : called after every part.
    part : how many bytes to parse at a time.
    layout : in which lines columns are named, and which cells mean missing. What stands above and
        below the table, the source has left out (see `utf8_lines`).
    """
    layout = layout or FileLayout()
    parts = Parts(source, name, separator, part, layout)
    gathered = Gathered(lean=lean)
    rows = 0
    for batch, count in parts.batches(wanted):
        if batch.width:
            gathered.add(layout.emptied(batch, parts.header))
        rows += count
        watch()
    return gathered.table(parts.header, rows)


class Parts:
    """The text of a file in parts that end between two records, checked, with their records.

    Nothing is given out from the first record on that is not as long as the header, but the rest
    is looked at before that is said: a quote that is never closed is the better explanation.
    """

    def __init__(
        self,
        source: BinaryIO,
        name: str,
        separator: str,
        size: int,
        layout: FileLayout | None = None,
    ) -> None:
        layout = layout or FileLayout()
        self.source, self.name, self.separator, self.size = source, name, separator, size
        self.lines = layout.above
        begun = source.read(max(size, len(BOM)))
        self.rest = begun if layout.above else begun.removeprefix(BOM)
        self._fill()
        if not self.rest.strip(b"\r\n"):
            msg = f"{name!r} is empty: it has no header."
            raise InputError(msg)
        if b"\0" in self.rest[:4096]:
            msg = f"{name!r} is not text: it has NUL bytes. Give a CSV or Parquet file."
            raise InputError(msg)
        named = [self._taken() for _ in range(layout.lines)]
        if layout.named:
            self._fill()
            self.header = column_names(named, len(self._cells(self._first_record() or self.rest)))
        else:
            (self.header,) = named
        check_header(self.header, name)

    def batches(self, wanted: Collection[str] | None) -> Iterator[tuple[pl.DataFrame, int]]:
        """Yield the wanted columns of each part, and how many rows it has; at least one part."""
        places = [at for at, name in enumerate(self.header) if wanted is None or name in wanted]
        none = True
        for text, count in self:
            none = False
            if places:
                yield _parse(text, self.header, places, self.name, self.separator), count
            else:
                yield pl.DataFrame(), count
        if none:
            yield pl.DataFrame(schema={self.header[at]: pl.String for at in places}), 0

    def _fill(self) -> None:
        """Read until the first record is known to be whole, or all is read."""
        while not self._first_record() and (
            more := self.source.read(max(self.size, len(self.rest)))
        ):
            self.rest += more

    def _taken(self) -> list[str]:
        """Return the cells of the next record, which is a line of names."""
        self._fill()
        first = self._first_record() or self.rest
        if first.count(b'"') % 2:
            raise self._unclosed()
        cells = self._cells(first)
        self.lines += first.count(b"\n")
        self.rest = self.rest[len(first) :]
        return cells

    def _cells(self, record: bytes) -> list[str]:
        self._check_encoding(record)
        lines = io.StringIO(record.decode("utf-8"), newline="")
        return next(csv.reader(lines, delimiter=self.separator), [])

    def _first_record(self) -> bytes:
        """Return the first record, nothing where it is not known to be whole."""
        end = quotes = 0
        while self.rest.strip(b"\r\n") and (at := self.rest.find(b"\n", end) + 1):
            quotes += self.rest.count(b'"', end, at)
            end = at
            if quotes % 2 == 0:
                return self.rest[:end]
        return b""

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        from shoal.kernels.text import scan_records

        found = np.zeros(5, np.int64)
        records, fields = 0, len(self.header)
        ragged = None
        last = False
        while not last:
            more = self.source.read(max(self.size - len(self.rest), len(self.rest), 1))
            last = not more
            data = (self.rest + more).rstrip(b"\r\n") if last else self.rest + more
            data, empty = self._filled(data, last=last)
            scan_records(np.frombuffer(data, np.uint8), fields, ord(self.separator), last, found)
            count, bad, cells, unclosed, end = map(int, found)
            text, self.rest = data[:end], data[end:]
            self._check_encoding(data if last else text)
            self.lines += text.count(b"\n") + empty
            if last and unclosed:
                raise self._unclosed()
            if bad >= 0 and ragged is None:
                ragged = records + bad + 1, cells
            records += count
            if count and ragged is None:
                yield text, count
        if ragged is not None:
            sign = SEPARATORS[self.separator]
            msg = (
                f"Data row {ragged[0]} of {self.name!r} has {ragged[1]} cells, the header has "
                f"{fields}. Is the file cut short, or is there a {sign} that should be in quotes? "
                "If the file has titles above its columns or notes below, shoal inspect finds them."
            )
            raise InputError(msg)

    def _filled(self, data: bytes, *, last: bool) -> tuple[bytes, int]:
        """Leave out lines in which every cell is empty; return how many there were.

        In a table of one column, such a line is a missing cell.
        """
        begins = (b"\n", b"\r", self.separator.encode())
        if len(self.header) == 1 or not (
            data.startswith(begins) or any(b"\n" + one in data for one in begins)
        ):
            return data, 0
        lines = data.split(b"\n")
        self._check_encoding(b"\n".join(lines if last else lines[:-1]))  # which names the line
        kept, within = [], False
        for at, line in enumerate(lines, 1):
            whole = last or at < len(lines)
            if within or line.strip(begins[1] + begins[2]) or not whole:
                kept.append(line)
                within ^= line.count(b'"') % 2 > 0
        return b"\n".join(kept), len(lines) - len(kept)

    def _unclosed(self) -> InputError:
        return InputError(
            f"{self.name!r} ends inside a quoted cell: the file is cut short or a quote is missing."
        )

    def _check_encoding(self, text: bytes) -> None:
        """Raise where a part is not UTF-8; it ends at a line break, never inside a character."""
        try:
            text.decode("utf-8")
        except UnicodeDecodeError as problem:
            line = self.lines + text.count(b"\n", 0, problem.start) + 1
            msg = (
                f"{self.name!r} is not UTF-8: byte 0x{text[problem.start]:02x} in line {line}. "
                f"Name it, for example {option('encoding', 'latin-1')} or cp1252, or save it as "
                "UTF-8."
            )
            raise InputError(msg) from None


def _parse(
    text: bytes, header: list[str], places: list[int], name: str, separator: str
) -> pl.DataFrame:
    try:
        return pl.read_csv(
            BOM + text
            if text.startswith(BOM)
            else text,  # Polars takes one away, here a cell's own
            has_header=False,
            separator=separator,
            schema=dict.fromkeys(header, pl.String),
            columns=places,
            null_values="",
        )
    except (pl.exceptions.PolarsError, OSError) as problem:
        msg = f"{name!r} cannot be read as CSV: {str(problem).splitlines()[0]}"
        raise InputError(msg) from None


def check_encoding(encoding: str) -> str:
    """Return an encoding of text that is known, or raise."""
    try:
        if encoding != MIXED:
            "".encode(str(encoding))
    except (LookupError, UnicodeError, ValueError):
        msg = (
            f"{option('encoding')} takes the name of an encoding, for example latin-1, cp1252 "
            f"or utf-16, or {MIXED} if some lines are UTF-8 and others cp1252. Got "
            f"{encoding!r}."
        )
        raise UsageError(msg) from None
    return encoding


class _Mixed(codecs.BufferedIncrementalDecoder):
    """Lines of UTF-8, and of cp1252 where a line is no UTF-8: several programs wrote the file."""

    def _buffer_decode(self, data: Buffer, _errors: str, final: bool) -> tuple[str, int]:  # noqa: FBT001 - as codecs call it
        text = bytes(data)
        end = len(text) if final else text.rfind(b"\n") + 1
        return "".join(map(either, text[:end].splitlines(keepends=True))), end


def either(line: bytes) -> str:
    """Return a line as UTF-8 or, where it is none, as cp1252.

    >>> either("Köln".encode()), either("Köln".encode("cp1252"))
    ('Köln', 'Köln')
    """
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        return line.decode("cp1252")
    except UnicodeDecodeError:  # five bytes mean nothing there
        return line.decode("latin-1")


class InUtf8(io.RawIOBase):
    """A stream of text in some encoding, read as UTF-8; a read gives about as much as asked for."""

    def __init__(self, source: BinaryIO, encoding: str, name: str) -> None:
        self.source, self.name, self.encoding = source, name, encoding
        known = check_encoding(encoding)
        self.decoder = _Mixed() if known == MIXED else codecs.getincrementaldecoder(known)()
        self.lines = 0

    def read(self, size: int = -1) -> bytes:
        """Return more of the text, nothing at its end."""
        text = b""
        more = b"first"
        while more and not text:
            more = self.source.read(size)
            text = self._decoded(more)
        self.lines += text.count(b"\n")
        return text

    def _decoded(self, data: bytes) -> bytes:
        try:
            return self.decoder.decode(data, final=not data).encode("utf-8")
        except UnicodeError as problem:
            before = getattr(problem, "object", b"")[: getattr(problem, "start", 0)]
            said = before if isinstance(before, str) else before.decode(self.encoding, "ignore")
            line = self.lines + said.count("\n") + 1
            msg = (
                f"{self.name!r} is not {self.encoding}: line {line} cannot be read with this "
                f"encoding. Choose another {option('encoding')}."
            )
            raise InputError(msg) from None


def utf8_lines(source: BinaryIO, name: str, layout: FileLayout) -> BinaryIO:
    """Return the text of a table as UTF-8, without what stands above and below it."""
    text = source
    if layout.encoding is not None:
        text = cast("BinaryIO", InUtf8(text, layout.encoding, name))
    if layout.above or layout.below:
        text = cast("BinaryIO", Within(text, layout.above, layout.below))
    return text


def in_utf8(data: bytes, encoding: str, name: str) -> bytes:
    """Return the bytes of a text as UTF-8."""
    return b"".join(iter(InUtf8(io.BytesIO(data), encoding, name).read, b""))
