"""The README's code runs, and every command and public name is documented."""

from __future__ import annotations

import re
from pathlib import Path

import shoal
from shoal.cli.main import app

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")


def test_the_python_example_of_the_readme_runs_and_says_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict = {}
    exec(code, names)  # our own README
    plan = shoal.plan(names["people"], names["schema"], m=2)
    assert f"# {plan.epsilon_bound}:" in code
    assert names["release"].audit().worst_risk == 0.5
    assert (tmp_path / "published" / "report.html").exists()


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
