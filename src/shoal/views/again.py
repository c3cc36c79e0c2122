"""How to do it again: the command that repeats a release, the audit of it, and what to cite."""

from __future__ import annotations

from typing import Any

from shoal.audit.identification import threshold_of
from shoal.table.forms import INTERVALS
from shoal.views.commands import Command
from shoal.views.usual import THRESHOLD

# What is only said to have been given: places, secrets, and a column that is not published.
PLACES = {
    "schema": "SCHEMA",
    "key_file": "KEY",
    "person": "COLUMN",
    "population": "PEOPLE",
    "ledger": "LEDGER",
}
FILE = "FILE"


def command(release: dict[str, Any]) -> Command:
    """Return the command that repeats a release, words in capitals standing for places."""
    options: list[tuple[str, ...]] = []
    for name, value in release["asked"].items():
        if name in PLACES:
            options.append((name, PLACES[name]))
        elif name == "linked":
            options += [(name, f"{one}={FILE}") for one in value]
        elif isinstance(value, dict):
            flag = name.removesuffix("_cells")
            options += [(flag, f"{k}={FILE if v is True else v}") for k, v in value.items()]
        elif isinstance(value, list):
            options += [(name, ",".join(value))] if all(map(listable, value)) else []
        else:
            options += [("hold_out_file", FILE)] if name == "hold_out" else []
            options.append((name,) if value is True else (name, str(value)))
    options += [("require", one) for one in release["require"]]
    made = "coarsen" if "coarsened_from" in release else "anonymize"
    if release["form"] != INTERVALS and made == "anonymize":
        options.append(("form", release["form"]))
    if "title" in release:
        options.append(("title", release["title"]))
    options += release.get("context", {}).items()
    if (limit := threshold_of(release["threshold"])) != threshold_of(THRESHOLD):
        options.append(("threshold", str(limit)))
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


def listable(name: str) -> bool:
    """Whether a list of names on the command line can hold a name."""
    return "," not in name and name == name.strip() and not name.startswith("-")


def citations(release: dict[str, Any], sources: dict[str, str]) -> list[str]:
    """Return entries for a list of references: Shoal, and the paper of every principle."""
    entries = [
        "@software{shoal,\n"
        "  title = {Shoal: publishing tables so that nobody's value is nearly known},\n"
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
