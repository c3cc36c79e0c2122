"""Rounds of least total added loss (the full version of HK solves each round exactly).

Up to WHOLE records a round is solved over all pairs. Beyond, it is solved over some of the cheapest
originals of each record and one perfect matching that makes it feasible, in blocks of records that
are near in quasi space; what a border kept apart is solved once more across it. Beyond STRETCH, a
table is solved stretch by stretch. OR-tools proves its answer optimal on those pairs (cost scaling
over integers) or says that it could not.

The field of a search is originals in tree order, and the tree over them. Searches work in *tree
positions*: near records lie side by side, and a node is a run of them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.kernels.freeform.boxes import (
    Boxes,
    FixedPoints,
    all_losses,
    assigned_losses,
    cover,
    enlarge,
    fixed_point,
)
from shoal.kernels.freeform.matchings import list_arcs, mark_seam, spare_assignment
from shoal.kernels.freeform.nearest import cheapest_points
from shoal.kernels.freeform.tree import PointTree, build
from shoal.progress import in_threads
from shoal.table.files import load

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


WHOLE = 2_000
BLOCK = 32_000
STRETCH = 100_000  # rows of a large table that are searched together
NEAR = 35
FEW = 18  # where there are several blocks: 0.7 of the time, for 0.7 per cent of the loss
GOLDEN = 0.6180339887498949
PRICE_BITS = 60  # that cost scaling may use
MANY = 10_000  # records from which on costs are rounded, the sooner to be matched
FINE = 13  # bits that the middle one of the costs is rounded to


def exact_graph(field: Field, k: int, watch: Callable[[float], None]) -> NDArray[np.int32]:
    """Return the graph (tree positions) of k - 1 rounds, each of least total added loss."""
    matches = themselves(len(field))
    boxes = cover(field.points, matches)
    for done in range(1, k):
        watch((done - 1) / (k - 1))
        assignment = solve_round(field, boxes, matches)
        enlarge(field.points, boxes, assignment)
        matches = with_round(matches, assignment)
    return matches


def solve_round(
    field: Field,
    boxes: Boxes,
    matches: NDArray[np.int32],
    known: NDArray[np.int32] | None = None,
) -> NDArray[np.int32]:
    """Return an assignment, disjoint from `matches`, that adds least loss to `boxes`.

    `known` is an assignment that is allowed already; the answer is never worse than it.
    """
    n, used = matches.shape
    if n <= WHOLE or n < 4 * (used + 1):
        return _solve_whole(field, boxes, matches)
    parts = blocks(field.points, np.arange(n), used, BLOCK)
    if known is None:
        known = np.empty(n, np.int32)
        for members in parts:
            spare_assignment(matches, members, known)
    keys = np.empty((n, candidates(n, used + 1)), np.int64)
    assignment = _solve_blocks(field, boxes, matches, keys, known, parts, search=True)
    if len(parts) > 1:
        seam = _seam(field, boxes, keys, assignment, parts)
        parts = blocks(field.points, seam, used + 1, BLOCK)
        assignment = _solve_blocks(field, boxes, matches, keys, assignment, parts, search=False)
    return assignment


def candidates(n: int, matches: int) -> int:
    """Return how many of the cheapest originals each of n records may be assigned to.

    The more matches a record has, the more of them are taken already.
    """
    return NEAR if n <= BLOCK else min(NEAR, max(FEW, 3 * matches // 2))


def _solve_blocks(
    field: Field,
    boxes: Boxes,
    matches: NDArray[np.int32],
    keys: NDArray[np.int64],
    known: NDArray[np.int32],
    parts: list[NDArray[np.int64]],
    *,
    search: bool,
) -> NDArray[np.int32]:
    """Solve each block of boxes over the originals that it holds in `known`.

    Boxes in no block keep what they hold. OR-tools keeps the interpreter to itself while it
    solves, but the searches (`keys`, OUT, when `search`) do not need it: one block is searched
    while another is solved.
    """
    n = len(matches)
    owner = np.full(n, -1, np.int32)
    place = np.empty(n, np.int32)
    for number, members in enumerate(parts):
        owner[known[members]] = number
        place[known[members]] = np.arange(len(members))
    costs = losses_of(field, boxes, known)
    assignment = known.copy()

    def solve(number: int) -> None:
        members = parts[number]
        if search:
            field.search_originals(boxes, matches, members, keys)
        held = known[members]
        arcs = np.empty((3, len(members) * (keys.shape[1] + 1)), np.int64)
        count = list_arcs(members, keys, held, costs, owner, place, number, arcs)
        assignment[members] = held[solve_matching(arcs[:, :count], len(members))]

    in_threads([partial(solve, number) for number in range(len(parts))], lambda: None)
    after = losses_of(field, boxes, assignment)
    for members in parts:  # costs are rounded, so what is best by them may be a little worse
        if after[members].sum() > costs[members].sum():
            assignment[members] = known[members]
    return assignment


def _seam(
    field: Field,
    boxes: Boxes,
    keys: NDArray[np.int64],
    assignment: NDArray[np.int32],
    parts: list[NDArray[np.int64]],
) -> NDArray[np.int64]:
    """Return boxes that a border kept from a cheaper original, and the boxes that hold those."""
    n = len(assignment)
    home = np.empty(n, np.int32)
    for number, members in enumerate(parts):
        home[members] = number
    holder = np.empty(n, np.int64)
    holder[assignment] = np.arange(n)
    near = np.zeros(n, np.bool_)
    mark_seam(keys, losses_of(field, boxes, assignment), holder, home, near)
    return np.flatnonzero(near)


def losses_of(field: Field, boxes: Boxes, assignment: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the loss that each box would add for its assigned original."""
    points = field.points
    losses = np.empty(len(assignment), np.int64)
    assigned_losses(
        points.spans, points.masks, *boxes, points.steps, points.words, assignment, losses
    )
    return losses


