"""A published table as its reader sees it: rows, groups, and what each column is.

A reader groups rows by a group column, where there is one, and otherwise by equal published cells.
Equality is all that takes, so it does not matter how a cell is spelled, and a missing cell is a
cell like any other: no row is ever left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.audit.cells import as_text, without_escapes
from shoal.audit.claims import manifest_schema
from shoal.audit.forms import Tables
from shoal.audit.gate import open_stated, open_tables
from shoal.audit.verify import alike, check_rows
from shoal.errors import UnknownColumn, UsageError, option
from shoal.principles.requirement import requirements
from shoal.table.coding import code_lenient
from shoal.table.databases.access import is_address, name_of
from shoal.table.forms import INTERVALS, TWO_TABLES
from shoal.table.reading import read_table, take_frame
from shoal.table.schema import PERSON, RESERVED, Schema
from shoal.table.settling import with_date_formats

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from shoal.principles.groups import Groups
    from shoal.principles.requirement import Requirement
    from shoal.release.manifest import Manifest
    from shoal.release.release import ReleaseData
    from shoal.table.column import Column


@dataclass(frozen=True, eq=False)
class Published:
    """A published table, its quasi cells as text, and the column that names groups, if any.

    A heterogeneous release has neither groups nor equal cells to make them from. `kinds` of quasi
    columns come from a manifest; without one, how cells are spelled is guessed.
    """

    name: str
    table: pl.DataFrame
    schema: Schema
    group: str | None
    heterogeneous: bool = False
    kinds: Mapping[str, str] = field(default_factory=dict)
    form: str = INTERVALS
    person: str | None = None  # the column that says whom rows are about, where people are attacked
    require: tuple[Requirement, ...] = ()  # what a manifest says must hold

    @classmethod
    def of(
        cls,
        manifest: Manifest,
        table: pl.DataFrame,
        schema: Schema,
        name: str,
        person: str | None = None,
        asked: Iterable[Requirement] = (),
    ) -> Published:
        """Take the table of a release, to be read as its manifest says."""
        mixed = bool(manifest.heterogeneous)
        group, told = None if mixed else RESERVED, tuple(asked)
        return cls(name, table, schema, group, mixed, manifest.kinds, manifest.form, person, told)

    @cached_property
    def by_cells(self) -> Groups:
        """Rows with equal published cells."""
        return alike(self.table, self.schema.quasi)

    @cached_property
    def groups(self) -> Groups:
        """The groups that a reader knows."""
        return alike(self.table, (self.group,)) if self.group else self.by_cells

    @cached_property
    def first_rows(self) -> NDArray[np.int64]:
        """The first row of each group."""
        return self.groups.first

    def group_id(self, group: int) -> str:
        """Return how a reader finds a group: by its id, or by its first row, counted from 1."""
        row = int(self.first_rows[group])
        return str(self.table[self.group][row]) if self.group else f"row {row + 1}"

    def sensitive(self, name: str) -> Column:
        """Code a sensitive column, of which cells may be missing."""
        return code_lenient(self.table[name], kind=self.schema.types.get(name))


PEOPLE = (
    "Several rows here may be about one person, and a survey counts rows: what it said would be "
    "too good. Audit the requirements instead, which are measured among people. What an attacker "
    f"learns of people needs the original table, {option('original')}, and its column "
    f"{option('person')}."
)


def open_published(
    source: Any,
    schema: Schema | None = None,
    group: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    *,
    people: bool = False,
) -> Published:
    """Read a release directory, or any table whose columns a schema names.

    `hierarchies` are those that the owner of a release listed. With `people`, rows may be about
    people, whom a schema names; without, that is refused.
    """
    path = Path(source) if isinstance(source, str | Path) else None
    person = None if schema is None else schema.person
    if person is not None and not people:
        raise UsageError(PEOPLE)
    if path is not None and path.is_dir():
        manifest = open_stated(path)
        table = open_tables(path, manifest).rows
        check_rows(table)
        if manifest.people is not None and person is None:
            table = _one_row_each(table)
        nodes = [c.name for c in manifest.columns if c.kind == "node"]
        owned = {name: said for name, said in (hierarchies or {}).items() if name in nodes}
        stated = manifest_schema(manifest, owned)
        whom = PERSON if person is not None and PERSON in table.columns else None
        asked = requirements(manifest.require, *stated.protected)
        found = Published.of(manifest, table, stated, path.name, whom, asked)
        return replace(found, schema=replace_types(stated, schema))
    table = read_table(source) if path is not None else take_frame(source)
    if schema is None or not schema.quasi or not schema.sensitive:
        msg = (
            f"A plain table needs {option('quasi')} and {option('sensitive')}, or a schema file "
            "that names them: "
            f"{option('schema')}. `shoal inspect` suggests which columns are what."
        )
        raise UsageError(msg)
    for name in (*schema.quasi, *schema.sensitive, *filter(None, (group, person))):
        if name not in table.columns:
            raise UnknownColumn(name, table.columns)
    if group in (*schema.quasi, *schema.sensitive):
        msg = f"Column {group!r} names groups and cannot have another role."
        raise UsageError(msg)
    check_rows(table)
    if group is None and RESERVED in table.columns and schema.role(RESERVED) is None:
        group = RESERVED
    texts = table.with_columns(as_text(table[name]) for name in schema.quasi)
    schema = with_date_formats(texts, schema, "sensitive")
    texts = schema.read_numbers(texts, "sensitive")
    name = (name_of(source) if is_address(source) else path.name) if path else "table"
    return Published(name, texts, schema, group, person=person)


def _one_row_each(table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of people who have one each, as in a series, without their numbers."""
    if PERSON not in table.columns or table[PERSON].n_unique() < table.height:
        raise UsageError(PEOPLE)
    return table.drop(PERSON)


def replace_types(stated: Schema, chosen: Schema | None) -> Schema:
    """Return a release's own schema with the types that a person chose."""
    if chosen is None:
        return stated
    sensitive = chosen.sensitive or stated.sensitive
    for name in sensitive:
        if name not in stated.sensitive:
            raise UnknownColumn(name, stated.sensitive, "among the sensitive ones")
    return Schema(
        quasi=stated.quasi,
        sensitive=sensitive,
        types=_of_columns({**stated.types, **chosen.types}, (*stated.quasi, *sensitive)),
        hierarchies=stated.hierarchies,
        decimal=stated.decimal,
        **stated.said_of((*stated.quasi, *sensitive)),
    )


def _of_columns(types: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    return {name: kind for name, kind in types.items() if name in names}


def plain_text(release: ReleaseData) -> pl.DataFrame:
    """Return the published table as text: no formula defused, numbers spelled plainly."""
    plain = release.published
    if release.recoding.escape:
        plain = without_escapes(plain, release.manifest.columns)
    return release.schema.read_numbers(plain, "sensitive")


def as_read(release: ReleaseData) -> Tables:
    """Return the published tables as whoever reads their files has them."""
    people = None
    if release.form == TWO_TABLES:
        people = pl.concat(replace(next(iter(release.parts.values())), escape=False).text())
    linked = {name: one.text(name) for name, one in release.linked.items()}
    return Tables(plain_text(release), people=people, linked=linked)
