"""What every method is given and gives back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from shoal.errors import NotAchievable, UsageError, option
from shoal.progress import Better, Enough, Progress, never, silent, untold
from shoal.release.makers import KNOWN, Maker
from shoal.sampling import Orders, secure_orders
from shoal.table.grid import REGIONS, TIGHT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from shoal.principles.base import Pairwise
    from shoal.principles.groups import Groups, Measurement
    from shoal.principles.requirement import Requirement
    from shoal.release.graph import GeneralizationGraph
    from shoal.release.layout import Found
    from shoal.table.coded import Coded
    from shoal.table.people import Population
    from shoal.table.sensitive import Sensitive


CUTTING = [name for name, known in KNOWN.items() if known.get("cuts")]


@dataclass(frozen=True, eq=False)
class Task:
    """A coded table and what must hold on it."""

    coded: Coded
    requirements: tuple[Requirement, ...]
    progress: Progress = silent
    seconds: float | None = None  # after which a search that can stop does
    population: Population | None = None  # everybody who could be in the table
    orders: Orders = secure_orders  # where a method takes its chances from
    typical: int = 0  # mean size of the groups that were found on about the same rows before
    enough: Enough = never  # asked by a search that has found something and would improve it
    better: Better = untold  # is told what would be lost if it ended there, where that is known

    @cached_property
    def values(self) -> tuple[Sensitive | None, ...]:
        """The sensitive value that each requirement is about."""
        return tuple(
            self.coded.value(one.columns) if one.columns else None for one in self.requirements
        )

    @property
    def pairs(self) -> list[tuple[Pairwise, Sensitive]]:
        """What says who is near to whom, with the values it is about."""
        return [
            (near, value)
            for one, value in zip(self.requirements, self.values, strict=True)
            if (near := one.principle.pairs) is not None and value is not None
        ]

    def part(self, rows: NDArray[np.int64]) -> Task:
        """Return the task of some rows, over the same domains."""
        return replace(self, coded=self.coded.part(rows), better=untold)

    def measure(self, groups: Groups) -> list[Measurement]:
        """Measure every requirement."""
        return [
            one.principle.measure(groups, value)
            for one, value in zip(self.requirements, self.values, strict=True)
        ]

    @property
    def several(self) -> bool:
        """Whether somebody has several sensitive values."""
        return any(value is not None and value.several for value in self.values)

    @property
    def lacking(self) -> bool:
        """Whether sensitive values that something is required of are missing."""
        return any(value is not None and value.lacks for value in self.values)

    @property
    def draws_regions(self) -> bool:
        """Whether the cells of what is found will be regions of cuts."""
        return self.coded.cells == REGIONS

    @property
    def least(self) -> int:
        """The least size of a group that can keep every requirement."""
        return max(requirement.principle.least for requirement in self.requirements)

    def holds(self, groups: Groups) -> bool:
        """Return whether every requirement holds in every group."""
        return all(measured.holds for measured in self.measure(groups))


class Method(Maker):
    """A way to find groups, or a graph, that keep every requirement at little loss."""

    source: ClassVar[str]
    at_once: ClassVar[int | None] = None  # rows above which a table is searched in parts
    chooses_rows: ClassVar[bool] = True  # whether values may decide who is left out or joined
    page: ClassVar[tuple[str, str] | None] = None  # its name and use on the page, if it offers it

    def check(self, task: Task) -> None:
        """Raise where the method cannot search for what is required."""
        raise NotImplementedError

    def check_cells(self, cells: str) -> None:
        """Raise where the cells of its groups cannot be drawn so."""
        if cells == REGIONS and not self.cuts:
            known = ", ".join(f"{name}()" for name in CUTTING)
            msg = (
                f"{self!r} makes groups without cuts, so their cells cannot be regions. Use one of "
                f"{known}, or draw tight cells: {option('cells', TIGHT)}."
            )
            raise UsageError(msg)

    def divides(
        self, task: Task, parts: Sequence[NDArray[np.int64]], check: Callable[[Task], None]
    ) -> bool:
        """Return whether rows of a task may be searched as these parts, each by itself."""
        try:
            for rows in parts:
                check(task.part(rows))
        except NotAchievable:
            return False
        return True

    def search(self, task: Task) -> Groups | GeneralizationGraph:
        """Find the groups (or the graph), or raise `NotAchievable`."""
        raise NotImplementedError

    def refine(self, task: Task, found: Found, seconds: float) -> Found:  # noqa: ARG002
        """Spend seconds that are left on losing less; what is returned loses no more."""
        return found

    def outcomes(self, task: Task) -> Iterator[tuple[Groups | GeneralizationGraph, Fraction]]:
        """Yield all that chance may lead a search to, each with its probability."""
        yield self.search(task), Fraction(1)


class Thorough(Method):
    """A method for groups that misses nothing where a table has at most nine rows."""

    def search(self, task: Task) -> Groups:
        """Find groups, by looking at all there are where the method finds none in few rows."""
        try:
            return self.find(task)
        except NotAchievable:
            from shoal.methods.exhaustive import ROWS, Partitions

            few = len(task.coded) <= ROWS and task.coded.cells == TIGHT
            best = Partitions(task).best() if few else None
            if best is None:
                raise
            return best

    def find(self, task: Task) -> Groups:
        """Find groups the method's own way, or raise `NotAchievable`."""
        raise NotImplementedError
