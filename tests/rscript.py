"""R, where it is installed, and the packages that pool completed tables."""

from __future__ import annotations

import shutil
from pathlib import Path

REQUIRED, REQUIRED_POOLING = "SHOAL_REQUIRE_R", "SHOAL_REQUIRE_MICE"
LIBRARIES = ("/usr/lib/R/site-library", "/usr/local/lib/R/site-library", "/usr/lib/R/library")


def binary() -> str | None:
    """Return where R's program for scripts is, None where there is none."""
    return shutil.which("Rscript")


def pooling() -> str | None:
    """Return R's program where mice, mitools and survey are installed too, else None."""
    there = all(
        any((Path(place) / name / "DESCRIPTION").exists() for place in LIBRARIES)
        for name in ("mice", "mitools", "survey")
    )
    return binary() if there else None
