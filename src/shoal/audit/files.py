"""The audit of published files: a release directory, or any plain table with named columns.

Digests come first: what is measured has to be what was published, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.cells import check_rows
from shoal.audit.claims import (
    count_published,
    linked_whole,
    manifest_schema,
    owner_states,
    readings,
)
from shoal.audit.matches import audit_matches, published_among
from shoal.audit.published import Published, plain_table, read_release
from shoal.audit.slices import AT_ONCE, audit_parts, check_codebook, is_sliced
from shoal.audit.tables import (
    PartFiles,
    check_digests,
    files_beside,
    find_parts,
    inconsistent,
    is_ordinary,
    read_manifest,
)
from shoal.audit.verdict import Exposed
from shoal.audit.verify import Audit, audit_table
from shoal.errors import InputError, OutputError, UsageError, option
from shoal.principles.requirement import Require, Requirement, requirements
from shoal.release.manifest import Manifest
from shoal.table.coded import Coded, code_table
from shoal.table.ends import ranks_within
from shoal.table.forms import RELEASE
from shoal.table.people import whose_rows
from shoal.table.reading import read_table, take_frame
from shoal.table.schema import REAL, RESERVED, Schema
from shoal.table.settling import trimmed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

OfParts = Callable[[PartFiles, Manifest, Sequence[Requirement]], Audit]
Look = Callable[[Published], dict[str, Any]]


def audit_files(
    source: Any,
    schema: Schema | None = None,
    *,
    require: Require | Iterable[Require] | None = None,
    original: Any = None,
    population: Any = None,
    hierarchies: Mapping[str, object] | None = None,
    look: Look | None = None,
) -> Audit:
    """Measure what published files keep, from the files alone.

    A heterogeneous release is measured against the original table, which only its owner has.

    Parameters
    ----------
    source : a release directory, the path of a table, or a frame.
    schema : the roles of the columns, for a plain table; a release says them in its manifest, but
        for the person column of a population.
    require : what should hold, for a plain table; for a release, instead of what it promises.
    original : the path or frame of the original table, for a heterogeneous release.
    population : the path or frame of a table of everybody who could be in the table, for
        requirements about them.
    hierarchies : for a release, those that its owner listed (files, nested nodes), which say what
        a node covers where the manifest cannot.
    look : for a release, returns what its tables and its manifest show.
    """
    everybody = (
        read_table(population)
        if isinstance(population, str | Path)
        else None
        if population is None
        else take_frame(population)
    )
    if isinstance(source, str | Path) and Path(source).is_dir():
        person = None if schema is None else schema.person
        return audit_directory(
            Path(source), require, original, everybody, hierarchies, person=person, look=look
        )
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
    asked = requirements(require, schema.sensitive)
    if everybody is not None and schema.person and any(one.principle.population for one in asked):
        everybody = whose_rows(everybody, schema.person)
    return audit_table(plain_table(table, schema), asked, everybody)


def audit_directory(
    directory: Path,
    require: Require | Iterable[Require] | None = None,
    original: Any = None,
    population: pl.DataFrame | None = None,
    hierarchies: Mapping[str, object] | None = None,
    elsewhere: OfParts | None = None,
    person: str | None = None,
    look: Look | None = None,
) -> Audit:
    """Audit a release directory: the requirements, and whether its manifest tells the truth.

    `elsewhere` measures part files where others than this machine do that. `person` is the column
    of the population that says whom its rows are about. `look` returns what the tables show.
    """
    manifest = read_manifest(directory)
    odd = inconsistent(manifest)
    problems = check_digests(directory, manifest.digests) + odd
    look = None if odd else look
    try:
        found = (
            Audit(0, None, (), tuple(problems))
            if not all(is_ordinary(directory / name) for name in manifest.digests)
            else _measure(
                directory,
                manifest,
                problems,
                require,
                original,
                population,
                hierarchies,
                person,
                look,
            )
            if elsewhere is None
            else _measure_parts(directory, manifest, problems, require, elsewhere, look)
        )
    except (InputError, OutputError) as problem:
        if not problems:
            raise
        found = Audit(0, None, (), (*problems, str(problem)))
    if found.exposed is None:
        asked = requirements(require or manifest.require, *manifest_schema(manifest).protected)
        found = replace(found, exposed=Exposed.of(manifest, asked))
    return replace(
        found,
        reading=tuple(readings(manifest)),
        stated=tuple(owner_states(manifest)),
        warnings=tuple(files_beside(directory, manifest.digests)),
    )


def _measure(
    directory: Path,
    manifest: Manifest,
    changed: list[str],
    require: Require | Iterable[Require] | None,
    original: Any,
    population: pl.DataFrame | None,
    hierarchies: Mapping[str, object] | None,
    person: str | None,
    look: Look | None,
) -> Audit:
    """Measure what a manifest speaks of; `changed` is what is wrong with the files already."""
    schema = manifest_schema(manifest, hierarchies)
    asked = requirements(require or manifest.require, *schema.protected)
    by_owner = original is not None or population is not None or hierarchies
    if not by_owner and is_sliced(directory, manifest, asked):
        return _measure_parts(directory, manifest, changed, require, audit_parts, look)
    found = read_release(directory, manifest, lean=True)
    found = replace(found, hierarchies=hierarchies or {})
    check_rows(found.table)
    false = found.untrue() + check_codebook(directory, manifest, schema)
    problems = [*changed, *false]
    seen = None if look is None or false else look(found)
    exposed = Exposed.of(manifest, asked)
    if manifest.heterogeneous:
        measured = _measure_matches(found, asked, original, problems)
        measured = None if measured is None else replace(measured, exposed=exposed)
    else:
        measured = _measure_groups(found, asked, population, person, exposed)
        if original is not None and measured is not None:
            _open(original)  # so that one that is not there is not taken for one that agrees
            measured = replace(measured, remarks=(*measured.remarks, NOT_NEEDED))
    if measured is None:
        return Audit(found.table.height, None, (), tuple(problems))
    measured = replace(measured, shown=seen)
    return _compared(measured, manifest, problems, stated=require is None)


def _measure_groups(
    found: Published,
    asked: Sequence[Requirement],
    population: pl.DataFrame | None,
    person: str | None,
    exposed: Exposed,
) -> Audit | None:
    """Measure a release of groups, whose cells are let go of; None where columns are missing."""
    schema, manifest, names = found.schema, found.stated, found.table.columns
    needed = {RESERVED, *schema.persons, *schema.quasi, *schema.sensitive}
    if not needed.issubset(names) or not all(
        linked_whole(name, table, manifest) for name, table in found.linked.items()
    ):
        return None
    if population is not None and schema.person and any(one.principle.population for one in asked):
        population = whose_rows(population, person)
    # Rows of a series that stand for nobody hide people, and are no people.
    series = manifest.in_series and REAL in names
    real = count_published(found.table, series=True) if series else None
    measured = audit_table(found, asked, population, exposed)
    return measured if real is None else replace(measured, people=real)


def _measure_matches(
    found: Published, asked: Sequence[Requirement], original: Any, problems: list[str]
) -> Audit | None:
    """Measure a release without groups against its original; None where that cannot be done.

    What is wrong with its domains is added to the problems.
    """
    if original is None and not problems:
        raise UsageError(WITHOUT_ORIGINAL)
    published, manifest = found.table, found.stated
    if original is None or not set(found.schema.published).issubset(published.columns):
        return None
    coded = code_original(_open(original), manifest, found.hierarchies)
    if len(coded) > published.height:
        gone = len(coded) - published.height
        if manifest.suppressed is not None:
            gone = manifest.suppressed + (manifest.held_out or 0)
        coded = published_among(published, coded, gone)
    problems += check_domains(coded, manifest)
    return audit_matches(published, coded, asked, candidates=True)


def _open(original: Any) -> pl.DataFrame:
    return read_table(original) if isinstance(original, str | Path) else take_frame(original)


def _measure_parts(
    directory: Path,
    manifest: Manifest,
    changed: list[str],
    require: Require | Iterable[Require] | None,
    measure: OfParts,
    look: Look | None,
) -> Audit:
    """Measure a release in parts, none of which has to be beside all the others."""
    schema = manifest_schema(manifest)
    asked = requirements(require or manifest.require, *schema.protected)
    parts = find_parts(directory, RELEASE, manifest.digests)
    if parts is None or not manifest.grouped or manifest.in_series:
        msg = (
            f"{directory.name!r} is not a release of groups in part files, so it is audited on one "
            f"machine. Leave out {option('engine')}."
        )
        raise UsageError(msg)
    found = measure(parts, manifest, asked)
    problems = [*changed, *check_codebook(directory, manifest, schema)]
    if look is not None and not found.problems:
        some = read_release(directory, manifest, lean=True, most=AT_ONCE)
        found = replace(found, shown=look(some))
    return _compared(found, manifest, problems, stated=require is None)


def _compared(found: Audit, manifest: Manifest, problems: Sequence[str], *, stated: bool) -> Audit:
    """Return an audit with what is wrong already, and where a manifest measured something else."""
    problems = list(problems)
    if stated and found.measured() != manifest.measured:
        problems.append("The manifest's measurements are not those of the published table.")
    if stated and found.exposed is not None:
        kept = all(finding.holds for finding in found.findings)
        problems += found.exposed.untrue(manifest, holds=kept)
    if manifest.alone not in {None, found.alone}:
        problems.append(
            f"The manifest says that {manifest.alone} people are alone with their number of "
            f"rows, there are {found.alone}."
        )
    return replace(found, problems=(*found.problems, *problems))


NOT_NEEDED = (
    "This release has groups, so it is measured from its files alone: the original is not needed, "
    "and nothing is taken from it."
)
WITHOUT_ORIGINAL = (
    "The files agree with their manifest, but k-anonymity was not measured: this release has no "
    "groups, so whom a row matches can be counted only against the original table. Its owner names "
    f"it with {option('original')}."
)


def code_original(
    table: pl.DataFrame,
    manifest: Manifest,
    hierarchies: Mapping[str, object] | None = None,
) -> Coded:
    """Code the original table as the release was made from it.

    Whether a quasi column is numeric, the manifest says. Rows with missing cells were left out
    where the release, with what it suppressed, has fewer rows than the original.
    """
    stated = manifest_schema(manifest, hierarchies)
    by_kind = {"interval": "numeric", "set": "categorical"}
    types = {c.name: by_kind[c.kind] for c in manifest.columns if c.kind in by_kind}
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
    fewer = manifest.rows + (manifest.suppressed or 0) < table.height
    return code_table(table, schema, missing="drop" if fewer else "value")


def check_domains(original: Coded, manifest: Manifest) -> list[str]:
    """Return a sentence for every quasi column whose stated domain is not the original's."""
    stated = manifest.by_name
    problems = []
    for column in original.quasi:
        if column.tree is not None:
            continue  # what its nodes cover was asked when it was coded
        if column.numeric:
            said = stated[column.name].values
            ends = pl.Series([str(end) for end in said[:2]])
            ranks = np.array([0, len(column.known) - 1])
            same = all(np.array_equal(found, ranks) for found in ranks_within(column, ends, ends))
            same &= (column.gap is not None) == (said[2:] == [None])
        else:
            same = set(column.spellings) == set(stated[column.name].values)
        if not same:
            problems.append(f"The domain of column {column.name!r} is not that of the original.")
    return problems
