"""What every principle knows: parameters, family, source, and how to measure groups.

What a search has to check in a bucket it hands to the kernels as plain arrays, a `Demand`.
"""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from shoal.distances.counting import most_near
from shoal.errors import InputError, UsageError, option
from shoal.exact import WHOLE, at_most
from shoal.notation import Term
from shoal.principles.foresight import (
    Limit,
    RequirementPlan,
    cliques,
    counts_of,
    most_together,
    spread_out,
    thinned,
)
from shoal.principles.groups import Demand, Groups, GuessBound, Measurement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shoal.distances.relation import Relation
    from shoal.principles.ordered import OneDimensional, Ordered
    from shoal.principles.requirement import Requirement
    from shoal.table.sensitive import Sensitive


class Principle(Term):
    """A requirement on every group of a release."""

    role = "requirement"
    monotone: ClassVar[bool]  # whether it survives the union of groups
    numeric: ClassVar[bool] = False  # whether it is about one numeric column
    columns: ClassVar[int] = 1  # how many sensitive columns it needs at least
    population: ClassVar[bool] = False  # whether it needs a table of everybody
    looser: ClassVar[tuple[str, ...]] = ()  # parameters that require less as they grow
    sizes_only: ClassVar[bool] = False  # whether it asks for so many members and nothing else
    disjoint: ClassVar[bool] = False  # whether no two descriptions may fit one person
    chance: ClassVar[bool] = False  # whether its risk is the chance of a right guess
    strict: ClassVar[bool] = False  # whether its risk has to stay under its bound
    scale: ClassVar[str] = ""  # what its risk is, where that is no chance
    by_itself: ClassVar[bool] = True  # whether a group is judged without the rest of the table
    scaled: ClassVar[bool] = False  # whether the table decides how near two values are
    unjudged: ClassVar[str | None] = None  # why it cannot be judged where values are missing
    source: ClassVar[str]
    graded: ClassVar[tuple[str, ...]]  # the parameters that `strongest` measures
    aim: ClassVar[str]  # what the page says that it is for
    knobs: ClassVar[
        tuple[tuple[str, str, str], ...]
    ]  # parameter, what it asks for, before a number
    start: ClassVar[str | None] = None  # the parameters that the page begins with, if it offers it

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

    def guess_of(self, count: int) -> GuessBound | None:  # noqa: ARG002 - only distances count
        """How guesses of so many columns together are bounded, in the units of its own distance."""
        return self.guess

    @property
    def pairs(self) -> Pairwise | None:
        """Itself, where it says who is near to whom."""
        return None

    @property
    def ordered(self) -> Ordered | None:
        """Itself, where near values are a run of them."""
        return None

    @property
    def widths(self) -> OneDimensional | None:
        """Itself, where it says how far apart near numbers are."""
        return None

    @property
    def searchable(self) -> Searchable | None:
        """Itself, where top-down splitting can check a group by itself."""
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
            f"{self!r} is defined for one value per person, and some people have several values of "
            f"{sensitive.name}, or none: a person with many would make a group seem more diverse "
            "than it is. "
            "Require what counts people, for example FrequencyL or EpsilonM, or publish one row "
            f"of each: {option('most_rows', 1)}."
        )
        raise UsageError(msg)

    def outlook(
        self, value: Sensitive | None, rows: int, *, people: int | None = None
    ) -> RequirementPlan:
        """Say what is known beforehand of so many rows: whether it can hold, and how far it can go.

        `people` is given where they have several rows: then what is said is necessary only. Raises
        where it is not defined for several values a person.
        """
        if people is None:
            self.check_missing(value)
            achievable, limits = self.achievable(value, rows), self.limits(value, rows)
        else:
            crowd = self.crowd(value) if value is not None else 0
            achievable = False if crowd or self.least > people else None
            limits = self.limits_of_people(value, people)
        names = () if value is None else tuple(column.name for column in value.columns)
        return RequirementPlan(rows, names, repr(self), achievable, limits, people=people)

    def achievable(self, value: Sensitive | None, rows: int) -> bool | None:
        """Say whether a table can keep it, None where that is not known.

        What survives the union of groups can hold exactly where the whole table, taken as one
        group, keeps it: joining all groups of a release that holds gives that group.
        """
        return self.measure(Groups(np.zeros(rows, np.int64)), value).holds

    def limits_nothing(self, value: Sensitive | None, rows: int) -> bool:
        """Say whether everybody may be alone in a group: its bound is 1, every guess is right."""
        if self.least > 1 or not self.by_itself:
            return False
        return self.measure(Groups(np.arange(rows)), value).holds

    def limits(self, value: Sensitive | None, rows: int) -> tuple[Limit, ...]:
        """Return how far its parameters can go: the level of the whole table is the strongest."""
        (parameter,) = self.graded
        found = self.strongest(Groups(np.zeros(rows, np.int64)), value)
        level = None if found is None else getattr(found, parameter)
        if isinstance(level, float) and level.is_integer() and abs(level) < WHOLE:
            level = int(level)
        return (Limit(parameter, "at most" if self.rising else "at least", level),)

    def limits_of_people(self, value: Sensitive | None, people: int) -> tuple[Limit, ...]:
        """Return what is necessary of its parameters where people have several rows."""
        if value is not None or len(self.graded) != 1:
            return ()
        return (Limit(self.graded[0], "at most", people),)

    def pictured(self, value: Sensitive) -> dict[str, Any]:  # noqa: ARG002 - few families are
        """Return what a report draws of what is achievable: what it is called, and its points."""
        return {}

    def page(self, columns: Sequence[str]) -> dict[str, Any]:
        """Return what the page calls it, and each of its parameters with what stands before it."""
        column = " and ".join(columns) or "the value"
        knobs = {name: (asked.format(column=column), said) for name, asked, said in self.knobs}
        return {"aim": self.aim.format(column=column), "knobs": knobs}

    def judged(self, measured: Measurement) -> str:
        """Say what was measured at worst, and what is allowed."""
        return measured.judged(self.scale, strict=self.strict)

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


class Pairwise(Principle):
    """For every member v, a bounded number of members, v itself included, is proximate to v.

    One risk, one audit and one exchange engine serve all of them. Where members are people of whom
    some have several values, it is for every value v of theirs that a bounded number of members
    has a value proximate to v.
    """

    by_distance: ClassVar[bool] = False  # whether any distance may say who is near

    @property
    def pairs(self) -> Self:
        """It says who is near to whom."""
        return self

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

    @property
    def searchable(self) -> Self:
        """A group is checked by its demand."""
        return self

    def demand(self, sensitive: Sensitive) -> Demand:
        """Return what a bucket has to keep; where the principle is monotone, that it holds."""
        raise NotImplementedError
