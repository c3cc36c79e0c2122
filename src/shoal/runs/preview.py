"""What a decision does to rows that the owner can look at: one person, and six rows.

It is computed from a release in memory, for the owner alone: nothing of it is published or kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.published import as_written
from shoal.audit.today import Today
from shoal.runs.person import PEOPLE, stranger_of
from shoal.table.coded import persons_of
from shoal.table.forms import TWO_TABLES
from shoal.table.missing import is_missing
from shoal.table.schema import RESERVED
from shoal.table.settling import with_date_formats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.audit.seen import PersonView
    from shoal.release.recoding import ReleaseData
    from shoal.table.schema import Schema

SHOWN = 6  # rows
NUMBERS = {"numeric", "date"}
SEED = 0  # nothing is published, and equal calls are to show the same person


@dataclass(frozen=True)
class BeforeAfter:
    """Some rows as they are and as they are published, cell by cell.

    `after` is None for a row that is not published; `kinds` say how the cells of a column are
    written, and `same` whether they are published exactly, apart from the values of their group.
    """

    columns: tuple[str, ...]
    kinds: tuple[str | None, ...]
    same: tuple[bool, ...]
    rows: tuple[int, ...]
    after: tuple[tuple[str | None, ...] | None, ...]
    before: tuple[tuple[str | None, ...], ...] = ()

    def beside(self, table: pl.DataFrame, schema: Schema) -> BeforeAfter:
        """Return it with the same rows of the original, spelled as the release spells them."""
        plain = with_date_formats(table, schema, "quasi").read_numbers(table, "quasi")
        before = tuple(tuple(_cell(plain, name, row) for name in self.columns) for row in self.rows)
        after = tuple(
            new
            if new is None
            else tuple(o if same else n for o, n, same in zip(old, new, self.same, strict=True))
            for old, new in zip(before, self.after, strict=True)
        )
        return replace(self, before=before, after=after)


def published_rows(release: ReleaseData, rows_in: int, first: Sequence[int] = ()) -> BeforeAfter:
    """Return what a release publishes of some rows of the table that it was made from.

    `first` are rows that are to be among them; the others lie evenly in the table, so that the same
    rows are shown whatever is decided. Where two tables are published, nobody can tell which value
    of a group belongs to a row: then the cell lists those of the group.
    """
    even = np.linspace(0, rows_in - 1, min(SHOWN, rows_in)).round().astype(int)
    rows = tuple(dict.fromkeys([*first, *even.tolist()]))[:SHOWN]
    schema, shown = release.schema, as_written(release)
    carried = {*schema.quasi, *schema.sensitive, *schema.other}
    names = tuple(n for n in release.recoding.names if n in carried and n in shown.columns)
    places = {row: place for place, row in enumerate(release.origins.tolist()) if row in rows}
    apart = release.form == TWO_TABLES
    cell = _of_group if apart else _cell
    after = tuple(
        tuple(cell(shown, name, places[row]) for name in names) if row in places else None
        for row in rows
    )
    kinds = tuple(release.manifest.kinds.get(name) for name in names)
    return BeforeAfter(names, kinds, tuple(apart and n in schema.quasi for n in names), rows, after)


def _cell(table: pl.DataFrame, name: str, place: int) -> str | None:
    cell = table[name][place : place + 1].cast(pl.String)
    return None if is_missing(cell)[0] else cell[0]


def _of_group(shown: pl.DataFrame, name: str, place: int) -> str | None:
    group = shown[RESERVED][place]
    values = shown.filter(pl.col(RESERVED) == group)[name].cast(pl.String)
    return ", ".join(values.fill_null("").sort().to_list())


def estimated_view(
    release: ReleaseData, table: pl.DataFrame, rows: np.ndarray, row: int | None
) -> PersonView:
    """Return what a stranger learns about one person of some rows, of which a release was tried.

    `rows` are their numbers in the whole table, and `row` is one of these: by default the most
    exposed person. What is learned today counts these rows alone; `with_today` mends that.
    """
    stranger = stranger_of(release, table.fill_nan(None))
    at = np.flatnonzero(rows == (-1 if row is None else row))
    chosen = int(at[0]) if len(at) else stranger.most_exposed(PEOPLE, SEED)[0]
    return replace(stranger.view(chosen), row=int(rows[chosen]))


def with_today(view: PersonView, table: pl.DataFrame, schema: Schema) -> PersonView:
    """Return it with what the whole table shows of the person today."""
    schema = with_date_formats(table, schema, "quasi")
    numbers = {name for name in schema.quasi if schema.types.get(name) in NUMBERS}
    whom = persons_of(table, schema.person if view.several else None)
    today = Today(table.fill_nan(None), schema, whom, numbers - {*schema.hierarchies})
    people, rows = today.alike(view.row)
    columns = tuple(replace(one, today=today.cells(one.column, rows)) for one in view.columns)
    return replace(view, today_rows=len(rows), today_people=people, columns=columns)
