"""The audit of published files: a release directory, or any plain table with named columns.

Digests come first: what is measured has to be what was published, byte for byte.
"""

from __future__ import annotations

import hashlib
import stat
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.cells import as_text, cell_ncp, fills_domain, outer_cells, without_escapes
from shoal.audit.forms import (
    Tables,
    flat_cells,
    one_cell_each,
    own_columns,
    put_together,
    wrong_headers,
    wrong_means,
)
from shoal.audit.manifest import MANIFEST, read_manifest
from shoal.audit.matches import audit_matches, published_among
from shoal.audit.nodes import Stated
from shoal.audit.verify import Audit, audit_table, check_rows
from shoal.errors import InputError, UsageError
from shoal.principles.requirement import Require, requirements
from shoal.progress import Progress, silent
from shoal.table.coded import Coded, code_table
from shoal.table.columns import Gathered, Handed
from shoal.table.ends import ranks_within
from shoal.table.files import part_files, separator_of, tables_named
from shoal.table.forms import INTERVALS, RELEASE, TWO_TABLES, stems
from shoal.table.groupings import Hierarchy
from shoal.table.linked import under_both_names
from shoal.table.reading import read_lean, read_table, take_frame
from shoal.table.schema import KNOWN, PERSON, PSEUDONYM, REAL, RESERVED, UNKNOWN, Schema
from shoal.table.settling import trimmed, with_date_formats
from shoal.wording import option

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


CLOSE = 1e-9  # losses are means of doubles, added up in another order


def audit_files(
    source: Any,
    schema: Schema | None = None,
    *,
    require: Require | Iterable[Require] | None = None,
    original: Any = None,
    population: Any = None,
    hierarchies: Mapping[str, Any] | None = None,
) -> Audit:
    """Measure what published files keep, from the files alone.

    A heterogeneous release is measured against the original table, which only its owner has.

    Parameters
    ----------
    source : a release directory, the path of a table, or a frame.
    schema : the roles of the columns, for a plain table; a release says them in its manifest.
    require : what should hold, for a plain table; for a release, instead of what it promises.
    original : the path or frame of the original table, for a heterogeneous release.
    population : the path or frame of a table of everybody who could be in the table, for
        requirements about them.
    hierarchies : for a release, those that its owner listed (files, nested nodes), which say what
        a node covers where the manifest cannot.
    """
    everybody = (
        read_table(population)
        if isinstance(population, str | Path)
        else None
        if population is None
        else take_frame(population)
    )
    if isinstance(source, str | Path) and Path(source).is_dir():
        return audit_directory(Path(source), require, original, everybody, hierarchies)
    if hierarchies:
        msg = "A plain table has its hierarchies in its schema."
        raise UsageError(msg)
    if original is not None:
        msg = "Only a release directory is audited against its original table."
        raise UsageError(msg)
    table = read_table(source) if isinstance(source, str | Path) else take_frame(source)
    if schema is None or require is None:
        msg = "A plain table needs a schema and a requirement to be audited against."
        raise InputError(msg)
    known = replace(schema, other=tuple(n for n in schema.other if n != RESERVED))
    known.check(table.columns)
    texts = table.with_columns(as_text(table[name]) for name in schema.quasi)
    schema = with_date_formats(texts, schema, "sensitive")
    texts = schema.read_numbers(texts, "sensitive")
    return audit_table(texts, schema, requirements(require, schema.sensitive), everybody)


def audit_directory(
    directory: Path,
    require: Require | Iterable[Require] | None = None,
    original: Any = None,
    population: pl.DataFrame | None = None,
    hierarchies: Mapping[str, Any] | None = None,
) -> Audit:
    """Audit a release directory: the requirements, and whether its manifest tells the truth."""
    manifest = read_manifest(directory)
    problems = check_digests(directory, manifest["digests"])
    try:
        found = (
            _measure(directory, manifest, problems, require, original, population, hierarchies)
            if all(is_ordinary(directory / name) for name in manifest["digests"])
            else Audit(0, None, (), tuple(problems))
        )
    except InputError as problem:
        if not problems:
            raise
        found = Audit(0, None, (), (*problems, str(problem)))
    return replace(
        found,
        reading=tuple(readings(manifest)),
        warnings=tuple(files_beside(directory, manifest["digests"])),
    )


