"""Packages that only some tables need, loaded when they are."""

from __future__ import annotations

import importlib
from typing import Any

from shoal.errors import UsageError


def load(module: str, *, extra: str, what: str) -> Any:
    """Import an optional package, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        msg = f"{what} needs the package {module!r}: pip install 'shoal[{extra}]'."
        raise UsageError(msg) from None
