"""What is assumed of a file before it is read: each with its reason and whether it is sure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from shoal.progress import Brief

if TYPE_CHECKING:
    from shoal.table.columns import FileLayout

Value = str | int | tuple[str, ...] | None
Kind = Literal["above", "names", "row", "below", "empty"]


@dataclass(frozen=True, repr=False)
class Assumption(Brief):
    """One thing that was assumed; the owner may know better.

    `key` is the option that says it, of one `column` where there is one. A `needed` one has to be
    said: without it the file is refused or read otherwise. Where it is not `sure`, the owner has to
    look. `choices` are what else it could be.
    """

    _brief = ("key", "column", "value", "sure")

    key: str
    value: Value
    why: str
    sure: bool = True
    needed: bool = True
    column: str = ""
    choices: tuple[str, ...] = ()

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes that it says mean missing."""
        return self.value if isinstance(self.value, tuple) else ()

    @property
    def text(self) -> str | None:
        """What it says, where that is a text."""
        return self.value if isinstance(self.value, str) else None

    def to_dict(self) -> dict[str, object]:
        """Return it as plain values."""
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return asdict(self) | {"value": value, "choices": list(self.choices)}


@dataclass(frozen=True)
class FileLine:
    """A line of a file as its cells, and what it is taken for."""

    number: int
    kind: Kind
    cells: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Found(Brief):
    """How the table of a file lies in it, with the first and last lines to show."""

    _brief = ("assumed",)

    layout: FileLayout
    assumed: tuple[Assumption, ...] = ()
    first: tuple[FileLine, ...] = ()
    last: tuple[FileLine, ...] = ()
    sheets: tuple[str, ...] = ()