def _measure(
    directory: Path,
    manifest: dict[str, Any],
    changed: list[str],
    require: Require | Iterable[Require] | None,
    original: Any,
    population: pl.DataFrame | None,
    hierarchies: Mapping[str, Any] | None,
) -> Audit:
    """Measure what a manifest speaks of; `changed` is what is wrong with the files already."""
    tables = read_tables(directory, manifest, lean=True)
    published, linked = tables.rows, tables.linked
    check_rows(published)
    schema = manifest_schema(manifest, hierarchies)
    asked = requirements(require or manifest["require"], *schema.protected)
    problems = [*changed, *tables.problems]
    del tables
    problems += check_manifest(published, manifest) + check_linked(linked, manifest)
    if not manifest.get("heterogeneous", False):
        if original is not None:
            msg = (
                "This release has groups: it is measured from its files alone. Omit "
                f"{option('original')}."
            )
            raise UsageError(msg)
        whole = {*schema.quasi, *schema.sensitive}.issubset(published.columns)
        if not whole or not all(linked_whole(name, linked[name], manifest) for name in linked):
            return Audit(published.height, None, (), tuple(problems))
        handed = Handed(published)
        del published  # so that quasi cells can go as soon as the groups are known
        found = audit_table(handed, schema, asked, population, kinds_of(manifest), linked)
    elif original is None and not problems:
        raise UsageError(WITHOUT_ORIGINAL)
    elif original is None or not set(schema.published).issubset(published.columns):
        return Audit(published.height, None, (), tuple(problems))
    else:
        table = read_table(original) if isinstance(original, str | Path) else take_frame(original)
        coded = code_original(table, manifest, hierarchies)
        if len(coded) > published.height:
            coded = published_among(published, coded, manifest["suppressed"])
        problems += check_domains(coded, manifest)
        found = audit_matches(published, coded, asked, candidates=True)
    if require is None and found.measured() != manifest["measured"]:
        problems.append("The manifest's measurements are not those of the published table.")
    if manifest.get("alone", found.alone) != found.alone:
        problems.append(
            f"The manifest says that {manifest['alone']} people are alone with their number of "
            f"rows, there are {found.alone}."
        )
    return replace(found, problems=(*found.problems, *problems))


WITHOUT_ORIGINAL = (
    "The files agree with their manifest, but k-anonymity was not measured: this release has no "
    "groups, so whom a row matches can be counted only against the original table. Its owner names "
    f"it with {option('original')}."
)


def code_original(
    table: pl.DataFrame,
    manifest: dict[str, Any],
    hierarchies: Mapping[str, Any] | None = None,
) -> Coded:
    """Code the original table as the release was made from it.

    Whether a quasi column is numeric, the manifest says. Rows with missing cells were left out
    where the release, with what it suppressed, has fewer rows than the original.
    """
    stated = manifest_schema(manifest, hierarchies)
    by_kind = {"interval": "numeric", "set": "categorical"}
    types = {c["name"]: by_kind[c["kind"]] for c in manifest["columns"] if c.get("kind") in by_kind}
    schema = Schema(
        quasi=stated.quasi,
        sensitive=stated.sensitive,
        types={
            name: kind
            for name, kind in (types | dict(stated.types)).items()
            if name in stated.quasi and kind != "ordered"
        },
        hierarchies=stated.hierarchies,
        decimal=stated.decimal,
        **stated.said_of((*stated.quasi, *stated.sensitive)),
    )
    schema.check(table.columns)
    table = trimmed(table, schema, "quasi", "sensitive")
    fewer = manifest["rows"] + manifest["suppressed"] < table.height
    return code_table(table, schema, missing="drop" if fewer else "value")


