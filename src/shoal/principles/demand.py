"""What a search has to check in a bucket, as plain arrays for the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from shoal.principles.groups import renumber

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
