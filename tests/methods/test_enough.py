"""A search that is told to stop keeps the best it has found, and that keeps the promise."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.runs.run import Run

SCHEMA = shoal.Schema(quasi=["age", "zip"], sensitive="pay")
PROMISE: dict[str, Any] = {"require": "EpsilonM(epsilon=20, m=4)"}
SEARCHES: list[dict[str, Any]] = [
    {**PROMISE},
    {**PROMISE, "seconds": 3},
    {**PROMISE, "suppress": "5%"},
    {"require": "KAnonymity(k=4)", "method": "Freeform()"},
]


@pytest.fixture(scope="module")
def people():
    rows = 600
    return pl.DataFrame(
        {
            "age": [17 + i * i % 71 for i in range(rows)],
            "zip": [1000 + i * 37 % 211 for i in range(rows)],
            "pay": [i * 7919 % 997 for i in range(rows)],
        }
    )


@pytest.mark.few(2)
@pytest.mark.parametrize("asked", SEARCHES, ids=lambda asked: " ".join(map(str, asked.values())))
def test_what_is_kept_when_somebody_has_enough_keeps_the_promise(people, asked):
    told = []

    def enough():
        told.append(True)
        return True

    def go(**more):
        return Run(table=people, schema=SCHEMA, seed=1, **asked, **more).release()

    stopped, whole = go(enough=enough), go()
    assert told  # somebody was asked
    assert stopped.audit().holds
    assert whole.audit().holds
    assert stopped.loss >= whole.loss


def test_nobody_is_asked_before_there_is_something_to_keep(people):
    """Groups in breach are mended to the end, however soon somebody has enough."""
    phases = []

    def enough():
        return True

    run = Run(table=people, schema=SCHEMA, require="EpsilonM(epsilon=60, m=5)", enough=enough)
    release = run.release(lambda phase, _: phases.append(phase))
    assert "improve" not in phases
    assert release.audit().holds


def test_nothing_of_it_is_written(people, tmp_path: Path):
    def enough():
        return True

    run = Run(table=people, schema=SCHEMA, output=tmp_path / "r", enough=enough, **PROMISE)
    run.publish()
    text = (tmp_path / "r" / "manifest.json").read_text()
    assert "enough" not in text
    assert "never" not in text


def test_within_a_time_whoever_has_enough_keeps_what_was_found_first(people):
    """The quickest method goes first; the usual one is not begun any more."""
    phases: list[str] = []

    def enough() -> bool:
        return True

    run = Run(table=people, schema=SCHEMA, seconds=60, enough=enough, **PROMISE)
    release = run.release(lambda phase, _: phases.append(phase))
    assert release.manifest.method == "Split()"
    assert "improve" not in phases
    assert release.audit().holds
