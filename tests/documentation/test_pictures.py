"""Pictures and notebooks are what the code and the pages make of them now."""

from __future__ import annotations

import re

import pytest

from documentation.pages import DOCS, PAGES, ROOT, script

pictures, notebooks = script("pictures"), script("notebooks")


@pytest.mark.few(1)
@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_picture_is_what_the_code_draws(name):
    drawn = (pictures.ASSETS / name).read_text("utf-8")
    assert drawn == pictures.PICTURES[name](), f"{name} is out of date: run `make pictures`"


@pytest.mark.parametrize("place", notebooks.NOTEBOOKS, ids=lambda place: place.name)
def test_a_notebook_is_what_its_page_shows(place):
    made = notebooks.make(notebooks.NOTEBOOKS[place])
    assert place.read_text("utf-8") == made, f"{place.name} is out of date: run `make pictures`"


def shown(page):
    """Return the pictures that a page shows."""
    named = re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", page.read_text("utf-8"))
    return {(page.parent / one).resolve() for one in named}


def test_every_picture_that_a_page_shows_is_there_and_none_is_shown_nowhere():
    everywhere = set().union(*map(shown, PAGES))
    assert [one for one in everywhere if not one.exists()] == []
    there = {one for one in pictures.ASSETS.iterdir() if one.suffix in {".png", ".svg"}}
    assert there - everywhere == set()


def test_every_picture_of_the_report_the_certificate_and_the_page_is_taken_by_the_script():
    source = (ROOT / "scripts" / "screenshots.py").read_text("utf-8")
    for one in pictures.ASSETS.glob("*.png"):
        assert f'"{one.stem.removeprefix("page-")}"' in source, one.name


@pytest.mark.parametrize(
    ("page", "picture"),
    [
        ("../README.md", "report"),
        ("index.md", "report"),
        ("tutorial.md", "report"),
        ("guides/read-the-report.md", "report"),
        ("guides/read-the-report.md", "certificate"),
        ("guides/page.md", "page-verdict"),
    ],
)
def test_who_publishes_sees_what_comes_out(page, picture):
    assert pictures.ASSETS / f"{picture}.png" in shown((DOCS / page).resolve())
