"""A release in memory until it is written: rows put together a batch at a time, and a manifest."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.principles.groups import Groups
from shoal.progress import PROCESSOR, Brief
from shoal.release.cells import defuse, typed_kind
from shoal.release.forms import (
    escaped,
    flat_columns,
    is_interval,
    names_of,
    own_form,
    take_apart,
    text_columns,
    typed_columns,
    whole_cells,
)
from shoal.table.columns import is_dictionary
from shoal.table.forms import INTERVALS, TWO_TABLES
from shoal.table.reading import give_frame
from shoal.table.schema import LABELS, NODE, PERSON, REAL, RESERVED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from shoal.principles.requirement import Requirement
    from shoal.release.cover import Cover
    from shoal.release.forms import Spell
    from shoal.release.layout import Layout, Suppression
    from shoal.release.manifest import Manifest
    from shoal.table.coded import Coded
    from shoal.table.column import Column
    from shoal.table.groupings import Hierarchy
    from shoal.table.schema import Schema


BATCH = 2**16  # published rows that are put together at a time


@dataclass(frozen=True, eq=False, repr=False)
class Recoding(Brief):
    """Everything published rows are made of; they are put together a batch at a time.

    `source` has the coded rows of the columns that are published as they are.
    """

    _brief = ("form", "names")

    source: pl.DataFrame
    names: list[str]  # the published columns, in the order of the input
    schema: Schema
    covers: dict[str, Cover]  # of the quasi columns
    layout: Layout
    escape: bool

    form: str = INTERVALS
    carried: dict[str, pl.DataType | None] | None = None  # types, where other rows decide too

    @property
    def quasi(self) -> dict[str, Column]:
        """The quasi columns, over the values that cells are drawn between."""
        return {name: cover.domain for name, cover in self.covers.items()}

    @property
    def counted(self) -> list[str]:
        """The columns that hold the numbers of quasi columns, as this form has them."""
        never_mix = self.schema.never_mix
        return [
            one
            for name, column in self.quasi.items()
            if is_interval(column) and (self.form != INTERVALS or name in never_mix)
            for one in names_of(column, own_form(name, self.form, self.schema))
        ]

    def text(self, batch: int = BATCH) -> Iterator[pl.DataFrame]:
        """Yield the published table as text, as release.csv has it."""
        return self._batches(self.source, batch, text_columns, _as_text)

    def whole(self, batch: int = BATCH) -> Iterator[pl.DataFrame]:
        """Yield the published table as text, all that is told of a group's values in one cell."""
        return self._batches(self.source, batch, whole_cells, _as_text)

    def typed(self, batch: int = BATCH) -> Iterator[pl.DataFrame]:
        """Yield the published table as typed columns; numbers in any writing are numbers.

        Columns that are never mixed have their cells as they are, neither lists nor intervals.
        """
        return self._with_types(batch, partial(typed_columns, exact=self.schema.never_mix))

    def flat(self, batch: int = BATCH) -> Iterator[pl.DataFrame]:
        """Yield the published table with quasi cells as text or numbers, other columns typed."""
        return self._with_types(batch, partial(flat_columns, exact=self.schema.never_mix))

    def mixed(self) -> pl.DataFrame:
        """Return the published table with quasi cells as in `flat`, other columns as they were."""
        every = len(self.layout.bears)
        flat = partial(flat_columns, exact=self.schema.never_mix)
        return next(self._batches(self.source, every, flat, lambda column: column))

    def _with_types(self, batch: int, quasi_cells: Spell) -> Iterator[pl.DataFrame]:
        plain = self.schema.read_numbers(self.source, "sensitive", "other")
        kinds = typed_kinds(plain, self.schema) if self.carried is None else self.carried

        def values(column: pl.Series) -> pl.Series:
            return column.cast(kinds.get(column.name) or column.dtype)

        return self._batches(plain, batch, quasi_cells, values)

    def _batches(
        self,
        source: pl.DataFrame,
        size: int,
        quasi_cells: Spell,
        values: Callable[[pl.Series], pl.Series],
    ) -> Iterator[pl.DataFrame]:
        layout = self.layout
        spell = partial(escaped, spell=quasi_cells) if self.escape else quasi_cells
        spelled = {
            name: spell(self.covers[name], own_form(name, self.form, self.schema))
            for name in self.names
            if name in self.covers
        }
        for begin in range(0, len(layout.bears), size):
            part = slice(begin, begin + size)
            carried = source.select(pl.all().gather(layout.carries[part]))
            columns = {}
            if layout.numbers is not None:
                columns[RESERVED] = pl.Series(layout.numbers[part].astype(np.int64))
            if layout.nodes is not None:
                columns[NODE] = pl.Series(layout.nodes[part])
            if layout.real is not None:
                columns[REAL] = pl.Series(layout.real[part])
            if layout.persons is not None:
                columns[PERSON] = pl.Series(layout.persons[part].astype(np.int64))
            for name in self.names:
                if name in self.covers:
                    borne = self.covers[name].borne[layout.bears[part]]
                    columns |= {one.name: one.gather(borne) for one in spelled[name]}
                else:
                    columns[name] = values(without_categories(carried[name]))
            table = pl.DataFrame(columns)
            yield defuse(table, self.schema) if self.escape else table


