"""Take the pictures that the documentation shows of the page, the report and the certificate.

python scripts/screenshots.py [page] [files]   # by default both
"""

import random
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from playwright.sync_api import FilePayload, Page, ViewportSize  # noqa: E402

import chromium  # noqa: E402
import pages  # noqa: E402
import shoal  # noqa: E402

ASSETS = ROOT / "docs" / "assets"
PAPER, DESK = ViewportSize(width=900, height=950), ViewportSize(width=1100, height=950)
SIZE, PHONE = ViewportSize(width=1100, height=760), ViewportSize(width=400, height=800)
PATIENCE = 120_000  # milliseconds
CONTEXT = {"institution": "The Example Institute", "purpose": "Research on incomes by region"}


def main() -> None:
    """Take the pictures that are asked for."""
    for name in sys.argv[1:] or PICTURES:
        PICTURES[name]()


def take_files() -> None:
    """Take the report and the certificate of the README's release, as they look when opened."""
    people = shoal.census()
    schema = shoal.Schema(quasi=["age", "birthplace", "occupation"], sensitive="income")
    require = [shoal.principles.EpsilonM(epsilon=2000, m=5), shoal.principles.KAnonymity(k=11)]
    with tempfile.TemporaryDirectory() as place, chromium.browser() as started:
        published, signed = Path(place) / "published", Path(place) / "certificate.html"
        release = shoal.anonymize(people, schema, require=require, context=CONTEXT)
        release.write(published)
        shoal.certificate(published, signed)
        for shown, name, size in (
            (published / "report.html", "report", DESK),
            (signed, "certificate", PAPER),
        ):
            page = started.new_page(viewport=size)
            page.goto(shown.as_uri())
            page.screenshot(path=ASSETS / f"{name}.png")


def take_page() -> None:
    """Go through the steps with the demo table, on a desk and on a phone in the dark."""
    with (
        tempfile.TemporaryDirectory() as home,
        pages.opened(home=Path(home)) as served,
        chromium.browser() as started,
    ):
        page = started.new_page(viewport=SIZE)
        page.set_default_timeout(PATIENCE)
        page.goto(served.address)
        picture(page, "open")
        page.get_by_role("button", name="Open the demo table").click()
        page.get_by_test_id("requirement").wait_for()
        for price in ("#price table", "#alternatives form", "#price-method-0 small"):
            page.locator(price).first.wait_for()
        picture(page, "look")
        page.get_by_role("link", name="Next: decide").click()
        picture(page, "decide")
        page.locator("#alternatives").scroll_into_view_if_needed()
        page.evaluate("document.querySelector('#alternatives').scrollIntoView()")
        picture(page, "prices")
        page.locator("#seconds").select_option("60")
        page.get_by_test_id("publish").click()
        page.get_by_test_id("keep").wait_for()
        page.wait_for_timeout(6_000)  # for something to be seen of it
        picture(page, "running")
        page.get_by_test_id("keep").click()
        page.get_by_test_id("verdict").wait_for()
        picture(page, "verdict")
        verdict = page.url
        page.get_by_role("link", name="Check a release").click()
        picture(page, "check")
        linked(page, served)
        phone = started.new_page(viewport=PHONE, color_scheme="dark")
        phone.goto(served.address)
        phone.goto(verdict)
        phone.get_by_test_id("verdict").wait_for()
        picture(phone, "phone")


def linked(page: Page, served: pages.Open) -> None:
    """Add a table of visits to one of patients."""
    chance = random.Random(1)  # noqa: S311 - people who do not exist
    people = [(i, chance.randint(20, 80), chance.choice("NESW")) for i in range(2_000)]
    visits = [
        (i, f"{chance.choice('EIJK')}{chance.randint(10, 89)}", 10 * chance.randint(2, 90))
        for i, *_ in people
        for _ in range(chance.randint(1, 2))
    ]
    page.goto(served.base)
    page.get_by_test_id("table-file").set_input_files(table("patients", "age,region", people))
    page.get_by_test_id("role-patient").select_option("person")
    page.get_by_test_id("linked-file").set_input_files(table("visits", "diagnosis,cost", visits))
    page.get_by_test_id("link").click()
    page.get_by_test_id("role-visits.diagnosis").wait_for()
    page.evaluate("document.querySelector('#linking').scrollIntoView()")
    picture(page, "linked")


def table(name: str, columns: str, rows: Iterable[tuple[object, ...]]) -> FilePayload:
    """Return a table as a file to choose."""
    lines = [f"patient,{columns}", *(",".join(map(str, row)) for row in rows)]
    text = "\n".join(lines).encode()
    return FilePayload(name=f"{name}.csv", mimeType="text/csv", buffer=text)


def picture(page: Page, name: str) -> None:
    """Take a picture of what is in view."""
    page.screenshot(path=ASSETS / f"page-{name}.png")


PICTURES = {"page": take_page, "files": take_files}

if __name__ == "__main__":
    main()
