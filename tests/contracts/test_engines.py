"""What every engine keeps: the same cases on one machine and on Spark.

Everything published is looked at with plain Polars, from the definitions.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import jvm
import shoal

pytestmark = pytest.mark.spark

ROWS = 1200
EPSILON = "income: EpsilonM(epsilon=50, m=3)"
CASES: dict[str, tuple[dict[str, Any], Any, dict[str, Any]]] = {
    "split": ({}, EPSILON, {"method": "Split()"}),
    "exchange": ({}, EPSILON, {"method": "Exchange()"}),
    "k-anonymity and labels": (
        {"quasi": ["age", "town", "region"]},
        ["KAnonymity(k=4)", "illness: FrequencyL(l=2)"],
        {"form": "bounds"},
    ),
    "several, composite": (
        {},
        [EPSILON, "illness+income: FrequencyL(l=3)", "illness: DistinctL(l=2)"],
        {"method": "Mondrian()"},
    ),
    "never mixed": ({"never_mix": ["sex"]}, EPSILON, {}),
    "hierarchies": (
        {"hierarchies": {"age": "Quantiles(parts=4)", "town": "Prefix()"}},
        "KAnonymity(k=3)",
        {},
    ),
    "means": ({}, EPSILON, {"form": "means", "method": "Split()"}),
    "missing values": ({}, EPSILON, {"missing": "value", "holes": True}),
    "missing dropped": ({}, EPSILON, {"missing": "drop", "holes": True}),
    "suppression": ({}, "illness: FrequencyL(l=4)", {"suppress": "20%", "crowd": True}),
    "weights": ({"survey_weight": "weight"}, EPSILON, {"method": "Split()"}),
}


def table(*, rows: int = ROWS, holes: bool = False, crowd: bool = False, seed: int = 7):
    """Return people with ties, extremes and a crowd of equal values."""
    draw = np.random.default_rng(seed)
    illnesses = np.array(["flu", "cold", "asthma", "gout", "ulcer"])
    people = pl.DataFrame(
        {
            "name": [f"p{row}" for row in range(rows)],
            "age": draw.integers(17, 90, rows),
            "town": draw.choice(["Ulm", "Aalen", "Bonn", "[Köln]", 'a "b"'], rows),
            "sex": draw.choice(["f", "m"], rows),
            "region": np.round(draw.normal(0, 10, rows), 1),
            "income": draw.integers(0, 400, rows) * 25,
            "illness": draw.choice(illnesses, rows, p=[0.3, 0.3, 0.2, 0.1, 0.1]),
            "note": [f"x{row % 7}" for row in range(rows)],
            "weight": draw.integers(1, 9, rows),
        }
    )
    if crowd:
        flu = pl.Series(draw.random(rows) < 0.35)
        people = people.with_columns(
            pl.when(flu).then(pl.lit("flu")).otherwise("illness").alias("illness")
        )
    if holes:
        missing = pl.Series(draw.random(rows) < 0.02)
        people = people.with_columns(pl.when(~missing).then("age").alias("age"))
    return people


def asked(name):
    said, require, how = CASES[name]
    how = dict(how)
    made = {key: how.pop(key) for key in ("holes", "crowd") if key in how}
    roles = {"quasi": ["age", "town", "sex"], "sensitive": ["income", "illness"], "other": ["note"]}
    return table(**made), shoal.Schema(**(roles | said)), require, how


def cells(frame: pl.DataFrame) -> list[str]:
    """Return rows without the numbers of groups and people, in no order."""
    kept = frame.drop("group", "person", strict=False)
    return sorted(json.dumps(row, default=str) for row in kept.rows())


def grouped(frame: pl.DataFrame) -> list[tuple[str, ...]]:
    """Return the groups as the rows that they hold, in no order."""
    return sorted(tuple(cells(part)) for _, part in frame.group_by("group"))


def published(release) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(release.table.toArrow()))


def near(values: list[int], epsilon: int) -> Fraction:
    """Return the largest share of a group that lies within epsilon of one of its values."""
    most = max(sum(abs(one - other) <= epsilon for other in values) for one in values)
    return Fraction(most, len(values))


@pytest.mark.parametrize("name", CASES)
def test_one_shard_has_the_groups_and_cells_of_one_machine(name, tmp_path):
    people, schema, require, how = asked(name)
    here = shoal.anonymize(people, schema, require=require, **how)
    there = shoal.anonymize(jvm.frame(people), schema, require=require, engine=jvm.engine(), **how)
    mine, theirs = here.typed(), published(there)
    assert theirs.columns == mine.columns
    assert grouped(theirs) == grouped(mine)
    skipped = {"id", "seconds", "digests", "loss"}
    for key in here.manifest.keys() - skipped - {"measured"}:
        assert there.manifest[key] == here.manifest[key], key
    assert there.manifest.keys() == here.manifest.keys()
    assert there.loss == pytest.approx(here.loss, abs=1e-12)
    assert there.audit().measured() == here.audit().measured()


@pytest.mark.parametrize("name", CASES)
def test_several_shards_keep_every_row_once_and_what_is_required(name, tmp_path):
    people, schema, require, how = asked(name)
    target = tmp_path / "out"
    path = tmp_path / "people.parquet"
    people.write_parquet(path)
    run = shoal.Run(
        table=path,
        schema=schema,
        require=require,
        output=target,
        engine=jvm.engine(shard=300),
        **how,
    )
    outcome = run.go()
    manifest = json.loads((target / "manifest.json").read_text())
    assert manifest["rows"] + manifest["suppressed"] + manifest["dropped"] == ROWS
    assert outcome.release.settings["shards"] > 1
    found = shoal.audit(target)
    assert found.holds, found.complaints()
    assert found.measured() == manifest["measured"]
    parts = pl.read_parquet(target / "release.parquet" / "*.parquet")
    if manifest["rows"] == ROWS:
        kept = ["income", "illness", "note"]
        assert sorted(parts.select(kept).rows()) == sorted(people.select(kept).rows())
    for _, group in parts.group_by("group"):
        if EPSILON in manifest["require"]:
            assert near(group["income"].to_list(), 50) <= Fraction(1, 3)
        if schema.never_mix:
            assert group["sex"].n_unique() == 1
    assert {one.name for one in target.iterdir()} == {
        "release.parquet", "manifest.json", "report.html", "codebook.csv",
    }  # fmt: skip
