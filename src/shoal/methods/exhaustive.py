"""All partitions of a table of a few rows, so that nothing that exists is missed there.

Searches are made for many rows, where what they miss is made up for elsewhere. On a handful of rows
one exchange decides, the whole table may fail where two halves hold, and every rule of thumb misses
the one grouping that keeps a mix of requirements. But there all can be looked at: nine rows have
511 subsets, each of which is measured once, and 21,147 partitions into them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from shoal.principles.groups import Groups
from shoal.release.boxes import Standing
from shoal.release.cover import Cover, certainty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from shoal.methods.base import Task
    from shoal.table.column import Column


T = TypeVar("T")
ROWS = 9  # up to which all partitions are looked at; each row more makes it five times as many


@dataclass(frozen=True, eq=False)
class Partitions:
    """The partitions of a task's rows; a set of rows is a number, bit r of which stands for row r.

    δ-presence is judged by descriptions, as an audit does it: groups with equal ones count
    together, and no person may match two different ones.
    """

    task: Task

    def best(self) -> Groups | None:
        """Return the partition of least loss in which everything holds, None where there is none.

        Of equals, the first in order of restricted growth: row 0 with as many others as can be.
        """
        found: list[int] = []
        least = np.inf
        for parts in self.valid():
            loss = sum(self.losses[part] for part in parts)
            if loss < least and self.present(parts):
                found, least = parts, loss
        return grouped(found, len(self.task.coded)) if found else None

    def valid(self) -> Iterator[list[int]]:
        """Yield every partition into sets of rows that hold by themselves."""
        whole = len(self.holds) - 1

        def extend(parts: list[int], left: int) -> Iterator[list[int]]:
            if not left:
                yield parts
                return
            first = left & -left  # the next part is the one of the first row that is left
            others = rest = left ^ first
            while True:
                if self.holds[first | others]:
                    yield from extend([*parts, first | others], rest ^ others)
                if not others:
                    return
                others = (others - 1) & rest

        yield from extend([], whole)

    @cached_property
    def cuts(self) -> list[Groups]:
        """Every set with what is left beside it, as two groups; first the whole table, alone."""
        rows = len(self.task.coded)  # the last is in no `part`, so that each pair comes once
        return [Groups(members(part, rows).astype(np.int64)) for part in range(2 ** (rows - 1))]

    def by_set(self, of_cut: Callable[[Groups], Sequence[T]]) -> list[T]:
        """Return what is found of the groups of every cut, by the numbers of the sets.

        Group 1 is the set itself; number 0, no row at all, is never asked for.
        """
        lower: list[T] = []
        upper: list[T] = []
        for groups in self.cuts:
            found = of_cut(groups)
            lower.append(found[-1])
            upper.append(found[0])
        return lower + upper[::-1]

    @cached_property
    def holds(self) -> list[bool]:
        """Whether each set holds by itself, but for what depends on the description of others."""

        def kept(groups: Groups) -> list[bool]:
            if self.task.population is not None:
                counts = [sum(matched) for matched in self.matched(groups)]
                groups = replace(groups, matches=np.array(counts, np.int64))
            wrong = np.zeros(len(groups), bool)
            for one, value in zip(self.task.requirements, self.task.values, strict=True):
                if not one.principle.disjoint:
                    wrong |= one.principle.measure(groups, value).breaches
            return [not breached for breached in wrong]

        return self.by_set(kept)

    @cached_property
    def losses(self) -> list[float]:
        """What each set loses as a group."""
        coded = self.task.coded
        return self.by_set(lambda cut: (cut.sizes * certainty(coded, cut).sum(axis=1)).tolist())

    def matched(self, groups: Groups) -> list[tuple[bool, ...]]:
        """Return which persons of the population the description of each group matches."""
        everybody = len(self.standing.places)
        every = [np.full(everybody, group, np.int64) for group in range(len(groups))]
        return [tuple(self.standing.inside(groups, at).tolist()) for at in every]

    @cached_property
    def standing(self) -> Standing:
        """The persons of the population."""
        assert self.task.population is not None
        return Standing(self.task.population, self.task.coded)

    @cached_property
    def matching(self) -> list[tuple[bool, ...]]:
        """Which persons of the population the description of each set matches."""
        return self.by_set(self.matched)

    @cached_property
    def descriptions(self) -> list[tuple]:
        """What would be published of each set."""

        def described(groups: Groups) -> list[tuple]:
            cells = [cells_of(column, groups) for column in self.task.coded.quasi]
            return list(zip(*cells, strict=True))

        return self.by_set(described)

    def present(self, parts: list[int]) -> bool:
        """Return whether δ-presence holds, where it is asked for."""
        principles = [one.principle for one in self.task.requirements]
        asked = [one for one in principles if one.disjoint]
        if not asked:
            return True
        alike: dict[tuple, int] = {}
        for part in parts:
            description = self.descriptions[part]
            alike[description] = alike.get(description, 0) | part
        matching = [self.matching[part] for part in alike.values()]
        if any(sum(descriptions) > 1 for descriptions in zip(*matching, strict=True)):
            return False
        matches = np.array([sum(matched) for matched in matching], np.int64)
        groups = replace(grouped(list(alike.values()), len(self.task.coded)), matches=matches)
        return all(principle.measure(groups, None).holds for principle in asked)


def cells_of(column: Column, groups: Groups) -> list[tuple[int, ...]]:
    """Return what tells the published cells of groups apart in one column."""
    cover = Cover.of(column, groups)
    if column.tree is not None:
        return [(node,) for node in cover.nodes.tolist()]
    if cover.starts is None:
        return list(zip(cover.low.tolist(), cover.high.tolist(), cover.top.tolist(), strict=True))
    return [tuple(part.tolist()) for part in np.split(cover.ranks, cover.starts[1:-1])]


def grouped(parts: list[int], rows: int) -> Groups:
    """Return sets of rows as groups."""
    labels = np.empty(rows, np.int64)
    for number, part in enumerate(parts):
        labels[members(part, rows)] = number
    return Groups(labels)


def members(part: int, rows: int) -> NDArray[np.bool_]:
    """Return which rows are in a set."""
    return (part >> np.arange(rows)) & 1 == 1
