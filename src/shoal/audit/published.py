"""A release as its readers have it: rows, groups, what each column is, and what is said of it.

It is read from a directory, from batches of cells that are spelled and not written, or from a
release in memory: all become the same. A plain table whose columns a schema names is read likewise.

A reader groups rows by a group column, where there is one, and otherwise by equal published cells.
Equality is all that takes, so it does not matter how a cell is spelled, and a missing cell is a
cell like any other: no row is ever left out. A manifest may be anybody's. What it says of itself
was compared when it was read (`manifest`); what reads a release for other ends than an audit has it
compared with its files (`open_checked`), so that nobody meets cells of another kind.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.audit.cells import alike, as_text, cell_codes, check_rows, without_escapes
from shoal.audit.claims import (
    check_linked,
    check_manifest,
    check_real,
    manifest_schema,
    uneven_weights,
)
from shoal.audit.described import check_done
from shoal.audit.forms import flat_cells, one_cell_each, put_together, wrong_headers
from shoal.audit.tables import find_parts, only_file, open_stated, refuse
from shoal.errors import UnknownColumn, UsageError, option
from shoal.principles.groups import Groups
from shoal.principles.requirement import requirements
from shoal.progress import Progress, silent
from shoal.table.coding import code_lenient
from shoal.table.column import hierarchy_of
from shoal.table.columns import Gathered, without_cells
from shoal.table.databases.access import is_address, name_of
from shoal.table.files import separator_of
from shoal.table.forms import INTERVALS, RELEASE, TWO_TABLES, stems
from shoal.table.reading import read_lean, read_table, take_frame
from shoal.table.schema import PERSON, RESERVED, Schema
from shoal.table.settling import with_date_formats

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from shoal.principles.requirement import Requirement
    from shoal.release.manifest import Manifest
    from shoal.release.recoding import ReleaseData
    from shoal.table.column import Column


@dataclass(eq=False)
class Published:
    """The published tables as one, and what is said of them.

    A heterogeneous release has neither groups nor equal cells to make them from. Without a
    manifest, how quasi cells are spelled is guessed.

    Attributes
    ----------
    table : a row with cells for each, quasi cells as text; of two tables, boxes beside values.
    manifest : what its owner says of it, None of a plain table.
    said : what columns are, where no manifest says it or somebody knows better.
    name : what it is called among several.
    problems : what is wrong with how the tables are put together.
    people : of two tables, the one of the people, whose quasi cells stand there.
    linked : the tables that it is linked with, their columns under both names.
    whole : whether all rows are there.
    group : of a plain table, the column that names groups, if any.
    person : the column that says whom rows are about, where people are attacked.
    hierarchies : those that its owner listed; a manifest does not say what their nodes cover.
    """

    table: pl.DataFrame
    manifest: Manifest | None = None
    said: Schema | None = None
    name: str = "release"
    problems: tuple[str, ...] = ()
    people: pl.DataFrame | None = None
    linked: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    whole: bool = True
    group: str | None = None
    person: str | None = None
    hierarchies: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.manifest is not None and not self.manifest.heterogeneous:
            self.group = RESERVED

    @property
    def stated(self) -> Manifest:
        """What the owner of a release says of it."""
        assert self.manifest is not None
        return self.manifest

    @cached_property
    def schema(self) -> Schema:
        """The roles of the columns."""
        return self.said or manifest_schema(self.stated, self.hierarchies)

    @cached_property
    def heterogeneous(self) -> bool:
        """Whether there are neither groups nor equal cells to make them from."""
        return self.manifest is not None and bool(self.manifest.heterogeneous)

    @property
    def kinds(self) -> Mapping[str, str]:
        """What the cells of each quasi column are, where that is said."""
        return {} if self.manifest is None else self.manifest.kinds

    @property
    def form(self) -> str:
        """How groups are spelled."""
        return INTERVALS if self.manifest is None else self.manifest.form

    @cached_property
    def require(self) -> tuple[Requirement, ...]:
        """What must hold, as a manifest says."""
        if self.manifest is None:
            return ()
        return tuple(requirements(self.manifest.require, *self.schema.protected))

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

    def let_go(self) -> None:
        """Group rows by equal cells, and let go of these, each as soon as it is looked at."""
        cells = [self.table[name] for name in self.schema.quasi]
        self.table = without_cells(self.table, self.schema.quasi)
        every = (cell_codes(cells.pop(0)) for _ in range(len(cells)))
        self.by_cells = Groups.alike(self.table.height, every)

    def untrue(self) -> list[str]:
        """Return a sentence for everything that the manifest says wrongly of the tables."""
        manifest = self.stated
        problems = [*self.problems, *check_manifest(self.table, manifest, self.linked)]
        problems += check_linked(self.linked, manifest)
        if self.people is not None:
            problems += uneven_weights(self.people, manifest)
        if manifest.in_series:
            parts = [one for one in (self.table, self.people) if one is not None]
            problems += check_real(parts, manifest.asked)
        problems += check_done(self.table, manifest.columns, manifest)
        for name, table in self.linked.items():
            problems += check_done(table, manifest.linked_columns(name), manifest)
        return problems


# Reading


def read_release(
    directory: Path,
    manifest: Manifest,
    *,
    lean: bool = False,
    most: int | None = None,
    progress: Progress = silent,
) -> Published:
    """Read the published tables of a release directory, and say what is wrong with them.

    Of a table in parts only the first ones are read once they have `most` rows.
    """
    found = read_spelled(directory, manifest, lean=lean, most=most, progress=progress)
    return _with_numbers(found)


def read_spelled(
    directory: Path,
    manifest: Manifest,
    *,
    lean: bool = False,
    most: int | None = None,
    progress: Progress = silent,
) -> Published:
    """Read the same, quasi cells as text, nothing escaped, numbers spelled as they are."""
    form, whole = manifest.form, True
    flat = partial(flat_cells, manifest=manifest)
    tables = {}
    for stem in (*stems(form), *manifest.tables):
        if parts := find_parts(directory, stem, manifest.digests):
            some = parts if most is None else parts.first(most)
            tables[stem], whole = some.read(flat, progress), some.rows == parts.rows
            continue
        path = only_file(directory, stem, manifest.digests)
        separator = separator_of(path.name.removeprefix(f"{stem}."))
        if lean and form != TWO_TABLES:
            tables[stem] = read_lean(
                path, delimiter=separator, change=flat, progress=progress, phase="audit"
            )
        else:
            tables[stem] = flat(read_table(path, delimiter=separator))
    return replace(_assembled(tables, manifest), whole=whole)


def read_batches(spelled: Mapping[str, Iterable[pl.DataFrame]], manifest: Manifest) -> Published:
    """Read tables that are not written, from batches of spelled cells, as if they were."""
    tables = {}
    for stem, batches in spelled.items():
        gathered, rows, header = Gathered(lean=manifest.form != TWO_TABLES), 0, list[str]()
        for batch in batches:
            flat = flat_cells(batch, manifest)
            gathered.add(flat)
            rows, header = rows + flat.height, flat.columns
        tables[stem] = gathered.table(header, rows)
    return _with_numbers(_assembled(tables, manifest))


def as_meant(table: pl.DataFrame, manifest: Manifest) -> Published:
    """Read the one table of a release, quasi cells as text, read as its manifest says."""
    rows = one_cell_each(table, manifest)
    if manifest.escaped:
        rows = without_escapes(rows, manifest.columns)
    return _with_numbers(Published(rows, manifest))


def _with_numbers(found: Published) -> Published:
    """Return tables with the numbers of sensitive columns spelled plainly."""
    schema = found.schema
    linked = {
        name: schema.linked[name].read_numbers(table, "sensitive")
        for name, table in found.linked.items()
    }
    return replace(found, table=schema.read_numbers(found.table, "sensitive"), linked=linked)


def _assembled(tables: dict[str, pl.DataFrame], manifest: Manifest) -> Published:
    """Return the tables of a release as one, with those linked to it."""
    form = manifest.form
    if form == TWO_TABLES:
        rows, problems, people = put_together(tables, manifest)
        return Published(rows, manifest, problems=problems, people=people)
    linked = {}
    for name, stated in manifest.tables.items():
        from shoal.table.linked import under_both_names

        table = tables.pop(name)
        if manifest.escaped:
            table = without_escapes(table, stated.columns)
        linked[name] = under_both_names(table, name)
    problems = tuple(wrong_headers(tables, manifest)) if form != INTERVALS else ()
    rows = tables[RELEASE] if problems else one_cell_each(tables[RELEASE], manifest)
    if manifest.escaped:
        rows = without_escapes(rows, manifest.columns)
    return Published(rows, manifest, problems=problems, linked=linked)


def as_written(release: ReleaseData) -> pl.DataFrame:
    """Return the published table as text in which no formula is defused."""
    plain, escaped = release.published, release.recoding.escape
    return without_escapes(plain, release.manifest.columns) if escaped else plain


def plain_text(release: ReleaseData) -> pl.DataFrame:
    """Return the published table as text: no formula defused, numbers spelled plainly."""
    return release.schema.read_numbers(as_written(release), "sensitive")


def as_read(release: ReleaseData) -> Published:
    """Return the published tables of a release in memory as whoever reads its files has them."""
    people = None
    if release.form == TWO_TABLES:
        people = pl.concat(replace(next(iter(release.parts.values())), escape=False).text())
    linked = {name: one.text(name) for name, one in release.linked.items()}
    return Published(plain_text(release), release.manifest, people=people, linked=linked)


def open_checked(
    directory: Path, manifest: Manifest | None = None, *, lean: bool = False
) -> Published:
    """Read the published tables of a release, of which its manifest tells the truth, or raise."""
    found = read_release(directory, manifest or open_stated(directory), lean=lean)
    refuse(directory, found.untrue())
    return found


# Releases and plain tables, to be attacked


PEOPLE = (
    "One person may have several rows here, but a survey counts rows, so its levels would look "
    "better than they are. Audit the requirements instead: Shoal measures them among people. "
    f"What an attacker learns of people needs the original table, {option('original')}, and its "
    f"column {option('person')}."
)


def open_published(
    source: Any,
    schema: Schema | None = None,
    group: str | None = None,
    hierarchies: Mapping[str, object] | None = None,
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
        found = open_checked(path)
        check_rows(found.table)
        if found.stated.people is not None and person is None:
            found.table = _one_row_each(found.table)
        nodes = [c.name for c in found.stated.columns if c.kind == "node"]
        owned = {name: said for name, said in (hierarchies or {}).items() if name in nodes}
        whom = PERSON if person is not None and PERSON in found.table.columns else None
        stated = replace(found, name=path.name, person=whom, hierarchies=owned)
        return replace(stated, said=replace_types(stated.schema, schema))
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
    every = (hierarchies or {}).items()
    trees = {name: hierarchy_of(said) for name, said in every if name in schema.quasi}
    schema = replace(schema, hierarchies={**schema.hierarchies, **trees})
    if group in (*schema.quasi, *schema.sensitive):
        msg = f"Column {group!r} names groups and cannot have another role."
        raise UsageError(msg)
    check_rows(table)
    if group is None and RESERVED in table.columns and schema.role(RESERVED) is None:
        group = RESERVED
    name = (name_of(source) if is_address(source) else path.name) if path else "table"
    return replace(plain_table(table, schema), name=name, group=group, person=person)


def plain_table(table: pl.DataFrame, schema: Schema) -> Published:
    """Take a table whose columns a schema names, its numbers spelled plainly."""
    texts = table.with_columns(as_text(table[name]) for name in schema.quasi)
    schema = with_date_formats(texts, schema, "sensitive")
    group = RESERVED if RESERVED in table.columns else None
    return Published(schema.read_numbers(texts, "sensitive"), said=schema, group=group)


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
    every = (*stated.quasi, *sensitive)
    types = {**stated.types, **chosen.types}
    return Schema(
        quasi=stated.quasi,
        sensitive=sensitive,
        types={name: types[name] for name in types if name in every},
        hierarchies=stated.hierarchies,
        decimal=stated.decimal,
        **stated.said_of(every),
    )
