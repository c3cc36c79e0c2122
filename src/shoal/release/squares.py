"""Squared error, which is what is lost where groups publish means.

Every quasi column counts alike, whatever its unit: numbers are standardized to a variance of one,
labels stand for one number of 0 or 1 for each of them, together of variance one, and the weights of
columns multiply that. So the squared error of one group of all rows is the number of rows times
that of columns, and what groups lose is a share of it: SSE / SST (Domingo-Ferrer and Mateo-Sanz,
IEEE TKDE 2002). Missing numbers stand far from all others, which alone count in the variance; a
group that mixes them with others loses all of the column.

Of one column of numbers, groups of consecutive values of k to 2k - 1 rows lose least, and the best
ones are found exactly by dynamic programming (Hansen and Mukherjee, IEEE TKDE 2003).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.kernels.exchange.loss import LossSpace
    from shoal.principles.groups import Groups
    from shoal.table.coded import Coded


EXACT, ROOM = 52, 1024  # bits of a sum of squares, over as many cells


def squared_space(coded: Coded) -> tuple[LossSpace, NDArray[np.float64]]:
    """Lay the quasi columns out by squares: the space, and the number of each row by column."""
    from shoal.kernels.space import SQUARE

    made, laid = standardized(coded)
    numeric = made.kinds == SQUARE
    laid[:, numeric] = rounded(laid[:, numeric])
    return made, laid


def standardized(coded: Coded) -> tuple[LossSpace, NDArray[np.float64]]:
    """Lay the quasi columns out by squares, as exactly as numbers are."""
    from shoal.kernels.exchange.loss import LossSpace
    from shoal.kernels.space import ONE_HOT, SQUARE

    space = coded.space
    kinds, units, values = [], [], []
    for place, (column, weight) in enumerate(zip(coded.quasi, coded.column_weights, strict=True)):
        codes = space.codes[place]
        if column.numeric and column.tree is None:
            numbers = space.coords[space.offsets[place] : space.offsets[place + 1]][codes]
            known = numbers[codes != column.gap] if (codes != column.gap).any() else numbers
            numbers = numbers - known.mean()
            deviation = known.std()
            values.append(numbers * (np.sqrt(weight) / deviation if deviation > 0 else 0.0))
            kinds.append(SQUARE)
            units.append(1.0)
        else:
            spread = 1 - ((np.bincount(codes) / len(codes)) ** 2).sum()
            values.append(codes.astype(np.float64))
            kinds.append(ONE_HOT)
            units.append(weight / spread if spread > 0 else 0.0)
    made = LossSpace(np.array(kinds, np.int8), np.array(units), np.zeros(1), space.offsets)
    return made, np.column_stack(values)


def rounded(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round numbers so that sums of their squares are exact, over up to 1,000 cells of a group.

    What a group loses is then the same number by whichever way it came about. Otherwise rounding
    makes moves gain back and forth, and a search goes in circles.
    """
    most = float(np.abs(numbers).max(initial=0.0))
    if most == 0:
        return numbers
    unit = 2.0 ** np.ceil(np.log2(most) - (EXACT - np.log2(ROOM)) / 2)
    return np.round(numbers / unit) * unit


def squared_error(coded: Coded, groups: Groups) -> float:
    """Return what groups lose by squares, as a share of what one group of all rows loses."""
    from shoal.kernels.space import SQUARE

    space, values = standardized(coded)
    lost = 0.0
    for place, (kind, unit, column) in enumerate(
        zip(space.kinds, space.units, values.T, strict=True)
    ):
        if kind == SQUARE:
            means = np.bincount(groups.labels, column) / groups.sizes
            squares = (column - means[groups.labels]) ** 2
            if (gap := coded.quasi[place].gap) is not None:
                lacking = coded.quasi[place].codes == gap
                squares[lacking] = 0.0
                missing = np.bincount(groups.labels, lacking)
                mixed = (missing > 0) & (missing < groups.sizes)
                squares[mixed[groups.labels]] = coded.column_weights[place]
            lost += squares.sum()
        else:
            keys = groups.labels * (int(column.max()) + 1) + column.astype(np.int64)
            keys, counts = np.unique(keys, return_counts=True)
            homes = keys // (int(column.max()) + 1)
            lost += unit * (groups.sizes - np.bincount(homes, counts**2.0) / groups.sizes).sum()
    return float(lost / values.size)


def only_numbers(coded: Coded) -> NDArray[np.float64] | None:
    """Return the numbers of all rows where they are the one quasi column, None elsewhere.

    Not rounded as those that moves add and subtract: runs of small ones beside a huge one count.
    """
    if len(coded.quasi) > 1 or not coded.quasi[0].numeric or coded.quasi[0].tree is not None:
        return None
    return coded.space.coords[coded.space.codes[0]]


def best_runs(numbers: NDArray[np.float64], least: int) -> NDArray[np.int64]:
    """Return the groups of at least so many numbers that lose least by squares, exactly."""
    from shoal.kernels.windows import cheapest_runs

    order = np.argsort(numbers, kind="stable")
    ranked = numbers[order] - numbers.mean()
    runs, labels = np.empty((2, len(numbers)), np.int64)
    cheapest_runs(ranked, least, runs)
    labels[order] = runs
    return labels
