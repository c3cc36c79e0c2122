"""How results show themselves, and how far they are, though nothing below the views knows them."""

from __future__ import annotations

import sys
from collections.abc import Sized
from dataclasses import fields
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


SHORT = 80  # characters of a value that is written in full


class Brief:
    """A result that says in one line what matters of it, and never its arrays.

    A dataclass that derives from it has `repr=False`. Without `_brief`, all of its fields matter.
    """

    _brief: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        names = self._brief or [one.name for one in fields(self)]  # type: ignore[arg-type]
        said = ((name, briefly(getattr(self, name))) for name in names)
        facts = ", ".join(f"{name}={text}" for name, text in said if text)
        return f"<{type(self).__name__}: {facts}>"


def briefly(value: object) -> str:
    """Write a value for a line among others, of many only how many there are, of frames how large.

    >>> briefly(0.25), briefly(("age", "zip")), briefly([*range(100)]), briefly(())
    ('0.25', "('age', 'zip')", '100', '')
    """
    if hasattr(value, "shape"):
        return "×".join(f"{size:,}" for size in value.shape)
    if value is None or not isinstance(value, Sized) or isinstance(value, str):
        return "" if value is None else repr(value)
    short = isinstance(value, tuple | list) and all(isinstance(one, str | int) for one in value)
    text = repr(value) if short and value else ""
    return text if 0 < len(text) <= SHORT else f"{len(value):,}" if len(value) else ""


class Given:
    """What is asked, which says itself as a call, without what is as usual."""

    def __repr__(self) -> str:
        usual = type(self)()
        said = {one.name: getattr(self, one.name) for one in fields(self) if one.repr}  # type: ignore[arg-type]
        given = (f"{k}={v!r}" for k, v in said.items() if v != getattr(usual, k))
        return f"{type(self).__name__}({', '.join(given)})"


class Shown:
    """A result with a page of its own: its class is looked up among the views when it is shown."""

    def _repr_html_(self) -> str:
        return import_module("shoal.views.html").part(self)


def in_notebook() -> bool:
    """Return whether somebody looks at this in a notebook."""
    asked = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = None if asked is None else asked()
    return any(one.__name__ == "ZMQInteractiveShell" for one in type(shell).__mro__)


def with_bar(work: Callable[P, R]) -> Callable[P, R]:
    """Show in a notebook how far a function is, where nobody says how to show it."""

    @wraps(work)
    def working(*given: P.args, **named: P.kwargs) -> R:
        if "progress" in named or not in_notebook():
            return work(*given, **named)
        with import_module("shoal.views.notebook").cell_bar() as progress:
            return work(*given, **{**named, "progress": progress})

    return working
