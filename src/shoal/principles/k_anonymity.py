"""k-anonymity: nobody is in a group of fewer than k."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np

from shoal.notation import whole_number
from shoal.principles.base import Principle
from shoal.principles.groups import Groups, Measurement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.schema.sensitive import Sensitive


@dataclass(frozen=True, kw_only=True, repr=False)
class KAnonymity(Principle):
    """Every group has at least k members, so that a person is found with risk at most 1/k.

    It survives the union of groups, which only grow.

    References
    ----------
    Samarati: Protecting Respondents' Identities in Microdata Release. TKDE 2001.
    """

    k: int

    monotone = True
    columns = 0
    graded = ("k",)
    source = "Samarati, TKDE 2001"

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
        return f"Every person shares the published description with at least {self.k - 1} others."

    def promise_matches(self) -> str:
        """Say in plain words what a release without groups promises."""
        return (
            f"Every person matches at least {self.k} published rows, and each of {self.k} of them "
            f"is the person's own with probability 1/{self.k}."
        )
