"""Non-uniform entropy: which share of the bits recoding hides. Range 0 to 1; less is better.

A value v in a cell c costs -log2 P(v | c), where P is the distribution of the column in the
original: hiding a rare value among frequent ones costs more than the other way round. The sum over
rows and columns is divided by what it would be if every cell covered its whole domain. A suppressed
row's cells do. 0 for a column of one value (De Waal, Willenborg: Information loss through global
recoding and local suppression. 1999; Gionis, Tassa: k-Anonymization with Minimal Loss of
Information. TKDE 2009).

Which original row became which published row need not be known: with f the counts in the original,
the sum of -log2 (f(v) / f(c)) is that of log2 f(c) over published rows less that of log2 f(v) over
original ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.loss.release import Measured, ends_in_units
from shoal.queries.columns import Intervals, Spread
from shoal.queries.nodes import Leaves

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.schema.coding import Column


def non_uniform_entropy(release: Measured) -> float | None:
    """Return the mean over quasi columns."""
    if release.original is None:
        return None
    losses = []
    columns = zip(release.original.quasi, release.boxes.quasi.values(), strict=True)
    for place, (column, cells) in enumerate(columns):
        counts = np.bincount(column.codes, minlength=column.distinct)
        covered = np.log2(np.maximum(_counted(column, cells, counts), 1))
        hidden = release.mean(release.by_box(place, covered), suppressed=np.log2(release.rows))
        known = float(counts @ np.log2(counts)) / release.rows
        most = np.log2(release.rows) - known
        losses.append((hidden - known) / most if most > 0 else 0.0)
    return float(np.mean(losses))


def _counted(column: Column, cells: Spread, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many original rows have a value in each published cell."""
    before = np.concatenate([[0], np.cumsum(counts)])
    if isinstance(cells, Intervals):
        values, lows, highs = ends_in_units(column, cells)
        return (
            before[np.searchsorted(values, highs, "right")]
            - before[np.searchsorted(values, lows, "left")]
        )
    if cells.nodes is not None:
        ranges = Leaves.of(column).ranges
        ends = np.array([ranges.get(name, (0, -1)) for name in cells.nodes])
        return before[ends[:, 1] + 1] - before[ends[:, 0]]
    rank_of = {label: rank for rank, label in enumerate(column.spellings)}
    by_label = np.array([counts[rank_of[x]] if x in rank_of else 0 for x in cells.labels])
    return np.add.reduceat(by_label[cells.listed], cells.starts[:-1])
