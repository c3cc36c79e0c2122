"""Frames of other libraries go in, come out as they came, and are never changed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from reference import proximity
from reference import release as oracle
from system.shell import Row

SCHEMA = shoal.Schema(
    quasi=["age", "town", "score"], sensitive="salary", identifying="name", other=["note"]
)
REQUIRE = shoal.principles.EpsilonM(epsilon=500, m=3)


def columns(rows: list[Row]) -> dict[str, list[Any]]:
    return {
        "name": [row["name"] for row in rows],
        "age": [int(row["age"]) for row in rows],
        "note": [row["note"] for row in rows],
        "town": [row["town"] for row in rows],
        "score": [float(row["score"]) for row in rows],
        "salary": [int(row["salary"]) for row in rows],
    }


def shuffled_pandas(data: dict[str, list[Any]]) -> pd.DataFrame:
    """Return a frame whose index is no row number and whose town is a category."""
    frame = pd.DataFrame(data, index=[f"r{i * 7 % 300}" for i in range(300)])
    return frame.astype({"town": "category"})


MAKERS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "polars": pl.DataFrame,
    "pandas": pd.DataFrame,
    "pandas with an index": shuffled_pandas,
    "pyarrow": pa.table,
}


def snapshot(frame: Any) -> Any:
    if isinstance(frame, pl.DataFrame):
        return frame.clone()
    return frame.copy(deep=True) if isinstance(frame, pd.DataFrame) else frame.slice(0)


def equal(first: Any, second: Any) -> bool:
    if isinstance(first, pd.DataFrame):
        return bool(first.equals(second)) and list(first.dtypes) == list(second.dtypes)
    return bool(first.equals(second))


def cells(frame: Any) -> dict[str, list[Any]]:
    if isinstance(frame, pl.DataFrame):
        return frame.to_dict(as_series=False)
    return dict(frame.to_dict("list")) if isinstance(frame, pd.DataFrame) else frame.to_pydict()


@pytest.fixture(params=MAKERS)
def frame(request: pytest.FixtureRequest, rows: list[Row]) -> Any:
    return MAKERS[request.param](columns(rows))


def test_release_table_is_the_kind_of_frame_that_came_in(frame: Any) -> None:
    release = shoal.anonymize(frame, SCHEMA, require=REQUIRE)
    assert type(release.table) is type(frame)
    assert list(cells(release.table)) == ["group", "age", "note", "town", "score", "salary"]
    assert len(release.table) == 300


def test_frame_that_came_in_is_not_changed(frame: Any) -> None:
    before = snapshot(frame)
    release = shoal.anonymize(frame, SCHEMA, require=REQUIRE, escape_formulas=True)
    assert release.table is not frame
    assert equal(frame, before)


def test_sensitive_and_other_values_come_out_as_they_came_in(frame: Any) -> None:
    release = shoal.anonymize(frame, SCHEMA, require=REQUIRE)
    before, after = cells(frame), cells(release.table)
    for name in ("salary", "note"):
        given = [before[name][row] for row in release.linkage]
        assert after[name] == given
        assert {type(cell) for cell in after[name]} == {type(cell) for cell in given}


def test_groups_of_a_frame_hold_by_the_oracle(frame: Any) -> None:
    release = shoal.anonymize(frame, SCHEMA, require=REQUIRE)
    table = cells(release.table)
    groups: dict[Any, list[str]] = {}
    for group, salary in zip(table["group"], table["salary"], strict=True):
        groups.setdefault(group, []).append(str(salary))
    assert len(groups) > 10
    assert all(proximity.holds(g, "absolute", 3, epsilon=500) for g in groups.values())
    audit = release.audit()
    assert audit.holds
    worst = max(proximity.risk(g, "absolute", epsilon=500) for g in groups.values())
    assert worst <= audit.worst_risk <= float(worst) + 1e-12


def test_written_release_of_a_frame_is_accepted_by_the_oracle(frame: Any, tmp_path: Path) -> None:
    release = shoal.anonymize(frame, SCHEMA, require=REQUIRE)
    release.write(tmp_path / "out", linkage=tmp_path / "links.csv")
    requirement = {"kind": "absolute", "column": "salary", "epsilon": 500, "m": 3}
    assert oracle.problems(tmp_path / "out", [requirement]) == []
    assert shoal.audit(tmp_path / "out").holds
    links = oracle.read_linkage(tmp_path / "links.csv")
    after = oracle.read_release(tmp_path / "out").rows
    salaries = cells(frame)["salary"]
    assert all(after[target]["salary"] == str(salaries[row]) for row, target in links.items())


def test_frames_of_all_libraries_give_one_release(rows: list[Row]) -> None:
    tables = [
        shoal.anonymize(make(columns(rows)), SCHEMA, require=REQUIRE, seed=4).published
        for make in MAKERS.values()
    ]
    assert all(table.equals(tables[0]) for table in tables)


@pytest.mark.few(1)
def test_plan_takes_every_frame(frame: Any, rows: list[Row]) -> None:
    before = snapshot(frame)
    found = shoal.plan(frame, shoal.Schema(sensitive="salary"), epsilon=500)
    values = [row["salary"] for row in rows]
    assert found.largest_m == proximity.largest_m(values, "absolute", epsilon=500)
    assert equal(frame, before)


def test_missing_values_of_every_frame_are_refused(rows: list[Row]) -> None:
    data = columns(rows)
    data["score"][5] = None
    for make in MAKERS.values():
        with pytest.raises(shoal.InputError, match=r"'score' has 1 missing cell, .* row 6"):
            shoal.anonymize(make(data), SCHEMA, require=REQUIRE)


def test_lazy_polars_frame_is_collected(rows: list[Row]) -> None:
    lazy = pl.DataFrame(columns(rows)).lazy()
    release = shoal.anonymize(lazy, SCHEMA, require=REQUIRE)
    assert isinstance(release.table, pl.DataFrame)
    assert release.audit().holds


@pytest.mark.parametrize("thing", [None, 5, "table.csv", [1, 2], {"age": [1]}])
def test_what_is_no_frame_is_refused(thing: object) -> None:
    with pytest.raises(shoal.InputError, match="pandas, Polars or PyArrow"):
        shoal.anonymize(thing, SCHEMA, require=REQUIRE)


def test_pandas_frame_with_two_columns_of_one_name_is_refused() -> None:
    frame = pd.DataFrame([[1, 2, 3]] * 9, columns=["age", "age", "salary"])
    schema = shoal.Schema(quasi="age", sensitive="salary")
    with pytest.raises(shoal.InputError, match="age"):
        shoal.anonymize(frame, schema, require=REQUIRE)
