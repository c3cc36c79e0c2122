"""Shoal publishes tables about people so that nobody's sensitive value can be nearly known.

`__init__.pyi` lists the public names, once; they load what they need when they are first used.
"""

import ast
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any


def _homes() -> dict[str, str]:
    """Return the module of each public name."""
    listed = ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8")).body
    imports = (node for node in listed if isinstance(node, ast.ImportFrom))
    return {alias.name: str(node.module) for node in imports for alias in node.names}


_HOMES = _homes()
__all__ = list(_HOMES)


class _Public(ModuleType):
    """A module whose public names are not hidden by rooms that are called the same, as `audit`."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Public


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        msg = f"module 'shoal' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
