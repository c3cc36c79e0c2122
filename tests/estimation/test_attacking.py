"""The model of all groups together guesses members and controls."""

import numpy as np
import polars as pl

import shoal
from shoal.estimation import recovering
from shoal.estimation.opening import open_release
from shoal.estimation.recovering import recovered, some_groups

SCHEMA = shoal.Schema(quasi=["age", "town"], sensitive="pay")


def people(random, rows, *, follows):
    age = random.integers(0, 1000, rows)
    pay = age * 10 if follows else random.permutation(rows) * (10_000 // rows)
    town = random.choice(["a", "b"], rows)
    return pl.DataFrame({"age": age, "town": town, "pay": pay + random.integers(0, 100, rows)})


def learned(table, members, controls, tmp_path, form="two-tables"):
    release = shoal.anonymize(
        table, SCHEMA, require="EpsilonM(epsilon=50, m=3)", method="Oblivious()", form=form
    )
    release.write(tmp_path / "out", force=True)
    found = shoal.attack([tmp_path / "out"], original=members, control=controls, seed=1)
    return {
        (one["attack"], one["epsilon"]): one
        for one in found.to_dict()["controlled"]
        if one["attack"] in {"learning", "inference"}
    }


def test_where_values_follow_from_quasi_values_everybody_is_guessed_better(tmp_path):
    random = np.random.default_rng(2)
    table, controls = people(random, 300, follows=True), people(random, 400, follows=True)
    found = learned(table, table, controls, tmp_path)
    model, plain = found["learning", 50], found["inference", 50]
    assert model["members"]["share"] > plain["members"]["share"] + 0.1
    assert model["difference"] is not None
    assert "model of all groups" in model["sentence"]


def test_where_nobody_attacked_is_in_the_release_the_difference_is_chance(tmp_path):
    random = np.random.default_rng(3)
    table, others = people(random, 200, follows=False), people(random, 300, follows=False)
    found = learned(table, others, people(random, 400, follows=False), tmp_path)
    model = found["learning", 50]
    assert model["low"] <= 0 <= model["high"]


def test_the_model_needs_two_tables(tmp_path):
    random = np.random.default_rng(4)
    table = people(random, 120, follows=False)
    found = learned(table, table, people(random, 400, follows=False), tmp_path, "intervals")
    assert set(found) == {("inference", 50), ("learning", None)}


def test_a_pairing_that_all_groups_show_is_a_finding(tmp_path):
    random = np.random.default_rng(5)
    table = people(random, 400, follows=True)
    wide = shoal.anonymize(
        table,
        SCHEMA,
        require="EpsilonM(epsilon=1200, m=3)",
        method="Oblivious()",
        form="two-tables",
    )
    wide.write(tmp_path / "out")
    (said,) = recovered(wide, 1)
    assert recovered(tmp_path / "out", 1) == [said]
    assert "almost as from the original" in said
    sure = float(said.split("For ")[1].split("%")[0])
    assert sure > 20
    assert f"out: {said}" in shoal.attack([tmp_path / "out"], seed=1).remarks
    wide.owner_report(tmp_path / "owner.html")
    assert said.split(":")[0] in (tmp_path / "owner.html").read_text("utf-8")


def test_a_pairing_that_nothing_shows_is_no_finding():
    random = np.random.default_rng(6)
    table = people(random, 400, follows=False)
    made = shoal.anonymize(
        table,
        SCHEMA,
        require="EpsilonM(epsilon=1200, m=3)",
        method="Oblivious()",
        form="two-tables",
    )
    assert recovered(made, 1) == []
    assert recovered(made.as_form("intervals"), 1) == []
    narrow = shoal.anonymize(
        table, SCHEMA, require="EpsilonM(epsilon=300, m=3)", method="Oblivious()", form="two-tables"
    )
    assert recovered(narrow, 1) == []  # little is missing, and nobody's value is known


def test_the_model_is_fitted_to_whole_groups(monkeypatch):
    monkeypatch.setattr(recovering, "MOST", 100)
    made = shoal.anonymize(
        people(np.random.default_rng(7), 300, follows=False),
        SCHEMA,
        require="EpsilonM(epsilon=50, m=3)",
        method="Oblivious()",
        form="two-tables",
    )
    whole = open_release(made)
    some = some_groups(whole, 1)
    assert 80 <= some.rows <= 100
    assert {*np.diff(some.starts)} <= {*np.diff(whole.starts)}
    assert len(some.quasi["age"].codes) == some.rows
