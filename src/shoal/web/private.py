"""The directory of a page, apart so that it is its owner's alone and gone when the page ends.

A page that was killed leaves its directory behind without the lock that it held on it, so that the
next one can tell, and clears it away.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "shoal-page-"
OWNER = 0o700


@contextmanager
def private_directory(beside: str | Path | None = None) -> Iterator[Path]:
    """Give a directory that only its owner can read, gone afterwards; clear those of the dead."""
    home = Path(beside or tempfile.gettempdir())
    clear_leftovers(home)
    made = Path(tempfile.mkdtemp(prefix=PREFIX, dir=home))  # for its owner alone, by contract
    lock = os.open(made, os.O_RDONLY)
    _lock(lock)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        os.close(lock)


def clear_leftovers(home: Path) -> None:
    """Remove the directories of this person's pages that nobody holds any more."""
    for path in home.glob(f"{PREFIX}*"):
        with suppress(OSError):  # somebody else's, or just gone
            found = path.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                continue
            lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                if _lock(lock):
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)


def _lock(descriptor: int) -> bool:
    """Lock a directory; return whether nobody else has."""
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
