"""Shoal on other systems, played here: what they lack is taken away, or fails as it does there.

What is played of Windows: no `fcntl`, no owners, no SIGHUP, no flag against links, directories that
cannot be opened, files that are renamed or removed by nobody while they are open or mapped, no
renaming to a name that something has, and an event loop that hears no signals.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import importlib.util
import os
import signal
import socket
import stat
import sys
import tomllib
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import shoal
from shoal import platforms
from shoal.errors import OutputError
from shoal.release import staging
from shoal.release.ledger import locked
from shoal.release.places import write_whole
from shoal.table.databases.access import to_keep
from shoal.web import listening, serving
from shoal.web.worker import _held

if TYPE_CHECKING:
    from collections.abc import Iterator

ROWS = 40
SCHEMA = shoal.Schema(quasi="age", sensitive="pay", person="who")


def table(last: int = ROWS) -> pl.DataFrame:
    rows = range(last)
    return pl.DataFrame(
        {
            "who": list(rows),
            "age": [20 + one % 8 for one in rows],
            "pay": [one * 100 for one in rows],
        }
    )


def released() -> shoal.Release:
    return shoal.anonymize(table(), SCHEMA, require="KAnonymity(k=4)")


def names_in(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


def in_use(path: Path) -> bool:
    """Return whether this process has a file open or mapped, or one below a directory."""
    used = {str(one.readlink()) for one in Path("/proc/self/fd").iterdir() if one.is_symlink()}
    maps = Path("/proc/self/maps").read_text("utf-8").splitlines()
    used |= {line.split(maxsplit=5)[5] for line in maps if "/" in line}
    whole = str(Path(os.path.realpath(path.parent)) / path.name)
    return any(one == whole or one.startswith(f"{whole}/") for one in used)


def busy(path: Path) -> PermissionError:
    return PermissionError(errno.EACCES, "The process cannot access the file", str(path))


class OfWindows:
    """What its system calls do otherwise."""

    def __init__(self) -> None:
        self.open, self.rename, self.unlink, self.fsync = os.open, os.rename, os.unlink, os.fsync

    def opened(self, path: Any, flags: int, *more: Any, **named: Any) -> int:
        # What removes a tree opens directories by one that is open, which Windows does otherwise.
        if not named and os.path.isdir(path):  # noqa: PTH112
            raise busy(path)
        return self.open(path, flags, *more, **named)

    def renamed(self, old: Any, new: Any) -> None:
        if os.path.lexists(new):
            raise FileExistsError(errno.EEXIST, "Cannot create a file that exists", str(new))
        if in_use(Path(old)):
            raise busy(old)
        self.rename(old, new)

    def unlinked(self, path: Any, **named: Any) -> None:
        if not named and in_use(Path(path)):
            raise busy(path)
        self.unlink(path, **named)

    def synced(self, descriptor: int) -> None:
        if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "Bad file descriptor")
        self.fsync(descriptor)

    @staticmethod
    def locking(descriptor: int, _mode: int, count: int) -> None:
        assert count == 1
        assert not stat.S_ISDIR(os.fstat(descriptor).st_mode)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "Permission denied") from None


@contextmanager
def windows() -> Iterator[None]:
    """Play Windows for code that is imported: what is imported now may ask which system it is."""
    calls = OfWindows()
    with pytest.MonkeyPatch.context() as play:
        play.setattr(sys, "platform", "win32")
        play.setitem(sys.modules, "fcntl", None)
        play.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=calls.locking, LK_NBLCK=2))
        play.setattr(os, "open", calls.opened)
        play.setattr(os, "rename", calls.renamed)
        play.setattr(os, "unlink", calls.unlinked)
        play.setattr(os, "fsync", calls.synced)
        for name in ("geteuid", "getuid", "O_NOFOLLOW", "link"):
            play.delattr(os, name)
        yield


@contextmanager
def macos() -> Iterator[None]:
    """Play a system of POSIX that is not Linux: it has neither `renameat2` nor `/proc`."""
    with pytest.MonkeyPatch.context() as play:
        play.setattr(sys, "platform", "darwin")
        play.delattr(os, "sched_getaffinity")
        yield


systems = pytest.mark.parametrize("system", [windows, macos], ids=["windows", "macos"])


@systems
def test_a_release_is_published_replaced_and_audited(tmp_path: Path, system: Any) -> None:
    release = released()
    release.write(tmp_path / "first", linkage=tmp_path / "link-first")  # imports what it needs
    here = {path.name: path.read_bytes() for path in (tmp_path / "first").iterdir()}
    with system():
        release.write(tmp_path / "out", linkage=tmp_path / "link")
        with pytest.raises(OutputError, match="exists"):
            release.write(tmp_path / "out")
        release.write(tmp_path / "out", linkage=tmp_path / "link", force=True)
        assert shoal.audit(tmp_path / "out").holds
    assert names_in(tmp_path) == ["first", "link", "link-first", "out"]
    there = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert here.keys() == there.keys()
    assert all(here[name] == there[name] for name in ("release.csv", "codebook.csv"))


@systems
def test_what_appears_at_the_target_is_kept(tmp_path: Path, system: Any) -> None:
    with system():
        for is_folder in (True, False):
            staged, target = (tmp_path / f"{name} {is_folder}" for name in ("staged", "target"))
            for path in (staged, target):
                if is_folder:
                    path.mkdir()
                    (path / "mine").write_text(path.name, "utf-8")
                else:
                    path.write_text(path.name, "utf-8")
            with pytest.raises(FileExistsError):
                staging.put(staged, target)
            kept = target / "mine" if is_folder else target
            assert kept.read_text("utf-8") == target.name


def test_a_leftover_stays_where_nothing_can_be_locked(tmp_path: Path) -> None:
    left = tmp_path / f".shoal-{'1' * 16}.partial"
    left.mkdir()
    with windows():
        staging.clear_leftovers(tmp_path)
        with staging.staging(tmp_path / "out") as staged:
            assert staged.exists()
        with staging.turn_in(tmp_path), serving.private_directory(tmp_path) as page:
            serving.clear_leftovers(tmp_path)
            assert page.exists()
    assert names_in(tmp_path) == [left.name]
    with macos():
        staging.clear_leftovers(tmp_path)
    assert names_in(tmp_path) == []


@systems
def test_a_ledger_is_of_one_run_at_a_time(tmp_path: Path, system: Any) -> None:
    path = tmp_path / "series.ledger"
    with system():
        again = pytest.raises(OutputError, match="Another run is using")
        with locked(path), again, locked(path):
            pass
        with locked(path):
            assert names_in(tmp_path) == [".series.ledger.lock"]
        assert names_in(tmp_path) == []


def test_a_ledger_is_refused_where_nothing_can_be_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("fcntl", "msvcrt"):
        monkeypatch.setitem(sys.modules, name, None)
    refused = pytest.raises(OutputError, match="or this system, has no locks")
    with refused, locked(tmp_path / "ledger"):
        pass


@systems
def test_a_private_file_appears_whole(tmp_path: Path, system: Any) -> None:
    with system():
        write_whole(tmp_path / "file", "one\n", force=False)
        write_whole(tmp_path / "file", "two\n", force=True)
        with pytest.raises(OutputError, match="created or changed by another program"):
            write_whole(tmp_path / "file", "three\n", force=False)
    assert (tmp_path / "file").read_bytes() == b"two\n"
    assert names_in(tmp_path) == ["file"]


def test_what_stops_a_run_is_what_the_system_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "SIGHUP")
    found = importlib.util.spec_from_file_location("fresh", platforms.__file__)
    assert found is not None
    assert found.loader is not None
    fresh = importlib.util.module_from_spec(found)
    found.loader.exec_module(fresh)
    assert fresh.STOPS == (signal.SIGINT, signal.SIGTERM)


@pytest.mark.parametrize("heard_by_the_loop", [True, False])
def test_a_page_ends_when_it_is_asked_to(
    monkeypatch: pytest.MonkeyPatch, heard_by_the_loop: bool
) -> None:
    async def asked_to_end() -> bool:
        if not heard_by_the_loop:
            loop = type(asyncio.get_running_loop())

            def unheard(*_how: Any) -> None:
                raise NotImplementedError

            monkeypatch.setattr(loop, "add_signal_handler", unheard)
        server = serving.server_of(SimpleNamespace())  # type: ignore[arg-type]
        with server.capture_signals():
            signal.raise_signal(signal.SIGTERM)
            await asyncio.sleep(0.05)
        return server.should_exit

    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)  # what ends it first stands as usual
    try:
        assert asyncio.run(asked_to_end())
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)


def test_nobody_else_can_listen_on_the_port_of_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows SO_REUSEADDR would let another program take it over."""
    monkeypatch.setattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_KEEPALIVE, raising=False)
    with listening.listening(0) as listener:
        assert not listener.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)
        assert listener.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


