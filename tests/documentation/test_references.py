"""The reference pages say what the code says."""

from __future__ import annotations

import inspect
import re

import pytest

import shoal
from documentation.pages import ROOT, script, sections
from shoal.ask.ask import Ask
from shoal.ask.options import OF_COLUMNS, options_of

references = script("references")


@pytest.mark.parametrize("path", references.PAGES, ids=lambda path: path.name)
def test_a_reference_page_is_what_the_code_says(path):
    made = references.PAGES[path]()
    assert path.read_text("utf-8") == made, f"{path.name} is out of date: run `make references`"


@pytest.mark.parametrize(("part", "within"), [("Top level", ""), ("Columns", OF_COLUMNS)])
def test_every_key_of_a_schema_file_is_in_its_reference(part, within):
    said = sections(ROOT / "docs" / "reference" / "schema-file.md")[part]
    for option in options_of(Ask).values():
        if option.key and option.within == within:
            assert f"\n| `{option.key}` | " in said


def test_the_reference_has_no_internals_and_types_every_parameter():
    for name, internal in references.INTERNAL.items():
        known = {*dir(named(name)), *inspect.signature(named(name)).parameters}
        assert internal <= known, f"{internal - known} of {name} are gone"
    for path, make in references.PAGES.items():
        called = [block for block in make().split("```")[1::2] if block.startswith("text\n")]
        for block in called:
            found = block.removeprefix("text\n").strip()
            if path.name != "commands.md" and "(" in found:
                bare = re.findall(r"[(,] \*{0,2}(\w+)(?==|,|\))", re.sub(r"\[[^][]*\]", "", found))
                assert not bare, (path.name, bare)
    page = references.of_family("results")
    assert "overruled" not in page
    assert ".with_table" not in page
    assert "- `.publish(…)`: " in page


def named(name: str) -> type:
    return next(getattr(one, name) for one in (shoal, shoal.results) if name in dir(one))
