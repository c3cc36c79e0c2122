"""The forms of a release: in which files it stands, and which columns each of them has.

The groups of a release are the same in every form; what differs is what a reader sees of a group's
quasi values: the ends of an interval in one cell or in two, with the mean of the group or without,
or every value as it was, in a table of its own.
"""

from __future__ import annotations

from shoal.errors import UsageError, nearest

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
