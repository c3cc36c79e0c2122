"""Linked tables: more rows about the people of a table, as their visits are.

A linked table has a name, under which it is published. Its columns are called by both names,
`visits.diagnosis`, wherever they stand beside those of the first table. It has the person column of
the first table and no quasi columns: its rows are in the groups of their people.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.errors import BadCells, InputError, UsageError, option
from shoal.table.coding import check_type, code_asked
from shoal.table.missing import MISSING_LABEL, complete_rows, first_rows
from shoal.table.partition import PersonOf, renumber
from shoal.table.schema import CELLS, PERSON, RESERVED, Schema
from shoal.table.sensitive import Sensitive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from shoal.table.coded import Coded
    from shoal.table.column import Column
    from shoal.table.missing import Missing

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
TAKEN = ("release", "people", "values", "manifest", "report", "codebook")  # files of a release


@dataclass(frozen=True, eq=False)
class Linked:
    """The rows of a linked table as ranks, and whom each is about, numbered as in the first."""

    name: str
    sensitive: tuple[Column, ...]
    rows: NDArray[np.int64]
    person_of: PersonOf
    capped: NDArray[np.int64] | None = None  # rows beyond what is published of a person

    def part(self, rows: NDArray[np.int64]) -> Linked:
        """Return some of the rows, over the same values."""
        return replace(
            self,
            sensitive=tuple(column.part(rows) for column in self.sensitive),
            rows=self.rows[rows],
            person_of=replace(self.person_of, labels=self.person_of.labels[rows]),
        )

    def about(self, people: NDArray[np.int64], *, only: bool) -> Linked:
        """Return the rows about some people, who are numbered anew in this order.

        With `only`, nothing is left of the values of the others.
        """
        numbers = np.full(len(self.person_of), -1, np.int64)
        numbers[people] = np.arange(len(people))
        kept = np.flatnonzero(self.person_of.of_row(numbers) >= 0)
        some = self.part(kept)
        sensitive = some.sensitive
        if only and len(kept):
            sensitive = tuple(column.only(kept) for column in self.sensitive)
        whom = PersonOf(some.person_of.of_row(numbers), len(people))
        return replace(some, sensitive=sensitive, person_of=whom)

    def afresh(self) -> Linked:
        """Return the table as if nothing else had been offered."""
        return replace(self, sensitive=tuple(replace(one, offered=None) for one in self.sensitive))

    def value(self, names: tuple[str, ...]) -> Sensitive:
        """Return sensitive columns by their names, taken together."""
        known = {column.name: column for column in self.sensitive}
        return Sensitive.of(tuple(known[name] for name in names))


@dataclass(frozen=True, eq=False)
class LinkedTable:
    """A linked table as it came in, its columns under both names, and what each of them is."""

    table: pl.DataFrame
    schema: Schema
    given: Any = None


def check_linked_name(name: str) -> None:
    """Raise where a linked table cannot be called so: a file is named after it."""
    if not NAME.fullmatch(name) or name.lower() in TAKEN:
        msg = (
            "Shoal publishes a linked table under its name. The name must begin with a letter, "
            f"have only letters, digits, - and _, and not be one of {', '.join(TAKEN)}. Got "
            f"{name!r}."
        )
        raise UsageError(msg)


def parted(schema: Schema, names: Iterable[str]) -> Schema:
    """Return a schema whose columns of linked tables stand in schemas of their own."""
    for name in names:
        if name not in schema.linked:
            schema = _part(schema, name)
    return schema


def _part(schema: Schema, name: str) -> Schema:
    check_linked_name(name)
    if schema.person is None:
        msg = (
            f"The table {name!r} is linked by people. Name the column that identifies the "
            f"person behind each row: {option('person')}."
        )
        raise UsageError(msg)

    _check_roles(schema, name)
    roles = ("sensitive", "identifying", "other")
    front = f"{name}."
    sides: list[dict[str, Any]] = [{}, {}]
    for side, inside in zip(sides, (False, True), strict=True):
        for role in (*roles, "nobody_knows"):
            side[role] = [one for one in getattr(schema, role) if one.startswith(front) == inside]
        for key in ("types", "order", *CELLS):
            said = getattr(schema, key)
            side[key] = {one: what for one, what in said.items() if one.startswith(front) == inside}
    first, second = sides
    schema_of = Schema(**second, decimal=schema.decimal, person=f"{front}{schema.person}")
    return replace(schema, **first, linked={**schema.linked, name: schema_of})


def _check_roles(schema: Schema, name: str) -> None:
    """Raise where columns of a linked table have roles that they cannot have, or none has any."""

    def own(column: str) -> bool:
        return column.startswith(f"{name}.")

    for role in ("quasi", "never_mix", "pseudonymize"):
        if wrong := [column for column in getattr(schema, role) if own(column)]:
            msg = (
                f"{', '.join(map(repr, wrong))}: columns of a linked table can only be "
                "sensitive or other."
            )
            raise UsageError(msg)
    if schema.survey_weight is not None and own(schema.survey_weight):
        msg = f"The survey weight {schema.survey_weight!r} has to be a column of the first table."
        raise UsageError(msg)
    shown = [column for column in (*schema.sensitive, *schema.other) if own(column)]
    if not shown:
        msg = (
            f"No column of the table {name!r} would be published. Name columns of it, for "
            f"example {option('other', f'{name}.COLUMN')}."
        )
        raise UsageError(msg)
    for column in shown:
        if (plain := column.removeprefix(f"{name}.")) in {RESERVED, PERSON}:
            msg = f"A release has a column {plain!r} of its own. Rename {column!r} first."
            raise UsageError(msg)


def plainly(schema: Schema, name: str) -> Schema:
    """Return the schema of a linked table with columns called as in its own file."""
    front = f"{name}."

    def bare(said: Any) -> Any:
        if isinstance(said, tuple):
            return tuple(one.removeprefix(front) for one in said)
        return {one.removeprefix(front): what for one, what in said.items()}

    keys = ("sensitive", "identifying", "other", "nobody_knows", "types", "order", *CELLS)
    return Schema(
        **{key: bare(getattr(schema, key)) for key in keys},
        decimal=schema.decimal,
        person=str(schema.person).removeprefix(front),
    )


def under_both_names(table: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return a table with its columns called as beside those of another."""
    return table.rename({column: f"{name}.{column}" for column in table.columns})


