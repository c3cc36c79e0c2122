"""A survey weight is published as its group's mean: totals stay, and no row is told apart."""

from __future__ import annotations

import json
import random

import polars as pl
import pytest

import shoal
from shoal.audit.published import as_read
from shoal.errors import InputError, UsageError
from shoal.utility.shown import shown


def people(rng: random.Random, rows: int = 80) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [rng.randint(18, 90) for _ in range(rows)],
            "pay": [rng.randint(0, 90000) for _ in range(rows)],
            "w": [str(rng.choice([100, 50, 33.25, 25, 2000])) for _ in range(rows)],
        }
    )


@pytest.mark.parametrize("seed", range(8))
def test_weights_are_means_and_totals_stay(seed, tmp_path):
    rng = random.Random(seed)
    frame = people(rng)
    schema = shoal.Schema(quasi="age", sensitive="pay", survey_weight="w")
    release = shoal.anonymize(frame, schema, require=shoal.principles.EpsilonM(epsilon=900, m=3))
    assert release.write(tmp_path / "out").holds
    written = pl.read_csv(tmp_path / "out" / "release.csv", infer_schema=False)
    exact = [float(frame["w"][int(row)]) for row in release.linkage]
    groups = written["group"].to_list()
    for group, weight in zip(groups, written["w"], strict=True):
        own = [w for w, other in zip(exact, groups, strict=True) if other == group]
        assert float(weight) == pytest.approx(sum(own) / len(own))
    assert sum(map(float, written["w"])) == pytest.approx(sum(exact))
    assert shoal.count(tmp_path / "out", "age >= 0") == pytest.approx(sum(exact))
    low = sorted(frame["pay"])[40]
    wanted = sum(
        float(w) for w, pay in zip(written["w"], written["pay"], strict=True) if int(pay) >= low
    )
    assert shoal.count(tmp_path / "out", f"pay >= {low}") == pytest.approx(wanted)
    assert (
        "An estimate from the published survey weights"
        in (tmp_path / "out" / "report.html").read_text()
    )


def test_the_audit_sees_weights_that_tell_rows_apart(tmp_path):
    schema = shoal.Schema(quasi="age", sensitive="pay", survey_weight="w")
    release = shoal.anonymize(
        people(random.Random(1)), schema, require=shoal.principles.KAnonymity(k=5)
    )
    release.write(tmp_path / "out")
    file = tmp_path / "out" / "release.csv"
    table = pl.read_csv(file, infer_schema=False)
    table.with_columns(pl.Series("w", [str(i) for i in range(table.height)])).write_csv(file)
    found = shoal.audit(tmp_path / "out")
    assert any("survey weight" in problem for problem in found.problems)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert [c["name"] for c in manifest["columns"] if c.get("survey_weight")] == ["w"]


@pytest.mark.parametrize("other", [(), ("note",), ("note", "w")])
def test_a_weight_is_asked_for_as_a_weight_and_not_as_another_column(other, tmp_path):
    """It is a mean, so nobody asked for it to be published as it is."""
    frame = people(random.Random(2)).with_columns(note=pl.lit("a"))
    schema = shoal.Schema(quasi="age", sensitive="pay", other=other, survey_weight="w")
    shoal.anonymize(frame, schema, require="KAnonymity(k=5)").write(tmp_path / "out")
    path = tmp_path / "out" / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    asked = manifest["asked"]
    assert asked["survey_weight"] == "w"
    assert asked.get("other", []) == ["note"] * ("note" in other)
    manifest["asked"] |= {"other": [*asked.get("other", []), "w"]}
    path.write_text(json.dumps(manifest), "utf-8")
    assert any("'other'" in problem for problem in shoal.audit(tmp_path / "out").problems)


@pytest.mark.parametrize("cell", [None, "-1", "x", "inf"])
def test_what_is_no_weight_is_refused(cell):
    frame = people(random.Random(1)).with_columns(w=pl.Series([cell, *["1"] * 79]))
    schema = shoal.Schema(quasi="age", sensitive="pay", survey_weight="w")
    with pytest.raises(InputError, match="survey weight"):
        shoal.anonymize(frame, schema, require="KAnonymity(k=5)")


def test_a_weight_is_no_quasi_column_and_needs_groups():
    with pytest.raises(UsageError, match="two roles"):
        shoal.Schema(quasi="w", survey_weight="w")
    schema = shoal.Schema(quasi="age", sensitive="pay", survey_weight="w")
    with pytest.raises(UsageError, match="mean of each group"):
        shoal.anonymize(
            people(random.Random(1)), schema, require="KAnonymity(k=3)", method="Freeform(k=3)"
        )


@pytest.mark.parametrize("rows", ["known", "unknown"])
def test_a_person_stands_for_others_once(rows):
    """Groups of three people: with two rows each they stand for no more people than with one."""
    frame = pl.DataFrame(
        {
            "who": [who for who in range(9) for _ in range(1 + (who < 3))],
            "age": [who // 3 for who in range(9) for _ in range(1 + (who < 3))],
            "pay": range(12),
            "w": [10 * (1 + who // 3) for who in range(9) for _ in range(1 + (who < 3))],
        }
    )
    schema = shoal.Schema(quasi="age", sensitive="pay", survey_weight="w", person="who", rows=rows)
    release = shoal.anonymize(frame, schema, require="KAnonymity(k=3)", method="Exchange()")
    told = shown(as_read(release))["weighed"]
    assert told == {"column": "w", "least": 30, "median": 60}


@pytest.mark.parametrize("method", ["Exchange()", "Split()", "Oblivious()"])
def test_means_of_weights_do_not_tell_in_which_order_rows_came(method, tmp_path):
    """Sums of doubles depend on their order: 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1."""
    rng = random.Random(method)
    rows = [(20 + at, f"0.{rng.randint(1, 99):02}", 1000 * at) for at in range(12)]
    schema = shoal.Schema(quasi="age", sensitive="pay", survey_weight="w")
    found = set()
    for _ in range(12):
        rng.shuffle(rows)
        frame = pl.DataFrame(rows, schema=["age", "w", "pay"], orient="row")
        release = shoal.anonymize(
            frame, schema, require="EpsilonM(epsilon=10, m=12)", method=method
        )
        found |= set(release.table["w"])
    assert len(found) == 1
