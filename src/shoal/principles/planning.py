"""What is achievable on a table, before anything is searched.

EM Theorem 1: m is achievable for a neighbourhood exactly when m <= floor(n / maxsize). Theorem 2:
ε is achievable for m exactly when it stays strictly under the narrowest gap over floor(n / m)
places of the sorted values. Both need only that the neighbourhoods are monotone, so they hold for
relative ones, for (δ,l)-diversity and for windows too.

Missing values count in every run, so a run of r values beside q missing ones needs r + q <= n / m.
That is necessary. For windows it is enough, because the whole table then holds as one group; for
others a group has to take in a missing one that its values have no room for, so what is within
these limits may still not be achievable.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.distances.bands import TOLERANCE
from shoal.exact import upward
from shoal.principles.base import OneDimensional, Pairwise, Principle, check_odds
from shoal.principles.dissimilarity import Dissimilarity
from shoal.principles.groups import Groups
from shoal.principles.guarantee import Guarantee, guarantee, largest_epsilon
from shoal.principles.outlook import HELPS, Foreseen, Limit, Outlook, outlook
from shoal.principles.proximity import EpsilonM
from shoal.showing import Shown
from shoal.table.coded import Sensitive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from shoal.principles.base import Principle
    from shoal.table.column import Column


@dataclass(frozen=True)
class Point:
    """One point of the frontier: for m, the value that ε must stay strictly under."""

    m: int
    epsilon_bound: float


@dataclass(frozen=True)
class Plan(Foreseen, Shown):
    """What is achievable for one numeric sensitive column; None where it was not asked.

    What is in the way of it, and would help, is for people; the plain values are as they were.
    """

    rows: int
    sensitive: str
    relative: bool
    epsilon: float | None
    m: int | None
    achievable: bool | None
    largest_m: int | None
    epsilon_bound: float | None
    frontier: tuple[Point, ...] | None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, as the command prints it in JSON."""
        return {name: value for name, value in super().to_dict().items() if name not in HELPS}


def at_odds(principle: Principle, odds: float) -> dict[str, Any]:
    """Return what a requirement bounds where some rows of a group seem more likely than others.

    `bound` is of the chance of a near value; where one in `m` rows may be near, the chance is what
    the requirement bounds without odds. Both are None for what is not pairwise.
    """
    given = check_odds(odds)
    if not isinstance(principle, Pairwise):
        return {"odds": odds, "bound": None, "m": None}
    needed = math.ceil(1 + given * (1 / principle.listed - 1))
    return {"odds": odds, "bound": upward(principle.at_odds(given)), "m": needed}


def maxsize(column: Column, principle: OneDimensional) -> int:
    """Return the longest run of near values in the whole column (EM Definition 11)."""
    known, missing = _counts(column)
    before = np.concatenate([[0], np.cumsum(known)])
    reach = principle.band(Sensitive.of((column,))).reach[: len(known)]
    return int((before[reach + 1] - before[:-1]).max()) + missing


def _counts(column: Column) -> tuple[NDArray[np.int64], int]:
    """Return how many rows have each value, and how many have none."""
    counts = column.counts
    return counts[: column.gap], 0 if column.gap is None else int(counts[column.gap])


def largest_share(column: Column, principle: OneDimensional) -> int:
    """Return the largest m (or l) that is achievable for the neighbourhood (EM Theorem 1)."""
    return column.rows // maxsize(column, principle)


def width_bound(column: Column, m: int, *, relative: bool = False) -> float | None:
    """Return what the width must stay strictly under for m (EM Theorem 2), None for no bound.

    The minimizing pair is found in doubles, its gap is then taken from the decimals as written.
    """
    return rounded_gap(_gap(_sorted_values(column), column, m, relative=relative))


def _sorted_values(column: Column) -> NDArray:
    assert column.values is not None
    return np.repeat(column.values, _counts(column)[0])


def rounded_gap(gap: Fraction | None) -> float | None:
    """Return the least number, as it is written, that is not under a gap.

    Whatever is written and strictly under it is under the gap too.
    """
    if gap is None:
        return None
    return int(gap) if gap.denominator == 1 else upward(gap)


def _gap(values: NDArray, column: Column, m: int, *, relative: bool) -> Fraction | None:
    from shoal.kernels.windows import narrowest_gap, narrowest_relative_gap

    step = column.rows // m - _counts(column)[1]
    if step <= 0:
        return Fraction(0)
    if step >= len(values):
        return None
    find = narrowest_relative_gap if relative else narrowest_gap
    low = find(values.astype(np.float64) if relative else values, step)
    return gap_between(column, values[low], values[low + step], relative=relative)


