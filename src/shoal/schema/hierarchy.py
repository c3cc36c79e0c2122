"""Hierarchies of labels as files have them: every label with its ancestors, up to the root.

Three forms say the same: ARX's CSV (no header, ';' between levels, the label first), nested JSON,
and nested TOML, where a node is the name of what lies under it and the labels are lists.
"""

from __future__ import annotations

import csv
import gzip
import io
import tomllib
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.schema.strict import read_json

Levels = tuple[tuple[str, ...], ...]
ROOT = "*"
DEPTH = 32  # levels that a hierarchy may have


def read_levels(path: str | Path) -> Levels:
    """Read a hierarchy, in the form that the name of the file says: .json, .toml, any other ARX."""
    name = Path(path).name
    try:
        data = Path(path).read_bytes()
        text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        msg = f"Cannot read the hierarchy {name!r}: {reason}."
        raise InputError(msg) from None
    form = Path(name.removesuffix(".gz")).suffix.lower()
    if form in {".json", ".toml"}:
        try:
            said = read_json(text) if form == ".json" else tomllib.loads(text)
        except (InputError, ValueError) as problem:
            msg = f"The hierarchy {name!r} is not {form[1:].upper()}: {problem}."
            raise InputError(msg) from None
        except RecursionError:
            msg = f"The hierarchy {name!r} nests too deeply to be read."
            raise InputError(msg) from None
        return nested_levels(said, name)
    rows = csv.reader(io.StringIO(text), delimiter=";")
    return check_levels(tuple(tuple(row) for row in rows if row), name)


def nested_levels(nested: Any, name: str = "given") -> Levels:
    """Turn `{"Europe": ["Italy", "Malta"], "Asia": {"East": ["Japan"]}}` into levels.

    Where several nodes stand at the top, the root above them is `*`.

    Examples
    --------
    >>> nested_levels({"Europe": ["Italy"], "Asia": {"East": ["Japan"]}})
    (('Italy', 'Italy', 'Europe', '*'), ('Japan', 'East', 'Asia', '*'))
    """
    if not isinstance(nested, dict) or len(nested) != 1:
        nested = {ROOT: nested}
    paths: list[tuple[str, ...]] = []
    _walk(nested, (), paths, name)
    depth = max(map(len, paths), default=0)
    padded = tuple((path[0],) * (depth - len(path)) + path for path in paths)
    return check_levels(padded, name)


def _walk(nested: Any, above: tuple[str, ...], paths: list[tuple[str, ...]], name: str) -> None:
    """Collect the paths from every label to the root."""
    if len(above) > DEPTH:
        msg = f"The hierarchy {name!r} has more than {DEPTH} levels."
        raise InputError(msg)
    if isinstance(nested, dict):
        for node, below in nested.items():
            _walk(below, (str(node), *above), paths, name)
    elif isinstance(nested, list | tuple):
        for label in nested:
            if isinstance(label, dict):
                _walk(label, above, paths, name)
            elif isinstance(label, str | int | float) and not isinstance(label, bool):
                paths.append((str(label), *above))
            else:
                msg = f"In the hierarchy {name!r}, {label!r} is no label."
                raise InputError(msg)
    else:
        msg = f"In the hierarchy {name!r}, a node has {nested!r} where nodes or a list should be."
        raise InputError(msg)


def check_levels(levels: Levels, name: str) -> Levels:
    """Raise where paths differ in length, a label stands twice, or a node has two parents."""
    if not levels:
        msg = f"The hierarchy {name!r} is empty."
        raise InputError(msg)
    depth = len(levels[0])
    if depth > DEPTH:
        msg = f"The hierarchy {name!r} has more than {DEPTH} levels."
        raise InputError(msg)
    seen: set[str] = set()
    parents: dict[tuple[int, str], str] = {}
    for path in levels:
        if len(path) != depth:
            msg = f"In the hierarchy {name!r}, {path[0]!r} has {len(path)} levels, others {depth}."
            raise InputError(msg)
        if path[0] in seen:
            msg = f"In the hierarchy {name!r}, the label {path[0]!r} stands twice."
            raise InputError(msg)
        seen.add(path[0])
        for level in range(depth - 1):
            known = parents.setdefault((level, path[level]), path[level + 1])
            if known != path[level + 1]:
                msg = (
                    f"In the hierarchy {name!r}, {path[level]!r} has two parents: "
                    f"{known!r} and {path[level + 1]!r}."
                )
                raise InputError(msg)
    if len({path[-1] for path in levels}) > 1:
        msg = f"The hierarchy {name!r} has more than one root."
        raise InputError(msg)
    return levels
