"""Every principle through files: searched, written, audited, and refused when spoiled."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import shoal

if TYPE_CHECKING:
    from pathlib import Path

LEVELS = "Hierarchical(levels=[['a', 'x', '*'], ['b', 'x', '*'], ['c', 'y', '*'], ['d', 'y', '*']])"
REQUIRED = [
    "illness: DistinctL(l=3)",
    "illness: EntropyL(l=2.5)",
    "illness: RecursiveCL(c=2, l=2)",
    "illness: TCloseness(t=0.25)",
    f"illness: TCloseness(t=0.25, ground={LEVELS})",
    "salary: TCloseness(t=0.15, ground='ordered')",
    "salary: KE(k=5, e=300)",
    "salary: Variance(at_least=50000)",
    "illness: DeltaDisclosure(delta=0.8)",
    "illness: BetaLikeness(beta=0.9)",
    "illness: BetaLikeness(beta=1.2, enhanced=True)",
]


def people(rows: int = 400) -> pl.DataFrame:
    random = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": random.integers(16, 90, rows),
            "zip": random.integers(100, 160, rows),
            "illness": random.choice(list("abcd"), rows, p=[0.4, 0.3, 0.2, 0.1]),
            "salary": random.integers(0, 1000, rows),
        }
    )


SCHEMA = shoal.Schema(quasi=["age", "zip"], sensitive=["illness", "salary"])


@pytest.mark.few(7)
@pytest.mark.parametrize("require", REQUIRED)
def test_a_release_keeps_what_it_was_asked_for(require: str, tmp_path: Path) -> None:
    release = shoal.anonymize(people(), SCHEMA, require=require)
    assert release.manifest.method == "Mondrian()"
    release.write(tmp_path / "published")
    audit = shoal.audit(tmp_path / "published")
    assert audit.holds
    assert audit.groups is not None
    assert audit.groups > 4
    manifest = json.loads((tmp_path / "published" / "manifest.json").read_text("utf-8"))
    assert manifest["require"] == [require]


@pytest.mark.parametrize("require", REQUIRED)
def test_a_spoiled_release_is_rejected(require: str) -> None:
    """One group gets a single illness and a single salary."""
    table = shoal.anonymize(people(), SCHEMA, require=require).table
    first = pl.col("group") == table["group"][0]
    spoiled = table.with_columns(
        pl.when(first).then(pl.lit("d")).otherwise("illness").alias("illness"),
        pl.when(first).then(0).otherwise("salary").alias("salary"),
    )
    assert shoal.audit(table, SCHEMA, require=require).holds
    assert not shoal.audit(spoiled, SCHEMA, require=require).holds


def test_all_of_them_together() -> None:
    release = shoal.anonymize(people(), SCHEMA, require=REQUIRED)
    assert release.audit().holds


def test_suppression_works_with_mondrian() -> None:
    release = shoal.anonymize(people(), SCHEMA, require="illness: TCloseness(t=0.3)", suppress="2%")
    assert release.audit().holds
