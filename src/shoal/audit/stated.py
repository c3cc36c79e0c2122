"""What a manifest states of columns, as a schema, and how their cells are to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.audit.nodes import Stated
from shoal.errors import UsageError
from shoal.table.groupings import Hierarchy
from shoal.table.schema import KNOWN, PERSON, PSEUDONYM, UNKNOWN, Schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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


def people_of(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return what a manifest says of people, as a schema takes it."""
    if "people" not in manifest:
        return {}
    return {"person": PERSON, "rows": KNOWN if manifest["rows_known"] else UNKNOWN}
