"""Reading the tables of a release, whichever form they have, into one: a row with cells for each.

Bounds, and means with them, become the one cell that they stand for, `[low, high]` or `[low, mean,
high]`, so that everything that asks which rows are alike sees all that is published. Two tables
become the boxes that a reader can make of them: beside the values of a group what its people span.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.cells import (
    as_text,
    covers_missing,
    interval_ends,
    interval_means,
    interval_text,
    one_cell,
    spell_set,
    without_escapes,
)
from shoal.release.cells import unescape_name
from shoal.table.coding import NUMBER, code_lenient
from shoal.table.columns import is_dictionary, top_code
from shoal.table.dates import date_parts
from shoal.table.forms import INTERVALS, MEANS, PEOPLE, TWO_TABLES, VALUES
from shoal.table.missing import MISSING_LABEL
from shoal.table.schema import NODE, PERSON, RESERVED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from shoal.release.manifest import Manifest
    from shoal.release.stated import StatedColumn


def flat_cells(table: pl.DataFrame, manifest: Manifest) -> pl.DataFrame:
    """Return a table, or a part of one, with intervals and sets of any type as text."""
    named = unescape_name if manifest.escaped else str
    ends = [column.name for column in manifest.columns if column.has_ends]
    return table.with_columns(
        interval_text(column) if named(column.name) in ends else as_text(column)
        for column in table
        if column.dtype.is_nested()
    )


def one_cell_each(table: pl.DataFrame, manifest: Manifest) -> pl.DataFrame:
    """Return a table with bounds, and means with them, in the one cell that they stand for."""
    if manifest.form in {INTERVALS, TWO_TABLES}:
        return table
    named = unescape_name if manifest.escaped else str
    found = {named(name): name for name in table.columns}
    for column in manifest.columns:
        name = column.name
        asked = column.published_as(manifest.form)
        if len(asked) > 1 and found.keys() >= set(asked):
            columns = [table[found[one]] for one in asked]
            whole = _whole(columns, gap=column.has_gap, dates=column.dates)
            place = table.columns.index(found[asked[0]])
            table = table.drop(found[one] for one in asked)
            table = table.insert_column(place, whole.alias(name))
    return table


def _whole(columns: list[pl.Series], *, gap: bool, dates: bool) -> pl.Series:
    """Return the one cell of several columns; each different one is spelled once.

    With a `gap` the last of them says whether missing cells are covered: 0 or 1.
    """
    keys = np.zeros(len(columns[0]), np.int64)
    for cells in columns:
        column = cells if is_dictionary(cells) else cells.cast(pl.String)
        column = column.cast(pl.Categorical(pl.Categories.random()))
        missing = top_code(column) + 1
        codes = column.to_physical().cast(pl.Int64).fill_null(missing).to_numpy()
        _, keys = np.unique(keys * (missing + 1) + codes, return_inverse=True)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    parts = [column.gather(first).cast(pl.String).replace("", None) for column in columns]
    marks = parts.pop() if gap else None
    *mean, low, high = parts
    texts = one_cell([low, *mean, high], None if marks is None else marks == "1", dates=dates)
    if marks is not None:
        plain = marks.is_in(["0", "1"]).fill_null(value=False)
        texts = texts.zip_with(plain, pl.Series(["?"]))  # outside any domain
    return texts.cast(pl.Categorical(pl.Categories.random())).gather(which)


def wrong_headers(tables: Mapping[str, pl.DataFrame], manifest: Manifest) -> list[str]:
    """Return a sentence for every table that does not have the columns of its form."""
    named = unescape_name if manifest.escaped else str
    found = {stem: [named(name) for name in table.columns] for stem, table in tables.items()}
    return [
        f"The columns of {stem} are {found[stem]}, the manifest says {names}."
        for stem, names in manifest.headers.items()
        if found[stem] != names
    ]


# Two tables


def put_together(
    tables: Mapping[str, pl.DataFrame], manifest: Manifest
) -> tuple[pl.DataFrame, tuple[str, ...], pl.DataFrame]:
    """Return the boxes of people beside the values of their groups; what is wrong; and people."""
    people, values = tables[PEOPLE], tables[VALUES]
    problems = wrong_headers(tables, manifest)
    if problems:
        return values, tuple(problems), people
    if manifest.escaped:
        people = without_escapes(people, manifest.columns)
        values = without_escapes(values, manifest.columns)
    whole = values.unique([RESERVED, PERSON]) if manifest.people is not None else values
    known = [RESERVED, *[NODE] * (manifest.nodes is not None)]
    sizes = [
        table.select(pl.col(known).cast(pl.String)).group_by(known).len().sort(known)
        for table in (people, whole)
    ]
    if not sizes[0].equals(sizes[1]):
        problems.append("The groups of people and of values are not the same, or not as large.")
        return values, tuple(problems), people
    groups = people[RESERVED].cast(pl.String)
    names = groups.unique().sort()
    labels = groups.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64)
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(len(names)))
    mine = values[RESERVED].cast(pl.String).cast(pl.Enum(names)).to_physical()
    rows = {name: values[name] for name in (RESERVED, *manifest.own_columns)}
    for column in manifest.columns:
        name = column.name
        if column.quasi:
            rows[name] = _boxes(people[name], column, order, starts).gather(mine)
        elif column.role == "sensitive":
            rows[name] = values[name]
    return pl.DataFrame(rows), (), people


def _boxes(
    cells: pl.Series, stated: StatedColumn, order: NDArray[np.int64], starts: NDArray[np.int64]
) -> pl.Series:
    """Return what the people of each group span of a column."""
    texts = cells.cast(pl.String).fill_null(MISSING_LABEL)
    if not stated.has_ends:
        return _label_boxes(texts, order, starts)
    dates = stated.dates
    known = texts.filter(texts != MISSING_LABEL)
    readable = date_parts(known)[0].is_not_null() if dates else known.str.contains(NUMBER)
    if not len(known) or not readable.all():  # outside any domain, as the check of cells will say
        return _label_boxes(texts, order, starts)
    column = code_lenient(texts.replace("", None), kind="date" if dates else "numeric")
    ranks = column.codes[order]
    low, most = np.minimum.reduceat(ranks, starts), np.maximum.reduceat(ranks, starts)
    high, gaps = most, None
    if column.gap is not None:
        high = np.maximum.reduceat(np.where(ranks == column.gap, -1, ranks), starts)
        high, gaps = np.where(high < 0, most, high), pl.Series(most == column.gap)
    ends = [column.spellings.gather(end).replace("", None) for end in (low, high)]
    return one_cell(ends, gaps, dates=dates).alias(cells.name)


def _label_boxes(
    texts: pl.Series, order: NDArray[np.int64], starts: NDArray[np.int64]
) -> pl.Series:
    labels = texts.unique().sort()
    ranks = texts.cast(pl.Enum(labels)).to_physical().to_numpy().astype(np.int64)[order]
    owner = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    cell, rank = np.divmod(np.unique(owner * len(labels) + ranks), len(labels))
    held = pl.DataFrame({"cell": cell, "label": labels.gather(rank)})
    sets = held.group_by("cell", maintain_order=True).agg("label")["label"]
    return pl.Series(texts.name, [spell_set(some.to_list()) for some in sets], pl.String)


# Means


def wrong_means(published: pl.DataFrame, manifest: Manifest) -> list[str]:
    """Return a sentence for every column with a mean that its group cannot have.

    Of n values with a smallest and a largest one the mean is at least an n-th of the way from
    either end; in a region it lies between them. A release of another form has no means.
    """
    problems = []
    for column in manifest.columns:
        if not column.has_ends:
            continue
        name = column.name
        if column.form_in(manifest.form) != MEANS:
            if interval_means(published[name].unique().cast(pl.String)).is_not_null().any():
                problems.append(f"Column {name!r} has means, and the form says none.")
            continue
        each = published.select(RESERVED, pl.col(name).cast(pl.String))
        counted = each.group_by(RESERVED, name).len()
        means = interval_means(counted[name])
        dates, held = column.dates, manifest.cells is None
        bad = _impossible(counted[name], counted["len"], means, dates=dates, held=held)
        if bad:
            problems.append(f"{bad} groups have a mean of {name!r} that no such rows have.")
    return problems


def _impossible(
    cells: pl.Series, sizes: pl.Series, means: pl.Series, *, dates: bool, held: bool
) -> int:
    """Count the cells that lack a mean, or whose mean no rows have, one at each end where `held`.

    Where cells are missing, one of the rows at least does not count.
    """
    low, high = interval_ends(cells)
    sizes = sizes.cast(pl.Int64) - covers_missing(cells).cast(pl.Int64)
    wide = low.ne_missing(high).to_numpy() | means.is_not_null().to_numpy()
    ends = [_as_numbers(one, dates=dates) for one in (low, means, high)]
    least, mean, most = (end[wide] for end in ends)
    rows = sizes.to_numpy()[wide]
    if dates:
        slack = np.full(len(mean), 86_400.0)  # as coarse as dates can be
    else:
        digits = means.str.extract(r"\.([0-9]+)$").str.len_chars().fill_null(0).to_numpy()[wide]
        slack = 0.5 * 10.0 ** -digits.astype(np.float64)
    slack = slack + 1e-9 * np.maximum(np.abs(least), np.abs(most))
    step = (most - least) / np.maximum(rows, 1) * held
    possible = (mean >= least + step - slack) & (mean <= most - step + slack) & (rows > 0)
    return int((~possible).sum())


def _as_numbers(texts: pl.Series, *, dates: bool) -> NDArray[np.float64]:
    if dates:
        seconds, rest = date_parts(texts)
        both = seconds.cast(pl.Float64) + rest.cast(pl.Float64) / 1e9
        return both.fill_null(float("nan")).to_numpy()
    return texts.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
