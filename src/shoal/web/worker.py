"""A process that works for the page: it may be ended at any moment, and may crash, alone."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from shoal.errors import ShoalError

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from shoal.progress import Better, Progress

ENOUGH = ""  # is sent where no name of a task is: keep the best that was found
SPAWNED = multiprocessing.get_context("spawn")  # threads of the page do not survive a fork


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
    "was left half-written, and this page goes on.",
    kind="Crashed",
)


class Worker:
    """One process that does one thing after the other, started when it is first needed."""

    def __init__(self) -> None:
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._busy = threading.Lock()
        self._life = threading.Lock()
        self._stopped = False

    def call(
        self,
        name: str,
        progress: Progress | None = None,
        better: Better | None = None,
        **arguments: Any,
    ) -> Any:
        """Have something of `shoal.web.work` done, and return what it returns.

        What is told on the way is heard by `progress` and `better`.
        Raises `Refused` where it refuses or crashes, and `Stopped` where `stop` ended it.
        """
        with self._busy:
            pipe = self._started()
            try:
                pipe.send((name, arguments))
                while True:
                    kind, value = pipe.recv()
                    if kind == "progress" and progress is not None:
                        progress(*value)
                    elif kind == "better" and better is not None:
                        better(value)
                    elif kind == "done":
                        return value
                    elif kind == "refused":
                        raise Refused(value)
            except (EOFError, OSError):
                self._gone()
                if self._stopped:
                    raise Stopped from None
                raise Refused(CRASHED) from None

    def enough(self) -> None:
        """Have a search that has found something keep it, instead of looking for better."""
        with self._life, suppress(OSError):
            if self._pipe is not None:
                self._pipe.send((ENOUGH, {}))

    def stop(self) -> None:
        """End the process at once, whatever it does, for good."""
        with self._life:
            self._stopped = True
            if self._process is not None:
                self._process.kill()
                self._process.join()

    def _started(self) -> Connection:
        with self._life:
            if self._stopped:
                raise Stopped
            if self._process is None or not self._process.is_alive() or self._pipe is None:
                self._pipe, theirs = SPAWNED.Pipe()
                self._process = SPAWNED.Process(target=serve, args=(theirs,), daemon=True)
                self._process.start()
                theirs.close()
            return self._pipe

    def _gone(self) -> None:
        with self._life:
            if self._pipe is not None:
                self._pipe.close()
            if self._process is not None:
                self._process.kill()
                self._process.join()
            self._process = self._pipe = None


def serve(pipe: Connection) -> None:
    """Do what is asked for until nobody asks any more; the other side of a worker."""
    for stop in (signal.SIGINT, signal.SIGTERM):  # the page alone decides when this ends
        signal.signal(stop, signal.SIG_IGN)
    threading.Thread(target=_follow_the_page, daemon=True).start()
    from shoal.web.work import Hand

    def progress(phase: str, share: float) -> None:
        pipe.send(("progress", (phase, share)))

    def better(loss: float) -> None:
        pipe.send(("better", loss))

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
    except OSError as problem:
        return "refused", Refusal(f"Cannot write: {problem.strerror}.", exit_code=4)
    except Exception as problem:  # noqa: BLE001 - the page goes on, whatever it was
        # Its text may hold a person's data, so only its kind is shown.
        said = f"An unforeseen {type(problem).__name__} stopped the work. Please report it."
        if os.environ.get("SHOAL_DEBUG"):
            import traceback

            traceback.print_exc()
        return "refused", Refusal(said, kind="Unforeseen")


def _follow_the_page() -> None:
    """End with the page, in whatever way it ends."""
    page = multiprocessing.parent_process()
    if page is not None:
        page.join()
    os._exit(1)
