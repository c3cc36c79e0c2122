"""What each column is: the schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.errors import UnknownColumn, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

KINDS = ("numeric", "categorical")
RESERVED = "group"
PSEUDONYM = "pseudonym"  # the role of a published column of keyed hashes


@dataclass(frozen=True, init=False)
class Schema:
    """The role of each column; columns without a role are dropped.

    Parameters
    ----------
    quasi : names of the columns that could single a person out; they are generalized.
    sensitive : names of the columns that are protected; they are published as they are.
    identifying : names of the columns that name a person; they are dropped.
    other : names of the columns that are published as they are.
    pseudonymize : names of identifying columns that are published as keyed hashes instead.
    types : "numeric" or "categorical" for columns where the cells should not decide.
    order : for categorical quasi columns, their labels in the order that splitting should follow.

    Examples
    --------
    >>> Schema(quasi=["age", "zip"], sensitive="salary", identifying="name").sensitive
    ('salary',)
    """

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    identifying: tuple[str, ...]
    other: tuple[str, ...]
    pseudonymize: tuple[str, ...]
    types: Mapping[str, str]
    order: Mapping[str, tuple[str, ...]]

    def __init__(
        self,
        *,
        quasi: str | Iterable[str] = (),
        sensitive: str | Iterable[str] = (),
        identifying: str | Iterable[str] = (),
        other: str | Iterable[str] = (),
        pseudonymize: str | Iterable[str] = (),
        types: Mapping[str, str] | None = None,
        order: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        replaced = (pseudonymize,) if isinstance(pseudonymize, str) else tuple(pseudonymize)
        named = (identifying,) if isinstance(identifying, str) else tuple(identifying)
        roles = {
            "quasi": quasi,
            "sensitive": sensitive,
            "identifying": [name for name in named if name not in replaced],
            "other": other,
            "pseudonymize": replaced,
        }
        taken: dict[str, str] = {}
        for role, given in roles.items():
            names = (given,) if isinstance(given, str) else tuple(given)
            object.__setattr__(self, role, names)
            for name in names:
                if name in taken:
                    both = f"{taken[name]} and {role}" if taken[name] != role else f"{role}, twice"
                    msg = f"Column {name!r} has two roles: {both}. Give it one."
                    raise UsageError(msg)
                taken[name] = role
        object.__setattr__(self, "types", dict(types or {}))
        object.__setattr__(self, "order", {k: tuple(v) for k, v in (order or {}).items()})
        for name, kind in self.types.items():
            if kind not in KINDS:
                msg = f"Column {name!r} cannot be {kind!r}. Types are {' and '.join(KINDS)}."
                raise UsageError(msg)

    @property
    def published(self) -> tuple[str, ...]:
        """The columns whose cells a release has, recoded or not, in no particular order."""
        return (*self.quasi, *self.sensitive, *self.other)

    def role(self, column: str) -> str | None:
        """Return the role of a column, None where it has none."""
        for role in ("quasi", "sensitive", "identifying", "other"):
            if column in getattr(self, role):
                return role
        return PSEUDONYM if column in self.pseudonymize else None

    def check(self, columns: list[str]) -> None:
        """Raise where the schema names what the table does not have, or a reserved name."""
        shown = (*self.published, *self.pseudonymize)
        for name in (*shown, *self.identifying, *self.types, *self.order):
            if name not in columns:
                raise UnknownColumn(name, columns)
        if RESERVED in shown:
            msg = (
                f"A release has a column {RESERVED!r} of its own. "
                f"Rename the input column {RESERVED!r} first."
            )
            raise UsageError(msg)
