"""A place beside the target to write into, which becomes the target whole or not at all.

Whoever stages something holds a lock on it, which the system takes away when the process ends in
whatever way. So the next run can tell what a killed run left behind, and clears it away.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import secrets
import shutil
import signal
import sys
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from shoal.platforms import (
    STOPS,
    UNHELD,
    holds_directories,
    is_mine,
    let_go,
    lock,
    on_windows,
    sync,
    unlinked_flags,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LEFTOVER = re.compile(r"\.shoal-[0-9a-f]{16}\.partial")
OWNER = 0o700
LONGEST = 255  # bytes of a name of a file
PATIENCE = 5.0  # seconds in which what was told to stop has stopped
NO_REPLACE, EXCHANGE = 1, 2  # RENAME_NOREPLACE and RENAME_EXCHANGE of <linux/fs.h>
HERE = -100  # AT_FDCWD of <fcntl.h>


@contextmanager
def staging(target: Path) -> Iterator[Path]:
    """Give a directory beside the target that only its owner can read; it is gone afterwards."""
    target.parent.mkdir(parents=True, exist_ok=True)
    clear_leftovers(target.parent)
    # The name is known before the directory is made, so that Ctrl-C in between leaves nothing.
    staged, held = beside(target), None
    try:
        while held is None:  # another run may take it for a leftover before it is locked
            staged = beside(target)
            staged.mkdir(OWNER)
            held = claim(staged)
        yield staged
    finally:
        with undisturbed():
            _remove(staged)
            if held is not None:
                let_go(held)


def _remove(staged: Path) -> None:
    """Remove a directory, again where somebody who was told to stop wrote into it meanwhile."""
    end = time.monotonic() + PATIENCE
    while True:
        shutil.rmtree(staged, ignore_errors=True)
        if not staged.exists() or time.monotonic() > end:
            return
        time.sleep(0.05)


def beside(target: Path) -> Path:
    """Return a name for what is being written for a target; leftovers are known by it."""
    return target.with_name(f".shoal-{secrets.token_hex(8)}.partial")


def older(target: Path) -> Path:
    """Return a name for what a target was until now, which its owner finds and nothing clears."""
    kept = os.fsdecode(os.fsencode(target.name)[: LONGEST - len(".before-") - 16])
    return target.with_name(f"{kept}.before-{secrets.token_hex(8)}")


def swap_in(staged: Path, target: Path, replaceable: Callable[[Path], bool] | None = None) -> None:
    """Put the new directory in place; an old one stays until the new one stands.

    Raises FileExistsError where something stands there that is not `replaceable`, and leaves it.
    What was replaced is looked at again once nobody can reach it by its name, before it goes.
    Where the system can exchange two names at once, there is no moment without a whole one.
    """
    mask = os.umask(0)
    os.umask(mask)
    sync(staged)
    try:
        put(staged, target)
    except FileExistsError:
        if replaceable is None or not replaceable(target):
            raise
        with undisturbed():
            exchange(staged, target)
            if not replaceable(staged):
                exchange(staged, target)
                raise
    target.chmod(0o777 & ~mask)
    sync(target.parent)


def put(staged: Path, target: Path) -> None:
    """Give a file or directory a name that nothing has, or raise FileExistsError.

    Where the system cannot do that at once, an empty directory or a second name of the file takes
    the name first, which both fail where there is something. Windows never renames to a name that
    something has.
    """
    if _renamed(staged, target, NO_REPLACE):
        return
    if on_windows():
        staged.rename(target)
        return
    if not staged.is_dir():
        os.link(staged, target, follow_symlinks=False)
        staged.unlink()
        return
    target.mkdir()
    try:
        staged.rename(target)
    except OSError as problem:  # somebody has put something into it
        with suppress(OSError):
            target.rmdir()
        raise FileExistsError(errno.EEXIST, problem.strerror) from None


def exchange(one: Path, other: Path) -> None:
    """Exchange two names, at once where the system can."""
    if _renamed(one, other, EXCHANGE):
        return
    old = other.with_name(f".shoal-{secrets.token_hex(8)}.old")
    other.rename(old)
    try:
        one.rename(other)
    except OSError:
        old.rename(other)
        raise
    old.rename(one)


def _renamed(one: Path, other: Path, how: int) -> bool:
    """Rename in a way that Linux has; return whether the system could."""
    if not sys.platform.startswith("linux"):
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    done: int = rename(HERE, os.fsencode(one), HERE, os.fsencode(other), how)
    if done and ctypes.get_errno() == errno.EEXIST:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(other))
    return done == 0


def claim(path: Path) -> int | None:
    """Lock a file or directory that was just made, and return the descriptor that holds the lock.

    None where somebody took it away. Where the system has no such locks, nothing is locked, and
    nothing is ever taken for a leftover.
    """
    return _open_locked(path, needed=False) if holds_directories() else UNHELD


@contextmanager
def turn_in(place: Path) -> Iterator[None]:
    """Wait until no other run puts its files into a directory, so that all of them are of one run.

    Where the system has no such locks, nobody waits.
    """
    if not holds_directories():
        yield
        return
    descriptor = os.open(place, os.O_RDONLY)
    try:
        lock(descriptor, wait=True)
        yield
    finally:
        os.close(descriptor)


def clear_leftovers(place: Path) -> None:
    """Remove what runs of the same person that were killed have staged in a directory."""
    if not holds_directories():
        return
    for path in place.iterdir():
        if not LEFTOVER.fullmatch(path.name) or not is_mine(path.lstat()):
            continue
        held = _open_locked(path, needed=True)
        if held is None:
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
        os.close(held)


def _open_locked(path: Path, *, needed: bool) -> int | None:
    try:
        descriptor = os.open(path, unlinked_flags(os.O_RDONLY))
    except OSError:
        return None
    locked = lock(descriptor)
    same = path.exists() and os.path.samestat(os.fstat(descriptor), path.lstat())
    if same and (locked or (locked is None and not needed)):
        return descriptor
    os.close(descriptor)
    return None


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
