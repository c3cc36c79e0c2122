"""What a stranger learns about one person of the original table: for the owner alone.

Nothing of it is written anywhere but where it was asked for.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.ask.ask import Ask
from shoal.audit.published import as_read, open_checked
from shoal.audit.stranger import Stranger
from shoal.errors import UsageError, option
from shoal.runs.checks import checked
from shoal.runs.originals import read_original
from shoal.table.missing import MISSING_LABEL
from shoal.table.reading import take_frame
from shoal.table.settings import read_settings
from shoal.table.streams import is_stream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shoal.audit.seen import PersonView
    from shoal.release.recoding import ReleaseData

PEOPLE = 500  # among whom the most exposed one is looked for, drawn at random from more


def person(
    directory: str | Path,
    row: int | None = None,
    *,
    original: Any,
    schema: str | Path | None = None,
    person: str | None = None,
    hierarchies: Mapping[str, object] | None = None,
) -> PersonView:
    """Return what a stranger learns about one person, before and after a release.

    It is computed as a stranger would: from the person's quasi values and the published files.

    Parameters
    ----------
    directory : the release.
    row : the row of the original, counted from 0 as in a linkage; None for the most exposed person
        (of 500 drawn at random, where there are more).
    original : the path or frame of the original table.
    schema : the schema file of the release: if it names the original, the original is read as it
        says, and `person` and `hierarchies` are its own.
    person : the column that says whom rows of the original are about, where people have several.
    hierarchies : those that the owner listed; a manifest does not say what their nodes cover.
    """
    place = Path(directory)
    if not place.is_dir():
        msg = f"{place.name!r} is not a release directory."
        raise UsageError(msg)
    said = Ask() if schema is None else checked(read_settings(schema)).ask
    table = read_original(original, said)
    stranger = Stranger.of(
        open_checked(place),
        table.fill_nan(None),
        person=person or said.person,
        hierarchies={**said.hierarchies, **(hierarchies or {})},
    )
    return stranger.view(stranger.most_exposed(PEOPLE)[0] if row is None else row)


def person_of(release: ReleaseData, row: int | None, original: Any) -> PersonView:
    """Return the same of a release in memory, from the table that it was made from."""
    given = release.given if original is None else original
    if original is None and (is_stream(given) or not _is_whole(given, release)):
        msg = (
            "This release no longer holds the table that it was made from. Name it: "
            f"{option('original')}."
        )
        raise UsageError(msg)
    return _shown(release, take_frame(given).fill_nan(None), row)


def most_exposed(release: ReleaseData) -> tuple[PersonView, str]:
    """Return the most exposed person of those whose rows were searched, and among how many."""
    coded = release.coded
    rows = coded.rows if release.links is None else release.links
    real = np.flatnonzero(rows >= 0)
    columns = {
        one.name: one.spellings.gather(one.codes[real]).replace(MISSING_LABEL, None)
        for one in (*coded.quasi, *coded.sensitive)
    }
    table = pl.DataFrame(columns)
    if release.schema.person is not None and coded.person_of.given:
        table = table.with_columns(pl.Series(release.schema.person, coded.person_of.labels[real]))
    stranger = stranger_of(release, table)
    chosen, sample = stranger.most_exposed(PEOPLE)
    among = "everybody" if sample.complete else f"{len(sample):,} people drawn at random"
    view = stranger.view(chosen)
    return replace(view, row=int(rows[real[chosen]])), among


def _shown(release: ReleaseData, table: pl.DataFrame, row: int | None) -> PersonView:
    stranger = stranger_of(release, table)
    return stranger.view(stranger.most_exposed(PEOPLE)[0] if row is None else row)


def stranger_of(release: ReleaseData, table: pl.DataFrame) -> Stranger:
    """Return a stranger who has the release, and knows of people what a table has of them."""
    return Stranger.of(
        as_read(release),
        table,
        person=release.schema.person,
        hierarchies=release.listed,
    )


def _is_whole(given: Any, release: ReleaseData) -> bool:
    """Return whether a frame has every column that a release was made from."""
    names = {str(name) for name in getattr(given, "column_names", getattr(given, "columns", ()))}
    return {*release.schema.quasi, *release.schema.sensitive} <= names
