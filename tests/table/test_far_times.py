"""Times of years that no calendar spells in four digits: refused by their column where it is used.

Polars ends in a panic where it spells some of them, and makes others of seconds that it cannot
hold; so none may come that far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import jvm
import shoal
from system.shell import shoal as command

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = 12
DAY = 86_400
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
FIRST, LAST = -719_162, 2_932_896  # days of 0001-01-01 and 9999-12-31
MESSAGE = "'when' holds times before the year 1 or after the year 9999"

FRAMES: dict[str, Callable[[pa.ChunkedArray], Any]] = {
    "arrow": lambda when: pa.table({"when": when, **COLUMNS}),
    "polars": lambda when: pl.DataFrame({"when": pl.from_arrow(when), **COLUMNS}),
    "lazy": lambda when: pl.LazyFrame({"when": pl.from_arrow(when), **COLUMNS}),
    "pandas": lambda when: pd.DataFrame({"when": when.to_numpy(), **COLUMNS}),
    "pandas arrow": lambda when: pa.table({"when": when, **COLUMNS}).to_pandas(
        types_mapper=pd.ArrowDtype
    ),
}
COLUMNS: dict[str, Any] = {"age": list(range(ROWS)), "pay": list(range(0, 10 * ROWS, 10))}


def times(unit: str, value: int) -> pa.ChunkedArray:
    """Return some ordinary times, and one other."""
    cells = [place * DAY * UNITS[unit] for place in range(ROWS - 1)]
    return pa.chunked_array([pa.array([*cells, value], pa.int64()).cast(pa.timestamp(unit))])


def published(frame: Any, **roles: Any) -> shoal.Release:
    roles = {"quasi": "age", "sensitive": "pay"} | roles
    return shoal.anonymize(frame, shoal.Schema(**roles), require="KAnonymity(k=3)")


ROLES: list[dict[str, Any]] = [
    {"quasi": "when"},
    {"quasi": ["age", "when"]},
    {"sensitive": "when"},
    {"other": "when"},
    {"person": "when"},
]


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_times_beyond_all_years_are_refused_by_their_column(kind: str, unit: str) -> None:
    day = DAY * UNITS[unit]
    if kind in {"polars", "lazy"} and unit == "s":
        return  # they have no seconds
    for place, value in enumerate((FIRST * day - 1, (LAST + 1) * day, -(2**62), 2**62, 2**63 - 1)):
        frame = FRAMES[kind](times(unit, value))
        with pytest.raises(shoal.InputError, match=MESSAGE):
            published(frame, **ROLES[place])
        assert published(frame).manifest.rows == ROWS  # where it is not used, it is no matter


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("unit", UNITS)
def test_the_first_and_the_last_time_that_are_spelled_are_taken(kind: str, unit: str) -> None:
    day = DAY * UNITS[unit]
    if kind in {"polars", "lazy"} and unit == "s":
        return
    ends = [(LAST + 1) * day - 1, FIRST * day] if unit != "ns" else [2**60, -(2**60)]
    for value in ends:
        frame = FRAMES[kind](times(unit, value))
        assert published(frame, quasi="when").manifest.rows == ROWS


@pytest.mark.parametrize("day", [FIRST - 1, LAST + 1, 2**31 - 1, -(2**31)])
def test_days_beyond_all_years_are_refused(day: int) -> None:
    days = pl.Series([*range(ROWS - 1), day], dtype=pl.Int32).cast(pl.Date)
    with pytest.raises(shoal.InputError, match=MESSAGE):
        published(pl.DataFrame({"when": days, **COLUMNS}), quasi="when")


def test_every_command_says_so(tmp_path: Path) -> None:
    path = tmp_path / "far.parquet"
    cells = np.array([2**62] * ROWS)
    pl.DataFrame({"when": pl.Series(cells).cast(pl.Datetime("ms")), **COLUMNS}).write_parquet(path)
    assert command("inspect", path).code == 0
    require = ("--require", "KAnonymity(k=3)")
    for asked in (
        ("plan", path, "--sensitive", "when"),
        ("audit", path, "--quasi", "when", "--sensitive", "pay", *require),
        ("anonymize", path, "--quasi", "when", *require, "--output", tmp_path / "out"),
        ("anonymize", path, "--quasi", "age", "--other", "when", *require, "-o", tmp_path / "out"),
    ):
        found = command(*asked)
        assert (found.code, "year 9999" in found.said) == (2, True), (asked, found)


@pytest.mark.spark
def test_spark_says_so() -> None:
    cells = pl.Series([*range(ROWS - 1), (LAST + 1) * DAY * 10**6]).cast(pl.Datetime("us"))
    frame = jvm.frame(pl.DataFrame({"when": cells, **COLUMNS}))
    with pytest.raises(shoal.InputError, match=MESSAGE):
        shoal.anonymize(
            frame,
            shoal.Schema(quasi="when", sensitive="pay"),
            require="KAnonymity(k=3)",
            engine=jvm.engine(),
        )
