"""Pictures and notebooks are what the code and the pages make of them now."""

from __future__ import annotations

import pytest

from documentation.pages import script

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
