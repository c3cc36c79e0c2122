"""What published rows are made of: they are put together a batch at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.release.cells import defuse, typed_kind
from shoal.release.forms import (
    escaped,
    flat_columns,
    is_interval,
    names_of,
    own_form,
    text_columns,
    typed_columns,
    whole_cells,
)
from shoal.showing import Brief
from shoal.table.columns import is_dictionary
from shoal.table.forms import INTERVALS
from shoal.table.schema import LABELS, NODE, PERSON, REAL, RESERVED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from shoal.release.cover import Cover
    from shoal.release.forms import Spell
    from shoal.release.layout import Layout
    from shoal.table.column import Column
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