def stretches(space: Space, k: int) -> list[NDArray[np.int64]]:
    """Return rows in parts, near in quasi space, that are searched one after the other.

    Graphs of parts are one graph together, and what is at hand at once is that of one part.
    """
    points = fixed_point(space.ranks, *space.shape_arrays)
    return blocks(points, np.arange(len(space.ranks)), 0, max(STRETCH, 8 * k))


def blocks(
    points: FixedPoints, members: NDArray[np.int64], turn: int, most: int
) -> list[NDArray[np.int64]]:
    """Cut records into blocks near in quasi space; another `turn` moves the borders.

    Multiples of the golden ratio spread the cuts of successive turns evenly.
    """
    fraction = 0.35 + 0.3 * (turn * GOLDEN % 1)
    pending, done = [members], []
    while pending:
        members = pending.pop()
        if len(members) <= most:
            done.append(np.sort(members))
            continue
        spans, masks = points.spans[members], points.masks[members]
        columns = [*spans.T, *masks.T.view(np.int64)]
        widths = [np.ptp(column) / 2 for column in spans.T]
        for place, step in enumerate(points.steps):
            words = masks[:, points.words[place] : points.words[place + 1]]
            widths += [float(step) if differs else 0.0 for differs in (words != words[0]).any(0)]
        cut = int(fraction * len(members))
        split = np.argsort(columns[int(np.argmax(widths))], kind="stable")
        pending += [members[split[:cut]], members[split[cut:]]]
    return done


def solve_matching(arcs: NDArray[np.int64], n: int) -> NDArray[np.int32]:
    """Return the cheapest perfect matching of n records over arcs (box, original, loss).

    Cost scaling moves prices by up to about n² times the largest cost, which must stay within 63
    bits, and takes the longer the more there are. So the last bits of the costs (of 30 below the
    point) are rounded away beyond some 10,000 records: as many as have to be, and as the middle one
    of them can do without. Of a heavy tail, small costs are told apart however large others are.
    """
    solver = assignments("Freeform()").SimpleLinearSumAssignment()
    costs = arcs[2]
    surplus = int(costs.max()).bit_length() + 2 * n.bit_length() - PRICE_BITS
    if n > MANY:
        surplus = max(surplus, int(np.median(costs)).bit_length() - FINE)
    if surplus > 0:
        costs = (costs + (1 << (surplus - 1))) >> surplus
    solver.add_arcs_with_cost(arcs[0].astype(np.int32), arcs[1].astype(np.int32), costs)
    status = solver.solve()
    if status != solver.OPTIMAL:
        msg = f"The assignment over {n} records ended with {status}."
        raise RuntimeError(msg)
    return np.fromiter((solver.right_mate(row) for row in range(n)), np.int32, n)


def _solve_whole(field: Field, boxes: Boxes, matches: NDArray[np.int32]) -> NDArray[np.int32]:
    """Solve over all pairs; a used pair costs more than any whole assignment."""
    n = len(matches)
    costs = np.empty((n, n), np.int64)
    points = field.points
    all_losses(points.spans, points.masks, *boxes, points.steps, points.words, costs)
    costs[np.arange(n)[:, None], matches] = n * (int(costs.max()) + 1)
    solver = load("scipy.optimize", extra="matching", what="Freeform()")
    return solver.linear_sum_assignment(costs)[1].astype(np.int32)


def assignments(what: str) -> Any:
    """Return OR-tools' solver, or raise saying what needs it and how it is installed."""
    return load("ortools.graph.python.linear_sum_assignment", extra="matching", what=what)
