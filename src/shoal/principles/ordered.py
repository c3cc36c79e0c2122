"""Principles about runs of near values, of one numeric column above all, and what is achievable.

EM Theorem 1: m is achievable for a neighbourhood exactly when m <= floor(n / maxsize). Theorem 2:
ε is achievable for m exactly when it stays strictly under the narrowest gap over floor(n / m)
places of the sorted values. Both need only that the neighbourhoods are monotone, so they hold for
relative ones, for (δ,l)-diversity and for windows too.

Missing values count in every run, so a run of r values beside q missing ones needs r + q <= n / m.
That is necessary. For windows it is enough, because the whole table then holds as one group; for
others a group has to take in a missing one that its values have no room for, so what is within
these limits may still not be achievable.

Where people have several rows, whoever has a value in a run of values that are all near to one
another is near to every other who has one there. So of c such people, a group of size s may hold at
most s / m, and c has to be at most floor(people / m) in all. That is necessary and not enough: who
is near to whom goes by all of their values at once. It speaks of people with all of their rows:
with fewer published, more may be achievable.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from shoal.distances.counting import TOLERANCE
from shoal.exact import upward
from shoal.kernels.compiling import RUN
from shoal.notation import number, whole_number
from shoal.principles.base import Searchable
from shoal.principles.foresight import Limit, RequirementPlan, counts_of, most_together, thinned
from shoal.principles.groups import Demand, Groups
from shoal.table.sensitive import Sensitive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from shoal.distances.relation import Band
    from shoal.table.column import Column


DRAWN = 60  # points of a frontier in a report


class Ordered(Searchable):
    """A principle whose relation is a band of codes, so that top-down splitting can predict it.

    A group can be made to hold (or, where the principle is monotone, holds) exactly when the
    longest run of near values is at most `bound` of it.
    """

    bound: Fraction
    counted: ClassVar[bool] = True  # whether it holds where few enough are near to each member

    @property
    def ordered(self) -> Self:
        """Near values are a run of them."""
        return self

    def band(self, sensitive: Sensitive) -> Band:
        """Return who is near to whom among the distinct values."""
        raise NotImplementedError

    def must_go(self, sensitive: Sensitive) -> NDArray[np.int64]:
        """Return what is too much of each value in runs above `bound` of the table."""
        reach = self.band(sensitive).reach
        return thinned(counts_of(sensitive), reach, self.bound, sensitive.gap)

    def demand(self, sensitive: Sensitive) -> Demand:
        """Return that the longest run of near values is at most `bound` of a bucket."""
        reach = self.band(sensitive).reach.astype(np.float64)
        return Demand(RUN, sensitive.codes, sensitive.distinct, reach, self.bound)


class OneDimensional(Ordered):
    """A principle about how many values of one numeric column lie near each other."""

    numeric = True
    chance = True
    relative: bool = False  # whether a width is a share of the value
    share_name: ClassVar[str] = "m"
    width_name: ClassVar[str] = "epsilon"
    graded: ClassVar[tuple[str, ...]] = ("m",)
    width_scale: ClassVar[int] = 1  # how many times the named width two near values may be apart

    def __post_init__(self) -> None:
        """Take widths as numbers, and the share as a whole one."""
        most = 1 if self.relative else None
        for name, value in {**vars(self)}.items():
            if name == self.share_name:
                object.__setattr__(self, name, whole_number(self, name, value, least=1))
            elif name != "relative":
                object.__setattr__(self, name, number(self, name, value, most=most))

    @property
    def share(self) -> int:
        """The m (or l) of the principle: at most |G| / m members may be near."""
        share: int = getattr(self, self.share_name)
        return share

    @property
    def named_width(self) -> float:
        """How far apart near values may be, in its own parameter."""
        width: float = getattr(self, self.width_name)
        return width

    @property
    def bound(self) -> Fraction:  # type: ignore[override]
        """The largest risk allowed."""
        return Fraction(1, self.share)

    @property
    def least(self) -> int:
        """A value is near itself, so a group that holds has m members."""
        return self.share

    @property
    def widths(self) -> Self:
        """It says how far apart near numbers are."""
        return self

    def promise(self, column: str) -> str:
        """Say it in plain words."""
        return self.promise_in(column, "")

    def strongest(self, groups: Groups, sensitive: Sensitive | None) -> Self:
        """Return it with the largest m (or l) that holds for its neighbourhoods."""
        most = int(1 / self.measure(groups, sensitive).risk)
        return replace(self, **{self.share_name: most})  # type: ignore[type-var]

    def maxsize(self, value: Sensitive) -> int:
        """Return the longest run of near values in the whole column (EM Definition 11)."""
        column = value.columns[0]
        known, missing = _counts(column)
        before = np.concatenate([[0], np.cumsum(known)])
        reach = self.band(Sensitive.of((column,))).reach[: len(known)]
        return int((before[reach + 1] - before[:-1]).max()) + missing

    def together(self, value: Sensitive) -> int:
        """Return maxsize in people: the most who have a value in one run of near ones."""
        reach = self.band(value).reach
        return most_together(np.arange(len(reach)), reach, value.sets, value.gap)

    def largest(self, value: Sensitive) -> int:
        """Return the largest m (or l) that is achievable for the neighbourhood (EM Theorem 1)."""
        return value.columns[0].rows // self.maxsize(value)

    def outlook(
        self, value: Sensitive | None, rows: int, *, people: int | None = None
    ) -> RequirementPlan:
        """Say what EM's theorems say of it."""
        found = super().outlook(value, rows, people=people)
        lacking = None if value is None or people is not None else _counts(value.columns[0])[1]
        return found if self.monotone or not lacking else replace(found, missing=lacking)

    def limits(self, value: Sensitive | None, rows: int) -> tuple[Limit, ...]:  # noqa: ARG002
        """Return the largest m, and what the width must stay under, in its own parameter."""
        assert value is not None
        gap = Ranked.of(value.columns[0]).gap(self.share, relative=self.relative)
        width = None if gap is None else _rounded(gap / self.width_scale)
        return (
            Limit(self.share_name, "at most", self.largest(value)),
            Limit(self.width_name, "under", width),
        )

    def limits_of_people(self, value: Sensitive | None, people: int) -> tuple[Limit, ...]:
        """Return what m can be at most where people have several rows."""
        assert value is not None
        return (Limit(self.share_name, "at most", people // self.together(value)),)

    def pictured(self, value: Sensitive) -> dict[str, Any]:
        """Return the beginning of the frontier, and where on it was asked."""
        (column,) = value.columns
        points = islice(Ranked.of(column).frontier(relative=self.relative), DRAWN)
        frontier = {
            "points": [{"m": point.m, "bound": point.epsilon_bound} for point in points],
            "chosen": {"m": self.share, "width": self.named_width * self.width_scale},
            "column": column.name,
            "relative": self.relative,
        }
        return {"frontier": frontier}

    def achievable(self, value: Sensitive | None, rows: int) -> bool | None:  # noqa: ARG002
        """Say whether its m is achievable among rows; None where a search has to tell.

        Where values are missing, it is tried on groups that the sorted values are dealt to in turn.
        """
        assert value is not None
        column = value.columns[0]
        enough = self.share <= self.largest(value)
        if not enough or self.monotone or not _counts(column)[1]:
            return enough
        codes = np.repeat(np.arange(column.distinct, dtype=np.int32), column.counts)
        each = replace(Sensitive.of((column,)), codes=codes)
        parts = len(codes) // self.share
        while parts > 0:
            if self.measure(Groups(np.arange(len(codes)) % parts), each).holds:
                return True
            parts //= 2
        return None


def _counts(column: Column) -> tuple[NDArray[np.int64], int]:
    """Return how many rows have each value, and how many have none."""
    counts = column.counts
    return counts[: column.gap], 0 if column.gap is None else int(counts[column.gap])


@dataclass(frozen=True)
class Point:
    """One point of the frontier: for m, the value that ε must stay strictly under."""

    m: int
    epsilon_bound: float


@dataclass(frozen=True, eq=False)
class Ranked:
    """The known values of a numeric column in order, of so many members, `missing` without one.

    Members are rows, or people who may have several values: then `owners` says whose each is.
    """

    column: Column
    values: NDArray
    members: int
    missing: int
    owners: NDArray[np.int32] | None = None

    @classmethod
    def of(cls, column: Column) -> Ranked:
        """Return the values of rows."""
        known, missing = _counts(column)
        assert column.values is not None
        return cls(column, np.repeat(column.values, known), column.rows, missing)

    @classmethod
    def of_people(cls, value: Sensitive) -> Ranked:
        """Return the values of people; whoever lacks one is in every crowd."""
        people, sets = len(value.members), value.sets
        (column,) = value.columns
        assert column.values is not None
        lacking = np.zeros(people, np.bool_)
        lacking[sets.owners[sets.codes == value.gap]] = True
        order = np.argsort(sets.codes, kind="stable")
        order = order[~lacking[sets.owners[order]]]
        values = column.values[value.places[sets.codes[order], 0]]
        owners = sets.owners[order].astype(np.int32)
        return cls(column, values, people, int(lacking.sum()), owners)

    def bound(self, m: int, *, relative: bool = False) -> float | None:
        """Return what the width must stay strictly under for m (EM Theorem 2), None for no bound.

        It is the least number, as it is written, that is not under the gap.
        """
        gap = self.gap(m, relative=relative)
        return None if gap is None else _rounded(gap)

    def gap(self, m: int, *, relative: bool) -> Fraction | None:
        """Return the narrowest gap over one in m; None where fewer have a value.

        The minimizing pair is found in doubles, its gap is then taken from the decimals as written.
        """
        room = self.members // m - self.missing
        if room <= 0:
            return Fraction(0)
        low, high = self._narrowest(room, relative=relative)
        if low < 0:
            return None
        return _between(self.column, self.values[low], self.values[high], relative=relative)

    def _narrowest(self, room: int, *, relative: bool) -> tuple[int, int]:
        """Return where the narrowest run ends that more than so many are in; -1 where none is."""
        from shoal.kernels.windows import narrowest_crowd, narrowest_gap, narrowest_relative_gap

        values = self.values
        if self.owners is not None:
            inside = np.zeros(self.members, np.int64)
            return narrowest_crowd(values, self.owners, room + 1, inside, int(relative))
        if room >= len(values):
            return -1, -1
        if relative:
            low = narrowest_relative_gap(values.astype(np.float64), room)
        else:
            low = narrowest_gap(values, room)
        return low, low + room

    def frontier(self, *, relative: bool = False) -> Iterator[Point]:
        """Yield the bound for every m from 2 at which floor(members / m) changes, until it is 0."""
        m = 2
        while m <= self.members:
            bound = self.bound(m, relative=relative)
            if bound is None:
                return  # nobody else has a value
            yield Point(m, bound)
            if bound == 0:
                return
            m = self.members // (self.members // m) + 1


def _rounded(gap: Fraction) -> float:
    """Return the least number, as it is written, that is not under a gap.

    Whatever is written and strictly under it is under the gap too.
    """
    return int(gap) if gap.denominator == 1 else upward(gap)


def _between(column: Column, low: float, high: float, *, relative: bool) -> Fraction:
    """Return how far two values are apart, as they are written, less what counts as a tie.

    That matters for large decimals close together.
    """
    near, far = _written(column, low), _written(column, high)
    gap, size = far - near, max(abs(near), abs(far))
    if relative:
        gap, size = gap / size if size else Fraction(0), Fraction(1)
    assert column.values is not None
    slack = Fraction(0) if column.values.dtype == np.int64 else Fraction(TOLERANCE) * size
    return max(gap - slack, Fraction(0)) if slack > gap / 10**6 else gap


def _written(column: Column, value: float) -> Fraction:
    place = int(np.searchsorted(column.values, value))  # type: ignore[arg-type]
    if column.dates:
        return Fraction(int(column.exact[place]), column.per_day)
    return Fraction(column.spellings[place])
