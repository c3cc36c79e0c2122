"""The reference pages say what the code says."""

from __future__ import annotations

import pytest

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
