"""The reference pages say what the code says."""

from __future__ import annotations

import pytest

from documentation.pages import ROOT, script, sections
from shoal.table.settings import COLUMN, TOP

references = script("references")


@pytest.mark.parametrize("path", references.PAGES, ids=lambda path: path.name)
def test_a_reference_page_is_what_the_code_says(path):
    made = references.PAGES[path]()
    assert path.read_text("utf-8") == made, f"{path.name} is out of date: run `make references`"


@pytest.mark.parametrize(("part", "keys"), [("Top level", TOP), ("Columns", COLUMN)])
def test_every_key_of_a_schema_file_is_in_its_reference(part, keys):
    said = sections(ROOT / "docs" / "reference" / "schema-file.md")[part]
    for key in keys:
        assert f"\n| `{key}` | " in said
