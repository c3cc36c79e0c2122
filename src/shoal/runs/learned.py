"""What was learned: the scores of every model, what chance makes of them, and who was asked.

The scores are measured on the people who happened to be held out. Leaving out one block of them at
a time (the jackknife) shows how much scores depend on who they are; people are left out whole. A
model that learned nothing is right by luck too, where few are asked, and blocks hide that when all
answers are alike; so the error is at least that of guessing.

Whoever has rows on both sides is recognized rather than learned about: a model that knows one row
of a person by heart answers for the others. So rows that are about one person stay together.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError
from shoal.progress import Brief
from shoal.runs.features import MODELS
from shoal.table.missing import is_missing

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl
    from numpy.typing import NDArray

    from shoal.runs.features import Scores
    from shoal.table.schema import Schema


@dataclass(frozen=True, repr=False)
class LearningUtility(Brief):
    """Scores on held-out rows, by model, and of what.

    `metric` names the score that speaks for the others: ROC-AUC for two labels, accuracy for more,
    R² for numbers. `trained` and `asked` count rows. Large tables are sampled, with the same people
    for every model. `chance` is how much better a model that learned nothing can seem on the
    held-out people. It is None where these are too few.
    """

    _brief = ("target", "metric", "trained", "asked", "kept")

    target: str
    metric: str
    trained: int
    asked: int
    release: dict[str, Scores]
    original: dict[str, Scores]
    trivial: dict[str, Scores]
    baseline: Scores
    chance: float | None

    def best(self, which: str) -> float | None:
        """Return the score of the better model trained on "release", "original" or "trivial"."""
        scores = [getattr(self, which)[model][self.metric] for model in MODELS]
        return max((score for score in scores if score is not None), default=None)

    @property
    def learnable(self) -> bool:
        """Whether quasi columns teach anything that the held-out rows can show.

        The better model of the original has to beat that of the trivial release by more than
        `chance`.
        """
        original, trivial = map(self.best, ("original", "trivial"))
        if original is None or trivial is None or self.chance is None:
            return False
        return original - trivial > self.chance

    @property
    def kept(self) -> float | None:
        """How much of what quasi columns teach beyond the trivial release is still learned.

        (release - trivial) / (original - trivial), of the better models: 1 is all and 0 is nothing.
        It is None where the original itself teaches nothing.
        """
        release, original, trivial = map(self.best, ("release", "original", "trivial"))
        if not self.learnable or release is None or original is None or trivial is None:
            return None
        return (release - trivial) / (original - trivial)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self) | {"learnable": self.learnable, "kept": self.kept}


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


HELD_OUT = 0.2  # of the rows


def about_whom(table: pl.DataFrame, schema: Schema) -> NDArray[np.int64]:
    """Return a number for whom each row is about, as far as the columns that name people tell.

    Rows with an equal cell in any identifying, pseudonymized or person column are about one person,
    and so are all that are linked by such rows. Another than a person column names nobody where a
    value has more rows than are held out, and a missing cell neither.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows = np.arange(table.height)
    ends: list[NDArray[np.int64]] = []
    begins: list[NDArray[np.int64]] = []
    for name in (*schema.identifying, *schema.pseudonymize, *schema.persons):
        if table[name].dtype.is_nested() or table[name].dtype.is_object():
            continue
        known = ~is_missing(table[name]).to_numpy()
        codes = table[name].rank("dense").fill_null(0).to_numpy().astype(np.int64)
        rare = known.any() and np.bincount(codes[known]).max() <= HELD_OUT * table.height
        if not rare and name not in schema.persons:
            continue
        first = np.empty(int(codes.max()) + 1, np.int64)
        first[codes[::-1]] = rows[::-1]  # the first row of each value links all of them
        begins.append(rows[known])
        ends.append(first[codes[known]])
    if not ends:
        return rows
    links = np.concatenate(begins), np.concatenate(ends)
    graph = coo_array((np.ones(len(links[0]), np.int8), links), shape=(len(rows), len(rows)))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def part_rows(
    who: NDArray[np.int64], seed: int, share: float = HELD_OUT
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Part rows at random into a share to ask about, at least, and the others to train on.

    `who` says whom each row is about; all rows of a person are on one side.

    Examples
    --------
    >>> train, asked = part_rows(np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 2]), seed=0)
    >>> len(asked) in {3, 4}, len(train) + len(asked)
    (True, 10)
    """
    _, person, sizes = np.unique(who, return_inverse=True, return_counts=True)
    if len(sizes) < 2:
        msg = "All rows are about one person, so there are no other people to learn from or to ask."
        raise InputError(msg)
    mixed = np.random.Generator(np.random.PCG64(seed)).permutation(len(sizes))
    wanted = max(1, round(share * len(who)))
    taken = int(np.searchsorted(np.cumsum(sizes[mixed]), wanted)) + 1
    asked = np.zeros(len(sizes), bool)
    asked[mixed[: min(taken, len(sizes) - 1)]] = True
    return np.flatnonzero(~asked[person]), np.flatnonzero(asked[person])
