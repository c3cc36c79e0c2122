"""Who learns from a release as a whole trains naive Bayes on it alone.

Even where no group says much, all groups together say how sensitive values go with quasi values.
With classes s (labels, or fifths of the numbers) and quasi values x, the attacker takes

    P(s | x) ∝ P(s) Π_j P(x_j | s),    P(x_j | s) = (1 + Σ [x_j in cell] / |cell|) / (n_s + values)

where the sum is over the published rows of class s, each spread evenly over the values that its
cell covers (Kifer: Attacks on Privacy and deFinetti's Theorem. SIGMOD 2009, for its classifier).
Its accuracy on the original is compared with always naming the most frequent class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.audit.linking import code_both
from shoal.exact import percent

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from shoal.audit.covers import CellCover, ColumnCover
    from shoal.table.column import Column


FIFTHS = 5
AT_A_TIME = 2**16  # people whose classes are scored at a time
MOST_CLASSES = 50  # of labels; rarer ones are one class together


@dataclass(frozen=True)
class Lesson:
    """How well a classifier trained on a release names people's classes."""

    release: str
    column: str
    classes: int
    people: int
    accuracy: float
    prior: float

    def to_dict(self) -> dict[str, Any]:
        """Return the accuracies, their difference, and a sentence."""
        return {
            "release": self.release,
            "column": self.column,
            "classes": self.classes,
            "people": self.people,
            "accuracy": self.accuracy,
            "prior": self.prior,
            "gain": self.accuracy - self.prior,
            "sentence": (
                f"A classifier trained on {self.release} names the right one of {self.classes} "
                f"classes of {self.column} for {percent(self.accuracy, 1)} of people; always "
                f"naming the most frequent one is right for {percent(self.prior, 1)}."
            ),
        }


def learn(cover: CellCover, original: pl.DataFrame, name: str) -> Lesson:
    """Train naive Bayes on a release and test it on the original."""
    right, usual, classes = classify(cover, original, name)
    return Lesson(
        cover.published.name,
        name,
        classes,
        len(right),
        int(np.count_nonzero(right)) / len(right),
        float(np.mean(usual)),
    )


def classify(
    cover: CellCover, original: pl.DataFrame, name: str
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], int]:
    """Return whose class naive Bayes names right, whose is the most frequent, and how many are."""
    numeric = cover.published.sensitive(name).numeric
    carried_column = cover.published.table[name]
    column, count = code_both(original[name], carried_column, numeric=numeric)
    classes = class_of(column, column.codes[count:])
    truth, taught = classes[column.codes[:count]], classes[column.codes[count:]]
    sizes = np.bincount(taught, minlength=int(classes.max()) + 1)
    with np.errstate(divide="ignore"):  # a class that the release lacks is never named
        prior = np.log(sizes / len(taught))
    likelihoods = [np.log(_likelihood(one, taught, sizes)).T for one in cover.columns]
    right = np.zeros(count, bool)
    for begin in range(0, count, AT_A_TIME):
        some = slice(begin, begin + AT_A_TIME)
        scores = np.tile(prior, (len(truth[some]), 1))
        for one, likelihood in zip(cover.columns, likelihoods, strict=True):
            scores += likelihood[one.values[some]]
        right[some] = scores.argmax(axis=1) == truth[some]
    return right, truth == sizes.argmax(), len(sizes)


def class_of(column: Column, taught: NDArray) -> NDArray[np.int64]:
    """Return the class of every code: fifths of the published numbers, or the frequent labels."""
    counts = np.bincount(taught, minlength=column.distinct)
    if column.numeric and column.distinct > FIFTHS:
        below = np.cumsum(counts) - counts / 2
        fifths = np.minimum((below * FIFTHS / counts.sum()).astype(np.int64), FIFTHS - 1)
        return np.unique(fifths, return_inverse=True)[1].astype(np.int64)
    place = np.empty(column.distinct, np.int64)
    place[np.argsort(-counts, kind="stable")] = np.arange(column.distinct)
    return np.minimum(place, MOST_CLASSES - 1)


def _likelihood(
    column: ColumnCover, taught: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return P(value | class) of one quasi column, a row for each class, UNKNOWN at the end."""
    cover, values = column.cover, column.cover.domain.distinct
    rows = np.bincount(taught * len(cover) + column.cells, minlength=len(sizes) * len(cover))
    rows = rows.reshape(len(sizes), len(cover))
    gaps = np.zeros(len(cover), bool) if column.gaps is None else column.gaps
    weights = rows / np.maximum(column.sizes + gaps, 1)
    spread = np.zeros((len(sizes), values + 1))
    some = column.sizes > 0
    for which in range(len(sizes)):
        if cover.starts is not None:
            spread[which, :-1] = np.bincount(cover.ranks, weights[which, cover.owners], values)
            continue
        np.add.at(spread[which], cover.low[some], weights[which, some])
        np.add.at(spread[which], cover.high[some] + 1, -weights[which, some])
    if cover.starts is None:
        spread = np.maximum(np.cumsum(spread, axis=1), 0)
    spread = spread[:, :-1]
    if column.gaps is None:  # a missing value tells no class from another
        return np.hstack([(1 + spread) / (sizes[:, None] + values), np.ones((len(sizes), 1))])
    spread = np.hstack([spread, weights[:, gaps].sum(axis=1, keepdims=True)])
    return (1 + spread) / (sizes[:, None] + values + 1)
