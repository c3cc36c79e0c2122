"""What can be wrong with what was asked for, found before any work is done."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import UsageError
from shoal.methods.base import Method
from shoal.methods.suppression import read_share
from shoal.principles.requirement import read_requirement
from shoal.release.places import check_format, check_output, check_private
from shoal.runs.outlets import check_outlet, is_outlet
from shoal.table.files import FORMATS
from shoal.table.forms import TWO_TABLES
from shoal.table.groupings import Hierarchy
from shoal.table.reading import find_files
from shoal.table.schema import Schema
from shoal.table.settings import Settings, read_settings
from shoal.wording import option

if TYPE_CHECKING:
    from shoal.runs.run import Run


def checked_settings(path: str | Path) -> Settings:
    """Read a schema file, and check what it says in the notation, naming line and key."""
    said = read_settings(path)
    for place, text in enumerate(said.require):
        with said.blame("require"), said.blame("require", place):
            read_requirement(text, said.roles.get("sensitive", []))
    with said.blame("method"):
        if said.method is not None:
            Method.read(said.method)
    with said.blame("suppress"):
        read_share(said.suppress)
    with said.blame("format"):
        check_format(said.format or FORMATS[0])
    for name in said.columns:
        _check_column(said, name)
    return said


def _check_column(said: Settings, name: str) -> None:
    """Check what a schema file says of a column, and read its hierarchy."""
    if name in said.hierarchies:
        with said.blame("columns", name, "hierarchy"):
            said.hierarchies[name] = Hierarchy.of(said.hierarchies[name])
    kinds = {name: said.types[name]} if name in said.types else {}
    order = {name: said.order[name]} if name in said.order else {}
    with said.blame("columns", name):
        Schema(types=kinds, order=order)
    for key, entries in (("hierarchy", said.hierarchies), ("weight", said.weights)):
        with said.blame("columns", name, key):
            if name in entries and name not in said.roles.get("quasi", [name]):
                msg = f"only quasi columns have a {key}, and {name!r} is none."
                raise UsageError(msg)


def check_budget(seconds: float | None) -> float | None:
    """Return a time budget that makes sense, or raise."""
    if seconds is not None and not 0 < seconds < float("inf"):
        msg = f"The time budget must be a number of seconds above 0. Got {seconds!r}."
        raise UsageError(msg)
    return seconds


def named_output(run: Run) -> str:
    """Return where a release goes, or say what is missing."""
    if run.output is not None:
        return str(run.output)
    if run.said.file or run.schema.quasi:
        place = option("output", "published")
        msg = f"No output was named. Say where the release should go: {place}."
        raise UsageError(msg)
    msg = (
        f"Nothing is said about the columns. Give {option('quasi')}, {option('sensitive')}, "
        f"{option('require')} and {option('output')}, or let `shoal init` write a schema file and "
        f"name it: {option('schema')}."
    )
    raise UsageError(msg)


def check_alone(run: Run) -> None:
    """Raise where something is said of a series that is none."""
    for name in ("batch", "least_real"):
        if run.ledger is None and getattr(run, name) != 1:
            msg = f"{option(name)} is about a series of releases: name its {option('ledger')} too."
            raise UsageError(msg)


def check_linked(run: Run) -> None:
    """Raise where linked tables cannot be published with what else is asked for."""
    if not run.linked:
        return
    refused = {
        option("form", TWO_TABLES): run.form == TWO_TABLES,
        option("ledger"): run.ledger is not None,
        option("output"): run.output is not None and is_outlet(run.output),
        option("engine"): not repr(run.engine or "Local").strip("' ").startswith("Local"),
    }
    for said, asked in refused.items():
        if asked:
            msg = f"{option('linked')} cannot be had together with this {said}. Leave out either."
            raise UsageError(msg)


def check_places(run: Run) -> None:
    """Raise where what a run writes could not be written in the end."""
    target = named_output(run)
    files = [
        path
        for table in (run.table, *run.linked.values())
        if reads_files(table)
        for path in find_files(table)
    ]
    how: dict[str, Any] = {"linkage": None, "force": run.force, "tables": files}
    if is_outlet(target):
        check_outlet(target, form=run.form, format=run.format, **how)
    else:
        check_output(target, format=run.format or "csv", **how)
    place = None if is_outlet(target) else Path(os.path.realpath(target))
    private = {"linkage": run.linkage, "owner-report": run.owner_report}
    for what, path in private.items():
        if path is not None:
            check_private(path, place, files, what=what, force=run.force)
    kept = {"history": run.history, "ledger": run.ledger}  # added to, not replaced
    for what, path in kept.items():
        if path is not None:
            check_private(path, place, files, what=what, force=True)
    private |= kept
    named = [os.path.realpath(path) for path in private.values() if path is not None]
    if len(set(named)) < len(named):
        both = f"{option('linkage')} and {option('owner_report')}"
        msg = f"{both} name the same file. Give each its own."
        raise UsageError(msg)


def reads_files(table: Any) -> bool:
    """Return whether a table is named, by one place or several, and not given as a frame."""
    return isinstance(table, str | Path | list | tuple)


def check_named(table: Any) -> None:
    """Raise where there is no table at all."""
    if table is None or (reads_files(table) and not table):
        msg = "No table was named: give one, or a schema file that names it."
        raise UsageError(msg)
