"""The manifest of a release as a stranger may have written it: checked before it is believed.

Every key has a check here, and a key without one is refused. Whether a number is the one that is
measured, the audit asks afterwards; here it only has to be such a number. Nothing that a manifest
says may open a file.
"""

from __future__ import annotations

import re
import stat
from collections import Counter
from typing import TYPE_CHECKING, Any, get_args

from shoal.ask.fields import CONTEXT
from shoal.audit.agreement import check_agreement
from shoal.audit.asked import ASKED
from shoal.audit.shapes import (
    Check,
    Wrong,
    finite,
    flag,
    listed,
    mapped,
    one_of,
    or_null,
    shaped,
    text,
    true,
    whole,
)
from shoal.audit.verdict import VERDICTS
from shoal.errors import InputError, UsageError
from shoal.release.statement import COUNTS, HELD, LINE
from shoal.table.dates import check_format, not_dates
from shoal.table.ends import backwards
from shoal.table.files import part_files, tables_named
from shoal.table.forms import CODEBOOK, FORMS, stems
from shoal.table.grid import REGIONS
from shoal.table.linked import check_linked_name
from shoal.table.missing import Missing
from shoal.table.schema import KINDS, LABELS, NOBODY, NUMERIC, PSEUDONYM
from shoal.table.strict import read_json

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST, REPORT = "manifest.json", "report.html"
SIZE = 2**28  # bytes of a manifest; a million labels take a tenth of it

ROLES = ("quasi", "sensitive", "other", PSEUDONYM)
DIGEST = r"sha256:[0-9a-f]{64}"


def read_manifest(directory: Path) -> dict[str, Any]:
    """Read the manifest of a release directory, raising where it is not one."""
    path, name = directory / MANIFEST, directory.name
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode):
            msg = f"{name!r} is not a release directory: {MANIFEST} is no ordinary file."
            raise InputError(msg)
        if found.st_size > SIZE:
            msg = f"{MANIFEST} in {name!r} has {found.st_size:,} bytes, more than a manifest has."
            raise InputError(msg)
        data = path.read_bytes()
    except OSError as problem:
        msg = f"{name!r} is not a release directory: {MANIFEST}: {problem.strerror}."
        raise InputError(msg) from None
    try:
        manifest = read_json(data)
    except InputError as problem:
        msg = f"{MANIFEST} in {name!r} cannot be read: {problem}."
        raise InputError(msg) from None
    try:
        check_shape(manifest)
    except Wrong as problem:
        msg = f"{MANIFEST} in {name!r} is not a manifest: {problem}."
        raise InputError(msg) from None
    return manifest


def check_shape(manifest: Any) -> None:
    """Raise where a manifest says something that no manifest can say."""
    CHECK(manifest, "the manifest")
    _check_digests(manifest)
    check_agreement(manifest)


def _check_digests(manifest: dict[str, Any]) -> None:
    """Raise where a file that every release has goes without a digest."""
    digests, own = manifest["digests"], {REPORT, CODEBOOK}
    for stem in (*stems(manifest["form"]), *manifest.get("tables", {})):
        tables = [name for name in digests if name in tables_named(stem)]
        parts = part_files(stem, digests)
        if len(tables) + bool(parts) != 1:  # all parts are one table
            problem = f"'digests' has to name one table {stem}"
            raise Wrong(problem)
        own |= {*tables, *parts}
    if strange := digests.keys() - own:
        problem = f"'digests' names {min(strange)[:40]!r}, which is no file of a release"
        raise Wrong(problem)
    if not {REPORT, CODEBOOK} <= digests.keys() or MANIFEST in digests:
        problem = f"'digests' has to name {REPORT} and {CODEBOOK}, and not {MANIFEST}"
        raise Wrong(problem)


def _table_name(value: str, place: str) -> None:
    try:
        check_linked_name(value)
    except UsageError:
        problem = f"{place} names {value[:40]!r}, which is no linked table"
        raise Wrong(problem) from None


