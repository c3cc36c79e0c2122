"""How long a search will take, of its own because it only guesses: samples are searched.

Each sample is larger than the last.

A formula would have to know how hard a requirement is on a table; a sample of the table knows. The
times of the last few samples are continued to the whole table, each phase of the search by a power
of the number of rows.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import NotAchievable

if TYPE_CHECKING:
    from collections.abc import Callable

    from shoal.methods.base import Method, Task

FIRST = 125  # rows of the first sample
FACTOR = 2  # by which samples grow
ENOUGH = 0.7  # seconds; a search that takes so long tells what a larger one takes, and
SHARE = 1 / 20  # of what the whole table takes, or
PLENTY = 2.0  # seconds, whatever that takes
LEAP = 10  # times the sample before: so much more is code that was loaded, not work
FEWEST, FITTED = 3, 4  # samples at least, and how many of the largest are continued
POWERS = (0.9, 2.2)  # of the rows, that searches grow by
SETUP = 1.0  # seconds of loading code, and
PER_ROW = 1e-5  # seconds of reading, recoding, writing and auditing a row, and
REPORTED = 1.5e-5, 100_000  # of looking at it for the report, and how many rows it looks at


def whole_run(search: float, rows: int) -> float:
    """Return the seconds of a whole run, given those of its search."""
    by_row, most = REPORTED
    return SETUP + PER_ROW * rows + by_row * min(rows, most) + search


def search_seconds(
    method: Method,
    task: Task,
    now: Callable[[], float] = time.process_time,
    clock: Callable[[], float] | None = None,
) -> float:
    """Return about how many seconds a method will search, by searching samples of the table.

    How the work grows is seen by the processor's time, which other work on the machine does not
    move; how long the processor takes for it here and now, by a `clock`, where one is given.
    """
    begun = (clock or now)(), now()
    found = _by_samples(method, task, now)
    if clock is None:
        return found
    passed, worked = clock() - begun[0], now() - begun[1]
    return found * passed / worked if worked > 0 else found


def _by_samples(method: Method, task: Task, now: Callable[[], float]) -> float:
    rows = len(task.coded)
    order = np.random.default_rng(0).permutation(rows)  # which rows is nobody's business later
    size = min(rows, max(FIRST, FACTOR * task.least))
    _searched(method, task, order[:size], now)  # loads code, which is not measured
    sizes: list[int] = []
    times: list[dict[str, float]] = []
    while True:
        sizes.append(size)
        times.append(_searched(method, task, order[:size], now))
        last = sum(times[-1].values())
        if last > ENOUGH and len(times) > 1 and last > LEAP * sum(times[-2].values()):
            again = _searched(method, task, order[:size], now)
            times[-1] = min(times[-1], again, key=lambda one: sum(one.values()))
            last = sum(times[-1].values())
        found = by_phase(sizes[-FITTED:], times[-FITTED:], rows)
        long = last > PLENTY or (last > ENOUGH and last > SHARE * found)
        if size == rows or (len(sizes) >= FEWEST and long):
            return found
        size = min(rows, FACTOR * size)


def by_phase(sizes: list[int], times: list[dict[str, float]], rows: int) -> float:
    """Return the time for so many rows where each phase of a search grows by a power of its own.

    What grows fastest is little in small samples and nearly all of the work in large tables.

    >>> times = [{"repair": 2.0, "seek": 0.25}, {"repair": 4.0, "seek": 1.0}]
    >>> round(by_phase([1000, 2000], times, 20000), 6)
    140.0
    """
    total = 0.0
    for phase in times[-1]:
        seen = [(size, one[phase]) for size, one in zip(sizes, times, strict=True) if phase in one]
        total += continued([size for size, _ in seen], [took for _, took in seen], rows)
    return total


def continued(sizes: list[int], times: list[float], rows: int) -> float:
    """Return the time for so many rows, by a power of the rows through the last measured time.

    >>> round(continued([1000, 2000, 4000], [1, 2, 4], 16000), 6)
    16.0
    """
    if sizes[-1] == rows or len(sizes) == 1:
        return times[-1] * rows / sizes[-1]
    logs = np.log(np.maximum(times, 1e-9))
    slope = float(np.polyfit(np.log(sizes), logs, 1)[0])
    return times[-1] * (rows / sizes[-1]) ** float(np.clip(slope, *POWERS))


def _searched(
    method: Method, task: Task, some: np.ndarray, now: Callable[[], float]
) -> dict[str, float]:
    """Return how long each phase of the search of a sample takes, whether or not it succeeds."""
    taken: dict[str, float] = {}
    phase, begun = "", now()

    def told(other: str, share: float) -> None:  # noqa: ARG001
        nonlocal phase, begun
        if other != phase:
            ended = now()
            taken[phase] = taken.get(phase, 0.0) + ended - begun
            phase, begun = other, ended

    sample = replace(task, coded=task.coded.subset(np.sort(some)), progress=told)
    with suppress(NotAchievable):  # fewer rows may not reach what all of them do
        method.search(sample)
    told("end", 1.0)
    return taken
