"""The papers' loss: how much of the domain published cells cover. Less is better.

loss(t*) = Σ |t*.A| / |A| over the quasi columns, where |t*.A| counts the values that a cell covers
and |A| those of the domain: numbers in steps of the finest published decimal, labels one by one
(EM Section 6; XC Section V-C has the same of a group). Range: above 0, to the number of quasi
columns. It differs from NCP in that a cell of one value still covers one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.loss.release import Measured


def _by_box(release: Measured) -> NDArray[np.float64]:
    covered = np.zeros(len(release.boxes.sizes))
    for place, column in enumerate(release.boxes.quasi.values()):
        covered += release.by_box(place, column.sizes / column.extent)
    return covered


def coverage_per_tuple(release: Measured) -> float:
    """Return the mean of loss(t*) over rows; a suppressed row covers the whole domain."""
    return release.mean(_by_box(release), suppressed=len(release.boxes.quasi))


def coverage_per_group(release: Measured) -> float | None:
    """Return the mean of loss(G) over groups; suppressed rows are in none."""
    if release.groups is None:
        return None
    firsts = release.groups.order[release.groups.starts[:-1]]
    return float(_by_box(release)[release.box_of[firsts]].mean())
