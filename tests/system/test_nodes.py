"""The column `node` of releases by Oblivious(): where it stands, and where it does not."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm

import jvm
import shoal
from estimation.people import QUASI, simulated
from shoal.table.forms import FORMS

SCHEMA = shoal.Schema(quasi=QUASI, sensitive="income")
REQUIRE = "EpsilonM(epsilon=500, m=3)"


def published(**options):
    asked = {"require": REQUIRE, "method": "Oblivious()"} | options
    return shoal.anonymize(
        asked.pop("table", simulated(300, 1)), asked.pop("schema", SCHEMA), **asked
    )


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_nodes_after_groups_and_keeps_its_audit(form, tmp_path):
    published(form=form).write(tmp_path / "out")
    found = shoal.audit(tmp_path / "out")
    assert found.holds, found.complaints()
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    for path in (tmp_path / "out").glob("*.csv"):
        table = pl.read_csv(path)
        if path.name == "codebook.csv":
            assert "node" in table["name"].to_list()
            continue
        assert table.columns[:2] == ["group", "node"]
        assert table["node"].unique().sort().to_list() == list(range(manifest["nodes"]))
        assert table.group_by("group").agg(pl.col("node").n_unique())["node"].max() == 1
    assert 1 < manifest["nodes"] < manifest["groups"]


def test_a_node_is_a_region_of_the_quasi_columns():
    """Nodes are cut by quasi values, so their means differ."""
    people, _ = published(form="two-tables", table=simulated(900, 2)).table
    spread = people.group_by("node").agg(pl.col("age").mean())["age"].std()
    whole = people["age"].std()
    assert isinstance(spread, float)
    assert isinstance(whole, float)
    assert spread > 0.3 * whole


@pytest.mark.parametrize(
    ("samples", "least"), [(20, 0.8), pytest.param(120, 0.9, marks=pytest.mark.long)]
)
def test_a_regression_over_nodes_is_right(samples, least):
    """Which values go into a node is decided by quasi values, so no pairing is needed for it."""
    schema = shoal.Schema(quasi=["age", "hours"], sensitive="pay")
    slopes, hits = [], []
    for seed in range(samples):
        random = np.random.default_rng(seed)
        age, hours = random.integers(18, 75, 1000), random.integers(10, 60, 1000)
        pay = (20_000 + 300 * age + 200 * hours + random.normal(0, 6000, 1000)).round().astype(int)
        table = pl.DataFrame({"age": age, "hours": hours, "pay": pay})
        people, values = published(
            table=table,
            schema=schema,
            form="two-tables",
            require="EpsilonM(epsilon=1500, m=3)",
            seed=seed,
        ).table
        nodes = people.group_by("node").agg(pl.len(), pl.col("age", "hours").mean())
        nodes = nodes.join(values.group_by("node").agg(pl.col("pay").mean()), on="node")
        design = np.column_stack([np.ones(len(nodes)), nodes["age"], nodes["hours"]])
        fit = sm.WLS(nodes["pay"].to_numpy(), design, nodes["len"].to_numpy()).fit()
        slopes.append(fit.params[1:])
        low, high = fit.conf_int()[1:].T
        hits.append((low <= [300, 200]) & (high >= [300, 200]))
    assert np.mean(slopes, 0) == pytest.approx([300, 200], abs=10)
    assert least <= np.mean(hits) <= 1


def spoil(place, change):
    table = pl.read_csv(place / "release.csv", infer_schema=False)
    change(table).write_csv(place / "release.csv")


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.with_columns(node=pl.lit("0")),
        lambda table: table.with_columns(
            node=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("0")).otherwise(pl.lit("1"))
        ),
        lambda table: table.drop("node"),
    ],
)
def test_spoiled_nodes_are_found(change, tmp_path):
    published().write(tmp_path / "out")
    spoil(tmp_path / "out", change)
    found = shoal.audit(tmp_path / "out")
    assert not found.holds
    said = " ".join(found.complaints())
    assert "node" in said


@pytest.mark.parametrize(
    "options",
    [
        {"method": "Oblivious(block=100)"},
        {"method": "Split()"},
        {"engine": "Local(shard=100)"},
        {"schema": shoal.Schema(quasi=QUASI, sensitive="income", never_mix=["sex"])},
        {
            "table": simulated(300, 1).with_columns(who=pl.int_range(300)),
            "schema": shoal.Schema(quasi=QUASI, sensitive="income", person="who"),
        },
    ],
)
def test_other_releases_have_none(options):
    release = published(**options)
    assert "node" not in release.table.columns
    assert release.manifest.nodes is None


@pytest.mark.spark
def test_releases_by_spark_have_none(tmp_path):
    release = published(table=jvm.frame(simulated(300, 1)), engine=jvm.engine())
    assert "node" not in release.table.columns
    assert release.manifest.nodes is None
    release.write(tmp_path / "out")
    assert shoal.audit(tmp_path / "out").holds


@pytest.mark.parametrize("person", [None, "who"])
def test_a_series_has_none_and_needs_a_person_column(person, tmp_path):
    table = simulated(300, 1).with_columns(who=pl.int_range(300))
    schema = shoal.Schema(quasi=QUASI, sensitive="income", person=person)
    for name, rows in (("one", table[:200]), ("two", table)):
        asked: Any = {"require": REQUIRE, "method": "Oblivious()", "ledger": tmp_path / "ledger"}
        run = shoal.results.Run(table=rows, schema=schema, output=tmp_path / name, **asked)
        if person is None:
            with pytest.raises(shoal.UsageError, match="identifies each person"):
                run.publish()
            continue
        assert run.publish().release.manifest.nodes is None
        assert "node" not in pl.read_csv(tmp_path / name / "release.csv").columns
        assert shoal.audit(tmp_path / name).holds


def test_a_coarser_release_has_none(tmp_path):
    published().write(tmp_path / "out")
    coarser = shoal.coarsen(tmp_path / "out", require="EpsilonM(epsilon=800, m=3)")
    assert "node" not in coarser.table.columns
    assert coarser.manifest.nodes is None


def test_the_name_is_reserved():
    renamed = simulated(300, 1).rename({"hours": "node"})
    schema = shoal.Schema(quasi=["age", "node"], sensitive="income")
    with pytest.raises(shoal.UsageError, match="'node' of its own"):
        published(table=renamed, schema=schema)
    assert "node_low" not in published(table=renamed, schema=schema, method="Split()").table.columns
