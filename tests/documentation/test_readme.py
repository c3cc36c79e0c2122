"""The README names every command, principle and method."""

from __future__ import annotations

import re

from documentation.pages import ROOT
from shoal.cli.main import app

README = (ROOT / "README.md").read_text("utf-8")


def test_every_command_is_in_the_readme():
    for command in app.registered_commands:
        assert command.callback is not None
        name = command.callback.__name__
        assert f"shoal {name}" in README or f"make {name}" in README


def test_every_principle_and_method_is_in_the_readme():
    from shoal.notation import known_terms

    for name in known_terms():
        if name not in {"Term", "Principle", "Method"}:
            assert f"`{name}(" in README


def test_every_link_of_the_readme_leads_somewhere():
    links = re.findall(r"\]\(([^)#]+)", README)
    assert "docs/limits.md" in links
    assert [link for link in links if not (ROOT / link).exists()] == []
