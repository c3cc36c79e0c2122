"""How many are near: neighbours counted for values, groups and people."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from shoal.progress import in_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shoal.principles.groups import Groups
    from shoal.table.sensitive import Sensitive, ValueSets

    Near = Callable[[NDArray, NDArray], NDArray[np.bool_]]
from shoal.distances.relation import Band, Bits, Points, Relation, Unsure, pack

PIECES = 32  # jobs that counting neighbours is cut into


def most_near(relation: Relation, groups: Groups, sensitive: Sensitive) -> NDArray[np.int64]:
    """Count, in each group, the members near to its most exposed member, itself included.

    A band takes linear time after one sort; the other forms compare the distinct values of each
    group with one another. Where members have several values each, those are counted who have a
    value near to the most exposed value.
    """
    if sensitive.several:
        return most_people(relation, groups, sensitive.sets)
    known = relation.values if isinstance(relation, Unsure) else relation
    return beside_missing(groups, sensitive, partial(_most, known))


def beside_missing(
    groups: Groups, sensitive: Sensitive, count: Callable[[NDArray, NDArray], NDArray[np.int64]]
) -> NDArray[np.int64]:
    """Count something among the known values of each group, and add all that are missing.

    `count` takes codes, ascending in each group, and where groups begin; some may be empty.
    """
    codes = groups.sorted_codes(sensitive)
    if sensitive.gap is None:
        return count(codes, groups.starts)
    missing = codes == sensitive.gap
    before = np.concatenate([[0], np.cumsum(missing)])[groups.starts]
    return count(codes[~missing], groups.starts - before) + np.diff(before)


def _most(relation: Relation, codes: NDArray, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    counts = np.zeros(len(starts) - 1, np.int64)
    if isinstance(relation, Band):
        from shoal.kernels.windows import most_proximate

        most_proximate(codes, starts, relation.first, relation.last, counts)
    else:
        from shoal.kernels.relations import largest_neighbourhoods

        largest_neighbourhoods(pack([relation]), codes, starts, counts)
    return counts


def most_people(relation: Relation, groups: Groups, sets: ValueSets) -> NDArray[np.int64]:
    """Count as `most_near` does where members have several values each."""
    owners = sets.owners
    order = np.lexsort((sets.codes, groups.labels[owners]))
    codes, members = sets.codes[order], owners[order].astype(np.int32)
    entries = np.bincount(groups.labels, weights=np.diff(sets.ends), minlength=len(groups))
    starts = np.concatenate([[0], np.cumsum(entries)]).astype(np.int64)
    counts = np.empty(len(groups), np.int64)
    lacking = np.zeros(len(groups.labels), np.bool_)
    known: Relation = relation
    if isinstance(relation, Unsure) and isinstance(relation.values, Band):
        lacking[owners[sets.codes == relation.gap]] = True
        known = relation.values
    if isinstance(known, Band):
        from shoal.kernels.windows import most_people_proximate

        # Whoever lacks a value is near to all, so is counted beforehand and not again.
        inside = lacking.astype(np.int64)
        most_people_proximate(codes, members, starts, known.first, known.last, inside, counts)
        counts += np.bincount(groups.labels, lacking, len(groups)).astype(np.int64)
    else:
        from shoal.kernels.relations import most_people_near

        seen = np.full(len(groups.labels), -1, np.int64)
        most_people_near(pack([relation]), codes, members, starts, seen, counts)
    return counts


def neighbourhood_sizes(relation: Relation, sensitive: Sensitive) -> NDArray[np.int64]:
    """Count, for each distinct value, the rows of the whole table near to it, itself included."""
    weights = np.bincount(sensitive.codes, minlength=sensitive.distinct).astype(np.int64)
    if isinstance(relation, Unsure):
        missing = int(weights[relation.gap])
        known = replace(sensitive, codes=sensitive.codes[sensitive.codes != relation.gap])
        sizes = neighbourhood_sizes(relation.values, known) + missing
        sizes[relation.gap] = missing
        return sizes
    if isinstance(relation, Band):
        below = np.concatenate([[0], np.cumsum(weights)])
        return below[relation.last + 1] - below[relation.first]
    sizes = np.empty(sensitive.distinct, np.int64)
    if isinstance(relation, Points):
        count = _fibre_counter(relation, weights, sizes)
    else:
        from shoal.kernels.relations import row_weights

        count = partial(row_weights, relation.rows, weights, sizes)
    ends = np.linspace(0, sensitive.distinct, PIECES + 1).astype(int)
    in_threads([partial(count, begin, end) for begin, end in pairwise(ends)], lambda: None)
    return sizes


def counting_work(relation: Relation) -> int:
    """Return about how many steps `neighbourhood_sizes` takes."""
    if isinstance(relation, Unsure):
        relation = relation.values
    if isinstance(relation, Band):
        return len(relation.first)
    if isinstance(relation, Bits):
        return len(relation.rows) ** 2
    distinct = [len(np.unique(column)) for column in relation.points.T]
    fibres = min(len(relation.points), math.prod(distinct) // max(distinct))
    return len(relation.points) * fibres


def _fibre_counter(
    relation: Points, weights: NDArray[np.int64], sizes: NDArray[np.int64]
) -> Callable[[int, int], None]:
    """Lay the points out along the coordinate with the most values."""
    from shoal.kernels.relations import count_near

    points = relation.points
    along = int(np.argmax([len(np.unique(column)) for column in points.T]))
    others = [column for place, column in enumerate(points.T) if place != along]
    order = np.lexsort([points[:, along], *others])
    across = points.copy()
    across[:, along] = 0
    sorted_across = across[order]
    changes = (sorted_across[1:] != sorted_across[:-1]).any(axis=1)
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1, [len(order)]]).astype(np.int64)
    below = np.concatenate([[0], np.cumsum(weights[order])]).astype(np.int64)

    def count(begin: int, end: int) -> None:
        count_near(
            points,
            along,
            sorted_across[starts[:-1]],
            starts,
            points[order, along],
            below,
            relation.metric,
            relation.threshold,
            begin,
            end,
            sizes,
        )

    return count
