"""Whether a manifest agrees with itself: what one part says, others must not contradict.

Nothing is measured, and no file is opened. Whoever reads a release directory may rely on it: the
columns that are measured are columns of the release, and the method can have made what is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.audit.described import Wrong, check_column
from shoal.audit.verdict import exposed_columns
from shoal.errors import InputError, UsageError
from shoal.exact import read_share
from shoal.notation import parse
from shoal.principles.requirement import requirements
from shoal.release.manifest import COUNTS, MANIFEST, REPORT
from shoal.table.files import part_files, tables_named
from shoal.table.forms import CODEBOOK, MEANS, TWO_TABLES, stems
from shoal.table.linked import check_linked_name
from shoal.table.schema import PERSON, RESERVED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shoal.principles.requirement import Requirement
    from shoal.release.manifest import Manifest
    from shoal.release.stated import StatedAsk, StatedTable


def check_agreement(manifest: Manifest) -> None:
    """Raise where parts of a manifest, each of the right shape, contradict one another."""
    for number, column in enumerate(manifest.columns, 1):
        check_column(column, f"'columns', {number}")
    names = [column.name for column in manifest.columns]
    own = [RESERVED, *manifest.own_columns]
    if len(set(names)) < len(names) or set(own) & set(names):
        problem = f"'columns' has a name twice, or one that is called {' or '.join(map(repr, own))}"
        raise Wrong(problem)
    if not manifest.quasi:
        problem = "'columns' has no quasi column"
        raise Wrong(problem)
    _digests(manifest)
    _ask(manifest.asked)
    if "node" in manifest.kinds.values() and manifest.form == TWO_TABLES:
        problem = "'columns' has a node, and two tables have none"
        raise Wrong(problem)
    _people(manifest)
    _counts(manifest)
    _kind(manifest)
    _linked(manifest)
    _regions(manifest)
    _terms(manifest)


def _digests(manifest: Manifest) -> None:
    """Raise where a file that every release has goes without a digest."""
    digests, own = manifest.digests, {REPORT, CODEBOOK}
    for stem in (*stems(manifest.form), *manifest.tables):
        tables = [name for name in digests if name in tables_named(stem)]
        parts = part_files(stem, digests)
        if len(tables) + bool(parts) != 1:  # all parts are one table
            problem = f"'digests' has to name one table {stem}"
            raise Wrong(problem)
        own |= {*tables, *parts}
    if strange := digests.keys() - own:
        problem = f"'digests' names {min(strange)[:40]!r}, which is no file of a release"
        raise Wrong(problem)
    if not {REPORT, CODEBOOK} <= digests.keys():
        problem = f"'digests' has to name {REPORT} and {CODEBOOK}, and not {MANIFEST}"
        raise Wrong(problem)


def _ask(asked: StatedAsk) -> None:
    """Raise where what was asked has names twice, shares that are none or terms of another role."""
    for name, said in asked.to_dict().items():
        if isinstance(said, list) and len(set(said)) < len(said):
            problem = f"'asked', {name!r} has to be a list without repetition"
            raise Wrong(problem)
    for name, share in (("suppress", asked.suppress), ("hold_out", asked.hold_out)):
        try:
            read_share(share)
        except UsageError:
            problem = f"'asked', {name!r} has to be a share such as 1%"
            raise Wrong(problem) from None
    for role, notation in (("method", asked.method), ("engine", asked.engine)):
        if notation is not None:
            _term(role, notation, f"'asked', {role!r}")


def _people(manifest: Manifest) -> None:
    if manifest.in_series and manifest.people is None:
        problem = "a release of a series has to say 'people'"
        raise Wrong(problem)
    if (manifest.people is None) is not (manifest.rows_known is None):
        problem = "the manifest has to say both 'people' and 'rows_known', or neither"
        raise Wrong(problem)
    if (manifest.alone is not None) is not (manifest.rows_known is False):
        problem = "'alone' is there where 'rows_known' is false, and nowhere else"
        raise Wrong(problem)


def _kind(manifest: Manifest) -> None:
    """Raise where a release is said to have groups and to have none."""
    alone = bool(manifest.heterogeneous)
    if alone is manifest.grouped or alone is (manifest.adversary is None):
        problem = (
            "'groups' is null, and 'adversary' there, for a heterogeneous release and for no other"
        )
        raise Wrong(problem)
    if manifest.nodes is not None and (alone or manifest.people or manifest.coarsened_from):
        problem = "'nodes' go with neither people, a coarser release nor one without groups"
        raise Wrong(problem)
    if alone and manifest.form in {MEANS, TWO_TABLES}:
        problem = f"a heterogeneous release has no form {manifest.form!r}"
        raise Wrong(problem)


def _counts(manifest: Manifest) -> None:
    """Raise where some numbers of rows that were left out are said, and others are not."""
    of_people = set() if manifest.people is not None else {"suppressed_people", "capped"}
    told: list[tuple[str, Manifest | StatedTable, set[str]]] = [
        ("the manifest", manifest, {*COUNTS} - of_people),
        *(
            (f"'tables', {name!r}", said, {*COUNTS} - {"suppressed_people"})
            for name, said in manifest.tables.items()
        ),
    ]
    for place, one, needed in told:
        some = {name for name in COUNTS if getattr(one, name, None) is not None}
        if some != (set() if manifest.rows_in is None else needed):
            problem = f"{place} has to say all of {', '.join(map(repr, sorted(needed)))}, or none"
            raise Wrong(problem)
    held = manifest.held_out is not None or manifest.held_out_people is not None
    if held and manifest.rows_in is None:
        problem = "a manifest that does not say how many rows came in says of no control group"
        raise Wrong(problem)


def _linked(manifest: Manifest) -> None:
    """Raise where what is said of linked tables cannot be."""
    if not manifest.tables:
        return
    if manifest.people is None or manifest.in_series or manifest.form == TWO_TABLES:
        problem = "'tables' are linked by people, and neither in a series nor beside two tables"
        raise Wrong(problem)
    for name, said in manifest.tables.items():
        try:
            check_linked_name(name)
        except UsageError:
            problem = f"'tables' names {name[:40]!r}, which is no linked table"
            raise Wrong(problem) from None
        names = [column.name for column in said.columns]
        if len(set(names)) < len(names) or {RESERVED, PERSON} & set(names):
            problem = f"'tables', {name!r} has a name twice, or one that a release has of its own"
            raise Wrong(problem)
        for column in said.columns:
            if column.role not in {"sensitive", "other"} or column.survey_weight:
                problem = f"'tables', {name!r} has to have sensitive and other columns alone"
                raise Wrong(problem)
            check_column(column, f"'tables', {name!r}, {column.name!r}")


def _regions(manifest: Manifest) -> None:
    """Raise where regions cannot be, or lack what says where they were cut."""
    if manifest.cells is None:
        return
    if not manifest.grouped or manifest.in_series or manifest.form == TWO_TABLES:
        problem = "'cells' go with groups, and neither with a series nor with two tables"
        raise Wrong(problem)
    for column in manifest.columns:
        cut = column.has_ends and not column.never_mix
        if cut and (column.step is None or column.bounds is None):
            problem = f"'columns' has to say step and bounds of {column.name!r}"
            raise Wrong(problem)


def _terms(manifest: Manifest) -> None:
    """Raise where a term cannot be read, or would open a file in being read."""
    try:
        _asked(manifest)
    except (UsageError, InputError) as problem:
        raise _unread("'require'", problem) from None
    _term("method", manifest.method)
    for column in manifest.columns:
        if column.hierarchy is not None:
            _term("hierarchy", column.hierarchy)


def _asked(manifest: Manifest) -> list[Requirement]:
    linked = [
        [one.name for one in manifest.linked_columns(name) if one.role == "sensitive"]
        for name in manifest.tables
    ]
    own = manifest.named("sensitive")
    return list(requirements(manifest.require, own, *filter(None, linked), files=False))


def _term(key: str, notation: str, place: str | None = None) -> Any:
    try:
        term = parse(notation, files=False)
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
    in_parts = manifest.in_series or bool(manifest.people or manifest.coarsened_from)
    in_parts |= bool(manifest.asked.engine or manifest.asked.never_mix)
    if manifest.nodes is not None and not method.shows_nodes():
        yield f"The release has nodes of cuts, and {method!r} shows none."
    if method.shows_nodes() and manifest.nodes is None and not in_parts:
        yield f"The manifest names the method {method!r}, and the release lacks its nodes."


def _elsewhere(manifest: Manifest) -> Iterator[str]:
    """Yield what is said to be measured of what was not asked, or is not there."""
    asked = _asked(manifest)
    if {one.principle for one in manifest.measured} != {repr(one) for one in asked}:
        yield "The manifest's 'measured' is not about what it says was required."
    if manifest.loss.ncp.keys() != {*manifest.named("quasi")}:
        yield "The manifest does not give the loss of every quasi column, and of no other."
    told = [one.column for one in manifest.exposed]
    if len({*told}) < len(told) or not exposed_columns(manifest, asked).keys() >= {*told}:
        yield "The manifest's 'exposed' has columns that are not exposed, or one twice."
    counts: list[object] = [manifest.found, manifest.inferred, manifest.learned]
    counts += [one.alone for one in manifest.exposed]
    if any((one is not None) is not manifest.grouped for one in counts):
        yield "The manifest lacks what exposed columns show, or a release without groups has it."
    elif manifest.inferred is not None and manifest.inferred.keys() != {*told}:
        yield "The manifest's 'inferred' is not about the columns that are 'exposed'."
