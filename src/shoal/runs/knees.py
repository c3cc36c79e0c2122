"""Where a curve bends: the setting from which more protection costs much more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Points = Sequence[float] | NDArray[np.float64]

STRAIGHT = 0.1  # a curve that keeps so near to its chord has no knee
FEWEST = 5  # points that make a curve


@dataclass(frozen=True)
class Knee:
    """Which point bends the curve most, and how.

    `distance` is that between the point and the chord, straight up or down, in the unit square.
    Where the curve runs below its chord, loss is small up to the knee and grows fast past it
    (`rises`); where it runs above, most of the loss comes before the knee and little after it.
    """

    place: int
    distance: float
    rises: bool


def knee(values: Points, losses: Points) -> Knee | None:
    """Return the point of a curve furthest from the chord between its ends, or None.

    Both axes are first scaled to [0, 1], as the ends have them, so a unit is no matter. There is no
    knee with fewer than `FEWEST` points, with no loss gained from end to end, or where every point
    keeps within `STRAIGHT` of the chord. Of equally far points the first is the knee.

    References
    ----------
    Satopää, Albrecht, Irwin, Raghavan: Finding a "Kneedle" in a Haystack: Detecting Knee Points in
    System Behavior. ICDCS Workshops 2011. Without its smoothing: the points are few and exact.
    """
    x, y = np.asarray(values, np.float64), np.asarray(losses, np.float64)
    if len(x) < FEWEST or x[-1] == x[0] or y[-1] == y[0]:
        return None
    along, above = (x - x[0]) / (x[-1] - x[0]), (y - y[0]) / (y[-1] - y[0])
    # With losses falling, both ends change places: seen from there, along and above are 1 minus.
    apart = above - along if y[-1] > y[0] else along - above
    place = int(np.argmax(np.round(np.abs(apart), 12)))
    if abs(apart[place]) < STRAIGHT:
        return None
    return Knee(place, float(abs(apart[place])), rises=bool(apart[place] < 0))
