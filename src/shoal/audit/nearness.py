"""How near the values of a group lie together, at several widths, and which groups are worst.

The risk of a group at ε is the largest share of its members whose value is within ε of one of them
(EM Definition 5); the δ that it keeps is one less the same share of the others (XC Definition 6).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.audit.candidates import SPREAD
from shoal.exact import downward, upward
from shoal.notation import exact
from shoal.relations.bands import band_of_column
from shoal.relations.forms import equality, most_near

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shoal.principles.groups import Groups
    from shoal.relations.forms import Band
    from shoal.schema.coding import Column
    from shoal.schema.sensitive import Sensitive

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2)  # of the distance from the 5th to the 95th percentile
DIGITS = 2  # of a width that Shoal chooses
LIKELY = 0.5


@dataclass(frozen=True, eq=False)
class Nearness:
    """The risk of each group at one width."""

    epsilon: float
    counts: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @property
    def risks(self) -> NDArray[np.float64]:
        """The share of each group near to its most exposed member."""
        return self.counts / self.sizes

    def to_dict(self) -> dict[str, Any]:
        """Return what it says of the table: the worst group, and rows by their group's risk."""
        worst = int(np.argmax(self.risks))
        others = np.where(self.sizes == 1, 1, (self.counts - 1) / np.maximum(self.sizes - 1, 1))
        exposed = int(np.argmax(others))
        size = int(self.sizes[exposed])
        near = Fraction(int(self.counts[exposed]) - 1, size - 1) if size > 1 else Fraction(1)
        likely = self.sizes[self.risks >= LIKELY].sum()
        return {
            "epsilon": self.epsilon,
            "risk": upward(Fraction(int(self.counts[worst]), int(self.sizes[worst]))),
            "mean_risk": float(self.risks @ self.sizes / self.sizes.sum()),
            "delta": downward(1 - near),
            "likely_rows": float(likely / self.sizes.sum()),
        }


def widths(column: Column, shares: Sequence[float] = SHARES) -> list[float]:
    """Return 0 and some widths for a column: shares of its spread, in two digits.

    The spread is the distance from the 5th to the 95th percentile, so that a few extreme values do
    not stretch it, or the range where those are equal. Labels have the width 0 alone.
    """
    if not column.numeric:
        return [0]
    numbers = column.numbers[column.codes].astype(np.float64)
    low, high = np.quantile(numbers, SPREAD)
    spread = float(high - low) or float(numbers.max() - numbers.min())
    whole = column.numbers.dtype == np.int64
    chosen = [0.0, *(float(f"{share * spread:.{DIGITS}g}") for share in shares)]
    return sorted({round(width) if whole else width for width in chosen})


def band_of(value: Sensitive, epsilon: float) -> Band:
    """Return who is within a width of whom; labels are near where they are equal."""
    if not value.columns[0].numeric:
        return equality(value.distinct)
    reach = exact(epsilon)
    return band_of_column(value.column, reach, reach)


def nearness(groups: Groups, value: Sensitive, epsilons: Sequence[float]) -> list[Nearness]:
    """Measure how near values lie together at each width."""
    return [
        Nearness(epsilon, most_near(band_of(value, epsilon), groups, value), groups.sizes)
        for epsilon in epsilons
    ]
