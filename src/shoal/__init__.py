"""Shoal publishes tables about people so that nobody's sensitive value can be nearly known.

`__init__.pyi` lists the public names, once; they load what they need when they are first used.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any


def _homes() -> dict[str, str]:
    """Return the module of each public name."""
    listed = ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8")).body
    imports = (node for node in listed if isinstance(node, ast.ImportFrom))
    return {alias.name: str(node.module) for node in imports for alias in node.names}


_HOMES = _homes()
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        msg = f"module 'shoal' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
