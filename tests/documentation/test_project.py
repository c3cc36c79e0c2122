"""Files beside the code that contributors, forges and programs look for say what is so."""

from __future__ import annotations

import re
import subprocess
import tomllib

import pytest

from documentation.pages import DOCS, ROOT
from shoal.version import __version__


def said(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def test_the_citation_names_this_version_and_the_licence():
    assert f"\nversion: {__version__}\n" in said("CITATION.cff")
    assert "\nlicense: Apache-2.0\n" in said("CITATION.cff")


def test_every_page_that_llms_txt_names_is_there():
    links = re.findall(r"\]\(([^)]+)\.html\)", said("docs/llms.txt"))
    assert len(links) >= 10
    assert [link for link in links if not (DOCS / f"{link}.md").exists()] == []


def test_the_workflow_runs_what_the_readme_says():
    assert "- run: make test\n" in said(".github/workflows/test.yml")


def test_a_broken_promise_is_not_reported_in_the_open():
    for name in ("bug.md", "config.yml"):
        assert "SECURITY.md" in said(f".github/ISSUE_TEMPLATE/{name}")


def test_make_demo_installs_what_running_needs_and_no_tool_of_developers():
    groups = tomllib.loads(said("pyproject.toml"))["dependency-groups"]
    tools = {re.split(r"[\[<>=]", one)[0] for one in groups["dev"] if isinstance(one, str)}
    assert {"pytest", "ruff", "mypy", "playwright", "scipy"} <= tools
    installed = set(re.findall(r"^([\w.-]+)==", said("requirements.txt"), re.MULTILINE))
    assert {"polars", "numba"} <= installed
    assert installed & {one.lower() for one in tools} == set()
    makefile = said("Makefile")
    needs = dict(re.findall(r"^(\S+): (.+)$", makefile, re.MULTILINE))
    assert (needs["demo"], needs["page"]) == ("$(RUNS)", "$(RUNS)")
    assert needs["$(RUNS)"] == "$(VENV)/ready $(KERNELS)"
    assert needs["$(VENV)/ready"] == "requirements.txt pyproject.toml"
    recipe = makefile.partition("$(VENV)/ready: ")[2].partition("\n\n")[0]
    assert re.findall(r"--requirement (\S+)", recipe) == ["requirements.txt"]


def test_a_commit_is_held_to_what_make_lint_and_make_types_run():
    tools = re.findall(r"^\t\$\(BIN\)/(ruff \w+|lint-imports|mypy)", said("Makefile"), re.MULTILINE)
    for tool in set(tools):
        assert f"entry: .venv/bin/{tool}" in said(".pre-commit-config.yaml")


def test_every_section_about_what_was_tried_says_where_its_figures_are_from():
    page = (DOCS / "tried.md").read_text("utf-8")
    *sections, last = re.findall(r"^## (.+)$", page, re.MULTILINE)
    assert last == "Where the figures are from"
    table = page.partition(f"## {last}")[2]
    told = re.findall(
        r"^\| (.+?) \| [0-9a-f]{8}, .+? \| (.+?) \| .+? \| .+? \|$", table, re.MULTILINE
    )
    assert [name for name, _ in told] == sections
    texts = dict(zip(sections, re.split(r"^## .+$", page, flags=re.MULTILINE)[1:-1], strict=True))
    for name, before in told:
        assert before == "none" or re.search(r"\b[0-9a-f]{8}\b", before), name
        compares = re.search(
            r"\b(before and after|(version|than|of) before|before\)|At first)",
            texts[name],
        )
        assert before != "none" or not compares, name
    for name in re.findall(r"`((?:benchmarks|tests)/[\w/]+\.py)", table):
        assert (ROOT / name).exists(), name


def history() -> bool:
    """Return whether all commits are beside these sources."""
    asked = ["git", "rev-parse", "--is-shallow-repository"]
    try:
        found = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return False
    return (ROOT / ".git").exists() and found.stdout.strip() == "false"


@pytest.mark.skipif(not history(), reason="no history beside these sources")
def test_every_commit_that_a_page_names_is_in_the_history():
    page = (DOCS / "tried.md").read_text("utf-8").partition("## Where the figures are from")[2]
    named = re.findall(r"\b(?=[0-9a-f]*[0-9])[0-9a-f]{8}\b", page)
    assert len(named) > 30
    for one in set(named):
        found = subprocess.run(
            ["git", "merge-base", "--is-ancestor", one, "HEAD"], cwd=ROOT, check=False
        )
        assert found.returncode == 0, one
