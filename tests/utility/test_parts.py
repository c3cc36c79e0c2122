"""A release in part files answers as the same rows in one file do, a part at a time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import shoal
from parted import in_parts
from shoal.table.reading import read_lean
from shoal.utility import parts, queries
from system.shell import shoal as shell

if TYPE_CHECKING:
    from pathlib import Path


def people(rows: int = 300) -> pl.DataFrame:
    draw = np.random.default_rng(8)
    fine = draw.random(rows) < 0.02  # so that some parts know of decimals, and others do not
    gaps = draw.random(rows) < 0.1
    return pl.DataFrame(
        {
            "age": np.where(fine, 0.5, 0) + draw.integers(17, 70, rows),
            "town": draw.choice(["Ulm", "Bonn", 'a "b"', "[x]"], rows, p=[0.9, 0.07, 0.02, 0.01]),
            "born": np.datetime64("1950-01-01") + draw.integers(0, 20000, rows),
            "home": draw.integers(70, 99, rows).astype(str),
            "pay": np.where(draw.random(rows) < 0.1, 10**6, 0) + draw.integers(0, 500, rows),
            "mark": np.where(np.arange(rows) == 7, "none", draw.choice(["1", "2", "7.5"], rows)),
            "rate": pl.Series(np.where(gaps, np.nan, draw.integers(0, 9, rows))).fill_nan(None),
            "w": draw.integers(1, 5, rows) / 2,
        }
    )


CASES: dict[str, dict[str, Any]] = {
    "intervals": {},
    "bounds": {"form": "bounds"},
    "means": {"form": "means"},
    "weights": {"survey_weight": "w"},
}
CONDITIONS = [
    "age < 40",
    "20 <= age <= 33.5 and town == 'Ulm'",
    "not (age > 30) or town in {'Bonn', '[x]'}",
    "born < '1980-06-01' and pay >= 200",
    "pay > 400 or mark == 'none'",
    "mark != '2' and home == '7'",
    "home in {'8', '91'}",
    "rate > 3 or not age < 60",
    "rate <= 2",
    "age < 0",
    "age == 17 or not age == 17",
]


def published(place: Path, *, form: str = "intervals", **said: Any) -> Path:
    schema = shoal.Schema(
        quasi=["age", "town", "born", "home"],
        sensitive=["pay", "mark"],
        other=["rate"],
        hierarchies={"home": "Prefix()"},
        **said,
    )
    table = people().select(pl.all() if said else pl.exclude("w"))
    release = shoal.anonymize(table, schema, require="mark: DistinctL(l=2)", form=form)
    release.write(place / "one", format="parquet")
    release.write(place / "many", format="parquet")
    in_parts(place / "many", 4)
    return place


@pytest.mark.few(1)
@pytest.mark.parametrize("name", CASES)
def test_parts_answer_what_the_whole_answers(name, tmp_path, monkeypatch):
    monkeypatch.setattr(queries, "TOGETHER", 0)  # so that means are read a part at a time too
    place = published(tmp_path, **CASES[name])
    answers = shoal.measures.queryable(place / "many")
    assert isinstance(answers, parts.PartsTable)
    assert len(answers) == 300
    for condition in CONDITIONS:
        whole = shoal.count(place / "one", condition)
        assert shoal.count(answers, condition) == pytest.approx(whole, abs=1e-9), condition
    if name == "weights":
        assert shoal.count(answers, CONDITIONS[-1]) == pytest.approx(people()["w"].sum())


@pytest.mark.long
def test_means_in_parts_are_learned_from_as_in_one_file(tmp_path):
    draw = np.random.default_rng(3)
    age = draw.integers(18, 90, 3000)
    table = pl.DataFrame({"age": age, "pay": 40 * age + draw.integers(0, 2500, 3000)})
    schema = shoal.Schema(quasi="age", sensitive="pay")
    release = shoal.anonymize(
        table, schema, require="EpsilonM(epsilon=400, m=5)", form="means", seed=1
    )
    release.write(tmp_path / "one", format="parquet")
    release.write(tmp_path / "many", format="parquet")
    in_parts(tmp_path / "many", 4)
    one, many = (shoal.measures.queryable(tmp_path / name) for name in ("one", "many"))
    assert isinstance(many, queries.BoxTable)
    assert many.placed is not None
    for condition in ("age < 40 and pay > 3000", "age > 70 and pay < 4000"):
        whole = shoal.count(one, condition)
        assert shoal.count(many, condition) == pytest.approx(whole, abs=1e-6)
        assert shoal.count(release, condition) == pytest.approx(whole, abs=1e-6)


def test_a_workload_is_answered_alike(tmp_path):
    place = published(tmp_path)
    schema = shoal.Schema(quasi=["age", "town"], sensitive="pay")
    questions = shoal.measures.Workload(queries=30, selectivity=0.3).draw(people(), schema, seed=1)
    one, many = (questions.error(place / name).estimates for name in ("one", "many"))
    assert many == pytest.approx(one)


def test_one_part_is_read_at_a_time_and_no_column_that_is_not_asked_for(tmp_path, monkeypatch):
    place = published(tmp_path)
    read = []
    before = read_lean

    def watched(path, *, wanted, change):
        read.append((path.name, tuple(wanted)))
        return before(path, wanted=wanted, change=change)

    monkeypatch.setattr(parts, "read_lean", watched)
    monkeypatch.setattr(parts, "KEPT", 0)
    shoal.count(place / "many", "age < 40 and mark == '1'")
    assert {names for _, names in read} == {("age",), ("mark",)}
    assert len(read) == 2 * 2 * 4  # what there is, then what rows have
    monkeypatch.setattr(parts, "KEPT", 10**6)
    read.clear()
    answers = shoal.measures.queryable(place / "many")
    for _ in range(3):
        shoal.count(answers, "age < 40")
    assert len(read) == 2 * 4


def test_the_command_counts_parts(tmp_path):
    place = published(tmp_path, survey_weight="w")
    one, many = (shell("count", place / name, "age < 40") for name in ("one", "many"))
    assert many.code == 0
    assert many.out == one.out
    assert "survey weights of 300 rows" in many.out
    told = json.loads(shell("count", place / "many", "pay > 3", "--json").out)
    assert told["rows"] == 300
    wrong = shell("count", place / "many", "wage > 3")
    assert wrong.code == 2
    assert wrong.err == shell("count", place / "one", "wage > 3").err
