"""The names of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence


def check_header(header: Sequence[str], name: str) -> None:
    """Raise where a column has no name or two columns share one."""
    for place, column in enumerate(header):
        if not column.strip():
            msg = f"Column {place + 1} of {name!r} has no name. Give every column a name."
            raise InputError(msg)
        if column in header[:place]:
            first = list(header).index(column) + 1
            both = f"Columns {first} and {place + 1} of {name!r}"
            msg = f"{both} are both named {column!r}. Rename one."
            raise InputError(msg)
