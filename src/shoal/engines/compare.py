"""Several methods under one requirement, side by side."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from shoal.engines.local import anonymize, choose_method, numeric_columns
from shoal.errors import NotAchievable, UsageError
from shoal.methods.base import Method, Task
from shoal.methods.exchange import Exchange
from shoal.methods.freeform.method import Freeform
from shoal.methods.mondrian import Mondrian
from shoal.methods.split import Split
from shoal.principles.requirement import Require, requirements
from shoal.progress import Progress, silent
from shoal.schema.io import take_frame
from shoal.schema.table import code_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shoal.schema.missing import Missing
    from shoal.schema.roles import Schema

USUAL = (Exchange(), Split(), Split(partition="round-robin"), Mondrian(), Freeform())


@dataclass(frozen=True)
class Entry:
    """What one method made of the table; everything but its name is None where it found nothing."""

    method: str
    loss: float | None
    risk: float | None
    holds: bool | None
    groups: int | None
    seconds: float | None
    problem: str | None = None


@dataclass(frozen=True)
class Comparison:
    """Methods in the order of their loss."""

    require: tuple[str, ...]
    rows: int
    entries: tuple[Entry, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, as `shoal compare --json` prints it."""
        return asdict(self)


def compare(
    frame: Any,
    schema: Schema,
    *,
    require: Require | Iterable[Require],
    methods: Sequence[Method | str] | None = None,
    missing: Missing = "error",
    seconds: float | None = None,
    progress: Progress = silent,
) -> Comparison:
    """Publish a table by several methods, in memory, and measure each release.

    Without `methods`, all that can search for what is required. Risk is measured on the published
    table by each release's own audit.
    """
    asked = requirements(require, schema.sensitive)
    table = take_frame(frame)
    coded = code_table(table, schema, missing=missing)
    task = Task(numeric_columns(coded, table, asked, schema), tuple(asked))
    chosen = [choose_method(one, asked) for one in methods] if methods else _fitting(task)
    entries = []
    for place, method in enumerate(chosen):
        progress("compare", place / len(chosen))
        try:
            release = anonymize(
                table, schema, require=asked, method=method, missing=missing, seconds=seconds
            )
        except NotAchievable as problem:
            entries.append(Entry(repr(method), None, None, None, None, None, str(problem)))
            continue
        audit = release.audit()
        entries.append(
            Entry(
                method=repr(method),
                loss=release.loss,
                risk=audit.worst_risk,
                holds=audit.holds,
                groups=release.manifest["groups"],
                seconds=release.manifest["seconds"]["search"],
            )
        )
    entries.sort(key=lambda entry: 2.0 if entry.loss is None else entry.loss)
    return Comparison(tuple(map(repr, asked)), len(task.coded), tuple(entries))


def _fitting(task: Task) -> list[Method]:
    """Return the usual methods that can search for what is required."""
    fitting: list[Method] = []
    for method in USUAL:
        try:
            method.check(task)
        except UsageError:
            continue
        fitting.append(method)
    return fitting
