"""The session that Shoal starts: what it keeps on disk, only its owner can read."""

from __future__ import annotations

import os
import socket
import stat
import struct
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import jvm
import shoal
from shoal.engines.spark import scan, session
from shoal.release import staging

pytestmark = pytest.mark.spark


def kept_by(path: Path) -> set[int]:
    """Return the modes of the private places above a path: one, for none lies in another."""
    (place,) = [one for one in path.parents if one.name.startswith(".shoal-")]
    known = place.stat()
    assert known.st_uid == os.geteuid()
    return {stat.S_IMODE(known.st_mode)}


def shuffled_in(places: list[Path]) -> set[Path]:
    """Return what is shuffled now, passing over directories that Spark removes meanwhile."""
    return {
        Path(above, name)
        for place in places
        for above, _, names in os.walk(place)
        for name in names
        if name.startswith("shuffle_") and name.endswith(".data")
    }


def test_nobody_else_can_read_what_a_run_shuffles(tmp_path: Path) -> None:
    running = jvm.session()
    java: Any = running.sparkContext._jvm
    places = [Path(one) for one in java.System.getenv("SPARK_LOCAL_DIRS").split(",")]
    shuffled: set[Path] = set()

    def progress(_phase: str, _share: float) -> None:
        shuffled.update(shuffled_in(places))

    rows = pl.DataFrame({"age": [row % 50 for row in range(400)], "pay": list(range(400))})
    rows.write_csv(tmp_path / "table.csv")
    run = shoal.results.Run(
        table=tmp_path / "table.csv",
        schema=shoal.Schema(quasi="age", sensitive="pay"),
        require="KAnonymity(k=4)",
        engine=shoal.Spark(running),
        output=tmp_path / "out",
    )
    run.publish(progress)
    assert shuffled
    temporary = Path(java.System.getProperty("java.io.tmpdir"))
    for path in (*shuffled, temporary / "file"):
        assert kept_by(path) == {0o700}
    assert running.sparkContext.getConf().get("spark.io.encryption.enabled") == "true"
    asked = running.sparkContext.getConf()
    assert asked.get("spark.authenticate") == "true"  # else its ports give blocks to whoever asks
    assert asked.get("spark.authenticate.secret") is None  # the command line would show it


def asked_for_a_block(port: int, application: str, block: str) -> int:
    """Ask Spark's block server for a block, as somebody who has no secret; return what answers.

    A message is its length (8 bytes, themselves included), its kind and its own fields: 3 is a
    request, here to open blocks (0), 4 an answer to it, 5 a refusal.
    """

    def text(said: str) -> bytes:
        return struct.pack(">i", len(said)) + said.encode()

    body = b"\x00" + text(application) + text("1") + struct.pack(">i", 1) + text(block)
    request = b"\x03" + struct.pack(">qi", 7, len(body)) + body
    with socket.create_connection(("127.0.0.1", port), timeout=60) as stranger:
        stranger.sendall(struct.pack(">q", 8 + len(request)) + request)
        answer = b""
        while len(answer) < 9:
            received = stranger.recv(9 - len(answer))
            if not received:
                return 0  # hung up
            answer += received
    return answer[8]


def listened_at(process: int) -> set[int]:
    """Return the ports at which a process waits for whoever comes."""
    own = set()
    for one in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            file = str(one.readlink())
            own |= {file[8:-1]} if file.startswith("socket:[") else set()
    lines = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/{process}/net/{name}").read_text().splitlines()[1:]
    ]
    return {int(one[1].split(":")[1], 16) for one in lines if one[3] == "0A" and one[9] in own}


def test_a_stranger_at_its_ports_gets_no_block() -> None:
    running: Any = jvm.session().sparkContext
    shared = running.broadcast(b"somebody's cells" * 100)
    held = f"broadcast_{shared._jbroadcast.id()}_piece0"
    ports = listened_at(running._jvm.java.lang.ProcessHandle.current().pid())
    ports -= {running._gateway.gateway_parameters.port}  # Python's own, which asks for a token
    assert ports
    answers = {asked_for_a_block(port, running.applicationId, held) for port in ports}
    assert answers <= {0, 5}
    shared.unpersist()


@pytest.mark.parametrize("master", ["local[2]", "local-cluster[2,1,1024]", "spark://host:7077"])
def test_every_session_that_is_started_encrypts_what_it_writes(master: str) -> None:
    assert session._settings(shoal.Spark(master=master))["spark.io.encryption.enabled"] == "true"


def test_places_that_the_environment_names_get_private_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
    (tmp_path / "a" / f".shoal-{'0' * 16}.partial").mkdir()  # of a run whose Java was killed
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{tmp_path}/a, {tmp_path}/b")
    made = session._private_places()
    assert [one.parent for one in made] == [tmp_path / "a", tmp_path / "b"]
    assert [kept_by(one / "file") for one in made] == [{0o700}, {0o700}]
    assert [list(one.parent.iterdir()) for one in made] == [[one] for one in made]
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{tmp_path}/nowhere")
    with pytest.raises(shoal.UsageError, match=r"Spark cannot keep its files in .*SPARK_LOCAL_DIR"):
        session._private_places()


def test_what_a_java_keeps_rows_in_is_not_left_for_the_next_to_lie_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Java removes its places when it ends, with all that lies in them."""
    for root in (str(tmp_path), None):
        if root is None:
            monkeypatch.delenv("SPARK_LOCAL_DIRS")
        else:
            monkeypatch.setenv("SPARK_LOCAL_DIRS", root)
        with session._kept_in([tmp_path / "one", tmp_path / "two"]):
            assert os.environ["SPARK_LOCAL_DIRS"] == f"{tmp_path}/one,{tmp_path}/two"
        assert os.environ.get("SPARK_LOCAL_DIRS") == root


def test_a_place_that_another_run_takes_for_a_leftover_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cleared: list[Path] = []

    def claim(place: Path) -> int | None:
        if cleared:
            return staging.claim(place)
        staging.clear_leftovers(place.parent)  # what another run does that starts just now
        cleared.append(place)
        return staging.claim(place)

    monkeypatch.setattr(session, "claim", claim)
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    (made,) = session._private_places()
    assert made not in cleared
    assert list(tmp_path.iterdir()) == [made]


def test_rows_beyond_what_is_published_of_a_person_go_before_anything_is_coded() -> None:
    """Chance says which they are, and says the same when a task is done again."""
    table = pl.DataFrame(
        {
            "_c0": [str(row) for row in range(150)],
            "_whom": [f"p{row % 50 if row < 120 else 7}" for row in range(150)],
        }
    )
    frame = jvm.frame(table)
    carried: Any = SimpleNamespace(whom="_whom")
    drawn: set[tuple[str, ...]] = set()
    for _ in range(3):
        some, gone = scan._offered(frame, carried, 2, table.height)
        once, again = (sorted(row[0] for row in some.collect()) for _ in range(2))
        assert once == again
        left = table.filter(pl.col("_c0").is_in(once))["_whom"].value_counts()
        before = table["_whom"].value_counts()
        both = left.join(before, on="_whom", suffix="_before")
        assert both.height == 50
        assert (both["count"] == both["count_before"].clip(upper_bound=2)).all()
        assert gone == table.height - len(once)
        drawn.add(tuple(once))
    assert len(drawn) > 1
    assert scan._offered(frame, carried, None, table.height) == (frame, 0)
