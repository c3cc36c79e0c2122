"""How often one value may occur: frequency l-diversity, (α,k)-anonymity and m-uniqueness."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np

from shoal.distances.counting import most_near
from shoal.distances.relation import Band, equality, unsure
from shoal.exact import at_most, upward
from shoal.notation import exact, number, whole_number
from shoal.principles.base import Pairwise
from shoal.principles.foresight import Limit
from shoal.principles.groups import Groups, GuessBound, Measurement
from shoal.principles.ordered import Ordered

if TYPE_CHECKING:
    from shoal.distances.relation import Relation
    from shoal.principles.groups import Groups
    from shoal.table.sensitive import Sensitive


GUESS = "Limit the chance of guessing {column}"
GUESSED = ("Highest acceptable chance of guessing {column}", "1 in ")


class _Frequency(Ordered, Pairwise):
    """A bound on the share of a group that carries one value."""

    monotone = True
    chance = True

    @property
    def guess(self) -> GuessBound:
        """A guess is right where the value is the same."""
        return GuessBound(0, self.bound, self.bound)

    def band(self, sensitive: Sensitive) -> Band:
        """Return the relation in which only equal values are near."""
        return equality(sensitive.distinct)

    def relation(self, sensitive: Sensitive) -> Relation:
        """Return the relation in which only equal values are near, and missing ones to all."""
        return unsure(self.band(sensitive), sensitive)


@dataclass(frozen=True, repr=False)
class FrequencyL(_Frequency):
    """Frequency l-diversity: no value is carried by more than 1/l of a group.

    It survives the union of groups: a share of the union lies between the shares of its parts.

    References
    ----------
    Xiao, Tao: Anatomy. VLDB 2006.
    """

    l: int

    graded = ("l",)
    source = "Xiao, Tao, VLDB 2006"
    aim = GUESS
    knobs = (("l", *GUESSED),)
    start = "l={most}"

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", whole_number(self, "l", self.l, least=1))

    @property
    def bound(self) -> Fraction:  # type: ignore[override]
        """The largest share of one value."""
        return Fraction(1, self.l)

    @property
    def least(self) -> int:
        """A group that holds has at least l different values."""
        return self.l

    def strongest(self, groups: Groups, sensitive: Sensitive | None) -> Self:
        """Return it with the largest l that holds."""
        return replace(self, l=int(1 / self.measure(groups, sensitive).risk))

    def promise(self, column: str) -> str:
        """Say it in plain words."""
        return (
            f"Whatever value of {column} a reader guesses for a person, the guess is right with a "
            f"chance of at most 1 in {self.l}."
        )


@dataclass(frozen=True, repr=False)
class AlphaK(_Frequency):
    """(α,k)-anonymity: groups of at least k in which no value has more than a share of α.

    It survives the union of groups, as `FrequencyL` and `KAnonymity` do.

    References
    ----------
    Wong, Li, Fu, Wang: (α,k)-Anonymity. KDD 2006.
    """

    alpha: float
    k: int

    graded = ("alpha",)
    looser = ("alpha",)
    source = "Wong, Li, Fu, Wang, KDD 2006"
    aim = "Limit the chance of guessing {column}, and of identifying a person’s row"
    knobs = (
        ("k", "Minimum group size", ""),
        ("alpha", "Highest share of a group that may have one {column}", ""),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", number(self, "alpha", self.alpha, most=1, positive=True))
        object.__setattr__(self, "k", whole_number(self, "k", self.k, least=1))

    @property
    def bound(self) -> Fraction:  # type: ignore[override]
        """The largest share of one value."""
        return exact(self.alpha)

    @property
    def least(self) -> int:
        """The least size of a group: k, and enough for one member to be a share of α."""
        share = exact(self.alpha)
        return max(self.k, -(-share.denominator // share.numerator))

    def strongest(self, groups: Groups, sensitive: Sensitive | None) -> Self | None:
        """Return it with the least α that holds, in groups of at least k."""
        if groups.sizes.min() < self.k:
            return None
        return replace(self, alpha=upward(self.measure(groups, sensitive).risk))

    def limits(self, value: Sensitive | None, rows: int) -> tuple[Limit, ...]:
        """Return that groups can be as large as the table, and the least α."""
        return (Limit("k", "at most", rows), *super().limits(value, rows))

    def promise(self, column: str) -> str:
        """Say it in plain words."""
        return (
            f"Every group has at least {self.k} people, and whatever value of {column} a reader "
            "guesses for a person, the guess is right with a chance of at most "
            f"{at_most(100 * exact(self.alpha))}%."
        )


@dataclass(frozen=True, repr=False)
class MUniqueness(Pairwise):
    """Every group has at least m members, and all their values are different.

    The static part of m-invariance. The risk is (c - 1) / |G|, where c members carry the most
    frequent value; the bound is 0. Two groups may share values, so it does not survive their
    union.

    References
    ----------
    Xiao, Tao: m-Invariance. SIGMOD 2007. Definition 2.
    """

    m: int

    monotone = False
    scale = "share of the others with the same value"
    graded = ("m",)
    source = "Xiao, Tao, SIGMOD 2007"
    aim = GUESS
    knobs = (("m", *GUESSED),)
    unjudged = "a missing value may be the same as any other of its group"

    def __post_init__(self) -> None:
        object.__setattr__(self, "m", whole_number(self, "m", self.m, least=1))

    @property
    def least(self) -> int:
        """The least size of a group."""
        return self.m

    @property
    def bound(self) -> Fraction:
        """The largest risk allowed: nobody shares a value."""
        return Fraction(0)

    @property
    def listed(self) -> Fraction:
        """The largest share of a group that has one value: one of m."""
        return Fraction(1, self.m)

    @property
    def guess(self) -> GuessBound:
        """A guess is right where the value is the same."""
        return GuessBound(0, self.listed, self.listed)

    def allowed(self, size: int) -> int:  # noqa: ARG002 - the same for all sizes
        """Return 1: a member is equal to itself alone."""
        return 1

    def used(self, size: int) -> Fraction:
        """Return 1 / |G|: the smaller a group, the more room it leaves."""
        return Fraction(1, size)

    def largest_share(self, rows: int) -> Fraction:  # noqa: ARG002 - the smallest group's
        """Return 1/m: of the smallest group, one member."""
        return Fraction(1, self.m)

    def relation(self, sensitive: Sensitive) -> Band:
        """Return the relation in which only equal values are near."""
        return equality(sensitive.distinct)

    def measure(self, groups: Groups, sensitive: Sensitive | None) -> Measurement:
        """Measure (c - 1) / |G|."""
        assert sensitive is not None
        self.check_missing(sensitive)
        counts = most_near(self.relation(sensitive), groups, sensitive)
        return Measurement(counts - 1, groups.sizes, groups.sizes, self.bound, self.least)

    def instead(self, rows: int, sensitive: Sensitive | None) -> Self | None:
        """Return it for as many members as groups can have where each takes one of the commonest.

        Rows in the order of their values, dealt to that many groups, differ within each.
        """
        if sensitive is None or sensitive.several:
            return None
        return replace(self, m=rows // int(np.bincount(sensitive.codes).max()))

    def achievable(self, value: Sensitive | None, rows: int) -> bool:
        """Say whether no value is carried by more than n / m rows.

        Those are then dealt out one by one in the order of their values.
        """
        assert value is not None
        return self.m <= rows // int(np.bincount(value.codes).max())

    def limits(self, value: Sensitive | None, rows: int) -> tuple[Limit, ...]:
        """Return the largest m."""
        assert value is not None
        return (Limit("m", "at most", rows // int(np.bincount(value.codes).max())),)

    def strongest(self, groups: Groups, sensitive: Sensitive | None) -> Self | None:
        """Return it for the size of the smallest group, None where two members share a value."""
        if self.measure(groups, sensitive).risk > 0:
            return None
        return replace(self, m=int(groups.sizes.min()))

    def promise(self, column: str) -> str:
        """Say it in plain words."""
        return (
            f"Every group has at least {self.m} people, all with different values of {column}, so "
            f"any guess is right with a chance of at most 1 in {self.m}. This covers a single "
            "release only."
        )
