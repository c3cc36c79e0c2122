"""Leaving out the fewest rows that stand in the way of a requirement, within a limit."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import NotAchievable, TooCrowded, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from shoal.methods.base import Method, Task
    from shoal.methods.freeform.graph import GeneralizationGraph
    from shoal.principles.groups import Groups

SHARE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")


def read_share(text: str | float | None) -> Fraction:
    """Read how much of a table may be left out: "1%" or a number from 0 to 1."""
    if text is None:
        return Fraction(0)
    found = SHARE.fullmatch(text) if isinstance(text, str) else None
    if found:
        share = Fraction(found[1]) / 100
    else:
        try:
            share = Fraction(str(text))
        except (ValueError, ZeroDivisionError):
            share = Fraction(-1)
    if not 0 <= share <= 1:
        msg = f"What may be suppressed is a share such as 1% or 0.01. Got {text!r}."
        raise UsageError(msg)
    return share


def search_within(
    method: Method, task: Task, check: Callable[[Task], None], share: Fraction
) -> tuple[Task, Groups | GeneralizationGraph]:
    """Search, and leave out rows that stand in the way as long as the limit allows.

    Rows left out let the others be grouped anew, so each round is a search of its own. Returns
    the task that was solved, whose table is without those rows.
    """
    rows = len(task.coded)
    limit = int(rows * share)
    kept = np.arange(rows)
    current = task
    while True:
        try:
            check(current)
            return current, method.search(current)
        except TooCrowded as problem:
            kept = np.delete(kept, problem.rows)
            dropped = rows - len(kept)
            if not limit or not len(problem.rows):
                raise
            if dropped > limit or not len(kept):
                msg = (
                    f"{problem} Leaving out {dropped} rows ({dropped / rows:.2%}) or more would be "
                    f"needed, and --suppress allows {limit}."
                )
                raise NotAchievable(msg) from None
            current = replace(task, coded=task.coded.subset(kept))
