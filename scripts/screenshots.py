"""Take the pictures that the documentation shows of the page, the report and the certificate.

    python scripts/screenshots.py [page] [files]   # by default both

What each shows in words is kept in docs/assets/pictures.json (`words_shown.py`).
"""

import random
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from playwright.sync_api import Browser, FilePayload, Page, ViewportSize  # noqa: E402
from words_shown import ASSETS, IN_VIEW, keep  # noqa: E402

import chromium  # noqa: E402
import messy  # noqa: E402
import pages  # noqa: E402
import shoal  # noqa: E402

PAPER, DESK = ViewportSize(width=900, height=950), ViewportSize(width=1100, height=950)
SIZE, PHONE = ViewportSize(width=1100, height=760), ViewportSize(width=400, height=800)
PATIENCE = 600_000  # milliseconds
CONTEXT = {"institution": "The Example Institute", "purpose": "Research on incomes by region"}
PERSON = "12"


def main() -> None:
    """Take the pictures that are asked for."""
    if chromium.binary() is None:
        sys.exit(
            "The pictures are taken by Chromium: install it, for example `apt install chromium`."
        )
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
        for file, name, size in (
            (published / "report.html", "report", DESK),
            (signed, "certificate", PAPER),
        ):
            page = started.new_page(viewport=size)
            page.goto(file.as_uri())
            picture(page, name)


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
        page.set_viewport_size(DESK)
        picture(page, "page-open")
        decide(page)
        publish(page)
        verdict = page.url
        page.get_by_role("link", name="Check a release").click()
        picture(page, "page-check")
        on_a_phone(started, served, verdict)
        imported(page, served, Path(home))
        linked(page, served)


def decide(page: Page) -> None:
    """Look at the demo table, and decide what to promise."""
    page.get_by_role("button", name="Open the demo table").click()
    page.get_by_test_id("requirement").wait_for()
    for price in ("#price table", "#alternatives form", "#price-method-0 small"):
        page.locator(price).first.wait_for()
    at(page, "#look h1")
    picture(page, "page-look")
    at(page, "#decide h2")
    picture(page, "page-decide")
    page.get_by_test_id("person-pick").fill(PERSON)
    page.get_by_role("button", name="Show this person", exact=True).click()
    page.get_by_test_id("person-view").get_by_text(f"Row {PERSON} of the original").wait_for()
    at(page, "#decide .stranger")
    picture(page, "page-person")
    page.set_viewport_size(SIZE)
    at(page, "#alternatives")
    picture(page, "page-prices")


def publish(page: Page) -> None:
    """Make the release, stop it when something is to be seen, and prepare a dossier."""
    page.locator("#seconds").select_option("300")  # still searching when it is stopped
    page.get_by_test_id("publish").click()
    page.get_by_test_id("keep").wait_for()
    page.wait_for_timeout(6_000)  # for something to be seen of it
    page.set_viewport_size(DESK)
    picture(page, "page-running")
    page.get_by_test_id("keep").click()
    page.get_by_test_id("verdict").wait_for()
    picture(page, "page-verdict")
    verdict = page.url
    page.locator("#norm").select_option("gdpr")
    page.get_by_test_id("dossier").click()
    page.get_by_test_id("dossier-public").wait_for()
    picture(page, "page-dossier")
    page.goto(verdict)
    page.set_viewport_size(SIZE)


def on_a_phone(started: Browser, served: pages.Open, verdict: str) -> None:
    """Look at the verdict on a phone in the dark."""
    phone = started.new_page(viewport=PHONE, color_scheme="dark")
    phone.goto(served.address)
    phone.goto(verdict)
    phone.get_by_test_id("verdict").wait_for()
    picture(phone, "page-phone")


def imported(page: Page, served: pages.Open, home: Path) -> None:
    """Open a file as an institution has it: with a title, totals and a code for missing values."""
    path = next(one for one in messy.MESSY if one.name == "totals").write(home)
    page.set_viewport_size(DESK)
    page.goto(served.base)
    page.get_by_test_id("table-file").set_input_files(path)
    page.get_by_test_id("confirm-table").wait_for()
    page.get_by_test_id("preview").scroll_into_view_if_needed()
    page.evaluate("scrollTo(0, 0)")
    picture(page, "page-import")


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
    at(page, "#linking")
    picture(page, "page-linked")


def table(name: str, columns: str, rows: Iterable[tuple[object, ...]]) -> FilePayload:
    """Return a table as a file to choose."""
    lines = [f"patient,{columns}", *(",".join(map(str, row)) for row in rows)]
    text = "\n".join(lines).encode()
    return FilePayload(name=f"{name}.csv", mimeType="text/csv", buffer=text)


def at(page: Page, place: str) -> None:
    """Scroll to a place on the page."""
    page.locator(place).first.wait_for()
    page.evaluate("place => document.querySelector(place).scrollIntoView()", place)
    page.wait_for_timeout(300)  # for what follows the scrolling


def picture(page: Page, name: str) -> None:
    """Take a picture of what is in view, and keep its words."""
    path = ASSETS / f"{name}.png"
    page.screenshot(path=path)
    keep(path, page.evaluate(IN_VIEW))


PICTURES = {"page": take_page, "files": take_files}

if __name__ == "__main__":
    main()
