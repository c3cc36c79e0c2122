"""Writing TOML, of its own because Python only reads it: schema files, and single values."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import TYPE_CHECKING, Any

from shoal.ask.options import OF_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Mapping

BARE = re.compile(r"[A-Za-z0-9_-]+")


def written(said: Mapping[str, Any]) -> str:
    r"""Return a schema file: keys in their order, then a table for each column.

    >>> written({"quasi": ["age"], "columns": {"the age": {"weight": 2}}})
    'quasi = ["age"]\n\n[columns."the age"]\nweight = 2\n'
    """
    lines = [f"{key} = {value(one)}" for key, one in said.items() if key != OF_COLUMNS]
    for name, entries in said.get(OF_COLUMNS, {}).items():
        lines += ["", f"[columns.{key_of(name)}]"]
        lines += [f"{key} = {value(one)}" for key, one in entries.items()]
    return "\n".join(lines) + "\n"


def key_of(text: str) -> str:
    """Return a key, in quotes where it needs them."""
    return text if BARE.fullmatch(text) else value(text)


def value(said: Any) -> str:
    """Write a value."""
    if isinstance(said, bool):
        return "true" if said else "false"
    if isinstance(said, str):
        return json.dumps(said, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(said, date):
        return value(said.isoformat())
    if isinstance(said, list | tuple):
        return f"[{', '.join(map(value, said))}]"
    if isinstance(said, dict):
        return "{" + ", ".join(f"{key_of(k)} = {value(v)}" for k, v in said.items()) + "}"
    return repr(said)
