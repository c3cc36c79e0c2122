"""The coded table: what searching sees of a table, immutable, without strings or frames.

A sensitive value is one column, or several columns taken together.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from shoal.errors import InputError
from shoal.progress import Brief, Progress, silent
from shoal.table.coding import check_type, code_asked, code_lenient, code_persons
from shoal.table.column import Column
from shoal.table.grid import TIGHT, bounds_width, said_of_column
from shoal.table.missing import Missing, complete_rows
from shoal.table.partition import Everyone, OnePart, Partition, PersonOf, renumber
from shoal.table.sensitive import Sensitive

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from shoal.table.linked import Linked
    from shoal.table.schema import Schema


HUGE = 1e300
NOTHING: Mapping[str, bool] = MappingProxyType({})
INTERVAL, SET, NODE = 0, 1, 2  # as in shoal.kernels.space
AWAY = 2.0  # where missing numbers stand beside a column of length one


@dataclass(frozen=True, eq=False)
class Space:
    """The quasi columns as the arrays that kernels take (see `shoal.kernels.space`)."""

    codes: tuple[NDArray[np.int32], ...]
    kinds: NDArray[np.int8]
    coords: NDArray[np.float64]
    offsets: NDArray[np.int64]
    units: NDArray[np.float64]

    @cached_property
    def ranks(self) -> NDArray[np.int32]:
        """The ranks of all rows; this is a second copy of the codes, kept for good."""
        return np.ascontiguousarray(np.column_stack(self.codes), np.int32)

    def ranks_of(self, rows: NDArray) -> NDArray[np.int32]:
        """Return the ranks of rows in the order asked for, without a copy of the table."""
        ranks = np.empty((len(rows), len(self.codes)), np.int32)
        for place, codes in enumerate(self.codes):
            ranks[:, place] = codes[rows]
        return ranks

    @property
    def shape_arrays(self) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """What a kernel needs to turn ranks into loss."""
        return self.kinds, self.coords, self.offsets, self.units


@dataclass(frozen=True, eq=False, repr=False)
class Coded(Brief):
    """A table as ranks: quasi columns, sensitive columns, and which input rows they are.

    Rows of different `strata` are never mixed in a group, and `person_of` says whom each row is
    about. At most `most_rows` of one person are to be published (`capped` are not here), and
    `rows_known` says whether a reader may know how many a person has. `linked` are tables of more
    rows about them. `cells` says how cells are drawn; columns of `never_mix` stay as they are.
    Where regions were drawn before, in a series, `drawn` has those of each row.
    """

    _brief = ("quasi", "sensitive", "rows")

    quasi: tuple[Column, ...]
    sensitive: tuple[Column, ...]
    rows: NDArray[np.int64]
    person_of: PersonOf
    strata: Partition
    weights: Mapping[str, float] = field(default_factory=dict)
    most_rows: int | None = None
    rows_known: bool = True
    linked: tuple[Linked, ...] = ()
    capped: NDArray[np.int64] | None = None
    cells: str = TIGHT
    drawn: Sequence[Mapping[str, Any]] | None = None
    never_mix: tuple[str, ...] = ()

    whom: ClassVar[str] = "rows"  # what is counted, for sentences

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def persons(self) -> tuple[PersonOf, ...]:
        """Whom the rows are about, and those of each linked table."""
        return (self.person_of, *(one.person_of for one in self.linked))

    @property
    def table(self) -> Coded:
        """The table of rows that this is, or is made from."""
        return self

    def value(self, names: tuple[str, ...]) -> Sensitive:
        """Return sensitive columns by their names, taken together; of a linked table too."""
        other = self.table_of(names)
        if other is not None:
            return other.value(names)
        known = {column.name: column for column in self.sensitive}
        return Sensitive.of(tuple(known[name] for name in names))

    def table_of(self, names: tuple[str, ...]) -> Linked | None:
        """Return the linked table that has these columns, None where it is this one."""
        for one in self.linked:
            if names[0] in {column.name for column in one.sensitive}:
                return one
        return None

    def linking(self, rows: Sequence[NDArray[np.int64]]) -> Coded:
        """Return the table with some of the rows of each linked table alone."""
        some = (one.part(kept) for one, kept in zip(self.linked, rows, strict=True))
        return replace(self, linked=tuple(some))

    def _linked_to(self, rows: NDArray[np.int64], *, only: bool) -> tuple[Linked, ...]:
        """Return the linked rows about the people of some rows, numbered as these will be."""
        if not self.linked:
            return ()
        people = np.unique(self.person_of.labels[rows])
        return tuple(one.about(people, only=only) for one in self.linked)

    def subset(self, kept: NDArray[np.int64]) -> Coded:
        """Return some of the rows, with nothing left of the others, not even their values."""
        return self._some(kept, Column.only, only=True)

    def part(self, rows: NDArray[np.int64]) -> Coded:
        """Return some of the rows over the same domains, so that losses can be compared."""
        return self._some(rows, Column.part, only=False)

    def _some(
        self,
        rows: NDArray[np.int64],
        of: Callable[[Column, NDArray[np.int64]], Column],
        *,
        only: bool,
    ) -> Coded:
        return replace(
            self,
            quasi=tuple(of(column, rows) for column in self.quasi),
            sensitive=tuple(of(column, rows) for column in self.sensitive),
            rows=self.rows[rows],
            person_of=self.person_of.only(rows),
            strata=self.strata.only(rows),
            linked=self._linked_to(rows, only=only),
        )

    def afresh(self) -> Coded:
        """Return the table as if nothing else had been offered: it is its own scale from now on."""
        return replace(
            self,
            quasi=tuple(replace(one, offered=None) for one in self.quasi),
            sensitive=tuple(replace(one, offered=None) for one in self.sensitive),
            linked=tuple(one.afresh() for one in self.linked),
        )

    def among(self, people: Sequence[Column]) -> Coded:
        """Return the table with a place for people's values in every tree."""
        quasi = tuple(own.among(theirs) for own, theirs in zip(self.quasi, people, strict=True))
        return replace(self, quasi=quasi)

    @cached_property
    def space(self) -> Space:
        """The quasi columns as kernel arrays."""
        tables = [_table(column) for column in self.quasi]
        return self._laid_out(
            [NODE + table.shape[1] if column.tree else _kind(column)
             for column, table in zip(self.quasi, tables, strict=True)],
            [table.ravel() for table in tables],
        )  # fmt: skip

    @cached_property
    def line(self) -> Space:
        """The same for searches that measure along lines: a hierarchy's labels stand on one.

        Neighbours in tree order stand apart by the NCP of what covers both.
        """
        return self._laid_out(
            [_kind(column) for column in self.quasi], [coordinates(c) for c in self.quasi]
        )

    @property
    def column_weights(self) -> NDArray[np.float64]:
        """How much each quasi column counts: 1 on average, so that the whole loss stays."""
        weights = np.array([self.weights.get(column.name, 1.0) for column in self.quasi])
        return weights * (len(weights) / weights.sum())

    def _laid_out(self, kinds: list[int], tables: list[NDArray[np.float64]]) -> Space:
        weights = self.column_weights
        steps = [
            1 if kind == INTERVAL else max(column.distinct - 1, 1)
            for column, kind in zip(self.quasi, kinds, strict=True)
        ]
        return Space(
            codes=tuple(column.codes for column in self.quasi),
            kinds=np.array(kinds, np.int8),
            coords=np.concatenate([t * w for t, w in zip(tables, weights, strict=True)]),
            offsets=np.concatenate([[0], np.cumsum([len(table) for table in tables])]).astype(
                np.int64
            ),
            units=np.array([1 / count for count in steps]) * weights,
        )


