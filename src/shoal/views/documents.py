"""A dossier as a document to edit: DOCX, by python-docx, apart because that is an extra."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from shoal.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping


def document(shown: dict[str, Any]) -> bytes:
    """Return a dossier as a document that can be edited."""
    try:
        from docx import Document
    except ModuleNotFoundError:
        msg = (
            "Writing DOCX needs python-docx. Install it with pip install 'shoal[dossier]', or "
            "choose an output that ends in .html."
        )
        raise UsageError(msg) from None
    page = Document()
    about = page.core_properties._element  # noqa: SLF001 - the template's author and date are nobody's here
    for stated in list(about):
        about.remove(stated)
    page.core_properties.title = f"{shown['title']}: {shown['norm']}"
    page.add_heading(shown["title"], 0)
    page.add_paragraph(f"{shown['norm']}. {shown['source']}")
    noted = (*shown.get("complaints", ()), *shown.get("important", ()))
    for text in (shown.get("warning"), *noted, shown["disclaimer"]):
        if text:
            page.add_paragraph().add_run(text).bold = True
    if shown.get("over"):
        page.add_paragraph(shown["over"])
    if "says" in shown:
        page.add_paragraph(f"Verdict: {shown['says']}. {shown['lead']}")
    for section in shown["sections"]:
        page.add_heading(section["title"], 1)
        for one in section["fields"]:
            _add_field(page, one)
    for text in shown.get("elsewhere", ()):
        page.add_paragraph(f"In the private annex: {text}")
    file = io.BytesIO()
    page.save(file)
    return file.getvalue()


def _add_field(page: Any, one: Mapping[str, Any]) -> None:
    page.add_heading(one["asks"], 2)
    mark = "To be answered" if one["kind"] == "open" else one["kind"].capitalize()
    page.add_paragraph().add_run(f"{mark}: {one['who']}").italic = True
    for text in one["said"]:
        page.add_paragraph(text)
    if one["table"]:
        _add_table(page, one["table"])
    if one["kind"] == "open":
        page.add_paragraph("…" * 30)


def _add_table(page: Any, table: Mapping[str, Any]) -> None:
    grid = page.add_table(rows=1, cols=len(table["head"]))
    grid.style = "Table Grid"
    for cell, text in zip(grid.rows[0].cells, table["head"], strict=True):
        cell.text = text
    for row in table["rows"]:
        for cell, text in zip(grid.add_row().cells, row, strict=True):
            cell.text = text
