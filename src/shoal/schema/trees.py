"""A hierarchy as a tree over its labels in tree order, so that every node is a range of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shoal.schema.hierarchy import Levels


@dataclass(frozen=True, eq=False)
class Tree:
    """Labels in tree order and the nodes above them.

    Node i stands for the labels `first[i] … last[i]`; `up[level, place]` is the node above the
    label at `place`, level 0 being the label itself and the last level the root. `leaves[i]` counts
    the labels that are in the table: a node may cover others, of people who are not.
    """

    labels: tuple[str, ...]
    names: tuple[str, ...]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    up: NDArray[np.int32]
    leaves: NDArray[np.int64]

    @classmethod
    def of(cls, levels: Levels, column: str) -> Tree:
        """Build the tree of a column from levels that `check_levels` has passed.

        A published name has to say what it covers, so a name may not stand for different labels
        on different levels.
        """
        depth = len(levels[0])
        met: list[dict[str, int]] = [{} for _ in range(depth)]
        keys = np.array(
            [[met[level].setdefault(path[level], len(met[level])) for level in range(depth)]
             for path in levels],
            np.int64,
        )  # fmt: skip
        order = np.lexsort(keys.T)  # by the root, then by what is below it, as first met
        up = np.empty((depth, len(levels)), np.int32)
        names: list[str] = []
        bounds: list[tuple[int, int]] = []
        known: dict[str, int] = {}
        for level in range(depth):
            column_keys = keys[order, level]
            starts = np.flatnonzero(np.r_[True, np.diff(column_keys) != 0])
            ends = np.r_[starts[1:], len(levels)] - 1
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
                name = levels[order[start]][level]
                node = known.setdefault(name, len(names))
                if node == len(names):
                    names.append(name)
                    bounds.append((start, end))
                elif bounds[node] != (start, end):
                    msg = (
                        f"In the hierarchy of column {column!r}, the name {name!r} stands for "
                        "different labels on different levels. Rename one of the nodes."
                    )
                    raise InputError(msg)
                up[level, start : end + 1] = node
        first, last = np.array(bounds, np.int64).reshape(-1, 2).T
        return cls(
            tuple(levels[place][0] for place in order), tuple(names), first, last, up,
            last - first + 1,
        )  # fmt: skip

    def counting(self, places: NDArray[np.int64]) -> Tree:
        """Return the tree with the labels at some places, ascending, for those of the table."""
        below = np.searchsorted(places, self.first, "left")
        return replace(self, leaves=np.searchsorted(places, self.last, "right") - below)

    def parents(self) -> NDArray[np.int64]:
        """Return the node above each node, -1 above the root."""
        found = np.full(len(self.names), -1, np.int64)
        for below, above in zip(self.up[:-1], self.up[1:], strict=True):
            higher = below != above
            found[below[higher]] = above[higher]
        found[self.up[-1]] = -1
        return found

    def places(self, labels: Sequence[str], column: str) -> NDArray[np.int64]:
        """Return where labels stand in tree order, raising where one is missing."""
        place = {label: position for position, label in enumerate(self.labels)}
        for label in labels:
            if label not in place:
                msg = f"The hierarchy of column {column!r} lacks the label {label!r}."
                raise InputError(msg)
        return np.array([place[label] for label in labels], np.int64)

    def nodes(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the lowest common ancestor of the labels at each pair of places."""
        found = self.up[-1, low]
        for level in range(len(self.up) - 2, -1, -1):
            above = self.up[level, low]
            found = np.where(above == self.up[level, high], above, found)
        return found

    @property
    def ncp(self) -> NDArray[np.float64]:
        """The NCP of each node: (leaves under it - 1) / (leaves - 1).

        Where a node covers no label of the table, nothing is published by its name.
        """
        return np.maximum(self.leaves - 1, 0) / max(int(self.leaves[self.up[-1, 0]]) - 1, 1)
