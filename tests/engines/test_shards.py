"""A table in shards keeps what it keeps whole; rows that are never mixed never are."""

import json
import random
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.engines.local import Local, cut
from shoal.methods.base import Task
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table
from system.shell import shoal as run

REQUIRED = (
    "EpsilonM(epsilon=3, m=2)",
    "KAnonymity(k=3)",
    "FrequencyL(l=2)",
    "Window(width=3, m=2)",
)
METHODS = ("Exchange()", "Split()", "Mondrian()")


def people(seed: int, rows: int = 120) -> pl.DataFrame:
    chance = random.Random(seed)
    return pl.DataFrame(
        {
            "age": [chance.randint(0, 9) for _ in range(rows)],
            "town": [chance.choice("abcd") for _ in range(rows)],
            "sex": [chance.choice("fm") for _ in range(rows)],
            "pay": [chance.randint(0, 60) for _ in range(rows)],
        }
    )


def task_of(table: pl.DataFrame, require: str, **more) -> Task:
    schema = shoal.Schema(quasi=["age", "town"], sensitive="pay", **more)
    return Task(code_table(table, schema), tuple(requirements(require, ["pay"])))


@pytest.mark.parametrize("require", REQUIRED)
def test_shards_are_all_rows_once_and_each_is_achievable(require):
    for seed in range(15):
        table = people(seed)
        task = task_of(table, require)
        shards = cut(task, shoal.methods.Exchange(), np.arange(len(task.coded)), 20)
        assert sorted(np.concatenate(shards).tolist()) == list(range(120))
        for rows in shards:
            for one, value in zip(task.requirements, task.part(rows).values, strict=True):
                assert len(rows) >= one.principle.least
                assert value is None or not one.principle.must_go(value).any()


def test_where_a_cut_lies_does_not_depend_on_who_has_which_value():
    """Shuffled sensitive values leave the first cut where it was, where both are achievable."""
    for seed in range(20):
        table = people(seed)
        shuffled = table.with_columns(pl.col("pay").shuffle(seed=seed))
        ways = [
            [
                sorted(rows.tolist())
                for rows in cut(
                    task_of(one, "KAnonymity(k=3)"), shoal.methods.Exchange(), np.arange(120), 30
                )
            ]
            for one in (table, shuffled)
        ]
        assert ways[0] == ways[1]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("method", "require"),
    [
        *((method, require) for method in ("Exchange()", "Split()") for require in REQUIRED),
        ("Mondrian()", "KAnonymity(k=3)"),
        ("Mondrian()", "Window(width=3, m=2)"),
    ],
)
def test_a_release_in_shards_holds(method, require):
    schema = shoal.Schema(quasi=["age", "town"], sensitive="pay")
    for seed in range(4):
        release = shoal.anonymize(
            people(seed), schema, require=require, method=method, engine=Local(shard=30)
        )
        assert release.audit().holds
        assert release.manifest.rows == 120


def test_releases_without_groups_are_joined_from_shards():
    schema = shoal.Schema(quasi=["age", "town"], sensitive="pay")
    release = shoal.anonymize(
        people(1), schema, require="KAnonymity(k=3)", method="Freeform()", engine="Local(shard=40)"
    )
    assert release.audit().holds
    assert release.manifest.heterogeneous is True


def test_one_shard_is_the_table():
    schema = shoal.Schema(quasi=["age", "town"], sensitive="pay")
    tables = [
        shoal.anonymize(
            people(3), schema, require="EpsilonM(epsilon=3, m=2)", seed=4, engine=engine
        ).table
        for engine in (None, Local(), Local(shard=120))
    ]
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])


@pytest.mark.few(2)
@pytest.mark.parametrize("method", METHODS)
def test_never_mixed_columns_are_published_as_they_are(method):
    for seed in range(6):
        table = people(seed)
        schema = shoal.Schema(quasi=["age"], never_mix=["sex", "town"], sensitive="pay")
        release = shoal.anonymize(table, schema, require="KAnonymity(k=3)", method=method)
        groups = release.table.group_by("group").agg(pl.col("sex", "town").n_unique())
        assert groups["sex"].to_list() == groups["town"].to_list() == [1] * groups.height
        assert sorted(release.table["town"]) == sorted(table["town"])
        assert release.manifest.loss.ncp["sex"] == release.manifest.loss.ncp["town"] == 0
        assert release.audit().holds


