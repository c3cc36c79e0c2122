"""What is known of a principle before anything is searched, and how few rows have to go for it.

Shared parts of a principle's `outlook`: what it answers with, and which rows are in the way. A
principle that bounds runs of near values by a share of the group can hold only where every run is
at most that share of the table; one that asks for even shares, only where the table as a whole
keeps it. Both conditions say exactly how few rows suffice.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import UsageError, option
from shoal.exact import written
from shoal.notation import is_number
from shoal.principles.groups import Groups
from shoal.progress import Brief

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import NDArray

    from shoal.distances.relation import Relation
    from shoal.principles.base import Principle
    from shoal.table.sensitive import Sensitive, ValueSets

    Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Limit:
    """How far one parameter can go while the others stay as asked for.

    `must` is "at most", "at least" or "under"; `limit` is None where no value is achievable, or,
    for a width, where there is no bound.
    """

    parameter: str
    must: str
    limit: float | None


HELPS = ("reason", "remedies", "suppress")  # what is said where something is not achievable


@dataclass(frozen=True, repr=False)
class Foreseen(Brief):
    """What is said before a search; of people with several rows it is necessary only.

    So it is where values are missing, for what the whole table does not decide.
    """

    people: int | None = field(default=None, kw_only=True)  # where they have several rows
    missing: int | None = field(default=None, kw_only=True)  # values, where no theorem says enough
    reason: str | None = field(default=None, kw_only=True)  # which rows are in the way, if any
    remedies: tuple[str, ...] = field(default=(), kw_only=True)  # requirements that are achievable
    suppress: str | None = field(default=None, kw_only=True)  # a share of rows to leave out
    odds: dict[str, Any] | None = field(default=None, kw_only=True)  # where they were asked for

    @property
    def necessary_only(self) -> bool:
        """Whether what is within the limits may still not be achievable."""
        return self.people is not None or self.missing is not None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, like the JSON of the command.

        What is in the way and what would help is there only where something is.
        """
        found = asdict(self)
        more = {name: found.pop(name) for name in ("people", "missing", "odds", *HELPS)}
        more = {name: value for name, value in more.items() if value}
        return found | more | ({"necessary_only": True} if self.necessary_only else {})


@dataclass(frozen=True, repr=False)
class RequirementPlan(Foreseen):
    """Whether a requirement is achievable on a table, and the limits of its parameters."""

    _brief = ("principle", "sensitive", "rows", "achievable")

    rows: int
    sensitive: tuple[str, ...]
    principle: str
    achievable: bool | None
    limits: tuple[Limit, ...]


def counts_of(sensitive: Sensitive) -> Counts:
    """Return how many rows carry each value."""
    times = sensitive.columns[0].times
    return np.bincount(sensitive.codes, weights=times, minlength=sensitive.distinct).astype(
        np.int64
    )


def thinned(
    counts: Counts, reach: NDArray[np.int32], share: Fraction, gap: int | None = None
) -> Counts:
    """Return what to take of each value so that no run is more than a share of what is left.

    With x rows gone a run may have floor(share (n - x)). The fewer it may have the more have to
    go, so x = 0, and then in turn what the last x asks for, rises to the least x that is enough.
    Missing values, of code `gap`, count in every run, so that no other is taken before them.
    """
    from shoal.kernels.windows import thin

    taken = np.zeros_like(counts)
    rows, gone = int(counts.sum()), -1
    if gap is not None and counts[gap]:
        missing, known = int(counts[gap]), counts.copy()
        known[gap] = 0
        before = np.concatenate([[0], np.cumsum(known)])
        longest = int((before[reach + 1] - before[:-1]).max())
        each = np.arange(missing + 1)
        room = (rows - each) * share.numerator // share.denominator - (missing - each)
        enough = np.flatnonzero(room >= longest)
        if not len(enough):
            taken = thinned(known, reach, share)
        taken[gap] = enough[0] if len(enough) else missing
        return taken
    needed = 0
    while needed > gone:
        gone = needed
        most = (rows - gone) * share.numerator // share.denominator
        needed = thin(counts, reach, most, taken)
    return taken


