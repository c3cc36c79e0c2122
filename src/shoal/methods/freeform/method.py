"""Heterogeneous k-anonymity: freeform generalization, and the ring that it improves on.

Rounds of the two greedy algorithms (HK, Algorithms 1 and 2) go without an n by n matrix. Afterwards
every record keeps k matches on both sides: a step takes one assignment out of the graph and solves
it again over the boxes that the others leave. What was taken out is among the candidates for what
comes in, so no step raises the loss. Taken out is the assignment whose removal saves most, a
cheapest perfect matching within the graph itself; the first such steps gain about what re-solving
every round once does. When that stalls, the edges are dealt at random into assignments and each is
solved again once, which frees it. The matches of each record with itself stay.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import TooCrowded, UsageError, option
from shoal.kernels.chacha import Stream, stream_of
from shoal.kernels.freeform.boxes import cover, enlarge, losses_without, total_loss
from shoal.kernels.freeform.greedy import AHEAD, greedy_round, look_ahead, sort_round
from shoal.kernels.freeform.matchings import decompose
from shoal.kernels.freeform.nearest import fit_earliest
from shoal.kernels.freeform.tree import build
from shoal.methods.base import Method, Task
from shoal.methods.freeform.exact import (
    Field,
    assignments,
    in_parts,
    lexicographic,
    solve_matching,
    solve_round,
    themselves,
    with_round,
)
from shoal.progress import Enough, never
from shoal.release.graph import GeneralizationGraph

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shoal.table.coded import Coded, Space


STALLED = 2e-4  # a step that gains less than this share of the loss has stalled


class Budget:
    """How long improvement goes on: some seconds, or a number of steps that is the same everywhere.

    The steps of a run without `seconds` depend on the table alone, so that a seed repeats them.
    """

    STEPS_BY_ROWS = 100_000  # one step on 100,000 rows takes as long as twenty on 5,000
    MOST_STEPS = 20

    def __init__(self, rows: int, seconds: float | None, enough: Enough = never) -> None:
        self.seconds, self.enough = seconds, enough
        self.steps = min(self.MOST_STEPS, self.STEPS_BY_ROWS // max(rows, 1))
        self.done = 0
        self.began = time.monotonic()

    @property
    def share(self) -> float:
        """How much of it is spent, from 0 to 1."""
        if self.enough():
            return 1.0
        if self.seconds is None:
            return self.done / self.steps if self.steps else 1.0
        spent = time.monotonic() - self.began
        return min(1.0, spent / self.seconds) if self.seconds > 0 else 1.0


def improve(
    field: Field, matches: NDArray[np.int32], budget: Budget, watch: Callable[[float], None]
) -> NDArray[np.int32]:
    """Return a graph of at most the loss of `matches` (both in tree positions).

    A step once begun is finished, so a time may be overrun by one step. The phase ends early when
    a whole sweep over the assignments has stalled.
    """
    matches = matches.copy()
    # Any dealing will do here, so a known key: what is published is drawn from a fresh one.
    stream = stream_of(bytes(32))
    loss = total_loss(field.points, cover(field.points, matches))
    sweep = 0  # assignments of a sweep still to solve
    at_sweep = loss
    while matches.shape[1] > 1 and budget.share < 1:
        watch(budget.share)
        if sweep == 0:
            _costliest_last(field, matches)
        else:
            matches[:, [sweep, -1]] = matches[:, [-1, sweep]]
            sweep -= 1
        before, loss = loss, _solve_last_again(field, matches)
        budget.done += 1
        if sweep == 0 and before - loss <= STALLED * before:
            if at_sweep - loss <= STALLED * at_sweep:
                break
            at_sweep = loss
            matches = _dealt(matches, stream)
            sweep = matches.shape[1] - 1
    return _dealt(matches, stream)


def _solve_last_again(field: Field, matches: NDArray[np.int32]) -> int:
    """Solve the last column (IN/OUT) again, given the others; return the loss that results."""
    others = np.ascontiguousarray(matches[:, :-1])
    boxes = cover(field.points, others)
    matches[:, -1] = solve_round(field, boxes, others, known=matches[:, -1].copy())
    enlarge(field.points, boxes, matches[:, -1])
    return total_loss(field.points, boxes)


def _costliest_last(field: Field, matches: NDArray[np.int32]) -> None:
    """Move the assignment whose removal saves most to the last column (IN/OUT).

    The other edges keep their rows, not their columns.
    """
    n, k = matches.shape
    points = field.points
    losses = np.empty((n, k - 1), np.int64)
    union = np.empty((1, points.masks.shape[1]), np.uint64)
    losses_without(points.spans, points.masks, points.steps, points.words, matches, union, losses)
    losses -= losses.min(axis=1, keepdims=True)
    tails = np.repeat(np.arange(n), k - 1)
    arcs = np.stack((tails, matches[:, 1:].ravel().astype(np.int64), losses.ravel()))
    taken = solve_matching(arcs, n)
    place = (matches == taken[:, None]).argmax(axis=1)
    matches[np.arange(n), place] = matches[:, -1]
    matches[:, -1] = taken


def _dealt(matches: NDArray[np.int32], stream: Stream) -> NDArray[np.int32]:
    """Return the same graph with every column an assignment, the first as it was."""
    rest = decompose(np.ascontiguousarray(matches[:, 1:]), stream)
    return np.ascontiguousarray(np.column_stack((matches[:, 0], rest)))


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


class Heterogeneous(Method):
    """A method that recasts every record on its own, so that each person matches k records."""

    k: int | None

    def agreed_k(self, task: Task) -> int:
        """Return the k that is required, which has to be the method's own where it names one."""
        for one in task.requirements:
            if not one.principle.sizes_only:
                msg = (
                    f"{self!r} publishes no groups, so it can keep KAnonymity(k=…) and nothing "
                    f"beside it; {one.principle!r} was required. Use Split()."
                )
                raise UsageError(msg)
        required = task.least
        if self.k is not None and self.k != required:
            msg = (
                f"{self!r} and KAnonymity(k={required}) do not agree on k. "
                f"Write {type(self).__name__}() and it takes k from the requirement."
            )
            raise UsageError(msg)
        return required

    def check(self, task: Task) -> None:
        """Raise where anything but k-anonymity is required, or two different k."""
        from shoal.kernels.freeform.boxes import MOST_COLUMNS, MOST_ROWS

        self.agreed_k(task)
        rows, columns = len(task.coded), len(task.coded.quasi)
        if rows > MOST_ROWS or columns > MOST_COLUMNS:
            msg = (
                f"{self!r} takes at most {MOST_ROWS:,} rows and {MOST_COLUMNS} quasi columns. "
                f"The table has {rows:,} and {columns}."
            )
            raise UsageError(msg)

    def search(self, task: Task) -> GeneralizationGraph:
        """Find the graph; missing numbers and others are never in one cell.

        Whom a published row matches is counted in boxes, and such a cell would be none.
        """
        coded, k = task.coded, self.agreed_k(task)
        parts = _alike_missing(coded)
        if len(parts) == 1:
            return GeneralizationGraph(coded.line, self.matches(task, k))
        few = [rows for rows in parts if len(rows) < k]
        if few:
            raise TooCrowded(_too_few(repr(self), k, few), np.concatenate(few))
        matches = np.empty((len(coded), k), np.int32)
        for rows in parts:
            seconds = None if task.seconds is None else task.seconds * len(rows) / len(coded)
            part = replace(task.part(rows), seconds=seconds)
            matches[rows] = rows[self.matches(part, k)]
        return GeneralizationGraph(coded.line, matches)

    def matches(self, task: Task, k: int) -> NDArray[np.int32]:
        """Return the originals that each recast record covers."""
        raise NotImplementedError


