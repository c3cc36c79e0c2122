"""Chance that is the same in every run: what the operating system would draw follows from the test.

Shoal draws all chance from `os.urandom`, by itself or through `secrets`. A test that looks at one
draw in twenty would fail in one run of twenty, and not for what was changed. Each test and each
fixture that several share has a stream of its own, whatever ran before it. Other processes, forked
ones too, draw as everybody does.
"""

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import shake_256
from threading import Lock

REAL = os.urandom


class Stream:
    """Bytes that follow from a name."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.begin("")

    def begin(self, name: str) -> None:
        """Begin the stream of a name."""
        with self.lock:
            self.name, self.drawn = name, 0

    @contextmanager
    def apart(self, name: str) -> Iterator[None]:
        """Draw from the stream of a name, then go on where this one was."""
        before = self.name, self.drawn
        self.begin(name)
        try:
            yield
        finally:
            with self.lock:
                self.name, self.drawn = before

    def __call__(self, size: int) -> bytes:
        """Return the next bytes."""
        with self.lock:
            self.drawn += 1
            return shake_256(f"{self.name} {self.drawn}".encode()).digest(size)


STREAM = Stream()


def _install(source: Callable[[int], bytes]) -> None:
    os.urandom = source
    random._urandom = source  # type: ignore[attr-defined]  # what `secrets` draws from


def foresee() -> None:
    """Have this process draw from the stream."""
    _install(STREAM)
    os.register_at_fork(after_in_child=lambda: _install(REAL))
