"""One value of one row, changed so that its group no longer holds, is found from the files."""

import hashlib
import json
import random
from pathlib import Path

import polars as pl
import pytest

import shoal

ASKED = [
    "EpsilonM(epsilon=1000, m=3)",
    "EpsilonM(epsilon=0.05, m=3, relative=True)",
    "Neighbourhood(below=1000, above=1000, m=3)",
    "Window(width=1000, m=3)",
    "Chain(epsilon=1000, m=3)",
    "FrequencyL(l=3)",
    "DistinctL(l=3)",
    "Dissimilarity(epsilon=1000, delta=0.99, k=3, distance=Absolute())",
]


@pytest.mark.parametrize("asked", ASKED)
def test_a_value_that_becomes_that_of_its_neighbour_is_found(asked: str, tmp_path: Path) -> None:
    draw = random.Random(3)
    people = pl.DataFrame(
        {
            "age": [draw.randint(20, 60) for _ in range(60)],
            "pay": [draw.randint(1, 10**5) for _ in range(60)],
        }
    )
    out = tmp_path / "out"
    schema = shoal.Schema(quasi=["age"], sensitive="pay")
    shoal.anonymize(people, schema, require=asked, seed=1).write(out)
    assert shoal.audit(out).holds
    table = pl.read_csv(out / "release.csv", infer_schema=False)
    sizes = table["group"].value_counts().sort("count", "group")
    one, other = table.with_row_index().filter(group=sizes["group"][0])["index"][:2]
    pay = table["pay"].to_list()
    pay[one] = pay[other]
    table.with_columns(pay=pl.Series(pay)).write_csv(out / "release.csv")
    told = json.loads((out / "manifest.json").read_text("utf-8"))
    digest = hashlib.sha256((out / "release.csv").read_bytes()).hexdigest()
    told["digests"]["release.csv"] = f"sha256:{digest}"
    (out / "manifest.json").write_text(json.dumps(told), "utf-8")
    (first, *_) = shoal.audit(out).complaints()
    assert "does not hold in 1 of" in first
