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
from shoal.methods.base import Method, Task, Thorough
from shoal.methods.splitting import Rule, split
from shoal.principles.groups import Groups
from shoal.release.cover import certainty
from shoal.release.makers import CERTAINTY, SQUARED
from shoal.release.squares import best_runs, only_numbers, squared_error, squared_space

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.kernels.exchange.loss import LossSpace
    from shoal.kernels.relations import Relations
    from shoal.methods.base import Task
    from shoal.methods.exchanging import Exchanging
    from shoal.methods.passes import Start
    from shoal.release.layout import Found
    from shoal.table.coded import Coded


LARGEST = 8  # times the least size, up to which larger groups are tried where it fails
TRIES = 4
CROWDED = 4 / 5  # of the groups that people with several values start with: next, larger ones
PARTS = 8  # of a person's values, at most, that are counted by themselves
FEW_ROWS = 10_000  # of which squares are tried from several starts
REACHES = (0, 60)  # and over as many near rows as usual, and over more
MEMORY = 1 << 28  # bytes, about, for who is near to which part


@dataclass(frozen=True, eq=False)
class Board:
    """A task as the exchange engine takes it: positions, codes, relations with their bounds."""

    space: LossSpace
    values: NDArray[np.float64]
    codes: NDArray[np.int32]
    relations: Relations

    @classmethod
    def of(cls, task: Task, chosen: int, room: int = 0, *, squared: bool = False) -> Board:
        """Lay out a task for groups of the given size, and of at least `room` members."""
        pairs = task.pairs
        rows = len(task.coded)
        twice = 2 * chosen - (squared and not pairs)  # of more, two groups never lose more squares
        room = max(twice, -(-rows // (rows // chosen)), room)
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
        space, values = squared_space(task.coded) if squared else ranged_space(task.coded)
        return cls(
            space=space,
            values=values,
            codes=np.repeat(
                np.array([value.members for _, value in pairs], np.int32).reshape(len(pairs), rows),
                each,
                axis=0,
            ),
            relations=pack(relations, bounds=np.repeat(bounds, each, axis=0), least=task.least),
        )

    def engine(
        self, task: Task, start: Start, ends: float, *, others: bool = False, reach: int = 0
    ) -> Exchanging:
        """Return a run of exchanges from some groups."""
        from shoal.methods.exchanging import Exchanging

        return Exchanging(
            self.space,
            self.relations,
            self.values,
            self.codes,
            *start,
            seconds=ends - time.monotonic(),
            progress=task.progress,
            enough=task.enough,
            better=task.better,
            others=others,
            reach=reach,
        )

    def start(self, size: int) -> Start:
        """Return groups of equal sizes, or one apart."""
        from shoal.methods.passes import close_groups

        return close_groups(self.space, self.values, len(self.values) // size)


def ranged_space(coded: Coded) -> tuple[LossSpace, NDArray[np.float64]]:
    """Lay the quasi columns out by what cells cover."""
    from shoal.kernels.exchange.loss import LossSpace, positions

    space = coded.space
    made = LossSpace(space.kinds, space.units, space.coords, space.offsets)
    return made, positions(space.ranks, space.coords, space.offsets, space.kinds)


def uneven_start(task: Task, size: int) -> Start:
    """Return groups of any sizes from this one to its double, rows that tie kept together."""
    buckets = split(task, Rule.of_size(task, size), widest=False, ties="either")
    return buckets.rows.astype(np.int64), halved(buckets.starts, 2 * size - 1)


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


def promising_sizes(task: Task) -> list[int]:
    """Return group sizes to try: the least admissible one, then larger ones that round better.

    A bound is a whole number of members, so of its share of a group only
    allowed(s) / (s * bound) is used. Where the least size fails, a larger one that uses more of
    every bound has more room. What failed on about the same rows before is not tried again.
    """
    principles = [principle for principle, _ in task.pairs]
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
        if not (one.principle.pairs or one.principle.sizes_only):
            msg = f"{name} cannot search for {one.principle!r}. Use Mondrian()."
            raise UsageError(msg)


@dataclass(frozen=True, repr=False)
class Exchange(Thorough):
    """Start from groups close in quasi space, exchange members until all hold, then to lose less.

    It serves every pairwise principle, several at once, and k-anonymity alone. The start is an
    equitable partition. For k-anonymity alone it may be groups of k to 2k rows that keep ties
    together, if they lose less. Violating members are then exchanged with members of nearby groups,
    nearest first, at the least added loss. Chains of exchanges and merged groups resolve what is
    left. Ordered values can be dealt to a block of groups in turn (EM Theorem 1). Coarser groups
    are the last resort. In tables that are not small, groups are then dissolved and founded where
    that loses less. Last, rows move to groups near them, in exchange for a member or along a cycle
    of three groups. A move lowers the loss and keeps every member within its bound. It ends when a
    pass gains under one per cent or the time is spent.

    Parameters
    ----------
    size : rows that every group starts with; the least admissible number by default, and where
        that fails larger ones in turn.
    loss : what is made small: "certainty", how much of its column a cell covers (NCP), or
        "squared", the squared differences from the mean of the group, for the form `means`.

    References
    ----------
    The exchanges of XColor (ICDE 2010, Theorem 3), which hold from any equitable start.
    """

    size: int | None = None
    loss: str = CERTAINTY

    at_once = 1_000_000
    source = "XColor, ICDE 2010, Theorem 3, from groups close in quasi space"
    page = ("By exchange", "Moves people between groups until the cells are narrow.")

    @property
    def squared(self) -> bool:
        """Whether squares are made small."""
        return self.loss == SQUARED

    def lost(self, task: Task, groups: Groups, *, promised: bool = False) -> float:
        """Return what is made small, for some groups."""
        if self.squared:
            return squared_error(task.coded, groups)
        lost = certainty(task.coded, groups, promised=promised).sum(axis=1)
        return float((groups.sizes * lost).sum())

    def check(self, task: Task) -> None:
        """Raise where a requirement is not about pairs, or the size does not fit."""
        check_pairwise(task, repr(self))
        rows = len(task.coded)
        if self.size is not None and not task.least <= self.size <= max(rows, task.least):
            possible = f"{task.least} to {rows:,} {task.coded.whom}"
            msg = f"Groups of {self.size} are not possible: {possible} are."
            raise UsageError(msg)

    def tries(self, task: Task, starts: list[Start]) -> list[tuple[Start, int]]:
        """Return what to start from, and how far to look: all there is where squares of few count.

        A few rows far from all others decide over squares, and no rule of thumb knows which start
        serves them best.
        """
        if self.squared and len(task.coded) <= FEW_ROWS:
            return [(start, reach) for start in starts for reach in REACHES]
        loss = partial(self.lost, task, promised=True)
        return [(min(starts, key=lambda one: loss(_groups_of(one))), 0)]

    def find(self, task: Task) -> Groups:
        """Find groups that keep every requirement."""
        ends = time.monotonic() + (np.inf if task.seconds is None else task.seconds)
        if task.lacking and task.coded.table is task.coded:
            return self.take_in(task, ends)
        sizes = [self.size] if self.size is not None else promising_sizes(task)
        alone = self.size is None and not task.pairs
        if self.squared and alone and (numbers := only_numbers(task.coded)) is not None:
            return Groups(best_runs(numbers, task.least))
        for place, size in enumerate(sizes):
            board = Board.of(task, size, squared=self.squared)
            starts = [board.start(size), uneven_start(task, size)] if alone else [board.start(size)]
            others, last = place + 1 < len(sizes), None
            for start, reach in self.tries(task, starts):
                engine = board.engine(task, start, ends, others=others, reach=reach)
                if others and task.several and engine.wrong > CROWDED:
                    break
                outcome = engine.run()
                if last is None or (outcome.violations, outcome.loss) < (
                    last.violations,
                    last.loss,
                ):
                    last = outcome
            if last is not None and not last.violations:
                return Groups(last.labels)
        from shoal.methods.breaches import not_reached, united

        found = Groups(outcome.labels)
        coarse = united(task, found, engine) if time.monotonic() < ends else None
        if coarse is None:
            raise not_reached(task, found)
        return coarse

    def take_in(self, task: Task, ends: float) -> Groups:
        """Find groups of the rows that lack no value, and let them take in the others."""
        from shoal.methods.breaches import not_reached
        from shoal.methods.taking_in import take_in

        lacking = np.zeros(len(task.coded), np.bool_)
        for value in task.values:
            if value is not None and value.lacks:
                lacking |= value.codes == value.gap
        known = np.flatnonzero(~lacking)
        if len(known) < task.least:
            raise not_reached(task, Groups(np.zeros(len(task.coded), np.int64)))
        space, values = squared_space(task.coded) if self.squared else ranged_space(task.coded)
        whole = task.part(known)
        start = take_in(task, space, values, known, self.find(whole))
        if not task.holds(start):
            raise not_reached(task, start)
        largest = int(start.sizes.max())
        if largest > LARGEST * task.least or time.monotonic() >= ends:
            return start
        board = Board.of(task, task.least, room=2 * largest, squared=self.squared)
        found = Groups(board.engine(task, (start.order, start.starts), ends).run().labels)
        return min(start, found, key=partial(self.lost, task)) if task.holds(found) else start

    def refine(self, task: Task, found: Found, seconds: float) -> Found:
        """Spend seconds that are left on annealed exchanges from groups that hold."""
        from shoal.methods.annealing import PREPARING, Annealing

        ends, rows = time.monotonic() + seconds, len(task.coded)
        if not isinstance(found, Groups) or len(found) == 1 or seconds < 2 * PREPARING * rows:
            return found
        largest = int(found.sizes.max())
        if largest > LARGEST * task.least:
            return found  # coarse groups: there is no room to keep who is near to whom in them
        board = Board.of(task, task.least, room=largest, squared=self.squared)
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
        if self.squared and time.monotonic() < ends:  # heat leaves moves that gain, and sizes
            start = annealed.order, annealed.starts
            annealed = Groups(board.engine(task, start, ends, reach=REACHES[-1]).run().labels)
        # With hierarchies, the engine goes by what a node promises, not by what it loses.
        return min(found, annealed, key=partial(self.lost, task))


@dataclass(frozen=True, repr=False)
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
        pairs = [principle for principle, _ in task.pairs]
        if len(pairs) != 1:
            msg = f"{self!r} is for one pairwise requirement, not {len(pairs)}. Use Exchange()."
            raise UsageError(msg)
        if task.several:
            msg = f"{self!r} is for one value per person, and some have several. Use Exchange()."
            raise UsageError(msg)
        if task.lacking:
            msg = (
                f"{self!r} needs a symmetric relation, and missing values are near to all others. "
                "Use Exchange()."
            )
            raise UsageError(msg)
        if not pairs[0].symmetric:
            msg = f"{self!r} needs a symmetric relation, {pairs[0]!r} has none."
            raise UsageError(msg)

    def search(self, task: Task) -> Groups:
        """Colour the rows."""
        from shoal.distances.counting import neighbourhood_sizes
        from shoal.kernels.exchange.colouring import xcolor
        from shoal.kernels.exchange.state import labels_of

        board = Board.of(task, task.least)
        ((principle, value),) = task.pairs
        degrees = neighbourhood_sizes(principle.relation(value), value) - 1
        coloured = xcolor(
            board.space, board.relations, board.values, board.codes, degrees, task.least
        )
        groups = Groups(labels_of(coloured, len(task.coded)))
        if coloured.excess.any():
            from shoal.methods.breaches import not_reached

            raise not_reached(task, groups)
        return groups
