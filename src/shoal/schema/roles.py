"""What each column is: the schema."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal.errors import UnknownColumn, UsageError
from shoal.schema.grouping import Hierarchy
from shoal.schema.numerals import check_decimal, plain_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import polars as pl

NUMERIC = ("numeric", "latitude", "longitude")
LABELS = ("categorical", "code", "boolean", "ordered")
KINDS = (*NUMERIC, "date", *LABELS)
RESERVED = "group"


@dataclass(frozen=True, init=False)
class Schema:
    """The role of each column; columns without a role are dropped.

    Parameters
    ----------
    quasi : names of the columns that could single a person out; they are generalized.
    sensitive : names of the columns that are protected; they are published as they are.
    identifying : names of the columns that name a person; they are dropped.
    other : names of the columns that are published as they are.
    types : what columns hold, where the cells should not decide: "numeric", "date" (ISO dates and
        timestamps), "latitude", "longitude", or labels, namely "categorical", "code" (digits that
        are no number), "boolean" and "ordered".
    order : for categorical quasi columns, their labels in the order that splitting should follow;
        an "ordered" column needs it.
    hierarchies : for quasi columns that are published as nodes of a hierarchy: a file, nested
        nodes, or a hierarchy that is built from the column, as "Prefix()".
    decimal : the decimal sign of numbers in text cells, "," or "."; with it, thousands may be
        separated by the other sign, a space or an apostrophe. Without it, numbers are as JSON
        writes them.
    weights : how much the loss of a quasi column counts in the search, 1 where nothing is said.

    Examples
    --------
    >>> Schema(quasi=["age", "zip"], sensitive="salary", identifying="name").sensitive
    ('salary',)
    """

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    identifying: tuple[str, ...]
    other: tuple[str, ...]
    types: Mapping[str, str]
    order: Mapping[str, tuple[str, ...]]
    hierarchies: Mapping[str, Hierarchy]
    weights: Mapping[str, float]
    decimal: str | None

    def __init__(
        self,
        *,
        quasi: str | Iterable[str] = (),
        sensitive: str | Iterable[str] = (),
        identifying: str | Iterable[str] = (),
        other: str | Iterable[str] = (),
        types: Mapping[str, str] | None = None,
        order: Mapping[str, Iterable[str]] | None = None,
        hierarchies: Mapping[str, Any] | None = None,
        weights: Mapping[str, float] | None = None,
        decimal: str | None = None,
    ) -> None:
        roles = {"quasi": quasi, "sensitive": sensitive, "identifying": identifying, "other": other}
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
        object.__setattr__(
            self, "hierarchies", {k: Hierarchy.of(v) for k, v in (hierarchies or {}).items()}
        )
        object.__setattr__(self, "weights", dict(weights or {}))
        object.__setattr__(self, "decimal", check_decimal(decimal))
        self._check_types()
        self._check_quasi_only("hierarchy", self.hierarchies)
        self._check_quasi_only("weight", self.weights)
        for name, weight in self.weights.items():
            if not isinstance(weight, int | float) or not 0 < weight < math.inf:
                msg = f"The weight of column {name!r} must be a number above 0. Got {weight!r}."
                raise UsageError(msg)

    def _check_types(self) -> None:
        for name, kind in self.types.items():
            if kind not in KINDS:
                msg = f"Column {name!r} cannot be {kind!r}. Types are {', '.join(KINDS)}."
                raise UsageError(msg)
            if kind == "ordered" and name not in self.order:
                msg = f"Column {name!r} is ordered, so say in which order its labels come."
                raise UsageError(msg)
            if name in self.order and kind not in LABELS:
                msg = f"Column {name!r} is {kind} and cannot have an order of labels as well."
                raise UsageError(msg)

    def _check_quasi_only(self, what: str, said: Mapping[str, object]) -> None:
        for name in said:
            if name not in self.quasi:
                msg = f"Column {name!r} has a {what} but is no quasi column."
                raise UsageError(msg)

    @property
    def published(self) -> tuple[str, ...]:
        """The columns that a release has, in no particular order."""
        return (*self.quasi, *self.sensitive, *self.other)

    def read_numbers(self, table: pl.DataFrame, *roles: str) -> pl.DataFrame:
        """Return a table with the numbers of the columns that have these roles spelled plainly."""
        numeric = [name for name, kind in self.types.items() if kind in NUMERIC]
        names = [name for name in table.columns if self.role(name) in roles]
        return plain_numbers(table, names, self.decimal, numeric=numeric)

    def role(self, column: str) -> str | None:
        """Return the role of a column, None where it has none."""
        for role in ("quasi", "sensitive", "identifying", "other"):
            if column in getattr(self, role):
                return role
        return None

    def check(self, columns: list[str]) -> None:
        """Raise where the schema names what the table does not have, or a reserved name."""
        for name in (*self.published, *self.identifying, *self.types, *self.order):
            if name not in columns:
                raise UnknownColumn(name, columns)
        if RESERVED in self.published:
            msg = (
                f"A release has a column {RESERVED!r} of its own. "
                f"Rename the input column {RESERVED!r} first."
            )
            raise UsageError(msg)