def check_domains(original: Coded, manifest: dict[str, Any]) -> list[str]:
    """Return a sentence for every quasi column whose stated domain is not the original's."""
    stated = {c["name"]: c["domain"] for c in manifest["columns"] if c["role"] == "quasi"}
    problems = []
    for column in original.quasi:
        if column.tree is not None:
            continue  # what its nodes cover was asked when it was coded
        if column.numeric:
            ends = pl.Series([str(end) for end in stated[column.name]])
            ranks = np.array([0, column.distinct - 1])
            same = all(np.array_equal(found, ranks) for found in ranks_within(column, ends, ends))
        else:
            same = set(column.spellings) == set(stated[column.name])
        if not same:
            problems.append(f"The domain of column {column.name!r} is not that of the original.")
    return problems


def read_published(
    directory: Path,
    manifest: dict[str, Any],
    *,
    lean: bool = False,
    progress: Progress = silent,
) -> pl.DataFrame:
    """Read the published table of a release directory: quasi cells as text, nothing escaped.

    With `lean`, cells that repeat are held as dictionaries.
    """
    return read_tables(directory, manifest, lean=lean, progress=progress).rows


def read_cells(directory: Path, manifest: dict[str, Any]) -> pl.DataFrame:
    """Read a published table: quasi cells as text, nothing escaped, numbers spelled as they are."""
    return read_spelled(directory, manifest).rows


def read_tables(
    directory: Path,
    manifest: dict[str, Any],
    *,
    lean: bool = False,
    progress: Progress = silent,
) -> Tables:
    """Read the published tables of a release directory as one, and say what is wrong with them."""
    found = read_spelled(directory, manifest, lean=lean, progress=progress)
    schema = manifest_schema(manifest)
    linked = {
        name: schema.linked[name].read_numbers(table, "sensitive")
        for name, table in found.linked.items()
    }
    return replace(found, rows=schema.read_numbers(found.rows, "sensitive"), linked=linked)


def read_spelled(
    directory: Path,
    manifest: dict[str, Any],
    *,
    lean: bool = False,
    progress: Progress = silent,
) -> Tables:
    """Read the published tables, quasi cells as text, nothing escaped, all spelled as they are."""
    form = manifest["form"]
    tables = {}
    for stem in (*stems(form), *manifest.get("tables", {})):
        if parts := part_files(stem, manifest["digests"]):
            tables[stem] = _read_parts(directory, parts, manifest, progress)
            continue
        (name,) = (name for name in manifest["digests"] if name in tables_named(stem))
        path = directory / name
        if not is_ordinary(path):
            msg = f"{directory.name!r} has no {name}, or it is no ordinary file."
            raise InputError(msg)
        separator = separator_of(name.removeprefix(f"{stem}."))
        flat = partial(flat_cells, manifest=manifest)
        if lean and form != TWO_TABLES:
            tables[stem] = read_lean(
                path, delimiter=separator, change=flat, progress=progress, phase="audit"
            )
        else:
            tables[stem] = flat(read_table(path, delimiter=separator))
    if form == TWO_TABLES:
        return put_together(tables, manifest)
    linked = {}
    for name, stated in manifest.get("tables", {}).items():
        table = tables.pop(name)
        if manifest.get("escaped"):
            table = without_escapes(table, stated["columns"])
        linked[name] = under_both_names(table, name)
    problems = wrong_headers(tables, manifest) if form != INTERVALS else ()
    rows = one_cell_each(tables[RELEASE], manifest)
    if manifest.get("escaped"):
        rows = without_escapes(rows, manifest["columns"])
    return Tables(rows, tuple(problems), linked=linked)


