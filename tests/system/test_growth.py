"""What a hostile or a wide file costs grows with its size, or is refused in a sentence."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import polars as pl
import pytest

import shoal
from shoal.principles import requirement

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def seconds(work: Callable[[], object]) -> float:
    """Return the least processor time of three."""
    found = []
    for _ in range(3):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("growth") / "out"
    table = pl.DataFrame({"age": [n % 50 for n in range(600)], "pay": [7 * n for n in range(600)]})
    schema = shoal.Schema(quasi="age", sensitive="pay")
    release = shoal.anonymize(table, schema, require="KAnonymity(k=5)", method="Mondrian()")
    release.write(place)
    return place


def test_counting_a_set_of_many_numbers_grows_with_the_set(released: Path) -> None:
    """Were it quadratic, eight times as many would take 64 times as long."""
    few, many = (f"pay in [{', '.join(str(7 * n) for n in range(size))}]" for size in (1000, 8000))
    assert shoal.count(released, many) == 600
    took = seconds(lambda: shoal.count(released, few))
    assert seconds(lambda: shoal.count(released, many)) < 24 * took


def test_more_requirements_than_are_taken_are_refused_unread(released: Path) -> None:
    path = released / "manifest.json"
    before = path.read_text("utf-8")
    texts = [f"pay: EpsilonM(epsilon={n}, m=2)" for n in range(requirement.MOST + 1)]
    path.write_text(json.dumps(json.loads(before) | {"require": texts}), "utf-8")
    with pytest.raises(shoal.InputError, match=r"1,001 requirements were given, and at most 1,000"):
        shoal.audit(released)
    path.write_text(before, "utf-8")
    schema = shoal.Schema(quasi="age", sensitive="pay")
    with pytest.raises(shoal.UsageError, match=r"at most 1,000 are taken"):
        shoal.anonymize(pl.DataFrame({"age": [1], "pay": [1]}), schema, require=texts)


@pytest.mark.long
def test_columns_without_a_role_cost_no_more_than_their_number(tmp_path: Path) -> None:
    """Were it quadratic, eight times as many would take 64 times as long."""
    schema = shoal.Schema(quasi="c0", sensitive="c1")
    took = []
    for columns in (4000, 32_000):
        file = tmp_path / f"{columns}.csv"
        lines = [",".join(f"c{n}" for n in range(columns)), *[",".join(["1"] * columns)] * 6]
        file.write_text("\n".join(lines) + "\n", "utf-8")
        run = shoal.results.Run(table=file, schema=schema, require="KAnonymity(k=2)")
        took.append(seconds(run.release))
    assert took[1] < 24 * took[0]
