"""The columns of a table: what a header must be, and which each form of a release has.

The groups of a release are the same in every form; what differs is what a reader sees of a group's
quasi values: the ends of an interval in one cell or in two, with the mean of the group or without,
or every value as it was, in a table of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.errors import InputError, UsageError, nearest, option

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


def gaps_of(name: str) -> str:
    """Return the name of the column that says whether the group has missing cells in a column."""
    return f"{name}_missing"


def column_form(form: str, *, never_mix: bool) -> str:
    """Return the form that one column has in a release of a form.

    A column that is never mixed holds one value in every cell, as in `intervals`, so that it has
    neither ends nor means.
    """
    return INTERVALS if never_mix and form in {BOUNDS, MEANS} else form


def spelled_as(name: str, form: str, *, interval: bool, gap: bool) -> tuple[str, ...]:
    """Return the names of the columns that one column is published as.

    It has intervals or not, and a `gap` where some of its numbers are missing.
    """
    if not interval or form in {INTERVALS, TWO_TABLES}:
        return (name,)
    mean = () if form == BOUNDS else (name,)
    return (*mean, *ends_of(name), *[gaps_of(name)] * gap)