@pytest.mark.few(1)
@pytest.mark.parametrize("form", ["intervals", "bounds"])
@pytest.mark.parametrize("escape_formulas", [False, True])
def test_never_mixed_cells_are_bare_in_every_format(form, escape_formulas, tmp_path):
    apart: dict[str, list[Any]] = {
        "sex": ["f", "m"],
        "code": ["01", "1"],
        "sign": ["=1", "-x"],
        "odd": ['["f"]', "[x"],
        "year": [1990, 1991],
        "dose": [0.5, 1.25],
        "day": ["2020-01-01", "2020-02-03"],
    }
    table = pl.DataFrame(
        {"age": [3 * i % 17 for i in range(24)], "pay": range(0, 2400, 100)}
        | {name: cells * 12 for name, cells in apart.items()}
    )
    never = list(apart)
    schema = shoal.Schema(quasi="age", never_mix=never, sensitive="pay", types={"code": "code"})
    release = shoal.anonymize(
        table,
        schema,
        require="EpsilonM(epsilon=100, m=3)",
        form=form,
        escape_formulas=escape_formulas,
    )
    texts = release.table.select(pl.col(never).cast(pl.String))
    for kind in ("csv", "parquet", "feather", "jsonl", "xlsx"):
        place = tmp_path / kind
        release.write(place, format=kind)
        assert shoal.audit(place).holds
        assert shoal.measures.features(place).equals(shoal.measures.features(release))
        if kind in {"parquet", "feather"}:
            read = {"parquet": pl.read_parquet, "feather": pl.read_ipc}[kind]
            cells = read(place / f"release.{kind}")
            assert not any(cells[name].dtype.is_nested() for name in never)
        elif kind == "jsonl":
            lines = (place / "release.jsonl").read_text().splitlines()
            cells = pl.DataFrame([json.loads(line) for line in lines])
        else:
            continue
        assert cells.select(pl.col(never).cast(pl.String)).sort(never).equals(texts.sort(never))
        assert cells["year"].dtype == pl.Int64
        assert set(cells["dose"]) == {0.5, 1.25}


def test_a_combination_that_cannot_keep_it_is_named_or_left_out():
    table = pl.concat(
        [people(5), pl.DataFrame({"age": [5], "town": ["solitary"], "sex": ["f"], "pay": [1]})]
    )
    schema = shoal.Schema(quasi=["age"], never_mix="town", sensitive="pay")
    with pytest.raises(shoal.NotAchievable, match="town = solitary"):
        shoal.anonymize(table, schema, require="KAnonymity(k=3)")
    release = shoal.anonymize(table, schema, require="KAnonymity(k=3)", suppress="1%")
    assert release.manifest.suppressed == 1
    assert "solitary" not in set(release.table["town"])
    assert "solitary" not in release.manifest.to_json()


def test_what_looks_at_the_whole_table_cannot_be_kept_apart():
    schema = shoal.Schema(quasi=["age"], never_mix="sex", sensitive="pay")
    with pytest.raises(shoal.UsageError, match="whole table"):
        shoal.anonymize(people(5), schema, require="TCloseness(t=0.9)")


def test_the_command_keeps_columns_apart_and_its_audit_notices_a_mixed_cell(tmp_path):
    path = tmp_path / "people.csv"
    people(7).write_csv(path)
    said = (
        "--quasi",
        "age,town",
        "--never-mix",
        "sex",
        "--sensitive",
        "pay",
        "--require",
        "KAnonymity(k=3)",
    )
    ended = run(
        "anonymize", path, *said, "--output", tmp_path / "out", "--engine", "Local(shard=50)"
    )
    assert ended.code == 0, ended.err
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert [c["name"] for c in manifest["columns"] if c.get("never_mix")] == ["sex"]
    assert run("audit", tmp_path / "out").code == 0
    release = tmp_path / "out" / "release.csv"
    lines = release.read_text().splitlines()
    header = lines[0].split(",")
    assert header[0] == "group"
    wrong = [line.replace(",f,", ',"[""f"", ""m""]",').replace(",f\n", "") for line in lines]
    release.write_text("\n".join(wrong) + "\n")
    assert run("audit", tmp_path / "out").code == 1


def test_rows_apart_are_parted_by_their_numbers():
    coded = task_of(people(2), "KAnonymity(k=3)", never_mix=["town"]).coded
    parts = coded.strata.parts()
    assert len(parts) == 4
    for rows in parts:
        assert len(set(coded.strata.labels[rows].tolist())) == 1
