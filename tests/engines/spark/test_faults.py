"""What becomes of a run on Spark when something fails in the middle: a whole release, or none.

Workers are made to fail by a module that every Python loads when it starts (`jvm.faulty`), as often
as files say. What is published is looked at with plain Polars.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import jvm
from system.shell import PATIENCE, names_in, shoal, start

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.spark, pytest.mark.long]

ROWS = 6000
LOCAL, CLUSTER = "local[2]", "local-cluster[2,1,1024]"


def people(place: Path) -> pl.DataFrame:
    """Write a folder of text about people, and return it."""
    draw = np.random.default_rng(5)
    table = pl.DataFrame(
        {
            "age": draw.integers(18, 90, ROWS),
            "zip": draw.integers(100, 999, ROWS),
            "pay": np.arange(ROWS) * 13 % 99_991,
        }
    )
    (place / "in").mkdir()
    for part in range(3):
        table[part * 2000 : part * 2000 + 2000].write_csv(place / "in" / f"{part}.csv")
    return table


def asked(place: Path, master: str) -> list[object]:
    return [
        "anonymize", place / "in", "--quasi", "age,zip", "--sensitive", "pay",
        "--require", "EpsilonM(epsilon=50, m=3)", "--output", place / "to" / "out", "--quiet",
        "--engine", f'Spark(master="{master}", shard=1600)',
    ]  # fmt: skip


def published(
    place: Path, fault: str = "", times: int = 0, master: str = LOCAL
) -> subprocess.Popen[str]:
    """Start to publish a folder, on workers of which so many will fail, in a process of its own."""
    (place / "tmp").mkdir(exist_ok=True)
    faulty = jvm.faulty(place / "faulty")
    jvm.fail(faulty, fault, times)
    path = os.pathsep.join([str(faulty), os.environ.get("PYTHONPATH", "")])
    known = os.environ | {"PYTHONPATH": path, "TMPDIR": str(place / "tmp")}
    return start(*asked(place, master), env=known)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, said = process.communicate(timeout=PATIENCE)
    return process.returncode, plainly(said)


def plainly(said: str) -> str:
    for word in ("Traceback", "java", "scala", "py4j", "somebody", "ERROR"):
        assert word not in said, said
    return said


def failed(place: Path, fault: str, times: int, master: str = LOCAL) -> tuple[int, str, int]:
    """Publish on workers of which so many will fail; return how often none did, too.

    Those of this machine are of the session that all tests share, unless that is to go with them.
    """
    if master != LOCAL or fault.endswith("above"):
        code, said = ended(published(place, fault, times, master))
        return code, said, len(jvm.left(place / "faulty"))
    jvm.session()
    try:
        jvm.fail(jvm.FAULTY, fault, times)
        outcome = shoal(*asked(place, LOCAL))
        return outcome.code, plainly(outcome.err), len(jvm.left(jvm.FAULTY))
    finally:
        jvm.fail(jvm.FAULTY, "", 0)


def assert_whole(place: Path, table: pl.DataFrame) -> None:
    """Assert that every row is published once, in groups that hold, and that nothing else lies."""
    target = place / "to" / "out"
    assert names_in(target.parent) == ["out"]
    manifest = json.loads((target / "manifest.json").read_text())
    parts = pl.concat([pl.read_parquet(one) for one in (target / "release.parquet").iterdir()])
    assert {one.name for one in (target / "release.parquet").iterdir()} == {
        name.rpartition("/")[2] for name in manifest["digests"] if "/" in name
    }
    assert manifest["rows"] == parts.height == ROWS
    assert sorted(parts["pay"].to_list()) == sorted(table["pay"].to_list())
    joined = parts.join(table, on="pay")
    for name in ("age", "zip"):
        low = joined[name].struct.field("low")
        high = joined[name].struct.field("high")
        assert joined[f"{name}_right"].is_between(low, high).all()
    for _, group in parts.group_by("group"):
        pay = group["pay"].to_numpy()
        near = (np.abs(pay[:, None] - pay) <= 50).sum(axis=1).max()
        assert near * 3 <= len(pay)
    assert shoal("audit", target).code == 0


RECOVERED = {
    "a search raises once": ("shoal.engines.spark.shard _search raises", 1, LOCAL),
    "workers are killed in a search": ("shoal.engines.spark.shard _search killed", 2, LOCAL),
    "a worker is killed after a copy": ("shoal.engines.spark.reading _copy killed", 1, LOCAL),
    "a worker is killed after a part": (
        "shoal.engines.spark.scattering digest_of killed",
        1,
        LOCAL,
    ),
    "a worker is killed in an audit": ("shoal.engines.spark.engine audit_slice killed", 1, LOCAL),
    "an executor is killed in a search": ("shoal.engines.spark.shard _search above", 1, CLUSTER),
    "an executor is killed after a part": (
        "shoal.engines.spark.scattering digest_of above",
        1,
        CLUSTER,
    ),
}


@pytest.mark.parametrize("name", RECOVERED)
def test_what_is_lost_is_done_again_and_every_row_is_published_once(name, tmp_path):
    fault, times, master = RECOVERED[name]
    table = people(tmp_path)
    code, said, left = failed(tmp_path, fault, times, master)
    assert code == 0, said
    assert left == 0, "nothing failed"
    assert_whole(tmp_path, table)


GIVEN_UP = {
    "a search raises always": ("shoal.engines.spark.shard _search raises", "RuntimeError"),
    "the disk of a worker is full": ("shoal.engines.spark.shard _search full", "no space left"),
    "the disk is full in a part": (
        "shoal.engines.spark.scattering digest_of full",
        "no space left",
    ),
    "a disk is full in a copy": ("shoal.engines.spark.reading write_parquet full", "space left"),
    "Java is killed": ("shoal.engines.spark.shard _search above", "Spark could not finish"),
}


@pytest.mark.parametrize("name", GIVEN_UP)
def test_what_cannot_be_finished_ends_with_a_sentence_and_no_release(name, tmp_path):
    fault, sentence = GIVEN_UP[name]
    people(tmp_path)
    code, said, _ = failed(tmp_path, fault, 100)
    assert code == 4, said
    assert sentence in said
    assert len(said.splitlines()) == 1
    assert names_in(tmp_path / "to") == []


def at_work(process: subprocess.Popen[str], place: Path, what: str) -> None:
    """Wait until something is found in what is being written."""
    end = time.monotonic() + PATIENCE
    while not list((place / "to").glob(f".shoal-*/{what}")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.005)


def children(of: int) -> set[int]:
    """Return all processes under one."""
    listed = subprocess.run(
        ["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True
    ).stdout
    above = {int(line.split()[0]): int(line.split()[1]) for line in listed.splitlines()}
    found = {of}
    while more := {one for one, parent in above.items() if parent in found} - found:
        found |= more
    return found - {of}


def gone(processes: set[int]) -> None:
    """Wait until none of some processes is there any more."""
    end = time.monotonic() + PATIENCE
    while any(os.path.exists(f"/proc/{one}") for one in processes):  # noqa: PTH110
        assert time.monotonic() < end, "Java or workers outlive their driver"
        time.sleep(0.2)


def test_after_a_driver_that_was_killed_the_next_run_clears_up(tmp_path):
    table = people(tmp_path)
    process = published(tmp_path)
    at_work(process, tmp_path, "release.parquet/*")
    under = children(process.pid)
    assert under
    process.kill()
    process.communicate()
    assert "out" not in names_in(tmp_path / "to")
    assert len(names_in(tmp_path / "to")) == 1
    gone(under)
    assert names_in(tmp_path / "tmp") == []
    assert ended(published(tmp_path))[0] == 0
    assert_whole(tmp_path, table)


def test_a_java_that_is_just_starting_does_not_stay_behind(tmp_path):
    people(tmp_path)
    process = published(tmp_path)
    while not (under := children(process.pid)):
        assert process.poll() is None
        time.sleep(0.01)
    process.terminate()
    assert ended(process)[0] == 130
    gone(under)


@pytest.mark.parametrize(
    ("stop", "what"),
    [
        (signal.SIGTERM, ""),
        (signal.SIGINT, "rows/*"),
        (signal.SIGINT, "found/*"),
        (signal.SIGTERM, "release.parquet/*"),
    ],
)
def test_whoever_asks_it_to_stop_finds_nothing_half_written(stop, what, tmp_path):
    people(tmp_path)
    process = published(tmp_path)
    at_work(process, tmp_path, what)
    process.send_signal(stop)
    process.send_signal(stop)  # impatiently
    code, said = ended(process)
    assert code == 130, said
    assert said == "shoal: interrupted. No half-written file is left.\n"
    assert names_in(tmp_path / "to") == []
