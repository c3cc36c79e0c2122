"""The forms of a release: in which files it stands, and which columns each of them has.

The groups of a release are the same in every form; what differs is what a reader sees of a group's
quasi values: the ends of an interval in one cell or in two, with the mean of the group or without,
or every value as it was, in a table of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.errors import UsageError, nearest
from shoal.table.schema import NODE, PERSON, PSEUDONYM, REAL, RESERVED

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


def gaps_of(name: str) -> str:
    """Return the name of the column that says whether the group has missing cells in a column."""
    return f"{name}_missing"


def column_form(form: str, *, never_mix: bool) -> str:
    """Return the form that one column has in a release of a form.

    A column that is never mixed holds one value in every cell, as in `intervals`, so that it has
    neither ends nor means.
    """
    return INTERVALS if never_mix and form in {BOUNDS, MEANS} else form


def stated_form(column: Mapping[str, Any], form: str) -> str:
    """Return the form of one column in a release of a form, by what its manifest says of it."""
    return column_form(form, never_mix="never_mix" in column)


def spelled_as(name: str, form: str, *, interval: bool, gap: bool) -> tuple[str, ...]:
    """Return the names of the columns that one column is published as.

    It has intervals or not, and a `gap` where some of its numbers are missing.
    """
    if not interval or form in {INTERVALS, TWO_TABLES}:
        return (name,)
    mean = () if form == BOUNDS else (name,)
    return (*mean, *ends_of(name), *[gaps_of(name)] * gap)


def has_ends(column: Mapping[str, Any]) -> bool:
    """Return whether what a manifest says of a column means that its cells are intervals.

    Those of a column that is never mixed have one value, which is both ends.
    """
    return column["role"] == "quasi" and column["kind"] == "interval"


def has_gap(column: Mapping[str, Any]) -> bool:
    """Return whether, by what a manifest says of a column, some of its numbers are missing."""
    return has_ends(column) and column["domain"][-1] is None


def published_as(column: Mapping[str, Any], form: str) -> tuple[str, ...]:
    """Return the names of the columns that one is published as, by what its manifest says of it."""
    own = stated_form(column, form)
    return spelled_as(column["name"], own, interval=has_ends(column), gap=has_gap(column))


def stands_in(column: Mapping[str, Any], stem: str) -> bool:
    """Return whether a column stands in one of the tables of a release."""
    roles = {PEOPLE: ("quasi", "other", PSEUDONYM), VALUES: ("sensitive",)}
    return stem == RELEASE or column["role"] in roles[stem]


def own_columns(manifest: Mapping[str, Any]) -> list[str]:
    """Return the columns that a release has of its own, beside `group`."""
    said = {NODE: "nodes", REAL: "previous", PERSON: "people"}
    return [name for name, key in said.items() if key in manifest]


def headers(
    form: str, columns: Sequence[Mapping[str, Any]], *, grouped: bool, own: Sequence[str] = ()
) -> dict[str, list[str]]:
    """Return the header of each table of a release, by what its manifest says of columns.

    `own` are the columns that a release has beside `group`; whose values are whose is not said
    beside everybody's quasi values.
    """
    first = [RESERVED, *own] if grouped else []
    return {
        stem: [name for name in first if stem != PEOPLE or name != PERSON]
        + [
            name
            for column in columns
            if stands_in(column, stem)
            for name in published_as(column, form)
        ]
        for stem in stems(form)
    }
