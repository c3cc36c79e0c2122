"""All code of the documentation runs and prints what the pages show."""

from __future__ import annotations

import pytest

from documentation.pages import (
    DOCS,
    EXCEPTIONS,
    FENCE,
    PAGES,
    ROOT,
    Block,
    blocks,
    excused,
    name_of,
    tried,
)
from documentation.session import Session, matches

GENERATED = DOCS / "reference" / "python"  # signatures and docstrings; doctest runs these
LEAST = 256
SLOW = {
    *("README", "start", "analyse", "choose-a-requirement", "read-the-report", "not-achievable"),
    *(
        "see-as-an-attacker",
        "limits",
        "tutorial",
        "compare-methods",
        "analysis",
        "again",
        "hospital",
    ),
}
MARKED = [
    pytest.param(page, marks=[pytest.mark.long] if page.stem in SLOW else []) for page in PAGES
]


@pytest.fixture
def session(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return Session()


@pytest.mark.parametrize("page", MARKED, ids=name_of)
def test_the_code_of_a_page_runs_and_prints_what_the_page_shows(page, session):
    for block in tried(page):
        session.run(block)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_of_a_page_stands_at_the_margin(page):
    marks = [line for line in page.read_text("utf-8").splitlines() if "```" in line]
    assert len(marks) == 2 * len(FENCE.findall(page.read_text("utf-8")))


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent != GENERATED], ids=name_of)
def test_every_block_of_a_page_runs_or_is_a_file_or_is_what_came_out(page):
    """So no block turns into `text`, or into a language that nothing runs, to escape the tests."""
    for block in blocks(page):
        assert block.runs or block.title is not None, f"{name_of(page)}, line {block.line}"


def test_few_blocks_are_not_run_and_each_has_its_reason():
    assert len(EXCEPTIONS) <= 10
    for one in EXCEPTIONS:
        met = [b for b in blocks(ROOT / one["page"]) if b.text.startswith(one["begins"])]
        assert len(met) == 1, f"{one['page']} has {len(met)} blocks that begin so: {one['begins']}"
        assert excused(ROOT / one["page"], met[0])
        assert one["why"]


def test_no_page_loses_its_code():
    """Lower this number only together with a page that is taken away on purpose."""
    assert sum(block.runs for page in PAGES for block in tried(page)) >= LEAST


def test_a_page_that_shows_something_else_is_found_out(session):
    session.run(Block("python", None, "print(1 + 1)", 1, "2\n"))
    with pytest.raises(AssertionError, match="what comes out"):
        session.run(Block("python", None, "print(1 + 1)", 1, "3\n"))
    with pytest.raises(AssertionError, match="ended with 2"):
        session.run(Block("sh", None, "shoal plan nowhere.csv --sensitive pay", 1))
    session.run(
        Block("sh", None, "shoal plan nowhere.csv --sensitive pay", 1, "…\n(exit code 2)\n")
    )


def test_dots_stand_for_anything_in_a_line_and_for_whole_lines():
    assert matches("a … c", "a b c")
    assert not matches("a … c", "a b d")
    assert not matches("a … c", "a b\nc")
    assert matches("first\n…\nlast", "first\nsecond\nthird\nlast\n")
    assert not matches("first\nlast", "first\nsecond\nlast\n")
