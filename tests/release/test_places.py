"""Whatever Shoal writes appears whole or not at all, and nothing of anybody else's is lost by it.

Something may appear at any of its places while it works: another run's release, or a file of the
owner's. `meddle` makes that happen at the last moment before something is put in place.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any, cast

import duckdb
import polars as pl
import pytest

import shoal
from shoal import platforms
from shoal.release import places, staging
from shoal.release.ledger import read_ledger
from shoal.runs import publish
from shoal.runs.doing import go
from shoal.runs.history import marks, read_history
from shoal.runs.run import Run
from system.shell import PATIENCE, names_in, people, start, write_csv

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = 40
SCHEMA = shoal.Schema(quasi="age", sensitive="pay")


def table(first: int = 20) -> pl.DataFrame:
    return pl.DataFrame(
        {"age": [first + row % 8 for row in range(ROWS)], "pay": [row * 100 for row in range(ROWS)]}
    )


def released(first: int = 20) -> shoal.Release:
    return shoal.anonymize(table(first), SCHEMA, require="KAnonymity(k=4)")


@pytest.fixture(params=["at once", "in steps"])
def _system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that renames without replacing and exchanges names, and one that cannot."""
    if request.param == "in steps":
        monkeypatch.setattr(staging, "_renamed", lambda *_how: False)


def _file(path: Path) -> None:
    path.write_text("mine")


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "mine").write_text("mine")


def _empty(path: Path) -> None:
    path.mkdir()


def _dangling(path: Path) -> None:
    path.symlink_to("nowhere")