def _kind(column: Column) -> int:
    """Return how a column without a tree of its own is measured."""
    return SET if column.values is None and column.tree is None else INTERVAL


def _table(column: Column) -> NDArray[np.float64]:
    """Return what the loss of a range of ranks is read from (see `shoal.kernels.space`).

    One number a rank, its coordinate. With a hierarchy, row r has at place i the largest NCP of
    what covers two neighbours among the ranks r to r + 2**i.
    """
    if column.tree is None:
        return coordinates(column)[:, None]
    gaps = np.append(_gaps(column), 0.0)
    rows = [gaps]
    while 2 ** len(rows) < len(gaps):
        step = 2 ** (len(rows) - 1)
        rows.append(np.maximum(rows[-1], np.append(rows[-1][step:], np.zeros(step))))
    return np.column_stack(rows)


def _gaps(column: Column) -> NDArray[np.float64]:
    """Return the NCP of the node that covers each rank and the next."""
    assert column.tree is not None
    ranks = np.arange(column.distinct, dtype=np.int32)
    return column.tree.ncp[column.nodes(ranks[:-1], ranks[1:])]


def coordinates(column: Column) -> NDArray[np.float64]:
    """Return where each rank stands when the whole column has length one (0 for one value).

    Missing numbers stand beyond all others, as far from the highest as the lowest is: whatever
    covers them and any number costs no less than the whole column does.
    """
    if column.tree is not None:
        along = np.concatenate([[0.0], np.cumsum(_gaps(column))])
        return along / (along[-1] or 1.0)
    if column.values is None:
        return np.arange(column.distinct) / max(column.distinct - 1, 1)
    ranks = np.arange(len(column.values))
    found = widths(column, np.zeros_like(ranks), ranks)
    return found if column.gap is None else np.append(found, AWAY)


