"""Principles about descriptions: k-anonymity, and k-map and δ-presence against a population.

Nobody is in a group of fewer than k; and what does a description say about who is in the table at
all? The latter compare the published descriptions with a population, a table of everybody who could
be in the table, in the quasi columns as they really are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np

from shoal.errors import BadParameter, UsageError, option
from shoal.exact import as_odds, at_least, at_most, downward, upward, written
from shoal.notation import exact, number, whole_number
from shoal.principles.base import Principle
from shoal.principles.groups import NOTHING, Groups, Measurement
from shoal.principles.requirement import WITHOUT_POPULATION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.principles.foresight import RequirementPlan
    from shoal.table.sensitive import Sensitive


@dataclass(frozen=True, repr=False)
class KAnonymity(Principle):
    """Every group has at least k members, so that a person is found with risk at most 1/k.

    It survives the union of groups, which only grow.

    References
    ----------
    Samarati: Protecting Respondents' Identities in Microdata Release. TKDE 2001.
    """

    k: int

    monotone = True
    chance = True
    columns = 0
    sizes_only = True
    graded = ("k",)
    source = "Samarati, TKDE 2001"
    aim = "Limit the chance of identifying a person’s row"
    knobs = (("k", "Minimum group size", ""),)
    start = "k={most}"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole_number(self, "k", self.k, least=1))

    @property
    def least(self) -> int:
        """The least size of a group."""
        return self.k

    def measure(self, groups: Groups, sensitive: Sensitive | None) -> Measurement:  # noqa: ARG002
        """Measure the risk of being found, 1 / |G|."""
        ones = np.ones(len(groups), np.int64)
        return Measurement(ones, groups.sizes, groups.sizes, Fraction(1, self.k), self.k)

    def measure_matches(self, matches: NDArray[np.int64]) -> Measurement:
        """Measure the risk of being found among the published rows that each person matches.

        Every person is measured alone, 1 / matches; nobody to match at all is certainty.
        """
        ones = np.ones(len(matches), np.int64)
        return Measurement(ones, np.maximum(matches, 1), ones, Fraction(1, self.k), 1)

    def strongest(self, groups: Groups, sensitive: Sensitive | None) -> Self:  # noqa: ARG002
        """Return it for the size of the smallest group."""
        return replace(self, k=int(groups.sizes.min()))

    def promise(self, column: str) -> str:  # noqa: ARG002 - it is about no column
        """Say it in plain words."""
        if self.k == 1:
            return NOTHING.format(self)
        others = "1 other person" if self.k == 2 else f"{self.k - 1:,} others"
        return (
            f"Every person shares the published description with at least {others}, so a reader "
            "who knows that a person is in the table, and knows the person by the "
            "quasi-identifiers alone, picks that person's row with a "
            f"chance of at most 1 in {self.k}. It says nothing about sensitive values."
        )

    def promise_matches(self, column: str) -> str:  # noqa: ARG002 - it is about no column
        """Say in plain words what a release without groups promises."""
        return (
            f"Every person in the table matches at least {self.k} published rows. Shoal linked "
            f"{self.k} of them to the person, and each of these is the person's own with a chance "
            f"of 1 in {self.k}. A reader who learns other people's rows can exclude some."
        )


class OfPopulation(Principle):
    """A principle about how many persons of a population each description matches."""

    chance = True
    columns = 0
    population = True

    def judged(self, measured: Measurement) -> str:
        """Say what was measured at worst, and what is allowed; a risk of 2 is of fitting nobody."""
        if measured.risk == NOBODY:
            return "a description fits nobody in the population table"
        return super().judged(measured)

    def matched(self, groups: Groups) -> NDArray[np.int64]:
        """Return how many persons each group's description matches."""
        if groups.matches is None:
            raise UsageError(WITHOUT_POPULATION.format(self))
        return groups.matches

    def outlook(
        self,
        value: Sensitive | None,  # noqa: ARG002 - what others need
        rows: int,  # noqa: ARG002
        *,
        people: int | None = None,  # noqa: ARG002
    ) -> RequirementPlan:
        """Raise: it depends on what is not seen beforehand."""
        msg = (
            f"Whether {self!r} is achievable depends on descriptions and a population, which "
            f"a plan does not see: `shoal anonymize {option('dry_run')}` with "
            f"{option('population')} checks it."
        )
        raise UsageError(msg)


NOBODY = 2  # the risk of a description that fits nobody
TIGHT = (
    "Cells can show more: someone in the release lies at each end of an interval, and has each "
    "label. A person of the population who alone does so is visibly in the release."
)
REQUIRED = "KMap(k=11)"  # what asks for a population, as an example


def in_population(k: int | None, presence: tuple[float, float] | None) -> list[str]:
    """Say what descriptions keep against a population, as far as it is known."""
    said = []
    if k is not None:
        said.append(f"Every description fits at least {k:,} of them: KMap(k={k}).")
    if presence is not None:
        low, high = presence
        said.append(
            f"Of those whom a description fits, from {at_least(100 * written(low))}% to "
            f"{at_most(100 * written(high))}% are in the table: DeltaPresence, where descriptions "
            "do not overlap."
        )
    return said


