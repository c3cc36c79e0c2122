"""What a stranger learned about one person, as plain values and as a few lines of text."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.progress import Brief

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction


@dataclass(frozen=True)
class Guess:
    """The best guess of one column, over everything that fits a person.

    `listed` is the chance that the best value among those listed is right to within the width,
    `any` that of the best number whether listed or not; None where the width is a share of the
    guess. The bounds are what the requirement allows a reader who knows the person's group; they
    are None where no requirement bounds guesses of the column.
    """

    width: float
    relative: bool
    requirement: str | None
    listed: Fraction
    value: str | None
    any: Fraction | None
    listed_bound: Fraction | None
    any_bound: Fraction | None

    @property
    def chance(self) -> Fraction:
        """The chance of the best guess of all."""
        return self.listed if self.any is None else max(self.listed, self.any)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "width": self.width,
            "relative": self.relative,
            "requirement": self.requirement,
            "listed": float(self.listed),
            "value": self.value,
            "any": None if self.any is None else float(self.any),
            "listed_bound": None if self.listed_bound is None else float(self.listed_bound),
            "any_bound": None if self.any_bound is None else float(self.any_bound),
        }


@dataclass(frozen=True, repr=False)
class Learned(Brief):
    """What is learned about one protected column, today and from the release.

    `values` has each published value that a candidate has, ascending, with the share of candidates
    who have it; None stands for a missing one. `numbers` are the same as numbers.
    """

    _brief = ("column", "values")

    column: str
    numeric: bool
    dates: bool
    own: tuple[str | None, ...]
    today: tuple[str | None, ...]
    values: tuple[tuple[str | None, Fraction], ...]
    numbers: tuple[float | None, ...]
    guesses: tuple[Guess, ...]

    @property
    def ends(self) -> tuple[str, str] | None:
        """The smallest and the largest published value, None where there is no number."""
        known = [value for value, _ in self.values if value is not None]
        return (known[0], known[-1]) if self.numeric and known else None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "column": self.column,
            "numeric": self.numeric,
            "own": list(self.own),
            "today": list(self.today),
            "range": None if self.ends is None else list(self.ends),
            "values": [[value, float(share)] for value, share in self.values],
            "guesses": [one.to_dict() for one in self.guesses],
        }


@dataclass(frozen=True, repr=False)
class PersonView(Brief):
    """What a stranger who knows a person's quasi values learns, today and after the release.

    It is private: it joins the original table with the release. `rows` counts the published rows
    that fit, and `people` the people whom they are about, as the stranger counts them. `published`
    says whether the person is in the release, which a stranger does not know. It is None where the
    files do not show it.
    """

    _brief = ("row", "rows", "people", "groups", "published")

    row: int
    known: Mapping[str, tuple[str | None, ...]]
    own_rows: int
    several: bool
    today_rows: int
    today_people: int
    rows: int
    people: int
    groups: int | None
    two_tables: bool
    columns: tuple[Learned, ...]
    remarks: tuple[str, ...] = ()
    published: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, like the JSON of the command."""
        return {
            "row": self.row,
            "published": self.published,
            "known": {name: list(cells) for name, cells in self.known.items()},
            "own_rows": self.own_rows,
            "today": {"rows": self.today_rows, "people": self.today_people},
            "after": {"rows": self.rows, "people": self.people, "groups": self.groups},
            "columns": [one.to_dict() for one in self.columns],
            "remarks": list(self.remarks),
        }

    def __str__(self) -> str:
        return str(import_module("shoal.views.person").as_text(self))

    def _repr_html_(self) -> str:
        return str(import_module("shoal.views.person").as_html(self))
