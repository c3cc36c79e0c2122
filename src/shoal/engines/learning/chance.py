"""How much of a difference between two scores chance alone could make.

The scores are measured on the people who happened to be held out. Leaving out one block of them at
a time (the jackknife) shows how much scores depend on who they are; people are left out whole. A
model that learned nothing is right by luck too, where few are asked, and blocks hide that when all
answers are alike; so the error is at least that of guessing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

BLOCKS = 20  # of people, each left out once
SURE = 4.0  # standard errors: by so much the original has to be better before it teaches anything


def blocks_of(who: NDArray[np.int64], seed: int) -> list[NDArray[np.int64]]:
    """Return the rows that are left for each block of people that is left out."""
    people, person = np.unique(who, return_inverse=True)
    mixed = np.random.Generator(np.random.PCG64(seed)).permutation(len(people))
    count = min(BLOCKS, len(people))
    return [np.flatnonzero(mixed[person] % count != block) for block in range(count)]


def standard_error(
    statistic: Callable[[NDArray[np.int64]], float | None], left: list[NDArray[np.int64]]
) -> float:
    """Return the jackknife's error of what is computed from rows; infinite where it cannot be."""
    if len(left) < 2 or not all(map(len, left)):
        return math.inf
    found = [statistic(rows) for rows in left]
    known = np.array([value for value in found if value is not None])
    if len(known) < len(left) or not np.isfinite(known).all():
        return math.inf
    return float(np.sqrt((len(left) - 1) * np.mean((known - known.mean()) ** 2)))


def guessing_error(metric: str, truth: NDArray, who: NDArray[np.int64]) -> float:
    """Return the standard error of the score of whoever guesses.

    For the area under the curve that of Mann and Whitney, √((a + b + 1) / 12ab) with a and b rows
    of either label; else at most 1 / 2√n. Rows of one person count as one.
    """
    people = len(np.unique(who))
    if metric != "roc_auc":
        return 0.5 / math.sqrt(people)
    second = int(np.count_nonzero(truth == 1))
    first = len(truth) - second
    if not first or not second:
        return math.inf
    return math.sqrt((len(truth) + 1) / (12 * first * second) * len(truth) / people)
