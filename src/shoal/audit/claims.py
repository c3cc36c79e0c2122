"""Whether a manifest tells the truth about its tables: counts, columns, cells and loss.

What it states of columns is read here as a schema, with how their cells are to be read.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.audit.cells import node_rule
from shoal.audit.described import check_cells, count_cells
from shoal.audit.forms import wrong_means
from shoal.audit.identification import threshold_of
from shoal.errors import UsageError
from shoal.table.column import hierarchy_of
from shoal.table.forms import TWO_TABLES
from shoal.table.schema import NODE, PERSON, PSEUDONYM, REAL, RESERVED, Schema
from shoal.table.settling import no_weights

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from shoal.release.manifest import Manifest
    from shoal.release.stated import StatedAsk, StatedColumn


def readings(manifest: Manifest) -> list[str]:
    """Return a sentence for everything a manifest says about how cells are to be read."""
    said = []
    if manifest.decimal is not None:
        sign = manifest.decimal
        other = {",": ".", ".": ","}[sign]
        said.append(
            f"The manifest says that numbers have the decimal sign {sign!r}: 1{other}010 is read "
            f"as 1010, and 1{sign}5 as one and a half."
        )
    if manifest.escaped:
        said.append(
            "The manifest says that formulas were escaped: an apostrophe before = + - @, a tab or "
            "a carriage return is taken away, in cells, labels and headers."
        )
    if manifest.cells is not None:
        said.append(
            "The manifest says that cells are regions: they lie between cuts, and no person needs "
            "to have a value next to a cut. The outermost ends are values of people where the "
            "owner stated no bounds."
        )
    said += [
        f"The manifest says that column {column.name!r} is of type {column.type}."
        for column in manifest.columns
        if column.type is not None
    ]
    return said


def owner_states(manifest: Manifest) -> list[str]:
    """Return what a manifest says that no file can show, so that the owner answers for it."""
    stated = [one.said for one in manifest.exposed] + [one.said for one in manifest.columns]
    told = [
        f"the method {manifest.method}",
        f"the date {manifest.date}",
        f"the threshold {threshold_of(manifest.threshold)}",
        *["that no seed was used"] * (manifest.reproducible is None),
        *["how many rows were left out and why"] * (manifest.rows_in is not None),
        *["the title"] * (manifest.title is not None),
        *["who publishes it and why"] * bool(manifest.context),
        *["which columns no reader knows"] * any(stated),
        *["how many rows stand for real people and which ones"] * manifest.in_series,
    ]
    return [
        f"No file can show the following, so the owner answers for it: {', '.join(told[:-1])} and "
        f"{told[-1]}."
    ]


def manifest_schema(manifest: Manifest, hierarchies: Mapping[str, object] | None = None) -> Schema:
    """Return the schema that a manifest states, with hierarchies that its owner adds."""
    owned = {name: hierarchy_of(said) for name, said in (hierarchies or {}).items()}
    nodes = {c.name: c for c in manifest.columns if c.kind == "node"}
    for name in owned:
        if name not in nodes:
            msg = f"Column {name!r} of the release has no nodes, so it needs no hierarchy."
            raise UsageError(msg)
    return Schema(
        quasi=manifest.named("quasi"),
        sensitive=manifest.named("sensitive"),
        other=manifest.named("other"),
        pseudonymize=manifest.named(PSEUDONYM),
        never_mix=[c.name for c in manifest.columns if c.never_mix],
        decimal=manifest.decimal,
        survey_weight=manifest.survey_weight,
        **_settled_as(manifest.columns),
        **manifest.of_people,
        linked={name: _linked_schema(name, manifest) for name in manifest.tables},
        hierarchies={name: node_rule(c, owned.get(name)) for name, c in nodes.items()},
    )


SETTLED = {  # what a schema says of columns, and the key of each in a manifest
    "date_formats": "date_format",
    "round": "round",
    "bottom": "bottom",
    "top": "top",
    "step": "step",
    "bounds": "bounds",
    "near": "near",
    "missing_cells": "missing",
}


def _settled_as(columns: Sequence[StatedColumn]) -> dict[str, Any]:
    """Return what was said of the cells of columns, as a schema takes it."""
    said: dict[str, Any] = {
        said: {c.name: one for c in columns if (one := getattr(c, key)) is not None}
        for said, key in SETTLED.items()
    }
    return said | {
        "types": {c.name: c.type for c in columns if c.type not in {None, "ordered"}},
        "nobody_knows": [c.name for c in columns if c.said is not None],
    }


def _linked_schema(name: str, manifest: Manifest) -> Schema:
    """Return the schema of a linked table, its columns under both names."""
    columns = manifest.linked_columns(name)
    return Schema(
        sensitive=[one.name for one in columns if one.role == "sensitive"],
        other=[one.name for one in columns if one.role == "other"],
        decimal=manifest.decimal,
        person=f"{name}.{PERSON}",
        **_settled_as(columns),
    )


def linked_whole(name: str, table: pl.DataFrame, manifest: Manifest) -> bool:
    """Return whether a linked table has the columns that the manifest says."""
    stated = [one.name for one in manifest.tables[name].columns]
    return table.columns == [f"{name}.{one}" for one in (RESERVED, PERSON, *stated)]


def check_linked(linked: Mapping[str, pl.DataFrame], manifest: Manifest) -> list[str]:
    """Return a sentence for everything that a manifest says wrongly of its linked tables."""
    problems = []
    for name, table in linked.items():
        stated = manifest.tables[name]
        parts = (stated.rows, stated.suppressed, stated.dropped, stated.capped)
        if stated.rows_in is not None and stated.rows_in != sum(part or 0 for part in parts):
            problems.append(
                f"Of {name}, the manifest's rows, suppressed, dropped and capped do not add up to "
                "rows_in."
            )
        if table.height != stated.rows:
            problems.append(
                f"Of {name}, the manifest says {stated.rows} rows, there are {table.height}."
            )
        problems += check_most(table, f"{name}.{PERSON}", manifest)
        if not linked_whole(name, table, manifest):
            problems.append(f"The columns of {name} are not those that the manifest says.")
    return problems


def count_published(published: pl.DataFrame, *, series: bool) -> int:
    """Return how many people are published; in a series, how many real ones groups say."""
    if not series:
        return published[PERSON].n_unique()
    by_group = published.group_by(RESERVED).agg(
        pl.col(REAL).cast(pl.String).cast(pl.Int64, strict=False).first()
    )
    return int(by_group[REAL].sum())


def check_real(parts: Iterable[pl.DataFrame], asked: StatedAsk) -> list[str]:
    """Return a sentence for numbers of real people that do not fit rows or what was asked.

    `parts` are the tables of a release of a series; the first has a row for each one there.
    """
    group = pl.col(RESERVED).cast(pl.String)
    told = [
        part.select(group, pl.col(REAL).cast(pl.String), rows=pl.lit(place == 0))
        for place, part in enumerate(parts)
        if REAL in part.columns
    ]
    if not told:
        return []
    by_group = pl.concat(told).group_by(RESERVED).agg(pl.col(REAL).unique(), pl.col("rows").sum())
    wrong = []
    real = pl.col(REAL).list.first().cast(pl.Int64, strict=False)
    odd = by_group.select((pl.col(REAL).list.len() > 1) | real.is_null()).to_series()
    many = by_group.filter(~odd).select(~real.is_between(1, pl.col("rows"))).to_series()
    if odd.any():
        wrong.append(f"The rows of {odd.sum()} groups give different numbers of real people.")
    if many.any():
        wrong.append(f"{many.sum()} groups give more real people than rows, or fewer than one.")
    least = asked.least_real or 1
    few = by_group.filter(~odd).select(real < least).to_series().sum()
    if few:
        wrong.append(f"{few} groups have fewer real people than the {least} that were asked for.")
    return wrong


def check_manifest(
    published: pl.DataFrame,
    manifest: Manifest,
    linked: Mapping[str, pl.DataFrame] = MappingProxyType({}),
) -> list[str]:
    """Return a sentence for everything that a manifest says wrongly of its table.

    `linked` are the tables that it is linked with, their columns under both names.
    """
    series = manifest.in_series  # rows may stand for nobody there
    problems = check_rows_in(manifest)
    if wrong := check_columns(published, manifest):
        return [*problems, *_miscounted("rows", published.height, manifest), *wrong]
    groups = None if not manifest.grouped else published[RESERVED].n_unique()
    people = count_published(published, series=series) if manifest.people is not None else None
    problems += check_counts(manifest, rows=published.height, groups=groups, people=people)
    problems += check_groups(published, manifest)
    by_column = {column.name: count_cells(published, column) for column in manifest.quasi}
    problems += check_cells(by_column, manifest, published.height)
    if problems or manifest.cells is None:
        return problems
    from shoal.audit.regions import check_regions

    return check_regions(published, manifest, linked)


def check_rows_in(manifest: Manifest) -> list[str]:
    """Return a sentence where the numbers of a manifest do not add up."""
    if manifest.rows_in is None:
        return []  # the owner does not say
    parts = ["people" if manifest.in_series else "rows", "suppressed", "dropped"]
    parts += [n for n in ("capped", "held_out") if getattr(manifest, n) is not None]
    wrong = []
    if manifest.rows_in != sum(getattr(manifest, part) for part in parts):
        named = f"{', '.join(parts[:-1])} and {parts[-1]}"
        wrong.append(f"The manifest's {named} do not add up to rows_in.")
    rows, people = manifest.suppressed or 0, manifest.suppressed_people or 0
    if manifest.people is not None and not min(rows, 1) <= people <= rows:
        wrong.append(
            f"The manifest says that {rows:,} rows of {people:,} people were suppressed, but these "
            "numbers cannot both be right."
        )
    if manifest.held_out is not None:
        rows, held = manifest.held_out, manifest.held_out_people
        if (manifest.people is None) != (held is None) or not min(rows, 1) <= (
            rows if held is None else held
        ) <= rows:
            wrong.append(
                "The manifest's 'held_out' and 'held_out_people' do not fit together, or do not "
                "fit 'people'."
            )
    return wrong


def check_counts(
    manifest: Manifest, *, rows: int, groups: int | None, people: int | None
) -> list[str]:
    """Return a sentence for every number of a manifest that is not the one that was counted."""
    counted = {"rows": rows, "groups": groups} | ({} if people is None else {"people": people})
    return [one for name, count in counted.items() for one in _miscounted(name, count, manifest)]


def _miscounted(name: str, count: int | None, manifest: Manifest) -> list[str]:
    said = getattr(manifest, name)
    return [] if said == count else [f"The manifest says {said} {name}, there are {count}."]


def check_columns(published: pl.DataFrame, manifest: Manifest) -> list[str]:
    """Return a sentence where a table has other columns than its manifest says."""
    apart = manifest.form == TWO_TABLES  # what is carried is beside the people
    expected = [c.name for c in manifest.columns if not apart or c.role in {"quasi", "sensitive"}]
    if manifest.grouped:
        expected = [RESERVED, *manifest.own_columns, *expected]
    if published.columns == expected:
        return []
    return [f"The columns are {published.columns}, the manifest says {expected}."]


def check_groups(published: pl.DataFrame, manifest: Manifest) -> list[str]:
    """Return a sentence for what no group can have: odd numbers, uneven weights, odd means."""
    problems = _odd_numbers(published, manifest) + uneven_weights(published, manifest)
    problems += wrong_nodes(published, manifest) + check_most(published, PERSON, manifest)
    return problems + wrong_means(published, manifest)


def check_most(table: pl.DataFrame, person: str, manifest: Manifest) -> list[str]:
    """Return a sentence where people have more rows in a table than were to be published."""
    most = manifest.asked.most_rows
    if most is None or person not in table.columns:
        return []
    many = int((table[person].value_counts()["count"] > most).sum())
    said = f"{many:,} people have more than {most:,} rows, the maximum that was asked for."
    return [said] * bool(many)


NUMBERED = r"^(0|[1-9][0-9]*)$"


def _odd_numbers(published: pl.DataFrame, manifest: Manifest) -> list[str]:
    """Return a sentence where groups, or people, are not numbered as programs read numbers.

    1 and 01 are one group, or one person, to whoever reads them as numbers.
    """
    if not manifest.grouped:
        return []
    problems = []
    for name in {RESERVED, *manifest.own_columns} - {REAL}:
        if published[name].dtype.is_integer():
            continue
        texts = published[name].unique().cast(pl.String).fill_null("")
        odd = int((~texts.str.contains(NUMBERED)).sum())
        if odd:
            problems.append(f"{odd:,} different cells of {name!r} are not numbers such as 0, 1, 2.")
    return problems


def wrong_nodes(published: pl.DataFrame, manifest: Manifest) -> list[str]:
    """Return a sentence where a group comes from several nodes, or nodes are miscounted."""
    if manifest.nodes is None:
        return []
    several = published.group_by(RESERVED).agg(pl.col(NODE).n_unique())[NODE] > 1
    wrong = _miscounted("nodes", published[NODE].n_unique(), manifest)
    return wrong + [f"{several.sum():,} groups have several nodes."] * bool(several.any())


def uneven_weights(published: pl.DataFrame, manifest: Manifest) -> list[str]:
    """Return a sentence where survey weights tell the rows of a group apart, or are none."""
    name = manifest.survey_weight
    if name is None or name not in published.columns or RESERVED not in published.columns:
        return []
    plain = manifest_schema(manifest).read_numbers(published.select(name), "other")[name]
    odd = no_weights(plain)
    if odd.any():
        return [f"The survey weight {name!r} has {odd.sum():,} cells that are not weights."]
    kinds = published.group_by(RESERVED).agg(pl.col(name).n_unique().alias("#kinds"))["#kinds"]
    if not (kinds > 1).any():
        return []
    return [f"The survey weight {name!r} is not the same in all rows of a group."]
