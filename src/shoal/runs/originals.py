"""The original table and its control group, read as the schema file that names the table says."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.ask.options import READING, options_of
from shoal.audit.published import read_release
from shoal.audit.stranger import Stranger
from shoal.audit.tables import read_manifest
from shoal.errors import ShoalError
from shoal.runs.run import Run
from shoal.table.reading import take_frame

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from shoal.ask.ask import Ask

    Members = tuple[pl.DataFrame, str | None, dict[str, int]]


def read_original(source: Any, said: Ask) -> pl.DataFrame:
    """Return a table: as a schema file says, where that names it, and else as it is."""
    if not isinstance(source, str | Path):
        return take_frame(source)
    return take_frame(Run(table=str(source), **stated_for(source, said)).frame())


def read_controls(source: Any, people: pl.DataFrame, how: Mapping[str, Any]) -> Any:
    """Return the control group of an original: as Shoal writes one, or read like the original.

    Whatever the original looks like, Shoal writes a plain CSV file with columns of the original.
    """
    if not isinstance(source, str | Path):
        return None if source is None else take_frame(source)
    with suppress(ShoalError):
        plain = Run(table=str(source), missing_codes=how.get("missing_codes", {})).frame()
        if not any(how.values()) or set(plain.columns) <= set(people.columns):
            return take_frame(plain)
    return take_frame(Run(table=str(source), **how).frame())


def may_be_published(stranger: Stranger, person: str | None) -> Members:
    """Return the rows of those of an original who may be published, as far as the files show it.

    Beside them stands what says whose they are, where people have several, and who they are among.
    """
    whom, stated = stranger.whom, stranger.published.stated
    rows = stranger.original[np.sort(whom.rows_of(stranger.among)[0])]
    over = {
        "among": len(stranger.among),
        "published": stated.people or stated.rows,
        "original": len(whom),
        "series": stated.in_series,
        "several": whom.given,
    }
    return rows, person if whom.given else None, over


def members_of(directory: Path, people: pl.DataFrame, person: str | None) -> Members:
    """Return the same of a release directory."""
    published = read_release(directory, read_manifest(directory))
    return may_be_published(Stranger.of(published, people.fill_nan(None), person=person), person)


def stated_for(source: Any, said: Ask) -> dict[str, Any]:
    """Return how a schema file says that a table is read; nothing where it names another."""
    if not isinstance(source, str | Path):
        return {}
    if [Path(one).resolve() for one in said.table] != [Path(source).resolve()]:
        return {}
    return reading_of(said)


def reading_of(said: Ask) -> dict[str, Any]:
    """Return all that is said of how a table is read."""
    known = options_of(type(said)).items()
    return {name: getattr(said, name) for name, one in known if one.panel == READING}
