"""The release: a published table with its manifest, in memory until it is written."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.errors import UsageError
from shoal.principles.groups import Groups
from shoal.progress import Progress, silent
from shoal.release.cells import (
    Kinds,
    carried_text,
    count_formulas,
    count_quasi_formulas,
    defuse,
    domain,
    kind_of,
    kinds,
    mean_over_rows,
    ncp_by_group,
    spans,
    typed_kind,
    unchanged,
)
from shoal.release.forms import (
    as_it_was,
    check_names,
    check_one_line,
    escaped,
    flat_columns,
    is_interval,
    take_apart,
    text_columns,
    typed_columns,
    whole_cells,
)
from shoal.release.layout import Found, Layout, alone_with_their_rows, lay_out
from shoal.release.means import cell_means
from shoal.table.columns import is_dictionary
from shoal.table.forms import INTERVALS, MEANS, TWO_TABLES, spelled_as
from shoal.table.formulas import risky
from shoal.table.linked import plainly, under_both_names
from shoal.table.reading import give_frame
from shoal.table.schema import LABELS, PERSON, REAL, RESERVED
from shoal.table.settling import weights_of
from shoal.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from shoal.methods.base import Method, Task
    from shoal.principles.requirement import Requirement
    from shoal.release.forms import Spell
    from shoal.release.layout import Randomness, Suppression
    from shoal.table.coded import Coded
    from shoal.table.coding import Column, Grown
    from shoal.table.groupings import Hierarchy
    from shoal.table.linked import LinkedTable
    from shoal.table.schema import Schema

TITLE = 200  # characters
BATCH = 2**16  # published rows that are put together at a time


@dataclass(frozen=True, eq=False)
class Recoding:
    """Everything published rows are made of; they are put together a batch at a time.

    `source` has the coded rows of the columns that are published as they are.
    """

    source: pl.DataFrame
    names: list[str]  # the published columns, in the order of the input
    schema: Schema
    quasi: dict[str, Column]
    kinds: dict[str, Kinds]
    layout: Layout
    escape: bool

    form: str = INTERVALS
    carried: dict[str, pl.DataType | None] | None = None  # types, where other rows decide too

    @property
    def counted(self) -> list[str]:
        """The columns that hold the numbers of quasi columns, as this form has them."""
        return [
            one
            for name, column in self.quasi.items()
            if self.form != INTERVALS and is_interval(column)
            for one in spelled_as(name, self.form, interval=True)
        ]

    def text(self, batch: int = BATCH) -> Iterator[pl.DataFrame]:
        """Yield the published table as text, as release.csv has it."""
        return self._batches(self.source, batch, text_columns, _as_text)

    def whole(self, batch: int = BATCH) -> Iterator[pl.DataFrame]:
        """Yield the published table as text, all that is told of a group's values in one cell."""
        return self._batches(self.source, batch, whole_cells, _as_text)

    def typed(self, batch: int = BATCH) -> Iterator[pl.DataFrame]:
        """Yield the published table as typed columns; numbers in any writing are numbers."""
        return self._with_types(batch, typed_columns)

    def flat(self, batch: int = BATCH) -> Iterator[pl.DataFrame]:
        """Yield the published table with quasi cells as text or numbers, other columns typed."""
        return self._with_types(batch, flat_columns)

    def mixed(self) -> pl.DataFrame:
        """Return the published table with quasi cells as in `flat`, other columns as they were."""
        every = len(self.layout.bears)
        return next(self._batches(self.source, every, flat_columns, lambda column: column))

    def _with_types(self, batch: int, quasi_cells: Spell) -> Iterator[pl.DataFrame]:
        plain = self.schema.read_numbers(self.source, "sensitive", "other")
        kinds = typed_kinds(plain, self.schema) if self.carried is None else self.carried

        def values(column: pl.Series) -> pl.Series:
            column = column.cast(pl.String) if is_dictionary(column) else column
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
            name: spell(self.quasi[name], self.kinds[name], self.form)
            for name in self.names
            if name in self.quasi
        }
        for begin in range(0, len(layout.bears), size):
            part = slice(begin, begin + size)
            carried = source.select(pl.all().gather(layout.carries[part]))
            columns = {}
            if layout.numbers is not None:
                columns[RESERVED] = pl.Series(layout.numbers[part].astype(np.int64))
            if layout.real is not None:
                columns[REAL] = pl.Series(layout.real[part])
            if layout.persons is not None:
                columns[PERSON] = pl.Series(layout.persons[part].astype(np.int64))
            for name in self.names:
                if name in self.quasi:
                    borne = self.kinds[name].which[layout.bears[part]]
                    columns |= {one.name: one.gather(borne) for one in spelled[name]}
                else:
                    columns[name] = values(carried[name])
            table = pl.DataFrame(columns)
            yield defuse(table, self.schema) if self.escape else table


