"""How often guesses come as near as a release's own requirement bounds, where the group is known.

A requirement such as EpsilonM(epsilon=2000, m=5) speaks of a reader who knows a person's group and
considers each of its rows equally likely. This reader makes one guess for a group:

    listed : the value that the group lists which most of its rows are near to
    any    : the number, listed or not, which most of its rows are near to

Over all people, the shares of right guesses are sums over the groups; both follow from the release
alone, without chance. The best single guess for everybody, from the distribution of the whole
table, is what a reader knows without the groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.audit.verify import published_value
from shoal.exact import percent
from shoal.principles.groups import Groups
from shoal.principles.unasked import near_any, near_listed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from shoal.audit.published import Published
    from shoal.principles.base import Principle
    from shoal.principles.groups import GuessBound
    from shoal.principles.requirement import Requirement
    from shoal.table.sensitive import Sensitive


@dataclass(frozen=True)
class Guessing:
    """How often the best guess in each group is right, beside what the requirement allows.

    `any` is None where the width is a share of the guess: then only listed values are guessed.
    """

    release: str
    column: str
    requirement: str
    bound: GuessBound
    listed: float
    any: float | None
    prior: float

    @property
    def near(self) -> str:
        """How near a guess has to be."""
        return how_near(self.bound.width, relative=self.bound.relative)

    def to_dict(self) -> dict[str, Any]:
        """Return the shares beside their bounds, and a sentence."""
        return {
            "release": self.release,
            "column": self.column,
            "requirement": self.requirement,
            "width": self.bound.width,
            "relative": self.bound.relative,
            "listed": self.listed,
            "listed_bound": float(self.bound.listed),
            "any": self.any,
            "any_bound": float(self.bound.any),
            "prior": self.prior,
            "sentence": self._sentence(),
        }

    def _sentence(self) -> str:
        said = (
            f"A reader of {self.release} who knows a person's group and guesses the best value "
            f"listed there is right about {self.column} {self.near} for "
            f"{percent(self.listed, 1)} of people ({allowed(self.bound.listed)})."
        )
        if self.any is not None and self.bound.width:
            said += (
                f" The best number of all is right for {percent(self.any, 1)} "
                f"({allowed(self.bound.any)})."
            )
        return f"{said} One guess for everyone, without the groups: {percent(self.prior, 1)}."


def how_near(width: float, *, relative: bool = False) -> str:
    """Say how near a guess has to be.

    >>> how_near(0), how_near(2000), how_near(0.1, relative=True)
    ('exactly', 'to within 2,000', 'to within 10% of the guess')
    """
    if width == 0:
        return "exactly"
    return f"to within {percent(width)} of the guess" if relative else f"to within {width:,g}"


def allowed(bound: Fraction) -> str:
    """Say what a requirement allows.

    >>> from fractions import Fraction
    >>> allowed(Fraction(2, 5)), allowed(Fraction(7, 20)), allowed(Fraction(1))
    ('allowed: 2 in 5, 40%', 'allowed: 35%', 'not limited')
    """
    if bound >= 1:
        return "not limited"
    odds = f"{bound.numerator} in {bound.denominator}, " if bound.numerator <= 2 else ""
    return f"allowed: {odds}{percent(float(bound))}"


def bounded(published: Published, name: str) -> list[Requirement]:
    """Return the requirements of a release that bound guesses of one column."""
    return [
        one
        for one in published.require
        if one.columns == (name,) and one.principle.guess is not None
    ]


def promised_widths(releases: Sequence[Published], name: str) -> list[float]:
    """Return how near guesses are that requirements of releases bound, in units of the column."""
    bounds = [one.principle.guess for each in releases for one in bounded(each, name)]
    return sorted({one.width for one in bounds if one is not None and not one.relative})


def guess_in_groups(published: Published) -> list[Guessing]:
    """Guess in every group of a release, once for each of its requirements that bounds guesses."""
    if published.heterogeneous or published.person is not None:
        return []
    whole = Groups(np.zeros(published.table.height, np.int64))
    found = []
    for name in published.schema.sensitive:
        for one in bounded(published, name):
            bound = one.principle.guess
            value = published_value(published.table, published.schema, one)
            assert bound is not None
            assert value is not None
            listed, wherever = near_listed(bound), near_any(bound)
            found.append(
                Guessing(
                    published.name,
                    name,
                    repr(one),
                    bound,
                    _right(listed, published.groups, value),
                    None if wherever is None else _right(wherever, published.groups, value),
                    _right(wherever or listed, whole, value),
                )
            )
    return found


def _right(principle: Principle, groups: Groups, value: Sensitive) -> float:
    """Return the share of rows that are near to the best guess of their group."""
    return int(principle.measure(groups, value).parts.sum()) / int(groups.sizes.sum())