def widths(column: Column, low: NDArray, high: NDArray) -> NDArray[np.float64]:
    """Return which share of a numeric column's range lies between ranks (0 for one value).

    Differences are taken before anything is rounded, so large numbers close together keep theirs.
    From a number to missing ones it is all of it. Where bounds are given, the range is theirs.
    """
    if column.gap is not None:
        known = np.minimum(high, column.gap - 1)
        mixed = (high == column.gap) & (low < column.gap)
        plain = replace(column, spellings=column.known)
        return np.where(mixed, 1.0, widths(plain, np.minimum(low, known), known))
    values = column.exact
    if values.dtype == np.float64 and np.abs(values[[0, -1]]).max() > HUGE:
        values = values / 2  # so that the span cannot overflow
    span = values[-1] - values[0] if column.bounds is None else bounds_width(column)
    if span <= 0:
        return np.zeros(len(low))
    return ((values[high] - values[low]) / span).astype(np.float64)


def kept_rows(table: pl.DataFrame, schema: Schema, missing: Missing) -> pl.Series:
    """Return which rows stay, for all that is missing in them, or raise."""
    needed = (*schema.quasi, *schema.sensitive, *schema.persons)
    return complete_rows(table, needed, missing, schema.missing_cells)


def code_table(
    table: pl.DataFrame,
    schema: Schema,
    *,
    missing: Missing = "error",
    asked: Mapping[str, bool] = NOTHING,
    offered: pl.Series | None = None,
    progress: Progress = silent,
) -> Coded:
    """Code a table by its schema, raising a sentence for whatever cannot be used.

    `asked` has the sensitive columns that a requirement is about, and whether it needs numbers.
    Rows that are not `offered` leave no trace, not even in what a column is taken for.
    """
    schema.check(table.columns)
    if not table.height:
        msg = "The table has a header but no rows."
        raise InputError(msg)
    for name in (*schema.quasi, *schema.sensitive):
        check_type(table[name])
    table = schema.read_numbers(table, "quasi", "sensitive")
    complete = kept_rows(table, schema, missing)
    keep = complete if offered is None else complete & offered
    rows = keep.arg_true().to_numpy().astype(np.int64)
    table = table if len(rows) == table.height else table.filter(keep)

    columns = (*schema.quasi, *schema.sensitive)

    def code(name: str) -> Column:
        progress("code", columns.index(name) / len(columns))
        return code_cells(table[name], schema, asked)

    quasi = tuple(map(code, schema.quasi))
    return Coded(
        quasi=quasi,
        sensitive=tuple(map(code, schema.sensitive)),
        rows=rows,
        person_of=persons_of(table, schema.person),
        strata=strata_of(quasi, schema, len(rows)),
        weights=schema.weights,
        most_rows=schema.most_rows,
        rows_known=schema.rows_known,
        capped=None if offered is None else (complete & ~offered).arg_true().to_numpy(),
        never_mix=schema.never_mix,
    )


def code_cells(
    cells: pl.Series,
    schema: Schema,
    asked: Mapping[str, bool] = NOTHING,
    times: NDArray[np.int64] | None = None,
) -> Column:
    """Code the cells of a quasi or sensitive column; `times` says how many rows have each."""
    name = cells.name
    said, order = schema.types.get(name), schema.order.get(name)
    if name in schema.sensitive:
        coded = code_asked(cells, numbers=asked.get(name), kind=said, order=order)
        return replace(coded, times=times)
    known = replace(code_lenient(cells, kind=said, order=order), times=times)
    known = said_of_column(known, schema.step, schema.bounds)
    return known.under(schema.hierarchies[name]) if name in schema.hierarchies else known


def persons_of(table: pl.DataFrame, person: str | None) -> PersonOf:
    """Return whom each row of a table is about, by the cells of a column that says it."""
    return Everyone(table.height) if person is None else PersonOf(code_persons(table[person]))


def strata_of(quasi: Sequence[Column], schema: Schema, rows: int) -> Partition:
    """Return the rows that may be mixed: those alike in the columns that are never mixed."""
    found = [column for column in quasi if column.name in schema.never_mix]
    if not found:
        return OnePart(rows)
    labels = np.zeros(rows, np.int64)
    for column in found:
        labels = renumber(labels * column.distinct + column.codes)
    return Partition(labels)