def typed_kinds(plain: pl.DataFrame, schema: Schema) -> dict[str, pl.DataType | None]:
    """Return the types of the columns that are published as they are and spell numbers."""
    return {
        name: typed_kind(plain[name], spelled=schema.decimal is None)
        for name in (*schema.sensitive, *schema.other)
        if schema.types.get(name) not in LABELS
    }


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
    settings : what was said beside schema, requirements and method, as `missing`; without places.
    links : in a series, the input row that each coded row stands for, -1 for nobody, private.
    recast : whether it was made from published groups; what the table had been is not known.
    linked : what the linked tables are made of, by their names.
    """

    manifest: dict[str, Any]
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
    def loss(self) -> float:
        """The global certainty penalty, from 0 (nothing lost) to 1."""
        return self.manifest["loss"]["gcp"]

    @property
    def heterogeneous(self) -> bool:
        """Whether every record was recast on its own, without groups."""
        return self.recoding.layout.numbers is None

    def __repr__(self) -> str:
        groups = self.manifest["groups"]
        how = "each recast on its own" if groups is None else f"in {groups} groups"
        return f"<Release: {self.manifest['rows']} rows {how}, GCP {self.loss:.4f}>"


def check_title(title: str | None) -> None:
    """Raise where a release cannot be called so."""
    if title is None:
        return
    if not isinstance(title, str) or not title.strip() or len(title) > TITLE:
        msg = f"A title is a text of 1 to {TITLE} characters. Got {str(title)[:TITLE]!r}."
        raise UsageError(msg)
    if not title.isprintable():
        msg = f"A title is one line of printable characters. Got {title!r}."
        raise UsageError(msg)


def build_release(
    table: pl.DataFrame,
    schema: Schema,
    task: Task,
    found: Found,
    *,
    suppression: Suppression,
    method: Method,
    randomness: Randomness,
    escape_formulas: bool = False,
    given: Any = None,
    population: pl.DataFrame | None = None,
    title: str | None = None,
    form: str = INTERVALS,
    linked: Mapping[str, LinkedTable] = MappingProxyType({}),
    progress: Progress = silent,
) -> ReleaseData:
    """Recode what was found, shuffle rows and group numbers, and state what was done."""
    coded = task.coded
    layout = lay_out(
        found,
        randomness,
        apart=form == TWO_TABLES,
        whom=coded.people,
        linked=[len(one.rows) for one in coded.linked],
    )
    quasi = columns_of(form, schema, coded)
    different, ncp = recode(quasi, found, form, layout, suppression, progress)
    kept = unchanged(schema)
    source = table.select(carried_text(table[name]) for name in table.columns if name in kept)
    source = source[coded.rows] if source.height > len(coded) else source
    if schema.survey_weight is not None:
        source = with_mean_weights(source, schema, found)
    recoding = Recoding(
        source=source.rechunk(),
        names=[name for name in table.columns if name in {*schema.quasi, *kept}],
        schema=schema,
        quasi={column.name: column for column in quasi},
        kinds=different,
        layout=layout,
        escape=escape_formulas,
        form=form,
    )
    first = next(iter(take_apart(recoding).values()))  # whichever has the quasi cells
    beside = _recode_linked(coded, linked, layout, escape=escape_formulas)
    formulas = (
        sum(
            int(risky(pl.Series(one.recoding.names)).sum())
            + sum(map(count_formulas, one.recoding.source))
            for one in beside.values()
        )
        + int(risky(pl.Series(recoding.names)).sum())
        + sum(map(count_formulas, recoding.source))
        + sum(
            count_quasi_formulas(column, first.kinds[column.name], first.layout.bears)
            for column in quasi
        )
    )
    alone = None
    if coded.people is not None and not schema.rows_known and isinstance(found, Groups):
        alone = alone_with_their_rows(coded, found)
    manifest = state(
        recoding,
        rows_in=table.height,
        rows=len(coded),
        suppression=suppression,
        groups=layout.groups,
        requirements=task.requirements,
        method=method,
        ncp=ncp,
        title=title,
        people=None if coded.people is None else int(coded.people.max()) + 1,
        alone=alone,
    )
    if beside:
        manifest["tables"] = {
            name: _describe_linked(one, linked[name].table.height, gone, capped)
            for (name, one), (gone, capped) in zip(beside.items(), suppression.linked, strict=True)
        }
    if layout.adversary:
        manifest |= {"heterogeneous": True, "adversary": list(layout.adversary)}
    if randomness.reproducible:
        manifest["reproducible"] = True
    return ReleaseData(
        manifest=manifest,
        recoding=recoding,
        coded=coded,
        requirements=task.requirements,
        suppression=suppression,
        formulas=formulas,
        given=given,
        population=population,
        linked=beside,
    )


def _recode_linked(
    coded: Coded, linked: Mapping[str, LinkedTable], layout: Layout, *, escape: bool
) -> dict[str, LinkedRecoding]:
    """Return what the rows of linked tables are made of, their columns under their own names."""
    found = {}
    for place, rows in enumerate(coded.linked):
        assert coded.people is not None
        table, front = linked[rows.name].table, f"{rows.name}."
        schema = plainly(linked[rows.name].schema, rows.name)
        kept = [one for one in table.columns if one.removeprefix(front) in unchanged(schema)]
        source = table.select(
            carried_text(table[one]).alias(one.removeprefix(front)) for one in kept
        )
        recoding = Recoding(
            source=source[rows.rows].rechunk(),
            names=source.columns,
            schema=schema,
            quasi={},
            kinds={},
            layout=layout.of_linked(place, coded.people, rows.people),
            escape=escape,
        )
        found[rows.name] = LinkedRecoding(recoding, rows.rows, linked[rows.name].given)
    return found


def _describe_linked(
    one: LinkedRecoding, rows_in: int, suppressed: int, capped: int
) -> dict[str, Any]:
    """Return what a manifest says of a linked table."""
    recoding, rows = one.recoding, len(one.rows)
    return {
        "rows_in": rows_in,
        "dropped": rows_in - rows - suppressed - capped,
        "rows": rows,
        "suppressed": suppressed,
        "capped": capped,
        "columns": [_describe(name, recoding) for name in recoding.names],
    }


def state(
    recoding: Recoding,
    *,
    rows_in: int,
    rows: int,
    suppression: Suppression,
    groups: int | None,
    requirements: Sequence[Requirement],
    method: Method,
    ncp: dict[str, float],
    title: str | None = None,
    people: int | None = None,
    alone: int | None = None,
) -> dict[str, Any]:
    """Return what a manifest says before anything is measured.

    `alone` people are the only ones of their group with so many rows, where that has to be said.
    """
    schema = recoding.schema
    manifest: dict[str, Any] = {} if alone is None else {"rows_known": False, "alone": alone}
    manifest |= {
        "shoal": __version__,
        "id": secrets.token_hex(16),
    }
    if title is not None:
        manifest["title"] = title
    manifest |= {
        "form": recoding.form,
        "rows_in": rows_in,
        "dropped": rows_in - rows - suppression.rows - suppression.capped,
        "rows": rows,
        "suppressed": suppression.rows,
        "groups": groups,
        "columns": [_describe(name, recoding) for name in recoding.names],
        "require": [repr(requirement) for requirement in requirements],
        "method": repr(method),
        "measured": [],
        "loss": {"gcp": float(np.mean(list(ncp.values()))), "ncp": ncp},
        "seconds": {},
        "digests": {},
    }
    if people is not None:
        manifest |= {
            "people": people,
            "suppressed_people": suppression.people,
            "capped": suppression.capped,
            "rows_known": schema.rows_known,
        }
    if recoding.escape:
        manifest["escaped"] = True
    if schema.decimal is not None:
        manifest["decimal"] = schema.decimal
    return manifest


def with_mean_weights(source: pl.DataFrame, schema: Schema, found: Found) -> pl.DataFrame:
    """Return rows whose survey weight is the mean of their group, so that totals stay.

    An exact weight can give a quasi value away, as 100 over the size of a household does.
    """
    name = str(schema.survey_weight)
    if not isinstance(found, Groups):
        msg = (
            f"The survey weight {name!r} is published as the mean of a group, and this method "
            "makes none. Choose another, as Exchange()."
        )
        raise UsageError(msg)
    weights = weights_of(schema.read_numbers(source.select(name), "other")[name]).to_numpy()
    means = np.bincount(found.labels, weights=weights) / np.bincount(found.labels)
    spelled = pl.Series(name, means).cast(pl.String)
    if schema.decimal == ",":
        spelled = spelled.str.replace(".", ",", literal=True)
    return source.with_columns(spelled.gather(found.labels))


def columns_of(form: str, schema: Schema, coded: Coded) -> tuple[Column, ...]:
    """Return the quasi columns as a form has them, and raise where a name would stand twice."""
    check_one_line(form, schema, coded)
    quasi = tuple(map(as_it_was, coded.quasi)) if form == TWO_TABLES else coded.quasi
    check_names(form, schema, quasi)
    return quasi


def recode(
    quasi: tuple[Column, ...],
    found: Found,
    form: str,
    layout: Layout,
    suppression: Suppression,
    progress: Progress = silent,
) -> tuple[dict[str, Kinds], dict[str, float]]:
    """Return the cells of every quasi column, and what is lost by them."""
    different, ncp = {}, {}
    for place, column in enumerate(quasi, 1):
        covered = spans(column, found)
        by_group = ncp_by_group(column, covered)
        ncp[column.name] = mean_over_rows(by_group, layout.bearers, suppression.rows)
        means = cell_means(column, found) if form == MEANS and is_interval(column) else None
        different[column.name] = kinds(column, covered, means)
        progress("recode", place / (len(quasi) + 1))
    return different, ncp


def in_form(release: ReleaseData, form: str) -> ReleaseData:
    """Return a release in another form: the same groups under the same numbers, other columns."""
    recoding, layout = release.recoding, release.recoding.layout
    quasi = columns_of(form, release.schema, release.coded)
    manifest = dict(release.manifest, form=form)
    if release.heterogeneous:
        changed = replace(recoding, form=form)
        return replace(release, manifest=manifest, recoding=changed)
    labels = np.empty(len(layout.bears), np.int64)
    labels[layout.carries] = layout.bears
    different, ncp = recode(quasi, Groups.of(labels), form, layout, release.suppression)
    changed = replace(recoding, quasi={one.name: one for one in quasi}, kinds=different, form=form)
    manifest["columns"] = [_describe(name, changed) for name in changed.names]
    manifest["loss"] = {"gcp": float(np.mean(list(ncp.values()))), "ncp": ncp}
    return replace(release, manifest=manifest, recoding=changed)


def _describe(name: str, recoding: Recoding) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": name, "role": recoding.schema.role(name)}
    if name in recoding.quasi:
        column = recoding.quasi[name]
        entry["kind"] = kind_of(column)
        entry["domain"] = domain(column, recoding.kinds[name].spans)
        if column.grown is not None:
            entry |= _describe_tree(column.grown)
        elif column.dates:
            entry["type"] = "date"
        if name in recoding.schema.never_mix:
            entry["never_mix"] = True
        if name in recoding.schema.weights:
            entry["weight"] = recoding.schema.weights[name]
    return entry | _describe_cells(name, recoding.schema)


def _describe_cells(name: str, schema: Schema) -> dict[str, Any]:
    """Return what was said of the cells of a column, and done to them first."""
    entry: dict[str, Any] = {}
    if name in schema.types:
        entry["type"] = schema.types[name]
    if name in schema.date_formats:
        entry["date_format"] = schema.date_formats[name]
    if name in schema.trims:
        entry |= schema.trims[name].to_dict()
    if name == schema.survey_weight:
        entry["survey_weight"] = True
    if name in schema.missing_cells:
        entry["missing"] = schema.missing_cells[name]
    return entry


def _describe_tree(grown: Grown) -> dict[str, Any]:
    """Return what a reader needs to know of which values the nodes of a column cover.

    A listed hierarchy is its owner's: it may list what nobody in the table has.
    """
    entry = {}
    if grown.hierarchy.readable:
        entry["hierarchy"] = repr(grown.hierarchy)
    if grown.source.numeric:
        entry["type"] = "date" if grown.source.dates else "numeric"
    return entry
