"""Files as institutions have them, in a browser: the table is confirmed by one click."""

import pytest
from playwright.sync_api import expect

import chromium
import pages
from messy import MESSY, PEOPLE

pytestmark = [pytest.mark.browser, pytest.mark.long]
STEPS = 1000 * pages.PATIENCE
PHONE = {"viewport": {"width": 400, "height": 850}, "color_scheme": "dark"}
expect.set_options(timeout=STEPS)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with pages.opened(home=tmp_path_factory.mktemp("home")) as page:
        yield page


@pytest.fixture(scope="module")
def started():
    with chromium.browser() as browser:
        yield browser


@pytest.mark.parametrize("messy", MESSY, ids=lambda one: one.name)
def test_one_click_brings_a_messy_file_in(started, served, messy, tmp_path):
    page = started.new_context(reduced_motion="reduce", **PHONE).new_page()
    page.set_default_timeout(STEPS)
    page.goto(served.address)
    page.get_by_test_id("table-file").set_input_files(str(messy.write(tmp_path)))
    preview = page.get_by_test_id("preview")
    expect(preview).to_contain_text(PEOPLE[0].admitted.isoformat())
    expect(preview).to_contain_text("Gynäkologie")
    expect(page.get_by_test_id("role-age")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert not chromium.complaints(page)
    page.get_by_test_id("confirm-table").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What could a stranger know?")
    expect(preview).to_be_hidden()


def test_the_preview_follows_a_switch_at_once(started, served, tmp_path):
    path = next(one for one in MESSY if one.name == "totals").write(tmp_path)
    page = started.new_context(reduced_motion="reduce").new_page()
    page.set_default_timeout(STEPS)
    page.goto(served.address)
    page.get_by_test_id("table-file").set_input_files(str(path))
    preview = page.get_by_test_id("preview")
    expect(preview).to_contain_text("36614.71")
    expect(preview.locator(".miss")).to_have_count(2)
    page.get_by_label("“999”").uncheck()
    expect(preview.locator(".miss")).to_have_count(1)
    page.get_by_test_id("reading-skip_last").fill("0")
    page.get_by_test_id("reading-skip_last").blur()
    expect(preview).not_to_contain_text("left out")
    page.get_by_label("As in the file").check()
    expect(preview).to_contain_text("36.614,71")
    expect(page.get_by_test_id("role-age")).to_be_visible()  # looked at anew
