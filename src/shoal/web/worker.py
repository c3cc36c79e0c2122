"""A process that works for the page: it may be ended at any moment, and may crash, alone."""

from __future__ import annotations

import errno
import multiprocessing
import os
import re
import signal
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import ShoalError

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from shoal.progress import Better, Progress

Values = dict[str, Any]  # plain ones, as they go to a worker and come back

ENOUGH = ""  # is sent where no name of a task is: keep the best that was found
SPAWNED = multiprocessing.get_context("spawn")  # threads of the page do not survive a fork
TICK = 0.05  # seconds between two looks at the memory of a process
ACCIDENTS = {"Crashed", "Unforeseen", "CannotWrite"}  # kinds that say nothing of what was asked
GIGABYTE = 10**9
OS_ERROR = re.compile(r"os error (\d{1,4})")
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True)
class Refusal:
    """An error as data: a sentence that names options, and which of them would help."""

    sentence: str
    fix: tuple[tuple[str, str | None], ...] = ()
    exit_code: int = 2
    kind: str = "ShoalError"

    def about(self, kept: str, shown: str) -> Refusal:
        """Return it with a file called as its owner calls it, not as it is kept."""
        return replace(self, sentence=self.sentence.replace(repr(kept), repr(shown)))


class Refused(Exception):
    """The work was refused, in words for a person."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(refusal.sentence)


class Stopped(Exception):
    """The work was ended from outside."""


CRASHED = Refusal(
    "The work stopped unexpectedly, often because the memory of this computer was used up. Nothing "
    "was left half-written, and you can go on using this page.",
    kind="Crashed",
)


def unforeseen(problem: BaseException) -> Refusal:
    """Return what is said of an error that nobody foresaw: its kind, for its text may hold data."""
    if isinstance(problem, OSError):
        return cannot_write(problem)
    said = f"An unforeseen {type(problem).__name__} stopped the work. Please report it."
    return Refusal(said, kind="Unforeseen")


def cannot_write(problem: OSError) -> Refusal:
    """Return what is said where the system refuses: a full disk, most often."""
    number = problem.errno
    if number is None and (told := OS_ERROR.search(str(problem))):  # of what is not Python's
        number = int(told[1])
    why = os.strerror(number) if number else type(problem).__name__
    said = f"This computer could not do it: {why}. Nothing of what you decided is lost."
    if number in FULL:
        said = (
            "The disk is full, so Shoal could not write its files. Free some space, then try "
            "again. Nothing of what you decided is lost."
        )
    return Refusal(said, exit_code=4, kind="CannotWrite")


class Worker:
    """One process that does one thing after the other, started when it is first needed."""

    def __init__(self) -> None:
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._busy = threading.Lock()
        self._life = threading.Lock()
        self._stopped = self._interrupted = False

    def call(
        self,
        name: str,
        progress: Progress | None = None,
        better: Better | None = None,
        memory: int | None = None,
        **arguments: Any,
    ) -> Any:
        """Have something of `shoal.web.work` done, and return what it returns.

        What is told on the way is heard by `progress` and `better`; `memory` is how many bytes it
        may take beyond those that the process holds already.
        Raises `Refused` where it refuses, crashes or cannot be started, and `Stopped` where `stop`
        or `interrupt` ended it.
        """
        with self._busy:
            self._interrupted = False
            try:
                pipe, process = self._started()
                pipe.send((name, arguments))
                heard = {"progress": progress, "better": better}
                kind, value = _answered(pipe, process, heard, memory)
            except Exception as problem:
                self._gone()
                if self._stopped or self._interrupted:
                    raise Stopped from None
                if isinstance(problem, Refused):
                    raise
                gone = isinstance(problem, EOFError | OSError)
                raise Refused(CRASHED if gone else unforeseen(problem)) from None
        if kind == "refused":
            raise Refused(value)
        return value

    def enough(self) -> None:
        """Have a search that has found something keep it, instead of looking for better."""
        with self._life, suppress(OSError):
            if self._pipe is not None:
                self._pipe.send((ENOUGH, {}))

    def interrupt(self) -> None:
        """End what the process does at once; the next call starts another."""
        with self._life:
            self._interrupted = True
            if self._process is not None:
                self._process.kill()
        with self._busy:
            self._gone()

    def stop(self) -> None:
        """End the process at once, whatever it does, for good."""
        with self._life:
            self._stopped = True
            if self._process is not None:
                self._process.kill()
        with self._busy:  # nobody listens to it any more
            self._gone()

    def _started(self) -> tuple[Connection, BaseProcess]:
        with self._life:
            if self._stopped:
                raise Stopped
            if self._process is None or not self._process.is_alive() or self._pipe is None:
                self._close()
                try:
                    self._begin()
                except Exception as problem:  # noqa: BLE001 - whatever it was, there is no process
                    self._close()
                    raise Refused(no_process(problem)) from None
            assert self._pipe is not None
            assert self._process is not None
            return self._pipe, self._process

    def _begin(self) -> None:
        self._pipe, theirs = SPAWNED.Pipe()
        try:
            self._process = SPAWNED.Process(target=serve, args=(theirs,), daemon=True)
            self._process.start()
        finally:
            theirs.close()

    def _gone(self) -> None:
        with self._life:
            self._close()

    def _close(self) -> None:
        """End the process, and give back everything that the system holds for it."""
        pipe, process = self._pipe, self._process
        self._process = self._pipe = None
        if pipe is not None:
            pipe.close()
        if process is not None:
            if process.pid is not None:
                process.kill()
                process.join()
            process.close()


def _answered(
    pipe: Connection,
    process: BaseProcess,
    heard: dict[str, Callable[..., None] | None],
    memory: int | None,
) -> tuple[str, Any]:
    """Return the answer of a process; pass on what it tells on the way.

    Raises where it takes more memory than it may, beyond what it has.
    """
    most = None if memory is None else _held(process) + memory
    while True:
        while most is not None and not pipe.poll(TICK):
            if _held(process) > most:
                raise Refused(_too_much(memory or 0))
        kind, value = pipe.recv()
        if kind not in heard:
            return kind, value
        if (tell := heard[kind]) is not None:
            tell(*value)


def _held(process: BaseProcess) -> int:
    """Return how many bytes of memory a process has now, 0 where the system does not tell."""
    try:
        pages = Path(f"/proc/{process.pid}/statm").read_text("ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _too_much(memory: int) -> Refusal:
    said = (
        f"This file unpacks to far more than its size: reading it took more than "
        f"{memory / GIGABYTE:.1f} GB of memory, so Shoal stopped. If it is your table, name it "
        "when you start Shoal, for example shoal serve people.csv: then there is no such limit."
    )
    return Refusal(said, kind="TooMuch")


def no_process(problem: BaseException) -> Refusal:
    """Return what is said where the system gives no process, or no thread."""
    why = getattr(problem, "strerror", None) or type(problem).__name__
    said = (
        f"This computer could not start a process for the work: {why}. Close other programs or end "
        "other runs, then try again."
    )
    return Refusal(said, exit_code=4, kind="NoProcess")


def serve(pipe: Connection) -> None:
    """Do what is asked for until nobody asks any more; the other side of a worker."""
    for stop in (signal.SIGINT, signal.SIGTERM):  # the page alone decides when this ends
        signal.signal(stop, signal.SIG_IGN)
    threading.Thread(target=_follow_the_page, daemon=True).start()
    from shoal.web.work import Hand

    def progress(phase: str, share: float) -> None:
        pipe.send(("progress", (phase, share)))

    def better(loss: float) -> None:
        pipe.send(("better", (loss,)))

    # While something is being done, nothing else is sent than that it is enough.
    hand = Hand(progress, enough=pipe.poll, better=better)
    with suppress(EOFError, OSError):
        while True:
            name, arguments = pipe.recv()
            if name != ENOUGH:
                pipe.send(_answer(getattr(hand, name), arguments))


def _answer(task: Callable[..., Any], arguments: dict[str, Any]) -> tuple[str, Any]:
    try:
        return "done", task(**arguments)
    except ShoalError as problem:
        known = Refusal(problem.sentence, problem.fix, problem.exit_code, type(problem).__name__)
        return "refused", known
    except MemoryError:
        return "refused", Refusal("This computer has too little memory for the table.")
    except Exception as problem:  # noqa: BLE001 - the page goes on, whatever it was
        if os.environ.get("SHOAL_DEBUG"):
            import traceback

            traceback.print_exc()
        return "refused", unforeseen(problem)


def _follow_the_page() -> None:
    """End with the page, in whatever way it ends."""
    page = multiprocessing.parent_process()
    if page is not None:
        page.join()
    os._exit(1)
