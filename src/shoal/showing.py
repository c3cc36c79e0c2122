"""How results show themselves in a notebook, though nothing below the views knows them."""

from importlib import import_module


class Shown:
    """A result with a page of its own: its class is looked up among the views when it is shown."""

    def _repr_html_(self) -> str:
        return import_module("shoal.views.html").part(self)
