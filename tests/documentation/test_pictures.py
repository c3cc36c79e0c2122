"""Pictures and notebooks are what the code and the pages make of them now."""

from __future__ import annotations

import re

import pytest

from documentation.pages import DOCS, PAGES, ROOT, script

pictures, notebooks, words = script("pictures"), script("notebooks"), script("words_shown")
TAKEN = sorted(one.name for one in words.ASSETS.glob("*.png"))


@pytest.mark.few(1)
@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_picture_is_what_the_code_draws(name):
    drawn = (pictures.ASSETS / name).read_text("utf-8")
    assert drawn == pictures.PICTURES[name](), f"{name} is out of date: run `make pictures`"


@pytest.mark.parametrize("place", notebooks.NOTEBOOKS, ids=lambda place: place.name)
def test_a_notebook_is_what_its_page_shows(place):
    made = notebooks.make(notebooks.NOTEBOOKS[place])
    assert place.read_text("utf-8") == made, f"{place.name} is out of date: run `make pictures`"


def test_each_kind_of_graph_is_of_its_kind():
    """HK, Section I: groups are equal or apart, a ring has one order, reciprocal is symmetric."""
    kinds = pictures.kinds()
    groups, ring, mutual, free = kinds.values()
    for graph in kinds.values():
        assert all(len(some) == 4 and one in some for one, some in enumerate(graph))
        assert [sum(one in some for some in graph) for one in range(8)] == [4] * 8

    def reciprocal(graph):
        return all(one in graph[other] for one, some in enumerate(graph) for other in some)

    assert [reciprocal(graph) for graph in kinds.values()] == [True, False, True, False]
    assert [len(set(graph)) for graph in (groups, ring, mutual)] == [2, 8, 8]
    assert all(
        {(one + 1) % 8 for one in some} == ring[(at + 1) % 8] for at, some in enumerate(ring)
    )
    assert free not in (groups, ring, mutual)


def test_the_eight_tuples_lose_what_the_paper_says_and_less_by_shoal():
    printed = tuple(frozenset(map(int, one)) for one in pictures.PRINTED)
    ours = pictures.searched(3)
    for graph in (printed, ours):
        assert all(len(some) == 3 and one in some for one, some in enumerate(graph))
        assert [sum(one in some for some in graph) for one in range(8)] == [3] * 8
    assert round(pictures.gcp(printed), 4) == 0.4005  # HK, Table I
    page = (DOCS / "definitions" / "methods" / "Freeform.md").read_text("utf-8")
    for one in (printed, ours):
        assert f"{pictures.gcp(one):.4f}" in page


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
        assert f'"{one.stem}"' in source, one.name


@pytest.mark.parametrize("name", TAKEN)
def test_a_picture_shows_words_that_shoal_still_says(name):
    """What is said elsewhere on a page may change; what a reader sees in its picture may not."""
    kept = words.kept()[name]
    assert kept["digest"] == words.digest(words.ASSETS / name), f"{name} is not what was kept of it"
    gone = [one for one in kept["words"] if one not in words.pieces()]
    assert gone == [], f"{name} is out of date: run `make pictures`"
    assert len(kept["words"]) >= 5


def test_words_are_kept_of_every_picture_that_was_taken_and_of_no_other():
    assert sorted(words.kept()) == TAKEN


def test_pieces_are_what_stands_between_tags_and_what_is_filled_in(tmp_path):
    page = tmp_path / "some.html"
    page.write_text('<p title="No">Rows of {{ "one" if x else "each person" }} <b>are gone</b></p>')
    assert [one for one in words.of_file(page) if one.strip()] == [
        "one",
        "each person",
        "Rows of ",
        "are gone",
    ]
    code = tmp_path / "some.py"
    code.write_text("x = f'There are {y} rows.'\nz = '{count} of them'\n")
    said = [one for one in words.of_file(code) if one]
    assert sorted(said) == [" of them", " rows.", "There are "]


def test_what_is_in_view_is_told_in_the_longest_pieces():
    lines = ["How unique people are", "48 in 100", "Take this"]
    found = words.shown(lines)
    assert "How unique people are" in found
    assert "unique people" not in found


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
