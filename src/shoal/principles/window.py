"""The window principle: no short interval, wherever it lies, holds many of a group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.notation import exact, number, whole_number
from shoal.principles.base import OneDimensional, Pairwise
from shoal.principles.groups import Groups, Measurement
from shoal.relations.bands import band_of_column
from shoal.relations.forms import Band

if TYPE_CHECKING:
    from shoal.schema.sensitive import Sensitive


@dataclass(frozen=True, kw_only=True, repr=False)
class Window(OneDimensional, Pairwise):
    """No interval of the given width holds more than 1/m of a group.

    What (δ,l)-diversity set out to be, with width = 2δ. It survives the union and any mixture of
    groups, so it also withstands a reader who cannot tell two groups apart. A group keeps it
    exactly when maxsize(G) for e_max = width is at most |G| / m. Every window begins at its lowest
    member, so it is also a pairwise principle, in which u is near v when v <= u <= v + width.
    """

    width: float
    m: int

    monotone = True
    width_name = "width"
    source = "maxsize of Li, Tao, Xiao, SIGMOD 2008, Definition 11, as a principle"

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", number(self, "width", self.width))
        object.__setattr__(self, "m", whole_number(self, "m", self.m, least=1))

    @property
    def share(self) -> int:
        """The m of the principle."""
        return self.m

    def band(self, sensitive: Sensitive) -> Band:
        """Return the windows that start or end at each value."""
        width = exact(self.width)
        return band_of_column(sensitive.column, width, width)

    @property
    def symmetric(self) -> bool:
        """Whether being near is mutual: only who is above a member counts."""
        return False

    def relation(self, sensitive: Sensitive) -> Band:
        """Return the windows that start at each value."""
        band = self.band(sensitive)
        return Band(np.arange(len(band.first), dtype=np.int32), band.last)

    def measure(self, groups: Groups, sensitive: Sensitive | None) -> Measurement:
        """Measure the largest share of each group that any window of the width holds."""
        from shoal.kernels.windows import longest_runs

        assert sensitive is not None
        counts = np.empty(len(groups), np.int64)
        reach = self.band(sensitive).reach
        longest_runs(groups.sorted_codes(sensitive), groups.starts, reach, counts)
        return Measurement(counts, groups.sizes, groups.sizes, self.bound, self.least)

    def promise(self, column: str) -> str:
        """Say it in plain words."""
        return (
            f"Whoever knows which group a person is in, or only which groups it may be, cannot say "
            f"with more than 1 in {self.m} certainty that the person's {column} lies in any "
            f"interval of width {self.width:,}."
        )
