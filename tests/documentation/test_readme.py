"""The README is short, names every command, and its links lead somewhere."""

from __future__ import annotations

import re

from documentation.pages import ROOT
from shoal.cli.main import app

README = (ROOT / "README.md").read_text("utf-8")


def test_the_table_of_commands_says_what_every_command_does():
    for command in app.registered_commands:
        assert command.callback is not None
        assert re.search(rf"^\| `{command.callback.__name__}` \| \w", README, re.MULTILINE)


def test_the_readme_is_short():
    assert README.count("\n") < 150


def test_every_link_of_the_readme_leads_somewhere():
    links = re.findall(r"\]\(([^)#:]+)[)#]", README)
    assert "docs/limits.md" in links
    assert [link for link in links if not (ROOT / link).exists()] == []
