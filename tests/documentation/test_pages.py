"""All code of the documentation runs and prints what the pages show."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest

import shoal
from documentation.pages import DOCUMENTS, FENCE, PAGES, README, Block, blocks, name_of
from documentation.session import OUTLINE, Session, matches


@pytest.fixture
def session(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return Session()


def write_tables_of_the_readme() -> None:
    """Write the tables that the README's commands name: people, and what another tool made."""
    chance = random.Random(1)
    people = pl.DataFrame(
        {
            "name": [f"person {number}" for number in range(400)],
            "age": [chance.randint(17, 90) for _ in range(400)],
            "zip": [chance.randint(10, 99) * 1000 for _ in range(400)],
            "salary": [chance.randint(1, 900) * 100 for _ in range(400)],
        }
    )
    people.write_csv("people.csv")
    wide = pl.col("age") // 10 * 10
    ages = pl.format("[{}, {}]", wide, wide + 9)
    for name in ("anything.csv", "rival.csv"):
        people.with_columns(age=ages, zip=pl.lit("[10000, 99000]")).drop("name").write_csv(name)


@pytest.mark.parametrize("block", blocks(README), ids=lambda block: f"line {block.line}")
def test_a_block_of_the_readme_runs(block, session):
    write_tables_of_the_readme()
    session.run(block)


def test_the_readme_says_what_its_example_gives(session):
    (example,) = (block for block in blocks(README) if block.language == "python")
    session.run(example)
    names = session.names
    plan = shoal.plan(names["people"], names["schema"], m=2)
    assert f"# {plan.epsilon_bound}:" in example.text
    assert names["release"].audit().worst_risk == 0.5
    assert Path("published/report.html").exists()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_of_a_page_stands_at_the_margin_and_says_its_language(page):
    marks = [line for line in page.read_text("utf-8").splitlines() if "```" in line]
    assert len(marks) == 2 * len(FENCE.findall(page.read_text("utf-8")))
    assert all(block.language for block in blocks(page))


@pytest.mark.parametrize("page", DOCUMENTS, ids=name_of)
def test_the_code_of_a_page_runs_and_prints_what_the_page_shows(page, session):
    for block in blocks(page):
        session.run(block)


@pytest.mark.parametrize("page", DOCUMENTS, ids=name_of)
def test_no_command_of_the_documentation_is_left_out(page):
    commands = "\n".join(b.text for b in blocks(page) if b.language in {"sh", "console"})
    assert OUTLINE not in commands.split()


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
