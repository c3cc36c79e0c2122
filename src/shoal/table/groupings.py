"""Hierarchies for quasi columns: listed ones, and those built from a column's own values."""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.errors import BadParameter, InputError, UsageError
from shoal.notation import Term, exact, number, parse, whole_number
from shoal.table.dates import read_moments
from shoal.table.hierarchy import DEPTH, ROOT, Levels, check_levels, nested_levels, read_levels
from shoal.table.placing import Distinct, bin_of, bin_width, exactly

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray

BETWEEN = ".."  # of the first and the last label of a run
MOST = 2**31  # more than a table has rows


class Hierarchy(Term):
    """How the values of a quasi column are gathered under names, level by level."""

    role = "hierarchy"
    needs_numbers = False  # whether it gathers numbers (or dates) by their size
    readable = True  # whether the names of nodes tell which values they cover

    @abstractmethod
    def levels(self, distinct: Distinct) -> Levels:
        """Return the ancestors of every label."""

    def check_people(self, own: Distinct) -> None:
        """Raise where readers could not say which people of a population a node covers."""

    @abstractmethod
    def covering(self, names: Collection[str], distinct: Distinct) -> list[list[str]]:
        """Return for every value those of the named nodes above it that cover it, but the root."""

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


@dataclass(frozen=True, repr=False)
class Listed(Hierarchy):
    """A hierarchy that lists every label with its ancestors, nearest first.

    Parameters
    ----------
    paths : a path for each label, from the label itself up to the root; all of one length.
    """

    paths: Levels
    readable = False

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

    def covering(self, names: Collection[str], distinct: Distinct) -> list[list[str]]:
        """Return the listed ancestors, the root among them, raising where a label is missing."""
        known = {path[0]: path for path in self.paths}
        for label in distinct.labels:
            if label not in known:
                msg = f"The hierarchy of column {distinct.column!r} lacks the label {label!r}."
                raise InputError(msg)
        return [_chosen(known[label], names) for label in distinct.labels]


@dataclass(frozen=True, repr=False)
class Prefix(Hierarchy):
    """Mask codes from the right, one character at each level: 12345, 1234*, 123** and so on.

    A shorter code is masked to the length of the longest.

    Examples
    --------
    >>> Prefix().levels(Distinct("zip", ["1203", "1299"], None, np.array([1, 1])))
    (('1203', '120*', '12**', '1***', '*'), ('1299', '129*', '12**', '1***', '*'))
    """

    def levels(self, distinct: Distinct) -> Levels:
        """Return every prefix of every code, masked."""
        return self._masked(distinct.labels, max(map(len, distinct.labels)))

    def covering(self, names: Collection[str], distinct: Distinct) -> list[list[str]]:
        """Return the masks that codes fit: they begin so, and are not longer."""
        lengths = sorted({len(name) for name in names if name.endswith("*")})
        return [
            [
                name
                for longest in lengths
                if len(label) <= longest
                for kept in range(min(len(label), longest - 1), 0, -1)
                if (name := label[:kept] + "*" * (longest - kept)) in names
            ]
            for label in distinct.labels
        ]

    @staticmethod
    def _masked(labels: list[str], longest: int) -> Levels:
        def masked(label: str, kept: int) -> str:
            fits = kept <= len(label) <= longest
            return label[:kept] + "*" * (longest - kept) if fits else label

        return tuple(
            (label, *(masked(label, kept) for kept in range(longest - 1, 0, -1)), ROOT)
            for label in labels
        )


@dataclass(frozen=True, repr=False)
class Calendar(Hierarchy):
    """Generalize dates to month, quarter and year: 2024-05-17, 2024-05, 2024-Q2, 2024."""

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

    def covering(self, names: Collection[str], distinct: Distinct) -> list[list[str]]:
        """Return those of day, month, quarter and year that are named."""
        return [_chosen(path[1:-1], names) for path in self.levels(distinct)]


@dataclass(frozen=True, repr=False)
class Bins(Hierarchy):
    """Put numbers (or dates, by days) into bins of equal width; each level joins two bins.

    Parameters
    ----------
    width : of the narrowest bins, above 0, in days for dates. A bin is written [low, high) and
        begins at a multiple of its width, dates counted from 1970-01-01.
    """

    width: float
    needs_numbers = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", number(self, "width", self.width, positive=True))

    def levels(self, distinct: Distinct) -> Levels:
        """Return the bins of every number, until one or two hold all of them."""
        rows = [distinct.labels]
        values = exactly(distinct)
        width = exact(self.width)
        while len(rows) < DEPTH - 1:
            rows.append([bin_of(value, width, dates=distinct.dates) for value in values])
            if values[-1] // width - values[0] // width <= 1:
                break
            width *= 2
        rows.append([ROOT] * len(values))
        return tuple(zip(*rows, strict=True))

    def covering(self, names: Collection[str], distinct: Distinct) -> list[list[str]]:
        """Return the bins that are named, of every width among them."""
        read = [bin_width(name, dates=distinct.dates) for name in names]
        sizes = [width / exact(self.width) for width in read if width is not None]
        doubled = {round(math.log2(size)) for size in sizes if 0 < size < 2**DEPTH}
        widths = [exact(self.width) * 2**level for level in sorted(doubled) if level >= 0]
        return [
            _chosen((bin_of(value, width, dates=distinct.dates) for width in widths), names)
            for value in exactly(distinct)
        ]


class Runs(Hierarchy):
    """Neighbours in their order under the names of the first and the last, as 17..24.

    A run covers what lies between its ends, and they are all that a reader needs to know.
    """

    def check_people(self, own: Distinct) -> None:
        """Raise where labels stand in an order that was given: no release says which it is."""
        if own.ordered:
            msg = (
                f"{self!r} groups the labels of column {own.column!r} in an order that you "
                "gave, so the names of its nodes do not show which people of a population "
                "belong to them. List the hierarchy in a file."
            )
            raise InputError(msg)

    def covering(self, names: Collection[str], distinct: Distinct) -> list[list[str]]:
        """Return the runs that values lie in, by what their ends say."""
        found: list[list[str]] = [[] for _ in distinct.labels]
        runs = [name for name in names if name.count(BETWEEN) == 1]
        if distinct.ordered or not runs:
            return found
        keys = distinct.keys(distinct.labels)
        order = sorted(range(len(keys)), key=keys.__getitem__)
        ranked = [keys[place] for place in order]
        for name in runs:
            low, high = distinct.keys(name.split(BETWEEN))
            if low is None or high is None:
                continue
            for place in order[bisect_left(ranked, low) : bisect_right(ranked, high)]:
                found[place].append(name)
        return found


@dataclass(frozen=True, repr=False)
class Quantiles(Runs):
    """Put numbers (or dates) into parts with about equally many rows; each level joins two.

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


@dataclass(frozen=True, repr=False)
class Grouped(Runs):
    """Put `size` neighbouring values under one name, and so on at each level up to the root.

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
            labels[start] if start == end else f"{labels[start]}{BETWEEN}{labels[end]}"
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        ]
        rows.append([named[run] for run in np.cumsum(np.r_[0, np.diff(parts) != 0])])
        parts = parts // fan
    rows.append([ROOT] * len(labels))
    return tuple(zip(*rows, strict=True))


def _chosen(path: Iterable[str], names: Collection[str]) -> list[str]:
    return [name for name in path if name in names]
