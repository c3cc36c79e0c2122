"""Hierarchies for quasi columns: listed ones, and those built from a column's own values."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.errors import BadParameter, InputError, UsageError
from shoal.notation import Term, exact, number, parse, whole_number
from shoal.schema.dates import read_moments
from shoal.schema.hierarchy import DEPTH, ROOT, Levels, check_levels, nested_levels, read_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 2**31  # more than a table has rows


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct values of a column in their order: how they are spelled and how often."""

    column: str
    labels: list[str]
    values: NDArray | None
    counts: NDArray[np.int64]


class Hierarchy(Term):
    """How the values of a quasi column are gathered under names, level by level."""

    role = "hierarchy"
    needs_numbers = False  # whether it gathers numbers (or dates) by their size

    @abstractmethod
    def levels(self, distinct: Distinct) -> Levels:
        """Return the ancestors of every label."""

    @classmethod
    def of(cls, said: Any, folder: str | Path = ".") -> Hierarchy:
        """Take a hierarchy as it is, in the notation, as a file, or as nested nodes."""
        if isinstance(said, Hierarchy):
            return said
        if isinstance(said, str) and said.rstrip().endswith(")"):
            term = parse(said)
            if not isinstance(term, Hierarchy):
                msg = f"{said.strip()!r} is a {term.role}, but a hierarchy is needed here."
                raise UsageError(msg)
            return term
        if isinstance(said, str | Path):
            return Listed(paths=read_levels(Path(folder) / said))
        if isinstance(said, dict | list):
            return Listed(paths=nested_levels(said))
        msg = f"A hierarchy is a file, nodes that nest, or a term such as Prefix(). Got {said!r}."
        raise UsageError(msg)


@dataclass(frozen=True, kw_only=True, repr=False)
class Listed(Hierarchy):
    """A hierarchy that lists every label with its ancestors, nearest first.

    Parameters
    ----------
    paths : a path for each label, from the label itself up to the root; all of one length.
    """

    paths: Levels

    def __post_init__(self) -> None:
        if not isinstance(self.paths, tuple | list) or not all(
            isinstance(path, tuple | list) and path for path in self.paths
        ):
            raise BadParameter("Listed", "paths", "a list of paths", self.paths)
        paths = tuple(tuple(str(node) for node in path) for path in self.paths)
        object.__setattr__(self, "paths", check_levels(paths, "paths"))

    def levels(self, distinct: Distinct) -> Levels:  # noqa: ARG002 - the paths say it all
        """Return the paths as they are listed."""
        return self.paths


@dataclass(frozen=True, kw_only=True, repr=False)
class Prefix(Hierarchy):
    """Codes masked from the right, one character a level: 12345, 1234*, 123** and so on.

    A shorter code is masked to the length of the longest.

    Examples
    --------
    >>> Prefix().levels(Distinct("zip", ["1203", "1299"], None, np.array([1, 1])))
    (('1203', '120*', '12**', '1***', '*'), ('1299', '129*', '12**', '1***', '*'))
    """

    def levels(self, distinct: Distinct) -> Levels:
        """Return every prefix of every code, masked."""
        labels = distinct.labels
        longest = max(map(len, labels))
        return tuple(
            (
                label,
                *(
                    label[:kept] + "*" * (longest - kept) if len(label) >= kept else label
                    for kept in range(longest - 1, 0, -1)
                ),
                ROOT,
            )
            for label in labels
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class Calendar(Hierarchy):
    """Dates by day, month, quarter and year: 2024-05-17, 2024-05, 2024-Q2, 2024."""

    needs_numbers = True

    def levels(self, distinct: Distinct) -> Levels:
        """Return day, month, quarter and year of every date."""
        moments = read_moments(pl.Series(distinct.labels))
        if moments is None:
            place = f"column {distinct.column!r}"
            msg = f"Calendar() needs dates such as 2024-05-17, and {place} has others."
            raise InputError(msg)
        days = moments.astype("datetime64[us]").astype("datetime64[D]").astype(str).tolist()
        return tuple(
            (label, day, day[:-3], f"{day[:-6]}-Q{(int(day[-5:-3]) + 2) // 3}", day[:-6], ROOT)
            for label, day in zip(distinct.labels, days, strict=True)
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class Bins(Hierarchy):
    """Numbers (or dates, in days) in bins of equal width, two of them making one on each level.

    Parameters
    ----------
    width : of the narrowest bins, above 0. A bin is written [low, high) and begins at a multiple
        of its width.
    """

    width: float
    needs_numbers = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", number(self, "width", self.width, positive=True))

    def levels(self, distinct: Distinct) -> Levels:
        """Return the bins of every number, until one or two hold all of them."""
        assert distinct.values is not None
        values = [Fraction(str(value)) for value in distinct.values.tolist()]
        rows = [distinct.labels]
        width = exact(self.width)
        while len(rows) < DEPTH - 1:
            bins = [value // width for value in values]
            rows.append([f"[{_plain(b * width)}, {_plain((b + 1) * width)})" for b in bins])
            if bins[-1] - bins[0] <= 1:
                break
            width *= 2
        rows.append([ROOT] * len(values))
        return tuple(zip(*rows, strict=True))


@dataclass(frozen=True, kw_only=True, repr=False)
class Quantiles(Hierarchy):
    """Numbers (or dates) in parts with about equally many rows, two making one on each level.

    Parameters
    ----------
    parts : how many there are on the lowest level, at least 2.
    """

    parts: int
    needs_numbers = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", whole_number(self, "parts", self.parts, least=2))

    def levels(self, distinct: Distinct) -> Levels:
        """Return the parts of every number."""
        before = np.cumsum(distinct.counts) - distinct.counts
        parts = min(self.parts, MOST)
        return _runs(distinct.labels, before * parts // distinct.counts.sum(), 2)


@dataclass(frozen=True, kw_only=True, repr=False)
class Grouped(Hierarchy):
    """Values in their order, `size` neighbours under one name, and so on up to the root.

    Parameters
    ----------
    size : how many labels, or nodes of the level below, each node has; at least 2.
    """

    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", whole_number(self, "size", self.size, least=2))

    def levels(self, distinct: Distinct) -> Levels:
        """Return the runs of every label."""
        size = min(self.size, MOST)
        return _runs(distinct.labels, np.arange(len(distinct.labels)) // size, size)


def _runs(labels: list[str], parts: NDArray, fan: int) -> Levels:
    """Return levels of runs of labels: the given parts, then `fan` of them together, and so on."""
    rows = [labels]
    while parts[-1] > parts[0]:
        starts = np.flatnonzero(np.r_[True, np.diff(parts) != 0])
        ends = np.r_[starts[1:], len(labels)] - 1
        named = [
            labels[start] if start == end else f"{labels[start]}..{labels[end]}"
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        ]
        rows.append([named[run] for run in np.cumsum(np.r_[0, np.diff(parts) != 0])])
        parts = parts // fan
    rows.append([ROOT] * len(labels))
    return tuple(zip(*rows, strict=True))


def _plain(value: Fraction) -> str:
    """Spell a number without a fraction that says nothing."""
    return str(value.numerator) if value.denominator == 1 else repr(float(value))
