"""How a release is made again, and what to cite: without paths, seeds or dropped columns."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from shoal.schema.grouping import Listed

if TYPE_CHECKING:
    from shoal.release.release import Release
    from shoal.schema.roles import Schema


def command(release: Release) -> str:
    """Return the command line that repeats a release, TABLE and DIR standing for places."""
    manifest, schema = release.manifest, release.schema
    words = ["shoal", "anonymize", "TABLE", "--quasi", ",".join(schema.quasi)]
    for role in ("sensitive", "other", "pseudonymize"):
        if names := getattr(schema, role):
            words += [f"--{role}", ",".join(names)]
    words += _columns(schema)
    for one in manifest["require"]:
        words += ["--require", one]
    if release.population is not None:
        words += ["--population", "PEOPLE"]
    if manifest["suppressed"]:
        words += ["--suppress", "SHARE"]
    words += ["--method", manifest["method"], "--output", "DIR"]
    return _folded(words)


def _columns(schema: Schema) -> list[str]:
    """Return the options that say more of columns than their roles."""
    words: list[str] = []
    for name, kind in schema.types.items():
        if name in schema.published:
            words += ["--type", f"{name}={kind}"]
    for name, hierarchy in schema.hierarchies.items():
        said = "FILE" if isinstance(hierarchy, Listed) else repr(hierarchy)
        words += ["--hierarchy", f"{name}={said}"]
    for name, weight in schema.weights.items():
        words += ["--weight", f"{name}={weight:g}"]
    if schema.decimal is not None:
        words += ["--decimal", schema.decimal]
    return words


def _folded(words: list[str]) -> str:
    """Write a command over several lines, an option and its value on each."""
    quoted = [shlex.quote(word) for word in words]
    options = [" ".join(quoted[place : place + 2]) for place in range(3, len(quoted), 2)]
    return " \\\n  ".join([" ".join(quoted[:3]), *options])


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
    order = [name for name in release.schema.order if name in release.schema.published]
    return {"command": command(release), "citations": citations(release), "ordered": order}
