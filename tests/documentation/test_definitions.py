"""Every term of the notation has a page that says all there is to say."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest

from documentation.pages import DOCS, blocks, sections
from shoal.distances.base import Distance
from shoal.methods.base import Method
from shoal.notation import known_terms, parse
from shoal.principles.base import Pairwise, Principle
from shoal.table.groupings import Hierarchy
from shoal.utility.losses import LOSSES

FOLDERS = {
    "requirement": "principles",
    "method": "methods",
    "rival": "rivals",
    "distance": "distances",
    "hierarchy": "hierarchies",
    "workload": "workloads",
    "engine": "engines",
}
EVERYWHERE = ("Formula", "Source", "Parameters", "Example", "Notation")
BESIDES = {
    "requirement": (
        "Monotonicity",
        "What it protects, and what not",
        "People with several rows",
    ),
    "method": ("What it works with",),
    "rival": ("What it protects, and what not",),
    "distance": ("Properties",),
    "hierarchy": ("What it applies to",),
    "workload": ("What it measures",),
    "engine": ("What it does",),
}
BASES = {Principle, Method, Distance, Hierarchy}  # of terms, and none themselves
DEFINED: dict[str, Any] = {
    name: term for name, term in known_terms().items() if term.role in FOLDERS and term not in BASES
}


def page_of(name):
    return DOCS / "definitions" / FOLDERS[DEFINED[name].role] / f"{name}.md"


@pytest.fixture(params=DEFINED, ids=str)
def name(request):
    return request.param


def test_every_term_has_a_page_with_all_its_sections(name):
    page = page_of(name)
    assert page.exists(), f"{name} has no definition page: write docs/{page.relative_to(DOCS)}"
    found = sections(page)
    for section in (*EVERYWHERE, *BESIDES[DEFINED[name].role]):
        assert found.get(section), f"docs/{page.relative_to(DOCS)} lacks the section {section!r}"


def test_a_page_says_whether_people_with_several_values_are_refused(name):
    term = DEFINED[name]
    if term.role != "requirement":
        return
    said = sections(page_of(name))["People with several rows"]
    counts = term.sizes_only or (term.population and not term.disjoint)  # people, whatever rows
    defined = getattr(term, "crowd", None) is Pairwise.crowd or counts
    assert ("refuse" in said) == (not defined)


def test_no_term_has_a_role_without_pages():
    for name, term in known_terms().items():
        assert term.role in FOLDERS, (
            f"pages for the role of {name}, {term.role}, are not looked for"
        )


def test_no_page_defines_what_does_not_exist():
    for folder in FOLDERS.values():
        for page in (DOCS / "definitions" / folder).glob("*.md"):
            assert page == page_of(page.stem)


def test_the_formula_is_set_apart(name):
    assert re.search(r"^> ", sections(page_of(name))["Formula"], re.MULTILINE)


def test_the_example_runs_and_shows_what_comes_out(name):
    example = page_of(name).read_text("utf-8").partition("\n## Example\n")[2].partition("\n## ")[0]
    shown = [block for block in blocks(page_of(name)) if block.text in example]
    assert any(block.output is not None for block in shown)


def test_the_parameters_are_all_named(name):
    said = sections(page_of(name))["Parameters"]
    for field in dataclasses.fields(DEFINED[name]):
        assert f"`{field.name}`" in said


def test_the_notation_can_be_read(name):
    said = re.findall(rf"`({name}\(.*\))`", sections(page_of(name))["Notation"])
    assert said
    for text in said:
        assert isinstance(parse(text), DEFINED[name])


def test_the_page_says_whether_the_principle_is_monotone(name):
    if issubclass(DEFINED[name], Principle):
        said = sections(page_of(name))["Monotonicity"]
        assert said.startswith("**Monotone.**" if DEFINED[name].monotone else "**Not monotone.**")


def test_the_page_says_whether_the_distance_is_a_metric(name):
    if issubclass(DEFINED[name], Distance):
        said = sections(page_of(name))["Properties"]
        assert said.startswith("**A metric.**" if DEFINED[name].metric else "**Not a metric")


def test_the_index_links_every_page(name):
    index = (DOCS / "definitions" / "index.md").read_text("utf-8")
    assert f"({FOLDERS[DEFINED[name].role]}/{name}.md)" in index


def test_every_loss_is_defined_with_formula_range_and_source():
    found = sections(DOCS / "definitions" / "loss.md")
    for loss in LOSSES:
        assert re.search(r"^> ", found[loss], re.MULTILINE), f"{loss} has no formula"
        assert "Range: " in found[loss]
        assert "Source: " in found[loss]
