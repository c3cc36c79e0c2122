"""Where a release and private files may be written, and that they appear whole or not at all."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.ask.ask import Ask
from shoal.ask.options import options_of
from shoal.errors import InputError, OutputError, UsageError, option
from shoal.notation import read_json
from shoal.platforms import let_go, sync
from shoal.release.staging import (
    beside,
    claim,
    clear_leftovers,
    exchange,
    older,
    put,
    staging,
    swap_in,
    undisturbed,
)
from shoal.table.databases.access import is_address, refuse_unknown
from shoal.table.files import FORMATS, tables_named
from shoal.table.forms import CODEBOOK, PEOPLE, RELEASE, VALUES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


TABLES = {name for stem in (RELEASE, PEOPLE, VALUES) for name in tables_named(stem)}
MANIFEST = "manifest.json"
FILES = {*TABLES, MANIFEST, "report.html", CODEBOOK}  # of releases before digests
PRIVATE, PUBLIC = 0o600, 0o666  # whom a file may be read by; the second as far as the umask says


def check_output(
    directory: str | Path,
    *,
    format: str,
    linkage: str | Path | None,
    force: bool | None,
    tables: Sequence[Path] = (),
) -> None:
    """Raise before any work is done where the output could not be written in the end.

    `force` is None where a command has no such option. `tables` are the files that the input is
    read from.
    """
    if not os.fspath(directory):  # it would lead to the working directory, as nothing that exists
        msg = f"{option('output')} names nothing. Name the directory to make."
        raise UsageError(msg)
    refuse_unknown(directory)
    target = _real(directory)
    name = Path(directory).name or target.name
    check_format(format)
    if any(target in (source := _real(table), *source.parents) for table in tables):
        msg = f"{name!r} holds the input table. Choose another {option('output')}."
        raise UsageError(msg)
    if os.path.lexists(directory):
        if not force:
            instead = "" if force is None else f", or replace it with {option('force')}"
            msg = f"{name!r} exists. Choose another {option('output')}{instead}."
            raise OutputError(msg)
        if not _replaceable(Path(directory)):
            msg = f"{name!r} exists and is not a release, so {option('force')} does not replace it."
            raise OutputError(msg)
    _check_place(target)
    if linkage is not None:
        check_private(linkage, target, tables, force=bool(force))


def check_format(format: str) -> None:
    """Raise where a release cannot be written so."""
    if format not in FORMATS:
        msg = f"A release is written as {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, not {format!r}."
        raise UsageError(msg)


def _real(path: str | Path) -> Path:
    """Return where a path leads; unlike Path.resolve, a loop of links is no error."""
    return Path(os.path.realpath(path))


def _check_place(target: Path) -> None:
    above = next(parent for parent in target.parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        msg = f"Cannot write {target.name!r}: {above.name!r} is not a directory one can write into."
        raise OutputError(msg)


def check_beside(release: Path, path: Path, what: str) -> None:
    """Raise before any work is done where a file about a release could not be written, or may not.

    `what` begins the sentence that says it.
    """
    place = _real(path)
    if _real(release) in (place, *place.parents):
        msg = (
            f"{what} cannot lie inside the release, whose files are complete. Choose another "
            f"{option('output')}."
        )
        raise UsageError(msg)
    if os.path.lexists(path):
        msg = f"{path.name!r} exists. Choose another {option('output')}."
        raise OutputError(msg)
    if not place.parent.is_dir():
        msg = f"Cannot write {path.name!r}: its directory does not exist."
        raise OutputError(msg)


def check_private(
    path: str | Path,
    target: Path | None = None,
    tables: Sequence[Path] = (),
    *,
    what: str = "linkage",
    force: bool,
) -> None:
    """Raise where a private file could not be written in the end, or should not be there.

    `what` is the option that names it, `target` the release directory where that is known.
    """
    refuse_unknown(path)
    private, name = _real(path), options_of(Ask)[what].private
    if is_address(path):
        msg = (
            f"{name} must be a file, but this is the address of a database. Choose another "
            f"{option(what)}."
        )
        raise UsageError(msg)
    if target in (private, *private.parents) or lies_in_release(private):
        msg = f"{name} is private and cannot lie inside the release. Choose another {option(what)}."
        raise UsageError(msg)
    if any(private == _real(table) for table in tables):
        msg = f"{name} would replace the input table. Choose another {option(what)}."
        raise UsageError(msg)
    if private.is_dir() or not private.parent.is_dir():
        msg = f"Cannot write {private.name!r}: it is a directory, or its directory is missing."
        raise OutputError(msg)
    _check_place(private)
    if os.path.lexists(path) and not force:
        msg = (
            f"{private.name!r} exists. Choose another {option(what)}, or "
            f"replace it with {option('force')}."
        )
        raise OutputError(msg)


def lies_in_release(path: Path) -> bool:
    """Return whether a directory above a path holds a manifest of ours."""
    return any(_files_of(one) is not None for one in path.parents)


def _files_of(directory: Path) -> set[str] | None:
    """Return the files that a release says it has; None where there is no manifest of ours."""
    try:
        said = read_json((directory / MANIFEST).read_bytes())
    except (OSError, InputError):
        return None
    if not isinstance(said, dict) or "shoal" not in said:
        return None
    digests = said.get("digests")
    return {MANIFEST, *(digests if isinstance(digests, dict) else FILES)}


def _replaceable(directory: Path) -> bool:
    """Return whether a directory is empty or holds a release of ours and nothing else.

    The manifest names every file of its release, whatever form and format it has; a file beside
    them is somebody's own, even where its name is one that another release could have.
    """
    if directory.is_symlink() or not directory.is_dir():
        return False
    own = _files_of(directory)
    inside = {
        path.relative_to(directory).as_posix(): path
        for path in directory.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }
    parents = {directory / folder for name in inside for folder in PurePosixPath(name).parents}
    folders = {one for one in directory.rglob("*") if one.is_dir() and not one.is_symlink()}
    if folders - parents:
        return False  # an empty directory is no part of a release
    return not inside or (own is not None and inside.keys() <= own)


@contextmanager
def new_directory(directory: str | Path) -> Iterator[Path]:
    """Give a place to write files into that becomes the directory, whole or not at all."""
    check_output(directory, format="csv", linkage=None, force=None)
    target = _real(directory)
    with as_output_errors(target.name), staging(target) as staged:
        yield staged
        for path in staged.iterdir():
            sync(path)
        appear(staged, target, force=False)


def appear(
    staged: Path,
    target: Path,
    *,
    force: bool,
    beside: Sequence[Waiting] = (),
    commit: Callable[[Path], None] | None = None,
) -> None:
    """Let a directory take the place of its target; what appeared there meanwhile is kept.

    Private files appear with it. Where another release is replaced, theirs go aside first and come
    last: a run that is killed on the way leaves no file beside a release that it is not of.
    """
    replaced = force and os.path.lexists(target)
    for one in beside:
        (one.make_room if replaced else one.place)()
    if commit is not None:
        commit(staged)
    try:
        swap_in(staged, target, _replaceable if force else None)
    except FileExistsError:
        raise _taken(target, "output") from None
    try:
        for one in beside if replaced else ():
            one.place()
    except BaseException:
        (exchange if staged.exists() else Path.rename)(target, staged)
        raise
    for one in beside:
        one.keep()


def put_whole(staged: Path, target: Path) -> None:
    """Give a file the name of its target; what appeared there meanwhile is kept."""
    sync(staged)
    try:
        put(staged, target)
    except FileExistsError:
        raise _taken(target, "output") from None
    sync(target.parent)


def _taken(target: Path, what: str) -> OutputError:
    return OutputError(
        f"{target.name!r} was created or changed by another program while Shoal was working, and "
        f"Shoal left it as it is. Choose another {option(what)}."
    )


@dataclass
class Waiting:
    """A file that was written whole and waits for its name."""

    staged: Path
    target: Path
    force: bool
    what: str
    aside: Path | None = None
    back: Callable[[Path, Path], object] | None = None  # what takes it away from its name again

    def make_room(self) -> None:
        """Take what has the name aside, under a name that nothing clears away."""
        if not os.path.lexists(self.target):
            return
        if not self.force or self.target.is_dir():
            raise _taken(self.target, self.what)
        with undisturbed():
            aside = older(self.target)
            put(self.target, aside)
            self.aside = aside
        sync(self.target.parent)

    def place(self) -> None:
        """Give it its name. What appeared there meanwhile is replaced only by `force`."""
        with undisturbed():
            try:
                put(self.staged, self.target)
                self.back = Path.rename
            except FileExistsError:
                if not self.force or self.target.is_dir():
                    raise _taken(self.target, self.what) from None
                exchange(self.staged, self.target)
                self.back = exchange
        sync(self.target.parent)

    def keep(self) -> None:
        """Let it stay, whatever fails afterwards."""
        self.back = None
        if self.aside is not None:
            self.aside.unlink()
            self.aside = None

    def take_back(self) -> None:
        """Let everything be as before."""
        if self.back is not None:
            self.back(self.target, self.staged)
        if self.aside is not None:
            with suppress(FileExistsError):  # what somebody put there meanwhile is kept
                put(self.aside, self.target)


@contextmanager
def whole_file(
    path: str | Path,
    fill: Callable[[IO[bytes]], object],
    *,
    force: bool,
    what: str = "output",
    mode: int = PRIVATE,
) -> Iterator[Waiting]:
    """Write a file beside its target, and give what puts it in its place, whole.

    Where something fails afterwards, the file is taken back, and what it replaced is there again.
    """
    target = _real(path)
    clear_leftovers(target.parent)
    waiting, lock = Waiting(beside(target), target, force, what), None
    try:
        while lock is None:  # another run may take it for a leftover before it is locked
            waiting.staged = beside(target)
            descriptor = os.open(waiting.staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            with as_output_errors(target.name), os.fdopen(descriptor, "wb") as file:
                lock = claim(waiting.staged)
                if lock is not None:
                    fill(file)
                    file.flush()
                    os.fsync(file.fileno())
        yield waiting
        waiting.keep()
    except BaseException:
        with undisturbed():
            waiting.take_back()
        raise
    finally:
        with undisturbed():
            waiting.staged.unlink(missing_ok=True)
            if lock is not None:
                let_go(lock)


def write_whole(
    path: str | Path,
    content: str | bytes,
    *,
    force: bool,
    what: str = "output",
    mode: int = PRIVATE,
) -> None:
    """Write a file, whole or not at all; by default only its owner can ever read it."""
    data = content.encode() if isinstance(content, str) else content
    with (
        as_output_errors(_real(path).name),
        whole_file(
            path, lambda file: file.write(data), force=force, what=what, mode=mode
        ) as waiting,
    ):
        waiting.place()


@contextmanager
def linkage_file(
    path: str | Path | None, linkage: np.ndarray, *, force: bool
) -> Iterator[list[Waiting]]:
    """Stage the linkage, where one is asked for, so that only its owner can ever read it."""
    if path is None:
        yield []
        return
    order = np.argsort(linkage, kind="stable")
    order = order[linkage[order] >= 0]  # rows that stand for nobody link to nothing
    table = pl.DataFrame({"row": linkage[order], "release_row": order})
    with whole_file(path, table.write_csv, force=force, what="linkage") as waiting:
        yield [waiting]


@contextmanager
def as_output_errors(name: str) -> Iterator[None]:
    """Turn what the system and the writers raise into a sentence."""
    try:
        yield
    except (OSError, pl.exceptions.ComputeError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem).splitlines()[0]
        msg = f"Cannot write {name!r}: {reason}."
        raise OutputError(msg) from None
