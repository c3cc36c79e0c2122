"""`--missing value` beside a sensitive column of numbers: refused only where something is asked."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.errors import BadCells

COLUMNS = {
    "numbers": ["5", None, "7", "8"],
    "dates": ["2020-01-01", None, "2021-01-01", "2022-01-01"],
    "floats": [0.5, float("nan"), 2.5, None],
    "labels": ["a", None, "b", "a"],
}


@pytest.mark.parametrize(("name", "cells"), COLUMNS.items(), ids=list(COLUMNS))
@pytest.mark.parametrize("require", ["s: DistinctL(l=2)", "s: MUniqueness(m=2)", "KAnonymity(k=2)"])
def test_a_column_that_nothing_is_asked_of_keeps_its_missing_cells(name, cells, require, tmp_path):
    frame = pl.DataFrame({"a": [1, 2, 3, 4], "s": list("xyxy"), "t": cells})
    schema = shoal.Schema(quasi="a", sensitive=["s", "t"])
    release = shoal.anonymize(frame, schema, require=require, missing="value")
    assert sorted(map(str, release.table["t"])) == sorted(map(str, frame["t"])), name
    release.write(tmp_path / "out")
    assert shoal.audit(tmp_path / "out").holds


@pytest.mark.parametrize("name", ["numbers", "dates", "floats"])
@pytest.mark.parametrize(
    "require", ["t: EpsilonM(epsilon=1, m=2)", "t: FrequencyL(l=2)", "s+t: DistinctL(l=2)"]
)
def test_a_column_that_something_is_asked_of_is_refused(name, require):
    frame = pl.DataFrame({"a": [1, 2, 3, 4], "s": list("xyxy"), "t": COLUMNS[name]})
    schema = shoal.Schema(quasi="a", sensitive=["s", "t"])
    with pytest.raises(BadCells, match=r"Column 't' has [12] missing cell"):
        shoal.anonymize(frame, schema, require=require, missing="value")


def test_labels_take_missing_for_a_label_whatever_is_asked():
    frame = pl.DataFrame({"a": [1, 2, 3, 4], "t": COLUMNS["labels"]})
    schema = shoal.Schema(quasi="a", sensitive="t")
    release = shoal.anonymize(frame, schema, require="DistinctL(l=2)", missing="value")
    assert release.audit().holds