def _alike_missing(coded: Coded) -> list[NDArray[np.int64]]:
    """Return the rows in which the same numbers are missing."""
    marks = np.zeros(len(coded), np.int64)
    for column in coded.quasi:
        if column.gap is not None:
            marks = np.unique(2 * marks + (column.codes == column.gap), return_inverse=True)[1]
    return [np.flatnonzero(marks == mark) for mark in range(int(marks.max()) + 1)]


def _too_few(name: str, k: int, few: list[NDArray[np.int64]]) -> str:
    """Say that rows with missing cells are too few to be among themselves."""
    rows = sum(map(len, few))
    return (
        f"{name} never joins missing and known numbers in one cell, and {rows:,} rows have missing "
        f"cells in columns where fewer than {k} rows have the same ones missing. Choose another "
        f"method, such as {option('method', 'Exchange()')}, leave those rows out with "
        f"{option('suppress')}, or leave out all rows with missing cells: "
        f"{option('missing', 'drop')}."
    )


@dataclass(frozen=True, repr=False)
class Freeform(Heterogeneous):
    """k rounds of assignments, each of little added loss, then an improvement of the whole.

    `assignment` is how a round is solved: "exact" (of least total added loss; among near
    candidates where the table is large), "greedy" (Algorithm 1 of the paper) or "sort" (Algorithm
    2). The greedy ones are the paper's to the letter and are not improved. `k` comes from
    `KAnonymity(k)`; given here too, it has to be the same.

    The time for the improvement is `seconds` of the task; without it, a number of steps that
    depends on the table alone.

    References
    ----------
    Doka, Xue, Tsoumakos, Karras, Cuzzocrea, Koziris: Heterogeneous k-Anonymization with High
    Utility. IEEE Big Data 2015.
    """

    k: int | None = None
    assignment: str = "exact"

    source = "Doka, Xue, Tsoumakos, Karras, Cuzzocrea, Koziris, IEEE Big Data 2015"

    def check(self, task: Task) -> None:
        """Raise where a requirement is not k-anonymity, or nothing can solve assignments."""
        super().check(task)
        if self.assignment == "exact":
            assignments(repr(self))

    def matches(self, task: Task, k: int) -> NDArray[np.int32]:
        """Return the originals that each recast record covers."""
        from shoal.methods.freeform.exact import Field

        space = task.coded.line

        def watch(share: float) -> None:
            task.progress("search", share)

        # Each assignment loads, and once compiles, its own kernels only.
        if self.assignment != "exact":
            field = Field.of(space)
            return field.in_rows(greedy_graph(space, field, k, self.assignment, watch))
        from shoal.methods.freeform.exact import stretches

        matches = np.empty((len(task.coded), k), np.int32)
        parts = stretches(space, k)
        for number, rows in enumerate(parts):
            part = replace(space, codes=tuple(codes[rows] for codes in space.codes))
            matches[rows] = rows[_least(part, k, task, number, len(parts))]
        return matches