def cliques(relation: Relation, distinct: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return a class for every value, and the last class of each run that is all near.

    Ordered values form runs. Where being near is an equivalence, its classes do; elsewhere only
    those who carry one value are known to be near to one another.
    """
    from shoal.distances.relation import Band, Bits, Unsure

    values = np.arange(distinct)
    if isinstance(relation, Unsure) and isinstance(relation.values, Bits):
        known = Bits(relation.values.rows[:-1])  # none of them is near to the missing ones there
        classes, reach = cliques(known, distinct - 1)
        last = len(reach)
        return np.append(classes, last), np.append(reach, np.int32(last))
    if isinstance(relation, Unsure):
        return cliques(relation.values, distinct)
    if isinstance(relation, Band):
        return values, relation.reach
    if isinstance(relation, Bits):
        rows, classes = np.unique(relation.rows, axis=0, return_inverse=True)
        ones = np.bitwise_count(rows).sum(axis=1)
        if (ones == np.bincount(classes)).all():  # whoever is near has the same row
            return classes, np.arange(len(rows), dtype=np.int32)
    return values, np.arange(distinct, dtype=np.int32)


def most_together(
    classes: NDArray[np.int64], reach: NDArray[np.int32], sets: ValueSets, gap: int | None = None
) -> int:
    """Return the most people who have a value in one run of classes, each counted once.

    Missing values, of the last class `gap`, are in every run.
    """
    from shoal.distances.counting import most_people
    from shoal.distances.relation import Band, Unsure

    band = Band(np.arange(len(reach), dtype=np.int32), reach)
    runs = band if gap is None else Unsure(band, gap)
    whole = Groups(np.zeros(len(sets.ends) - 1, np.int64))
    of_class = replace(sets, codes=classes[sets.codes].astype(np.int32))
    return int(most_people(runs, whole, of_class)[0])


def spread_out(taken: Counts, classes: NDArray[np.int64], counts: Counts) -> Counts:
    """Divide what is taken of each class among its values, from the most frequent ones."""
    if len(taken) == len(counts):
        return taken
    each = np.zeros_like(counts)
    for one in np.flatnonzero(taken):
        inside = np.flatnonzero(classes == one)
        each[inside] = counts[inside] - levelled(counts[inside], int(taken[one]))
    return each


def levelled(counts: Counts, gone: int) -> Counts:
    """Return counts after taking so many away, one by one from the largest."""
    if gone <= 0:
        return counts
    low, high = 0, int(counts.max())  # the largest level above which there are at least so many
    while low < high:
        level = (low + high + 1) // 2
        if np.maximum(counts - level, 0).sum() >= gone:
            low = level
        else:
            high = level - 1
    left = np.minimum(counts, low)
    spare = int((counts - left).sum()) - gone
    left[np.flatnonzero(counts > low)[:spare]] += 1
    return left


def holds_with(principle: Principle, sensitive: Sensitive, counts: Counts) -> bool:
    """Say whether a table with so many rows of each value keeps a principle as one group."""
    if not counts.any():
        return False
    codes = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    group = Groups(np.zeros(len(codes), np.int64))
    return principle.measure(group, replace(sensitive, codes=codes)).holds


def missing_first(principle: Principle, sensitive: Sensitive) -> Counts:
    """Return what to take where values are missing: as few of these as can be, or all and others.

    A missing value counts as the most frequent one, so without one of them a table is no less
    diverse than without any other row.
    """
    assert sensitive.gap is not None
    counts = counts_of(sensitive)
    missing = int(counts[sensitive.gap])

    def without(gone: int) -> Counts:
        left = counts.copy()
        left[sensitive.gap] -= gone
        return left

    if not holds_with(principle, sensitive, without(missing)):
        taken = np.append(principle.must_go(sensitive.known), missing)
        return taken if taken[:-1].any() else np.zeros_like(counts)  # it would not help
    low, high = 0, missing
    while low < high:
        gone = (low + high) // 2
        if holds_with(principle, sensitive, without(gone)):
            high = gone
        else:
            low = gone + 1
    return counts - without(high)


def highest_level(counts: Counts, enough: Callable[[Counts], bool]) -> int:
    """Return the highest level to which counts are cut down so that they are enough, or 0."""
    low, high = 0, int(counts.max())
    while low < high:
        level = (low + high + 1) // 2
        if enough(np.minimum(counts, level)):
            low = level
        else:
            high = level - 1
    return low


def check_odds(odds: float) -> Fraction:
    """Return how many times as likely as another a row may be to a reader."""
    if not is_number(odds) or not 1 <= odds < math.inf:
        msg = f"{option('odds')} must be a number of at least 1. Got {odds!r}."
        raise UsageError(msg)
    return written(odds)
