"""What every principle knows: parameters, family, source, and how to measure groups.

What a search has to check in a bucket it hands to the kernels as plain arrays, a `Demand`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from shoal.distances.relation import Band, Relation, most_near
from shoal.errors import InputError, UsageError, option
from shoal.exact import at_most, written
from shoal.kernels.compiling import RUN
from shoal.notation import Term, is_number
from shoal.principles.groups import Groups, Measurement
from shoal.principles.must_go import cliques, counts_of, most_together, spread_out, thinned
from shoal.table.partition import renumber

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.principles.requirement import Requirement
    from shoal.table.coded import Sensitive


@dataclass(frozen=True)
class GuessBound:
    """How often at most a reader who knows a person's group guesses a value to within a width.

    `listed` is for guesses of values that the group lists, `any` for all guesses. The reader
    considers every row of the group equally likely. A `relative` width is a share of the guess.
    """

    width: float
    listed: Fraction
    any: Fraction
    relative: bool = False


class Principle(Term):
    """A requirement on every group of a release."""

    role = "requirement"
    monotone: ClassVar[bool]  # whether it survives the union of groups
    numeric: ClassVar[bool] = False  # whether it is about one numeric column
    columns: ClassVar[int] = 1  # how many sensitive columns it needs at least
    population: ClassVar[bool] = False  # whether it needs a table of everybody
    looser: ClassVar[tuple[str, ...]] = ()  # parameters that ask for less as they grow
    sizes_only: ClassVar[bool] = False  # whether it asks for so many members and nothing else
    disjoint: ClassVar[bool] = False  # whether no two descriptions may fit one person
    chance: ClassVar[bool] = False  # whether its risk is the chance of a right guess
    by_itself: ClassVar[bool] = True  # whether a group is judged without the rest of the table
    scaled: ClassVar[bool] = False  # whether the table decides how near two values are
    unjudged: ClassVar[str | None] = None  # why it cannot be judged where values are missing
    source: ClassVar[str]
    graded: ClassVar[tuple[str, ...]]  # the parameters that `strongest` measures

    @property
    def levels(self) -> tuple[Any, ...]:
        """What the graded parameters are."""
        return tuple(getattr(self, name) for name in self.graded)

    @property
    def rising(self) -> bool:
        """Whether a larger graded parameter asks for more."""
        return not set(self.graded) <= set(self.looser)

    @property
    def least(self) -> int:
        """The least size of a group that can hold."""
        return 1

    @property
    def guess(self) -> GuessBound | None:
        """How near guesses are bounded by it, None where it bounds no guess."""
        return None

    def numbers_of(self, count: int) -> tuple[bool, ...]:
        """Return which of the so many sensitive columns it is about have to be numeric."""
        return (self.numeric,) * count

    def check_missing(self, sensitive: Sensitive | None) -> None:
        """Raise where values are missing, and it cannot be judged then."""
        if self.unjudged is None or sensitive is None or sensitive.gap is None:
            return
        msg = (
            f"{self!r} cannot be checked, because values of {sensitive.name} are missing: "
            f"{self.unjudged}. Fill them in, leave those rows out with "
            f"{option('missing', 'drop')}, or require something else."
        )
        raise InputError(msg)

    def measure(self, groups: Groups, sensitive: Sensitive | None) -> Measurement:
        """Measure every group.

        A missing value counts as whichever value is worst for its group.
        """
        raise NotImplementedError

    def measure_matches(self, matches: NDArray[np.int64]) -> Measurement:
        """Measure the published rows that each person matches, where there are no groups."""
        raise NotImplementedError

    def strongest(self, groups: Groups, sensitive: Sensitive | None) -> Self | None:
        """Return the principle at the strongest level that holds on groups, None for none.

        The level is that of the parameters in `graded`; all others stay as they are. It is a
        number that, as it is written, holds: what is measured is rounded to the safe side.
        """
        raise NotImplementedError

    def instead(self, rows: int, sensitive: Sensitive | None) -> Self | None:
        """Return it at a level that so many rows can keep, all together, None where none is known.

        The strongest one, if it survives the union of groups. Fewer members or values are asked
        for only where there are no more. Of people who have no values at all nothing is told, and
        no number of 1, which would promise nothing.
        """
        if self.population:
            return None
        if sensitive is not None and sensitive.several and not len(sensitive.sets.codes):
            return None
        whole = Groups(np.zeros(rows, np.int64))
        counts = {rows} if sensitive is None else {rows, sensitive.distinct}
        names = [one.name for one in fields(self) if one.name in {"k", "l"}]  # type: ignore[arg-type]
        fewer = [
            replace(self, **{name: min(getattr(self, name), count)})  # type: ignore[type-var]
            for name in names
            for count in sorted(counts, reverse=True)
        ]
        found = (one.strongest(whole, sensitive) for one in (self, *fewer))
        best = next((one for one in found if one is not None), None)
        if best is None or min(getattr(best, name, 2) for name in ("k", "l", "m")) <= 1:
            return None
        return best

    def must_go(self, sensitive: Sensitive) -> NDArray[np.int64]:
        """Return how many rows of each value have to go, few as can be, before it can hold.

        None where it can hold, and where leaving out rows would not help.
        """
        return np.zeros(sensitive.distinct, np.int64)

    def crowd(self, sensitive: Sensitive) -> int:
        """Return how many people have near values, where too many do for it ever to hold.

        0 where that is not known. Raises where it is not defined for several values a person.
        """
        msg = (
            f"{self!r} is defined for one value a person, and some people have several values of "
            f"{sensitive.name}, or none: whoever has many would make a group seem more diverse "
            "than it is. "
            "Ask for what counts people, as FrequencyL or EpsilonM do, or publish one row of each: "
            f"{option('most_rows', 1)}."
        )
        raise UsageError(msg)

    def promise(self, column: str) -> str:
        """Say in plain words what the principle promises about a column."""
        raise NotImplementedError

    def promise_in(self, column: str, unit: str) -> str:  # noqa: ARG002 - only widths have one
        """Say the same with a unit after each width; `days` for a column of dates."""
        return self.promise(column)

    def promise_matches(self, column: str) -> str:
        """Say in plain words what a release without groups promises about a column."""
        return self.promise(column)

    def on(self, *columns: str) -> Requirement:
        """Require this of the named sensitive columns instead of all of them together."""
        from shoal.principles.requirement import Requirement

        return Requirement(self, columns)


def check_odds(odds: float) -> Fraction:
    """Return how many times as likely as another a row may be to a reader."""
    if not is_number(odds) or not 1 <= odds < math.inf:
        msg = f"{option('odds')} must be a number of at least 1. Got {odds!r}."
        raise UsageError(msg)
    return written(odds)


class Pairwise(Principle):
    """For every member v, a bounded number of members, v itself included, is proximate to v.

    One risk, one audit and one exchange engine serve all of them. Where members are people of whom
    some have several values, it is for every value v of theirs that a bounded number of members
    has a value proximate to v.
    """

    by_distance: ClassVar[bool] = False  # whether any distance may say who is near

    @property
    def symmetric(self) -> bool:
        """Whether being near is mutual."""
        return True

    def relation(self, sensitive: Sensitive) -> Relation:
        """Return who is proximate to whom."""
        raise NotImplementedError

    @property
    def bound(self) -> Fraction:
        """The largest risk allowed."""
        raise NotImplementedError

    @property
    def listed(self) -> Fraction:
        """The largest share of a group that may be near to a value it lists, its own included."""
        return self.bound

    def at_odds(self, odds: Fraction) -> Fraction:
        """Return how likely a near value is at most to a reader who prefers some rows to others.

        Where no row of a group is more than c times as likely as another, and t of s rows are near,
        that is c t / (c t + s - t): near rows have the upper weight, all others the lower.
        """
        return odds * self.listed / (odds * self.listed + 1 - self.listed)

    def allowed(self, size: int) -> int:
        """Return how many members of a group of this size may be near to one of them."""
        return size * self.bound.numerator // self.bound.denominator

    def searched(self, size: int) -> int:
        """Return how many a search lets be near, where that is enough for a group to hold."""
        return self.allowed(size)

    def used(self, size: int) -> Fraction:
        """Return how much of the bound whole members use in a group of this size, 0 for none."""
        count = self.searched(size)
        return Fraction(count, size) / self.bound if count >= 1 else Fraction(0)

    def largest_share(self, rows: int) -> Fraction:
        """Return the largest share of a group, of so many rows at most, that may be near.

        That is the bound itself where its denominator divides a size.
        """
        most = max(rows, self.least)
        if most // self.bound.denominator * self.bound.denominator >= self.least:
            return self.bound
        return self.share_by_size(rows)

    def share_by_size(self, rows: int) -> Fraction:
        """Return the same, size by size."""
        sizes = range(self.least, max(rows, self.least) + 1)
        return max(Fraction(self.allowed(size), size) for size in sizes)

    def must_go(self, sensitive: Sensitive) -> NDArray[np.int64]:
        """Return what is too much of each value for rows that are all near to one another.

        Where c of n rows are, some group of size s has at least c s / n of them. That much is
        necessary; whether it is enough no simple condition says.
        """
        classes, reach = cliques(self.relation(sensitive), sensitive.distinct)
        counts = counts_of(sensitive)
        of_class = np.bincount(classes, weights=counts).astype(np.int64)
        share = self.largest_share(int(counts.sum()))
        gap = None if sensitive.gap is None else int(classes[sensitive.gap])
        return spread_out(thinned(of_class, reach, share, gap), classes, counts)

    def crowd(self, sensitive: Sensitive) -> int:
        """Return how many people have values that are all near to one another, where too many do.

        Of c of n people, some group of size s has at least c s / n, who are all near to the value
        of any of them. So c has to be at most `largest_share` of n; that is necessary, and where
        people have several values it is not enough.
        """
        classes, reach = cliques(self.relation(sensitive), sensitive.distinct)
        gap = None if sensitive.gap is None else int(classes[sensitive.gap])
        found = most_together(classes, reach, sensitive.sets, gap)
        people = len(sensitive.members)
        return found if found > people * self.largest_share(people) else 0

    def reached(self, measured: Measurement) -> str:
        """Say in the principle's own letters what a measurement keeps."""
        return f"a risk of {at_most(measured.risk)}"

    def measure(self, groups: Groups, sensitive: Sensitive | None) -> Measurement:
        """Measure the risk of proximity breach, x / |G| (EM Definition 5)."""
        assert sensitive is not None
        counts = most_near(self.relation(sensitive), groups, sensitive)
        return Measurement(counts, groups.sizes, groups.sizes, self.bound, self.least)


