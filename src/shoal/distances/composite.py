"""A distance composed of others, over columns of different kinds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.distances.base import Distance
from shoal.distances.counting import TOLERANCE
from shoal.errors import BadParameter, UsageError
from shoal.notation import is_number
from shoal.table.sensitive import Sensitive

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


@dataclass(frozen=True, repr=False)
class Composite(Distance):
    """The weighted sum of distances, Σ w_i Δ_i, each over columns of its own.

    The columns are taken in the order given: every distance takes as many as it needs, and where
    some are left over, the one distance that can take more takes them.

    Parameters
    ----------
    distances : the distances, one or more.
    weights : one number for each distance; 1 by default.

    Examples
    --------
    >>> from shoal.distances import Composite, Equality, Lp
    >>> Composite([Lp(), Equality()], weights=[0.7, 0.3])
    Composite(distances=[Lp(), Equality()], weights=[0.7, 0.3])
    """

    distances: tuple[Distance, ...] = field(kw_only=False)
    weights: tuple[float, ...] | None = None

    most = None

    def __post_init__(self) -> None:
        parts = self.distances
        if (
            not isinstance(parts, tuple | list)
            or not parts
            or not all(isinstance(one, Distance) for one in parts)
        ):
            allowed = "a list of distances, for example [Lp(), Equality()]"
            raise BadParameter("Composite", "distances", allowed, parts)
        object.__setattr__(self, "distances", tuple(parts))
        if self.weights is None:
            return
        weights = self.weights if isinstance(self.weights, tuple | list) else ()
        if len(weights) != len(parts) or not all(is_number(w) and w >= 0 for w in weights):
            allowed = f"{len(parts)} numbers of at least 0, one for each distance"
            raise BadParameter("Composite", "weights", allowed, self.weights)
        object.__setattr__(self, "weights", tuple(weights))

    @property
    def metric(self) -> bool:  # type: ignore[override]
        """Whether the triangle inequality holds: it does where it does for every part."""
        return all(one.metric for one in self.distances)

    @property
    def scaled(self) -> bool:  # type: ignore[override]
        """Whether any of the distances is scaled."""
        return any(one.scaled for one in self.distances)

    @property
    def needs(self) -> int:
        """How many columns it takes at least."""
        return sum(one.needs for one in self.distances)

    @property
    def takes_more(self) -> bool:
        """Whether it can take more columns than it needs."""
        return sum(one.takes_more for one in self.distances) == 1

    def shares(self, count: int) -> tuple[int, ...]:
        """Return how many columns each distance takes, or raise where that is unclear."""
        needed = [one.needs for one in self.distances]
        left = count - sum(needed)
        open_ones = [place for place, one in enumerate(self.distances) if one.takes_more]
        if left > 0 and len(open_ones) == 1:
            needed[open_ones[0]] += left
            left = 0
        if left:
            more = (
                "more than one of them could take those left over"
                if left > 0 and open_ones
                else f"they take {sum(needed)}"
            )
            noun = "column" if count == 1 else "columns"
            msg = (
                f"{self!r} is asked of {count} sensitive {noun}, and {more}. Name as many columns "
                "as its distances take, in their order."
            )
            raise UsageError(msg)
        return tuple(needed)

    def numbers_of(self, count: int) -> tuple[bool, ...]:
        """Return which of `count` columns have to hold numbers."""
        parts = zip(self.distances, self.shares(count), strict=True)
        return tuple(said for one, share in parts for said in one.numbers_of(share))

    def check(self, sensitive: Sensitive) -> None:
        """Raise where a distance does not fit its columns."""
        for one, part in zip(self.distances, self._parts(sensitive), strict=True):
            one.check(part)

    def slack(self, sensitive: Sensitive, epsilon: float) -> float:
        """Return the weighted sum of what each distance may be off, and what adding rounds."""
        parts = zip(self._weights(), self.distances, self._parts(sensitive), strict=True)
        own = sum(weight * one.slack(part, 0.0) for weight, one, part in parts)
        return own + TOLERANCE * max(1.0, epsilon)

    def between(
        self, sensitive: Sensitive, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the weighted sum of the distances of each pair."""
        return self.lengths(sensitive)(left, right)

    def lengths(
        self, sensitive: Sensitive
    ) -> Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]:
        """Return `between`, with the values of every part worked out once."""
        known = [
            (weight, one.lengths(part), part.codes.astype(np.int64))
            for weight, one, part in zip(
                self._weights(), self.distances, self._parts(sensitive), strict=True
            )
        ]

        def lengths(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
            found = np.zeros(len(left))
            for weight, each, codes in known:
                found += weight * each(codes[left], codes[right])
            return found

        return lengths

    def _weights(self) -> tuple[float, ...]:
        return (1.0,) * len(self.distances) if self.weights is None else self.weights

    def _parts(self, sensitive: Sensitive) -> list[Sensitive]:
        """Return the columns of each distance, taken together, of every distinct value."""
        found, begin = [], 0
        for share in self.shares(len(sensitive.columns)):
            own = slice(begin, begin + share)
            columns = zip(sensitive.columns[own], sensitive.places.T[own], strict=True)
            found.append(Sensitive.of(tuple(replace(one, codes=at) for one, at in columns)))
            begin += share
        return found
