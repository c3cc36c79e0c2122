"""The leaves under published nodes: the labels themselves, or places for those nobody names.

Whoever made a release knows which labels lie under a node. Its manifest says only how many: a label
that a reader asks for takes one of their places, if the node covers it at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from shoal.audit.reading import code_by_kind
from shoal.errors import BadCells
from shoal.table.placing import distinct_of

if TYPE_CHECKING:
    from shoal.audit.nodes import Stated
    from shoal.table.column import Column


class Leaves:
    """Labels in tree order, and the first and the last of them under every named node."""

    def __init__(self, labels: list[str], ranges: dict[str, tuple[int, int]]) -> None:
        self.labels = pl.Series(labels, dtype=pl.String)
        self.ranges = ranges
        self.rank_of = {label: rank for rank, label in enumerate(labels)}

    @classmethod
    def of(cls, column: Column) -> Leaves:
        """Take the labels of a column with a tree, in the order of its ranks."""
        assert column.tree is not None
        assert column.places is not None
        low = column.places.searchsorted(column.tree.first, "left").tolist()
        high = (column.places.searchsorted(column.tree.last, "right") - 1).tolist()
        ends = zip(low, high, strict=True)
        return cls(column.spellings.to_list(), dict(zip(column.tree.names, ends, strict=True)))

    def rank(self, label: str) -> int | None:
        """Return the place of a label, None where it has none."""
        return self.rank_of.get(label)

    def under(self, names: pl.Series) -> list[range]:
        """Return the places under each of some nodes."""
        return [range(self.ranges[name][0], self.ranges[name][1] + 1) for name in names]


class StatedLeaves(Leaves):
    """The leaves that a manifest counts; those without a name wait to be asked for."""

    def __init__(self, stated: Stated, type: str | None) -> None:
        self.stated, self.type = stated, type
        below: dict[str | None, list[str]] = {}
        for name, parent in stated.parents.items():
            below.setdefault(parent, []).append(name)
        labels: list[str] = []
        ranges: dict[str, tuple[int, int]] = {}
        self.free: dict[str, list[int]] = {}

        def lay_out(name: str) -> None:
            first = len(labels)
            for child in below.get(name, ()):
                lay_out(child)
            unnamed = stated.leaves[name] - (len(labels) - first)
            if stated.leaves[name] == 1 and unnamed:
                labels.append(name)
            else:
                self.free[name] = list(range(len(labels), len(labels) + unnamed))
                labels.extend(f"{name} #{number}" for number in range(unnamed))
            ranges[name] = (first, len(labels) - 1)

        lay_out(stated.root)
        super().__init__(labels, ranges)

    def rank(self, label: str) -> int | None:
        """Return the place of a label; the first time, a free one under the lowest node above it.

        Where all places are taken, there is no such label.
        """
        if label not in self.rank_of and label not in self.ranges:
            names = self._above(label)
            depths = [len(self.stated.path(name)) for name in names]
            free = self.free.get(names[depths.index(max(depths))]) if names else None
            if free:
                self.rank_of[label] = free.pop(0)
        return self.rank_of.get(label)

    def _above(self, label: str) -> list[str]:
        try:
            column = code_by_kind(pl.Series(self.stated.column, [label]), "node", self.type)
        except BadCells:  # no number, so it is under no node
            return []
        return self.stated.covering(self.stated.parents, distinct_of(column))[0]
