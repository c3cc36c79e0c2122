"""What is told of narrow and wide cells, counted again from the published file in plain Python."""

import csv
import json
from pathlib import Path
from statistics import fmean, pstdev

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.utility.bias import CellBias

SCHEMA = shoal.Schema(quasi=["age", "sex"], sensitive="charges")
MOST_AT_ONCE = 0.1  # standard deviations: less is not told


def people(seed: int, *, apart: float) -> pl.DataFrame:
    """Return people of whom those with large charges are few, and so mixed."""
    random = np.random.default_rng(seed)
    rows = 600
    sex = random.integers(0, 2, rows)
    rich = random.random(rows) < 0.2
    age = np.where(rich, random.integers(20, 80, rows), random.integers(30, 34, rows))
    charges = random.integers(1000, 50_000, rows) + np.where(rich, apart, 0).astype(int)
    return pl.DataFrame({"age": age, "sex": np.array(["female", "male"])[sex], "charges": charges})


def compared(rows: list[dict[str, str]], column: str) -> tuple[list[int], list[int]]:
    """Return the charges of rows with single values in a column, and of the others."""
    bare: list[int] = []
    wide: list[int] = []
    for row in rows:
        (wide if row[column].startswith("[") else bare).append(int(row["charges"]))
    return bare, wide


def digits(number: float) -> float:
    return float(f"{number:.3g}")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("apart", [0.0, 90_000.0])
def test_report_and_codebook_say_which_means_differ_and_by_how_much(seed, apart, tmp_path) -> None:
    place = Path(tmp_path) / "out"
    release = shoal.anonymize(
        people(seed, apart=apart), SCHEMA, require="EpsilonM(epsilon=500, m=3)"
    )
    release.write(place)
    release.owner_report(place.with_name("owner.html"))
    with (place / "release.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    with (place / "codebook.csv").open(newline="") as file:
        cautions = {line["name"]: line["caution"] for line in csv.DictReader(file)}
    page = place.with_name("owner.html").read_text("utf-8")
    spread = pstdev(int(row["charges"]) for row in rows)
    told = 0
    for column in ("age", "sex"):
        bare, wide = compared(rows, column)
        if min(len(bare), len(wide)) < max(11, 0.01 * len(rows)):
            continue
        far = abs(fmean(wide) - fmean(bare)) >= MOST_AT_ONCE * spread
        assert bool(cautions[column]) is far, (column, fmean(bare), fmean(wide), spread)
        if far:
            told += 1
            for number in (fmean(bare), fmean(wide)):
                assert f"{digits(number):,.0f}" in cautions[column]
                assert f"{digits(number):,.0f}" in page
            assert "use every row" in cautions[column]
            assert f"<b>{column}</b>: The mean of charges is" in page
    assert ("Narrow and wide cells" in page) is bool(told)
    if apart:
        assert told
    manifest = json.loads((place / "manifest.json").read_text())
    assert "bias" not in manifest


def test_a_missing_label_is_named():
    told = CellBias(
        column="ward",
        of="pay",
        narrow_mean=1.0,
        wide_mean=2.0,
        wide=0.5,
        deviations=0.3,
        exact=True,
        by_label={"": 5170.0, "A": 6550.0},
    )
    assert "5,170 for (missing), 6,550 for A" in str(told)
