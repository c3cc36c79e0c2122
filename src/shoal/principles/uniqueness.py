"""m-uniqueness: all sensitive values of a group are different."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from shoal.notation import whole_number
from shoal.principles.base import Pairwise
from shoal.principles.groups import Groups, Measurement
from shoal.relations.forms import Band, equality, most_near

if TYPE_CHECKING:
    from shoal.schema.sensitive import Sensitive


@dataclass(frozen=True, kw_only=True, repr=False)
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
    graded = ("m",)
    source = "Xiao, Tao, SIGMOD 2007"

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
        counts = most_near(self.relation(sensitive), groups, sensitive)
        return Measurement(counts - 1, groups.sizes, groups.sizes, self.bound, self.least)

    def strongest(self, groups: Groups, sensitive: Sensitive | None) -> Self | None:
        """Return it for the size of the smallest group, None where two members share a value."""
        if self.measure(groups, sensitive).risk > 0:
            return None
        return replace(self, m=int(groups.sizes.min()))

    def promise(self, column: str) -> str:
        """Say it in plain words."""
        return f"Every group has at least {self.m} people, and no two of them share their {column}."
