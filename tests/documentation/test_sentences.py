"""The list of sentences that a user may see leaves none out, and says where each stands."""

from __future__ import annotations

from typing import Any

import pytest

from documentation.pages import script

listing = script("sentences")


@pytest.fixture(scope="module")
def listed() -> list[Any]:
    return listing.sentences()


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("code", "Not published (no role assigned)"),  # a remark
        ("code", "and the release would publish them."),  # an error
        ("code", "Show the version."),  # help
        ("templates", "listed below."),
        ("docstrings", "Publish a table"),
        ("documentation", "columns of names or free text, which identify people"),
        ("README", "shoal"),
    ],
)
def test_every_kind_of_sentence_is_there(listed, part, said):
    assert any(said in one.text for one in listed if one.part == part)


def test_lines_are_those_of_the_files(listed):
    for one in listed[::97]:
        lines = one.file.read_text("utf-8").splitlines()
        first = one.text.split()[0].strip("{…}*“\"'(`")
        assert one.line <= len(lines)
        if first and first.isalpha():
            assert any(first in line for line in lines[one.line - 1 : one.line + 40]), str(one)


def test_what_is_filled_in_and_what_is_code_are_told_apart(tmp_path):
    code = tmp_path / "some.py"
    code.write_text(
        '"""No user sees this one."""\nx = 3\ny = f"There are {x} rows. Drop them now."\n'
    )
    assert [one.text for one in listing.in_code(code)] == ["There are {…} rows.", "Drop them now."]
    page = tmp_path / "some.html"
    page.write_text("<p>\nRows of {{ name }} <b>are gone</b>.</p>{# not this one at all #}\n")
    assert [(one.line, one.text) for one in listing.in_template(page)] == [
        (2, "Rows of {…} are gone.")
    ]
    text = tmp_path / "some.md"
    text.write_text(
        "# A title of words\n\nOne [line of](x.md) text.\n\n```\nnot this one here\n```\n"
    )
    assert [one.text for one in listing.in_page(text, "p")] == [
        "A title of words",
        "One line of text.",
    ]
