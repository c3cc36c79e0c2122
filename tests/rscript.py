"""R, where it is installed."""

from __future__ import annotations

import shutil

REQUIRED = "SHOAL_REQUIRE_R"


def binary() -> str | None:
    """Return where R's program for scripts is, None where there is none."""
    return shutil.which("Rscript")
