"""Oblivious grouping: nothing that is decided depends on who has which value."""

from __future__ import annotations

import itertools
import math
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from shoal.distances.counting import ordered
from shoal.errors import NotAchievable, UsageError, option
from shoal.methods.base import Method, Task
from shoal.principles.groups import Groups

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from shoal.distances.relation import Band
    from shoal.principles.base import Pairwise

SPAN = 1000  # how far beyond the least size of a group larger ones are looked at
WAYS = 100_000  # of chance that are gone through one by one


@dataclass(frozen=True, repr=False)
class Oblivious(Method):
    """Form groups so that a reader who knows the method learns nothing beyond the groups.

    Its cuts would hold for any assignment of the values to the people. Then it deals rows by rank.
    Take a reader who knows the method, the requirement and everyone's quasi values, and considers
    every assignment of a group's values to its members equally likely. After the release, this
    reader still does. Ties are cut at random by the operating system. Column weights are public.

    Parameters
    ----------
    block : rows of the blocks that the table is cut into first, whatever they hold. Blocks that
        cannot be dealt form one group together (blocks of two sizes: two), which has to hold. Then
        the limit holds for each person alone: a reader who knows one person's value may be certain
        of another's.
        None by default: the whole table is the only block.
    """

    block: int | None = None

    source = "Shoal's own"
    chooses_rows = False

    def check(self, task: Task) -> None:
        """Raise where the requirements are not about one ordered value, or one of classes."""
        Dealing.of(task, repr(self))
        if self.block is not None and task.draws_regions:
            msg = (
                f"{self!r} divides rows with equal values to make blocks of one size, and regions "
                "cannot. Use Oblivious()."
            )
            raise UsageError(msg)

    def divides(
        self,
        task: Task,
        parts: Sequence[NDArray[np.int64]],
        check: Callable[[Task], None],  # noqa: ARG002 - it would look at who has which value
    ) -> bool:
        """Return whether parts of these sizes could be dealt, for any people in them."""
        from shoal.kernels.guarded import guarded_rows
        from shoal.kernels.windows import longest_run

        part = task.part(np.sort(np.concatenate(parts)))
        measure = Dealing.of(part, repr(self))
        most = longest_run(np.sort(measure.codes), measure.band.reach)
        needed = guarded_rows(len(part.coded), most, measure.sizes, measure.widths)
        return 0 < needed <= min(map(len, parts))

    def search(self, task: Task) -> Groups:
        """Find groups that keep every requirement."""
        rows = len(task.coded)
        cuts, ties = task.orders(rows, rows)
        return self.group(task, Dealing.of(task, repr(self)), cuts, ties)

    def group(
        self, task: Task, measure: Dealing, cuts: NDArray[np.int64], ties: NDArray[np.int64]
    ) -> Groups:
        """Find the groups that two secret orders of the rows lead to.

        `cuts` says which of the rows with one quasi value come first in a cut, `ties` which of
        those with near values of one class are dealt first. Two orders, drawn independently: one
        for both would let the cuts, which the groups show, tell something of the dealing.
        """
        if task.draws_regions:
            nodes = guarded_regions(task, measure, ties)
        else:
            nodes = guarded(task, measure, self._blocks(len(task.coded)), cuts, ties)
        groups = Groups.of(nodes.labels())
        if self.shows_nodes():
            groups = replace(groups, nodes=nodes.of_groups(groups))
        if not nodes.all_dealt and not task.holds(groups):
            raise self._refusal(task, nodes)
        return groups

    def outcomes(self, task: Task) -> Iterator[tuple[Groups, Fraction]]:
        """Yield the groups for all orders that make a difference: for tables of a few rows."""
        rows = np.arange(len(task.coded))
        measure = Dealing.of(task, repr(self))
        tied = np.flatnonzero([
            any((column.codes == column.codes[row]).sum() > 1 for column in task.coded.quasi)
            for row in rows
        ])  # fmt: skip
        alike = [np.flatnonzero(measure.codes == one) for one in np.unique(measure.codes)]
        ways = math.prod(math.factorial(len(some)) for some in (tied, *alike))
        if ways > WAYS:
            msg = (
                f"On these {len(rows)} rows {self!r} can end in {ways:,} ways, depending on "
                f"chance, and Shoal tries at most {WAYS:,}. Use fewer rows, or fewer equal values."
            )
            raise UsageError(msg)
        for cuts in _arranged(rows, [tied]):
            for ties in _arranged(rows, alike):
                with suppress(NotAchievable):  # only some of the ways may be refused
                    yield self.group(task, measure, cuts, ties), Fraction(1, ways)

    def _blocks(self, rows: int) -> int:
        return 1 if self.block is None else max(1, rows // self.block)

    def _refusal(self, task: Task, nodes: Nodes) -> NotAchievable:
        required = " and ".join(repr(one.principle) for one in task.requirements)
        rows = len(task.coded)
        if self.block is None:
            msg = (
                f"{self!r} cannot reach {required} on these {rows:,} {task.coded.whom}: too many "
                "values are near to one another to be dealt. Lower a parameter; `shoal plan` shows "
                "what is achievable."
            )
        else:
            pooled = int(nodes.sizes[nodes.parts == 0].sum())
            msg = (
                f"{self!r} cannot reach {required}: the blocks that cannot be dealt have {pooled} "
                f"of the {rows:,} {task.coded.whom}, and together they do not hold. Oblivious() "
                "has no blocks."
            )
        return NotAchievable(msg)


def _arranged(
    rows: NDArray[np.int64], some: list[NDArray[np.int64]]
) -> Iterator[NDArray[np.int64]]:
    """Yield every order of rows in which only those of one set change places with one another."""
    for shuffled in itertools.product(*(itertools.permutations(one) for one in some)):
        order = rows.copy()
        for places, moved in zip(some, shuffled, strict=True):
            order[places] = moved
        yield order


@dataclass(frozen=True, eq=False)
class Dealing:
    """What decides whether rows can be dealt: the longest run of near values, and what it may be.

    A node of N rows can be dealt into ⌊N / s⌋ groups of s rows or more where its longest run is at
    most w ⌊N / s⌋, for any s of `sizes` with its w of `widths`.
    """

    codes: NDArray[np.int32]
    band: Band
    sizes: NDArray[np.int64]
    widths: NDArray[np.int64]

    @classmethod
    def of(cls, task: Task, name: str) -> Dealing:
        """Read it off the requirements: one about near values, and any number of least sizes."""
        near = [
            (one, value)
            for one, value in zip(task.requirements, task.values, strict=True)
            if not one.principle.sizes_only
        ]
        if not near:
            msg = f"{name} needs a requirement about near values, such as EpsilonM."
            raise UsageError(msg)
        if len(near) > 1:
            named = " and ".join(repr(one) for one, _ in near)
            msg = (
                f"{name} can keep one requirement beside KAnonymity, not {named}: what is dealt by "
                "the ranks of one value says nothing of another. Use Exchange()."
            )
            raise UsageError(msg)
        ((one, value),) = near
        pairs = one.principle.pairs
        if pairs is None or value is None:
            msg = f"{name} cannot search for {one.principle!r}: it is not about near values."
            raise UsageError(msg)
        if value.gap is not None:
            msg = (
                f"{name} deals values in order, and some values of {value.name} are missing: they "
                f"have no place in it. Use Exchange(), or leave those rows out: "
                f"{option('missing', 'drop')}."
            )
            raise UsageError(msg)
        found = ordered(pairs.relation(value))
        if found is None:
            msg = (
                f"{name} deals values in order, and the distance of {one.principle!r} gives them "
                "none. Use Exchange()."
            )
            raise UsageError(msg)
        classes, band = found
        sizes, widths = dealt_sizes(pairs, band, task.least, len(task.coded))
        return cls(classes[value.codes].astype(np.int32), band, sizes, widths)


def dealt_sizes(
    pairs: Pairwise, band: Band, least: int, rows: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the sizes s of groups worth trying, and how many times ⌊N / s⌋ a run may then be.

    Dealt into g groups, a run of M values gives each group ⌈M / g⌉ members at most. Where being
    near looks one way only, those near to a member are one run, so M ≤ allowed(s) g is enough.
    Where it looks both ways, each side of a member holds ⌊(M - 1) / g⌋, and M ≤ ⌊(allowed(s) + 1)
    / 2⌋ g is. A larger size is worth trying only if it allows a larger share.
    """
    codes = np.arange(len(band.first))
    one_way = bool((band.first == codes).all() or (band.last == codes).all())
    sizes: list[int] = []
    widths: list[int] = []
    for size in range(least, max(least, min(rows, least + SPAN)) + 1):
        allowed = pairs.searched(size)
        width = allowed if one_way else (allowed + 1) // 2
        if not sizes or width * sizes[-1] > widths[-1] * size:
            sizes.append(size)
            widths.append(width)
    return np.array(sizes, np.int64), np.array(widths, np.int64)


@dataclass(frozen=True, eq=False)
class Nodes:
    """The rows in order of their nodes, by rank in each, and how many groups each is dealt into."""

    rows: NDArray[np.int32]
    sizes: NDArray[np.int64]
    parts: NDArray[np.int64]  # 0: the node cannot be dealt

    @property
    def all_dealt(self) -> bool:
        """Whether every node can be dealt."""
        return bool((self.parts > 0).all())

    def of_groups(self, groups: Groups) -> NDArray[np.int64]:
        """Return the node of each group."""
        found = np.empty(len(groups), np.int64)
        found[groups.labels[self.rows]] = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return found

    def labels(self) -> NDArray[np.int64]:
        """Deal every node by rank, position mod g; nodes of one size that cannot be are pooled.

        Of blocks that failed alike, none can be told from another: that makes everybody's chances
        equal in a pool of one size, and of one size only.
        """
        starts = np.cumsum(self.sizes) - self.sizes
        before = np.cumsum(self.parts) - self.parts
        node = np.repeat(np.arange(len(self.sizes)), self.sizes)
        place = np.arange(len(self.rows)) - starts[node]
        dealt = before[node] + place % np.maximum(self.parts, 1)[node]
        pooled = int(self.parts.sum()) + self.sizes[node]
        back = np.empty(len(self.rows), np.int64)
        back[self.rows] = np.where(self.parts[node] > 0, dealt, pooled)
        return back


def guarded_regions(task: Task, measure: Dealing, ties: NDArray[np.int64]) -> Nodes:
    """Cut the table as long as any such cut would hold, and none divides rows with equal values.

    A part of N rows may stand where the longest run of the whole before the cut is short enough
    for it: then it can be dealt, whoever is in it.
    """
    from shoal.kernels.guarded import groups_of
    from shoal.kernels.windows import longest_runs
    from shoal.methods.cutting import Cutting

    def longest(parts: Groups) -> NDArray[np.int64]:
        codes = measure.codes[np.lexsort((measure.codes, parts.labels))]
        found = np.empty(len(parts), np.int64)
        longest_runs(codes, parts.starts, measure.band.reach, found)
        return found

    def dealt(sizes: NDArray[np.int64], most: NDArray[np.int64]) -> NDArray[np.int64]:
        pairs = zip(sizes.tolist(), most.tolist(), strict=True)
        return np.array([groups_of(*one, measure.sizes, measure.widths) for one in pairs])

    def judge(parts: Groups, before: Groups) -> NDArray[np.bool_]:
        owner = np.empty(len(parts), np.int64)
        owner[parts.labels] = before.labels
        return dealt(parts.sizes, longest(before)[owner]) == 0

    part = Groups(Cutting(task, judge, widest=False).parts())
    order = ties[np.lexsort((measure.codes[ties], part.labels[ties]))].astype(np.int32)
    return Nodes(order, part.sizes, dealt(part.sizes, longest(part)))


def guarded(
    task: Task,
    measure: Dealing,
    blocks: int,
    cuts: NDArray[np.int64],
    ties: NDArray[np.int64],
) -> Nodes:
    """Cut the table as long as any cut would hold."""
    from shoal.kernels.guarded import guarded_cuts

    line = task.coded.line
    order = ties[np.argsort(measure.codes[ties], kind="stable")].astype(np.int32)
    ranks, codes = line.ranks_of(order), measure.codes[order]
    chance = np.empty(len(order), np.int32)
    chance[cuts] = np.arange(len(order), dtype=np.int32)
    parts = np.full(len(order), -1, np.int64)
    guarded_cuts(
        blocks,
        ranks,
        codes,
        order,
        np.empty_like(ranks),
        np.empty_like(codes),
        np.empty_like(order),
        np.empty_like(codes),
        np.empty(int(np.diff(line.offsets).max()), np.int32),
        chance,
        line.coords,
        line.offsets,
        measure.band.reach,
        measure.sizes,
        measure.widths,
        parts,
        np.zeros(1, np.int64),
    )
    ends = np.flatnonzero(parts >= 0)
    return Nodes(order, np.diff(ends, prepend=-1), parts[ends])
