"""Take the pictures of the page that its guide shows: `python scripts/screenshots.py`."""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import chromium  # noqa: E402
import pages  # noqa: E402

ASSETS = ROOT / "docs" / "assets"
SIZE = {"width": 1100, "height": 760}
PATIENCE = 120_000  # milliseconds


def main() -> None:
    """Go through the steps with the demo table."""
    with (
        tempfile.TemporaryDirectory() as home,
        pages.opened(home=Path(home)) as served,
        chromium.browser() as started,
    ):
        page = started.new_page(viewport=SIZE)
        page.set_default_timeout(PATIENCE)
        page.goto(served.address)
        page.screenshot(path=ASSETS / "page-open.png")
        page.get_by_role("button", name="Open the demo table").click()
        page.get_by_test_id("requirement").wait_for()
        page.locator("#price table").wait_for()
        page.screenshot(path=ASSETS / "page-look.png")
        page.get_by_role("link", name="Next: decide").click()
        page.screenshot(path=ASSETS / "page-decide.png")
        page.get_by_test_id("publish").click()
        page.get_by_test_id("verdict").wait_for()
        page.screenshot(path=ASSETS / "page-verdict.png")


if __name__ == "__main__":
    main()
