"""A release as an analyst has it: members and values by group, from its public files alone.

Within a group neither the order of the members nor that of the values says anything, so both are
sorted: a release in memory and its directory give the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.claims import manifest_schema
from shoal.audit.gate import open_stated, open_tables
from shoal.errors import InputError, UnknownColumn
from shoal.table.coding import code_lenient
from shoal.table.forms import TWO_TABLES
from shoal.table.schema import RESERVED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from shoal.release.manifest import Manifest
    from shoal.table.column import Column


@dataclass(frozen=True, eq=False)
class Analysable:
    """Members and values, both by group; who has which value of the group is not known.

    Attributes
    ----------
    manifest : what the release says of itself.
    starts : where each group begins.
    quasi : the columns of the members.
    values : the sensitive columns; the values of one row stand together.
    """

    manifest: Manifest
    starts: NDArray[np.int64]
    quasi: Mapping[str, Column]
    values: Mapping[str, Column]

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


def open_release(source: Any) -> Analysable:
    """Read a release, or its directory, by what is published of it."""
    if isinstance(source, Analysable):
        return source
    if isinstance(source, str | Path):
        manifest = open_stated(Path(source))
        check_analysable(manifest)
        tables = open_tables(Path(source), manifest)
        assert tables.people is not None
        people, values = tables.people, tables.rows
    elif hasattr(source, "manifest") and hasattr(source, "parts"):
        manifest = source.manifest
        check_analysable(manifest)
        people, values = (
            pl.concat(replace(part, escape=False).text()) for part in source.parts.values()
        )
    else:
        msg = f"estimate needs a release or its directory, not a {type(source).__name__}."
        raise InputError(msg)
    schema = manifest_schema(manifest)
    people = schema.read_numbers(people, "quasi")
    values = schema.read_numbers(values, "sensitive")
    kinds = {one.name: one.type for one in manifest.columns}
    labels = {one.name for one in manifest.columns if one.kind == "set"}
    quasi = {
        name: code_lenient(people[name], kind="categorical" if name in labels else kinds[name])
        for name in schema.quasi
    }
    sensitive = {name: code_lenient(values[name], kind=kinds[name]) for name in schema.sensitive}
    for one in (*quasi.values(), *sensitive.values()):
        if one.gap is not None:
            msg = (
                f"Some values of {one.name} are missing, and the model needs the numbers of "
                "everybody. A release without rows that have missing cells allows estimates."
            )
            raise NoConclusion(msg)
    members, starts = _by_group(people, quasi)
    order, others = _by_group(values, sensitive)
    if not np.array_equal(starts, others):
        msg = "The groups of people and of values are not the same, or not as large."
        raise InputError(msg)
    return Analysable(
        manifest,
        starts,
        {name: one.part(members) for name, one in quasi.items()},
        {name: one.part(order) for name, one in sensitive.items()},
    )


def _by_group(
    table: pl.DataFrame, columns: Mapping[str, Column]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of a table by group, those of one group by their cells, and group starts."""
    group = table[RESERVED].cast(pl.Int64).to_numpy()
    order = np.lexsort([*(one.codes for one in columns.values()), group])
    sorted_groups = group[order]
    new = np.flatnonzero(sorted_groups[1:] != sorted_groups[:-1]) + 1
    return order, np.concatenate([[0], new, [len(group)]]).astype(np.int64)


class NoConclusion(Exception):
    """What cannot be concluded from a release, whatever is asked."""


def check_analysable(manifest: Manifest) -> None:
    """Raise where nothing can be concluded from a release of this kind."""
    if manifest.heterogeneous:
        msg = (
            "This release has no groups, so nobody can compute how likely each pairing of people "
            "and values is. A release by Oblivious() in the form two-tables allows estimates."
        )
        raise NoConclusion(msg)
    if manifest.people not in {None, manifest.rows}:
        msg = (
            "Some people have several rows in this release, and the model treats rows as "
            "independent. A release with one row per person allows estimates."
        )
        raise NoConclusion(msg)
    if manifest.survey_weight is not None:
        msg = (
            "This release has survey weights, and the model does not use them. A release without "
            "survey weights allows estimates about the people in it."
        )
        raise NoConclusion(msg)
    if manifest.form != TWO_TABLES:
        msg = (
            f"The form {manifest.form} publishes quasi-identifiers as ranges or sets, and this "
            "analysis needs their exact values. Ask the owner for the form two-tables."
        )
        raise NoConclusion(msg)
