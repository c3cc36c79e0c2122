"""Writes a file of SAS with ReadStat's own writer, which pyreadstat carries and does not offer."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from pyreadstat import _readstat_writer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

STRING, DOUBLE = 0, 5  # of `readstat_type_t`
WRITES = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)


def write_sas(
    path: Path, columns: Mapping[str, Sequence[float | str | None]], **formats: str
) -> None:
    """Write columns of numbers, or of texts, with the names of their SAS formats."""
    library = ctypes.CDLL(_readstat_writer.__file__)
    for name in ("writer_init", "add_variable"):
        getattr(library, f"readstat_{name}").restype = ctypes.c_void_p
    parts: list[bytes] = []

    def keep(data: int, size: int, _: int | None) -> int:
        parts.append(ctypes.string_at(data, size))
        return size

    written = WRITES(keep)
    writer = ctypes.c_void_p(library.readstat_writer_init())
    library.readstat_set_data_writer(writer, written)
    made = []
    for name, cells in columns.items():
        text = any(isinstance(cell, str) for cell in cells)
        width = max(len(cell.encode()) for cell in cells if isinstance(cell, str)) if text else 8
        kind = (name.encode(), STRING if text else DOUBLE, ctypes.c_size_t(width))
        variable = ctypes.c_void_p(library.readstat_add_variable(writer, *kind))
        if name in formats:
            library.readstat_variable_set_format(variable, formats[name].encode())
        made.append((variable, text))
    rows = list(zip(*columns.values(), strict=True))
    begun = library.readstat_begin_writing_sas7bdat(writer, None, ctypes.c_long(len(rows)))
    assert not begun
    for row in rows:
        library.readstat_begin_row(writer)
        for (variable, text), cell in zip(made, row, strict=True):
            if cell is None:
                library.readstat_insert_missing_value(writer, variable)
            elif text:
                library.readstat_insert_string_value(writer, variable, str(cell).encode())
            else:
                library.readstat_insert_double_value(writer, variable, ctypes.c_double(float(cell)))
        assert not library.readstat_end_row(writer)
    assert not library.readstat_end_writing(writer)
    library.readstat_writer_free(writer)
    path.write_bytes(b"".join(parts))
