"""Whether a manifest tells the truth about its tables: counts, columns, cells and loss.

What it states of columns is read here as a schema, with how their cells are to be read.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.cells import cell_ncp, fills_domain, has_leaves, outer_cells
from shoal.audit.forms import wrong_means
from shoal.audit.identification import threshold_of
from shoal.audit.reading import Stated
from shoal.errors import UsageError
from shoal.table.forms import TWO_TABLES, own_columns
from shoal.table.groupings import Hierarchy
from shoal.table.missing import MISSING_LABEL
from shoal.table.schema import KNOWN, NODE, PERSON, PSEUDONYM, REAL, RESERVED, UNKNOWN, Schema
from shoal.table.settling import no_weights

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def readings(manifest: dict[str, Any]) -> list[str]:
    """Return a sentence for everything a manifest says about how cells are to be read."""
    said = []
    if "decimal" in manifest:
        sign = manifest["decimal"]
        other = {",": ".", ".": ","}[sign]
        said.append(
            f"The manifest says that numbers have the decimal sign {sign!r}: 1{other}010 is read "
            f"as 1010, and 1{sign}5 as one and a half."
        )
    if manifest.get("escaped"):
        said.append(
            "The manifest says that formulas were escaped: an apostrophe before = + - @, a tab or "
            "a carriage return is taken away, in cells, labels and headers."
        )
    if "cells" in manifest:
        said.append(
            "The manifest says that cells are regions: they lie between cuts, and nobody needs to "
            "lie at their ends."
        )
    said += [
        f"The manifest says that column {column['name']!r} is of type {column['type']}."
        for column in manifest["columns"]
        if "type" in column
    ]
    return said


def owner_states(manifest: dict[str, Any]) -> list[str]:
    """Return what a manifest says that no file can show, so that the owner answers for it."""
    stated = [one["said"] for one in manifest["exposed"]]
    stated += [one.get("said") for one in manifest["columns"]]
    told = [
        f"the method {manifest['method']}",
        f"the date {manifest['date']}",
        f"the threshold {threshold_of(manifest)}",
        *["that no seed was used"] * ("reproducible" not in manifest),
        *["how many rows were left out and why"] * ("rows_in" in manifest),
        *["the title"] * ("title" in manifest),
        *["who publishes it and why"] * ("context" in manifest),
        *["which columns no reader knows"] * any(stated),
    ]
    return [
        f"No file can show the following, so the owner answers for it: {', '.join(told[:-1])} and "
        f"{told[-1]}."
    ]


def kinds_of(manifest: dict[str, Any]) -> dict[str, str]:
    """Return how the cells of every quasi column are to be read."""
    return {c["name"]: c["kind"] for c in manifest["columns"] if c["role"] == "quasi"}


def manifest_schema(
    manifest: dict[str, Any], hierarchies: Mapping[str, Any] | None = None
) -> Schema:
    """Return the schema that a manifest states, with hierarchies that its owner adds."""
    owned = {name: Hierarchy.of(said) for name, said in (hierarchies or {}).items()}
    nodes = {c["name"]: c for c in manifest["columns"] if c.get("kind") == "node"}
    for name in owned:
        if name not in nodes:
            msg = f"Column {name!r} of the release has no nodes, so it needs no hierarchy."
            raise UsageError(msg)
    named = {
        role: [column["name"] for column in manifest["columns"] if column["role"] == role]
        for role in ("quasi", "sensitive", "other", PSEUDONYM)
    }
    types = {c["name"]: c["type"] for c in manifest["columns"] if "type" in c}
    return Schema(
        quasi=named["quasi"],
        sensitive=named["sensitive"],
        other=named["other"],
        pseudonymize=named[PSEUDONYM],
        never_mix=[c["name"] for c in manifest["columns"] if "never_mix" in c],
        types={name: kind for name, kind in types.items() if kind != "ordered"},
        decimal=manifest.get("decimal"),
        survey_weight=weighing(manifest),
        **_settled_as(manifest["columns"]),
        **people_of(manifest),
        linked={name: _linked_schema(name, manifest) for name in manifest.get("tables", {})},
        hierarchies={name: Stated.of_manifest(c, owned.get(name)) for name, c in nodes.items()},
    )


def weighing(manifest: dict[str, Any]) -> str | None:
    """Return the column of survey weights that a manifest names, if there is one."""
    return next((c["name"] for c in manifest["columns"] if c.get("survey_weight")), None)


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


def _settled_as(columns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what was said of the cells of columns, as a schema takes it."""
    said: dict[str, Any] = {
        said: {c["name"]: c[key] for c in columns if key in c} for said, key in SETTLED.items()
    }
    return said | {"nobody_knows": [c["name"] for c in columns if "said" in c]}


