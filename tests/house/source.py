"""The source as the rules of the house read it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"


@cache
def modules() -> dict[str, ast.Module]:
    """Return every module of Shoal by its dotted name."""
    found = {}
    for path in sorted((SOURCE / "shoal").rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text("utf-8"))
    return found


def lines(name: str) -> int:
    """Return how many lines a module has."""
    path = SOURCE.joinpath(*name.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return len(file.read_text("utf-8").splitlines())


def room(name: str) -> str:
    """Return the room that a module is in; none, where it stands beside them."""
    return ([*name.split("."), ""])[1]
