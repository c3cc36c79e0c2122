"""Publish tables about people, and limit what a reader can learn about any one of them.

`__init__.pyi` lists the public names, once; they load what they need when they are first used.
"""

import sys
from importlib import import_module
from warnings import warn

from shoal.names import Namespace, homes


class _Shoal(Namespace):
    """The package, in which names that have moved are still found."""

    def _home(self, name: str) -> str | None:
        listed = homes("shoal")
        if name in listed:
            return listed[name]
        for space in (one for one, home in listed.items() if home == "shoal"):
            moved = homes(import_module(f"shoal.{space}").__name__).get(name)
            if moved is not None:
                msg = f"Write shoal.{space}.{name}. shoal.{name} stops working in version 0.3."
                warn(msg, DeprecationWarning, stacklevel=3)
                return moved
        return None


sys.modules[__name__].__class__ = _Shoal
