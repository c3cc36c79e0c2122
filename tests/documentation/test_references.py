"""The reference pages say what the code says."""

from __future__ import annotations

import importlib.util

import pytest

from documentation.pages import ROOT, sections
from shoal.table.settings import COLUMN, TOP

spec = importlib.util.spec_from_file_location("references", ROOT / "scripts" / "references.py")
assert spec is not None
assert spec.loader is not None
references = importlib.util.module_from_spec(spec)
spec.loader.exec_module(references)


@pytest.mark.parametrize("path", references.PAGES, ids=lambda path: path.name)
def test_a_reference_page_is_what_the_code_says(path):
    made = references.PAGES[path]()
    assert path.read_text("utf-8") == made, f"{path.name} is out of date: run `make references`"


@pytest.mark.parametrize(("part", "keys"), [("Top level", TOP), ("Columns", COLUMN)])
def test_every_key_of_a_schema_file_is_in_its_reference(part, keys):
    said = sections(ROOT / "docs" / "reference" / "schema-file.md")[part]
    for key in keys:
        assert f"\n| `{key}` | " in said
