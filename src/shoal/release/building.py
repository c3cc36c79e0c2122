"""From what was found to a release: recoded, shuffled, and stated."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.errors import UsageError, option
from shoal.principles.groups import Groups
from shoal.progress import Progress, silent
from shoal.release.cells import carried_text, count_formulas, count_quasi_formulas, risky, unchanged
from shoal.release.cover import Cover, covers, mean_over_rows
from shoal.release.forms import as_it_was, check_names, check_one_line, has_means, take_apart
from shoal.release.layout import Layout, alone_with_their_rows, lay_out
from shoal.release.recoding import LinkedRecoding, Recoding
from shoal.release.stated import loss_of
from shoal.release.statement import describe, describe_linked, state
from shoal.table.forms import INTERVALS, TWO_TABLES
from shoal.table.grid import REGIONS
from shoal.table.schema import NODE
from shoal.table.settling import weights_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from shoal.methods.base import Method, Task
    from shoal.release.layout import Found, Randomness, Suppression
    from shoal.table.coded import Coded
    from shoal.table.column import Column
    from shoal.table.linked import LinkedTable
    from shoal.table.schema import Schema
from shoal.release.recoding import ReleaseData


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
    if coded.person_of.given and schema.most_rows is not None:
        suppression = _with_capped(suppression, table, schema, coded, linked)
    layout = lay_out(found, coded, randomness, apart=form == TWO_TABLES)
    if layout.nodes is not None:
        schema.check_reserved(NODE)
    columns = columns_of(form, schema, coded)
    covered = covers(coded, columns, found)
    different, ncp = recode(covered, found, form, schema, layout, suppression, progress)
    kept = unchanged(schema)
    source = table.select(carried_text(table[name]) for name in table.columns if name in kept)
    source = source[coded.rows] if source.height > len(coded) else source
    if schema.survey_weight is not None:
        source = with_mean_weights(source, schema, found)
    recoding = Recoding(
        source=source.rechunk(),
        names=[name for name in table.columns if name in {*schema.quasi, *kept}],
        schema=schema,
        covers=different,
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
        + sum(count_quasi_formulas(cover, first.layout.bears) for cover in first.covers.values())
    )
    alone = None
    if not schema.rows_known and isinstance(found, Groups):
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
        people=len(coded.person_of) if coded.person_of.given else None,
        alone=alone,
        sensitive=coded.sensitive,
    )
    if beside:
        manifest.tables = {
            name: describe_linked(one, linked[name].table.height, gone, capped)
            for (name, one), (gone, capped) in zip(beside.items(), suppression.linked, strict=True)
        }
    if layout.nodes is not None:
        manifest.nodes = int(layout.nodes.max()) + 1
    if coded.cells == REGIONS:
        manifest.cells = REGIONS
    if layout.adversary:
        manifest.say(heterogeneous=True, adversary=list(layout.adversary))
    if randomness.reproducible:
        manifest.reproducible = True
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
        from shoal.table.linked import plainly

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
            covers={},
            layout=layout.of_linked(place, coded.person_of, rows.person_of),
            escape=escape,
        )
        found[rows.name] = LinkedRecoding(recoding, rows.rows, linked[rows.name].given)
    return found


def with_mean_weights(source: pl.DataFrame, schema: Schema, found: Found) -> pl.DataFrame:
    """Return rows whose survey weight is the mean of their group, so that their totals stay.

    An exact weight can give a quasi value away, as 100 over the size of a household does.
    """
    name = str(schema.survey_weight)
    if not isinstance(found, Groups):
        msg = (
            f"Shoal publishes the survey weight {name!r} as the mean of each group, and this "
            "method forms no groups. Choose another method, for example Exchange()."
        )
        raise UsageError(msg)
    weights = weights_of(schema.read_numbers(source.select(name), "other")[name]).to_numpy()
    # Sums are rounded, so they depend on the order of what is added: by size, not as rows came.
    order = np.lexsort((weights, found.labels))
    totals = np.bincount(found.labels[order], weights=weights[order])
    means = totals / np.bincount(found.labels)
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


def check_cells_of(form: str, coded: Coded) -> None:
    """Raise where a form publishes no cells, and they were asked for as regions."""
    if form == TWO_TABLES and coded.cells == REGIONS:
        msg = (
            f"The form {option('form', TWO_TABLES)} publishes no cells, but this release has "
            f"cells drawn as {option('cells', REGIONS)}. Choose another form."
        )
        raise UsageError(msg)


def _with_capped(
    suppression: Suppression,
    table: pl.DataFrame,
    schema: Schema,
    coded: Coded,
    linked: Mapping[str, LinkedTable],
) -> Suppression:
    """Count rows that were never offered: with their people where these are left out."""
    from shoal.table.linked import spelled_people

    people = spelled_people(table[str(schema.person)])
    there = people.gather(coded.rows).unique()

    def parted(own: pl.Series, capped: NDArray[np.int64] | None) -> tuple[int, int]:
        if capped is None or not len(capped):
            return 0, 0
        stays = int(own.gather(capped).is_in(there.implode()).sum())
        return len(capped) - stays, stays

    first = parted(people, coded.capped)
    others = [
        parted(
            spelled_people(linked[one.name].table[str(linked[one.name].schema.person)]), one.capped
        )
        for one in coded.linked
    ]
    return suppression.capping(first, others)


def recode(
    quasi: Sequence[Cover],
    found: Found,
    form: str,
    schema: Schema,
    layout: Layout,
    suppression: Suppression,
    progress: Progress = silent,
) -> tuple[dict[str, Cover], dict[str, float]]:
    """Return the cells of every quasi column, and what is lost by them."""
    different, ncp = {}, {}
    for place, cover in enumerate(quasi, 1):
        column = cover.domain
        ncp[column.name] = mean_over_rows(cover.loss(), layout.bearers, suppression.rows)
        shown = has_means(column, form, schema)
        if shown and column.step is not None and column.gap is not None:
            msg = (
                f"Column {column.name!r} has missing values. With regions, a group can consist "
                "of missing values alone, and then there is no mean to publish. Choose another "
                f"{option('form')}, or exclude those rows: {option('missing', 'drop')}."
            )
            raise UsageError(msg)
        means = None
        if shown:
            from shoal.release.means import cell_means

            means = cell_means(column, found)
        different[column.name] = replace(cover, means=means).distinct()
        progress("recode", place / (len(quasi) + 1))
    return different, ncp


def in_form(release: ReleaseData, form: str) -> ReleaseData:
    """Return a release in another form: the same groups under the same numbers, other columns."""
    recoding, layout = release.recoding, release.recoding.layout
    check_cells_of(form, release.coded)
    columns = columns_of(form, release.schema, release.coded)
    manifest = release.manifest.but(form=form)
    if release.heterogeneous:
        changed = replace(recoding, form=form)
        return replace(release, manifest=manifest, recoding=changed)
    groups = as_found(Groups.of(layout.borne), layout)
    covered = covers(release.coded, columns, groups)
    different, ncp = recode(covered, groups, form, release.schema, layout, release.suppression)
    changed = replace(recoding, covers=different, form=form)
    manifest.columns = [describe(name, changed) for name in changed.names]
    manifest.loss = loss_of(ncp)
    return replace(release, manifest=manifest, recoding=changed)


def as_found(groups: Groups, layout: Layout) -> Groups:
    """Return groups with the nodes that they come from, where these are published."""
    if layout.nodes is None:
        return groups
    nodes = np.empty(len(groups), np.int64)
    nodes[layout.bears] = layout.nodes
    return replace(groups, nodes=nodes)
