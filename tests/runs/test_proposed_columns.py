"""Several sensitive columns are proposed each with a requirement, as far as they hold together."""

from __future__ import annotations

import random
import tomllib

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.inspection.inspect import inspect
from shoal.runs.proposal import propose, requirements_for
from shoal.runs.schema_file import proposed_schema


def patients(rows=600, zeros=0.3, alive=0.74):
    chance = np.random.default_rng(2)
    wages = np.where(chance.random(rows) < zeros, 0, chance.integers(100, 60_000, rows))
    return pl.DataFrame(
        {
            "age": chance.integers(20, 90, rows),
            "sex": chance.choice(["m", "f"], rows),
            "dzgroup": chance.choice(["a", "b", "c", "d", "e", "f", "g", "h"], rows),
            "wages": wages,
            "hospdead": np.where(chance.random(rows) < alive, 0, 1),
        }
    )


def test_each_column_has_a_requirement_of_its_kind_and_all_hold():
    table = patients()
    found = inspect(table)
    assert set(found.protect) == {"dzgroup", "wages", "hospdead"}
    text, complete = proposed_schema(table, "patients.csv")
    said = tomllib.loads(text)
    assert complete
    asked = dict(one.split(": ", 1) for one in said["require"] if ": " in one)
    assert set(asked) == set(said["sensitive"]) == set(found.protect)
    assert asked["wages"].startswith("EpsilonM(")
    assert asked["dzgroup"].startswith("FrequencyL(")
    assert asked["hospdead"].startswith("AlphaK(alpha=0.8")
    assert "% of the rows have wages 0" in " ".join(text.split("\n# ")).replace("\n", " ")
    schema = shoal.Schema(quasi=said["quasi"], sensitive=said["sensitive"])
    assert shoal.anonymize(table, schema, require=said["require"]).audit().holds


@pytest.mark.few(1)
@pytest.mark.parametrize("alive", [0.97, 1.0])
def test_a_column_that_nothing_could_be_promised_of_is_left_out(alive):
    table = patients(alive=alive)
    (first, *_) = propose(table, inspect(table), count=1)
    assert "hospdead" not in first.sensitive
    assert not any(one.startswith("hospdead") for one in first.require)
    text, _ = proposed_schema(table, "patients.csv")
    assert "hospdead" not in tomllib.loads(text)["sensitive"]
    if alive < 1:
        assert requirements_for(table, inspect(table), "hospdead") == []
        assert "no limit on it would help" in text


def test_columns_that_cost_too_much_together_are_left_out_unless_the_owner_wants_them():
    table = patients()
    found = inspect(table)
    dear = propose(table, found, count=1, dear=-1.0)
    assert len(dear[0].sensitive) == 1
    wanted = propose(table, found, found.schema_of(found.protect), count=1, dear=float("inf"))
    assert len(wanted[0].sensitive) == 3


@pytest.mark.long
def test_what_is_left_out_comes_with_what_could_be_required_of_it():
    table = patients().with_columns(
        diag_2=pl.Series(["x", "y", "z"] * 200), diag_3=pl.Series(["p", "q"] * 300)
    )
    found = inspect(table)
    text, _ = proposed_schema(table, "patients.csv")
    kept = tomllib.loads(text)["sensitive"]
    left = [name for name in found.named("sensitive") if name not in kept]
    assert left
    for name in left:
        asked, *_ = requirements_for(table, found, name)
        assert asked in text
        assert shoal.plan(table, shoal.Schema(sensitive=name), require=asked).achievable


@pytest.mark.few(1)
@pytest.mark.parametrize("zeros", [0.1, 0.3, 0.45, 0.6, 0.9])
def test_no_proposal_promises_nothing(zeros):
    for one in propose(patients(zeros=zeros), inspect(patients(zeros=zeros)), count=3):
        for text in one.require:
            assert "m=1)" not in text
            assert "l=1)" not in text


@pytest.mark.few(2)
@pytest.mark.parametrize("lacking", [0, 1, 12, 30])
def test_what_is_proposed_where_protected_values_are_missing_can_be_published(lacking):
    chance = random.Random(lacking)
    pay = [None if i < lacking else 1000 + 37 * chance.randrange(200) for i in range(120)]
    ill = [None if i % 40 < lacking // 4 else f"ill{chance.randrange(12)}" for i in range(120)]
    table = pl.DataFrame(
        {"age": [chance.randrange(20, 80) for _ in pay], "income": pay, "diagnosis": ill}
    )
    found = inspect(table)
    schema = shoal.Schema(quasi="age", sensitive=["income", "diagnosis"])
    proposals = propose(table, found, schema)
    assert proposals
    for one in proposals:
        release = shoal.anonymize(table, schema, require=one.require, missing=one.missing)
        assert release.table.height == 120  # nobody is left out
        assert release.audit().holds
