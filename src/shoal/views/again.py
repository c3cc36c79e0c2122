"""How to do it again, apart from what a report shows: commands that repeat it, what to cite."""

from __future__ import annotations

from typing import Any

from shoal.ask.ask import Ask
from shoal.ask.options import BY_NAME, THRESHOLD, options_of
from shoal.audit.identification import threshold_of
from shoal.table.forms import INTERVALS
from shoal.views.terminal import Command

FILE = "FILE"
USUAL = str(threshold_of(THRESHOLD))


def command(release: dict[str, Any], asks: type[Ask] = Ask) -> Command:
    """Return the command that repeats a release, words in capitals standing for places."""
    known = {option.name: option for option in options_of(asks).values()}
    options: list[tuple[str, ...]] = []
    for name, value in release["asked"].items():
        needed = known.get(known[name].needs)
        options += [(needed.name, FILE)] if needed is not None and not needed.public else []
        said = known[name].public if known[name].secret else value
        if known[name].kind == BY_NAME:
            told = dict.fromkeys(value, True) if isinstance(value, list) else value
            said = {of: FILE if one is True else one for of, one in told.items()}
        options += known[name].spelled(said)
    made = "coarsen" if "coarsened_from" in release else "anonymize"
    stated = {name: release[name] for name in known if known[name].apart and name in release}
    stated["threshold"] = str(threshold_of(release["threshold"]))
    usual = {"form": release["form"] if made == "coarsen" else INTERVALS, "threshold": USUAL}
    for name, value in stated.items():
        options += known[name].spelled(value) if value != usual.get(name) else []
    about = ("FINER",) if made == "coarsen" else ("TABLE",)
    return Command(made, about, (*options, ("output", "DIR")))


def audit(release: dict[str, Any]) -> Command:
    """Return the command that measures a release again, with what that takes."""
    options: list[tuple[str, ...]] = []
    if release["groups"] is None:  # who matches which row can be counted against the original
        options.append(("original", "TABLE"))
    if "population" in release["asked"]:
        options.append(("population", "PEOPLE"))
        if "people" in release:
            options.append(("person", "COLUMN"))
    return Command("audit", ("DIR",), tuple(options))


def citations(release: dict[str, Any], sources: dict[str, str]) -> list[str]:
    """Return entries for a list of references: Shoal, and the paper of every principle."""
    entries = [
        "@software{shoal,\n"
        "  title = {Shoal: publishing tables about people with measured privacy},\n"
        f"  version = {{{release['shoal']}}}\n}}"
    ]
    return entries + [
        f"@misc{{{name.lower()},\n  title = {{{name}}},\n  note = {{{source}}}\n}}"
        for name, source in sources.items()
    ]


def reproduction(release: dict[str, Any], sources: dict[str, str]) -> dict[str, Any]:
    """Return everything that a report says of it; `sources` are the papers of principles."""
    return {
        "command": command(release).folded,
        "audit": audit(release).line,
        "citations": citations(release, sources),
        "in_a_file": release["asked"].get("schema", []),
    }
