"""The forms of a release: in which files it stands, and which columns each of them has.

The groups of a release are the same in every form; what differs is what a reader sees of a group's
quasi values: the ends of an interval in one cell or in two, with the mean of the group or without,
or every value as it was, in a table of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.errors import UsageError, nearest
from shoal.table.schema import PERSON, PSEUDONYM, RESERVED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FORMS = ("intervals", "bounds", "means", "two-tables")
INTERVALS, BOUNDS, MEANS, TWO_TABLES = FORMS
RELEASE, PEOPLE, VALUES = "release", "people", "values"  # files, without their endings
CODEBOOK = "codebook.csv"


def check_name(form: str) -> None:
    """Raise where there is no form of this name."""
    if form not in FORMS:
        words = ", ".join(FORMS[:-1])
        msg = f"A release has the form {words} or {FORMS[-1]}, not {form!r}{nearest(form, FORMS)}"
        raise UsageError(msg)


def stems(form: str) -> tuple[str, ...]:
    """Return the names of the tables of a release, without their endings."""
    return (PEOPLE, VALUES) if form == TWO_TABLES else (RELEASE,)


def ends_of(name: str) -> tuple[str, str]:
    """Return the names of the two columns that hold the ends of a column's intervals."""
    return f"{name}_low", f"{name}_high"


def spelled_as(name: str, form: str, *, interval: bool) -> tuple[str, ...]:
    """Return the names of the columns that one column is published as."""
    if not interval or form in {INTERVALS, TWO_TABLES}:
        return (name,)
    return ends_of(name) if form == BOUNDS else (name, *ends_of(name))


def has_ends(column: Mapping[str, Any]) -> bool:
    """Return whether what a manifest says of a column means that its cells are intervals."""
    return column["role"] == "quasi" and column["kind"] == "interval"


def headers(
    form: str, columns: Sequence[Mapping[str, Any]], *, grouped: bool, own: Sequence[str] = ()
) -> dict[str, list[str]]:
    """Return the header of each table of a release, by what its manifest says of columns.

    `own` are the columns that a release has beside `group`; whose values are whose is not said
    beside everybody's quasi values.
    """
    roles = {PEOPLE: ("quasi", "other", PSEUDONYM), VALUES: ("sensitive",)}
    first = [RESERVED, *own] if grouped else []
    return {
        stem: [name for name in first if stem != PEOPLE or name != PERSON]
        + [
            name
            for column in columns
            if stem == RELEASE or column["role"] in roles[stem]
            for name in spelled_as(column["name"], form, interval=has_ends(column))
        ]
        for stem in stems(form)
    }
