"""Whether a manifest agrees with itself: what one part says, others must not contradict.

Nothing is measured, and no file is opened. Whoever reads a release directory may rely on it: the
columns that are measured are columns of the release, and the method can have made what is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.audit.shapes import Wrong
from shoal.audit.verdict import exposed_columns
from shoal.errors import InputError, UsageError
from shoal.notation import parse
from shoal.principles.requirement import requirements
from shoal.release.statement import COUNTS, HELD
from shoal.table.forms import MEANS, TWO_TABLES, own_columns
from shoal.table.schema import PERSON, RESERVED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shoal.principles.requirement import Requirement


def check_agreement(manifest: dict[str, Any]) -> None:
    """Raise where parts of a manifest, each of the right shape, contradict one another."""
    names = [column["name"] for column in manifest["columns"]]
    own = [RESERVED, *own_columns(manifest)]
    if len(set(names)) < len(names) or set(own) & set(names):
        problem = f"'columns' has a name twice, or one that is called {' or '.join(map(repr, own))}"
        raise Wrong(problem)
    if not any(column["role"] == "quasi" for column in manifest["columns"]):
        problem = "'columns' has no quasi column"
        raise Wrong(problem)
    nodes = [c for c in manifest["columns"] if c["role"] == "quasi" and c["kind"] == "node"]
    if nodes and manifest["form"] == TWO_TABLES:
        problem = "'columns' has a node, and two tables have none"
        raise Wrong(problem)
    _people(manifest)
    _counts(manifest)
    _kind(manifest)
    _linked(manifest)
    _regions(manifest)
    _terms(manifest)


def _people(manifest: dict[str, Any]) -> None:
    if "previous" in manifest and "people" not in manifest:
        problem = "a release of a series has to say 'people'"
        raise Wrong(problem)
    if ("people" in manifest) is not ("rows_known" in manifest):
        problem = "the manifest has to say both 'people' and 'rows_known', or neither"
        raise Wrong(problem)
    if ("alone" in manifest) is not (manifest.get("rows_known") is False):
        problem = "'alone' is there where 'rows_known' is false, and nowhere else"
        raise Wrong(problem)


def _kind(manifest: dict[str, Any]) -> None:
    """Raise where a release is said to have groups and to have none."""
    alone = manifest.get("heterogeneous", False)
    if alone is not (manifest["groups"] is None) or alone is not ("adversary" in manifest):
        problem = (
            "'groups' is null, and 'adversary' there, for a heterogeneous release and for no other"
        )
        raise Wrong(problem)
    if "nodes" in manifest and (alone or manifest.keys() & {"people", "coarsened_from"}):
        problem = "'nodes' go with neither people, a coarser release nor one without groups"
        raise Wrong(problem)
    if alone and manifest["form"] in {MEANS, TWO_TABLES}:
        problem = f"a heterogeneous release has no form {manifest['form']!r}"
        raise Wrong(problem)


def _counts(manifest: dict[str, Any]) -> None:
    """Raise where some numbers of rows that were left out are said, and others are not."""
    of_people = {"suppressed_people", "capped"}
    for place, told, needed in (
        ("the manifest", manifest, {*COUNTS} - (set() if "people" in manifest else of_people)),
        *(
            (f"'tables', {name!r}", said, {*COUNTS} - {"suppressed_people"})
            for name, said in manifest.get("tables", {}).items()
        ),
    ):
        some = told.keys() & {*COUNTS}
        if some != (needed if "rows_in" in manifest else set()):
            problem = f"{place} has to say all of {', '.join(map(repr, sorted(needed)))}, or none"
            raise Wrong(problem)
    if manifest.keys() & {*HELD} and "rows_in" not in manifest:
        problem = "a manifest that does not say how many rows came in says of no control group"
        raise Wrong(problem)


def _linked(manifest: dict[str, Any]) -> None:
    """Raise where what is said of linked tables cannot be."""
    if "tables" not in manifest:
        return
    if "people" not in manifest or "previous" in manifest or manifest["form"] == TWO_TABLES:
        problem = "'tables' are linked by people, and neither in a series nor beside two tables"
        raise Wrong(problem)
    for name, said in manifest["tables"].items():
        names = [column["name"] for column in said["columns"]]
        if len(set(names)) < len(names) or {RESERVED, PERSON} & set(names):
            problem = f"'tables', {name!r} has a name twice, or one that a release has of its own"
            raise Wrong(problem)


def _regions(manifest: dict[str, Any]) -> None:
    """Raise where regions cannot be, or lack what says where they were cut."""
    if "cells" not in manifest:
        return
    if manifest["groups"] is None or "previous" in manifest or manifest["form"] == TWO_TABLES:
        problem = "'cells' go with groups, and neither with a series nor with two tables"
        raise Wrong(problem)
    for column in manifest["columns"]:
        cut = column.get("kind") == "interval" and "never_mix" not in column
        if cut and not {"step", "bounds"} <= column.keys():
            problem = f"'columns' has to say step and bounds of {column['name']!r}"
            raise Wrong(problem)


def _terms(manifest: dict[str, Any]) -> None:
    """Raise where a term cannot be read, or would open a file in being read."""
    try:
        _asked(manifest)
    except (UsageError, InputError) as problem:
        raise _unread("'require'", problem) from None
    _term("method", manifest["method"])
    for column in manifest["columns"]:
        if "hierarchy" in column:
            _term("hierarchy", column["hierarchy"])


def _asked(manifest: dict[str, Any]) -> list[Requirement]:
    sensitive = [c["name"] for c in manifest["columns"] if c["role"] == "sensitive"]
    linked = [
        [f"{name}.{c['name']}" for c in said["columns"] if c["role"] == "sensitive"]
        for name, said in manifest.get("tables", {}).items()
    ]
    return list(requirements(manifest["require"], sensitive, *filter(None, linked), files=False))


def _term(key: str, notation: str) -> Any:
    try:
        term = parse(notation, files=False)
    except (UsageError, InputError) as problem:
        raise _unread(repr(key), problem) from None
    if term.role != key:
        other = f"{key!r} is a {term.role}"
        raise Wrong(other)
    return term


def _unread(key: str, problem: Exception) -> Wrong:
    return Wrong(f"{key} cannot be read: {str(problem).removesuffix('.')}")


# Of a manifest that can be read, and is not believed


def contradictions(manifest: dict[str, Any]) -> list[str]:
    """Return a sentence for all that a manifest measured elsewhere, or that its method rules out.

    What is measured of a release that contradicts itself is not shown with what it says.
    """
    return [*_unlike(manifest, _term("method", manifest["method"])), *_elsewhere(manifest)]


def _unlike(manifest: dict[str, Any], method: Any) -> Iterator[str]:
    """Yield what the method that is named cannot have made."""
    if method.grouped is (manifest["groups"] is None):
        yield f"The manifest names the method {method!r}, which makes another kind of release."
    elif "cells" in manifest and not method.cuts:
        yield f"The manifest says that cells are regions of cuts, and {method!r} makes no cuts."
    in_parts = bool(manifest.keys() & {"people", "coarsened_from", "previous"})
    in_parts |= "engine" in manifest["asked"] or "never_mix" in manifest["asked"]
    if "nodes" in manifest and not method.shows_nodes():
        yield f"The release has nodes of cuts, and {method!r} shows none."
    if method.shows_nodes() and "nodes" not in manifest and not in_parts:
        yield f"The manifest names the method {method!r}, and the release lacks its nodes."


def _elsewhere(manifest: dict[str, Any]) -> Iterator[str]:
    """Yield what is said to be measured of what was not asked, or is not there."""
    asked = _asked(manifest)
    if {one["principle"] for one in manifest["measured"]} != {repr(one) for one in asked}:
        yield "The manifest's 'measured' is not about what it says was required."
    quasi = {one["name"] for one in manifest["columns"] if one["role"] == "quasi"}
    if manifest["loss"]["ncp"].keys() != quasi:
        yield "The manifest does not give the loss of every quasi column, and of no other."
    told = [one["column"] for one in manifest["exposed"]]
    if len({*told}) < len(told) or not exposed_columns(manifest, asked).keys() >= {*told}:
        yield "The manifest's 'exposed' has columns that are not exposed, or one twice."
    counts = [manifest[one] for one in ("found", "inferred", "learned")]
    counts += [one["alone"] for one in manifest["exposed"]]
    if any((one is None) is not (manifest["groups"] is None) for one in counts):
        yield "The manifest lacks what exposed columns show, or a release without groups has it."
    elif manifest["inferred"] is not None and manifest["inferred"].keys() != {*told}:
        yield "The manifest's 'inferred' is not about the columns that are 'exposed'."
