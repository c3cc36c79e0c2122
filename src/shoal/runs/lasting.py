"""What lasts in a series: the regions that were drawn, and the groups that people were in.

Regions are drawn once, by the newcomers of a round, and are the same in all later releases. They
depend on nothing but these newcomers and what the schema says, and the ledger keeps them. Of those
who were published before, the ledger says in which groups they were.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.errors import UsageError, option
from shoal.release.building import as_found
from shoal.release.cells import cells
from shoal.release.cover import Cover
from shoal.release.ledger import GROUP, WHO
from shoal.release.regions import drawn_texts, remembered
from shoal.release.stated import StatedBirth
from shoal.table.coded import code_table
from shoal.table.coding import code_column
from shoal.table.grid import REGIONS
from shoal.table.partition import Partition, renumber

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from shoal.principles.groups import Groups
    from shoal.release.ledger import Ledger
    from shoal.release.manifest import Manifest
    from shoal.runs.ledger import Turn
    from shoal.runs.release import Release
    from shoal.runs.run import Run
    from shoal.table.coded import Coded
    from shoal.table.schema import Schema


def fixed_grid(run: Run) -> dict[str, Any]:
    """Return what a ledger fixes of how cells are drawn; None where they are tight.

    Raises where regions would depend on who happens to be in the first table.
    """
    if run.cells != REGIONS:
        return {"cells": None}
    _check_grid(run)
    grid = (run.schema.step, run.schema.bounds)
    step, bounds = ({name: _plain(said) for name, said in one.items()} for one in grid)
    return {"cells": REGIONS, "step": step, "bounds": bounds}


def _plain(said: Any) -> Any:
    return list(map(str, said)) if isinstance(said, list | tuple) else str(said)


def _check_grid(run: Run) -> None:
    schema = run.schema
    for name in (one for one in schema.quasi if one not in schema.never_mix):
        if name in schema.hierarchies:
            continue
        if name not in schema.bounds or name not in schema.step:
            msg = (
                "Regions of a series never change, so they cannot follow from the first table. "
                f"Say bounds and a step of column {name!r} in the schema file, or a hierarchy "
                "if it has labels."
            )
            raise UsageError(msg)
        if schema.missing_cells.get(name, run.missing) == "value":
            msg = (
                f"Regions of a series cannot cover missing numbers, and column {name!r} keeps "
                f"them. Leave those rows out: {option('missing', f'{name}=drop')}."
            )
            raise UsageError(msg)


def take_groups(ledger: Ledger, born: Release, groups: Groups, order: NDArray) -> None:
    """Give new groups their places in a ledger, in the order of their numbers."""
    if born.coded.cells == REGIONS:
        ledger.births.append(len(ledger.groups))
        drawn = remembered(born.coded, as_found(groups, born.recoding.layout))
        ledger.regions += [drawn[group] for group in np.argsort(order).tolist()]
    ledger.groups += [""] * len(groups)  # known when they are written


def with_regions(coded: Coded, ledger: Ledger, numbers: NDArray[np.int64]) -> Coded:
    """Return rows with the regions that the groups of these numbers were born with."""
    if not ledger.regions:
        return coded
    return replace(coded, drawn=[ledger.regions[one] for one in numbers.tolist()])


def say_births(manifest: Manifest, ledger: Ledger, coded: Coded, living: set[int]) -> None:
    """Say where the groups of each round begin, and which regions no group has any more."""
    names = manifest.named("quasi")
    for first, last in pairwise([*ledger.births, len(ledger.groups)]):
        gone = [ledger.regions[one] for one in range(first, last) if one not in living]
        manifest.births.append(StatedBirth(first, drawn_texts(coded, gone, names)))


def without_person(schema: Schema, types: Mapping[str, str] | None) -> Schema:
    """Return the schema of rows that are one person each, with types that are fixed."""
    return replace(schema, person=None, identifying=(), types={**schema.types, **(types or {})})


def look_back(
    ledger: Ledger,
    table: pl.DataFrame,
    schema: Schema,
    people: list[str],
    row_of: Mapping[str, int],
    turn: Turn,
) -> None:
    """Find people whose rows are not what was published of them any more."""
    if not ledger.rows.height:
        return
    rows = np.array([row_of.get(mark, -1) for mark in ledger.rows[WHO]])
    places = np.flatnonzero(rows >= 0)
    if not len(places):
        return
    before = ledger.rows[places]
    now = table[rows[places]].select(pl.col(ledger.fixed["columns"]).cast(pl.String))

    def changed(name: str) -> NDArray[np.bool_]:
        kind = ledger.fixed["types"].get(name)
        one, two = before[name], now[name]
        other = ~one.eq_missing(two).to_numpy()
        known = np.flatnonzero(other & (one.is_not_null() & two.is_not_null()).to_numpy())
        if kind in {"numeric", "date"} and len(known):  # one number may be spelled in several ways
            both = pl.concat([one[known], two[known]]).to_frame()
            spelled = schema.read_numbers(both, schema.role(name) or "")[name]
            codes = code_column(spelled, kind=kind).codes
            other[known] = codes[: len(known)] != codes[len(known) :]
        return other

    for name in schema.sensitive:
        other = changed(name)
        turn.log += [(people[rows[places[p]]], f"{name} changed") for p in np.flatnonzero(other)]
    values = {who for who, what in turn.log if what.endswith(" changed")}
    moved = np.zeros(len(places), bool)
    for name in schema.quasi:
        moved |= changed(name)
    outside = _outside(ledger, schema, places[moved], now.filter(pl.Series(moved)))
    turn.log += [(people[rows[p]], f"left the box: {', '.join(names)}") for p, names in outside]
    if values:
        turn.notes.append(
            f"People with a new value in your table: {len(values):,}. The release keeps the value "
            "that was published first, because readers who compare releases could see the change."
        )
    if outside:
        turn.notes.append(
            f"People who no longer fit the ranges of their group, for example because they moved: "
            f"{len(outside):,}. The release keeps the published ranges."
        )


@dataclass(frozen=True, eq=False)
class _Joined:
    """Rows of groups, each group with one row more or without."""

    order: NDArray[np.int64]
    starts: NDArray[np.int64]


def _outside(
    ledger: Ledger, schema: Schema, places: NDArray[np.int64], now: pl.DataFrame
) -> list[tuple[int, list[str]]]:
    """Return who is not covered by the cells of the own group any more, and in which columns."""
    if not len(places):
        return []
    plain = without_person(schema, ledger.fixed["types"])
    columns = list(ledger.fixed["columns"])
    table = pl.concat([ledger.rows.select(columns), now.select(columns)])
    coded = code_table(table, plain.only("quasi"), missing="value")
    groups = Partition(renumber(ledger.rows[GROUP].to_numpy()))
    members = [groups.rows(group) for group in groups.labels[places]]
    more = [np.append(m, ledger.rows.height + i) for i, m in enumerate(members)]

    def joined(parts: list[NDArray[np.int64]]) -> _Joined:
        ends = np.cumsum([0, *map(len, parts)])
        return _Joined(np.concatenate(parts), ends.astype(np.int64))

    left: dict[int, list[str]] = {}
    for column in coded.quasi:
        was, would = (cells(Cover.of(column, joined(p))) for p in (members, more))
        for place in np.flatnonzero((was != would).to_numpy()).tolist():
            left.setdefault(int(places[place]), []).append(column.name)
    return list(left.items())
