"""Make the notebooks from their pages: `python scripts/notebooks.py`.

A page of `docs/notebooks` is the source: the tests run its blocks and compare what they print, and
the site shows it. The notebook beside it has the same words, code and output.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from documentation.pages import FENCE, blocks  # noqa: E402

NOTEBOOKS = {
    page.with_suffix(".ipynb"): page
    for page in sorted((ROOT / "docs" / "notebooks").glob("*.md"))
    if page.stem != "index"
}
LINK = re.compile(r" ?\[Download it\]\([^)]+\) and run it, or read it here with its output\.")
TO_PAGE = re.compile(r"\[([^]]+)\]\(\.\./[^)]+\)")  # pages do not lie beside a notebook


def cell(kind: str, number: int, text: str, **more: Any) -> dict[str, Any]:
    """Return one cell of a notebook."""
    lines = text.strip("\n").splitlines(keepends=True)
    return {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": lines, **more}


def make(page: Path) -> str:
    """Return the notebook of a page."""
    source = page.read_text("utf-8")
    code = {block.text: block for block in blocks(page)}
    cells: list[dict[str, Any]] = []
    end = 0
    for fence in FENCE.finditer(source):
        words = TO_PAGE.sub(r"\1", LINK.sub("", source[end : fence.start()])).strip()
        end = fence.end()
        if words:
            cells.append(cell("markdown", len(cells), words))
        if fence[1] != "python":
            continue  # what the block before it prints
        shown = code[fence[3]].output
        count = 1 + sum(one["cell_type"] == "code" for one in cells)
        outputs = (
            [{"name": "stdout", "output_type": "stream", "text": shown.splitlines(keepends=True)}]
            if shown
            else []
        )
        cells.append(cell("code", len(cells), fence[3], execution_count=count, outputs=outputs))
    words = TO_PAGE.sub(r"\1", source[end:]).strip()
    if words:
        cells.append(cell("markdown", len(cells), words))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    for place, one in NOTEBOOKS.items():
        place.write_text(make(one), "utf-8")