@dataclass(frozen=True, repr=False)
class KMap(OfPopulation):
    """Every published description matches at least k persons of the population.

    The risk is one over how many people it matches. A description that matches no one shows that
    the population table is incomplete; it has risk 2. The description of a union matches at least
    the people whom its parts match, so the principle survives the union of groups. If people have
    several rows, a description with n rows matches the people of the population who have exactly n
    rows, all covered by it.

    References
    ----------
    Sweeney: Computational Disclosure Control. PhD thesis, MIT 2001 (k-map). El Emam, Dankar:
    Protecting Privacy Using k-Anonymity. JAMIA 2008 (the journalist's risk).
    """

    k: int

    monotone = True
    graded = ("k",)
    source = "Sweeney, PhD thesis, MIT 2001"
    aim = "Limit the chance of naming the person behind a row"
    knobs = (("k", "Minimum number of people in the population who fit a description", ""),)

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole_number(self, "k", self.k, least=1))

    def measure(self, groups: Groups, sensitive: Sensitive | None) -> Measurement:  # noqa: ARG002
        """Measure the risk of being found among the population, 1 / F."""
        people = self.matched(groups)
        parts = np.where(people > 0, 1, NOBODY).astype(np.int64)
        return Measurement(parts, np.maximum(people, 1), groups.sizes, Fraction(1, self.k), 1)

    def strongest(self, groups: Groups, sensitive: Sensitive | None) -> Self | None:  # noqa: ARG002
        """Return it for the description that fits fewest, None where one fits nobody."""
        fewest = int(self.matched(groups).min())
        return replace(self, k=fewest) if fewest else None

    def promise(self, column: str) -> str:  # noqa: ARG002 - it is about no column
        """Say it in plain words."""
        return (
            f"Every published description fits at least {self.k} people of the population table, "
            "so a reader who does not know who is in the release names the person behind a row "
            f"with a chance of at most 1 in {self.k}. This assumes that the population table is "
            f"complete and that the reader considers these people equally likely. {TIGHT}"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class DeltaPresence(OfPopulation):
    """Of the persons whom a description matches, a share from `low` to `high` is in the table.

    The share is f / F, where f rows carry the description and F persons of the population match
    it: the probability that one of them is in the table, δmin <= P(t ∈ T | T*) <= δmax. It needs
    descriptions that do not overlap, as those of the paper; an audit rejects others. A person who
    matches no description is visibly not in the table: `low` is about people who match one.

    The risk is the share, and the bound is `high`; a share under `low` counts as 1 + low - share,
    and rows that match nobody as 2. It does not survive the union of groups: the description of a
    union may take in people who matched none of its parts, so the share can fall under `low`, and
    where two groups share a description their shares add up. What does survive, where descriptions
    do not overlap, is that the share is at most `high`.

    References
    ----------
    Nergiz, Atzori, Clifton: Hiding the Presence of Individuals from Shared Databases. SIGMOD 2007.
    Definition 1.
    """

    low: float = 0
    high: float

    monotone = False
    disjoint = True
    graded = ("low", "high")
    looser = ("high",)
    source = "Nergiz, Atzori, Clifton, SIGMOD 2007"
    aim = "Limit what a reader learns about who is in the table"
    knobs = (
        ("low", "Lowest share of those who fit a description who are in the table", ""),
        ("high", "Highest share of those who fit a description who are in it", ""),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", number(self, "low", self.low, most=1))
        object.__setattr__(self, "high", number(self, "high", self.high, most=1))
        if exact(self.high) < exact(self.low):
            raise BadParameter("DeltaPresence", "high", f"at least low, {self.low:g}", self.high)

    def measure(self, groups: Groups, sensitive: Sensitive | None) -> Measurement:  # noqa: ARG002
        """Measure the share of matching persons that is in the table, f / F."""
        people, rows = self.matched(groups), groups.sizes
        top, bottom = exact(self.low).as_integer_ratio()
        parts, wholes = rows.astype(object), people.astype(object)
        few = parts * bottom < wholes * top
        parts = np.where(few, wholes * (bottom + top) - parts * bottom, parts)
        wholes = np.where(few, wholes * bottom, wholes)
        nobody = people == 0
        parts, wholes = np.where(nobody, NOBODY, parts), np.where(nobody, 1, wholes)
        return Measurement(parts, wholes, rows, exact(self.high), 1)

    def judged(self, measured: Measurement) -> str:
        """Say what was measured at worst; a risk above 1 is of a share that is too small."""
        if not 1 < measured.risk < NOBODY:
            return super().judged(measured)
        low = exact(self.low)
        return f"measured {as_odds(1 + low - measured.risk)}, allowed at least {as_odds(low)}"

    def strongest(self, groups: Groups, sensitive: Sensitive | None) -> Self | None:  # noqa: ARG002
        """Return it from the least share to the largest, None where one is above 1."""
        people, rows = self.matched(groups), groups.sizes
        if (people < rows).any():
            return None
        least = 1 / Measurement(people, rows, rows, Fraction(1), 1).risk
        most = Measurement(rows, people, rows, Fraction(1), 1).risk
        return replace(self, low=downward(least), high=upward(most))

    def promise(self, column: str) -> str:  # noqa: ARG002 - it is about no column
        """Say it in plain words."""
        return (
            "Of the people in the population table who fit a published description, between "
            f"{at_least(100 * exact(self.low))}% and {at_most(100 * exact(self.high))}% are in the "
            "release. For a reader who considers them equally likely to be in it, the chance that "
            f"such a person is in it lies between these. {TIGHT} People who fit no description are "
            "visibly not in it; the population table is assumed to be complete."
        )
