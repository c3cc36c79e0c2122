"""How to do it again: the command and the file of a run, the audit of it, and what to cite."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shoal.table.forms import INTERVALS
from shoal.table.groupings import Listed
from shoal.views.commands import Command

if TYPE_CHECKING:
    from shoal.release.release import ReleaseData
    from shoal.runs.spread import SpreadRelease
    from shoal.table.schema import Schema

SCHEMA = ("schema", "SCHEMA")  # a file that says what no option can


def command(release: ReleaseData) -> Command:
    """Return the command that repeats a release, words in capitals standing for places."""
    manifest, schema, settings = release.manifest, release.schema, release.settings
    options: list[tuple[str, ...]] = []
    if in_a_file(schema):
        options.append(SCHEMA)
    linked = schema.linked.values()
    for role in ("quasi", "sensitive", "other", "pseudonymize"):
        names = [*getattr(schema, role), *(n for one in linked for n in getattr(one, role))]
        if names and all(map(_listable, names)):
            options.append((role, ",".join(names)))
    if schema.pseudonymize:
        options.append(("key_file", "KEY"))
    options += _people(schema)
    options += [("linked", f"{name}=FILE") for name in schema.linked]
    options += [option for one in (schema, *linked) for option in _columns(one)]
    options += [("require", one) for one in manifest["require"]]
    if release.population is not None:
        options.append(("population", "PEOPLE"))
    if (missing := settings.get("missing", "error")) != "error":
        options.append(("missing", missing))
    for name in ("suppress", "seconds", "delimiter", "encoding", "format"):
        if (said := settings.get(name)) is not None:
            options.append((name, str(said)))
    if release.form != INTERVALS:
        options.append(("form", release.form))
    options += [(name,) for name in ("keep_other", "escape_formulas") if settings.get(name)]
    options += [("method", manifest["method"]), ("output", "DIR")]
    return Command("anonymize", ("TABLE",), tuple(options))


def audit(release: ReleaseData) -> Command:
    """Return the command that measures a release again, with what that takes."""
    options: list[tuple[str, ...]] = []
    if release.heterogeneous:  # who matches which row can be counted against the original alone
        options.append(("original", "TABLE"))
    if release.population is not None:
        options.append(("population", "PEOPLE"))
        if release.schema.person is not None:
            options.append(("person", "COLUMN"))
    return Command("audit", ("DIR",), tuple(options))


def in_a_file(schema: Schema) -> list[str]:
    """Return the columns of which something stands in a schema file, as no option can say it."""
    used = (*schema.published, *schema.pseudonymize)
    if schema.linked:
        plain = replace(schema, linked={})
        return sorted(n for one in (plain, *schema.linked.values()) for n in in_a_file(one))
    named = {name for name in schema.order if name in used}
    named |= {name for name in used if not _listable(name)}
    said = {*schema.types, *schema.hierarchies, *schema.weights}
    said |= {name for entries in schema.said_of(used).values() for name in entries}
    named |= {name for name in used if name in said and "=" in name}
    return sorted(named)


def _listable(name: str) -> bool:
    """Whether a list of names on the command line can hold a name."""
    return "," not in name and name == name.strip() and not name.startswith("-")


def citations(release: ReleaseData | SpreadRelease) -> list[str]:
    """Return entries for a list of references: Shoal, and the paper of every principle."""
    version = release.manifest["shoal"]
    entries = [
        "@software{shoal,\n"
        "  title = {Shoal: publishing tables so that nobody's value is nearly known},\n"
        f"  version = {{{version}}}\n}}"
    ]
    named: dict[str, str] = {}
    for one in release.requirements:
        named.setdefault(type(one.principle).__name__, one.principle.source)
    entries += [
        f"@misc{{{name.lower()},\n  title = {{{name}}},\n  note = {{{source}}}\n}}"
        for name, source in named.items()
    ]
    return entries


def reproduction(release: ReleaseData) -> dict[str, Any]:
    """Return everything that the report says of it."""
    return {
        "command": command(release).folded,
        "audit": audit(release).line,
        "citations": citations(release),
        "in_a_file": in_a_file(release.schema),
    }


def _people(schema: Schema) -> list[tuple[str, ...]]:
    """Return the options that say whom rows are about, and what keeps them apart."""
    said = {
        "person": None if schema.person is None else "COLUMN",  # its name is not published
        "most_rows": schema.most_rows,
        "rows": None if schema.rows_known else schema.rows,
        "never_mix": ",".join(schema.never_mix) or None,
        "survey_weight": schema.survey_weight,
    }
    return [(name, str(value)) for name, value in said.items() if value is not None]


def _columns(schema: Schema) -> list[tuple[str, ...]]:
    """Return the options that say more of columns than their roles."""
    hidden = in_a_file(schema)
    said: list[tuple[str, str, str]] = [
        *(("type", name, kind) for name, kind in schema.types.items()),
        *(
            ("hierarchy", name, "FILE" if isinstance(one, Listed) else repr(one))
            for name, one in schema.hierarchies.items()
        ),
        *(("weight", name, repr(weight)) for name, weight in schema.weights.items()),
        *(
            (option, name, str(value))
            for option in ("date_format", "round", "bottom", "top")
            for name, value in getattr(schema, f"{option}{'s' * (option == 'date_format')}").items()
        ),
        *(("missing", name, policy) for name, policy in schema.missing_cells.items()),
    ]
    options: list[tuple[str, ...]] = [
        (option, f"{name}={value}")
        for option, name, value in said
        if name in schema.published and name not in hidden
    ]
    if schema.decimal is not None and schema.quasi:
        options.append(("decimal", schema.decimal))
    return options
