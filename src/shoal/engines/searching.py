"""One table coded once and searched many times, for comparing and tuning."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from shoal.engines.local import check_least_risk, check_task
from shoal.engines.memory import Peak
from shoal.engines.suppression import search_within
from shoal.errors import NotAchievable
from shoal.loss.certainty import mean_over_rows, ncp_by_group
from shoal.principles.groups import Groups
from shoal.release.spans import spans
from shoal.sampling import draw

if TYPE_CHECKING:
    from shoal.methods.base import Method, Task
    from shoal.release.layout import Found
    from shoal.schema.table import Coded

FEW = 1000  # rows to warm up with


@dataclass(frozen=True, eq=False)
class Search:
    """What a method found, in how many seconds, with how many megabytes beyond the table's."""

    found: Found
    seconds: float
    megabytes: float | None


def search(method: Method, task: Task) -> Search:
    """Check that what is required can hold and search for it, or raise as `anonymize` does."""
    method.check(task)
    check_least_risk(task)
    with Peak() as peak:
        begun = time.perf_counter()
        _, found, _ = search_within(method, task, check_task, Fraction(0))
        seconds = time.perf_counter() - begun
    return Search(found, round(seconds, 3), peak.megabytes)


def warm_up(method: Method, task: Task) -> None:
    """Search a few rows, so that loading compiled code and libraries is not measured later."""
    some = draw(len(task.coded), FEW).places
    with suppress(NotAchievable):  # the few rows may not reach what all of them do
        search(method, replace(task, coded=task.coded.subset(some)))


def loss_of(coded: Coded, found: Found) -> float:
    """Return the global certainty penalty of what was found, without recoding it."""
    bearers = found.sizes if isinstance(found, Groups) else np.ones(len(found), np.int64)
    by_column = [
        mean_over_rows(ncp_by_group(column, spans(column, found)), bearers, 0)
        for column in coded.quasi
    ]
    return float(np.mean(by_column))
