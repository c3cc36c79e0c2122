"""Whether the files of a release are those that were published, byte for byte."""

from __future__ import annotations

import hashlib
import stat
from typing import TYPE_CHECKING

from shoal.audit.manifest import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


def digest_of(path: Path) -> str:
    """Return the digest of a file as a manifest has it."""
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def is_ordinary(path: Path) -> bool:
    """Return whether there is a file that can be read to its end: no link, pipe or device."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def check_digests(directory: Path, stated: Mapping[str, str]) -> list[str]:
    """Return a sentence for every published file that is missing or not what it was."""
    problems = []
    for name, digest in stated.items():
        if not is_ordinary(directory / name):
            problems.append(f"The file {name!r} is missing.")
        elif digest_of(directory / name) != digest:
            problems.append(f"The file {name!r} is not the one that was published.")
    return problems


def files_beside(directory: Path, stated: Mapping[str, str]) -> list[str]:
    """Return a sentence where files lie in a release directory that do not belong to it."""
    others = sorted(set(_files(directory)) - {*stated, MANIFEST})
    if not others:
        return []
    return [f"Not part of the release, and not looked at: {', '.join(map(repr, others))}."]


def _files(directory: Path) -> Iterator[str]:
    """Yield what lies in a directory and one directory below it, as a manifest names it."""
    for path in directory.iterdir():
        below = list(path.iterdir()) if path.is_dir() and not path.is_symlink() else []
        yield from (f"{path.name}/{inner.name}" for inner in below)
        if not below:
            yield path.name
