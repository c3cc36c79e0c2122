"""Rounds of the two greedy algorithms (HK, Algorithms 1 and 2) without an n by n matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.kernels.freeform.boxes import cover, enlarge
from shoal.kernels.freeform.greedy import AHEAD, greedy_round, look_ahead
from shoal.kernels.freeform.nearest import fit_earliest
from shoal.kernels.freeform.sort import sort_round
from shoal.kernels.freeform.tree import build
from shoal.methods.freeform.field import Field, in_parts, lexicographic, themselves, with_round

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shoal.schema.table import Space

ROUNDS: dict[str, Callable[..., Any]] = {"greedy": greedy_round, "sort": sort_round}


def greedy_graph(
    space: Space, field: Field, k: int, assignment: str, watch: Callable[[float], None]
) -> NDArray[np.int32]:
    """Return the graph (tree positions) of k - 1 greedy rounds.

    Each round has a tree of its own over the boxes as they have become.
    """
    n = len(field)
    points = field.points
    place = np.empty(n, np.int64)
    place[field.order] = np.arange(n)
    point_at = place[lexicographic(space.ranks)]
    position = np.empty(n, np.int64)
    position[point_at] = np.arange(n)
    matches = themselves(n)
    boxes = cover(points, matches)
    for done in range(1, k):
        watch((done - 1) / (k - 1))
        order, tree = build(points, boxes)
        free = position[order]
        slot_at = np.empty(n, np.int64)
        slot_at[free] = np.arange(n)
        ends = np.flatnonzero(tree.lefts < 0)
        ends = ends[np.argsort(tree.starts[ends])]
        leaves = np.repeat(ends, tree.ends[ends] - tree.starts[ends])
        earliest = np.empty(len(tree.starts), np.int64)
        fit_earliest(tree.starts, tree.ends, tree.lefts, free, earliest)
        search = (
            points.spans, points.masks, *boxes.take(order), points.steps, points.words,
            tree.starts, tree.ends, tree.lefts, tree.lows, tree.highs, tree.masks, earliest, free,
            matches[order],
        )  # fmt: skip
        ahead = np.empty((n, AHEAD), np.int64)
        in_parts(n, look_ahead, *search, ahead)
        mates = np.empty(n, np.int32)
        ROUNDS[assignment](*search, tree.parents, leaves, point_at, slot_at, ahead, mates)
        chosen = np.empty(n, np.int32)
        chosen[order[mates]] = np.arange(n)
        enlarge(points, boxes, chosen)
        matches = with_round(matches, chosen)
    return matches
