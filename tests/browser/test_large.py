"""A table of a million rows is published from where it lies."""

import re

import pytest
from playwright.sync_api import expect

import chromium
import pages
from shoal.datasets.census import census

pytestmark = [pytest.mark.browser, pytest.mark.long]
PATIENCE = 600_000  # milliseconds


def test_a_million_rows_are_published_by_path(tmp_path):
    table = tmp_path / "million.parquet"
    census(1_000_000).write_parquet(table)
    home = tmp_path / "home"
    home.mkdir()
    with pages.opened(str(table), home=home) as served, chromium.browser() as started:
        page = started.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(served.address)
        page.get_by_role("button", name="Open million.parquet").click()
        page.get_by_test_id("requirement").wait_for()
        assert not [path for path in home.rglob("*") if path.stat().st_size > 2**22]  # not copied
        page.get_by_test_id("requirement").fill("EpsilonM(epsilon=1000, m=5)")
        page.locator("input[name=method][value='Split()']").check()
        if page.get_by_test_id("answer-as_proposed").count():
            page.get_by_test_id("answer-as_proposed").first.click()
        page.get_by_test_id("publish").click()
        verdict = page.get_by_test_id("verdict")
        expect(verdict).to_contain_text(re.compile(r"^\s*Holds"), timeout=PATIENCE)
        with page.expect_download() as waiting:
            page.get_by_test_id("download").click()
        assert waiting.value.path().stat().st_size > 10**6
