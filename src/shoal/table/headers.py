"""What a header must be, and the column of persons in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.errors import InputError, UsageError, option

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


KNOWN = "known"  # how many rows a person has, to a reader
UNKNOWN = "unknown"


def check_person(
    person: str | None, most_rows: int | None, rows: str, replaced: Collection[str]
) -> None:
    """Raise where what is said of people makes no sense."""
    if rows not in (KNOWN, UNKNOWN):
        msg = f"{option('rows')} takes {KNOWN} or {UNKNOWN}. Got {rows!r}."
        raise UsageError(msg)
    whole = isinstance(most_rows, int) and not isinstance(most_rows, bool)
    if most_rows is not None and (not whole or most_rows < 1):
        msg = f"{option('most_rows')} takes a whole number of at least 1. Got {most_rows!r}."
        raise UsageError(msg)
    if person is None and (most_rows is not None or rows == UNKNOWN):
        said = option("rows", UNKNOWN) if most_rows is None else option("most_rows")
        msg = f"{said} needs a person column. Name it with {option('person')}."
        raise UsageError(msg)
    if person is not None and person in replaced:
        msg = (
            f"Column {person!r} is the person column. Pseudonyms would link people across "
            "releases, so Shoal publishes a new random number instead. Leave out "
            f"{option('pseudonymize')}."
        )
        raise UsageError(msg)


def check_header(header: Sequence[str], name: str) -> None:
    """Raise where a column has no name or two columns share one."""
    places: dict[str, int] = {}
    for place, column in enumerate(header):
        if not column.strip():
            msg = (
                f"Column {place + 1} of {name!r} has no name. Give every column a name. If titles "
                "stand above the names, read the file as a schema file says: `shoal init` finds "
                f"the line of the names, or give {option('header_row')}."
            )
            raise InputError(msg)
        first = places.setdefault(column, place)
        if first != place:
            both = f"Columns {first + 1} and {place + 1} of {name!r}"
            msg = f"{both} are both named {column!r}. Rename one."
            raise InputError(msg)
