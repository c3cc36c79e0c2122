"""What every method is given and gives back."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from shoal.chance import Orders, secure_orders
from shoal.notation import Term
from shoal.progress import Progress, silent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shoal.methods.freeform.graph import GeneralizationGraph
    from shoal.principles.groups import Groups, Measurement
    from shoal.principles.requirement import Requirement
    from shoal.schema.people import People
    from shoal.schema.sensitive import Sensitive
    from shoal.schema.table import Coded


SECONDS_PER_ROW = 1e-5  # of a whole run, reading and auditing included


@dataclass(frozen=True, eq=False)
class Task:
    """A coded table and what must hold on it."""

    coded: Coded
    requirements: tuple[Requirement, ...]
    progress: Progress = silent
    seconds: float | None = None  # after which a search that can stop does
    people: People | None = None  # everybody who could be in the table
    orders: Orders = secure_orders  # where a method takes its chances from

    @cached_property
    def values(self) -> tuple[Sensitive | None, ...]:
        """The sensitive value that each requirement is about."""
        return tuple(
            self.coded.value(one.columns) if one.columns else None for one in self.requirements
        )

    def measure(self, groups: Groups) -> list[Measurement]:
        """Measure every requirement."""
        return [
            one.principle.measure(groups, value)
            for one, value in zip(self.requirements, self.values, strict=True)
        ]

    @property
    def least(self) -> int:
        """The least size of a group that can keep every requirement."""
        return max(requirement.principle.least for requirement in self.requirements)

    def holds(self, groups: Groups) -> bool:
        """Return whether every requirement holds in every group."""
        return all(measured.holds for measured in self.measure(groups))


class Method(Term):
    """A way to find groups, or a graph, that keep every requirement at little loss."""

    role = "method"
    source: ClassVar[str]
    chooses_rows: ClassVar[bool] = True  # whether rows may be left out by looking at their values

    def estimate(self, task: Task) -> float:
        """Say about how many seconds a whole run takes on an ordinary machine."""
        return 1 + SECONDS_PER_ROW * len(task.coded)

    def check(self, task: Task) -> None:
        """Raise where the method cannot search for what is required."""
        raise NotImplementedError

    def search(self, task: Task) -> Groups | GeneralizationGraph:
        """Find the groups (or the graph), or raise `NotAchievable`."""
        raise NotImplementedError

    def outcomes(self, task: Task) -> Iterator[tuple[Groups | GeneralizationGraph, Fraction]]:
        """Yield all that chance may lead a search to, each with its probability."""
        yield self.search(task), Fraction(1)
