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


def test_it_opens_with_one_picture_of_what_comes_out_and_two_commands():
    opening = README.partition("\n```\n")[0]
    assert re.findall(r"!\[.+\]\((.+)\)", README) == ["docs/assets/report.png"]
    assert "docs/assets/report.png" in opening
    commands = opening.partition("```sh\n")[2].splitlines()
    assert [re.split(r"[ =]", one)[:2] for one in commands] == [
        ["make", "demo"],
        ["export", "PATH"],
    ]


def test_every_link_of_the_readme_leads_somewhere():
    links = re.findall(r"\]\(([^)#:]+)[)#]", README)
    assert "docs/limits.md" in links
    assert [link for link in links if not (ROOT / link).exists()] == []
