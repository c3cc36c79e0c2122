"""A population: everybody who could be in a table, coded to be compared with the table's values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import BadCells, InputError, UnknownColumn, UsageError
from shoal.table.coding import check_type, code_column, code_known
from shoal.table.ends import ranks_within
from shoal.table.missing import first_rows, is_missing

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl
    from numpy.typing import NDArray

    from shoal.table.coded import Coded
    from shoal.table.column import Column


@dataclass(frozen=True, eq=False)
class People:
    """The quasi columns of a population, coded by their own values."""

    columns: tuple[Column, ...]

    def __len__(self) -> int:
        return len(self.columns[0].codes)

    def places(self, coded: Coded) -> NDArray[np.int64]:
        """Return where each person stands among the values of a table, a column each.

        A person with the value of rank r stands at 2 r + 1, one between ranks r - 1 and r at 2 r;
        in a column with a hierarchy, at the place in the tree that it has among these people
        (`Coded.among`). A label that the table does not have stands at -1.
        """
        found = np.empty((len(self), len(self.columns)), np.int64)
        for j, (own, theirs) in enumerate(zip(self.columns, coded.quasi, strict=True)):
            if theirs.numeric:
                first, last = ranks_within(theirs, own.spellings, own.spellings)
                places = first + last + 1
            elif theirs.grown is not None:
                assert theirs.grown.standing is not None, "see Coded.among"
                places = theirs.grown.standing
            else:
                ranks = _placed(own.spellings, theirs.spellings)
                places = np.where(ranks < 0, -1, 2 * ranks + 1)
            found[:, j] = places[own.codes]
        return found


def _placed(texts: Iterable[str], labels: Iterable[str]) -> NDArray[np.int64]:
    """Return the place of each text among labels, -1 where it is none of them."""
    place = {label: position for position, label in enumerate(labels)}
    return np.array([place.get(text, -1) for text in texts], np.int64)


def check_people(population: pl.DataFrame, quasi: tuple[str, ...]) -> None:
    """Raise where a population lacks a column or people."""
    for name in quasi:
        if name not in population.columns:
            msg = f"The population: {UnknownColumn(name, population.columns)}"
            raise UsageError(msg)
        check_type(population[name])
    if not population.height:
        msg = "The population has a header but no rows."
        raise InputError(msg)


def refuse_missing(cells: pl.Series) -> None:
    """Raise where a number of somebody is missing: it has no place in an interval."""
    missing = is_missing(cells)
    if missing.any():
        advice = "Leave those people out of the population, or fill the cells in."
        what = f"{cells.name} (population)"
        raise BadCells(what, "missing", first_rows(missing), int(missing.sum()), advice)


def code_people(population: pl.DataFrame, coded: Coded) -> People:
    """Code a population by the kinds that the columns of the table have."""
    check_people(population, tuple(column.name for column in coded.quasi))
    columns = []
    for column in coded.quasi:
        cells = population[column.name]
        source = column if column.grown is None else column.grown.source
        kind = "date" if source.dates else "numeric" if source.numeric else "categorical"
        if column.grown is not None:
            columns.append(code_known(cells, kind=kind))
            continue
        if column.numeric:
            refuse_missing(cells)
        columns.append(code_column(cells, kind=kind))
    return People(tuple(columns))


def code_both(population: pl.DataFrame | None, coded: Coded) -> tuple[Coded, People | None]:
    """Code a population, if there is one, and give its values a place in the table's trees."""
    if population is None:
        return coded, None
    people = code_people(population, coded)
    return coded.among(people.columns), people
