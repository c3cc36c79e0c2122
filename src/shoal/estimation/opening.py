"""A release as an analyst has it: members and values by group, from its public files alone.

Within a group neither the order of the members nor that of the values says anything, so both are
sorted: a release in memory and its directory give the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.cells import interval_ends, interval_means, read_cover
from shoal.audit.claims import manifest_schema
from shoal.audit.published import as_read, open_checked
from shoal.audit.tables import open_stated
from shoal.errors import InputError, UnknownColumn
from shoal.estimation.augmenting import GroupCells, drawn_columns, grid_column
from shoal.release.manifest import NoConclusion, check_analysable, check_drawable
from shoal.table.coding import code_lenient
from shoal.table.forms import TWO_TABLES
from shoal.table.schema import RESERVED
from shoal.table.settling import weights_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from shoal.release.manifest import Manifest
    from shoal.release.stated import StatedColumn
    from shoal.table.column import Column
    from shoal.table.schema import Schema


@dataclass(frozen=True, eq=False)
class Analysable:
    """DrawnMembers and values, both by group; who has which value of the group is not known.

    Attributes
    ----------
    manifest : what the release says of itself.
    starts : where each group begins.
    quasi : the columns of the members; of one table, as one draw has them.
    values : the sensitive columns; the values of one row stand together.
    weights : the survey weight of each member, the mean of the group; None where there is none.
    cells : of one table: what the cells of the groups say of each quasi column.
    """

    manifest: Manifest
    starts: NDArray[np.int64]
    quasi: Mapping[str, Column]
    values: Mapping[str, Column]
    weights: NDArray[np.float64] | None = None
    cells: Mapping[str, GroupCells] = field(default_factory=dict)

    def filled(self, codes: NDArray[np.int32]) -> Analysable:
        """Return the release with the quasi values of one draw."""
        return replace(self, quasi=drawn_columns(self.cells, codes))

    @property
    def rows(self) -> int:
        """How many members there are."""
        return int(self.starts[-1])

    def value(self, name: str | None) -> Column:
        """Return a sensitive column, the only one where none is named."""
        if name is None and len(self.values) == 1:
            (name,) = self.values
        if name not in self.values:
            raise UnknownColumn(str(name), list(self.values), "among the sensitive ones")
        return self.values[str(name)]


def numbers_of(column: Column) -> NDArray:
    """Return the number of each row, whole numbers as such; that of a date is in days."""
    return np.asarray(column.numbers)[column.codes]


def labels_of(column: Column) -> NDArray:
    """Return the label of each row."""
    return column.spellings.to_numpy()[column.codes]


def settled_values(starts: NDArray[np.int64], column: Column) -> NDArray[np.bool_]:
    """Return whose value follows from the release: those in groups of one value."""
    least = np.minimum.reduceat(column.codes, starts[:-1])
    most = np.maximum.reduceat(column.codes, starts[:-1])
    return np.repeat(least == most, np.diff(starts))


def installed() -> bool:
    """Return whether everything that draws completed tables is installed: the extra `estimate`."""
    needed = ("formulaic", "statsmodels", "scipy", "threadpoolctl")
    return all(find_spec(one) is not None for one in needed)


def open_release(source: Any, check: Callable[[Manifest], None] = check_analysable) -> Analysable:
    """Read a release, or its directory, by what is published of it.

    With another check it may be one of one table, which has values alone.
    """
    if isinstance(source, Analysable):
        return source
    if isinstance(source, str | Path):
        manifest = open_stated(Path(source))
        check(manifest)
        published = open_checked(Path(source), manifest)
        people, values = published.people, published.table
    elif hasattr(source, "manifest") and hasattr(source, "parts"):
        manifest = source.manifest
        check(manifest)
        people, values = _in_memory(source, manifest)
    else:
        msg = f"estimate needs a release or its directory, not a {type(source).__name__}."
        raise InputError(msg)
    schema = manifest_schema(manifest)
    if people is None:
        return _one_table(manifest, schema, values)
    people = schema.read_numbers(people, "quasi", "other")
    values = schema.read_numbers(values, "sensitive")
    kinds = {one.name: one.type for one in manifest.columns}
    labels = {one.name for one in manifest.columns if one.kind == "set"}
    quasi = {
        name: code_lenient(people[name], kind="categorical" if name in labels else kinds[name])
        for name in schema.quasi
    }
    sensitive = {name: code_lenient(values[name], kind=kinds[name]) for name in schema.sensitive}
    _check_complete(*quasi.values(), *sensitive.values())
    members, starts = _by_group(people, quasi)
    order, others = _by_group(values, sensitive)
    if not np.array_equal(starts, others):
        msg = "The groups of people and of values are not the same, or not as large."
        raise InputError(msg)
    weights = None
    if manifest.survey_weight is not None:
        weights = weights_of(people[manifest.survey_weight]).to_numpy()[members]
    return Analysable(
        manifest,
        starts,
        {name: one.part(members) for name, one in quasi.items()},
        {name: one.part(order) for name, one in sensitive.items()},
        weights,
    )


def _in_memory(source: Any, manifest: Manifest) -> tuple[pl.DataFrame | None, pl.DataFrame]:
    """Return the two tables of a release that is not written yet; no people where it is one."""
    if manifest.form != TWO_TABLES:
        return None, as_read(source).table
    tables = (pl.concat(replace(one, escape=False).text()) for one in source.parts.values())
    people = next(tables)
    return people, next(tables)


def _one_table(manifest: Manifest, schema: Schema, table: pl.DataFrame) -> Analysable:
    """Return what is known of a release of one table, members and values by group.

    Where the model cannot be told what cells allow, that is its values alone.
    """
    try:
        check_drawable(manifest)
    except NoConclusion:
        return _values_alone(manifest, schema, table)
    table = schema.read_numbers(table, "sensitive", "other")
    kinds = {one.name: one.type for one in manifest.columns}
    sensitive = {name: code_lenient(table[name], kind=kinds[name]) for name in schema.sensitive}
    _check_complete(*sensitive.values())
    order, starts = _by_group(table, sensitive)
    first = pl.Series(order[starts[:-1]])
    cells = {
        one.name: _cells(one, table[one.name].cast(pl.String).gather(first))
        for one in manifest.columns
        if one.quasi
    }
    weights = None
    if manifest.survey_weight is not None:
        weights = weights_of(table[manifest.survey_weight]).to_numpy()[order]
    values = {name: one.part(order) for name, one in sensitive.items()}
    random = np.random.default_rng(0)  # a draw to begin with: the same for everybody
    codes = np.column_stack([one.fill(starts, random) for one in cells.values()])
    return Analysable(manifest, starts, {}, values, weights, cells).filled(codes)


def _cells(stated: StatedColumn, texts: pl.Series) -> GroupCells:
    """Return what the cells of the groups say of a column."""
    cover, outside = read_cover(texts, stated)
    assert not outside.any()
    domain = cover.domain
    if not stated.has_ends:
        assert cover.starts is not None
        starts, listed = cover.starts, cover.ranks
        return GroupCells(domain, cover.low, cover.high, (starts, listed))
    numbers = np.asarray(domain.numbers, np.float64)
    column, low, high = grid_column(stated.name, numbers[cover.low], numbers[cover.high])
    said, means = interval_means(texts), None
    if said.is_not_null().any():
        every = said.fill_null(interval_ends(texts)[0])
        means = numbers_of(code_lenient(every, kind="date" if stated.dates else "numeric"))
    return GroupCells(column, low, high, means=means)


def _values_alone(manifest: Manifest, schema: Schema, table: pl.DataFrame) -> Analysable:
    """Return what is known of the values of a release of one table, all rows as one group."""
    table = schema.read_numbers(table, "sensitive", "other")
    kinds = {one.name: one.type for one in manifest.columns}
    values = {name: code_lenient(table[name], kind=kinds[name]) for name in schema.sensitive}
    _check_complete(*values.values())
    order = np.lexsort([one.codes for one in values.values()])
    weights = None
    if manifest.survey_weight is not None:
        weights = weights_of(table[manifest.survey_weight]).to_numpy()
        if len(np.unique(weights)) > 1:
            check_analysable(manifest)
    sorted_values = {name: one.part(order) for name, one in values.items()}
    return Analysable(manifest, np.array([0, table.height]), {}, sorted_values, weights)


def _check_complete(*columns: Column) -> None:
    for one in columns:
        if one.gap is not None:
            msg = (
                f"Some values of {one.name} are missing, and the model needs the numbers of "
                "everyone. A release without rows that have missing cells allows estimates."
            )
            raise NoConclusion(msg)


def _by_group(
    table: pl.DataFrame, columns: Mapping[str, Column]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of a table by group, those of one group by their cells, and group starts."""
    group = table[RESERVED].cast(pl.Int64).to_numpy()
    order = np.lexsort([*(one.codes for one in columns.values()), group])
    sorted_groups = group[order]
    new = np.flatnonzero(sorted_groups[1:] != sorted_groups[:-1]) + 1
    return order, np.concatenate([[0], new, [len(group)]]).astype(np.int64)
