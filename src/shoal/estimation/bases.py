"""The functions that the model is made of: of the sensitive value, and of the quasi columns.

Of a number they are bounded functions of its rank, so that no outlier rules: the normal score, its
square, two odd curves, and an indicator for each value that many rows share. Labels have an
indicator each. A quasi column has its main effects, curves, and products with the other columns.
Main effects are free; everything else is shrunk, block by block, as far as the release asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Reals = NDArray[np.float64]
    Counts = NDArray[np.int64]

HEAP = 0.04  # the share of rows from which a value has an indicator of its own
HEAPS = 4  # such values, at most
LEVELS = 12  # labels of a column that have an indicator, beside the commonest
RARE = 0.003  # the share of rows under which a label has none
FREE = 3  # labels beside the commonest, up to which none of them is shrunk
KNOTS = (0.2, 0.5, 0.8)
FLAT = 0.02  # the standard deviation under which a curve says nothing new
TAILS = (0.004, 0.012, 0.03)
CLIP = 2.6  # normal scores beyond which the square does not grow


@dataclass(frozen=True, eq=False)
class ValueBasis:
    """Functions of each value, and the bands that the shares of values are counted in.

    Attributes
    ----------
    functions : of each value, each with mean 0 and standard deviation 1.
    first : which of them are fitted first and never shrunk.
    band : the band of each value.
    """

    functions: Reals
    first: NDArray[np.bool_]
    band: Counts

    @property
    def rows(self) -> Reals:
        """How many values each band has."""
        return np.bincount(self.band).astype(np.float64)

    def means(self, numbers: Reals) -> Reals:
        """Return the mean of some numbers, one of each value or several, in each band."""
        table = numbers.reshape(len(numbers), -1)
        sums = [np.bincount(self.band, table[:, k]) for k in range(table.shape[1])]
        return np.ascontiguousarray(np.column_stack(sums) / self.rows[:, None])


@dataclass(frozen=True, eq=False)
class QuasiBasis:
    """Features of each person, the block that each is shrunk with (0: not at all).

    Attributes
    ----------
    features : each with mean 0 and standard deviation 1.
    block : of each feature.
    plain : the names of columns that are in the model whatever function of them is asked for.
    crossed : the names of columns whose products with one another are in the model.
    columns : what each feature is a function of: the name of a column, or of two.
    """

    features: Reals
    block: Counts
    plain: frozenset[str]
    crossed: frozenset[str]
    columns: tuple[tuple[str, ...], ...] = ()


def normal_scores(values: Reals) -> tuple[Reals, Reals]:
    """Return the normal score of each value and twice its rank less one; ties have one rank."""
    from scipy.special import ndtri

    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(values)
    return ndtri(middle)[which], 2 * middle[which] - 1


def number_basis(values: Reals) -> ValueBasis:
    """Return the functions of the rank of a number, and of values that many rows share."""
    score, place = normal_scores(values)
    distinct, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    heaps = np.flatnonzero(counts >= HEAP * len(values))
    heaps = heaps[np.argsort(-counts[heaps], kind="stable")][:HEAPS]
    curves = [score, np.clip(score, -CLIP, CLIP) ** 2, place**3, np.tanh(4 * place)]
    curves += [(which == heap).astype(np.float64) for heap in heaps]
    functions = independent(np.column_stack(curves))
    grid = np.array([*TAILS, *np.linspace(0.06, 0.94, 19), *(1 - np.array(TAILS[::-1]))])
    cuts = np.unique(np.quantile(values, grid))
    band = np.searchsorted(cuts, distinct, side="right")
    band[heaps] = len(cuts) + 1 + np.arange(len(heaps))
    first = np.arange(functions.shape[1]) == 0
    return ValueBasis(functions, first, np.unique(band[which], return_inverse=True)[1])


def label_basis(codes: Counts) -> ValueBasis:
    """Return an indicator for each label but the commonest; rare ones share that."""
    _, which, counts = np.unique(codes, return_inverse=True, return_counts=True)
    common = np.argsort(-counts, kind="stable")
    kept = [one for one in common[1 : LEVELS + 1] if counts[one] > RARE * len(codes)]
    functions = independent(np.column_stack([which == one for one in kept or common[-1:]]))
    return ValueBasis(functions, np.ones(functions.shape[1], np.bool_), which.astype(np.int64))


def independent(columns: NDArray) -> Reals:
    """Return columns of mean 0 and standard deviation 1, each free of those before it.

    One that those before it make up is left out; where nothing is left, there is one of zeros.
    """
    rows = len(columns)
    found = [np.full(rows, 1 / np.sqrt(rows))]
    for column in np.asarray(columns, np.float64).T:
        rest = column - column.mean()
        spread = np.linalg.norm(rest)
        for _ in range(2):  # twice is enough (Kahan, Parlett)
            basis = np.column_stack(found)
            rest -= basis @ (basis.T @ rest)
        if np.linalg.norm(rest) > 1e-6 * max(float(spread), 1e-300):
            found.append(rest / np.linalg.norm(rest))
    return np.ascontiguousarray(np.column_stack(found[1:] or [np.zeros(rows)]) * np.sqrt(rows))


def quasi_basis(numbers: Mapping[str, Reals], labels: Mapping[str, Counts]) -> QuasiBasis:
    """Return the features of quasi columns: main effects, curves, and products of pairs."""
    features: list[Reals] = []
    blocks: list[int] = []
    of: list[tuple[str, ...]] = []
    lines: dict[str, Reals] = {}
    plain: set[str] = set()
    for place, (name, codes) in enumerate(labels.items(), 1):
        levels, which, counts = np.unique(codes, return_inverse=True, return_counts=True)
        common = np.argsort(-counts, kind="stable")
        kept = [one for one in common[1 : LEVELS + 1] if counts[one] > RARE * len(codes)]
        features += [scaled((which == one).astype(np.float64)) for one in kept]
        blocks += [0 if len(kept) <= FREE else place] * len(kept)
        of += [(name,)] * len(kept)
        if len(kept) == len(levels) - 1:
            plain.add(name)
        if len(levels) == 2 and kept:
            lines[name] = features[-1]
    for place, (name, column) in enumerate(numbers.items(), len(labels) + 1):
        if column.std() == 0:
            plain.add(name)
            continue
        line = lines[name] = scaled(column.astype(np.float64))
        curves = _curves(line)
        features += [line, *curves]
        blocks += [0, *[place] * len(curves)]
        of += [(name,)] * (1 + len(curves))
        plain.add(name)
    names, pairs = list(lines), len(labels) + len(numbers) + 1
    for i, one in enumerate(names):
        for other in names[:i]:
            both = np.clip(lines[one], -3, 3) * np.clip(lines[other], -3, 3)
            if both.std() > FLAT:
                features.append(scaled(both))
                blocks.append(pairs)
                of.append((one, other))
    if not features:
        features, blocks, of = [np.zeros(_rows(numbers, labels))], [0], [()]
    every = np.ascontiguousarray(np.column_stack(features))
    return QuasiBasis(every, np.array(blocks), frozenset(plain), frozenset(names), tuple(of))


def _curves(line: Reals) -> list[Reals]:
    """Return how a column bends at each of its knots, free of what is linear.

    A column of few values bends at each of them, so that it may go with anything.
    """
    levels = np.unique(line)
    few = len(levels) <= len(KNOTS) + 2
    base, found = [np.ones_like(line), line], []
    for knot in levels[1:-1] if few else np.quantile(line, KNOTS):
        hinge = np.maximum(line - knot, 0)
        across, _ = np.linalg.qr(np.column_stack(base))
        rest = hinge - across @ (across.T @ hinge)
        if rest.std() > FLAT:
            base.append(rest / rest.std())
            found.append(rest / rest.std())
    return found


def scaled(column: Reals) -> Reals:
    """Return a column with mean 0 and standard deviation 1."""
    return (column - column.mean()) / column.std()


def _rows(*columns: Mapping[str, NDArray]) -> int:
    return len(next(one for some in columns for one in some.values()))
