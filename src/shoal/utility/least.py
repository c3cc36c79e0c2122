"""The least that any release of a table can lose under its requirements, bounded from below.

A row's box covers the row and its farthest fellow member. A group that holds has at least `least`
rows; of each pairwise requirement it has members enough that are not near to the row, and, where
near values are a band, enough that are pairwise not near to each other: whoever is taken first
excludes at most the share of the group that may be near, so in a group where at most one in m may
be near m of them can be taken one after the other, beginning with the row itself. So the box is at
least as wide as the way to the farthest of the nearest rows among which all these are found.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from shoal.distances.relation import Band, pack
from shoal.progress import in_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from shoal.principles.requirement import Requirement
    from shoal.table.coded import Coded

TIMES, MORE = 8, 16  # rows that are looked at: so many times the least group, and some
PARTS = 16  # of the table that threads take in turn
ROUNDING = 1 - 1e-9  # sums of floats are on the safe side by more than they are rounded


def unwatched(_share: float) -> None:
    """Tell nobody."""


def least_loss(
    coded: Coded, requirements: Sequence[Requirement], watch: Callable[[float], None] = unwatched
) -> float:
    """Return a GCP below which no release of all rows can keep the requirements.

    It is for tables in which every row is a person's only one.

    Parameters
    ----------
    coded : the table; all of its rows are published.
    requirements : what has to hold in every group.
    watch : hears now and then which share is done.

    Examples
    --------
    >>> import polars, shoal
    >>> from shoal.principles.requirement import requirements
    >>> from shoal.table.coded import code_table
    >>> people = polars.DataFrame({"age": [20, 21, 29, 30]})
    >>> coded = code_table(people, shoal.Schema(quasi="age", sensitive=[]))
    >>> least_loss(coded, requirements("KAnonymity(k=2)", []))
    0.09999...
    """
    reached = reaches(coded, requirements, watch)
    return float(reached.mean() / len(coded.quasi)) * ROUNDING


def times_least(loss: float, least: float) -> float | None:
    """Return how many times the least possible loss a loss is at most, None where it may be 0."""
    return loss / least if least > 0 else None


def reaches(
    coded: Coded, requirements: Sequence[Requirement], watch: Callable[[float], None] = unwatched
) -> NDArray[np.float64]:
    """Return the least sum of NCP that each row's box can have."""
    from shoal.kernels import reach as kernel
    from shoal.kernels.exchange.loss import LossSpace, positions

    rows = len(coded)
    plain = replace(coded, weights={}).space  # losses are reported without weights
    space = LossSpace(plain.kinds, plain.units, plain.coords, plain.offsets)
    values = positions(plain.ranks, plain.coords, plain.offsets, plain.kinds)
    least = max(one.principle.least for one in requirements)
    pairs = [
        (pairwise, coded.value(one.columns))
        for one in requirements
        if (pairwise := one.principle.pairs) is not None and one.columns
    ]
    relations = [principle.relation(value) for principle, value in pairs]
    packable = [isinstance(relation, Band) for relation in relations]
    wanted = [
        math.ceil(1 / principle.largest_share(rows)) if packs else 0
        for (principle, _), packs in zip(pairs, packable, strict=True)
    ]
    away = [least - principle.allowed(least) for principle, _ in pairs]
    bands = [mutual(relation) for relation in relations if isinstance(relation, Band)]
    order, cuts, lowest, highest = kernel.box_tree(space, values)
    near = min(rows - 1, TIMES * max([least, *wanted]) + MORE)
    found = np.zeros(rows)
    ends = np.linspace(0, rows, PARTS + 1).astype(np.int64)
    shared = (
        *(space, values, order, cuts, lowest, highest, pack(relations)),
        np.array([value.codes for _, value in pairs], np.int32).reshape(len(pairs), rows),
        np.concatenate([np.zeros(0, np.int32), *bands]),
        *(np.array(wanted, np.int64), np.array(away, np.int64), least),
    )

    def work(part: int) -> None:
        scratch = (
            np.empty(kernel.EFFORT + 1, np.int64),
            np.empty(kernel.EFFORT + 1),
            np.empty(near, np.int64),
            np.empty(near),
            np.empty(near, np.int32),
        )
        kernel.reaches(*shared, ends[part], ends[part + 1], *scratch, found)
        done.append(part)

    done: list[int] = []
    in_threads([partial(work, part) for part in range(PARTS)], lambda: watch(len(done) / PARTS))
    return found


def mutual(band: Band) -> NDArray[np.int32]:
    """Return the highest code that is near to each code, and to which it is near itself.

    Where only one of two is near to the other, they may still be taken one after the other.
    """
    codes = np.arange(len(band.first))
    return np.minimum(band.last, np.searchsorted(band.first, codes, side="right") - 1).astype(
        np.int32
    )
