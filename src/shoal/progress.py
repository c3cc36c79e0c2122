"""How far work says it is, how compiled work is spread over threads, and how results show."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import wraps
from importlib import import_module
from typing import ClassVar, ParamSpec, TypeVar

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


P = ParamSpec("P")
R = TypeVar("R")


SHORT = 80  # characters of a value that is written in full


class Brief:
    """A result that says in one line what matters of it, and never its arrays.

    A dataclass that derives from it has `repr=False`. Without `_brief`, all of its fields matter.
    """

    _brief: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        names = self._brief or [one.name for one in fields(self)]  # type: ignore[arg-type]
        said = ((name, briefly(getattr(self, name))) for name in names)
        facts = ", ".join(f"{name}={text}" for name, text in said if text)
        return f"<{type(self).__name__}: {facts}>"


def briefly(value: object) -> str:
    """Write a value for a line among others, of many only how many there are, of frames how large.

    >>> briefly(0.25), briefly(("age", "zip")), briefly([*range(100)]), briefly(())
    ('0.25', "('age', 'zip')", '100', '')
    """
    if hasattr(value, "shape"):
        return "×".join(f"{size:,}" for size in value.shape)
    if value is None or not isinstance(value, Sized) or isinstance(value, str):
        return "" if value is None else repr(value)
    short = isinstance(value, tuple | list) and all(isinstance(one, str | int) for one in value)
    text = repr(value) if short and value else ""
    return text if 0 < len(text) <= SHORT else f"{len(value):,}" if len(value) else ""


class Given:
    """What is asked, which says itself as a call, without what is as usual."""

    def __repr__(self) -> str:
        usual = type(self)()
        said = {one.name: getattr(self, one.name) for one in fields(self) if one.repr}  # type: ignore[arg-type]
        given = (f"{k}={v!r}" for k, v in said.items() if v != getattr(usual, k))
        return f"{type(self).__name__}({', '.join(given)})"


class Shown:
    """A result with a page of its own: its class is looked up among the views when it is shown."""

    def _repr_html_(self) -> str:
        return import_module("shoal.views.html").part(self)


def in_notebook() -> bool:
    """Return whether somebody looks at this in a notebook."""
    asked = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = None if asked is None else asked()
    return any(one.__name__ == "ZMQInteractiveShell" for one in type(shell).__mro__)


def with_bar(work: Callable[P, R]) -> Callable[P, R]:
    """Show in a notebook how far a function is, where nobody says how to show it."""

    @wraps(work)
    def working(*given: P.args, **named: P.kwargs) -> R:
        if "progress" in named or not in_notebook():
            return work(*given, **named)
        with import_module("shoal.views.notebook").cell_bar() as progress:
            return work(*given, **{**named, "progress": progress})

    return working
