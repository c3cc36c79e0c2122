"""Whoever asks a run to stop, in whatever way, finds nothing half-written and exit code 130."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING

import polars as pl
import pytest

from shoal.cli import main, show
from shoal.release import staging
from system.shell import PATIENCE, Outcome, names_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ROWS = 60
# The command, which waits in the midst of writing until it is told to go on or to stop. Whoever is
# impatient is so at once, however long this test is kept waiting between two signals.
HELD = f"""
    import sys, time
    from pathlib import Path
    from shoal.cli import main
    from shoal.runs import publish

    def held(*given, **options):
        (place / "here").touch()
        while not (place / "go").exists():
            time.sleep(0.01)
        return audited(*given, **options)

    place = Path(sys.argv.pop(1))
    audited, publish.audit_written = publish.audit_written, held
    main.IMPATIENCE = {PATIENCE}
    main.main()
"""


@pytest.fixture
def marks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where it is seen how far the command is."""
    return tmp_path_factory.mktemp("marks")


def hearing() -> None:
    """Hear every signal, also where these tests were told not to, as under nohup."""
    for stop in STOPS:
        signal.signal(stop, signal.SIG_DFL)


def started(
    place: Path, marks: Path, *options: object, signals: Callable[[], None] = hearing
) -> subprocess.Popen[str]:
    """Start the command, and wait until it is in the midst of writing."""
    table = marks / "table.csv"
    rows = [{"age": n % 20, "salary": 100 * n} for n in range(ROWS)]
    pl.DataFrame(rows).write_csv(table)
    asked = ("--quasi", "age", "--sensitive", "salary", "--require", "KAnonymity(k=5)")
    words = ("anonymize", table, *asked, "--output", place / "out", "--quiet", *options)
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HELD), str(marks), *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        preexec_fn=signals,  # noqa: PLW1509 - nothing here has threads
    )
    end = time.monotonic() + PATIENCE
    while not (marks / "here").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)
    assert any(name.endswith(".partial") for name in names_in(place))
    return process


def ended(process: subprocess.Popen[str]) -> Outcome:
    out, err = process.communicate(timeout=PATIENCE)
    return Outcome(process.returncode, out, err)


@pytest.mark.few(1)
@pytest.mark.parametrize("stop", STOPS, ids=lambda stop: stop.name)
def test_nothing_is_left_of_what_was_being_written(
    tmp_path: Path, marks: Path, stop: signal.Signals
) -> None:
    process = started(tmp_path, marks, "--linkage", tmp_path / "linkage.csv")
    process.send_signal(stop)
    process.send_signal(stop)  # impatiently
    outcome = ended(process)
    assert outcome.code == 130, outcome
    assert outcome.said == "shoal: interrupted. No half-written file is left."
    assert names_in(tmp_path) == []


def test_a_signal_that_was_to_be_ignored_is_ignored(tmp_path: Path, marks: Path) -> None:
    """As under nohup, where a run outlives its terminal."""

    def deaf() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    process = started(tmp_path, marks, signals=deaf)
    process.send_signal(signal.SIGHUP)
    (marks / "go").touch()
    assert ended(process).code == 0
    assert json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))["rows"] == ROWS
    assert names_in(tmp_path) == ["out"]


@pytest.mark.parametrize("stop", STOPS, ids=lambda stop: stop.name)
def test_clearing_away_is_not_disturbed(tmp_path: Path, stop: signal.Signals) -> None:
    script = """
        import os, shutil, signal, sys
        from pathlib import Path
        from shoal.release import staging

        def slow(path, ignore_errors):
            os.kill(os.getpid(), int(sys.argv[2]))
            removed(path)

        removed, shutil.rmtree = shutil.rmtree, slow
        with staging.staging(Path(sys.argv[1]) / "out") as staged:
            (staged / "file").touch()
    """
    code = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path), str(int(stop))]
    assert subprocess.run(code, check=False, preexec_fn=hearing).returncode == 0
    assert names_in(tmp_path) == []


def test_what_is_written_by_others_while_it_is_cleared_away_is_cleared_away_too(
    tmp_path: Path,
) -> None:
    """As by workers who were told to stop, and have not heard it yet."""
    with staging.staging(tmp_path / "out") as staged:
        writing = threading.Thread(target=written_for_a_while, args=(staged,))
        writing.start()
    writing.join()
    assert names_in(tmp_path) == []


def written_for_a_while(staged: Path) -> None:
    end, number = time.monotonic() + 0.5, 0
    with suppress(FileNotFoundError):  # there is nothing left to write into
        while time.monotonic() < end:
            number += 1
            (staged / str(number)).mkdir()


def test_whoever_asks_twice_at_once_is_heard_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(main, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(main, "Heard", type("Heard", (), {"until": 0.0}))
    monkeypatch.setattr(show, "interrupted", threading.Event())
    with pytest.raises(KeyboardInterrupt):
        main.interrupt(signal.SIGTERM, None)
    now[0] += 0.99 * main.IMPATIENCE
    main.interrupt(signal.SIGTERM, None)
    now[0] += 0.02 * main.IMPATIENCE
    with pytest.raises(KeyboardInterrupt):
        main.interrupt(signal.SIGTERM, None)
