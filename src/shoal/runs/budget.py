"""Searching within a time budget, of its own because it alone weighs methods by the clock.

Something that holds first, then what loses least until the end.

A search that is stopped by the clock may have reached nothing. So where nobody named a method, the
quickest one that can serve goes first and takes what it takes, about a second for 100,000 rows;
the usual one has the rest of the time, and what loses least of the two is published.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.errors import NotAchievable
from shoal.methods.choice import loss_of, quickest_first

if TYPE_CHECKING:
    from fractions import Fraction

    from shoal.engines.local import Local
    from shoal.methods.base import Method, Task
    from shoal.release.layout import Found, Suppression

    Solved = tuple[Task, Found, Suppression]

LEAST = 1e-6  # seconds that a search is given where none are left


def best_within(engine: Local, task: Task, usual: Method, share: Fraction) -> tuple[Method, Solved]:
    """Return the method that lost least by the end of the task's seconds, and what it found.

    Raises `NotAchievable` where no method reached what is required.
    """
    assert task.seconds is not None
    ends = time.monotonic() + task.seconds
    best: tuple[Method, Solved] | None = None
    problem: NotAchievable | None = None
    for method in quickest_first(task, usual):
        left = ends - time.monotonic()
        if best is not None and (left <= 0 or method != usual or task.enough()):
            continue
        try:
            found = engine.solve(replace(task, seconds=max(left, LEAST)), method, share)
        except NotAchievable as not_reached:
            if problem is None or method == usual:
                problem = not_reached
            continue
        if best is None or _lost(task, found) < _lost(task, best[1]):
            best = method, found
    if best is not None:
        return best
    assert problem is not None
    raise problem


def _lost(task: Task, solved: Solved) -> float:
    """Return what the rows lose on average; those that are left out lose everything."""
    kept, found, _ = solved
    rows = len(task.coded)
    return (loss_of(kept.coded, found) * len(kept.coded) + rows - len(kept.coded)) / rows