# Columns


def _column(value: Any, place: str) -> None:
    """Check what is said of one column; what it covers depends on its kind."""
    if not isinstance(value, dict):
        problem = f"{place} has to be an object"
        raise Wrong(problem)
    quasi = value.get("role") == "quasi"
    (QUASI if quasi else PLAIN)(value, place)
    if not quasi:
        return
    kind, said = value["kind"], value.get("type")
    fits = {"interval": (*NUMERIC, "date", None), "set": (*LABELS, None), "node": (*KINDS, None)}
    if said not in fits[kind]:
        problem = f"{place} is of kind {kind} and of type {said}"
        raise Wrong(problem)
    if "hierarchy" in value and kind != "node":
        problem = f"{place} has a hierarchy and is no node"
        raise Wrong(problem)
    if kind != "interval" and value.keys() & {"step", "bounds"}:
        problem = f"{place} has a step or bounds and is no interval"
        raise Wrong(problem)
    if "bounds" in value:
        _ends(value["bounds"], f"{place}, 'bounds'", dates=said == "date")
    domain, where = value["domain"], f"{place}, 'domain'"
    if kind == "node":
        _node_domain(domain, where)
    elif kind == "set":
        listed(text(), least=1, different=True)(domain, where)
    else:
        listed(lambda _value, _place: None, least=2, most=3)(domain, where)
        if domain[2:] not in ([], [None]):
            problem = f"{where} has a third element, which is not null"
            raise Wrong(problem)
        _ends(domain[:2], where, dates=said == "date")


def _ends(value: Any, place: str, *, dates: bool) -> None:
    listed(_date if dates else finite(), least=2, most=2)(value, place)
    if backwards(*value, dates=dates):
        problem = f"{place} ends before it begins"
        raise Wrong(problem)


def _date(value: Any, place: str) -> None:
    import polars as pl

    text()(value, place)
    if not_dates(pl.Series([value])).any():
        problem = f"{place} has to be a date, not {value[:40]!r}"
        raise Wrong(problem)


def _date_format(value: Any, place: str) -> None:
    text()(value, place)
    try:
        check_format("", value)
    except UsageError:
        problem = f"{place} has to be a way of writing dates, not {value[:40]!r}"
        raise Wrong(problem) from None


def _node_domain(domain: Any, place: str) -> None:
    NODES(domain, place)
    nodes = {node["name"]: node for node in domain["nodes"]}
    if len(nodes) < len(domain["nodes"]):
        problem = f"{place} names a node twice"
        raise Wrong(problem)
    roots = [node["leaves"] for node in domain["nodes"] if node["parent"] is None]
    if roots != [domain["leaves"]]:
        problem = f"{place} has to have one root, with all of its leaves"
        raise Wrong(problem)
    grounded: set[str] = set()  # those that a way up to the root is known from
    for name in nodes:
        way: dict[str, None] = {}
        below = name
        while below not in grounded and nodes[below]["parent"] is not None:
            way[below] = None
            above = nodes[below]["parent"]
            if above in way or above not in nodes or _leaves(nodes, below) > _leaves(nodes, above):
                problem = f"{place}: what stands above {name[:40]!r} is not above it"
                raise Wrong(problem)
            below = above
        grounded |= way.keys()
    held = Counter[str | None]()
    for node in domain["nodes"]:
        held[node["parent"]] += node["leaves"]
    for name in nodes:
        if held[name] > _leaves(nodes, name):
            problem = f"{place}: {name[:40]!r} has fewer leaves than the nodes below it"
            raise Wrong(problem)


def _leaves(nodes: dict[str, Any], name: str) -> int:
    return int(nodes[name]["leaves"])


