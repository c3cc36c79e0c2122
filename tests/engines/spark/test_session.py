"""The session that Shoal starts: what it keeps on disk, only its owner can read."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import jvm
import shoal
from shoal.engines.spark import session

pytestmark = pytest.mark.spark


def kept_by(path: Path) -> set[int]:
    """Return the modes of all directories above a path that this process has made."""
    above = [one for one in path.parents if one.name.startswith(".shoal-")]
    assert above, path
    assert all(one.stat().st_uid == os.geteuid() for one in above)
    return {stat.S_IMODE(one.stat().st_mode) for one in above}


def test_nobody_else_can_read_what_a_run_shuffles(tmp_path: Path) -> None:
    running = jvm.session()
    java: Any = running.sparkContext._jvm
    places = [Path(one) for one in os.environ["SPARK_LOCAL_DIRS"].split(",")]  # as it was started
    shuffled: set[Path] = set()

    def progress(_phase: str, _share: float) -> None:
        shuffled.update(path for place in places for path in place.rglob("shuffle_*.data"))

    rows = pl.DataFrame({"age": [row % 50 for row in range(400)], "pay": list(range(400))})
    rows.write_csv(tmp_path / "table.csv")
    run = shoal.results.Run(
        table=tmp_path / "table.csv",
        schema=shoal.Schema(quasi="age", sensitive="pay"),
        require="KAnonymity(k=4)",
        engine=shoal.Spark(running),
        output=tmp_path / "out",
    )
    run.go(progress)
    assert shuffled
    temporary = Path(java.System.getProperty("java.io.tmpdir"))
    for path in (*shuffled, temporary / "file"):
        assert kept_by(path) == {0o700}
    assert running.sparkContext.getConf().get("spark.io.encryption.enabled") == "true"
    asked = running.sparkContext.getConf()
    assert asked.get("spark.authenticate") == "true"  # else its ports give blocks to whoever asks
    assert asked.get("spark.authenticate.secret") is None  # the command line would show it


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
