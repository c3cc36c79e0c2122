"""Public names, which load their module when they are first used; a stub beside each lists them."""

from __future__ import annotations

import ast
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any
from warnings import warn

RENAMED = {  # names of before, which still work until version 0.3
    "shoal.measures": {
        "survey": "levels",
        "knows_method": "minimality",
        "learning_of": "learning_from_release",
        "open_answers": "queryable",
        "Questions": "CountQueries",
    },
    "shoal.results": {"Survey": "Levels", "Knowing": "Minimality", "Outlook": "RequirementPlan"},
}


MEMBERS = {"Run": {"go": "publish", "asked": "requirements", "settled": "with_table"}}  # until 0.3


class Renamed:
    """What has members of other names than before, which still work until version 0.3."""

    if not TYPE_CHECKING:  # there old names are errors

        def __getattr__(self, name: str) -> Any:
            own = type(self).__name__
            if name not in MEMBERS.get(own, ()):
                msg = f"{own!r} object has no attribute {name!r}"
                raise AttributeError(msg)
            new = MEMBERS[own][name]
            msg = f"Write {own}.{new}. {own}.{name} stops working in version 0.3."
            warn(msg, DeprecationWarning, stacklevel=2)
            return getattr(self, new)


@cache
def homes(package: str) -> dict[str, str]:
    """Return the module of each public name of a package, as its stub lists them."""
    stub = Path(str(sys.modules[package].__file__)).with_suffix(".pyi")
    listed = ast.parse(stub.read_text("utf-8")).body
    imports = (node for node in listed if isinstance(node, ast.ImportFrom))
    return {alias.name: str(node.module) for node in imports for alias in node.names}


class Namespace(ModuleType):
    """A module whose public names are not hidden by rooms that are called the same, as `audit`."""

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return [*homes(self.__name__)]
        for space, names in RENAMED.items():
            if name in names and self.__name__ in {space, "shoal"}:
                new = f"{space}.{names[name]}"
                msg = f"Write {new}. {self.__name__}.{name} stops working in version 0.3."
                warn(msg, DeprecationWarning, stacklevel=2)
                return getattr(import_module(space), names[name])
        home = None if name.startswith("__") and name != "__version__" else self._home(name)
        if home is None:
            msg = f"module {self.__name__!r} has no attribute {name!r}"
            raise AttributeError(msg)
        if home == self.__name__:
            return import_module(f"{home}.{name}")
        return getattr(import_module(home), name)

    def _home(self, name: str) -> str | None:
        return homes(self.__name__).get(name)

    def __setattr__(self, name: str, value: object) -> None:
        own = {None, self.__name__}
        if not isinstance(value, ModuleType) or homes(self.__name__).get(name) in own:
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return [*homes(self.__name__)]


def namespace(name: str) -> None:
    """Let a module have the public names that the stub beside it lists."""
    sys.modules[name].__class__ = Namespace
