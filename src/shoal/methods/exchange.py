"""Exchange: groups close in quasi space, repaired and improved by exchanging members.

A search that could not keep everything says how far it came, and which rows stand in its way.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from shoal.distances.relation import between_members, pack, parts_of
from shoal.errors import UsageError
from shoal.methods.base import Method, Task
from shoal.methods.breaches import not_reached, united
from shoal.methods.exhaustive import Thorough
from shoal.methods.splitting import Rule, split
from shoal.notation import whole_number
from shoal.principles.base import Pairwise
from shoal.principles.groups import Groups
from shoal.release.boxes import certainty

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.kernels.exchange.loss import LossSpace
    from shoal.kernels.relations import Relations
    from shoal.methods.base import Task
    from shoal.methods.nearby import Start
    from shoal.release.layout import Found
    from shoal.table.coded import Sensitive


LARGEST = 8  # times the least size, up to which larger groups are tried where it fails
TRIES = 4
CROWDED = 4 / 5  # of the groups that people with several values start with: next, larger ones
PARTS = 8  # of a person's values, at most, that are counted by themselves
MEMORY = 1 << 28  # bytes, about, for who is near to which part


@dataclass(frozen=True, eq=False)
class Board:
    """A task as the exchange engine takes it: positions, codes, relations with their bounds."""

    space: LossSpace
    values: NDArray[np.float64]
    codes: NDArray[np.int32]
    relations: Relations

    @classmethod
    def of(cls, task: Task, chosen: int, room: int = 0) -> Board:
        """Lay out a task for groups of the given size, and of at least `room` members."""
        from shoal.kernels.exchange.loss import LossSpace, positions

        pairs = pairwise_of(task)
        rows = len(task.coded)
        room = max(2 * chosen, -(-rows // (rows // chosen)), room)
        parts = min(PARTS, max(1, MEMORY // (2 * rows * room)))
        relations = [
            # Where nobody else may be near, it is all the same near to which value.
            between_members(
                principle.relation(value), value, parts if principle.searched(chosen) > 1 else 1
            )
            for principle, value in pairs
        ]
        each = [parts_of(relation) for relation in relations]
        bounds = np.array(
            [[0, *(principle.searched(s) for s in range(1, room + 1))] for principle, _ in pairs],
            np.int64,
        ).reshape(len(pairs), room + 1)
        bounds[:, : task.least] = 0
        space = task.coded.space
        return cls(
            space=LossSpace(space.kinds, space.units, space.coords, space.offsets),
            values=positions(space.ranks, space.coords, space.offsets, space.kinds),
            codes=np.repeat(
                np.array([value.members for _, value in pairs], np.int32).reshape(len(pairs), rows),
                each,
                axis=0,
            ),
            relations=pack(relations, bounds=np.repeat(bounds, each, axis=0), least=task.least),
        )

    def start(self, size: int) -> Start:
        """Return groups of equal sizes, or one apart."""
        from shoal.methods.nearby import close_groups

        return close_groups(self.space, self.values, len(self.values) // size)


def uneven_start(task: Task, size: int) -> Start:
    """Return groups of any sizes from this one to its double, rows that tie kept together."""
    buckets = split(task, Rule.of_size(task, size), widest=False, ties="either")
    return buckets.rows.astype(np.int64), halved(buckets.starts, 2 * size)


def halved(starts: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Cut ranges that are longer than `most` into equal parts, none under half of it."""
    sizes = np.diff(starts)
    parts = -(-sizes // most)
    owner = np.repeat(np.arange(len(sizes)), parts)
    place = np.arange(len(owner)) - (np.cumsum(parts) - parts)[owner]
    begins = starts[owner] + place * sizes[owner] // parts[owner]
    return np.append(begins, starts[-1])


def _groups_of(start: Start) -> Groups:
    """Return a start as groups."""
    order, cuts = start
    labels = np.empty(len(order), np.int64)
    labels[order] = np.repeat(np.arange(len(cuts) - 1), np.diff(cuts))
    return Groups(labels)


def _loss(task: Task, groups: Groups, *, promised: bool) -> float:
    """Return what groups lose; with `promised`, as the engine measures it."""
    return float(groups.sizes @ certainty(task.coded, groups, promised=promised).sum(axis=1))


def pairwise_of(task: Task) -> list[tuple[Pairwise, Sensitive]]:
    """Return the pairwise principles of a task with the values they are about."""
    return [
        (one.principle, value)
        for one, value in zip(task.requirements, task.values, strict=True)
        if isinstance(one.principle, Pairwise) and value is not None
    ]


def promising_sizes(task: Task) -> list[int]:
    """Return group sizes to try: the least admissible one, then larger ones that round better.

    A bound is a whole number of members, so of its share of a group only
    allowed(s) / (s * bound) is used. Where the least size fails, a larger one that uses more of
    every bound has more room. What failed on about the same rows before is not tried again.
    """
    principles = [principle for principle, _ in pairwise_of(task)]
    least, most = task.least, min(len(task.coded), LARGEST * task.least)
    sizes: list[int] = []
    best = Fraction(0)
    for size in range(least, most + 1):
        used = min((principle.used(size) for principle in principles), default=Fraction(1))
        if used > best:
            sizes.append(size)
            best = used
    tried = sizes[:TRIES] or [least]
    return [size for size in tried if size >= task.typical] or tried[-1:]


def check_pairwise(task: Task, name: str) -> None:
    """Raise where a requirement is neither pairwise nor k-anonymity."""
    for one in task.requirements:
        if not (isinstance(one.principle, Pairwise) or one.principle.sizes_only):
            msg = f"{name} cannot search for {one.principle!r}. Use Mondrian()."
            raise UsageError(msg)


@dataclass(frozen=True, kw_only=True, repr=False)
class Exchange(Thorough):
    """Start from groups close in quasi space, exchange members until all hold, then to lose less.

    Serves every pairwise principle, several at once, and k-anonymity alone. The start is an
    equitable partition, or, for k-anonymity alone, where they lose less, groups of k to 2k rows
    that keep ties together; violating members are exchanged with those of nearby groups, nearest
    first, at the least added loss; what is left is resolved by chains of exchanges, by merging
    groups, and for ordered values by dealing a block of groups in turn (EM Theorem 1), and at the
    very last by coarser groups around what is left, where that holds as a whole. Then groups
    of tables that are not small are dissolved and others founded, so that sizes differ where that
    loses less, and rows move to groups of rows near them, in exchange for a member or along a cycle
    of three groups, where that lowers the loss and keeps every member within its bound, until a
    pass gains under one per cent or the time is spent.

    Parameters
    ----------
    size : rows that every group starts with; the least admissible number by default, and where
        that fails larger ones in turn.

    References
    ----------
    The exchanges of XColor (ICDE 2010, Theorem 3), which hold from any equitable start.
    """

    size: int | None = None

    at_once = 1_000_000
    source = "XColor, ICDE 2010, Theorem 3, from groups close in quasi space"

    def __post_init__(self) -> None:
        if self.size is not None:
            object.__setattr__(self, "size", whole_number(self, "size", self.size, least=1))

    def check(self, task: Task) -> None:
        """Raise where a requirement is not about pairs, or the size does not fit."""
        check_pairwise(task, repr(self))
        rows = len(task.coded)
        if self.size is not None and not task.least <= self.size <= max(rows, task.least):
            possible = f"{task.least} to {rows:,} {task.coded.whom}"
            msg = f"Groups of {self.size} are not possible: {possible} are."
            raise UsageError(msg)

    def find(self, task: Task) -> Groups:
        """Find groups that keep every requirement."""
        from shoal.methods.exchanging import Exchanging

        ends = time.monotonic() + (np.inf if task.seconds is None else task.seconds)
        sizes = [self.size] if self.size is not None else promising_sizes(task)
        for place, size in enumerate(sizes):
            board = Board.of(task, size)
            start = board.start(size)
            if self.size is None and not pairwise_of(task):
                uneven = uneven_start(task, size)
                loss = partial(_loss, task, promised=True)
                start = min(start, uneven, key=lambda one: loss(_groups_of(one)))
            engine = Exchanging(
                board.space,
                board.relations,
                board.values,
                board.codes,
                *start,
                seconds=ends - time.monotonic(),
                progress=task.progress,
                enough=task.enough,
                better=task.better,
                others=place + 1 < len(sizes),
            )
            if engine.others and task.several and engine.wrong > CROWDED:
                continue
            outcome = engine.run()
            if not outcome.violations:
                return Groups(outcome.labels)
        found = Groups(outcome.labels)
        coarse = united(task, found, engine) if time.monotonic() < ends else None
        if coarse is None:
            raise not_reached(task, found)
        return coarse

    def refine(self, task: Task, found: Found, seconds: float) -> Found:
        """Spend seconds that are left on annealed exchanges from groups that hold."""
        from shoal.methods.annealing import PREPARING, Annealing

        ends, rows = time.monotonic() + seconds, len(task.coded)
        if not isinstance(found, Groups) or len(found) == 1 or seconds < 2 * PREPARING * rows:
            return found
        largest = int(found.sizes.max())
        if largest > LARGEST * task.least:
            return found  # coarse groups: there is no room to keep who is near to whom in them
        board = Board.of(task, task.least, room=largest)
        annealing = Annealing(
            board.space,
            board.relations,
            board.values,
            board.codes,
            found.order,
            found.starts,
            ends=ends,
            progress=task.progress,
            enough=task.enough,
            better=task.better,
        )
        annealed = Groups(annealing.run())
        # With hierarchies, the engine goes by what a node promises, not by what it loses.
        return min(found, annealed, key=partial(_loss, task, promised=False))


@dataclass(frozen=True, kw_only=True, repr=False)
class XColor(Method):
    """The XCOLOR algorithm to the letter: balanced degrees, then exchanges of violations.

    INITIALIZE deals vertices by falling degree to the class with the least sum of degrees (sizes
    floor(n / m) and ceil(n / m)); then the violating vertex whose departure lowers its class's
    loss most is exchanged with the vertex that adds the least loss, among those that lower the
    number of near pairs. For comparison: `Exchange()` loses far less.

    References
    ----------
    Wang, Liu: XColor: Protecting General Proximity Privacy. ICDE 2010. Algorithms 1 and 2.
    """

    source = "XColor, ICDE 2010, Algorithms 1 and 2"

    def check(self, task: Task) -> None:
        """Raise where there is not exactly one symmetric pairwise requirement."""
        check_pairwise(task, repr(self))
        pairs = [principle for principle, _ in pairwise_of(task)]
        if len(pairs) != 1:
            msg = f"{self!r} is for one pairwise requirement, not {len(pairs)}. Use Exchange()."
            raise UsageError(msg)
        if task.several:
            msg = f"{self!r} is for one value a person, and some have several. Use Exchange()."
            raise UsageError(msg)
        if not pairs[0].symmetric:
            msg = f"{self!r} needs a symmetric relation, {pairs[0]!r} has none."
            raise UsageError(msg)

    def search(self, task: Task) -> Groups:
        """Colour the rows."""
        from shoal.distances.relation import neighbourhood_sizes
        from shoal.kernels.exchange.colouring import xcolor
        from shoal.kernels.exchange.state import labels_of

        board = Board.of(task, task.least)
        ((principle, value),) = pairwise_of(task)
        degrees = neighbourhood_sizes(principle.relation(value), value) - 1
        coloured = xcolor(
            board.space, board.relations, board.values, board.codes, degrees, task.least
        )
        groups = Groups(labels_of(coloured, len(task.coded)))
        if coloured.excess.any():
            raise not_reached(task, groups)
        return groups
