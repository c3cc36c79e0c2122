"""Heterogeneous k-anonymity: freeform generalization, and the ring that it improves on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import BadParameter, UsageError
from shoal.methods.assignments import assignments
from shoal.methods.base import Method, Task
from shoal.notation import whole_number
from shoal.release.graph import GeneralizationGraph

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shoal.table.coded import Space

ASSIGNMENTS = ("exact", "greedy", "sort")


class Heterogeneous(Method):
    """A method that recasts every record on its own, so that each person matches k records."""

    k: int | None

    grouped = False

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
        """Find the graph."""
        return GeneralizationGraph(task.coded.line, self.matches(task, self.agreed_k(task)))

    def matches(self, task: Task, k: int) -> NDArray[np.int32]:
        """Return the originals that each recast record covers."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True, repr=False)
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

    def __post_init__(self) -> None:
        if self.k is not None:
            object.__setattr__(self, "k", whole_number(self, "k", self.k, least=1))
        if self.assignment not in ASSIGNMENTS:
            raise BadParameter(
                "Freeform", "assignment", " or ".join(map(repr, ASSIGNMENTS)), self.assignment
            )

    def check(self, task: Task) -> None:
        """Raise where a requirement is not k-anonymity, or nothing can solve assignments."""
        super().check(task)
        if self.assignment == "exact":
            assignments(repr(self))

    def matches(self, task: Task, k: int) -> NDArray[np.int32]:
        """Return the originals that each recast record covers."""
        from shoal.methods.freeform.field import Field

        space = task.coded.line

        def watch(share: float) -> None:
            task.progress("search", share)

        # Each assignment loads, and once compiles, its own kernels only.
        if self.assignment != "exact":
            from shoal.methods.freeform.improve import greedy_graph

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
    from shoal.methods.freeform.exact import exact_graph
    from shoal.methods.freeform.field import Field
    from shoal.methods.freeform.improve import Budget, improve

    def watch(phase: str) -> Callable[[float], None]:
        return lambda share: task.progress(phase, (number + share) / parts)

    field = Field.of(space)
    found = exact_graph(field, k, watch("search"))
    seconds = None if task.seconds is None else task.seconds / parts
    budget = Budget(len(field), seconds, task.enough)
    return field.in_rows(improve(field, found, budget, watch("improve")))


@dataclass(frozen=True, kw_only=True, repr=False)
class Ring(Heterogeneous):
    """A record and the k - 1 next in lexicographic order, going round: the rival to beat.

    References
    ----------
    Wong, Mamoulis, Cheung: Non-homogeneous Generalization in Privacy Preserving Data Publishing.
    SIGMOD 2010.
    """

    k: int | None = None

    source = "Wong, Mamoulis, Cheung, SIGMOD 2010"

    def __post_init__(self) -> None:
        if self.k is not None:
            object.__setattr__(self, "k", whole_number(self, "k", self.k, least=1))

    def matches(self, task: Task, k: int) -> NDArray[np.int32]:
        """Return the originals that each recast record covers."""
        from shoal.methods.freeform.field import lexicographic

        order = lexicographic(task.coded.line.ranks).astype(np.int32)
        n = len(order)
        matches = np.empty((n, k), np.int32)
        matches[order] = order[(np.arange(n)[:, None] + np.arange(k)) % n]
        return matches
