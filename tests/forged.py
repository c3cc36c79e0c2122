"""Forgeries that are whole: what was changed in a release is in its report and digests as well."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import shoal

if TYPE_CHECKING:
    from pathlib import Path


def reported(directory: Path) -> None:
    """Make the report of a changed release anew, so that more than the report has to notice.

    What cannot be read has no report.
    """
    try:
        page = shoal.report(directory)
    except Exception:  # noqa: BLE001 - a forger takes what there is
        return
    (directory / "report.html").write_text(page, "utf-8")
    path = directory / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    manifest["digests"]["report.html"] = f"sha256:{hashlib.sha256(page.encode()).hexdigest()}"
    path.write_text(json.dumps(manifest), "utf-8")