class Searchable(Principle):
    """A principle whose groups top-down splitting can check one by one."""

    def demand(self, sensitive: Sensitive) -> Demand:
        """Return what a bucket has to keep; where the principle is monotone, that it holds."""
        raise NotImplementedError


class Ordered(Searchable):
    """A principle whose relation is a band of codes, so that top-down splitting can predict it.

    A group can be made to hold (or, where the principle is monotone, holds) exactly when the
    longest run of near values is at most `bound` of it.
    """

    bound: Fraction
    counted: ClassVar[bool] = True  # whether it holds where few enough are near to each member

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
    share_name: ClassVar[str] = "m"
    width_name: ClassVar[str] = "epsilon"
    graded: ClassVar[tuple[str, ...]] = ("m",)
    width_scale: ClassVar[int] = 1  # how many times the named width two near values may be apart

    @property
    def share(self) -> int:
        """The m of the principle: at most |G| / m members may be near."""
        raise NotImplementedError

    @property
    def bound(self) -> Fraction:  # type: ignore[override]
        """The largest risk allowed."""
        return Fraction(1, self.share)

    def strongest(self, groups: Groups, sensitive: Sensitive | None) -> Self:
        """Return it with the largest m (or l) that holds for its neighbourhoods."""
        most = int(1 / self.measure(groups, sensitive).risk)
        return replace(self, **{self.share_name: most})  # type: ignore[type-var]

    @property
    def least(self) -> int:
        """A value is near itself, so a group that holds has m members."""
        return self.share


FINEST = 2**31  # a bound with a larger denominator is rounded to one of these, down


@dataclass(frozen=True, eq=False)
class Demand:
    """A principle on one value of one table, ready for `kernels/demands.py`.

    `kind` chooses the check; `bound`, `count` and `level` are its parameters and `table` its
    numbers, one or several for each of the codes 0 … values - 1.
    """

    kind: int
    codes: NDArray[np.int32]
    values: int
    table: NDArray[np.float64]
    bound: Fraction = Fraction(1)
    count: int = 0
    level: float = 0.0

    @property
    def ratio(self) -> tuple[int, int]:
        """The bound in numbers of few bits, never above it; no share or gain is above FINEST."""
        if self.bound > FINEST:
            return FINEST, 1
        if self.bound.denominator <= FINEST:
            return self.bound.as_integer_ratio()
        return int(self.bound * FINEST), FINEST


def counted(codes: NDArray) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return codes renumbered over those that occur, and how often each of them does."""
    present = renumber(codes)
    return present.astype(np.int32), np.bincount(present).astype(np.int64)
