"""How results show themselves, and how far they are, though nothing below the views knows them."""

from __future__ import annotations

import sys
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


class Brief:
    """A result that says in one line what matters of it, and never its arrays.

    A dataclass that derives from it has `repr=False`.
    """

    _brief: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        said = ((name, getattr(self, name)) for name in self._brief)
        facts = ", ".join(f"{name}={value!r}" for name, value in said if value is not None)
        return f"<{type(self).__name__}: {facts}>"


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