def _least(space: Space, k: int, task: Task, number: int, parts: int) -> NDArray[np.int32]:
    """Return the graph of one stretch of a table, of least loss in its share of the time."""
    from shoal.methods.freeform.exact import Field, exact_graph

    def watch(phase: str) -> Callable[[float], None]:
        return lambda share: task.progress(phase, (number + share) / parts)

    field = Field.of(space)
    found = exact_graph(field, k, watch("search"))
    seconds = None if task.seconds is None else task.seconds / parts
    budget = Budget(len(field), seconds, task.enough)
    return field.in_rows(improve(field, found, budget, watch("improve")))


@dataclass(frozen=True, repr=False)
class Ring(Heterogeneous):
    """A record and the k - 1 next in lexicographic order, going round: the rival to beat.

    References
    ----------
    Wong, Mamoulis, Cheung: Non-homogeneous Generalization in Privacy Preserving Data Publishing.
    SIGMOD 2010.
    """

    k: int | None = None

    source = "Wong, Mamoulis, Cheung, SIGMOD 2010"

    def matches(self, task: Task, k: int) -> NDArray[np.int32]:
        """Return the originals that each recast record covers."""
        from shoal.methods.freeform.exact import lexicographic

        order = lexicographic(task.coded.line.ranks).astype(np.int32)
        n = len(order)
        matches = np.empty((n, k), np.int32)
        matches[order] = order[(np.arange(n)[:, None] + np.arange(k)) % n]
        return matches