def check_columns(name: str, table: pl.DataFrame, schema: Schema, first: Sequence[str]) -> None:
    """Raise where a linked table lacks a column, or the first has one that is called alike."""
    schema.check(table.columns)
    for column in table.columns:
        if column in first:
            msg = (
                f"The first table has a column {column!r}, and {name!r} is a linked table. "
                "Give the linked table another name."
            )
            raise UsageError(msg)


def code_linked(
    name: str,
    one: LinkedTable,
    first: pl.Series,
    coded: Coded,
    *,
    missing: Missing,
    asked: Mapping[str, bool],
    offered: Callable[[PersonOf], NDArray[np.bool_]] | None = None,
) -> Linked:
    """Code a linked table; raises where a row is about nobody of the first.

    `first` is the person column of the first table, all of it. Whoever is left out of the first for
    a missing cell is left out of this one. `offered` says which rows of people leave a trace.
    """
    schema = one.schema
    for column in schema.sensitive:
        check_type(one.table[column])
    table = schema.read_numbers(one.table, "sensitive")
    own = str(schema.person)
    keep = complete_rows(table, (*schema.sensitive, own), missing, schema.missing_cells)
    whom = _people(table[own], first, coded, keep)
    rows = np.flatnonzero(keep.to_numpy() & (whom >= 0))
    if not len(rows):
        msg = f"Shoal would publish no row of the linked table {name!r}."
        raise InputError(msg)
    capped = None
    if offered is not None:
        stays = offered(PersonOf(renumber(whom[rows])))
        rows, capped = rows[stays], rows[~stays]
    table = table[rows]
    columns = tuple(
        code_asked(
            table[column],
            numbers=asked.get(column),
            kind=schema.types.get(column),
            order=schema.order.get(column),
        )
        for column in schema.sensitive
    )
    people = PersonOf(whom[rows], len(coded.person_of))
    return Linked(name, columns, rows, people, capped)


def _people(cells: pl.Series, first: pl.Series, coded: Coded, keep: pl.Series) -> NDArray[np.int64]:
    """Return the number that the person of each row has in the first table, -1 if left out."""
    numbers = np.full(len(first), -1, np.int64)
    numbers[coded.rows] = coded.person_of.labels
    known = pl.DataFrame({"cell": spelled_people(first), "number": numbers})
    known = known.group_by("cell").agg(pl.col("number").max())
    found = pl.DataFrame({"cell": spelled_people(cells)}).join(
        known, on="cell", how="left", maintain_order="left"
    )["number"]
    unknown = found.is_null() & keep
    if unknown.any():
        advice = (
            "They belong to people who are not in the first table. Remove those rows, or add "
            "the people to the first table."
        )
        count = int(unknown.sum())
        raise BadCells(cells.name, "unknown", first_rows(unknown), count, advice)
    return found.fill_null(-1).to_numpy()


def spelled_people(cells: pl.Series) -> pl.Series:
    """Return how people are written, whatever type their column has."""
    if cells.dtype.is_float():
        cells = cells.fill_nan(None)
    return cells.cast(pl.String).fill_null(MISSING_LABEL)