def _link(path: Path) -> None:
    _folder(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def _release(path: Path) -> None:
    released(50).write(path)


def seen(path: Path) -> Any:
    """Return everything that stands at a path."""
    if path.is_symlink():
        return str(path.readlink())
    if path.is_dir():
        return {one.name: seen(one) for one in path.iterdir()}
    return path.read_bytes() if path.exists() else None


def meddle(
    act: Callable[[], object], phase: str = "report", at: float = 1.0
) -> Callable[[str, float], None]:
    """Return a progress that does something at a point of a phase, once."""
    waiting = [act]

    def progress(now: str, share: float) -> None:
        if (now, share) == (phase, at) and waiting:
            waiting.pop()()

    return progress


@pytest.mark.usefixtures("_system")
@pytest.mark.parametrize("appears", [_file, _folder, _empty, _dangling, _link, _release])
def test_what_appears_at_the_output_is_kept(
    tmp_path: Path, appears: Callable[[Path], None]
) -> None:
    before: list[Any] = []

    def act() -> None:
        appears(tmp_path / "out")
        before.append((seen(tmp_path / "out"), names_in(tmp_path)))

    with pytest.raises(shoal.OutputError, match="'out' was created or changed by another program"):
        released().write(tmp_path / "out", linkage=tmp_path / "link", progress=meddle(act))
    others = [one for one in before[0][1] if not one.endswith(".partial")]
    assert (seen(tmp_path / "out"), names_in(tmp_path)) == (before[0][0], others)


@pytest.mark.usefixtures("_system")
@pytest.mark.parametrize("appears", [_file, _folder, _link])
def test_what_takes_the_place_of_a_release_is_not_replaced_by_force(
    tmp_path: Path, appears: Callable[[Path], None]
) -> None:
    released().write(tmp_path / "out")

    def act() -> None:
        (tmp_path / "out").rename(tmp_path / "moved")
        appears(tmp_path / "out")

    with pytest.raises(shoal.OutputError, match="created or changed by another program"):
        released().write(tmp_path / "out", force=True, progress=meddle(act))
    assert seen(tmp_path / "out") in (b"mine", {"mine": b"mine"}, "elsewhere")
    assert shoal.audit(tmp_path / "moved").holds


@pytest.mark.usefixtures("_system")
def test_a_file_put_into_a_release_at_the_very_last_is_not_lost_by_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    released().write(tmp_path / "out")
    before = seen(tmp_path / "out")
    exchange = staging.exchange

    def late(one: Path, other: Path) -> None:
        if not (other / "mine").exists() and not (one / "mine").exists():
            (other / "mine").write_text("mine")
        exchange(one, other)

    monkeypatch.setattr(staging, "exchange", late)
    with pytest.raises(shoal.OutputError, match="created or changed by another program"):
        released().write(tmp_path / "out", force=True)
    assert seen(tmp_path / "out") == before | {"mine": b"mine"}
    assert names_in(tmp_path) == ["out"]


@pytest.mark.usefixtures("_system")
def test_what_appears_at_the_linkage_is_kept_and_nothing_is_published(tmp_path: Path) -> None:
    link = tmp_path / "link"
    with pytest.raises(shoal.OutputError, match="'link' was created or changed"):
        released().write(tmp_path / "out", linkage=link, progress=meddle(lambda: _file(link)))
    assert (link.read_text(), names_in(tmp_path)) == ("mine", ["link"])


def test_files_of_two_runs_onto_one_output_are_never_mixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is about to appear is not overtaken: linkage and control group are its own."""
    out, link, held = tmp_path / "out", tmp_path / "link", tmp_path / "held"
    paid = pl.DataFrame({"age": [20 + row % 9 for row in range(90)], "pay": range(90)})

    def write() -> None:
        asked: dict[str, Any] = {"hold_out": "20%", "hold_out_file": held}
        asked["require"] = ["KAnonymity(k=4)"]
        go(Run(table=paid, schema=SCHEMA, output=out, linkage=link, force=True, **asked))

    others: list[threading.Thread] = []

    def overtaken(*what: Any, **how: Any) -> None:
        if not others:
            others.append(threading.Thread(target=write))
            others[0].start()
            others[0].join(timeout=0.5)
            assert others[0].is_alive()
        places.appear(*what, **how)

    monkeypatch.setattr(publish, "appear", overtaken)
    write()
    others[0].join(PATIENCE)
    published = pl.read_csv(out / "release.csv")["pay"]
    pairs = pl.read_csv(link)
    assert published.gather(pairs["release_row"]).to_list() == pairs["row"].to_list()
    assert not set(pl.read_csv(held)["pay"]) & set(published)


KILLED = """
import os, signal, sys
import polars as pl
from shoal import Schema
from shoal.release import staging
from shoal.runs.doing import go
from shoal.runs.run import Run

place, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
renamed, step = staging._renamed, 0


def counted(*what):
    global step
    step += 1
    if step == last:
        os.kill(os.getpid(), signal.SIGKILL)
    return renamed(*what)


staging._renamed = counted
paid = {"age": [20 + row % 9 for row in range(90)], "pay": range(first, first + 90)}
private = {"linkage": f"{place}/link", "hold_out": "20%", "hold_out_file": f"{place}/held"}
schema, require = Schema(quasi="age", sensitive="pay"), ["KAnonymity(k=4)"]
go(Run(table=pl.DataFrame(paid), schema=schema, require=require, output=f"{place}/out",
       force=True, **private))
"""


def of_release(file: Path, out: Path) -> bool:
    """Return whether a linkage or a control group is that of a release."""
    pay, said = pl.read_csv(out / "release.csv")["pay"], pl.read_csv(file)
    first = cast("int", pay.min()) // 1000 * 1000
    if "row" in said:
        return pay.gather(said["release_row"]).to_list() == (said["row"] + first).to_list()
    return sorted([*pay, *said["pay"]]) == [*range(first, first + 90)]


@pytest.mark.few(2)
@pytest.mark.parametrize("step", [3, 5, 1, 2, 4, 6, 7])
def test_no_file_of_a_killed_run_stands_beside_the_release_of_another(
    tmp_path: Path, step: int
) -> None:
    """Whenever a run is killed, what stands there is of one run, and nothing older is lost.

    Two files are put aside, a release and two files appear: in seven steps, as the first try to
    give a release its name finds another there.
    """
    for first, killed in ((0, 0), (1000, step)):
        command = [sys.executable, "-c", KILLED, str(tmp_path), str(first), str(killed)]
        done = subprocess.run(command, check=False, timeout=PATIENCE)
    assert done.returncode == (-signal.SIGKILL if step < 7 else 0)
    out = tmp_path / "out"
    assert shoal.audit(out).holds
    old = cast("int", pl.read_csv(out / "release.csv")["pay"].min()) < 1000
    for name in ("link", "held"):
        named, kept = tmp_path / name, [*tmp_path.glob(f"{name}*")]
        assert not named.exists() or of_release(named, out)
        assert not old or any(of_release(one, out) for one in kept)
    assert step < 7 or names_in(tmp_path) == ["held", "link", "out"]


@pytest.mark.usefixtures("_system")
def test_a_linkage_is_as_before_where_its_release_does_not_appear(tmp_path: Path) -> None:
    link = tmp_path / "link"
    released().write(tmp_path / "out", linkage=link)
    before = link.read_bytes()

    def act() -> None:
        (tmp_path / "out" / "mine").write_text("mine")

    with pytest.raises(shoal.OutputError):
        released().write(tmp_path / "out", linkage=link, force=True, progress=meddle(act))
    assert link.read_bytes() == before
    assert names_in(tmp_path) == ["link", "out"]
    (tmp_path / "out" / "mine").unlink()
    released().write(tmp_path / "out", linkage=link, force=True)
    assert link.read_bytes() != before
    assert stat.S_IMODE(link.stat().st_mode) == places.PRIVATE


def test_what_appears_at_the_owners_report_is_kept(tmp_path: Path) -> None:
    own = tmp_path / "own.html"
    run = shoal.results.Run.over(
        table(), SCHEMA, require="KAnonymity(k=4)", output=tmp_path / "out", owner_report=own
    )
    with pytest.raises(shoal.OutputError, match=r"'own.html' was created.* release itself is comp"):
        run.publish(meddle(lambda: _file(own), "owner", 0.0))
    assert own.read_text() == "mine"
    assert shoal.audit(tmp_path / "out").holds
    assert names_in(tmp_path) == ["out", "own.html"]


@pytest.mark.parametrize("write", [places.write_whole, places.new_directory])
def test_no_other_file_or_directory_replaces_what_appeared(
    tmp_path: Path, write: Callable[..., Any]
) -> None:
    """Certificates, pages, programs and schema files go through these two."""
    target = tmp_path / "made"
    if write is places.write_whole:
        _file(target)
        with pytest.raises(shoal.OutputError, match="'made' was created or changed"):
            places.write_whole(target, "new", force=False)
    else:

        def late() -> None:
            with places.new_directory(target) as staged:
                (staged / "new").write_text("new")
                _file(target)

        with pytest.raises(shoal.OutputError, match="'made' was created or changed"):
            late()
    assert (target.read_text(), names_in(tmp_path)) == ("mine", ["made"])


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_what_appears_in_a_database_is_kept(
    tmp_path: Path, kind: str, force: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "made.db"
    connect: Callable[..., Any] = sqlite3.connect if kind == "sqlite" else duckdb.connect
    place = f"{kind}:///{path}?table=published"
    if force:
        released().write(place)

    def act(*_asked: object, **_how: object) -> None:
        connection = connect(str(path))
        connection.execute("drop table if exists published")
        connection.execute("create table published as select 'mine' as whose")
        connection.commit()
        connection.close()

    # Just after what stands there was looked at for the last time outside of the transaction.
    monkeypatch.setattr("shoal.table.databases.access.check_target", act)
    with pytest.raises(shoal.OutputError, match=r"'published' exists|'made.db' was created"):
        released().write(place, force=force)
    connection = connect(str(path))
    assert connection.execute("select * from published").fetchall() == [("mine",)]
    connection.close()


def with_person(first: int = 20) -> pl.DataFrame:
    return table(first).with_columns(who=pl.Series(range(first, first + ROWS)))


def in_series(place: Path, name: str, rows: pl.DataFrame, **how: Any) -> shoal.results.Run:
    schema = shoal.Schema(quasi="age", sensitive="pay", person="who")
    where = {"output": place / name, "ledger": place / "ledger"}
    return shoal.results.Run.over(rows, schema, require="KAnonymity(k=4)", **where, **how)


@pytest.mark.parametrize("rounds", [0, 1])
def test_a_ledger_that_appears_or_changes_is_kept(tmp_path: Path, rounds: int) -> None:
    if rounds:
        in_series(tmp_path, "a", with_person()).publish()
        older = (tmp_path / "ledger").read_bytes() + b"\n"  # as if restored from elsewhere
    else:
        older = b"{}"
    act = meddle(lambda: (tmp_path / "ledger").write_bytes(older))
    with pytest.raises(shoal.OutputError, match="ledger 'ledger' was created or changed"):
        in_series(tmp_path, "b", with_person()).publish(act)
    assert (tmp_path / "ledger").read_bytes() == older
    assert names_in(tmp_path) == ["a"] * rounds + ["ledger"] + ["ledger.log"] * rounds


def test_runs_at_one_time_are_all_in_the_history(tmp_path: Path) -> None:
    def once(first: int, progress: Callable[[str, float], None]) -> None:
        how = {"output": tmp_path / f"out{first}", "history": tmp_path / "history"}
        shoal.results.Run.over(table(first), SCHEMA, require="KAnonymity(k=4)", **how).publish(
            progress
        )

    once(20, meddle(lambda: once(30, meddle(lambda: once(40, shoal.progress.silent)))))
    past = read_history(tmp_path / "history")
    assert sorted(one["output"][-2:] for one in past.releases) == ["20", "30", "40"]
    for one in past.releases:  # people are marked under the key that the log has
        cells = table(int(one["output"][-2:]))
        assert one["people"] == sorted(marks(past.key, cells, one["by"]))


def test_a_history_that_was_replaced_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "history"
    how = {"output": tmp_path / "a", "history": path}
    shoal.results.Run.over(table(), SCHEMA, require="KAnonymity(k=4)", **how).publish()
    run = shoal.results.Run.over(
        table(), SCHEMA, require="KAnonymity(k=4)", **how | {"output": tmp_path / "b"}
    )
    other = '{"shoal_history": 1, "key": "00"}\n'
    with pytest.raises(shoal.OutputError, match=r"replaced by another.* release itself is comp"):
        run.publish(meddle(lambda: path.write_text(other)))
    assert path.read_text() == other
    assert names_in(tmp_path) == ["a", "b", "history"]


def test_of_runs_onto_one_output_one_releases(tmp_path: Path) -> None:
    """All of them are about to appear at the same time."""
    runs = 4
    ready = threading.Barrier(runs)
    wrong: list[BaseException] = []

    def once() -> None:
        try:
            released().write(tmp_path / "out", progress=meddle(ready.wait))
        except shoal.OutputError as problem:
            wrong.append(problem)

    threads = [threading.Thread(target=once) for _ in range(runs)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(PATIENCE)
    assert len(wrong) == runs - 1
    assert all("created or changed by another program" in str(one) for one in wrong)
    assert shoal.audit(tmp_path / "out").holds
    assert names_in(tmp_path) == ["out"]


def test_of_commands_onto_one_output_one_says_released(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "table.csv", people(40))
    asked = ("--quasi", "age", "--sensitive", "salary", "--require", "KAnonymity(k=4)")
    started = [start("anonymize", path, *asked, "--output", tmp_path / "out") for _ in range(2)]
    said = [(*one.communicate(timeout=PATIENCE), one.returncode) for one in started]
    assert sorted(code for _, _, code in said) == [0, 4]
    assert [code for out, _, code in said if "Released" in out] == [0]
    assert names_in(tmp_path) == ["out", "table.csv"]


def test_what_a_killed_run_left_goes_with_the_next_one_whatever_it_is_called(
    tmp_path: Path,
) -> None:
    """In a series every release has another name, and so has what a killed run leaves."""
    used, left = (tmp_path / f".shoal-{digit * 16}.partial" for digit in "01")
    theirs = [tmp_path / name for name in (".shoal-1.partial", ".out.partial", "x.partial")]
    for one in (used, left, *theirs):
        one.mkdir()
    (left / "cells").write_text("private")
    (tmp_path / f".shoal-{'2' * 16}.partial").write_text("a linkage")
    lock = os.open(used, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with staging.staging(tmp_path / "next") as staged:
        assert stat.S_IMODE(staged.stat().st_mode) == 0o700
        with staging.staging(tmp_path / "next") as second:  # a run at the same time
            assert staged.exists()
            assert second != staged
    os.close(lock)
    assert names_in(tmp_path) == sorted(one.name for one in (used, *theirs))


@pytest.mark.usefixtures("_system")
def test_the_old_directory_stays_until_the_new_one_stands(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "old").touch()
    with staging.staging(target) as staged:
        (staged / "new").touch()
        staging.swap_in(staged, target, lambda _path: True)
        assert names_in(target) == ["new"]
        assert names_in(staged) == ["old"]
    assert names_in(tmp_path) == ["out"]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o777 & ~mask


@pytest.mark.parametrize(
    "problem", [OSError(28, "No space left"), pl.exceptions.ComputeError("full")]
)
def test_a_private_file_that_does_not_fit_is_named(tmp_path: Path, problem: Exception) -> None:
    """Its disk may be full where that of the release is not, and a writer may say no reason."""

    def fill(_: object) -> None:
        raise problem

    with (
        pytest.raises(shoal.OutputError, match=r"Cannot write 'linkage\.csv': (No space|full)"),
        places.whole_file(tmp_path / "linkage.csv", fill, force=False, what="linkage"),
    ):
        pass
    assert names_in(tmp_path) == []


def test_the_longest_name_that_a_file_can_have_will_do(tmp_path: Path) -> None:
    released().write(tmp_path / ("n" * 255), linkage=tmp_path / ("l" * 255))
    assert sorted(map(len, names_in(tmp_path))) == [255, 255]


def test_a_second_ctrl_c_does_not_disturb_clearing_up() -> None:
    heard = signal.getsignal(signal.SIGINT)
    with staging.undisturbed():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is heard


def test_a_ledger_is_known_by_what_was_read(tmp_path: Path) -> None:
    in_series(tmp_path, "a", with_person()).publish()
    read_ledger(tmp_path / "ledger").write(tmp_path / "ledger")
    in_series(tmp_path, "b", with_person()).publish()
    assert len(read_ledger(tmp_path / "ledger").rounds) == 2


@pytest.mark.parametrize("stop", platforms.STOPS, ids=lambda stop: stop.name)
def test_whoever_stops_a_release_that_is_appearing_gets_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: signal.Signals
) -> None:
    """A signal between linkage and release takes neither away from the other."""

    def stopped(*what: Any, **how: Any) -> None:
        os.kill(os.getpid(), stop)
        places.appear(*what, **how)
        os.kill(os.getpid(), stop)

    monkeypatch.setattr(publish, "appear", stopped)
    before = signal.signal(stop, _raise)
    try:
        released().write(tmp_path / "out", linkage=tmp_path / "link")
    finally:
        signal.signal(stop, before)
    assert names_in(tmp_path) == ["link", "out"]
    assert shoal.audit(tmp_path / "out").holds


def _raise(*_told: object) -> None:
    raise KeyboardInterrupt