def _linked_schema(name: str, manifest: dict[str, Any]) -> Schema:
    """Return the schema of a linked table, its columns under both names."""
    columns = [
        one | {"name": f"{name}.{one['name']}"} for one in manifest["tables"][name]["columns"]
    ]
    return Schema(
        sensitive=[one["name"] for one in columns if one["role"] == "sensitive"],
        other=[one["name"] for one in columns if one["role"] == "other"],
        types={
            one["name"]: one["type"]
            for one in columns
            if "type" in one and one["type"] != "ordered"
        },
        decimal=manifest.get("decimal"),
        person=f"{name}.{PERSON}",
        **_settled_as(columns),
    )


def people_of(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return what a manifest says of people, as a schema takes it."""
    if "people" not in manifest:
        return {}
    return {"person": PERSON, "rows": KNOWN if manifest["rows_known"] else UNKNOWN}


CLOSE = 1e-9  # losses are means of doubles, added up in another order


def linked_whole(name: str, table: pl.DataFrame, manifest: dict[str, Any]) -> bool:
    """Return whether a linked table has the columns that the manifest says."""
    stated = [one["name"] for one in manifest["tables"][name]["columns"]]
    return table.columns == [f"{name}.{one}" for one in (RESERVED, PERSON, *stated)]


def check_linked(linked: Mapping[str, pl.DataFrame], manifest: dict[str, Any]) -> list[str]:
    """Return a sentence for everything that a manifest says wrongly of its linked tables."""
    problems = []
    for name, table in linked.items():
        stated = manifest["tables"][name]
        parts = ("rows", "suppressed", "dropped", "capped")
        if "rows_in" in stated and stated["rows_in"] != sum(stated[part] for part in parts):
            problems.append(
                f"Of {name}, the manifest's rows, suppressed, dropped and capped do not add up to "
                "rows_in."
            )
        if table.height != stated["rows"]:
            problems.append(
                f"Of {name}, the manifest says {stated['rows']} rows, there are {table.height}."
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


def check_real(parts: Iterable[pl.DataFrame], asked: Mapping[str, Any]) -> list[str]:
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
        wrong.append(f"{odd.sum()} groups say different numbers of real people.")
    if many.any():
        wrong.append(f"{many.sum()} groups say more real people than they have rows, or none.")
    least = asked.get("least_real", 1)
    few = by_group.filter(~odd).select(real < least).to_series().sum()
    if few:
        wrong.append(f"{few} groups have fewer real people than the {least} that were asked for.")
    return wrong


def check_manifest(
    published: pl.DataFrame,
    manifest: dict[str, Any],
    linked: Mapping[str, pl.DataFrame] = MappingProxyType({}),
) -> list[str]:
    """Return a sentence for everything that a manifest says wrongly of its table.

    `linked` are the tables that it is linked with, their columns under both names.
    """
    series = "previous" in manifest  # rows may stand for nobody there
    problems = check_rows_in(manifest)
    if wrong := check_columns(published, manifest):
        return [*problems, *_miscounted("rows", published.height, manifest), *wrong]
    groups = None if manifest["groups"] is None else published[RESERVED].n_unique()
    people = count_published(published, series=series) if "people" in manifest else None
    problems += check_counts(manifest, rows=published.height, groups=groups, people=people)
    problems += check_groups(published, manifest)
    by_column = {
        column["name"]: count_cells(published, column)
        for column in manifest["columns"]
        if column["role"] == "quasi"
    }
    problems += check_cells(by_column, manifest, published.height)
    if problems or "cells" not in manifest:
        return problems
    from shoal.audit.regions import check_regions

    return check_regions(published, manifest, linked)


def check_rows_in(manifest: dict[str, Any]) -> list[str]:
    """Return a sentence where the numbers of a manifest do not add up."""
    if "rows_in" not in manifest:
        return []  # the owner does not say
    parts = ["people" if "previous" in manifest else "rows", "suppressed", "dropped"]
    parts += [name for name in ("capped", "held_out") if name in manifest]
    wrong = []
    if manifest["rows_in"] != sum(manifest[part] for part in parts):
        named = f"{', '.join(parts[:-1])} and {parts[-1]}"
        wrong.append(f"The manifest's {named} do not add up to rows_in.")
    rows, people = manifest["suppressed"], manifest.get("suppressed_people", 0)
    if "people" in manifest and not min(rows, 1) <= people <= rows:
        wrong.append(f"The manifest says that {rows:,} rows of {people:,} people were suppressed.")
    if "held_out" in manifest:
        rows, people = manifest["held_out"], manifest.get("held_out_people")
        if ("people" in manifest) != (people is not None) or not min(rows, 1) <= (
            rows if people is None else people
        ) <= rows:
            wrong.append(
                "The manifest says of how many people rows were held out, and of whom not."
            )
    return wrong


def check_counts(
    manifest: dict[str, Any], *, rows: int, groups: int | None, people: int | None
) -> list[str]:
    """Return a sentence for every number of a manifest that is not the one that was counted."""
    counted = {"rows": rows, "groups": groups} | ({} if people is None else {"people": people})
    return [one for name, count in counted.items() for one in _miscounted(name, count, manifest)]


def _miscounted(name: str, count: int | None, manifest: dict[str, Any]) -> list[str]:
    if count == manifest[name]:
        return []
    return [f"The manifest says {manifest[name]} {name}, there are {count}."]


def check_columns(published: pl.DataFrame, manifest: dict[str, Any]) -> list[str]:
    """Return a sentence where a table has other columns than its manifest says."""
    apart = manifest["form"] == TWO_TABLES  # what is carried is beside the people
    expected = [
        column["name"]
        for column in manifest["columns"]
        if not apart or column["role"] in {"quasi", "sensitive"}
    ]
    if manifest["groups"] is not None:
        expected = [RESERVED, *own_columns(manifest), *expected]
    if published.columns == expected:
        return []
    return [f"The columns are {published.columns}, the manifest says {expected}."]


def check_groups(published: pl.DataFrame, manifest: dict[str, Any]) -> list[str]:
    """Return a sentence for what no group can have: odd numbers, uneven weights, odd means."""
    problems = _odd_numbers(published, manifest) + uneven_weights(published, manifest)
    problems += wrong_nodes(published, manifest) + check_most(published, PERSON, manifest)
    return problems + wrong_means(published, manifest)


def check_most(table: pl.DataFrame, person: str, manifest: dict[str, Any]) -> list[str]:
    """Return a sentence where people have more rows in a table than were to be published."""
    most = manifest["asked"].get("most_rows")
    if most is None or person not in table.columns:
        return []
    many = int((table[person].value_counts()["count"] > most).sum())
    return [f"{many:,} people have more rows than {most:,}, which was asked for."] * bool(many)


NUMBERED = r"^(0|[1-9][0-9]*)$"


def _odd_numbers(published: pl.DataFrame, manifest: dict[str, Any]) -> list[str]:
    """Return a sentence where groups, or people, are not numbered as programs read numbers.

    1 and 01 are one group, or one person, to whoever reads them as numbers.
    """
    if manifest["groups"] is None:
        return []
    problems = []
    for name in {RESERVED, *own_columns(manifest)} - {REAL}:
        if published[name].dtype.is_integer():
            continue
        texts = published[name].unique().cast(pl.String).fill_null("")
        odd = int((~texts.str.contains(NUMBERED)).sum())
        if odd:
            problems.append(f"{odd:,} different cells of {name!r} are no numbers as 0, 1, 2.")
    return problems


def wrong_nodes(published: pl.DataFrame, manifest: dict[str, Any]) -> list[str]:
    """Return a sentence where a group comes from several nodes, or nodes are miscounted."""
    if "nodes" not in manifest:
        return []
    several = published.group_by(RESERVED).agg(pl.col(NODE).n_unique())[NODE] > 1
    wrong = _miscounted("nodes", published[NODE].n_unique(), manifest)
    return wrong + [f"{several.sum():,} groups have several nodes."] * bool(several.any())


def uneven_weights(published: pl.DataFrame, manifest: dict[str, Any]) -> list[str]:
    """Return a sentence where survey weights tell the rows of a group apart, or are none."""
    name = weighing(manifest)
    if name is None or name not in published.columns or RESERVED not in published.columns:
        return []
    plain = manifest_schema(manifest).read_numbers(published.select(name), "other")[name]
    odd = no_weights(plain)
    if odd.any():
        return [f"The survey weight {name!r} has {odd.sum():,} cells that are no weight."]
    kinds = published.group_by(RESERVED).agg(pl.col(name).n_unique().alias("#kinds"))["#kinds"]
    if not (kinds > 1).any():
        return []
    return [f"The survey weight {name!r} is not the same in all rows of a group."]


@dataclass(frozen=True)
class CellCount:
    """The cells of one column, counted: what they lose, how many are wrong, and the outer ones.

    `at` counts the rows of each node. Counts of parts of a table add up.
    """

    lost: float
    bad: int
    mixed: bool
    outer: frozenset[str]
    at: Counter[str]

    def __add__(self, other: CellCount) -> CellCount:
        return CellCount(
            self.lost + other.lost,
            self.bad + other.bad,
            self.mixed or other.mixed,
            self.outer | other.outer,
            self.at + other.at,
        )


def count_cells(published: pl.DataFrame, column: dict[str, Any]) -> CellCount:
    """Count the cells of a column, of which a manifest says what it says."""
    counted = published[column["name"]].value_counts()
    texts = counted[column["name"]].cast(pl.String)
    by_cell, bad = cell_ncp(texts, column)
    nodes = texts.fill_null(MISSING_LABEL).to_list() if column["kind"] == "node" else []
    return CellCount(
        float(by_cell @ counted["count"].to_numpy()),
        bad,
        bool(column.get("never_mix") and (by_cell > 0).any()),
        frozenset() if bad else outer_cells(texts, column),
        Counter(dict(zip(nodes, counted["count"], strict=False))),
    )


def check_cells(counted: Mapping[str, CellCount], manifest: dict[str, Any], rows: int) -> list[str]:
    """Return a sentence for cells outside the domain and for a loss that is not what cells say."""
    problems = []
    measured = {}
    stated = {column["name"]: column for column in manifest["columns"]}
    for name, one in counted.items():
        if one.mixed:
            problems.append(f"Column {name!r} is never mixed, and has cells of several values.")
        if one.bad:
            problems.append(f"{one.bad} distinct cells of column {name!r} are outside its domain.")
        elif not (
            fills_domain(pl.Series(sorted(one.outer), dtype=pl.String), stated[name])
            and (stated[name]["kind"] != "node" or has_leaves(one.at, stated[name]["domain"]))
        ):
            problems.append(f"The domain of column {name!r} is larger than its published cells.")
        else:
            gone = manifest.get("suppressed", 0)
            measured[name] = (one.lost + gone) / (rows + gone)
    if problems:
        return problems
    loss = manifest["loss"]
    if set(loss["ncp"]) != set(measured):
        return ["The manifest does not give the loss of every quasi column."]
    measured["gcp"] = float(np.mean(list(measured.values())))
    return [
        f"The loss of {name!r} is {measured[name]:.6f}, the manifest says {value:.6f}."
        for name, value in {"gcp": loss["gcp"], **loss["ncp"]}.items()
        if abs(measured[name] - value) > CLOSE
    ]
