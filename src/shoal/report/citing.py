"""How a release is made again, and what to cite: without paths, seeds or dropped columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.commands import Command
from shoal.schema.grouping import Listed

if TYPE_CHECKING:
    from shoal.release.release import Release
    from shoal.schema.roles import Schema


SCHEMA = ("--schema", "SCHEMA")  # a file that says what no option can


def command(release: Release) -> Command:
    """Return the command that repeats a release, words in capitals standing for places."""
    manifest, schema, settings = release.manifest, release.schema, release.settings
    options: list[tuple[str, ...]] = []
    if in_a_file(schema):
        options.append(SCHEMA)
    for role in ("quasi", "sensitive", "other", "pseudonymize"):
        names = getattr(schema, role)
        if names and all(map(_listable, names)):
            options.append((f"--{role}", ",".join(names)))
    if schema.pseudonymize:
        options.append(("--key-file", "KEY"))
    options += _columns(schema)
    options += [("--require", one) for one in manifest["require"]]
    if release.population is not None:
        options.append(("--population", "PEOPLE"))
    if (missing := settings.get("missing", "error")) != "error":
        options.append(("--missing", missing))
    for name in ("suppress", "seconds", "delimiter", "encoding", "format"):
        if (said := settings.get(name)) is not None:
            options.append((f"--{name}", str(said)))
    if settings.get("escape_formulas"):
        options.append(("--escape-formulas",))
    options += [("--method", manifest["method"]), ("--output", "DIR")]
    return Command("anonymize", ("TABLE",), tuple(options))


def audit(release: Release) -> Command:
    """Return the command that measures a release again, with what that takes."""
    options: list[tuple[str, ...]] = []
    if release.heterogeneous:  # who matches which row can be counted against the original alone
        options.append(("--original", "TABLE"))
    if release.population is not None:
        options.append(("--population", "PEOPLE"))
    return Command("audit", ("DIR",), tuple(options))


def in_a_file(schema: Schema) -> list[str]:
    """Return the columns of which something stands in a schema file, as no option can say it."""
    used = (*schema.published, *schema.pseudonymize)
    named = {name for name in schema.order if name in used}
    named |= {name for name in used if not _listable(name)}
    said = {*schema.types, *schema.hierarchies, *schema.weights}
    named |= {name for name in used if name in said and "=" in name}
    return sorted(named)


def _listable(name: str) -> bool:
    """Whether a list of names on the command line can hold a name."""
    return "," not in name and name == name.strip() and not name.startswith("-")


def _columns(schema: Schema) -> list[tuple[str, ...]]:
    """Return the options that say more of columns than their roles."""
    hidden = in_a_file(schema)
    said: list[tuple[str, str, str]] = [
        *(("--type", name, kind) for name, kind in schema.types.items()),
        *(
            ("--hierarchy", name, "FILE" if isinstance(one, Listed) else repr(one))
            for name, one in schema.hierarchies.items()
        ),
        *(("--weight", name, repr(weight)) for name, weight in schema.weights.items()),
    ]
    options: list[tuple[str, ...]] = [
        (option, f"{name}={value}")
        for option, name, value in said
        if name in schema.published and name not in hidden
    ]
    if schema.decimal is not None:
        options.append(("--decimal", schema.decimal))
    return options


def citations(release: Release) -> list[str]:
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


def reproduction(release: Release) -> dict[str, Any]:
    """Return everything that the report says of it."""
    return {
        "command": command(release).folded,
        "audit": audit(release).line,
        "citations": citations(release),
        "in_a_file": in_a_file(release.schema),
    }
