"""Cutting a table that nobody holds whole: from a sample of its quasi columns, as a small tree.

Where cuts lie depends on quasi columns alone. Rows that are never mixed are in different trees.
Whoever has the tree knows the shard of a row from its ranks; what cannot be cut, because all its
rows are at one place, is dealt into several shards, by the rank of the sensitive value, so that
each has about the same values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shoal.table.coded import Coded

LEAF = -1
ABOUT = 1.25  # times as many rows as were asked for are not cut once more: halves would be small
EVEN = 0.1  # of the rows are on the smaller side of a cut, if any column allows that


@dataclass(eq=False)
class Cuts:
    """A forest of cuts: node i parts by `rank <= cut[i]` in column `column[i]`, or is a leaf.

    `parent` and `children` lead through it; `dealt[i]` says into how many shards a leaf is dealt.
    """

    roots: list[int] = field(default_factory=list)
    column: list[int] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    children: list[tuple[int, int]] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    dealt: list[int] = field(default_factory=list)

    def add(self, parent: int) -> int:
        """Add a leaf and return its number."""
        self.column.append(LEAF)
        self.cut.append(0)
        self.children.append((LEAF, LEAF))
        self.parent.append(parent)
        self.dealt.append(1)
        return len(self.column) - 1

    def grow(
        self, coded: Coded, rows: NDArray[np.int64], scale: float, largest: int, parent: int = LEAF
    ) -> int:
        """Cut sampled rows, each of which stands for `scale` rows; return the number of the root.

        A part is halved in the quasi column in which it spreads most, of those in which it can be
        parted about evenly.
        """
        node = self.add(parent)
        if len(rows) * scale <= largest * ABOUT:
            return node
        found = halves(coded, rows)
        if found is None:
            self.dealt[node] = int(-(-len(rows) * scale // largest))
            return node
        place, rank = found
        low = coded.quasi[place].codes[rows] <= rank
        self.column[node], self.cut[node] = place, rank
        self.children[node] = (
            self.grow(coded, rows[low], scale, largest, node),
            self.grow(coded, rows[~low], scale, largest, node),
        )
        return node

    def walk(self, ranks: Sequence[NDArray[np.int32]], roots: NDArray[np.int64]) -> NDArray:
        """Return the leaf of each row, from the root of its tree and its ranks."""
        column, cut = np.array(self.column), np.array(self.cut)
        children = np.array(self.children)
        nodes = roots.copy()
        going = np.flatnonzero(column[nodes] != LEAF)
        while len(going):
            at = nodes[going]
            for place in np.unique(column[at]):
                here = column[at] == place
                some = going[here]
                right = ranks[place][some] > cut[at[here]]
                nodes[some] = children[at[here], right.astype(np.int64)]
            going = going[column[nodes[going]] != LEAF]
        return nodes

    def leaves(self, node: int) -> list[int]:
        """Return the leaves under a node."""
        waiting, found = [node], []
        while waiting:
            one = waiting.pop()
            if self.column[one] == LEAF:
                found.append(one)
            else:
                waiting.extend(self.children[one])
        return found


def halves(coded: Coded, rows: NDArray[np.int64]) -> tuple[int, int] | None:
    """Return a column and the last rank of its lower half, None where all rows are at one place."""
    space = coded.line
    spreads, cuts, sides = [], [], []
    for place, codes in enumerate(space.codes):
        some = codes[rows]
        coords = space.coords[space.offsets[place] : space.offsets[place + 1]]
        least, most = some.min(), some.max()
        spreads.append(float(coords[most] - coords[least]))
        if least == most:
            cuts.append(0)
            sides.append(0.0)
            continue
        below = np.cumsum(np.bincount(some - least))[:-1]
        best = int(np.argmin(np.abs(below - len(rows) / 2)))
        cuts.append(int(least) + best)
        sides.append(min(below[best], len(rows) - below[best]) / len(rows))
    if not any(sides):
        return None
    order = sorted(range(len(cuts)), key=lambda at: (sides[at] < EVEN, -spreads[at], -sides[at]))
    chosen = next(at for at in order if sides[at] > 0)
    if sides[chosen] < EVEN:
        chosen = int(np.argmax(sides))
    return chosen, cuts[chosen]


def deal(values: NDArray, parts: int, begun: int) -> NDArray[np.int64]:
    """Deal rows to so many shards by the rank of their values, going on after the `begun` ones."""
    dealt = np.empty(len(values), np.int64)
    dealt[np.argsort(values, kind="stable")] = (begun + np.arange(len(values))) % parts
    return dealt
