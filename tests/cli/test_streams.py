"""Streams that are closed, full or of a narrow encoding: the exit code says what became of all."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from shoal.cli import main as command
from system.shell import _leave, names_in, people, redone, run, write_csv
from system.shell import shoal as done

if TYPE_CHECKING:
    from pathlib import Path

SPARE = 200
ASKED = ("--quasi", "age,town", "--sensitive", "salary", "--require", "KAnonymity(k=4)")


class Broken(io.StringIO):
    """A stream that takes nothing."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def fileno(self) -> int:
        """Return a number that Rich may give to another file once whoever read is gone."""
        return SPARE

    def write(self, _text: str) -> int:
        raise OSError(self.number, os.strerror(self.number))

    @property
    def buffer(self) -> Any:
        return self


def ended(*arguments: object, **streams: io.StringIO) -> int:
    """Run the command in this process on other streams, and return its exit code."""
    before = [sys.stdout, sys.stderr]
    with (
        mock.patch.object(sys, "argv", ["shoal", *map(str, arguments)]),
        mock.patch.object(os, "_exit", _leave),
    ):
        try:
            sys.stdout = streams.get("stdout", io.StringIO())
            sys.stderr = streams.get("stderr", io.StringIO())
            command.main()
        except SystemExit as end:
            return int(end.code or 0)
        finally:
            sys.stdout, sys.stderr = before
    raise AssertionError


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "table.csv", people(40))


@pytest.fixture
def spoiled(tmp_path: Path, table: Path) -> Path:
    """Return a release that does not hold."""
    assert done("anonymize", table, *ASKED, "--output", tmp_path / "bad").code == 0
    redone(tmp_path / "bad", [{"group": "0", "age": "20", "town": "Ulm", "salary": "1"}])
    return tmp_path / "bad"


NUMBERS = [errno.ENOSPC, errno.EBADF, errno.EPIPE]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("name", "number", "option"),
    [
        *(("stdout", number, ()) for number in NUMBERS),
        ("stdout", errno.ENOSPC, ("--json",)),
        ("stderr", errno.ENOSPC, ()),
    ],
)
def test_a_release_stands_whatever_becomes_of_the_words_about_it(
    tmp_path: Path, table: Path, name: str, number: int, option: tuple[str, ...]
) -> None:
    asked = ("anonymize", table, *ASKED, "--output", tmp_path / "out", *option)
    assert ended(*asked, **{name: Broken(number)}) == 0
    assert done("audit", tmp_path / "out").code == 0
    coarser = ("coarsen", tmp_path / "out", "--require", "KAnonymity(k=8)", *option)
    assert ended(*coarser, "--output", tmp_path / "next", **{name: Broken(number)}) == 0
    assert done("audit", tmp_path / "next").code == 0


def test_what_could_not_be_printed_is_told(tmp_path: Path, table: Path) -> None:
    heard = io.StringIO()
    asked = ("anonymize", table, *ASKED, "--output", tmp_path / "out")
    assert ended(*asked, stdout=Broken(errno.ENOSPC), stderr=heard) == 0
    assert "cannot print: No space left on device. The release is complete." in heard.getvalue()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EPIPE])
def test_a_release_that_is_printed_and_does_not_arrive_is_none(
    tmp_path: Path, table: Path, number: int
) -> None:
    asked = ("anonymize", table, *ASKED, "--output", "-", "--linkage", tmp_path / "link")
    assert ended(*asked, stdout=Broken(number)) == 4
    assert names_in(tmp_path) == ["table.csv"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EPIPE])
def test_an_audit_that_fails_says_so_by_its_code(spoiled: Path, number: int) -> None:
    for option in ((), ("--json",)):
        assert ended("audit", spoiled, *option, stdout=Broken(number)) == 1
        assert ended("audit", spoiled, *option, stderr=Broken(number)) == 1


def test_what_is_only_printed_and_does_not_arrive_was_not_done(tmp_path: Path, table: Path) -> None:
    assert done("anonymize", table, *ASKED, "--output", tmp_path / "out").code == 0
    for asked in (
        ("inspect", table),
        ("plan", table, "--sensitive", "salary", "--json"),
        ("audit", tmp_path / "out"),
        ("audit", tmp_path / "out", "--json"),
    ):
        assert ended(*asked, stdout=Broken(errno.ENOSPC)) == 4
        assert ended(*asked, stdout=Broken(errno.EPIPE)) == 0  # whoever read has seen enough


def _close() -> None:
    for number in (0, 1, 2):
        os.close(number)


def test_with_all_streams_closed_a_release_is_made_and_nothing_is_written_into_it(
    tmp_path: Path, table: Path
) -> None:
    """The next file that is opened would have the number of a stream that is not there."""
    asked = ("anonymize", table, *ASKED, "--output", tmp_path / "out")
    assert run(*asked, preexec_fn=_close).code == 0
    assert done("audit", tmp_path / "out").code == 0
    assert run("anonymize", "-", *ASKED, "--output", "-", preexec_fn=_close).code == 2
    assert run("anonymize", table, *ASKED, "--output", "-", preexec_fn=_close).code == 4


def test_a_standard_input_that_cannot_be_read_is_bad_input(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path / "file", os.O_WRONLY | os.O_CREAT)
    found = run("plan", "-", "--sensitive", "salary", stdin=descriptor)
    os.close(descriptor)
    assert found.code == 2
    assert found.said == "shoal: Cannot read standard input: Bad file descriptor."


@pytest.mark.parametrize(("encoding", "option"), [("ascii", ["--json"]), ("latin-1", [])])
def test_a_narrow_encoding_changes_neither_work_nor_json(
    tmp_path: Path, table: Path, encoding: str, option: list[str]
) -> None:
    known = os.environ | {"PYTHONIOENCODING": encoding}
    asked = (*ASKED, "--other", "note", "--title", "Łódź ✓", "--output", tmp_path / "out", *option)
    found = run("anonymize", table, *asked, env=known)
    assert found.code == 0, found
    if option:
        assert json.loads(found.out)["title"] == "Łódź ✓"
    else:
        assert "Released" in found.out
