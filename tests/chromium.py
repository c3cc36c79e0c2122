"""Chromium, where it is installed: tests of pages open them in it, as people do."""

import shutil
from contextlib import contextmanager
from pathlib import Path

REQUIRED = "SHOAL_REQUIRE_CHROMIUM"
AXE = Path(__file__).parent / "browser" / "vendor" / "axe.min.js"
GRAVE = {"serious", "critical"}


def binary() -> str | None:
    """Return where Chromium is, None where it is not installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def browser():
    """Start Chromium without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Containers give no room for a sandbox inside them, and little shared memory.
        started = playwright.chromium.launch(
            executable_path=binary(), args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield started
        started.close()


def complaints(page, *rules: str) -> list[str]:
    """Return what axe-core holds for a serious obstacle on a page that is open, by some rules.

    The script comes in by the debugger, so that no policy of the page keeps it out.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("rules => axe.run(rules.length ? {runOnly: rules} : {})", list(rules))
    return [
        f"{one['id']}: {node['html'][:120]}"
        for one in found["violations"]
        if one["impact"] in GRAVE
        for node in one["nodes"]
    ]
