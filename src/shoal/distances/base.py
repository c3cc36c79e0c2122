"""What every distance knows: which columns it takes, and which values are within a threshold."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.distances.counting import TOLERANCE
from shoal.distances.relation import Bits, Relation
from shoal.errors import InputError, UsageError
from shoal.notation import Term

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import NDArray

    from shoal.table.sensitive import Sensitive

MATRIX_BYTES = 2**30  # the largest bit matrix that is made
BLOCK = 2**20  # pairs evaluated at a time


class Distance(Term):
    """A symmetric distance: Δ(u, v) = Δ(v, u) >= 0 and Δ(v, v) = 0.

    Nothing else is relied on, least of all the triangle inequality, unless `metric` says so.
    """

    role = "distance"
    metric: ClassVar[bool]
    needs_numbers: ClassVar[bool] = False
    scaled: ClassVar[bool] = False  # whether the rest of the table decides how far two values are
    fewest: ClassVar[int] = 1
    most: ClassVar[int | None] = 1

    @property
    def needs(self) -> int:
        """How many columns it takes at least."""
        return self.fewest

    @property
    def takes_more(self) -> bool:
        """Whether it can take more columns than it needs."""
        return self.most is None

    def sides(self, count: int) -> int | None:  # noqa: ARG002 - few distances know it
        """Return to how many listed values what is near to any guess is near, None where to more.

        On a line these are the listed values next to the guess, one on either side of it.
        """
        return None

    def between(
        self, sensitive: Sensitive, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the distance of each pair of distinct values, given by their codes."""
        raise NotImplementedError

    def lengths(
        self, sensitive: Sensitive
    ) -> Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]:
        """Return `between` for one value, with whatever serves all pairs worked out once."""
        return partial(self.between, sensitive)

    def numbers_of(self, count: int) -> tuple[bool, ...]:
        """Return which of so many columns have to hold numbers."""
        return (self.needs_numbers,) * count

    def relation(self, sensitive: Sensitive, epsilon: Fraction) -> Relation:
        """Return which values are within epsilon of which, as a bit matrix."""
        self.check(sensitive)
        limit = float(epsilon)
        return bit_matrix(self, sensitive, limit + self.slack(sensitive, limit))

    def slack(self, sensitive: Sensitive, epsilon: float) -> float:
        """Return by how much a distance may exceed epsilon and still count as a tie.

        Decimals held as doubles are off by a share of their size; integers and labels are not.
        """
        sizes = [
            float(np.abs(column.numbers).max())
            for column in sensitive.columns
            if column.numeric and column.numbers.dtype == np.float64
        ]
        return TOLERANCE * max([1.0, epsilon, *sizes])

    def check(self, sensitive: Sensitive) -> None:
        """Raise where the distance does not fit the columns."""
        count = len(sensitive.columns)
        if count < self.fewest or (self.most is not None and count > self.most):
            many = f"{self.fewest}" if self.fewest == self.most else f"at least {self.fewest}"
            noun = "column" if many in {"1", "at least 1"} else "columns"
            msg = f"{self!r} is about {many} sensitive {noun}, not {count}: {sensitive.name}."
            raise UsageError(msg)


def bit_matrix(distance: Distance, sensitive: Sensitive, limit: float) -> Bits:
    """Evaluate a distance once over all pairs of distinct values: one bit for at most `limit`."""
    distinct = sensitive.distinct
    words = -(-distinct // 64)
    if distinct * words * 8 > MATRIX_BYTES:
        size = distinct * words * 8 / 2**30
        msg = (
            f"{type(distance).__name__} over the {distinct:,} distinct values of {sensitive.name} "
            f"needs a matrix of {size:.1f} GiB. Group or round the values first."
        )
        raise InputError(msg)
    rows = np.zeros((distinct, words), np.uint64)
    codes = np.arange(distinct)
    step = max(1, BLOCK // distinct)
    lengths = distance.lengths(sensitive)
    for begin in range(0, distinct, step):
        block = codes[begin : begin + step]
        found = lengths(np.repeat(block, distinct), np.tile(codes, len(block)))
        near = np.zeros((len(block), words * 64), np.bool_)
        near[:, :distinct] = found.reshape(len(block), distinct) <= limit
        packed = np.packbits(near, axis=1, bitorder="little")
        rows[begin : begin + step] = packed.view(np.uint64)
    return Bits(rows)