def _read_parts(
    directory: Path, names: Sequence[str], manifest: dict[str, Any], progress: Progress
) -> pl.DataFrame:
    """Read the parts of a table as one, a part at a time."""
    gathered = Gathered(lean=True)
    header: list[str] = []
    for place, name in enumerate(names, 1):
        if not is_ordinary(directory / name):
            msg = f"{directory.name!r} has no {name}, or it is no ordinary file."
            raise InputError(msg)
        part = flat_cells(read_table(directory / name), manifest)
        if header and part.columns != header:
            msg = f"{name} has other columns than {names[0]}."
            raise InputError(msg)
        header = part.columns
        gathered.add(part)
        progress("audit", place / len(names))
    return gathered.table(header, manifest["rows"])


def as_meant(published: pl.DataFrame, manifest: dict[str, Any]) -> pl.DataFrame:
    """Return a published table, quasi cells as text, read as its manifest says."""
    if manifest.get("escaped"):
        published = without_escapes(published, manifest["columns"])
    return manifest_schema(manifest).read_numbers(published, "sensitive")


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
    said += [
        f"The manifest says that column {column['name']!r} is of type {column['type']}."
        for column in manifest["columns"]
        if "type" in column
    ]
    return said


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
    "missing_cells": "missing",
}


def _settled_as(columns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what was said of the cells of columns, as a schema takes it."""
    return {said: {c["name"]: c[key] for c in columns if key in c} for said, key in SETTLED.items()}


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


def linked_whole(name: str, table: pl.DataFrame, manifest: dict[str, Any]) -> bool:
    """Return whether a linked table has the columns that the manifest says."""
    stated = [one["name"] for one in manifest["tables"][name]["columns"]]
    return table.columns == [f"{name}.{one}" for one in (RESERVED, PERSON, *stated)]


def check_linked(linked: Mapping[str, pl.DataFrame], manifest: dict[str, Any]) -> list[str]:
    """Return a sentence for everything that a manifest says wrongly of its linked tables."""
    problems = []
    for name, table in linked.items():
        stated = manifest["tables"][name]
        if stated["rows_in"] != sum(stated[k] for k in ("rows", "suppressed", "dropped", "capped")):
            problems.append(
                f"Of {name}, the manifest's rows, suppressed, dropped and capped do not add up to "
                "rows_in."
            )
        if table.height != stated["rows"]:
            problems.append(
                f"Of {name}, the manifest says {stated['rows']} rows, there are {table.height}."
            )
        if not linked_whole(name, table, manifest):
            problems.append(f"The columns of {name} are not those that the manifest says.")
    return problems


def people_of(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return what a manifest says of people, as a schema takes it."""
    if "people" not in manifest:
        return {}
    return {"person": PERSON, "rows": KNOWN if manifest["rows_known"] else UNKNOWN}


def _people(published: pl.DataFrame, *, series: bool) -> int:
    """Return how many people are published; in a series, how many real ones groups say."""
    if not series:
        return published[PERSON].n_unique()
    by_group = published.group_by(RESERVED).agg(
        pl.col(REAL).cast(pl.String).cast(pl.Int64, strict=False).first()
    )
    return int(by_group[REAL].sum())


def check_manifest(published: pl.DataFrame, manifest: dict[str, Any]) -> list[str]:
    """Return a sentence for everything that a manifest says wrongly of its table."""
    series = "previous" in manifest  # rows may stand for nobody there
    problems = check_rows_in(manifest)
    if wrong := check_columns(published, manifest):
        return [*problems, *_miscounted("rows", published.height, manifest), *wrong]
    groups = None if manifest["groups"] is None else published[RESERVED].n_unique()
    people = _people(published, series=series) if "people" in manifest else None
    problems += check_counts(manifest, rows=published.height, groups=groups, people=people)
    problems += check_groups(published, manifest)
    by_column = {
        column["name"]: count_cells(published, column)
        for column in manifest["columns"]
        if column["role"] == "quasi"
    }
    return problems + check_cells(by_column, manifest, published.height)


def check_rows_in(manifest: dict[str, Any]) -> list[str]:
    """Return a sentence where the numbers of a manifest do not add up."""
    parts = ["people" if "previous" in manifest else "rows", "suppressed", "dropped"]
    parts += ["capped"] * ("capped" in manifest)
    if manifest["rows_in"] == sum(manifest[part] for part in parts):
        return []
    named = f"{', '.join(parts[:-1])} and {parts[-1]}"
    return [f"The manifest's {named} do not add up to rows_in."]


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
    """Return a sentence for what no group can have: uneven weights, impossible means."""
    return _uneven_weights(published, manifest) + wrong_means(published, manifest)


def _uneven_weights(published: pl.DataFrame, manifest: dict[str, Any]) -> list[str]:
    """Return a sentence where survey weights tell the rows of a group apart."""
    name = weighing(manifest)
    if name is None or name not in published.columns or RESERVED not in published.columns:
        return []
    kinds = published.group_by(RESERVED).agg(pl.col(name).n_unique().alias("#kinds"))["#kinds"]
    if not (kinds > 1).any():
        return []
    return [f"The survey weight {name!r} is not the same in all rows of a group."]


@dataclass(frozen=True)
class CellCount:
    """The cells of one column, counted: what they lose, how many are wrong, and the outer ones.

    Counts of parts of a table add up.
    """

    lost: float
    bad: int
    mixed: bool
    outer: frozenset[str]

    def __add__(self, other: CellCount) -> CellCount:
        return CellCount(
            self.lost + other.lost,
            self.bad + other.bad,
            self.mixed or other.mixed,
            self.outer | other.outer,
        )


def count_cells(published: pl.DataFrame, column: dict[str, Any]) -> CellCount:
    """Count the cells of a column, of which a manifest says what it says."""
    counted = published[column["name"]].value_counts()
    texts = counted[column["name"]].cast(pl.String)
    by_cell, bad = cell_ncp(texts, column)
    return CellCount(
        float(by_cell @ counted["count"].to_numpy()),
        bad,
        bool(column.get("never_mix") and (by_cell > 0).any()),
        frozenset() if bad else outer_cells(texts, column),
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
        elif not fills_domain(pl.Series(sorted(one.outer), dtype=pl.String), stated[name]):
            problems.append(f"The domain of column {name!r} is larger than its published cells.")
        else:
            total = one.lost + manifest["suppressed"]
            measured[name] = total / (rows + manifest["suppressed"])
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


def digest_of(path: Path) -> str:
    """Return the digest of a file as a manifest has it."""
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def is_ordinary(path: Path) -> bool:
    """Return whether there is a file that can be read to its end: no link, pipe or device."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def check_digests(directory: Path, stated: Mapping[str, str]) -> list[str]:
    """Return a sentence for every published file that is missing or not what it was."""
    problems = []
    for name, digest in stated.items():
        if not is_ordinary(directory / name):
            problems.append(f"The file {name!r} is missing.")
        elif digest_of(directory / name) != digest:
            problems.append(f"The file {name!r} is not the one that was published.")
    return problems


def files_beside(directory: Path, stated: Mapping[str, str]) -> list[str]:
    """Return a sentence where files lie in a release directory that do not belong to it."""
    others = sorted(set(_files(directory)) - {*stated, MANIFEST})
    if not others:
        return []
    return [f"Not part of the release, and not looked at: {', '.join(map(repr, others))}."]


def _files(directory: Path) -> Iterator[str]:
    """Yield what lies in a directory and one directory below it, as a manifest names it."""
    for path in directory.iterdir():
        below = list(path.iterdir()) if path.is_dir() and not path.is_symlink() else []
        yield from (f"{path.name}/{inner.name}" for inner in below)
        if not below:
            yield path.name
