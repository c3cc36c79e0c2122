"""The sentences of another version's report are not compared, and the audit says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

import shoal
from forged import reported

if TYPE_CHECKING:
    from pathlib import Path


def test_a_report_of_another_version_is_not_believed_in_silence(tmp_path: Path) -> None:
    table = pl.DataFrame({"age": [n % 20 for n in range(60)], "pay": [100 * n for n in range(60)]})
    schema = shoal.Schema(quasi="age", sensitive="pay")
    shoal.anonymize(table, schema, require="EpsilonM(epsilon=150, m=3)").write(tmp_path / "out")
    assert not any(
        "its sentences were not" in one for one in shoal.audit(tmp_path / "out").warnings
    )
    path = tmp_path / "out" / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(manifest | {"shoal": "0.1.9"}), "utf-8")
    reported(tmp_path / "out")
    found = shoal.audit(tmp_path / "out")
    assert any("Shoal 0.1.9" in one and "its sentences were not" in one for one in found.warnings)
