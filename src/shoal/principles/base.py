"""What every principle knows: parameters, family, source, and how to measure groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.errors import UnknownColumn, UsageError
from shoal.notation import Term, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from shoal.principles.groups import Groups, Measurement
    from shoal.schema.coding import Column


class Principle(Term):
    """A requirement on every group of a release."""

    role = "requirement"
    monotone: ClassVar[bool]  # whether it survives the union of groups
    numeric: ClassVar[bool] = False  # whether it is about one numeric column
    columns: ClassVar[int] = 1  # how many sensitive columns it needs at least
    source: ClassVar[str]

    @property
    def least(self) -> int:
        """The least size of a group that can hold."""
        return 1

    def measure(self, groups: Groups, sensitive: Column | None) -> Measurement:
        """Measure every group."""
        raise NotImplementedError

    def promise(self, column: str) -> str:
        """Say in plain words what the principle promises about a column."""
        raise NotImplementedError

    def on(self, *columns: str) -> Requirement:
        """Require this of the named sensitive columns instead of all of them together."""
        return Requirement(self, columns)


@dataclass(frozen=True)
class Band:
    """Which codes are near to which: u is proximate to v when first[v] <= u <= last[v].

    Both bounds are non-decreasing, as they are for every monotone private neighbourhood.
    """

    first: NDArray[np.int32]
    last: NDArray[np.int32]

    @property
    def reach(self) -> NDArray[np.int32]:
        """The highest code that is proximate to each code in either direction.

        maxsize (EM Definition 11) is the longest run whose ends are proximate either way.
        """
        codes = np.arange(len(self.first))
        looks_down = np.searchsorted(self.first, codes, side="right") - 1
        return np.maximum(self.last, looks_down).astype(np.int32)


class OneDimensional(Principle):
    """A principle about how many values of one ordered column lie near each other."""

    numeric = True
    share_name: ClassVar[str] = "m"
    width_name: ClassVar[str] = "epsilon"
    width_scale: ClassVar[int] = 1  # how many times the named width two near values may be apart

    @property
    def share(self) -> int:
        """The m of the principle: at most |G| / m members may be near."""
        raise NotImplementedError

    def band(self, values: NDArray) -> Band:
        """Return who is near to whom among sorted distinct values."""
        raise NotImplementedError

    @property
    def bound(self) -> Fraction:
        """The largest risk allowed."""
        return Fraction(1, self.share)


@dataclass(frozen=True)
class Requirement:
    """A principle, and the sensitive columns it is about (none named: all of them together)."""

    principle: Principle
    columns: tuple[str, ...] = ()
    named: bool = True  # whether the columns were asked for, and so belong to the notation

    def __repr__(self) -> str:
        front = f"{'+'.join(self.columns)}: " if self.columns and self.named else ""
        return f"{front}{self.principle!r}"

    def resolve(self, sensitive: Sequence[str]) -> Requirement:
        """Name the columns it is about, and check that the principle fits them."""
        for name in self.columns:
            if name not in sensitive:
                raise UnknownColumn(name, sensitive)
        columns = self.columns or tuple(sensitive)
        if self.principle.columns == 0:
            return replace(self, columns=())
        if not columns:
            msg = f"{self.principle!r} is about a sensitive column: name one with --sensitive."
            raise UsageError(msg)
        if self.principle.numeric and len(columns) > 1:
            name = columns[0]
            msg = (
                f"{self.principle!r} is about one numeric column, but there are {len(columns)}: "
                f"{', '.join(columns)}. Say which, as in '{name}: {self.principle!r}'."
            )
            raise UsageError(msg)
        return replace(self, columns=columns, named=self.named and bool(self.columns))


Require = Principle | Requirement | str


def requirements(
    require: Require | Iterable[Require], sensitive: Sequence[str]
) -> list[Requirement]:
    """Read one requirement or several, in Python or in the notation, and resolve their columns."""
    several = [require] if isinstance(require, Principle | Requirement | str) else list(require)
    if not several:
        msg = "Nothing is required. Say what must hold: --require 'EpsilonM(epsilon=4500, m=5)'."
        raise UsageError(msg)
    return [_requirement(one, sensitive).resolve(sensitive) for one in several]


def _requirement(one: Require, sensitive: Sequence[str]) -> Requirement:
    if isinstance(one, Requirement):
        return one
    if isinstance(one, Principle):
        return Requirement(one)
    head, colon, tail = one.partition(":")
    if not colon or "(" in head:
        head, tail = "", one
    names = head.strip()
    columns = (
        (names,) if names in sensitive or not names else tuple(n.strip() for n in names.split("+"))
    )
    principle = parse(tail)
    if not isinstance(principle, Principle):
        msg = f"{tail.strip()} is a {principle.role}, but a requirement is needed here."
        raise UsageError(msg)
    return Requirement(principle, columns if names else ())
