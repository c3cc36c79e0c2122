"""Releases in part files, made of such as are in one."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import polars as pl

from forged import reported

if TYPE_CHECKING:
    from pathlib import Path


def in_parts(directory: Path, count: int = 3) -> None:
    """Turn the one file of a release into parts."""
    table = pl.read_parquet(directory / "release.parquet")
    (directory / "release.parquet").unlink()
    (directory / "release.parquet").mkdir()
    size = -(-table.height // count)
    for part in range(count):
        table[part * size : (part + 1) * size].write_parquet(
            directory / "release.parquet" / f"part-{part:032x}.parquet"
        )
    with_digests(directory)


def with_digests(directory: Path) -> None:
    """Say in the manifest which files there are now."""
    path = directory / "manifest.json"
    manifest = json.loads(path.read_text())
    kept = {name: one for name, one in manifest["digests"].items() if "release" not in name}
    parts = sorted((directory / "release.parquet").iterdir())
    manifest["digests"] = {
        f"release.parquet/{one.name}": f"sha256:{hashlib.sha256(one.read_bytes()).hexdigest()}"
        for one in parts
    } | kept
    manifest["asked"].pop("format", None)
    manifest["asked"]["engine"] = "Spark()"  # as part files come about
    path.write_text(json.dumps(manifest))
    reported(directory)