def gap_between(column: Column, low: Any, high: Any, *, relative: bool) -> Fraction:
    """Return how far two values of a column are apart, as they are written."""
    near, far = _written(column, low), _written(column, high)
    gap = far - near
    if relative:
        size = max(abs(near), abs(far))
        gap = gap / size if size else Fraction(0)
    assert column.values is not None
    return _less_ties(gap, near, far, relative=relative, whole=column.values.dtype == np.int64)


def _less_ties(
    gap: Fraction, near: Fraction, far: Fraction, *, relative: bool, whole: bool
) -> Fraction:
    """Return a gap less what counts as a tie, where that matters: large decimals close together."""
    size = Fraction(1) if relative else max(abs(near), abs(far))
    slack = Fraction(0) if whole else Fraction(TOLERANCE) * size
    if slack > gap / 10**6:
        gap = max(gap - slack, Fraction(0))
    return gap


def _written(column: Column, value: float) -> Fraction:
    place = int(np.searchsorted(column.values, value))  # type: ignore[arg-type]
    if column.dates:
        return Fraction(int(column.exact[place]), column.per_day)
    return Fraction(column.spellings[place])


def points_of(members: int, bound_of: Callable[[int], float | None]) -> Iterator[Point]:
    """Yield the bound for every m from 2 at which floor(members / m) changes, until it is 0."""
    m = 2
    while m <= members:
        bound = bound_of(m)
        if bound is None:
            return  # nobody else has a value
        yield Point(m, bound)
        if bound == 0:
            return
        m = members // (members // m) + 1


def frontier(column: Column, *, relative: bool = False) -> Iterator[Point]:
    """Yield the frontier of the rows of a column."""
    values = _sorted_values(column)
    return points_of(column.rows, lambda m: rounded_gap(_gap(values, column, m, relative=relative)))


def _width_gap(column: Column, principle: OneDimensional) -> Fraction | None:
    """Return what the width must stay strictly under, in the principle's own parameter."""
    relative = getattr(principle, "relative", False)
    gap = _gap(_sorted_values(column), column, principle.share, relative=relative)
    return None if gap is None else gap / principle.width_scale


def _width_outlook(principle: OneDimensional, column: Column) -> Outlook:
    """Return what EM's theorems say of a principle about near numbers."""
    most = largest_share(column, principle)
    width = rounded_gap(_width_gap(column, principle))
    limits = (
        Limit(principle.share_name, "at most", most),
        Limit(principle.width_name, "under", width),
    )
    return Outlook(
        column.rows,
        (column.name,),
        repr(principle),
        _achievable(principle, column, most),
        limits,
        missing=None if principle.monotone else _missing(column),
    )


def _missing(column: Column) -> int | None:
    """Return how many values are missing, None for none."""
    return _counts(column)[1] or None


def _achievable(principle: OneDimensional, column: Column, most: int) -> bool | None:
    """Say whether m is achievable where it may be `most`; None where a search has to tell.

    Where values are missing, it is tried on groups that the sorted values are dealt to in turn.
    """
    if principle.share > most or principle.monotone or _missing(column) is None:
        return principle.share <= most
    rows = column.rows
    codes = np.repeat(np.arange(column.distinct, dtype=np.int32), column.counts)
    value = replace(Sensitive.of((column,)), codes=codes)
    parts = rows // principle.share
    while parts > 0:
        if principle.measure(Groups(np.arange(rows) % parts), value).holds:
            return True
        parts //= 2
    return None


def plan_column(column: Column, *, epsilon: float | None, m: int | None, relative: bool) -> Plan:
    """Answer what is asked about a coded numeric column."""
    principle = EpsilonM(
        epsilon=0 if epsilon is None else epsilon, m=1 if m is None else m, relative=relative
    )
    most = None if epsilon is None else largest_share(column, principle)
    return Plan(
        rows=column.rows,
        sensitive=column.name,
        relative=relative,
        epsilon=epsilon,
        m=m,
        achievable=None if most is None or m is None else _achievable(principle, column, most),
        largest_m=most,
        epsilon_bound=None if m is None else width_bound(column, m, relative=relative),
        frontier=tuple(frontier(column, relative=relative))
        if epsilon is None and m is None
        else None,
        missing=_missing(column),
    )


def plan_requirement(
    principle: Principle, value: Sensitive | None, rows: int
) -> Guarantee | Outlook:
    """Say what is known about a principle on the value that it is about."""
    principle.check_missing(value)
    if value is not None and isinstance(principle, Dissimilarity):
        known = guarantee(principle, value)
        return replace(known, largest_epsilon=largest_epsilon(principle, value))
    if value is not None and isinstance(principle, OneDimensional):
        return _width_outlook(principle, value.columns[0])
    return outlook(principle, value, rows)
