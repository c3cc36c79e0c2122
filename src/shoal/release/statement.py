"""What a manifest says of a release before anything is measured."""

from __future__ import annotations

import secrets
from datetime import date
from typing import TYPE_CHECKING

from shoal.ask.fields import CONTEXT
from shoal.errors import UsageError, nearest, option
from shoal.release.cells import domain, kind_of
from shoal.release.manifest import Manifest
from shoal.release.stated import LINE, StatedAsk, StatedColumn, StatedTable, loss_of
from shoal.table.grid import said as said_of_grid
from shoal.table.schema import LABELS, NOBODY
from shoal.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shoal.methods.base import Method
    from shoal.principles.requirement import Requirement
    from shoal.release.layout import Suppression
    from shoal.release.recoding import LinkedRecoding, Recoding
    from shoal.table.column import Column, Grown


ANSWERS = (  # what people answer for a dossier, in a schema file; no manifest has them
    *("actual_knowledge", "adversaries", "availability", "contracts", "direct_identifiers"),
    *("environment", "expert", "governance", "incident_plan", "intruder", "justification"),
    *("other_releases", "outputs", "people", "population_size", "projects", "replicability"),
    *("responsible", "review", "safeguards", "testing", "transparency", "utility", "why_quasi"),
)
LONGEST = 4000  # characters of an answer


def check_title(title: str | None) -> None:
    """Raise where a release cannot be called so."""
    if title is not None:
        _check_line("title", title)


def check_context(context: Mapping[str, str]) -> None:
    """Raise where something is said of who publishes a release that cannot stand in its files."""
    for name, text in context.items():
        if name in ANSWERS:
            _check_answer(name, text)
            continue
        if name not in CONTEXT:
            known = (*CONTEXT, *ANSWERS)
            msg = f"There is no {name!r} to be said of a release{nearest(name, known)}"
            raise UsageError(msg)
        _check_line(name, text)
    try:
        date.fromisoformat(context.get("review_date", "2000-01-01"))
    except ValueError:
        given = context["review_date"]
        msg = f"{option('review_date')} is a day, for example 2027-01-31. Got {given!r}."
        raise UsageError(msg) from None


def _check_line(name: str, text: str) -> None:
    if not isinstance(text, str) or not text.strip() or len(text) > LINE:
        shown = str(text)[:LINE]
        msg = f"{option(name)} is a text of 1 to {LINE} characters. Got {shown!r}."
        raise UsageError(msg)
    if not text.isprintable():
        msg = f"{option(name)} is one line of printable characters. Got {text!r}."
        raise UsageError(msg)


def _check_answer(name: str, text: str) -> None:
    """Raise where an answer cannot stand in a dossier; it may have several lines."""
    if not text.strip() or len(text) > LONGEST or not text.replace("\n", " ").isprintable():
        msg = f"{option(name)} is a printable text of 1 to {LONGEST:,} characters."
        raise UsageError(msg)


def describe_linked(one: LinkedRecoding, rows_in: int, suppressed: int, capped: int) -> StatedTable:
    """Return what a manifest says of a linked table."""
    recoding, rows = one.recoding, len(one.rows)
    return StatedTable(
        rows_in=rows_in,
        dropped=rows_in - rows - suppressed - capped,
        rows=rows,
        suppressed=suppressed,
        capped=capped,
        columns=[describe(name, recoding) for name in recoding.names],
    )


def state(
    recoding: Recoding,
    *,
    rows_in: int,
    rows: int,
    suppression: Suppression,
    groups: int | None,
    requirements: Sequence[Requirement],
    method: Method,
    ncp: dict[str, float],
    title: str | None = None,
    people: int | None = None,
    alone: int | None = None,
    sensitive: Sequence[Column] = (),
) -> Manifest:
    """Return what a manifest says before anything is measured.

    `alone` people are the only ones of their group with so many rows, where that has to be said.
    Of `sensitive` columns whose width is required, it says which hold dates: so do all their rows.
    """
    schema = recoding.schema
    wide = {
        name
        for one in requirements
        for name, numbers in zip(
            one.columns, one.principle.numbers_of(len(one.columns)), strict=True
        )
        if numbers
    }
    dates = {one.name for one in sensitive if one.dates and one.name in wide}
    columns = [describe(name, recoding) for name in recoding.names]
    manifest = Manifest(
        shoal=__version__,
        id=secrets.token_hex(16),
        title=title,
        form=recoding.form,
        rows_in=rows_in,
        dropped=rows_in - rows - suppression.rows - suppression.capped,
        rows=rows,
        suppressed=suppression.rows,
        groups=groups,
        columns=[one.but(type="date") if one.name in dates else one for one in columns],
        require=[repr(requirement) for requirement in requirements],
        method=repr(method),
        asked=StatedAsk(),
        measured=[],
        loss=loss_of(ncp),
        digests={},
        alone=alone,
        escaped=True if recoding.escape else None,
        decimal=schema.decimal,
    )
    if people is not None:
        manifest.say(
            people=people,
            suppressed_people=suppression.people,
            capped=suppression.capped,
            rows_known=schema.rows_known,
        )
    return manifest


def describe(name: str, recoding: Recoding) -> StatedColumn:
    """Return what a manifest says of a column, and of what was done to its cells first."""
    schema, column = recoding.schema, recoding.quasi.get(name)
    entry = StatedColumn(
        name,
        str(schema.role(name)),
        type=schema.types.get(name),
        date_format=schema.date_formats.get(name),
        survey_weight=True if name == schema.survey_weight else None,
        missing=schema.missing_cells.get(name),
        near=schema.near.get(name),
        said=NOBODY if name in schema.nobody_knows else None,
    )
    if name in schema.trims:
        entry.say(**schema.trims[name].to_dict())
    if column is None:
        return entry
    entry.kind = kind_of(column)
    entry.domain = domain(recoding.covers[name])
    if column.grown is not None:
        _describe_tree(entry, column.grown)
    elif column.dates:
        entry.type = entry.type or "date"
    if entry.kind == "set" and entry.type not in LABELS:
        entry.type = None  # numbers and dates of which some are missing are labels
    entry.never_mix = True if name in schema.never_mix else None
    entry.weight = schema.weights.get(name)
    entry.say(**said_of_grid(column))
    return entry


def _describe_tree(entry: StatedColumn, grown: Grown) -> None:
    """Say what a reader needs to know of which values the nodes of a column cover.

    A listed hierarchy is its owner's: it may list what nobody in the table has.
    """
    if grown.hierarchy.readable:
        entry.hierarchy = repr(grown.hierarchy)
    if grown.source.numeric:
        entry.type = entry.type or ("date" if grown.source.dates else "numeric")
