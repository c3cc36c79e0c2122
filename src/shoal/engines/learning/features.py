"""From published cells and from plain ones to the same features, as numbers that models take.

A number is its own feature, measured in standard deviations of the original's training rows. An
interval becomes its midpoint, which is what its values are expected to be when they are spread
evenly over it, as in counts on a release. Its width is no feature: every row that a model is asked
about is a plain one of width 0, where a model that learned from widths would have seen next to
nothing. For the same reason features are scaled by the original and not by what is published, where
shares hardly vary and a plain row would lie far outside.

Numbers are published as sets of labels where some are missing, and as nodes where they have a
hierarchy. They are numbers all the same: such a cell becomes the mean of the numbers it stands for,
and where numbers are missing, a second feature is the share of missing ones.

A label becomes a share for each label of the column: 1 for its own. A set of k labels becomes 1 / k
for each of them, and so does a node of a hierarchy that stands for k labels. Labels beyond the
`MOST` commonest share one feature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.schema.coding import Column, code_column
from shoal.schema.missing import MISSING_LABEL, is_missing

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from shoal.release.spans import Spans

MOST = 100  # labels of a column that have a feature of their own
UNKNOWN = -1  # the code of a missing number


@dataclass(frozen=True, eq=False)
class Feature:
    """One column of the original as features; `codes` are the ranks of all its rows.

    `places` says for each rank of a categorical column which feature it is, `width` how many
    features there are. Of a numeric one `middle` and `unit` are mean and standard deviation; a
    missing number counts as the mean, and as missing.
    """

    column: Column
    codes: NDArray[np.int64]
    places: NDArray[np.int64]
    width: int
    middle: float = 0.0
    unit: float = 1.0

    @classmethod
    def of(cls, cells: pl.Series, train: NDArray[np.int64], *, kind: str | None) -> Feature:
        """Make features from the cells of a column; what is common, the training rows decide."""
        known = ~is_missing(cells)
        column = code_column(cells.filter(known), kind=kind)
        if column.numeric:
            codes = np.full(len(cells), UNKNOWN, np.int64)
            codes[known.to_numpy()] = column.codes
        else:  # missing is a label like any other
            column = code_column(cells, kind="categorical")
            codes = column.codes.astype(np.int64)
        trained = codes[train]
        counts = np.bincount(trained[trained != UNKNOWN], minlength=column.distinct)
        if column.numeric:
            values = column.numbers.astype(np.float64)
            rows = max(counts.sum(), 1)
            middle = float(counts @ values / rows)
            unit = float(np.sqrt(counts @ (values - middle) ** 2 / rows)) or 1.0
            width = 1 if known.all() else 2
            return cls(column, codes, np.zeros(0, np.int64), width, middle, unit)
        common = np.argsort(-counts, kind="stable")[:MOST]
        common = np.sort(common[counts[common] > 0])
        places = np.full(column.distinct, len(common), np.int64)
        places[common] = np.arange(len(common))
        return cls(column, codes, places, len(common) + 1)

    def points(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the features of plain rows."""
        codes = self.codes[rows]
        if self.column.numeric:
            values = np.append(self.column.numbers.astype(np.float64), self.middle)
            return self._scaled(values[codes], codes == UNKNOWN)  # UNKNOWN is the last of them
        features = np.zeros((len(rows), self.width), np.float32)
        features[np.arange(len(rows)), self.places[codes]] = 1
        return features

    def cells(self, column: Column, covered: Spans) -> NDArray[np.float32]:
        """Return the features of published cells; `column` is the release's, with its own ranks."""
        if column.values is not None:
            values = column.numbers.astype(np.float64)
            middle = values[covered.low] / 2 + values[covered.high] / 2  # their sum may overflow
            return self._scaled(middle, np.zeros(len(middle)))
        cell, label, counts = _covered_labels(column, covered)
        if self.column.numeric:
            return self._means(column.spellings, cell, label, counts)
        rank = {label: rank for rank, label in enumerate(self.column.spellings)}
        ours = np.array([rank[label] for label in column.spellings], np.int64)
        place = cell * self.width + self.places[ours[label]]
        shares = np.bincount(place, weights=1 / counts[cell], minlength=len(counts) * self.width)
        return shares.reshape(-1, self.width).astype(np.float32)

    def _means(
        self, spellings: pl.Series, cell: NDArray, label: NDArray, counts: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return the features of cells that stand for several numbers, some perhaps missing."""
        absent = spellings == MISSING_LABEL
        kind = "date" if self.column.dates else "numeric"
        known = code_column(spellings.filter(~absent), kind=kind)
        missing = absent.to_numpy()
        values = np.zeros(len(spellings))
        values[~missing] = known.numbers.astype(np.float64)[known.codes]
        gone = np.bincount(cell, weights=missing[label], minlength=len(counts))
        there = counts - gone
        shares = 1 / np.maximum(there, 1)  # before they are added up, so that sums do not overflow
        means = np.bincount(cell, weights=values[label] * shares[cell], minlength=len(counts))
        return self._scaled(np.where(there > 0, means, self.middle), gone / counts)

    def _scaled(self, numbers: NDArray[np.float64], missing: NDArray) -> NDArray[np.float32]:
        scaled = (numbers - self.middle) / self.unit
        return np.column_stack([scaled, missing])[:, : self.width].astype(np.float32)


def _covered_labels(
    column: Column, covered: Spans
) -> tuple[NDArray[np.int64], NDArray, NDArray[np.int64]]:
    """Return cell and rank of every label that a cell covers, and how many each cell does.

    A node covers the labels under it that the column has.
    """
    if column.tree is None:
        return covered.listed()
    node = column.nodes(covered.low, covered.high)
    assert column.places is not None
    first = np.searchsorted(column.places, column.tree.first[node])
    end = np.searchsorted(column.places, column.tree.last[node], side="right")
    counts = end - first
    cell = np.repeat(np.arange(len(node)), counts)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return cell, first[cell] + within, counts
