"""Hierarchies of labels: every label with its ancestors, from the nearest to the root."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

from shoal.errors import InputError

Levels = tuple[tuple[str, ...], ...]


def read_levels(path: str | Path) -> Levels:
    """Read a hierarchy in the form of ARX: no header, ';' between levels, the label first."""
    name = Path(path).name
    try:
        data = Path(path).read_bytes()
        text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError) as problem:
        msg = f"Cannot read the hierarchy {name!r}: {problem}."
        raise InputError(msg) from None
    rows = csv.reader(io.StringIO(text), delimiter=";")
    return check_levels(tuple(tuple(row) for row in rows if row), name)


def check_levels(levels: Levels, name: str) -> Levels:
    """Raise where paths differ in length, a label stands twice, or a node has two parents."""
    if not levels:
        msg = f"The hierarchy {name!r} is empty."
        raise InputError(msg)
    depth = len(levels[0])
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