def test_a_file_on_another_drive_is_named_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert platforms.path_from(tmp_path / "a" / "b.csv", tmp_path / "c") == "../a/b.csv"

    def parted(*_paths: Any) -> str:
        raise ValueError

    monkeypatch.setattr(os.path, "relpath", parted)
    monkeypatch.chdir(tmp_path)
    whole = (tmp_path / "b.csv").as_posix()
    assert platforms.path_from("b.csv", tmp_path / "c") == whole
    kept = to_keep("duckdb:///b.db?table=people", tmp_path / "c")
    assert kept == f"duckdb:///{tmp_path.as_posix()}/b.db?table=people"


def test_text_has_the_same_line_ends_everywhere() -> None:
    """Digests and audits compare bytes, so no file may have the line ends of its system."""
    lost = [
        f"{path}: {line.strip()}"
        for path in sorted(Path(shoal.__file__).parent.rglob("*.py"))
        for line in path.read_text("utf-8").splitlines()
        if ".write_text(" in line and "newline=" not in line and "MARK" not in line
    ]
    assert lost == []


def test_memory_that_the_system_does_not_tell_limits_nothing() -> None:
    nowhere: Any = SimpleNamespace(pid=2**22 + 1)
    assert _held(nowhere) == 0


def test_what_the_package_says_of_systems_is_what_the_guide_says() -> None:
    root = Path(__file__).parents[1]
    said = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["classifiers"]
    systems = {one.split(" :: ")[-1] for one in said if one.startswith("Operating System")}
    guide = (root / "docs" / "guides" / "install.md").read_text("utf-8")
    part = guide.partition("## Operating systems")[2]
    assert systems == {"Linux", "MacOS", "Windows"}
    assert "The tests run on Linux" in part
    assert "macOS and Windows are believed to work" in part
