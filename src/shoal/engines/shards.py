"""Parts of a table that are searched by themselves: rows that are never mixed, and cuts.

Cutting looks at quasi columns alone, so that where a cut lies tells nothing about sensitive values,
and every part is checked to be achievable on its own; where one is not, it stays with its sibling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import NotAchievable
from shoal.methods.achievable import check_task

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.methods.base import Task
    from shoal.table.coded import Coded


def apart(coded: Coded) -> list[NDArray[np.int64]]:
    """Return the rows that may be mixed with one another, in lists of which none may be."""
    if coded.apart is None:
        return [np.arange(len(coded), dtype=np.int64)]
    order = np.argsort(coded.apart, kind="stable")
    ends = np.flatnonzero(np.diff(coded.apart[order])) + 1
    return np.split(order, ends)


def cut(task: Task, rows: NDArray[np.int64], largest: int) -> list[NDArray[np.int64]]:
    """Return parts of at most `largest` rows, as far as the requirements allow.

    A part is halved at a value of the quasi column in which it spreads most, of all columns in
    which it can be; rows with equal values stay together.
    """
    done, waiting = [], [rows]
    while waiting:
        part = waiting.pop()
        halves = _halves(task, part) if len(part) > largest else None
        if halves is None:
            done.append(part)
        else:
            waiting.extend(halves)
    return done


def _halves(
    task: Task, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return two achievable halves, None where no column gives any."""
    space = task.coded.line
    spreads = []
    for place, codes in enumerate(space.codes):
        some = codes[rows]
        coords = space.coords[space.offsets[place] : space.offsets[place + 1]]
        spreads.append(float(coords[some.max()] - coords[some.min()]))
    for place in np.argsort(spreads)[::-1]:
        if not spreads[place] > 0:
            break
        codes = space.codes[place][rows]
        first = codes < _boundary(codes)
        halves = rows[first], rows[~first]
        if all(_achievable(task, half) for half in halves):
            return halves
    return None


def _boundary(codes: NDArray[np.int32]) -> int:
    """Return the rank that parts rows most evenly; some rows are on either side."""
    counts = np.bincount(codes - codes.min())
    below = np.cumsum(counts)[:-1]
    return int(codes.min()) + 1 + int(np.argmin(np.abs(below - len(codes) / 2)))


def _achievable(task: Task, rows: NDArray[np.int64]) -> bool:
    try:
        check_task(task.part(rows))
    except NotAchievable:
        return False
    return True
