"""The list of sentences that a user may see leaves none out, and says where each stands."""

from __future__ import annotations

import re
from typing import Any

import pytest

from documentation.pages import script

listing = script("sentences")
LONG = 20  # words of a sentence, on average


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
        ("attributes", "Choose a table: CSV, Excel"),  # what a screen reader says
        ("attributes", "for example research partners"),  # a placeholder
        ("scripts", "Shoal is working out what you changed."),  # a style sheet's
        ("norms", "Threats: who may attack, deliberately or by accident?"),
        ("loaders", "Reads a release into R"),
        ("loaders", "The release has no"),
    ],
)
def test_every_kind_of_sentence_is_there(listed, part, said):
    assert any(said in one.text for one in listed if one.part == part)


def test_sentences_are_short_and_say_who_acts(listed):
    for part in {one.part for one in listed}:
        words = [one.words for one in listed if one.part == part]
        assert sum(words) / len(words) <= LONG, part
    riddles = re.compile(r"\b(whoever|somebody|so many)\b", re.IGNORECASE)
    assert [one for one in listed if riddles.search(one.text)] == []


def test_what_is_no_sentence_is_not_listed(listed):
    for one in listed:
        if one.part in {"code", "docstrings", "templates", "attributes", "scripts"}:
            assert not re.search(
                r"\[::1\]|\(\?|\bSELECT\b|</?(div|svg|p|b)\b|>>>|-{4}", one.text
            ), one


def test_parts_of_a_page_that_are_no_paragraph_are_listed_too(tmp_path):
    page = tmp_path / "some.html"
    page.write_text(
        '<p>A line first.</p>\n<input placeholder="for example {{ name }} of yours" title="no">'
        '{{ "one of these" if x else "each of the others" }}'
    )
    assert [(one.part, one.line, one.text) for one in listing.in_template(page)] == [
        ("attributes", 2, "for example {…} of yours"),
        ("templates", 2, "one of these"),
        ("templates", 2, "each of the others"),
        ("templates", 1, "A line first."),
    ]
    script = tmp_path / "some.js"
    script.write_text("// A comment of ours\nf(`It holds ${n} rows`, '#a, #b, #c', \"a.b.c\")\n")
    assert [one.text for one in listing.in_script(script)] == ["It holds {…} rows"]
    norm = tmp_path / "some.toml"
    norm.write_text('title = "A norm of ours"\n[[section]]\nanswer = ["a b c", "d"]\n')
    assert [(one.line, one.text) for one in listing.in_norm(norm)] == [(1, "A norm of ours")]
    loader = tmp_path / "load.R"
    loader.write_text(
        '# Reads all of it\n# into R.\n#\n#   f(x) of code\nstop("There is no ", x)\n'
    )
    assert [(one.line, one.text) for one in listing.in_loader(loader)] == [
        (1, "Reads all of it into R."),
        (5, "There is no"),
    ]


def test_signatures_queries_references_and_lists_of_words_are_no_sentences(tmp_path):
    code = tmp_path / "some.py"
    code.write_text(
        'a = "void(int32[::1], int64[::1], int64)"\nb = "SELECT one FROM two"\n'
        'c = "Li, Tao, Xiao, SIGMOD 2008"\nd = "red green blue".split()\n'
        'e = \'<div class="a b" title="What it shows">One of them</div>\'\n'
    )
    assert [(one.part, one.text) for one in listing.in_code(code)] == [
        ("attributes", "What it shows"),
        ("templates", "One of them"),
    ]


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
