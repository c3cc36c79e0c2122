"""The schema file: roles, types, requirement, method and output of a run, in TOML."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.errors import InputError, nearest

ROLES = ("quasi", "sensitive", "identifying", "other", "pseudonymize")
TOP = (*ROLES, "require", "method", "output", "missing", "columns")
COLUMN = ("type", "order")


@dataclass(frozen=True)
class Settings:
    """What a schema file says; anything said on the command line overrules it."""

    roles: dict[str, list[str]] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    order: dict[str, list[str]] = field(default_factory=dict)
    require: list[str] = field(default_factory=list)
    method: str | None = None
    output: str | None = None
    missing: str | None = None


def read_settings(path: str | Path) -> Settings:
    """Read a schema file, naming the key where something is wrong with it."""
    name = Path(path).name
    try:
        said = tomllib.loads(Path(path).read_text("utf-8"))
    except OSError as problem:
        msg = f"Cannot read the schema file {name!r}: {problem.strerror}."
        raise InputError(msg) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        msg = f"The schema file {name!r} is not TOML: {problem}."
        raise InputError(msg) from None
    for key in said:
        if key not in TOP:
            msg = f"The schema file {name!r} has an unknown key {key!r}{nearest(key, TOP)}"
            raise InputError(msg)
    columns = said.get("columns", {})
    _expect(name, "columns", columns, dict)
    for column, entry in columns.items():
        _expect(name, f"columns.{column}", entry, dict)
        for key in entry:
            if key not in COLUMN:
                where = f"The schema file {name!r}, columns.{column}"
                msg = f"{where}: unknown key {key!r}{nearest(key, COLUMN)}"
                raise InputError(msg)
    return Settings(
        roles={role: _texts(name, role, said[role]) for role in ROLES if role in said},
        types={
            c: _text(name, f"columns.{c}.type", e["type"])
            for c, e in columns.items()
            if "type" in e
        },
        order={
            c: _texts(name, f"columns.{c}.order", e["order"])
            for c, e in columns.items()
            if "order" in e
        },
        require=_texts(name, "require", said.get("require", [])),
        method=_text(name, "method", said["method"]) if "method" in said else None,
        output=_text(name, "output", said["output"]) if "output" in said else None,
        missing=_text(name, "missing", said["missing"]) if "missing" in said else None,
    )


def _expect(name: str, key: str, value: Any, kind: type[str | dict | list]) -> None:
    if not isinstance(value, kind):
        words: dict[type, str] = {str: "a string", dict: "a table", list: "a list of strings"}
        msg = f"The schema file {name!r}: {key} must be {words[kind]}. Got {value!r}."
        raise InputError(msg)


def _text(name: str, key: str, value: Any) -> str:
    _expect(name, key, value, str)
    return value


def _texts(name: str, key: str, value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    _expect(name, key, value, list)
    for item in value:
        _expect(name, key, item, str)
    return value
