"""A place beside the target to write into, which becomes the target whole or not at all.

Whoever stages something holds a lock on it, which the system takes away when the process ends in
whatever way. So the next run can tell what a killed run left behind, and clears it away.
"""

from __future__ import annotations

import ctypes
import os
import re
import secrets
import shutil
import signal
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIX = ".partial"
OWNER = 0o700
PATIENCE = 5.0  # seconds in which what was told to stop has stopped
EXCHANGE = 2  # RENAME_EXCHANGE of <linux/fs.h>
HERE = -100  # AT_FDCWD of <fcntl.h>
STOPS = tuple(  # how the system, or whoever sits at it, asks a run to stop
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


@contextmanager
def staging(target: Path) -> Iterator[Path]:
    """Give a directory beside the target that only its owner can read; it is gone afterwards."""
    target.parent.mkdir(parents=True, exist_ok=True)
    clear_leftovers(target)
    # The name is known before the directory is made, so that Ctrl-C in between leaves nothing.
    staged = target.with_name(f".{target.name}.{secrets.token_hex(8)}{SUFFIX}")
    lock = None
    try:
        while lock is None:  # another run may take it for a leftover before it is locked
            staged.mkdir(OWNER)
            lock = claim(staged)
        yield staged
    finally:
        with undisturbed():
            _remove(staged)
            if lock is not None:
                os.close(lock)


def _remove(staged: Path) -> None:
    """Remove a directory, again where somebody who was told to stop wrote into it meanwhile."""
    end = time.monotonic() + PATIENCE
    while True:
        shutil.rmtree(staged, ignore_errors=True)
        if not staged.exists() or time.monotonic() > end:
            return
        time.sleep(0.05)


def swap_in(staged: Path, target: Path) -> None:
    """Put the new directory in place; an old one stays until the new one stands.

    Where the system can exchange two names at once, there is no moment without a whole one.
    """
    mask = os.umask(0)
    os.umask(mask)
    sync(staged)
    if not os.path.lexists(target):
        staged.rename(target)
    elif not _exchange(staged, target):
        old = target.with_name(f".{target.name}.{secrets.token_hex(4)}.old")
        target.rename(old)
        try:
            staged.rename(target)
        except OSError:
            old.rename(target)
            raise
        old.rename(staged)  # it is removed with what was staged
    target.chmod(0o777 & ~mask)
    sync(target.parent)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names at once; return whether the system could."""
    if not sys.platform.startswith("linux"):
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    done: int = rename(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE)
    return done == 0


def claim(path: Path) -> int | None:
    """Lock a file or directory that was just made, and return the descriptor that holds the lock.

    None where somebody took it away. Where the system has no such locks, nothing is locked, and
    nothing is ever taken for a leftover.
    """
    return _open_locked(path, needed=False)


def clear_leftovers(target: Path) -> None:
    """Remove what runs of the same person that were killed have staged for a target."""
    leftover = re.compile(rf"\.{re.escape(target.name)}\.[a-z0-9_]{{8,16}}{re.escape(SUFFIX)}")
    for path in target.parent.iterdir():
        if not leftover.fullmatch(path.name) or path.lstat().st_uid != os.geteuid():
            continue
        lock = _open_locked(path, needed=True)
        if lock is None:
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
        os.close(lock)


def _open_locked(path: Path, *, needed: bool) -> int | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    locked = _lock(descriptor)
    same = path.exists() and os.path.samestat(os.fstat(descriptor), path.lstat())
    if same and (locked or (locked is None and not needed)):
        return descriptor
    os.close(descriptor)
    return None


def _lock(descriptor: int) -> bool | None:
    """Lock a descriptor; return False where another process has, None where there are no locks."""
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


@contextmanager
def undisturbed() -> Iterator[None]:
    """Keep an impatient second Ctrl-C, or the like, from leaving things half cleared away."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kept = {stop: signal.signal(stop, signal.SIG_IGN) for stop in STOPS}
    try:
        yield
    finally:
        for stop, handler in kept.items():
            signal.signal(stop, handler)


def sync(path: Path) -> None:
    """Wait until a file or directory is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
