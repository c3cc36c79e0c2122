"""Distance on the globe."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.distances.base import Distance
from shoal.distances.counting import TOLERANCE
from shoal.distances.relation import Points
from shoal.errors import InputError
from shoal.kernels.metrics import EUCLID

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from shoal.table.sensitive import Sensitive

RADIUS = 6371.0088  # kilometres, the mean radius of the Earth


@dataclass(frozen=True, repr=False)
class GreatCircle(Distance):
    """The great-circle distance in kilometres between (latitude, longitude) pairs in degrees.

    Near means within a chord, 2 R sin(ε / 2R), so kernels compare straight lines.
    """

    metric = True
    needs_numbers = True
    fewest = 2
    most = 2

    def check(self, sensitive: Sensitive) -> None:
        """Raise where a coordinate is not on the globe."""
        super().check(sensitive)
        latitude, longitude = sensitive.points().T
        bad = (np.abs(latitude) > 90) | (np.abs(longitude) > 360)
        if bad.any():
            shown = ", ".join(sensitive.labels()[int(np.flatnonzero(bad)[0])])
            msg = (
                f"GreatCircle() needs a latitude from -90 to 90 and a longitude, in this order: "
                f"{bad.sum()} distinct values of {sensitive.name} are not, first ({shown})."
            )
            raise InputError(msg)

    def between(
        self, sensitive: Sensitive, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the length of the shorter arc (haversine formula)."""
        latitude, longitude = np.radians(sensitive.points()).T
        half = np.sin((latitude[left] - latitude[right]) / 2) ** 2
        turn = np.sin((longitude[left] - longitude[right]) / 2) ** 2
        whole = half + np.cos(latitude[left]) * np.cos(latitude[right]) * turn
        return 2 * RADIUS * np.arcsin(np.sqrt(np.clip(whole, 0, 1)))

    def relation(self, sensitive: Sensitive, epsilon: Fraction) -> Points:
        """Return points in space and the chord within which they are near."""
        self.check(sensitive)
        latitude, longitude = np.radians(sensitive.points()).T
        flat = RADIUS * np.cos(latitude)
        points = np.column_stack(
            [flat * np.cos(longitude), flat * np.sin(longitude), RADIUS * np.sin(latitude)]
        )
        angle = min(float(epsilon) / (2 * RADIUS), math.pi / 2)
        limit = 2 * RADIUS * math.sin(angle)
        return Points(points, EUCLID, limit + TOLERANCE * RADIUS)
