"""Labels that differ only by white space around them, or by case, get a remark with counts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.inspection.suspect import look_alikes
from system.shell import shoal as command

SPELLINGS = ("flu", "flu ", " flu", "Flu", "cold", "COLD", "cold\t", "gout", "gout\u00a0", "ague")


@pytest.mark.parametrize("seed", range(60))
def test_whatever_differs_only_by_space_or_case_is_found(seed):
    random = np.random.default_rng(seed)
    cells = random.choice(SPELLINGS, int(random.integers(1, 12))).tolist()
    counts = Counter(cells)
    by_meaning: dict[str, list[str]] = {}
    for label in counts:
        by_meaning.setdefault(label.strip().lower(), []).append(label)
    several = {meaning: labels for meaning, labels in by_meaning.items() if len(labels) > 1}
    labels = sorted(counts)
    found = look_alikes(pl.Series(labels), np.array([counts[label] for label in labels]))
    if not several:
        assert found is None
        return
    wanted = {label for some in several.values() for label in some}
    assert found is not None
    assert found.labels == len(several)
    assert {label for label, hit in zip(labels, found.which, strict=True) if hit} == wanted
    assert all(counts[label] > 1 for label in found.shown)
    assert set(found.shown) <= wanted


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    frame = pl.DataFrame(
        {
            "age": range(12),
            "town": ["Bern", "bern"] * 3 + ["Basel"] * 6,
            "ill": ["flu", "flu ", "cold"] * 4,
        }
    )
    frame.write_csv(path)
    return path


ROLES = ("--quasi", "age,town", "--sensitive", "ill", "--require", "DistinctL(l=2)")


def test_anonymize_says_so(table, tmp_path):
    outcome = command("anonymize", table, *ROLES, "--output", tmp_path / "out")
    assert outcome.code == 0
    remarks = [line for line in outcome.err.splitlines() if "spellings" in line]
    assert len(remarks) == 2
    assert "as 'Bern', 'bern' in 'town' (6 rows)" in remarks[0]
    assert "as 'flu', 'flu ' in 'ill' (8 rows)" in remarks[1]
    quiet = command("anonymize", table, *ROLES, "--output", tmp_path / "quiet", "--quiet")
    assert "spellings" not in quiet.err


def test_nothing_is_said_of_labels_that_differ(table, tmp_path):
    frame = pl.read_csv(table).with_columns(
        pl.col("ill").str.strip_chars(), pl.col("town").str.to_lowercase()
    )
    frame.write_csv(table)
    outcome = command("anonymize", table, *ROLES, "--output", tmp_path / "out")
    assert outcome.code == 0
    assert "spellings" not in outcome.err


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum(["flu", "flu ", "cold"])])
def test_inspect_says_so_of_every_kind_of_text(kind):
    frame = pl.DataFrame({"ill": pl.Series(["flu", "flu ", "cold"] * 4, dtype=kind)})
    (column,) = shoal.inspect(frame).columns
    told = [one.text for one in column.suspicions if one.kind == "alike"]
    assert told == [
        "1 label has several spellings that look alike, as 'flu', 'flu ' (8 cells, first in data "
        "row 1)."
    ]
