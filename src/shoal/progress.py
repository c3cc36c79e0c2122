"""How long work says how far it is, and how compiled work is spread over threads."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field

Progress = Callable[[str, float], None]
Enough = Callable[[], bool]  # whether a search is to end with the best that it has found
Better = Callable[[float], None]  # is told what the best that a search has found loses
TICK = 0.1  # seconds between two looks at how far the threads are


def silent(_phase: str, _share: float) -> None:
    """Report to nobody."""


def untold(_loss: float) -> None:
    """Tell nobody what is lost."""


def never() -> bool:
    """Let a search go on for as long as it gains."""
    return False


_allowed: dict[str, int] = {}


def limit_threads(count: int) -> None:
    """Let compiled work in this process have so many threads and no more, as a worker's does."""
    _allowed["threads"] = count


def _cores() -> int | None:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def in_threads(jobs: Sequence[Callable[[], None]], watch: Callable[[], None]) -> None:
    """Run jobs that release the interpreter lock on all cores, calling `watch` now and then.

    The order of the jobs and what each does never depends on the number of threads.
    """
    pool = ThreadPoolExecutor(_allowed.get("threads") or _cores())
    try:
        waiting = {pool.submit(job) for job in jobs}
        while waiting:
            finished, waiting = wait(waiting, timeout=TICK)
            for future in finished:
                future.result()
            watch()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


PROCESSOR, CLOCK = "processor", "clock"  # what the seconds of phases are measured by


@dataclass
class Laps:
    """The seconds that the processor worked in each phase, all threads together.

    They count from the end of the phase before, so that they add up to all of it.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    ended: float = field(default_factory=time.process_time)

    @contextmanager
    def timed(self, phase: str, progress: Progress) -> Iterator[None]:
        """Note what a phase takes and report its beginning and end."""
        progress(phase, 0.0)
        yield
        progress(phase, 1.0)
        before, self.ended = self.ended, time.process_time()
        self.seconds[phase] = round(self.seconds.get(phase, 0) + self.ended - before, 3)
