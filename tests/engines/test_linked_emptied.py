"""A linked table of which no row can be published is refused in a sentence that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from system.shell import shoal

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("format", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize(
    "require",
    ["visits.dose: EpsilonM(epsilon=2, m=2)", "visits.dose: FrequencyL(l=2)", "KAnonymity(k=3)"],
)
@pytest.mark.parametrize("visits", [1, 2])
def test_a_linked_table_without_a_row_left_is_not_achievable(
    tmp_path: Path, format: str, require: str, visits: int
) -> None:
    pl.DataFrame({"pid": [f"p{i}" for i in range(6)], "age": list(range(6))}).write_csv(
        tmp_path / "people.csv"
    )
    pl.DataFrame({"pid": ["p0"] * visits, "dose": [5, 60][:visits]}).write_csv(
        tmp_path / "secret.csv"
    )
    done = shoal(
        *("anonymize", tmp_path / "people.csv", "--person", "pid", "--quasi", "age"),
        *("--linked", f"visits={tmp_path / 'secret.csv'}", "--sensitive", "visits.dose"),
        *("--require", require, "--require", "KAnonymity(k=2)"),
        *("--output", tmp_path / "out", "--format", format, "--quiet"),
    )
    assert done.code == 3, done.said
    assert "No row of visits can be published" in done.said
    assert "secret" not in done.said
    assert not (tmp_path / "out").exists()
