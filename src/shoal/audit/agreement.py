"""Whether a manifest agrees with itself: what one part says, others must not contradict.

Nothing is measured, and no file is opened. Whoever reads a release directory may rely on it: the
columns that are measured are columns of the release, and the method can have made what is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.audit.described import Wrong, check_column, refuse_first, required
from shoal.audit.verdict import exposed_columns
from shoal.errors import InputError, UsageError
from shoal.exact import read_share
from shoal.notation import parse
from shoal.release.layout import ADVERSARY
from shoal.release.makers import maker_of
from shoal.release.manifest import COUNTS, HELD, REPORT
from shoal.table.files import part_files, tables_named
from shoal.table.forms import CODEBOOK, MEANS, TWO_TABLES, stems
from shoal.table.schema import PERSON, RESERVED
from shoal.table.trimming import read_trim
from shoal.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shoal.audit.described import Found
    from shoal.release.manifest import Manifest
    from shoal.release.stated import Record


def check_agreement(manifest: Manifest) -> None:
    """Raise where parts of a manifest, each of the right shape, contradict one another."""
    for number, column in enumerate(manifest.columns, 1):
        check_column(column, f"'columns', {number}")
    for table, said in manifest.tables.items():
        for column in said.columns:
            check_column(column, f"'tables', {table!r}, {column.name!r}")
    for part in (_columns, _digests, _ask, _people, _counts, _kind, _linked, _regions):
        refuse_first(part(manifest))
    _terms(manifest)


def _columns(manifest: Manifest) -> Found:
    names = [column.name for column in manifest.columns]
    own = [RESERVED, *manifest.own_columns]
    called = (
        "two entries of 'columns' have the same name, or one has the reserved name "
        f"{' or '.join(map(repr, own))}"
    )
    yield len({*names}) < len(names) or {*own} & {*names}, called
    yield not manifest.quasi, "'columns' has no quasi column"
    nodes = "node" in manifest.kinds.values() and manifest.form == TWO_TABLES
    yield nodes, "'columns' has the kind 'node', but two tables publish no nodes"


def _digests(manifest: Manifest) -> Found:
    """Yield files that every release has and that go without a digest, and others that have one."""
    digests, own = manifest.digests, {REPORT, CODEBOOK}
    for stem in (*stems(manifest.form), *manifest.tables):
        tables = [name for name in digests if name in tables_named(stem)]
        parts = part_files(stem, digests)  # all parts are one table
        yield len(tables) + bool(parts) != 1, f"'digests' has to name one table {stem}"
        own |= {*tables, *parts}
    for name in digests.keys() - own:
        yield True, f"'digests' names {name[:40]!r}, which is not a file of a release"
    both = {REPORT, CODEBOOK} <= digests.keys()
    yield not both, f"'digests' has to name {REPORT} and {CODEBOOK}"


def _ask(manifest: Manifest) -> Found:
    """Yield names twice, shares that are none and terms of another role in what was asked."""
    asked = manifest.asked
    for name, said in asked.to_dict().items():
        twice = isinstance(said, list) and len({*said}) < len(said)
        yield twice, f"'asked', {name!r} has to be a list without repetition"
    for name, share in (("suppress", asked.suppress), ("hold_out", asked.hold_out)):
        try:
            read_share(share)
        except UsageError:
            yield True, f"'asked', {name!r} has to be a share such as 1%"
    for side in ("bottom", "top"):
        for name, limit in (getattr(asked, side) or {}).items():
            try:
                read_trim(name, **{side: limit})
            except UsageError as problem:
                yield True, f"'asked', {side!r} cannot be read: {str(problem).removesuffix('.')}"
    for role, notation in (("method", asked.method), ("engine", asked.engine)):
        if notation is not None:
            term = _term(role, notation, f"'asked', {role!r}")
            yield repr(term) != notation, f"'asked', {role!r} is not written as {term!r}"


def _people(manifest: Manifest) -> Found:
    none = manifest.people is None
    yield none and manifest.in_series, "a release of a series has to say 'people'"
    both = "the manifest has to say both 'people' and 'rows_known', or neither"
    yield none is not (manifest.rows_known is None), both
    alone = "'alone' must be there if 'rows_known' is false, and only then"
    yield (manifest.alone is not None) is not (manifest.rows_known is False), alone


def _kind(manifest: Manifest) -> Found:
    """Yield where a release is said to have groups and to have none."""
    alone = bool(manifest.heterogeneous)
    yield (
        alone is manifest.grouped or alone is (manifest.adversary is None),
        "a heterogeneous release must have 'adversary' and null as 'groups', and any other must "
        "have 'groups' and no 'adversary'",
    )
    told = manifest.shoal != __version__ or manifest.adversary in (None, [*ADVERSARY])
    yield not told, "'adversary' is not what this version of Shoal says"
    yield (
        manifest.nodes and (alone or manifest.people or manifest.coarsened_from),
        "'nodes' needs groups, and cannot be combined with 'people' or 'coarsened_from'",
    )
    apart = alone and manifest.form in {MEANS, TWO_TABLES}
    yield apart, f"a heterogeneous release has no form {manifest.form!r}"


def _counts(manifest: Manifest) -> Found:
    """Yield where some numbers of rows that were left out are said, and others are not."""
    every, said = {*COUNTS}, manifest.rows_in is not None
    of_people = {"suppressed_people", "capped"} if manifest.people is None else set()
    told: list[tuple[str, Record, set[str]]] = [("the manifest", manifest, every - of_people)]
    for name, table in manifest.tables.items():
        told.append((f"'tables', {name!r}", table, every - {"suppressed_people"}))
    for place, one, needed in told:
        some = {name for name in COUNTS if getattr(one, name, None) is not None}
        words = ", ".join(map(repr, sorted(needed)))
        yield some != (needed if said else set()), f"{place} has to say all of {words}, or none"
    yield (
        not said and any(getattr(manifest, name) is not None for name in HELD),
        "a manifest without 'rows_in' cannot describe a control group",
    )


def _linked(manifest: Manifest) -> Found:
    """Yield what cannot be said of linked tables."""
    beside = manifest.people is None or manifest.in_series or manifest.form == TWO_TABLES
    yield (
        manifest.tables and beside,
        "'tables' needs 'people', and cannot be combined with a series or with two tables",
    )
    for name, said in manifest.tables.items():
        from shoal.table.linked import check_linked_name

        try:
            check_linked_name(name)
        except UsageError:
            yield True, f"'tables' names {name[:40]!r}, which is not a linked table"
        names = [column.name for column in said.columns]
        own = len({*names}) < len(names) or {RESERVED, PERSON} & {*names}
        twice = f"'tables', {name!r} has two columns of one name, or one with a reserved name"
        yield own, twice
        odd = any(c.role not in {"sensitive", "other"} or c.survey_weight for c in said.columns)
        yield odd, f"'tables', {name!r} may have only sensitive and other columns"


def _regions(manifest: Manifest) -> Found:
    """Yield where regions cannot be, or lack what says where they were cut."""
    if manifest.cells is None:
        yield bool(manifest.births), "'births' needs 'cells': it is only for regions"
        return
    other = not manifest.grouped or manifest.form == TWO_TABLES
    yield other, "'cells' needs groups, and cannot be combined with two tables"
    lasting = "'births' must be there for regions in a series, and only then"
    yield manifest.in_series != bool(manifest.births), lasting
    firsts = [one.first for one in manifest.births]
    yield firsts != sorted(set(firsts)), "the numbers 'first' in 'births' must increase"
    width = len(manifest.quasi)
    odd = any(len(one) != width for birth in manifest.births for one in birth.gone)
    yield odd, "'gone' in 'births' must list one cell for each quasi-identifier"
    for column in manifest.columns:
        cut = column.has_ends and not column.never_mix
        unsaid = cut and (column.step is None or column.bounds is None)
        yield unsaid, f"'columns' must give 'step' and 'bounds' for {column.name!r}"


def _terms(manifest: Manifest) -> None:
    """Raise where a term cannot be read, or would open a file in being read."""
    try:
        asked = required(manifest)
    except (UsageError, InputError) as problem:
        raise _unread("'require'", problem) from None
    if len(asked) < len(manifest.require):
        twice = "'require' names a requirement twice"
        raise Wrong(twice)
    _term("method", manifest.method)
    for column in manifest.columns:
        if column.hierarchy is not None:
            _term("hierarchy", column.hierarchy)


def _term(key: str, notation: str, place: str | None = None) -> Any:
    try:
        term = parse(notation, files=False, known=maker_of)
    except (UsageError, InputError) as problem:
        raise _unread(place or repr(key), problem) from None
    if term.role != key:
        other = f"{place or repr(key)} is a {term.role}"
        raise Wrong(other)
    return term


def _unread(key: str, problem: Exception) -> Wrong:
    return Wrong(f"{key} cannot be read: {str(problem).removesuffix('.')}")


# Of a manifest that can be read, and is not believed


def contradictions(manifest: Manifest) -> list[str]:
    """Return a sentence for all that a manifest measured elsewhere, or that its method rules out.

    What is measured of a release that contradicts itself is not shown with what it says.
    """
    return [*_unlike(manifest, _term("method", manifest.method)), *_elsewhere(manifest)]


def _unlike(manifest: Manifest, method: Any) -> Iterator[str]:
    """Yield what the method that is named cannot have made."""
    if method.grouped is not manifest.grouped:
        yield f"The manifest names the method {method!r}, which makes another kind of release."
    elif manifest.cells is not None and not method.cuts:
        yield f"The manifest says that cells are regions of cuts, and {method!r} makes no cuts."
    named = manifest.asked.method or manifest.later_round or manifest.coarsened_from
    if not named and manifest.method not in method.unasked:
        yield (
            f"The manifest names the method {method!r}, which Shoal uses only on request, but "
            "'asked' does not name it."
        )
    in_parts = manifest.in_series or bool(manifest.people or manifest.coarsened_from)
    in_parts |= bool(manifest.asked.engine or manifest.asked.never_mix)
    if manifest.nodes is not None and not method.shows_nodes():
        yield f"The manifest lists nodes of cuts, but {method!r} publishes none."
    if method.shows_nodes() and manifest.nodes is None and not in_parts:
        yield f"The manifest names the method {method!r}, but does not list its nodes."


def _elsewhere(manifest: Manifest) -> Iterator[str]:
    """Yield what is said to be measured of what was not asked, or is not there."""
    asked = required(manifest)
    if {one.principle for one in manifest.measured} != {repr(one) for one in asked}:
        yield "The requirements in the manifest's 'measured' are not those that it names."
    if manifest.loss.ncp.keys() != {*manifest.named("quasi")}:
        yield "The manifest must give a loss for each quasi-identifier, and for no other."
    told = [one.column for one in manifest.exposed]
    if len({*told}) < len(told) or not exposed_columns(manifest, asked).keys() >= {*told}:
        yield "The manifest's 'exposed' lists a column twice, or one that is not exposed."
    counts: list[object] = [manifest.found, manifest.inferred, manifest.learned]
    counts += [one.alone for one in manifest.exposed]
    if any((one is not None) is not manifest.grouped for one in counts):
        yield (
            "The manifest must say what exposed columns show if the release has groups, and only "
            "then."
        )
    elif manifest.inferred is not None and manifest.inferred.keys() != {*told}:
        yield "The manifest's 'inferred' and 'exposed' name different columns."