def _file_name(value: str, place: str) -> None:
    """Check the name of a published file: in the directory, or one directory below it."""
    parts = value.split("/")
    if len(parts) > 2 or not all(re.fullmatch(r"[\w-][\w.=-]*", part) for part in parts):
        problem = f"{place} names {value[:80]!r}, which is no file of a release"
        raise Wrong(problem)


NODES = shaped(
    {
        "leaves": whole(least=1),
        "nodes": listed(
            shaped({"name": text(), "parent": text(null=True), "leaves": whole(least=1)}),
            least=1,
        ),
    }
)
SAID = {  # of any column
    "type": one_of(*KINDS),
    "date_format": _date_format,
    "round": finite(above=0),
    "bottom": finite(),
    "top": finite(),
    "missing": one_of(*get_args(Missing)),
    "said": one_of(NOBODY),
}
UNCHANGED = SAID | {"near": finite(above=0)}
PLAIN = shaped({"name": text(), "role": one_of(*ROLES)}, UNCHANGED | {"survey_weight": true})
QUASI = shaped(
    {
        "name": text(),
        "role": one_of("quasi"),
        "kind": one_of("interval", "set", "node"),
        "domain": lambda _value, _place: None,  # checked by kind
    },
    SAID
    | {
        "weight": finite(above=0),
        "hierarchy": text(),
        "never_mix": true,
        "step": finite(above=0),
        "bounds": lambda _value, _place: None,  # checked by type
    },
)
SHARE, CHANCE = finite(least=0, most=1), finite(above=0, most=1)
REQUIRED: dict[str, Check] = {
    "shoal": text(r"[0-9]+\.[0-9]+[\w.+-]{0,40}"),
    "id": text(r"[0-9a-f]{32}"),
    "form": one_of(*FORMS),
    "rows": whole(least=1),
    "groups": whole(least=1, null=True),
    "columns": listed(_column, least=1),
    "require": listed(text(), least=1),
    "method": text(),
    "measured": listed(
        shaped({"principle": text(), "holds": flag, "risk": finite(), "bound": finite()})
    ),
    "exposed": listed(
        shaped({"column": text(), "alone": whole(null=True), "said": or_null(one_of(NOBODY))})
    ),
    "found": or_null(
        shaped({"quasi": CHANCE, "with_exposed": shaped({"largest": CHANCE, "above": SHARE})})
    ),
    "inferred": or_null(mapped(shaped({"certain": SHARE, "likely": SHARE}))),
    "learned": or_null(listed(shaped({"principle": text(), "share": SHARE}))),
    "verdict": one_of(*VERDICTS),
    "loss": shaped({"gcp": SHARE, "ncp": mapped(SHARE)}),
    "date": text(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    "threshold": CHANCE,
    "asked": shaped({}, ASKED),
    "digests": mapped(text(DIGEST), names=_file_name),
}
HELD_OUT: dict[str, Check] = {name: whole() for name in HELD}
LEFT_OUT: dict[str, Check] = {name: whole() for name in COUNTS} | {"rows_in": whole(least=1)}
OPTIONAL: dict[str, Check] = {
    **LEFT_OUT,
    **HELD_OUT,
    "people": whole(least=1),
    "rows_known": flag,
    "alone": whole(),
    "tables": mapped(
        shaped(
            {
                "rows": whole(),
                "columns": listed(
                    shaped({"name": text(), "role": one_of("sensitive", "other")}, UNCHANGED),
                    least=1,
                ),
            },
            LEFT_OUT,
        ),
        names=_table_name,
    ),
    "title": text(longest=LINE),
    "context": shaped({}, {name: text(longest=LINE) for name in CONTEXT}),
    "cells": one_of(REGIONS),
    "heterogeneous": true,
    "adversary": listed(text(), least=1),
    "escaped": true,
    "decimal": one_of(".", ","),
    "reproducible": true,
    "nodes": whole(least=1),
    "coarsened_from": text(DIGEST),
    "previous": text(DIGEST, null=True),
}
CHECK = shaped(REQUIRED, OPTIONAL)