def typed_kinds(plain: pl.DataFrame, schema: Schema) -> dict[str, pl.DataType | None]:
    """Return the types of the columns that are published as they are and spell numbers."""
    return {
        name: typed_kind(plain[name], spelled=schema.decimal is None)
        for name in (*schema.sensitive, *schema.other)
        if schema.types.get(name) not in LABELS
    }


def without_categories(column: pl.Series) -> pl.Series:
    """Return labels as text: a type that lists them would list those of rows left out too."""
    listed = is_dictionary(column) or isinstance(column.dtype, pl.Enum)
    return column.cast(pl.String) if listed else column


def _as_text(column: pl.Series) -> pl.Series:
    return column.cast(pl.String)


@dataclass(frozen=True, eq=False)
class LinkedRecoding:
    """What the rows of a linked table are made of, the input row of each, and what came in."""

    recoding: Recoding
    rows: NDArray[np.int64]
    given: Any

    def text(self, name: str) -> pl.DataFrame:
        """Return the published table as an audit reads it: columns under both names, as text."""
        from shoal.table.linked import under_both_names

        plain = replace(self.recoding, escape=False)
        texts = self.recoding.schema.read_numbers(pl.concat(plain.text()), "sensitive")
        return under_both_names(texts, name)


@dataclass(frozen=True, eq=False)
class ReleaseData:
    """What is published, and what only the owner may see of how it came about: data alone.

    Attributes
    ----------
    manifest : what the manifest will say, public.
    recoding : what published rows are made of.
    coded : the rows that were searched, as ranks.
    suppression : what was left out and what that paid back, private but for the number of rows.
    formulas : how many published cells, headers included, a spreadsheet would run.
    population : everybody who could be in the table, where a requirement is about them, private.
    settings : what the owner is told of how it was made, as the seconds of each phase, private.
    links : in a series, the input row that each coded row stands for, -1 for nobody, private.
    kept : the input rows that the table has, where some were held out first, private.
    held : the rows that were held out, as a control group, private.
    recast : whether it was made from published groups; what the table had been is not known.
    linked : what the linked tables are made of, by their names.
    """

    manifest: Manifest
    recoding: Recoding
    coded: Coded
    requirements: tuple[Requirement, ...]
    suppression: Suppression
    formulas: int
    given: Any
    population: pl.DataFrame | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    recast: bool = False
    links: NDArray[np.int64] | None = None
    kept: NDArray[np.int64] | None = None
    held: pl.DataFrame | None = None
    linked: dict[str, LinkedRecoding] = field(default_factory=dict)

    @cached_property
    def published(self) -> pl.DataFrame:
        """The published table, cells as text, all that is told of a group's values in one cell.

        Of two tables it has the boxes of groups beside the values, and nothing that is carried.
        """
        recoding = self.recoding
        if self.form == TWO_TABLES:
            kept = [n for n in recoding.names if n in {*self.schema.quasi, *self.schema.sensitive}]
            recoding = replace(recoding, names=kept, form=INTERVALS)
        return pl.concat(recoding.whole())

    @property
    def form(self) -> str:
        """How the release spells groups."""
        return self.recoding.form

    @cached_property
    def parts(self) -> dict[str, Recoding]:
        """What each table of the release is made of, by the name of its file without ending."""
        linked = {name: one.recoding for name, one in self.linked.items()}
        return take_apart(self.recoding) | linked

    @property
    def linkage(self) -> NDArray[np.int64]:
        """For each published row the input row it came from, -1 for none, private."""
        rows = self.coded.rows if self.links is None else self.links
        return rows[self.recoding.layout.carries]

    @property
    def origins(self) -> NDArray[np.int64]:
        """The linkage by the rows that came in, those that were held out included, private."""
        rows = self.linkage
        return rows if self.kept is None else np.where(rows < 0, rows, self.kept[rows])

    @property
    def schema(self) -> Schema:
        """The roles of the columns."""
        return self.recoding.schema

    @property
    def published_schema(self) -> Schema:
        """The roles of the columns as they are published: people are numbers of the release."""
        schema = self.schema
        return schema if schema.person is None else replace(schema, person=PERSON)

    @property
    def tables(self) -> dict[str, Any]:
        """The published linked tables by their names, each as the kind of frame that came in."""
        return {
            name: self._framed(one.recoding, one.given, one.rows)
            for name, one in self.linked.items()
        }

    @property
    def table(self) -> Any:
        """The published table, as the kind of frame that came in; of two tables, both.

        Quasi cells are text as in release.csv, or numbers where the form has numbers. Columns that
        are only carried come out of the frame as they are, whatever their type; of categories that
        only unpublished rows have nothing is left. The index of a pandas frame can tell who is who,
        so it is not published: the rows are numbered anew.
        """
        tables = tuple(
            self._framed(one, self.given, self.coded.rows)
            for one in take_apart(self.recoding).values()
        )
        return tables if self.form == TWO_TABLES else tables[0]

    @staticmethod
    def _framed(recoding: Recoding, given: Any, input_rows: NDArray[np.int64]) -> Any:
        mixed, schema = recoding.mixed(), recoding.schema
        carried = (*schema.sensitive, *schema.other)
        changed = {*schema.trims, schema.survey_weight}
        kept = [name for name in carried if name in mixed.columns and name not in changed]
        if recoding.escape:
            plain = replace(recoding, escape=False).mixed()
            kept = [name for name in kept if mixed[name].equals(plain[name], null_equal=True)]
        rows = input_rows[recoding.layout.carries]
        return give_frame(mixed, given, carried=kept, rows=rows)

    @property
    def listed(self) -> dict[str, Hierarchy]:
        """The hierarchies that only the owner has: the manifest does not say what nodes cover."""
        return {n: one for n, one in self.schema.hierarchies.items() if not one.readable}

    def typed(self) -> pl.DataFrame:
        """Return the published table as release.parquet has it."""
        return pl.concat(self.recoding.typed())

    @property
    def facts(self) -> dict[str, Any]:
        """What the owner is told: what the manifest says, what it withholds, and times."""
        return self.manifest.told(self.settings, PROCESSOR)

    @property
    def loss(self) -> float:
        """The global certainty penalty, from 0 (nothing lost) to 1."""
        return self.manifest.loss.gcp

    @cached_property
    def squared_error(self) -> float | None:
        """What means lose (SSE / SST), private; None without groups, or without the table.

        It needs the quasi values as they were, so no public file says it.
        """
        if self.heterogeneous or self.recast:
            return None
        from shoal.release.squares import squared_error

        return squared_error(self.coded, Groups.of(self.recoding.layout.borne))

    @property
    def heterogeneous(self) -> bool:
        """Whether every record was recast on its own, without groups."""
        return self.recoding.layout.numbers is None

    def __repr__(self) -> str:
        groups = self.manifest.groups
        how = "each recast on its own" if groups is None else f"in {groups} groups"
        return f"<Release: {self.manifest.rows} rows {how}, GCP {self.loss:.4f}>"
