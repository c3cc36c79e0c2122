"""The greedy rounds of HK over a full matrix of added losses.

Source: HK, Algorithms 1 and 2. The matrix is NumPy's, so that tables of 2,000 rows can be compared;
losses are integers in units of 2**-30, the places of a column's values scaled to length one and a
further label 1 / (labels - 1). What the paper leaves open is fixed so:

- the order of records is lexicographic by ranks, columns with fewer values first, then by row;
- equal losses go to the earlier record in that order;
- an original left without a partner asks others, nearest first (Algorithm 1: those before it;
  Algorithm 2: both sides, the one before first), for one whose partner it may take and that has a
  free partner left; where nobody can help, a shortest augmenting path is taken.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

FIXED = 2**30
PORTION = 50_000  # edges looked at together, in their order
USED = -1  # the weight of a pair that is matched already
Weights = Any
Mates = dict[int, int]


class Table:
    """A table as the algorithms see it: ranks, and where each rank stands."""

    def __init__(self, columns: Sequence[Sequence[Any]], kinds: Sequence[str]) -> None:
        self.n = len(columns[0])
        self.kinds = list(kinds)
        self.ranks, self.places, self.steps = [], [], []
        for cells, kind in zip(columns, kinds, strict=True):
            values = sorted(set(cells))
            rank = {value: place for place, value in enumerate(values)}
            self.ranks.append(np.array([rank[cell] for cell in cells]))
            self.steps.append(round(FIXED / max(len(values) - 1, 1)))
            if kind == "interval":
                scale = max(1.0, *(abs(float(v)) for v in values))
                scaled = np.array([float(v) / scale for v in values])
                span = scaled[-1] - scaled[0]
                at = (scaled - scaled[0]) / span if span > 0 else 0 * scaled
                self.places.append(np.rint(at * FIXED).astype(np.int64))
            else:
                self.places.append(np.zeros(len(values), np.int64))

    def weights(self, graph: Sequence[Sequence[int]]) -> Weights:
        """Return weights[i, j]: the loss that record j adds by covering original i."""
        added = np.zeros((self.n, self.n), np.int64)
        for ranks, at, step, kind in zip(
            self.ranks, self.places, self.steps, self.kinds, strict=True
        ):
            for j, covered in enumerate(graph):
                own = ranks[list(covered)]
                if kind == "interval":
                    low, high = at[own.min()], at[own.max()]
                    added[:, j] += np.maximum(low - at[ranks], 0) + np.maximum(at[ranks] - high, 0)
                else:
                    added[:, j] += np.where(np.isin(ranks, own), 0, step)
        for j, covered in enumerate(graph):
            added[list(covered), j] = USED
        return added

    def order(self) -> list[int]:
        """Return the records in the order of the algorithms."""
        columns = sorted(self.ranks, key=lambda ranks: len(set(ranks.tolist())))
        return sorted(range(self.n), key=lambda i: ([int(ranks[i]) for ranks in columns], i))


def rounds(
    table: Table, k: int, one_round: Callable[[Weights, list[int]], Mates]
) -> list[list[int]]:
    """Return the graph of k - 1 rounds."""
    graph = [[j] for j in range(table.n)]
    for _ in range(k - 1):
        for i, j in one_round(table.weights(graph), table.order()).items():
            graph[j].append(i)
    return graph


class State:
    """A round under way: who is matched, and which records are free."""

    def __init__(self, weights: Weights, order: list[int]) -> None:
        self.weights, self.order = weights, order
        self.position = np.empty(len(order), np.int64)
        self.position[order] = np.arange(len(order))
        self.free = np.ones(len(order), bool)
        self.mate: Mates = {}

    def cheapest(self, i: int) -> int | None:
        """Return the free record of least (weight, position) that i may be matched to."""
        allowed = np.flatnonzero(self.free & (self.weights[i] != USED))
        if not len(allowed):
            return None
        best = np.lexsort((self.position[allowed], self.weights[i, allowed]))[0]
        return int(allowed[best])

    def match(self, i: int, j: int) -> None:
        """Match an original to a free record."""
        self.mate[i] = j
        self.free[j] = False

    def rescue(self, i: int, others: Sequence[int]) -> None:
        """Match an original that has no free partner left."""
        for y in others:
            if self.weights[i, self.mate[y]] == USED:
                continue
            m = self.cheapest(y)
            if m is not None:
                self.mate[i] = self.mate[y]
                self.match(y, m)
                return
        self._augment(i)

    def _augment(self, i: int) -> None:
        holder = {j: y for y, j in self.mate.items()}
        paths, seen = [[i]], set()
        while paths:
            path = paths.pop(0)
            for j in self.order:
                if j in seen or self.weights[path[-1], j] == USED:
                    continue
                seen.add(j)
                if not self.free[j]:
                    paths.append([*path, j, holder[j]])
                    continue
                full = [*path, j]
                for y, box in zip(full[::2], full[1::2], strict=True):
                    self.mate[y] = box
                self.free[j] = False
                return


def greedy(weights: Weights, order: list[int]) -> Mates:
    """Run one round of Algorithm 1."""
    state = State(weights, order)
    for turn, i in enumerate(order):
        j = state.cheapest(i)
        if j is None:
            state.rescue(i, order[:turn][::-1])
        else:
            state.match(i, j)
    return state.mate


def sort_greedy(weights: Weights, order: list[int]) -> Mates:
    """Run one round of Algorithm 2 by sorting all pairs."""
    state = State(weights, order)
    i, j = np.nonzero(weights != USED)
    edges = np.lexsort((state.position[j], state.position[i], weights[i, j]))
    waiting = np.ones(len(order), bool)
    for start in range(0, len(edges), PORTION):
        part = edges[start : start + PORTION]
        part = part[waiting[i[part]] & state.free[j[part]]]
        for left, right in zip(i[part].tolist(), j[part].tolist(), strict=True):
            if waiting[left] and state.free[right]:
                state.match(left, right)
                waiting[left] = False
    for turn, left in enumerate(order):
        if left not in state.mate:
            sides = [p for x in range(1, len(order)) for p in (turn - x, turn + x)]
            near = [order[p] for p in sides if 0 <= p < len(order)]
            state.rescue(left, [y for y in near if y in state.mate])
    return state.mate
