"""The field of a search: originals in tree order, and the tree over them.

Searches work in *tree positions*: near records lie side by side, and a node is a run of them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.kernels.freeform.boxes import Boxes, FixedPoints, fixed_point
from shoal.kernels.freeform.nearest import cheapest_points
from shoal.kernels.freeform.tree import PointTree, build
from shoal.progress import in_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shoal.table.coded import Space


@dataclass(frozen=True, eq=False)
class Field:
    """Originals moved into tree order."""

    order: NDArray[np.int64]  # the row at each tree position
    points: FixedPoints
    tree: PointTree  # its hulls fit the originals

    @classmethod
    def of(cls, space: Space) -> Field:
        """Order the originals so that near ones lie together."""
        points = fixed_point(space.ranks, *space.shape_arrays)
        order, tree = build(points, Boxes(points.spans, points.spans, points.masks))
        moved = points._replace(spans=points.spans[order], masks=points.masks[order])
        return cls(order, moved, tree)

    def __len__(self) -> int:
        return len(self.order)

    def in_rows(self, matches: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return a graph in row numbers instead of tree positions."""
        rows = np.empty_like(matches)
        rows[self.order] = self.order[matches]
        return rows

    def search_originals(
        self,
        boxes: Boxes,
        matches: NDArray[np.int32],
        members: NDArray[np.int64],
        keys: NDArray[np.int64],
    ) -> None:
        """Fill `keys` with the cheapest new originals of some boxes (see `cheapest_points`)."""
        points, tree = self.points, self.tree
        scratch = np.empty((2, len(tree.starts)), np.int64)
        cheapest_points(
            members, points.spans, points.masks, *boxes, points.steps, points.words, tree.starts,
            tree.ends, tree.lefts, tree.lows, tree.highs, tree.masks, matches, matches.shape[1],
            *scratch, keys,
        )  # fmt: skip


def themselves(n: int) -> NDArray[np.int32]:
    """Return the first assignment: every record matches itself at no loss."""
    return np.arange(n, dtype=np.int32).reshape(-1, 1)


def with_round(matches: NDArray[np.int32], assignment: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return a graph with one assignment more."""
    return np.ascontiguousarray(np.column_stack((matches, assignment)))


def lexicographic(ranks: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return rows in lexicographic order, columns of low cardinality first (HK, section III)."""
    cardinality = [np.count_nonzero(np.bincount(column)) for column in ranks.T]
    columns = np.argsort(cardinality, kind="stable")
    return np.lexsort([ranks[:, column] for column in columns[::-1]])


def in_parts(n: int, kernel: Callable[..., Any], *arguments: object) -> None:
    """Run a kernel over parts of 0..n-1, a thread each; the parts do not change the result."""
    parts = os.cpu_count() or 1
    cuts = [part * n // parts for part in range(parts + 1)]
    in_threads(
        [partial(kernel, first, last, *arguments) for first, last in pairwise(cuts)], lambda: None
    )
