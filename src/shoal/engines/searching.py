"""One table coded once and searched many times, for comparing and tuning."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from shoal.engines.local import check_least_risk, check_task
from shoal.engines.memory import Peak
from shoal.engines.suppression import search_within
from shoal.loss.certainty import mean_over_rows, ncp_by_group
from shoal.methods.freeform.graph import GeneralizationGraph
from shoal.release.recode import spans

if TYPE_CHECKING:
    from shoal.methods.base import Method, Task
    from shoal.release.layout import Found
    from shoal.schema.table import Coded


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
        _, found = search_within(method, task, check_task, Fraction(0))
        seconds = time.perf_counter() - begun
    return Search(found, round(seconds, 3), peak.megabytes)


def loss_of(coded: Coded, found: Found) -> float:
    """Return the global certainty penalty of what was found, without recoding it."""
    if isinstance(found, GeneralizationGraph):
        return found.gcp
    by_column = [
        mean_over_rows(ncp_by_group(column, spans(column, found)), found.sizes, 0)
        for column in coded.quasi
    ]
    return float(np.mean(by_column))
