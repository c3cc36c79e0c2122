"""Deciding by keyboard, on a phone and in the dark, with a person to look at."""

import re

import pytest
from playwright.sync_api import expect

import chromium
import pages
from browser.test_page import LOOKS, choose, tab
from messy import MESSY

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with pages.opened(home=tmp_path_factory.mktemp("home")) as open_page:
        yield open_page


@pytest.fixture(scope="module")
def started():
    with chromium.browser() as browser:
        yield browser


def look(page):
    for viewport, scheme, rules in LOOKS:
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=scheme)
        assert chromium.complaints(page, *rules) == [], (scheme, viewport)
        wide, seen = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide <= seen, page.url


def test_a_steward_sees_a_person_while_deciding(started, served):
    with tab(started, served) as page:
        choose(page)
        page.get_by_test_id("requirement").fill("EpsilonM(epsilon=2000, m=3)")
        page.get_by_test_id("requirement").blur()
        view = page.get_by_test_id("person-view")
        expect(view).to_contain_text("estimated")
        expect(page.get_by_test_id("before-after")).to_be_visible()
        page.get_by_test_id("person-pick").focus()
        page.keyboard.type("12")
        page.keyboard.press("Enter")
        expect(view).to_contain_text("Row 12 of the original")
        assert "?" not in page.url
        look(page)
        page.get_by_test_id("weigh-age").focus()
        page.keyboard.press("End")
        expect(page.get_by_test_id("weigh-age")).to_have_value("9")
        expect(page.get_by_test_id("undo")).to_be_visible()


def reach(page, testid):
    """Press Tab until a control has the focus, as somebody without a mouse does."""
    expect(page.get_by_test_id(testid).first).to_be_visible()
    for _ in range(400):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.testid") == testid:
            return
    pytest.fail(f"Tab does not reach {testid}.")


@pytest.mark.long
def test_a_messy_file_becomes_a_dossier_by_keyboard(started, served, tmp_path):
    path = next(one for one in MESSY if one.name == "merged").write(tmp_path)
    klinik = path.rename(tmp_path / "klinik.xlsx")
    with tab(started, served) as page:
        page.get_by_test_id("table-file").set_input_files(str(klinik))
        expect(page.get_by_role("heading", level=1)).to_have_text("Is this your table?")
        expect(page.get_by_test_id("requirement")).to_be_visible()
        look(page)
        reach(page, "confirm-table")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("What could a stranger know?")
        expect(page.get_by_test_id("person-view")).to_contain_text("estimated")
        for _ in range(20):
            page.wait_for_timeout(500)
            asked = page.locator("[data-testid=answer-as_proposed], [data-testid=answer-unchanged]")
            if page.get_by_test_id("publish").is_enabled() or not asked.count():
                break
            reach(page, asked.first.get_attribute("data-testid"))
            page.keyboard.press("Enter")
        expect(page.get_by_test_id("publish")).to_be_enabled()
        reach(page, "publish")
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("verdict")).to_contain_text(re.compile(r"^\s*Holds"))
        look(page)
        reach(page, "dossier")
        page.keyboard.press("Enter")
        expect(page.locator(".lead")).to_contain_text("from a person")
        look(page)
        reach(page, "answer-institution")
        page.keyboard.type("Klinikum Nordufer")
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("saved")).to_be_visible()
        expect(page.get_by_test_id("answer-institution")).to_have_value("Klinikum Nordufer")
        reach(page, "dossier-public")
        with page.expect_popup() as waiting:
            page.keyboard.press("Enter")
        expect(waiting.value.locator("body")).to_contain_text("Klinikum Nordufer")


@pytest.mark.long
def test_a_project_is_kept_and_deleted_by_keyboard_on_a_phone_in_the_dark(started, served):
    with tab(started, served) as page:
        look(page)
        page.get_by_test_id("project-begin").focus()
        page.keyboard.press("Enter")
        kept = page.locator("#project")
        expect(kept).to_contain_text("which only you can read")
        expect(page.get_by_text("and your project")).to_be_visible()
        look(page)
        page.get_by_test_id("project-delete").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("The project is deleted")
        expect(page.locator(".note")).to_contain_text("backups")
        look(page)


@pytest.mark.long
def test_the_cards_of_columns_never_reach_what_stands_beside_them(started, served):
    """The role of a column stays within its card, and the card beside the picture of fish."""
    with tab(started, served) as page:
        choose(page)
        for width in (1400, 1100, 1000, 740):
            page.set_viewport_size({"width": width, "height": 900})
            beyond = page.evaluate(
                """() => [...document.querySelectorAll(".column")].flatMap((card) =>
                  [[card, card.parentElement], ...[...card.children].map((one) => [one, card])])
                  .map(([one, within]) => one.getBoundingClientRect().right
                    - within.getBoundingClientRect().right).filter((one) => one > 1)"""
            )
            assert beyond == [], width
