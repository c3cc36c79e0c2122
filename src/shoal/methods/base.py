"""What every method is given and gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from shoal.notation import Term
from shoal.progress import Progress, silent

if TYPE_CHECKING:
    from shoal.principles.base import Requirement
    from shoal.principles.groups import Groups
    from shoal.schema.coding import Column
    from shoal.schema.table import Coded


@dataclass(frozen=True, eq=False)
class Task:
    """A coded table and what must hold on it."""

    coded: Coded
    requirements: tuple[Requirement, ...]
    progress: Progress = silent

    def column(self, requirement: Requirement) -> Column | None:
        """Return the sensitive column that a requirement is about."""
        return self.coded.column(requirement.columns[0]) if requirement.columns else None

    @property
    def least(self) -> int:
        """The least size of a group that can keep every requirement."""
        return max(requirement.principle.least for requirement in self.requirements)

    def holds(self, groups: Groups) -> bool:
        """Return whether every requirement holds in every group."""
        return all(
            one.principle.measure(groups, self.column(one)).holds for one in self.requirements
        )


class Method(Term):
    """A way to find groups that keep every requirement at little loss."""

    role = "method"
    source: ClassVar[str]

    def search(self, task: Task) -> Groups:
        """Find the groups, or raise `NotAchievable`."""
        raise NotImplementedError
