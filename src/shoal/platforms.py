"""What operating systems do differently: locks, owners, links, signals, and names of open files.

The tests run on Linux. Where another system lacks something, Shoal does without it and promises
less, never more: what cannot be locked is never taken for the leftover of a killed run.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

STOPS = tuple(  # how the system, or whoever sits at it, asks a command to stop
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
UNHELD = -1  # stands for the descriptor of what this system does not hold


def on_windows() -> bool:
    """Return whether this is Windows, which opens no directories and renames nothing open."""
    return sys.platform == "win32"


def _posix_locks() -> ModuleType | None:
    with suppress(ImportError):
        return import_module("fcntl")
    return None


def holds_directories() -> bool:
    """Return whether a directory can be opened and locked here."""
    return _posix_locks() is not None and not on_windows()


def unlinked_flags(flags: int) -> int:
    """Return flags that open a file itself and follow no link, where the system can say so."""
    return flags | getattr(os, "O_NOFOLLOW", 0)


def lock(descriptor: int, *, wait: bool = False) -> bool | None:
    """Lock a descriptor; return False where another process has, None where there are no locks."""
    locks = _posix_locks()
    if locks is None:
        return _lock_first_byte(descriptor)
    try:
        locks.flock(descriptor, locks.LOCK_EX | (0 if wait else locks.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _lock_first_byte(descriptor: int) -> bool | None:
    """Lock a file in the way of Windows, which gives the lock back when the file is closed."""
    try:
        msvcrt = import_module("msvcrt")
    except ImportError:
        return None
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    return True


def let_go(descriptor: int) -> None:
    """Close a descriptor, where the system held something by it."""
    if descriptor != UNHELD:
        os.close(descriptor)


def is_mine(found: os.stat_result) -> bool:
    """Return whether something is of the person who runs this; False where no system says so."""
    who = getattr(os, "geteuid", None)
    return who is not None and found.st_uid == who()


def path_from(path: str | Path, folder: Path) -> str:
    """Return the way from a folder to a path; the whole path where another drive has it."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:
        return Path(path).absolute().as_posix()


def sync(path: Path) -> None:
    """Wait until a file or directory is on the disk; Windows does that for files alone."""
    if on_windows() and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR if on_windows() else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
