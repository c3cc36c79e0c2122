"""Chromium and axe-core do what the other tests in a browser rely on."""

import pytest

import chromium

pytestmark = pytest.mark.browser


def test_an_unlabelled_field_is_complained_of():
    with chromium.browser() as started:
        page = started.new_page()
        page.set_content('<html lang="en"><title>t</title><main><h1>t</h1><input></main></html>')
        assert any("label" in one for one in chromium.complaints(page))
        page.set_content('<html lang="en"><title>t</title><main><h1>t</h1></main></html>')
        assert chromium.complaints(page) == []
