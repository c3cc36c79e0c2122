"""What a manifest says of a release before anything is measured."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import UsageError
from shoal.release.cells import (
    domain,
    kind_of,
)
from shoal.table.schema import LABELS
from shoal.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.methods.base import Method
    from shoal.principles.requirement import Requirement
    from shoal.release.layout import Suppression
    from shoal.release.recoding import LinkedRecoding, Recoding
    from shoal.table.column import Grown
    from shoal.table.schema import Schema


TITLE = 200  # characters


def check_title(title: str | None) -> None:
    """Raise where a release cannot be called so."""
    if title is None:
        return
    if not isinstance(title, str) or not title.strip() or len(title) > TITLE:
        msg = f"A title is a text of 1 to {TITLE} characters. Got {str(title)[:TITLE]!r}."
        raise UsageError(msg)
    if not title.isprintable():
        msg = f"A title is one line of printable characters. Got {title!r}."
        raise UsageError(msg)


def describe_linked(
    one: LinkedRecoding, rows_in: int, suppressed: int, capped: int
) -> dict[str, Any]:
    """Return what a manifest says of a linked table."""
    recoding, rows = one.recoding, len(one.rows)
    return {
        "rows_in": rows_in,
        "dropped": rows_in - rows - suppressed - capped,
        "rows": rows,
        "suppressed": suppressed,
        "capped": capped,
        "columns": [describe(name, recoding) for name in recoding.names],
    }


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
) -> dict[str, Any]:
    """Return what a manifest says before anything is measured.

    `alone` people are the only ones of their group with so many rows, where that has to be said.
    """
    schema = recoding.schema
    manifest: dict[str, Any] = {} if alone is None else {"rows_known": False, "alone": alone}
    manifest |= {
        "shoal": __version__,
        "id": secrets.token_hex(16),
    }
    if title is not None:
        manifest["title"] = title
    manifest |= {
        "form": recoding.form,
        "rows_in": rows_in,
        "dropped": rows_in - rows - suppression.rows - suppression.capped,
        "rows": rows,
        "suppressed": suppression.rows,
        "groups": groups,
        "columns": [describe(name, recoding) for name in recoding.names],
        "require": [repr(requirement) for requirement in requirements],
        "method": repr(method),
        "measured": [],
        "loss": {"gcp": float(np.mean(list(ncp.values()))), "ncp": ncp},
        "seconds": {},
        "digests": {},
    }
    if people is not None:
        manifest |= {
            "people": people,
            "suppressed_people": suppression.people,
            "capped": suppression.capped,
            "rows_known": schema.rows_known,
        }
    if recoding.escape:
        manifest["escaped"] = True
    if schema.decimal is not None:
        manifest["decimal"] = schema.decimal
    return manifest


def describe(name: str, recoding: Recoding) -> dict[str, Any]:
    """Return what a manifest says of a column."""
    entry: dict[str, Any] = {"name": name, "role": recoding.schema.role(name)}
    if name in recoding.quasi:
        column = recoding.quasi[name]
        entry["kind"] = kind_of(column)
        entry["domain"] = domain(column, recoding.kinds[name].spans)
        if column.grown is not None:
            entry |= _describe_tree(column.grown)
        elif column.dates:
            entry["type"] = "date"
        if name in recoding.schema.never_mix:
            entry["never_mix"] = True
        if name in recoding.schema.weights:
            entry["weight"] = recoding.schema.weights[name]
    entry |= _describe_cells(name, recoding.schema)
    if entry.get("kind") == "set" and entry.get("type") not in LABELS:
        entry.pop("type", None)  # numbers and dates of which some are missing are labels
    return entry


def _describe_cells(name: str, schema: Schema) -> dict[str, Any]:
    """Return what was said of the cells of a column, and done to them first."""
    entry: dict[str, Any] = {}
    if name in schema.types:
        entry["type"] = schema.types[name]
    if name in schema.date_formats:
        entry["date_format"] = schema.date_formats[name]
    if name in schema.trims:
        entry |= schema.trims[name].to_dict()
    if name == schema.survey_weight:
        entry["survey_weight"] = True
    if name in schema.missing_cells:
        entry["missing"] = schema.missing_cells[name]
    return entry


def _describe_tree(grown: Grown) -> dict[str, Any]:
    """Return what a reader needs to know of which values the nodes of a column cover.

    A listed hierarchy is its owner's: it may list what nobody in the table has.
    """
    entry = {}
    if grown.hierarchy.readable:
        entry["hierarchy"] = repr(grown.hierarchy)
    if grown.source.numeric:
        entry["type"] = "date" if grown.source.dates else "numeric"
    return entry
