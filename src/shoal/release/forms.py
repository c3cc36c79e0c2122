"""The cells of each form of a release, and whether a form can be had for what is required.

A cell of a group becomes one column or several; `two-tables` takes rows apart instead.

The means of groups are exact, then rounded once. Numbers are rounded to two decimals more than the
column has, a tie to the even neighbour; dates to the step of time that all dates of the column are
multiples of, a tie to the earlier one. What is rounded lies between the ends of its cell, because
both ends are such numbers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.errors import UsageError, option
from shoal.release.cells import (
    cells,
    escape,
    spelled_interval,
    type_of_ends,
    typed_cells,
    typed_kind,
    typed_values,
)
from shoal.release.cover import Cover
from shoal.table.forms import (
    BOUNDS,
    INTERVALS,
    MEANS,
    PEOPLE,
    RELEASE,
    TWO_TABLES,
    VALUES,
    check_name,
    column_form,
    ends_of,
    gaps_of,
    spelled_as,
)
from shoal.table.missing import MISSING_LABEL
from shoal.table.schema import NODE, RESERVED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from shoal.principles.requirement import Requirement
    from shoal.release.recoding import Recoding
    from shoal.table.coded import Coded
    from shoal.table.column import Column
    from shoal.table.schema import Schema

    Spell = Callable[[Cover, str], list[pl.Series]]


def check_form(
    form: str,
    requirements: Sequence[Requirement],
    schema: Schema,
    *,
    grouped: bool = True,
    keep_other: bool = False,
) -> None:
    """Raise where a form would break what is required, or says more than was allowed."""
    check_name(form)
    if form == MEANS:
        _refuse_means(requirements, grouped=grouped)
    if form != TWO_TABLES:
        return
    of_loaders = (f"{one}_of_{stem}" for one in (RESERVED, NODE) for stem in (PEOPLE, VALUES))
    schema.check_reserved(*of_loaders, "shoal_part")
    if not schema.rows_known:
        msg = (
            "The form two-tables shows how many rows each person has, next to exact "
            f"quasi-identifiers. Choose another {option('form')}, or leave out {option('rows')}."
        )
        raise UsageError(msg)
    for one in requirements:
        if one.principle.columns == 0:
            msg = (
                f"{one!r} limits how likely a row is found, but two-tables publishes "
                f"quasi-identifiers exactly. Choose another {option('form')}, or limit guesses."
            )
            raise UsageError(msg)
    if not schema.sensitive:
        msg = "The form two-tables needs a sensitive column for its second table."
        raise UsageError(msg)
    if not grouped:
        msg = (
            "The form two-tables links its tables by groups, and this method forms none. "
            f"Choose another {option('form')} or another {option('method')}."
        )
        raise UsageError(msg)
    others = [*schema.other, *schema.pseudonymize]
    if others and not keep_other:
        msg = (
            f"The form two-tables would publish {', '.join(map(repr, others))} next to each "
            "person's exact quasi-identifiers, so a reader who recognizes a person learns it "
            f"too. Leave it out, or accept this with {option('keep_other', 'True')}."
        )
        raise UsageError(msg)


def _refuse_means(requirements: Sequence[Requirement], *, grouped: bool) -> None:
    for one in requirements:
        if one.principle.population:
            msg = (
                f"{one!r} limits what a reader learns about who is in the table, and means "
                f"reveal more about that than intervals do. Choose another {option('form')}."
            )
            raise UsageError(msg)
    if not grouped:
        msg = (
            "The form means needs groups, and this method forms none. Choose another "
            f"{option('form')} or another {option('method')}."
        )
        raise UsageError(msg)


def check_one_line(form: str, schema: Schema, coded: Coded) -> None:
    """Raise where two tables cannot have one line a person, because rows of one differ."""
    if form != TWO_TABLES or len(coded.person_of) == len(coded):
        return
    for column in coded.quasi:
        low, high = coded.person_of.ends(column.codes)
        if several := int((low < high).sum()):
            msg = (
                f"The form two-tables has one line per person, but {several:,} people have rows "
                f"with different {column.name}. Choose another {option('form')}."
            )
            raise UsageError(msg)
    if others := [*schema.other, *schema.pseudonymize]:
        msg = (
            f"The form two-tables has one line per person, but {', '.join(map(repr, others))} "
            "may differ between the rows of one person. Leave it out."
        )
        raise UsageError(msg)


def check_names(form: str, schema: Schema, quasi: Sequence[Column]) -> None:
    """Raise where a column that a form adds has the name of one that is published anyway.

    Loaders, exports and typed frames part the cells of intervals, by the names that bounds have.
    """
    taken = {*schema.published, *schema.pseudonymize, RESERVED}
    apart = BOUNDS if form == INTERVALS else form
    for column in quasi:
        named = names_of(column, own_form(column.name, apart, schema))
        for name in named:
            if name != column.name and name in taken:
                msg = (
                    f"Shoal, or a loader of its release, would write column {column.name!r} as "
                    f"{' and '.join(named)}, but the table already has a column {name!r}. Rename "
                    "one of them first."
                )
                raise UsageError(msg)
            taken.add(name)


def is_interval(column: Column) -> bool:
    """Return whether the cells of a column have two ends."""
    return column.numeric and column.tree is None


def own_form(name: str, form: str, schema: Schema) -> str:
    """Return the form that a column has in a release of a form."""
    return column_form(form, never_mix=name in schema.never_mix)


def has_means(column: Column, form: str, schema: Schema) -> bool:
    """Return whether a release of a form publishes the means of a column."""
    return is_interval(column) and own_form(column.name, form, schema) == MEANS


def names_of(column: Column, form: str) -> tuple[str, ...]:
    """Return the names of the columns that a quasi column is published as, in its own form."""
    gap = column.gap is not None
    return spelled_as(column.name, form, interval=is_interval(column), gap=gap)


def as_it_was(column: Column) -> Column:
    """Return a column without its hierarchy, for two tables, which have no nodes."""
    return column if column.grown is None else column.grown.source


# Cells


def text_columns(cover: Cover, form: str) -> list[pl.Series]:
    """Return the different cells of a column as text, in the columns of a form.

    A missing number is no text.
    """
    column = cover.domain
    if column.gap is None or not is_interval(column):
        values = column.spellings
    else:
        values = column.spellings.replace(MISSING_LABEL, None)
    if form == TWO_TABLES:
        return [values.alias(column.name)]
    if form == INTERVALS or not is_interval(column):
        found = cells(cover)
        return [found if values is column.spellings else found.replace(MISSING_LABEL, None)]
    return _apart(cover, form, values, typed=False)


def typed_columns(cover: Cover, form: str, exact: Collection[str] = ()) -> list[pl.Series]:
    """Return the different cells of a column with types, in the columns of a form.

    Columns named `exact` have one value a cell, which is published bare: a number, a date, a label.
    """
    column = cover.domain
    if form == TWO_TABLES:
        return [_typed_values(cover)]
    if form == INTERVALS or not is_interval(column):
        if column.name not in exact:
            return [typed_cells(cover)]
        if is_interval(column):
            return [typed_values(cover).gather(cover.low).alias(column.name)]
        return text_columns(cover, form)
    return _apart(cover, form, typed_values(cover), typed=True)


def _apart(cover: Cover, form: str, values: pl.Series, *, typed: bool) -> list[pl.Series]:
    """Return the ends of cells in columns of their own, by the value of each rank.

    The mean stands before them where it is published; behind them 1 where the group has missing
    cells and 0 where it has none, if any group has some.
    """
    name = cover.domain.name
    low, high = ends_of(name)
    found = [values.gather(cover.low).alias(low), values.gather(cover.top).alias(high)]
    if form == MEANS:
        found.insert(0, _means(cover, typed=typed))
    if cover.domain.gap is not None:
        found.append(pl.Series(gaps_of(name), cover.gaps.astype(np.int64)))
    return found


def flat_columns(cover: Cover, form: str, exact: Collection[str] = ()) -> list[pl.Series]:
    """Return the different cells of a column without nested types: numbers, dates, else text."""
    plain = form == INTERVALS and cover.domain.name not in exact
    if plain or (form != TWO_TABLES and not is_interval(cover.domain)):
        return text_columns(cover, form)
    return typed_columns(cover, form, exact)


def whole_cells(cover: Cover, form: str) -> list[pl.Series]:
    """Return everything that a form tells of a group's values as one cell, for the audit.

    That is the interval, with the mean between its ends where there is one.
    """
    if form != MEANS or not is_interval(cover.domain):
        return [cells(cover)]
    low, high = (cover.domain.spellings.gather(end) for end in (cover.low, cover.top))
    return [spelled_interval([low, _means(cover, typed=False), high], cover)]


def _means(cover: Cover, *, typed: bool) -> pl.Series:
    """Return means, and nothing where all cells of a group are missing."""
    from shoal.release.means import mean_texts, mean_values

    column, means = cover.domain, cover.means
    assert means is not None
    found = mean_values(column, means, type_of_ends(cover)) if typed else mean_texts(column, means)
    if column.gap is not None:
        there = pl.Series(cover.low < column.gap)
        found = found.zip_with(there, pl.Series([None], dtype=found.dtype))
    return found.alias(column.name)


def _typed_values(cover: Cover) -> pl.Series:
    column = cover.domain
    if column.numeric:
        return typed_values(cover).alias(column.name)
    kind = None if column.grown is None else typed_kind(column.spellings, spelled=True)
    return column.spellings.cast(kind or pl.String).alias(column.name)


def escaped(cover: Cover, form: str, spell: Spell) -> list[pl.Series]:
    """Return cells with every label escaped; numbers need nothing."""
    domain = cover.domain
    if domain.tree is not None:
        return [escape(part) for part in spell(cover, form)]
    if not domain.numeric:
        cover = replace(cover, domain=replace(domain, spellings=escape(domain.spellings)))
    return spell(cover, form)


# Two tables


def take_apart(recoding: Recoding) -> dict[str, Recoding]:
    """Return what the tables of a release are made of: one, or people and values."""
    if recoding.form != TWO_TABLES:
        return {RELEASE: recoding}
    schema = recoding.schema
    secret = [name for name in recoding.names if name in schema.sensitive]
    shown = [name for name in recoding.names if name not in schema.sensitive]
    exact = {name: Cover.of_values(column) for name, column in recoding.quasi.items()}
    return {
        PEOPLE: replace(recoding, names=shown, covers=exact, layout=recoding.layout.of_people()),
        VALUES: replace(recoding, names=secret),
    }
