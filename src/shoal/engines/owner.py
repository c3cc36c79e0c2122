"""The owner's report: the release, what is private about it, and trials on a sample of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.engines.trials import trials
from shoal.progress import Progress, silent
from shoal.publishing import check_private, private_text
from shoal.report.exposure import THRESHOLD, check_threshold
from shoal.report.owner import render_owner

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.audit.verify import Audit
    from shoal.release.release import Release


def write_owner_report(
    release: Release,
    path: str | Path,
    *,
    audit: Audit | None = None,
    threshold: float = THRESHOLD,
    force: bool = False,
    progress: Progress = silent,
) -> None:
    """Write the owner's report, readable by its owner alone."""
    check_threshold(threshold)
    check_private(path, what="owner-report", force=force)
    tried = trials(release, progress)
    progress("owner", 0.0)
    found = release.audit() if audit is None else audit
    private_text(path, render_owner(release, found, tried, threshold=threshold))
    progress("owner", 1.0)
